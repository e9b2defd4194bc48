# SPDX-License-Identifier: GPL-2.0
# Where the kernels are that we build for tests.
# shellcheck shell=bash
# To be sourced after kernel-paths.sh.

# The whole source, as far as such a kernel needs it.
DEBUG_SOURCE=$TDMA_CACHE/linux-source-full-$KERNEL_SERIES

# debug_dir VARIANT: build tree, at the same time KDIR of modules.
debug_dir() {
	echo "$TDMA_CACHE/linux-$KERNEL_SERIES-$1"
}

# debug_image VARIANT
debug_image() {
	echo "$(debug_dir "$1")/arch/x86/boot/bzImage"
}

export DEBUG_SOURCE
