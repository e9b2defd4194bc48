#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Builds QEMU with this checkout's device; installs the binary into build/qemu.
#
# The tree in the cache is shared by all checkouts. It sees the device through
# a mirror that is refreshed by content, so that exactly the files that differ
# from the last build, whichever checkout that was for, are compiled again.
# A lock keeps checkouts apart; each takes its copy of the result before it
# lets go.
set -euo pipefail
# shellcheck source=tools/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tools/setup/qemu-paths.sh
. "$TDMA_TOP/tools/setup/qemu-paths.sh"

CONFIGURE=(
	--target-list=x86_64-softmmu
	--without-default-features
	--without-default-devices
	--with-devices-x86_64=tensordma
	--enable-tcg
	--enable-kvm
	--disable-docs
	--disable-tools
	--disable-install-blobs
	--disable-download
	--disable-debug-info
	--enable-fdt=system
)

ROMS=(linuxboot_dma.bin kvmvapic.bin)

# A mirror keeps its time stamps unless the content changes: a checkout's own
# would make ninja believe that an older file needs no compilation.
refresh_mirror() {
	mkdir -p "$DIR/tensordma"
	rsync -rlc --delete --exclude '*.o' --exclude '/qemu-device/tests/build' \
		"$TDMA_TOP/qemu-device" "$TDMA_TOP/uapi" "$DIR/tensordma/"
}

# What the overlay's script adds depends on itself and on the tests there are.
same_overlay() {
	cmp -s "$TDMA_TOP/$1" "$DIR/tensordma/$1" &&
		[ "$(ls "$TDMA_TOP/qemu-device/qtest")" = \
			"$(ls "$DIR/tensordma/qemu-device/qtest")" ]
}

# What an older version of the script added is its own to take out.
install_overlay() {
	local script=qemu-device/install-overlay.sh

	if [ -f "$DIR/tensordma/$script" ] && ! same_overlay "$script"; then
		sh "$DIR/tensordma/$script" --remove "$DIR/src"
	fi
	refresh_mirror
	sh "$DIR/tensordma/$script" "$DIR/src"
}

configure() {
	mkdir -p "$DIR/build"
	cd "$DIR/build"
	rm -f .tensordma-configured
	with_meson ../src/configure --python="$TDMA_PYTHON" "${CONFIGURE[@]}"
	echo "${CONFIGURE[*]}" >.tensordma-configured
}

configured() {
	[ -f "$DIR/build/build.ninja" ] &&
		[ "$(cat "$DIR/build/.tensordma-configured" 2>/dev/null)" = \
			"${CONFIGURE[*]}" ]
}

# The targets we need: the emulator and the device's own qtests.
targets() {
	echo qemu-system-x86_64
	ninja -C "$DIR/build" -t targets all 2>/dev/null |
		sed -n 's|^\(tests/qtest/tensordma-[a-z-]*test\): .*|\1|p'
}

compile() {
	local list

	cd "$DIR/build"
	# A changed meson.build regenerates the target list first.
	with_meson ninja build.ninja
	mapfile -t list < <(targets)
	with_meson ninja -j "$TDMA_MAKE_JOBS" "${list[@]}"
}

# The boot ROMs that -kernel and the interrupt controller want. QEMU's own
# build skips them where there is no 32-bit libc, which they do not use.
build_roms() {
	cd "$DIR/build/pc-bios/optionrom"
	touch config.mak
	make --no-print-directory TOPSRC_DIR="$DIR/src" CC=gcc OBJCOPY=objcopy \
		PYTHON="$TDMA_PYTHON" "${ROMS[@]}"
}

install_result() {
	local target rom

	for target in $(targets); do
		refresh "$DIR/build/$target" "$TDMA_BUILD/qemu/$(basename "$target")" 755
	done
	for rom in "${ROMS[@]}"; do
		refresh "$DIR/build/pc-bios/optionrom/$rom" \
			"$TDMA_BUILD/qemu/firmware/$rom"
	done
}

main() {
	DIR=$(qemu_dir)
	mkdir -p "$TDMA_BUILD/qemu"
	exec 9>"$DIR/lock"
	flock -n 9 || { say "Waiting for another build of QEMU"; flock 9; }

	step qemu-overlay "Linking the device into QEMU" "" install_overlay
	configured ||
		step qemu-configure "Configuring QEMU" "30 s" configure
	step qemu-build "Building QEMU with the device" \
		"$([ -x "$DIR/build/qemu-system-x86_64" ] || estimate 550)" compile
	step qemu-roms "Building the boot ROMs" "" build_roms
	install_result
}

main "$@"
