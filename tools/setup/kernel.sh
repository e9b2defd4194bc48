#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Provides the guest kernel's image and the slice of its source that the tests
# use. The image is unpacked into the cache, not installed: the machine's own
# boot loader has nothing to do with it.
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

check_headers() {
	[ -f "$(kernel_dir)/Makefile" ] ||
		die "no kernel build tree${KDIR:+ in KDIR=$KDIR}." \
			"Install linux-headers-$KERNEL_SERIES-amd64" \
			"(linux-headers-amd64 on Debian 13) or set KDIR=."
	[ -n "$(kernel_release)" ] ||
		die "$(kernel_dir) is not prepared: make modules_prepare there."
}

fetch_image() {
	local release

	release=$(kernel_release)
	prepare_once
	STEP_HINT="If the archive has no linux-image-$release any more, update the
  headers package, or set KERNEL=<bzImage> and KDIR=<its build tree>."
	step kernel-image "Fetching kernel $release" "20 s, 100 MB" \
		apt_unpack "linux-image-$release" "$TDMA_CACHE/kernel-$release"
	STEP_HINT=
}

source_archive() {
	find "$1/usr/src" -maxdepth 1 -name "linux-source-$KERNEL_SERIES.tar.xz" \
		2>/dev/null | grep .
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
			apt_unpack "linux-source-$KERNEL_SERIES" "$tmp"
		archive=$(source_archive "$tmp")
	fi
	step kernel-slice "Unpacking its selftests" "20 s" unpack_slice "$archive"
	rm -rf "$tmp"
}

main() {
	mkdir -p "$TDMA_CACHE"
	check_headers
	[ -r "$(kernel_image)" ] || fetch_image
	[ -d "$(kernel_source)" ] || fetch_source
}

main "$@"
