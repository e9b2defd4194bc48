#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Builds kernels of our own and what they need, then runs the tests on them.
# usage: debug.sh [NAME...]    TDMA_KERNELS="debug rt kcsan mainline"
#                            (default: debug)
set -euo pipefail
# shellcheck source=tools/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tools/setup/kernel-paths.sh
. "$TDMA_TOP/tools/setup/kernel-paths.sh"
# shellcheck source=tools/setup/debug-paths.sh
. "$TDMA_TOP/tools/setup/debug-paths.sh"

prepare() {
	local build=$TDMA_TOP/tools/guest/build.sh

	"$TDMA_TOP/tools/setup/debug-kernel.sh" "$1"
	KDIR=$(debug_dir "$1")
	# Modules of the kernel's own are built from its own source.
	if [ "$1" = mainline ]; then
		KERNEL_SRC=$(debug_source "$1")
		export KERNEL_SRC
	fi
	KERNEL=$(debug_image "$1")
	INITRD=$TDMA_BUILD/initramfs-$1.gz
	export KDIR KERNEL INITRD
	"$build" modules
	"$build" initramfs
}

main() {
	local variant

	export TDMA_KERNELS=${TDMA_KERNELS:-debug}
	"$TDMA_TOP/tools/guest/build.sh" selftests
	"$TDMA_TOP/tools/guest/build.sh" tools
	for variant in $TDMA_KERNELS; do
		(prepare "$variant")
	done
	# One after the other: what these kernels do takes all there is.
	export CHECK_JOBS=${CHECK_JOBS:-1}
	exec "$TDMA_PYTHON" "$TDMA_TOP/tools/check/check.py" --debug "$@"
}

main "$@"
