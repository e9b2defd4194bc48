#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Installs the Debian packages that are missing; prints what and why not.
# usage: packages.sh base|check|report|bench|all      all: all but bench
set -euo pipefail
# shellcheck source=tools/lib.sh
. "$(dirname "$0")/../lib.sh"

wanted() {
	awk -v role="$1" '/^#/ { next }
		$1 == role || (role == "all" && $1 != "bench") { print $2 }' \
		"$TDMA_TOP/tools/setup/packages.txt"
}

missing() {
	local list

	mapfile -t list < <(wanted "$1" | sort)
	comm -13 <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' \
		"${list[@]}" 2>/dev/null | sed -n 's/^installed //p' | sort -u) \
		<(printf '%s\n' "${list[@]}")
}

as_root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	else
		sudo -n "$@"
	fi
}

may_install() {
	[ "$(id -u)" -eq 0 ] || sudo -n true 2>/dev/null
}

install_packages() {
	export DEBIAN_FRONTEND=noninteractive
	local apt=(as_root apt-get -y -o DPkg::Lock::Timeout=300)

	# Lists may be absent or old: try with them first, refresh once.
	"${apt[@]}" install --no-install-recommends "$@" ||
		{ "${apt[@]}" update &&
			"${apt[@]}" install --no-install-recommends "$@"; }
}

main() {
	local list

	command -v dpkg-query >/dev/null ||
		die "this is no Debian system, so packages cannot be installed." \
			"Install the equivalents of tools/setup/packages.txt by hand."
	mapfile -t list < <(missing "${1:-all}")
	[ ${#list[@]} -gt 0 ] || return 0

	say "Missing packages: ${list[*]}"
	may_install ||
		die "installing packages needs root." \
			"Run: sudo apt-get update && sudo apt-get install ${list[*]}" \
			"and then the same command again."
	step packages "Installing ${#list[@]} packages" "1-3 min" \
		install_packages "${list[@]}"
}

main "$@"
