#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Packs the guest's root: busybox, our init and jobs, modules, selftests, tdma.
# Parts that are not built yet are left out. INITRD= is where it goes.
set -euo pipefail
# shellcheck source=tools/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tools/setup/kernel-paths.sh
. "$TDMA_TOP/tools/setup/kernel-paths.sh"

INITRD=${INITRD:-$TDMA_BUILD/initramfs.gz}
ROOT=${INITRD%.gz}
RELEASE=$(kernel_release)

install_busybox() {
	local busybox applet

	busybox=$(command -v busybox) || die "no busybox: run make setup."
	mkdir -p "$ROOT/bin"
	for applet in $("$busybox" --list); do
		ln -s busybox "$ROOT/bin/$applet"
	done
	cp --remove-destination "$busybox" "$ROOT/bin/busybox"
}

# A program of the host with the libraries it needs.
install_program() {
	install -D "$1" "$ROOT/$1"
	install_libraries "$1"
}

install_libraries() {
	local library

	for library in $(ldd "$1" | grep -o '/[^ ]*'); do
		install -D "$library" "$ROOT/$library"
	done
}

# Modules that tests use where the kernel has them as such.
TEST_MODULES=aer_inject

# A module of the kernel image, unpacked.
install_image_module() {
	local file

	file=$(find "$(kernel_root)/lib/modules/$RELEASE" -name "$1.ko*" \
		2>/dev/null | head -n 1)
	case $file in
	"") return 1 ;;
	*.xz) xz -dc "$file" >"$ROOT/modules/$1.ko" ;;
	*) cp "$file" "$ROOT/modules/" ;;
	esac
}

# Those named in GUEST_MODULES must be there.
install_image_modules() {
	local name

	for name in $TEST_MODULES; do
		install_image_module "$name" || true
	done
	for name in ${GUEST_MODULES:-}; do
		install_image_module "$name" ||
			die "the kernel has no module $name."
	done
}

install_modules() {
	mkdir -p "$ROOT/modules"
	find "$TDMA_BUILD/module-$RELEASE" "$TDMA_BUILD/dmatest-$RELEASE" \
		-name '*.ko' -exec cp {} "$ROOT/modules/" \; 2>/dev/null || true
	install_image_modules
}

# Debugging information is of no use in there, and most of the size.
strip_all() {
	find "$ROOT/modules" -name '*.ko' -exec strip --strip-debug {} +
	[ ! -d "$ROOT/kselftest" ] ||
		find "$ROOT/kselftest/tensordma" -type f -perm -u+x \
			! -name '*.sh' -exec strip {} +
}

install_tests() {
	[ ! -d "$TDMA_BUILD/kselftest" ] ||
		cp -r "$TDMA_BUILD/kselftest" "$ROOT/kselftest"
}

# The command, which is static, the table that it can replay, and the tests of the
# library.
install_tools() {
	local test

	[ -f "$TDMA_BUILD/tools/tdma" ] || return 0
	install -s "$TDMA_BUILD/tools/tdma" "$ROOT/bin/tdma"
	install -D -m 644 "$TDMA_TOP/selftests/cases/cases.tsv" \
		"$ROOT/usr/share/tensordma/cases.tsv"
	for test in "$TDMA_BUILD"/tools/lib/test_*; do
		[ -x "$test" ] || continue
		install_libraries "$test"
		install -D -s "$test" \
			"$ROOT/usr/lib/tensordma/$(basename "$test")"
	done
}

# Pictures in a form that needs no library.
install_pictures() {
	local picture

	mkdir -p "$ROOT/demo"
	for picture in "$TDMA_TOP"/selftests/demo/*.png; do
		"$TDMA_PYTHON" "$TDMA_TOP/tools/guest/image.py" "$picture" \
			"$ROOT/demo/$(basename "${picture%.png}").ppm"
	done
}

pack() {
	(cd "$ROOT" && find . | LC_ALL=C sort |
		cpio -o -H newc -R 0:0 --quiet | gzip -1) \
		>"$INITRD.part"
	mv "$INITRD.part" "$INITRD"
}

main() {
	rm -rf "$ROOT"
	mkdir -p "$ROOT"/{dev,proc,sys,tmp,out,root,usr/bin}
	install_busybox
	# busybox's own lacks --foreground, which the kselftest runner needs.
	install_program /usr/bin/timeout
	install -m 755 "$TDMA_TOP/tools/guest/init" "$ROOT/init"
	cp -r "$TDMA_TOP/tools/guest/jobs" "$ROOT/jobs"
	install_modules
	install_tests
	install_tools
	install_pictures
	strip_all
	pack
}

main "$@"
