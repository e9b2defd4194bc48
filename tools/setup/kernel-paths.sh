# SPDX-License-Identifier: GPL-2.0
# Which kernel the guest boots and where its parts are.
# shellcheck shell=bash
# To be sourced after lib.sh. KDIR=, KERNEL= and KERNEL_SRC= override.

KERNEL_SERIES=6.12

# The build tree: the newest generic headers of the series that are installed.
# The cloud flavour has no dmaengine, rt is another kernel.
kernel_dir() {
	if [ -n "${KDIR:-}" ]; then
		readlink -f "$KDIR"
		return
	fi
	find /usr/src -mindepth 1 -maxdepth 1 -type d \
		-name "linux-headers-$KERNEL_SERIES.*-amd64" \
		! -name '*-cloud-*' ! -name '*-rt-*' 2>/dev/null |
		sort -V | tail -n 1
}

# The release the build tree is for, e.g. 6.12.100+deb12-amd64.
kernel_release() {
	cat "$(kernel_dir)/include/config/kernel.release" 2>/dev/null || true
}

# Root of an unpacked image package: the machine's own if it is installed.
kernel_root() {
	local release

	release=$(kernel_release)
	if [ -r "/boot/vmlinuz-$release" ] && [ -d "/lib/modules/$release/kernel" ]; then
		echo /
	else
		echo "$TDMA_CACHE/kernel-$release"
	fi
}

# The bootable image.
kernel_image() {
	local root

	if [ -n "${KERNEL:-}" ]; then
		echo "$KERNEL"
		return
	fi
	root=$(kernel_root)
	echo "${root%/}/boot/vmlinuz-$(kernel_release)"
}

# The part of the kernel's source that we use (selftests, dmatest, checkers).
kernel_source() {
	echo "${KERNEL_SRC:-$TDMA_CACHE/linux-source-$KERNEL_SERIES}"
}

export KERNEL_SERIES
