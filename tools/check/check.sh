#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Builds what the tests need, then runs them.
# usage: check.sh [NAME...]
set -euo pipefail
# shellcheck source=tools/lib.sh
. "$(dirname "$0")/../lib.sh"

[ "${1:-}" = list ] || "$TDMA_TOP/tools/guest/build.sh"
exec "$TDMA_PYTHON" "$TDMA_TOP/tools/check/check.py" "$@"
