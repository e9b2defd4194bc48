#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# From a plain Debian 12 or 13 to everything that `make run` (base) or
# `make check` (all) needs. Each part looks for what is there already, so a
# second run costs a second and an interrupted one goes on where it was.
# usage: setup.sh base|all
set -euo pipefail
# shellcheck source=tools/lib.sh
. "$(dirname "$0")/../lib.sh"

main() {
	local here=$TDMA_TOP/tools/setup

	[ "$(uname -m)" = x86_64 ] ||
		die "this is $(uname -m); the build and the guest are x86-64 only."
	"$here/packages.sh" "${1:-all}"
	mkdir -p "$TDMA_CACHE" ||
		die "cannot create $TDMA_CACHE." "Set TENSORDMA_CACHE=<directory>."
	(
		# One set-up at a time: two checkouts may share the cache.
		exec 8>"$TDMA_CACHE/setup.lock"
		flock -n 8 || { say "Waiting for another set-up"; flock 8; }
		[ -n "${QEMU:-}" ] || "$here/qemu-source.sh" 8>&-
		"$here/kernel.sh" "${1:-all}" 8>&-
		# Lists age; they are fetched again when something is needed.
		rm -rf "$TDMA_CACHE/apt"
	)
	[ -n "${QEMU:-}" ] || "$here/qemu-build.sh"
}

main "$@"
