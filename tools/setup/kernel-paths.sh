# SPDX-License-Identifier: GPL-2.0
# Which kernel the guest boots and where its parts are.
# shellcheck shell=bash
# To be sourced after lib.sh. KDIR=, KERNEL= and KERNEL_SRC= override.

KERNEL_SERIES=6.12
# Image and build tree, unpacked here instead of installed.
KERNEL_ROOT=$TDMA_CACHE/linux-$KERNEL_SERIES

# The oldest series that the driver is to build for, headers only.
OLD_SERIES=6.1
OLD_ROOT=$TDMA_CACHE/linux-$OLD_SERIES

# kernel_dirs ROOT: build trees of the series below a root, oldest first; the
# generic flavour: cloud has no dmaengine, rt is another kernel.
kernel_dirs() {
	find "$1"/usr/src -mindepth 1 -maxdepth 1 -type d \
		-name "linux-headers-$KERNEL_SERIES.*-amd64" \
		! -name '*-cloud-*' ! -name '*-rt-*' 2>/dev/null | sort -V
}

# The build tree: what KDIR names, else what the cache has, else what is
# installed together with its image.
kernel_dir() {
	local dir

	if [ -n "${KDIR:-}" ]; then
		readlink -f "$KDIR"
		return
	fi
	dir=$(kernel_dirs "$KERNEL_ROOT" | tail -n 1)
	[ -n "$dir" ] || dir=$(kernel_dirs "" | tail -n 1)
	[ -z "$dir" ] || echo "$dir"
}

# The release the build tree is for, e.g. 6.12.100+deb12-amd64.
kernel_release() {
	cat "$(kernel_dir)/include/config/kernel.release" 2>/dev/null || true
}

# Root of the file system that has the image of that release.
kernel_root() {
	if [ -r "$KERNEL_ROOT/boot/vmlinuz-$(kernel_release)" ]; then
		echo "$KERNEL_ROOT"
	fi
}

# The bootable image.
kernel_image() {
	echo "${KERNEL:-$(kernel_root)/boot/vmlinuz-$(kernel_release)}"
}

# The part of the kernel's source that we use (selftests, dmatest, checkers).
kernel_source() {
	echo "${KERNEL_SRC:-$TDMA_CACHE/linux-source-$KERNEL_SERIES}"
}

# source_archive ROOT [SERIES]: the package's archive of the whole source, if
# installed or unpacked below ROOT.
source_archive() {
	find "$1/usr/src" -maxdepth 1 \
		-name "linux-source-${2:-$KERNEL_SERIES}.tar.xz" \
		2>/dev/null | grep .
}

export KERNEL_SERIES KERNEL_ROOT OLD_SERIES OLD_ROOT
