# SPDX-License-Identifier: GPL-2.0
# Where the kernels are that we build for tests.
# shellcheck shell=bash
# To be sourced after kernel-paths.sh.

# debug_source VARIANT: the whole source, as far as such a kernel needs it.
# "mainline" is of the newest series that the archive had when it was fetched.
debug_source() {
	case $1 in
	mainline) echo "$TDMA_CACHE/linux-source-mainline" ;;
	*) echo "$TDMA_CACHE/linux-source-full-$KERNEL_SERIES" ;;
	esac
}

# debug_dir VARIANT: build tree, at the same time KDIR of modules.
debug_dir() {
	case $1 in
	mainline) echo "$TDMA_CACHE/linux-mainline" ;;
	*) echo "$TDMA_CACHE/linux-$KERNEL_SERIES-$1" ;;
	esac
}

# debug_image VARIANT
debug_image() {
	echo "$(debug_dir "$1")/arch/x86/boot/bzImage"
}
