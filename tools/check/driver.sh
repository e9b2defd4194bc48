#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The driver's pure code on the host: its check of descriptors against the
# device's and against a walk of every element.
# usage: driver.sh [COUNT [SEED]]
set -euo pipefail
# shellcheck source=tools/lib.sh
. "$(dirname "$0")/../lib.sh"

main() {
	local out=$TDMA_BUILD/driver-tests core=$TDMA_TOP/qemu-device/core

	mkdir -p "$out"
	gcc -std=gnu11 -O2 -g -Wall -Wextra -Werror -fsanitize=address,undefined \
		-fno-sanitize-recover=all -I "$TDMA_TOP/uapi" -I "$core" \
		"$TDMA_TOP/driver/tests/desc_test.c" \
		"$TDMA_TOP/driver/tdma_desc.c" "$core/dma/tdma_check.c" \
		"$core/dma/tdma_extent.c" -o "$out/desc_test"
	"$out/desc_test" "$@"
}

main "$@"
