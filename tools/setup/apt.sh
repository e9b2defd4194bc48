# SPDX-License-Identifier: GPL-2.0
# Fetching single files from Debian suites without touching the machine's apt.
# shellcheck shell=bash
# To be sourced after lib.sh.

# Suites of the archive that hold what we need; see apt_sources.py. With
# APT_SET=mainline those of the newest kernel's source.
apt_suites() {
	case $(release_codename)${APT_SET:+-$APT_SET} in
	bookworm) echo bookworm:deb trixie:deb-src bookworm-backports ;;
	trixie) echo trixie ;;
	bookworm-mainline | trixie-mainline) echo trixie-backports:deb ;;
	*) return 1 ;;
	esac
}

# Writes the private configuration and fetches its lists. Lists that name a
# version which no longer exists are the usual reason for a 404, so they are
# fetched for each set-up that needs anything at all.
apt_prepare() {
	local suites dir=$TDMA_CACHE/apt${APT_SET:+-$APT_SET}

	command -v apt-get >/dev/null ||
		die "apt-get is not there." "$(apt_help)"
	suites=$(apt_suites) ||
		die "this is Debian $(release_codename), not 12 or 13." "$(apt_help)"
	# shellcheck disable=SC2086 # a list of words
	TDMA_APT_CONF=$("$TDMA_PYTHON" "$TDMA_TOP/tools/setup/apt_sources.py" \
		"$dir" "$(release_codename)" $suites) ||
		die "cannot derive apt lists from the machine's." "$(apt_help)"
	[ -z "$(find "$dir/fetched" -mmin -20 2>/dev/null)" ] || return 0
	STEP_HINT="Without network: $(apt_help)"
	step apt-update "Fetching package lists" "10 s" \
		apt-get -c "$TDMA_APT_CONF" -o APT::Update::Error-Mode=any update
	export STEP_HINT=
	touch "$dir/fetched"
}

apt_help() {
	echo "Bring your own: QEMU_SRC=<QEMU 10.0 source>," \
		"KDIR=<kernel build tree>, KERNEL=<bzImage>," \
		"KERNEL_SRC=<kernel source>."
}

# apt_versions SOURCE: versions of a source package, newest first.
apt_versions() {
	apt-cache -c "$TDMA_APT_CONF" showsrc "$1" |
		sed -n 's/^Version: //p' | sort -uVr
}

# apt_packages PREFIX: names of binary packages, oldest version first.
apt_packages() {
	apt-cache -c "$TDMA_APT_CONF" pkgnames "$1" | sort -V
}

# apt_binary_versions PACKAGE: versions of a binary package, newest first.
apt_binary_versions() {
	apt-cache -c "$TDMA_APT_CONF" show "$1" 2>/dev/null |
		sed -n 's/^Version: //p' | sort -uVr
}

# apt_unpack DIRECTORY PACKAGE[=VERSION]...: puts the packages' files there, all
# or nothing.
apt_unpack() {
	local dir=$1 tmp package
	shift

	rm -rf "$dir".part.*
	tmp=$(mktemp -d "$dir.part.XXXXXX")
	(cd "$tmp" && apt-get -c "$TDMA_APT_CONF" download "$@")
	for package in "$tmp"/*.deb; do
		dpkg -x "$package" "$tmp/root"
	done
	rm -rf "$dir"
	mv "$tmp/root" "$dir"
	rm -rf "$tmp"
}
