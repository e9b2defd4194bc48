#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Builds what goes into the guest: driver, dmatest, selftests, the tdma command,
# initramfs.
# usage: build.sh [driver|modules|selftests|tools|initramfs]   (default: all)
#
# Sources are mirrored into build/ and compiled there: the checkout stays
# clean, and builds for several kernels do not disturb each other.
set -euo pipefail
# shellcheck source=tools/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tools/setup/kernel-paths.sh
. "$TDMA_TOP/tools/setup/kernel-paths.sh"

RELEASE=$(kernel_release)
# VARIANT tells builds of the driver with other options apart.
MODULES=$TDMA_BUILD/module-$RELEASE${VARIANT:+-$VARIANT}
DMATEST=$TDMA_BUILD/dmatest-$RELEASE
KSFT=$TDMA_BUILD/ksft
KSFT_INSTALL=$TDMA_BUILD/kselftest

kbuild() {
	make -C "$(kernel_dir)" M="$1" -j "$TDMA_MAKE_JOBS" \
		CONFIG_TENSORDMA_TEST=m modules
}

build_driver() {
	mkdir -p "$MODULES"
	rsync -rlc "$TDMA_TOP/Kbuild" "$TDMA_TOP/driver" "$TDMA_TOP/uapi" \
		--exclude '*.o' --exclude '*.ko' --exclude '*.mod*' \
		--exclude '*.d' --exclude '.*.cmd' --exclude modules.order \
		--exclude Module.symvers "$MODULES/"
	kbuild "$MODULES"
}

# dmatest is off in Debian's kernels but builds as a module of its own.
build_dmatest() {
	mkdir -p "$DMATEST"
	refresh "$(kernel_source)/drivers/dma/dmatest.c" "$DMATEST/dmatest.c"
	echo 'obj-m := dmatest.o' >"$DMATEST/Kbuild"
	kbuild "$DMATEST"
}

# The selftests are built as in a kernel tree, by the kernel's own lib.mk.
build_selftests() {
	local target=$KSFT/tools/testing/selftests/tensordma

	mkdir -p "$target"
	rsync -rlc "$(kernel_source)/scripts" "$(kernel_source)/tools" "$KSFT/"
	rsync -rlc "$TDMA_TOP/selftests/" "$target/"
	# Where the tests' Makefile looks whether it has changed.
	rsync -rlc "$TDMA_TOP/uapi" "$KSFT/tools/testing/selftests/"
	rm -rf "$KSFT_INSTALL"
	make -C "$KSFT/tools/testing/selftests" TARGETS=tensordma \
		USERLDFLAGS=-static KHDR_INCLUDES="-isystem $TDMA_TOP/uapi" \
		FORCE_TARGETS=1 KSFT_INSTALL_PATH="$KSFT_INSTALL" install
}

build_tools() {
	local make=(make -j "$TDMA_MAKE_JOBS" BUILD="$TDMA_BUILD/tools")

	"${make[@]}" -C "$TDMA_TOP/tools/libtensordma"
	"${make[@]}" -C "$TDMA_TOP/tools/tdma"
	# Who only wants to run a guest need not have what tests need.
	[ ! -f /usr/include/cmocka.h ] ||
		"${make[@]}" -C "$TDMA_TOP/tools/libtensordma" tests
}

build_initramfs() {
	"$TDMA_TOP/tools/guest/initramfs.sh"
}

build() {
	case $1 in
	driver | dmatest)
		step "$1-$RELEASE${VARIANT:+-$VARIANT}" \
			"Building $1 for $RELEASE" "" "build_$1"
		;;
	selftests) step "$1" "Building the selftests" "" "build_$1" ;;
	tools) step "$1" "Building the tdma command" "" "build_$1" ;;
	initramfs) step "$1" "Packing the initramfs" "" "build_$1" ;;
	*) die "unknown part: $1" ;;
	esac
}

main() {
	local parts part

	case ${1:-all} in
	all) parts="driver dmatest selftests tools initramfs" ;;
	modules) parts="driver dmatest" ;;
	*) parts=$1 ;;
	esac
	for part in $parts; do
		build "$part"
	done
}

main "$@"
