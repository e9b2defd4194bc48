#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The interface's headers: each compiles alone, in C90 and C++, for 64 and 32
# bits; no structure has a hole or a layout that depends on the word size.
set -euo pipefail
# shellcheck source=tools/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tools/tap.sh
. "$TDMA_TOP/tools/tap.sh"

UAPI=$TDMA_TOP/uapi
WORK=$TDMA_BUILD/uapi
# Headers of the 32-bit ABI are the same files; a 64-bit libc need not be
# accompanied by a 32-bit one to find them.
M32=(-m32 -isystem /usr/include/x86_64-linux-gnu)
WARN=(-Wall -Wextra -Wpadded -Werror)

# Twice: a missing include guard shows.
compile() {
	local header=$1
	shift
	"$@" -I "$UAPI" -fsyntax-only -include "$header" -include "$header" \
		/dev/null
}

check_header() {
	local name=${1#"$UAPI"/}

	tap_test "$name: C90" compile "$1" \
		gcc -std=c90 "${WARN[@]}" -x c
	tap_test "$name: C11, 32 bits" compile "$1" \
		gcc -std=c11 "${M32[@]}" "${WARN[@]}" -x c
	tap_test "$name: C++98" compile "$1" \
		g++ -std=c++98 "${WARN[@]}" -x c++
	tap_test "$name: C++17, 32 bits" compile "$1" \
		g++ -std=c++17 "${M32[@]}" -Wall -Werror -x c++
}

structures() {
	sed -n 's/^struct \(tdma_[a-z0-9_]*\) {.*/\1/p' "$UAPI"/linux/*.h
}

# A program that has one variable of each structure, so that the debugging
# information describes them all.
layout_source() {
	local header name

	for header in "$UAPI"/linux/*.h; do
		echo "#include <linux/$(basename "$header")>"
	done
	for name in $(structures); do
		echo "struct $name v_$name;"
	done
}

compile_layouts() {
	mkdir -p "$WORK"
	layout_source >"$WORK/layout.c"
	gcc -g -c -I "$UAPI" "$WORK/layout.c" -o "$WORK/layout64.o"
	gcc -g -c "${M32[@]}" -I "$UAPI" "$WORK/layout.c" -o "$WORK/layout32.o"
}

layout() {
	pahole -C "$1" "$2"
}

no_holes() {
	local text

	text=$(layout "$1" "$WORK/layout64.o")
	[ -n "$text" ] || { echo "pahole does not know struct $1"; return 1; }
	! grep -E 'XXX .*hole|padding:' <<<"$text"
}

# Offsets and sizes only: the names of base types may differ.
offsets() {
	layout "$1" "$2" | grep -oE '[A-Za-z0-9_]+(\[[0-9]+\])?; +/\* +[0-9]+ +[0-9]+ \*/|size: [0-9]+'
}

same_layout() {
	diff <(offsets "$1" "$WORK/layout64.o") <(offsets "$1" "$WORK/layout32.o")
}

check_layouts() {
	local name

	if ! command -v pahole >/dev/null; then
		tap_skip "layout" "pahole (package dwarves) is not installed"
		return
	fi
	tap_test "structures compile" compile_layouts
	for name in $(structures); do
		tap_test "struct $name: no holes" no_holes "$name"
		tap_test "struct $name: same on 32 bits" same_layout "$name"
	done
}

main() {
	local header

	for header in "$UAPI"/linux/*.h; do
		check_header "$header"
	done
	check_layouts
	tap_end
}

main
