#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Provides a QEMU 10.0 source tree in the cache and a meson that can build it.
# Prints nothing on success if both are there already.
#
# QEMU_SRC=DIR takes the source from there instead (it is copied, not changed).
set -euo pipefail
# shellcheck source=tools/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tools/setup/apt.sh
. "$TDMA_TOP/tools/setup/apt.sh"
# shellcheck source=tools/setup/qemu-paths.sh
. "$TDMA_TOP/tools/setup/qemu-paths.sh"

# The first version that can be downloaded, newest first: an archive may list
# a file that it does not (or no longer) hold.
download_source() {
	local version

	for version in $(apt_versions qemu | grep "^1:$QEMU_SERIES\."); do
		echo "trying qemu=$version"
		if (cd "$1" && apt-get -c "$TDMA_APT_CONF" source \
			--download-only "qemu=$version"); then
			return 0
		fi
		rm -f "$1"/qemu_*
	done
	return 1
}

# Debian's patches are needed: the source lacks what they leave out.
unpack_source() {
	local version

	rm -rf "$1/src"
	(cd "$1" && dpkg-source --no-check -x qemu_*.dsc src)
	version=$(cat "$1/src/VERSION")
	rm -rf "$TDMA_CACHE/qemu-$version"
	mkdir "$TDMA_CACHE/qemu-$version"
	mv "$1/src" "$TDMA_CACHE/qemu-$version/src"
}

fetch_source() {
	local tmp=$TDMA_CACHE/download-qemu

	mkdir -p "$tmp"
	if ! compgen -G "$tmp/qemu_*.dsc" >/dev/null; then
		apt_prepare
		step qemu-download "Downloading the QEMU source" "20 s, 40 MB" \
			download_source "$tmp"
	fi
	step qemu-unpack "Unpacking it" "30 s" unpack_source "$tmp"
	rm -rf "$tmp"
}

# QEMU wants a newer meson than Debian 12 has; it is pure Python, so the newer
# package's files do without being installed.
meson_version() {
	local version

	for version in $(apt_binary_versions meson); do
		if dpkg --compare-versions "$version" ge "$MESON_MINIMUM"; then
			echo "$version"
			return 0
		fi
	done
	return 1
}

fetch_meson() {
	local version

	apt_prepare
	version=$(meson_version) ||
		die "no meson >= $MESON_MINIMUM in the archive." "$(apt_help)"
	step meson "Fetching meson $version" "" \
		apt_unpack "$MESON_DIR" "meson=$version"
}

copy_user_source() {
	local dir

	[[ -f $QEMU_SRC/VERSION && -f $QEMU_SRC/configure ]] ||
		die "QEMU_SRC=$QEMU_SRC is no QEMU source tree."
	dir=$(qemu_dir)
	mkdir -p "$dir/src"
	# --update spares files that the device's overlay has changed here.
	rsync -a --update --exclude /build --exclude .git "$QEMU_SRC/" "$dir/src/"
}

main() {
	mkdir -p "$TDMA_CACHE"
	if [ -n "${QEMU_SRC:-}" ]; then
		step qemu-copy "Copying $QEMU_SRC" "" copy_user_source
	elif [ -z "$(qemu_dir)" ]; then
		fetch_source
	fi
	meson_present || fetch_meson
}

main "$@"
