#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Provides the guest's kernel: image, build tree, and the slice of its source
# that the tests use. The packages are unpacked into the cache, not installed:
# the guest's kernel is none of the machine's business and its boot loader's.
# usage: kernel.sh base|all    all: also the headers of the older series that
#                              the driver is to build for
set -euo pipefail
# shellcheck source=tools/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tools/setup/apt.sh
. "$TDMA_TOP/tools/setup/apt.sh"
# shellcheck source=tools/setup/kernel-paths.sh
. "$TDMA_TOP/tools/setup/kernel-paths.sh"

# What we use of the kernel's source.
SLICE=(
	'*/tools/testing/selftests/Makefile'
	'*/tools/testing/selftests/lib.mk'
	'*/tools/testing/selftests/kselftest.h'
	'*/tools/testing/selftests/kselftest_harness.h'
	'*/tools/testing/selftests/kselftest/*'
	'*/tools/testing/selftests/run_kselftest.sh'
	'*/tools/testing/selftests/kselftest_install.sh'
	'*/scripts/subarch.include'
	'*/scripts/checkpatch.pl'
	'*/scripts/spelling.txt'
	'*/scripts/const_structs.checkpatch'
	'*/scripts/coccinelle/*'
	'*/scripts/kernel-doc'
	'*/drivers/dma/dmatest.c'
)

PREPARED=

prepare_once() {
	[ -n "$PREPARED" ] || apt_prepare
	PREPARED=1
}

# The newest release of the series, generic flavour.
newest_release() {
	apt_packages "linux-image-$KERNEL_SERIES." |
		sed -nE 's/^linux-image-([0-9.]+\+deb[0-9]+-amd64)$/\1/p' |
		tail -n 1
}

# Where the package put itself, and where it is.
relocate() {
	local root=$1 release=$2

	sed -i "s|/usr/src/|$root/usr/src/|" \
		"$root/usr/src/linux-headers-$release/Makefile"
}

fetch_kernel() {
	local release version

	prepare_once
	release=$(newest_release)
	[ -n "$release" ] ||
		die "the archive has no kernel $KERNEL_SERIES." "$(apt_help)"
	version=${release%-amd64}
	step kernel "Fetching kernel $release" "30 s, 120 MB" \
		unpack_kernel "$release" "$version"
}

unpack_kernel() {
	apt_unpack "$KERNEL_ROOT" "linux-image-$1" "linux-headers-$1" \
		"linux-headers-$2-common" "linux-kbuild-$2"
	relocate "$KERNEL_ROOT" "$1"
}

# newest_headers SERIES: release of the newest headers, generic flavour.
newest_headers() {
	apt_packages "linux-headers-$1." |
		sed -nE 's/^linux-headers-([0-9.]+-[0-9]+-amd64)$/\1/p' |
		tail -n 1
}

unpack_headers() {
	local root=$1 release=$2

	apt_unpack "$root" "linux-headers-$release" \
		"linux-headers-${release%-amd64}-common" \
		"linux-kbuild-$OLD_SERIES"
	relocate "$root" "$release"
}

# A release without that series leaves a note, so as not to ask each time.
fetch_old_headers() {
	local release

	prepare_once
	release=$(newest_headers "$OLD_SERIES")
	if [ -z "$release" ]; then
		mkdir -p "$OLD_ROOT"
		return
	fi
	step old-headers "Fetching headers $release" "10 s, 12 MB" \
		unpack_headers "$OLD_ROOT" "$release"
}

# There is a build tree, ready for modules, and an image that goes with it.
complete() {
	[ -n "$(kernel_release)" ] && [ -r "$(kernel_image)" ]
}

check_user_kernel() {
	[ -z "${KDIR:-}" ] || [ -n "$(kernel_release)" ] ||
		die "KDIR=$KDIR is no kernel build tree that is ready for modules." \
			"Run \"make modules_prepare\" there, or build it."
	[ -z "${KDIR:-}" ] || [ -r "$(kernel_image)" ] ||
		die "no image for KDIR=$KDIR ($(kernel_release))." \
			"Set KERNEL=<bzImage>."
	[ -z "${KERNEL:-}" ] || [ -r "$KERNEL" ] ||
		die "KERNEL=$KERNEL cannot be read."
}

unpack_slice() {
	local dir

	dir=$(kernel_source)
	rm -rf "$dir.part"
	mkdir -p "$dir.part"
	tar -xJf "$1" -C "$dir.part" --strip-components=1 --wildcards "${SLICE[@]}"
	mv "$dir.part" "$dir"
}

fetch_source() {
	local archive tmp=$TDMA_CACHE/linux-source-package

	if ! archive=$(source_archive "") && ! archive=$(source_archive "$tmp"); then
		prepare_once
		step kernel-source "Fetching the kernel's source" "30 s, 150 MB" \
			apt_unpack "$tmp" "linux-source-$KERNEL_SERIES"
		archive=$(source_archive "$tmp")
	fi
	step kernel-slice "Unpacking its selftests" "20 s" unpack_slice "$archive"
	rm -rf "$tmp"
}

main() {
	mkdir -p "$TDMA_CACHE"
	check_user_kernel
	complete || fetch_kernel
	[ -d "$(kernel_source)" ] || fetch_source
	[ "${1:-base}" != all ] || [ -d "$OLD_ROOT" ] || fetch_old_headers
}

main "$@"
