#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The tests of the pictures, on traces of the tdma command, which is built first.
# TAP on standard output.
set -euo pipefail
# shellcheck source=tools/lib.sh
. "$(dirname "$0")/../lib.sh"

make -s --no-print-directory -j "$TDMA_MAKE_JOBS" -C "$TDMA_TOP/tools/tdma" \
	BUILD="$TDMA_BUILD/tools" >&2
export TDMA=$TDMA_BUILD/tools/tdma
exec "$TDMA_PYTHON" "$TDMA_TOP/tools/check/selftest.py" \
	"$TDMA_TOP/tools/report"
