#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Builds the driver for the oldest kernel series it supports, warnings as errors.
set -euo pipefail
# shellcheck source=tools/lib.sh
. "$(dirname "$0")/../lib.sh"

# shellcheck source=tools/setup/kernel-paths.sh
. "$TDMA_TOP/tools/setup/kernel-paths.sh"

KDIR=$(find "$OLD_ROOT/usr/src" -name 'linux-headers-*-amd64')
export KDIR KCFLAGS=-Werror W=1
exec "$TDMA_TOP/tools/guest/build.sh" driver
