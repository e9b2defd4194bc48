#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Builds the driver for the oldest kernel series it supports, or for the tree of
# a kernel of our own (VARIANT), warnings as errors.
# usage: module.sh [VARIANT]
set -euo pipefail
# shellcheck source=tools/lib.sh
. "$(dirname "$0")/../lib.sh"

# shellcheck source=tools/setup/kernel-paths.sh
. "$TDMA_TOP/tools/setup/kernel-paths.sh"
# shellcheck source=tools/setup/debug-paths.sh
. "$TDMA_TOP/tools/setup/debug-paths.sh"

if [ $# -gt 0 ]; then
	KDIR=$(debug_dir "$1")
else
	KDIR=$(find "$OLD_ROOT/usr/src" -name 'linux-headers-*-amd64')
fi
export KDIR KCFLAGS=-Werror W=1
exec "$TDMA_TOP/tools/guest/build.sh" driver
