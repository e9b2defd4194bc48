#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Runs one line of the tdma command in a guest, on the emulated device, with the
# files of the current directory: they are copied in, what is written comes back.
# usage: tdma.sh WORD...       status: that of the command
#
# Hidden files, build/ of the checkout and links are left out. Environment:
# TDMA_DIR (instead of the current directory), and what boot.sh knows.
set -euo pipefail
FROM=${TDMA_DIR:-$PWD}
# shellcheck source=tools/lib.sh
. "$(dirname "$0")/../lib.sh"

# The guest's memory holds the files three times: the archive, they, what is new.
MOST_MIB=200

files() {
	find . -name '.?*' -prune -o -path "$1" -prune -o -type f -print0
}

pack() {
	local skip=./${TDMA_BUILD#"$FROM"/} size

	size=$(files "$skip" | du --files0-from=- -cm | tail -n 1 | cut -f 1)
	[ "$size" -le "$MOST_MIB" ] ||
		die "$FROM has $size MiB of files, a guest takes $MOST_MIB." \
			"Run it from a smaller directory."
	# With a root of its own: the names in the archive begin with host/.
	mkdir "$TMP/root"
	ln -s "$FROM" "$TMP/root/host"
	{ printf 'host\0' && files "$skip" | sed -z 's|^\.|host|'; } |
		(cd "$TMP/root" && directories | cpio -0 -o -L -H newc -R 0:0 --quiet) |
		gzip -1 >"$TMP/files.gz"
}

# Every directory ahead of what is in it
directories() {
	awk 'BEGIN { RS = ORS = "\0"; FS = OFS = "/" }
		{ path = $1
		  for (i = 2; i < NF; i++) {
			path = path "/" $i
			if (!seen[path]++) print path
		  }
		  print }'
}

# What the job itself says is for the caller of boot.sh.
show() {
	sed -u '/^tensordma-guest: /d'
}

main() {
	local dir status

	[ $# -gt 0 ] || set -- --help
	[ -d "$FROM" ] || die "no directory $FROM."
	FROM=$(cd "$FROM" && pwd)
	TMP=$(mktemp -d)
	trap 'rm -rf "$TMP"' EXIT
	cd "$FROM"
	pack
	dir=$TDMA_BUILD/guest/tdma
	GUEST_FILES=$TMP/files.gz "$TDMA_TOP/tools/guest/boot.sh" tdma \
		WORDS="$(printf '%q ' "$@")" | show || true
	[ ! -d "$dir/out" ] || cp -r "$dir/out/." "$FROM/"
	status=$(sed -n 's/^tensordma-guest: job tdma ended with status //p' \
		"$dir/job.log" | tr -d '\r')
	exit "${status:-1}"
}

main "$@"
