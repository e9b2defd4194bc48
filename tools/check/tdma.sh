#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The tests of the tdma command, which is built first. TAP on standard output.
set -euo pipefail
# shellcheck source=tools/lib.sh
. "$(dirname "$0")/../lib.sh"

make -s --no-print-directory -j "$TDMA_MAKE_JOBS" -C "$TDMA_TOP/tools/tdma" \
	BUILD="$TDMA_BUILD/tools" >&2
exec "$TDMA_PYTHON" "$TDMA_TOP/tools/tdma/tests/test_tdma.py" \
	"$TDMA_BUILD/tools/tdma" "$TDMA_TOP/selftests/cases/cases.tsv"
