#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Builds the driver against another kernel's build tree, warnings as errors.
# usage: module.sh BUILD_TREE
set -euo pipefail
# shellcheck source=tools/lib.sh
. "$(dirname "$0")/../lib.sh"

export KDIR=${1:?usage: module.sh BUILD_TREE} KCFLAGS=-Werror W=1
exec "$TDMA_TOP/tools/guest/build.sh" driver
