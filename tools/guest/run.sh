#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Boots the guest, runs the demonstration, brings its pictures out as PNG.
set -euo pipefail
# shellcheck source=tools/lib.sh
. "$(dirname "$0")/../lib.sh"

OUT=$TDMA_BUILD/run

convert_pictures() {
	local picture pairs=()

	while read -r picture; do
		pairs+=("$picture" "$OUT/$(basename "${picture%.*}").png")
	done < <(find "$TDMA_BUILD/guest/demo/out" -name '*.p[gp]m' | sort)
	[ ${#pairs[@]} -gt 0 ] || die "the guest wrote no picture."
	"$TDMA_PYTHON" "$TDMA_TOP/tools/guest/image.py" "${pairs[@]}"
	printf '  %s\n' "$OUT"/*.png
}

main() {
	say "Booting the guest (about 7 s)"
	"$TDMA_TOP/tools/guest/boot.sh" demo |
		grep --line-buffered -v '^tensordma-guest:'
	rm -rf "$OUT"
	mkdir -p "$OUT"
	say "Pictures:"
	convert_pictures
}

main
