# SPDX-License-Identifier: GPL-2.0
# Where the QEMU trees are in the cache.
# shellcheck shell=bash
# To be sourced after lib.sh.

QEMU_SERIES=10.0
MESON_MINIMUM=1.5.0
MESON_DIR=$TDMA_CACHE/meson
export QEMU_SERIES MESON_MINIMUM MESON_DIR

# The directory that holds src/ and build/: of the user's tree if QEMU_SRC
# names one, else the newest in the cache, else nothing.
qemu_dir() {
	if [ -n "${QEMU_SRC:-}" ]; then
		echo "$TDMA_CACHE/qemu-user-$(readlink -f "$QEMU_SRC" |
			cksum | cut -d' ' -f1)"
		return
	fi
	find "$TDMA_CACHE" -mindepth 1 -maxdepth 1 -type d \
		-name "qemu-$QEMU_SERIES.*" 2>/dev/null | sort -V | tail -n 1
}

meson_present() {
	[ -d "$MESON_DIR/usr/lib/python3/dist-packages/mesonbuild" ]
}

# Run a command so that QEMU's build finds that meson.
with_meson() {
	PYTHONPATH=$MESON_DIR/usr/lib/python3/dist-packages "$@"
}
