#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Style and static checks; TAP on standard output.
# usage: lint.sh [--quick]     quick: without coccinelle, and what is not kernel
set -euo pipefail
# shellcheck source=tools/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tools/tap.sh
. "$TDMA_TOP/tools/tap.sh"
# shellcheck source=tools/setup/kernel-paths.sh
. "$TDMA_TOP/tools/setup/kernel-paths.sh"
# shellcheck source=tools/setup/qemu-paths.sh
. "$TDMA_TOP/tools/setup/qemu-paths.sh"

HERE=$TDMA_TOP/tools/lint
STYLE=$TDMA_BUILD/style

# files PATTERN...: the project's files, tracked or about to be.
files() {
	git -c safe.directory='*' ls-files -co --exclude-standard -- "$@" |
		sort -u |
		while read -r file; do
			[ ! -f "$file" ] || echo "$file"
		done
}

# on_files COMMAND... -- PATTERN...: to find nothing to check is a failure, too.
on_files() {
	local command=() list

	while [ "$1" != -- ]; do
		command+=("$1")
		shift
	done
	shift
	mapfile -t list < <(files "$@")
	[ ${#list[@]} -gt 0 ] || { echo "no files match: $*"; return 1; }
	"${command[@]}" "${list[@]}"
}

shell_scripts() {
	files 'tools/**' '.ci/*' '*.sh' | while read -r file; do
		! head -n 1 "$file" | grep -qE '^#!.*\bsh$|^#!/bin/bash' ||
			echo "$file"
	done
	files 'tools/*.sh'
}

check_shell() {
	local list

	mapfile -t list < <(shell_scripts | sort -u)
	[ ${#list[@]} -gt 0 ] || { echo "no scripts"; return 1; }
	shellcheck -x "${list[@]}"
}

# complaints PATTERNS COMMAND...: fails if the command writes anything but lines
# that match one of a file of patterns, each there with its reason. The
# command's status is not asked: it also counts what we know to be wrong.
complaints() {
	local patterns=$1 output
	shift

	output=$("$@" 2>&1 || true)
	output=$(grep -vE -f <(sed '/^#/d' "$patterns") <<<"$output" || true)
	[ -z "$output" ] || { printf '%s\n' "$output"; return 1; }
}

# A place outside the checkout that looks like a source tree: checkers leave
# files in the current directory, and have other rules for what is in tests/.
prepare_style() {
	mkdir -p "$STYLE/tests" "$STYLE/hw" "$STYLE/include"
	ln -sfn "$TDMA_TOP"/{driver,uapi,selftests,tools} "$STYLE"
	ln -sfn "$TDMA_TOP/qemu-device/qtest" "$STYLE/tests/qtest"
	ln -sfn "$TDMA_TOP/qemu-device/hw" "$STYLE/hw/tensordma"
	ln -sfn "$TDMA_TOP/qemu-device/core" "$STYLE/hw/tensordma-core"
}

# kernel_style COLUMNS FILE...: checkpatch needs its lists beside it, no tree.
kernel_style() {
	local columns=$1
	shift

	cd "$STYLE"
	complaints "$HERE/checkpatch.ignore" \
		perl "$(kernel_source)/scripts/checkpatch.pl" --no-tree --strict \
		--root="$STYLE" --terse --no-summary --show-types \
		--max-line-length="$columns" -f "$@"
}

qemu_style() {
	local list

	cd "$STYLE"
	mapfile -t list < <(find -L hw tests -name '*.[ch]' | sort)
	complaints "$HERE/qemu-checkpatch.ignore" \
		perl "$(qemu_dir)/src/scripts/checkpatch.pl" --no-tree --terse \
		--no-summary -f "${list[@]}"
}

kernel_doc() {
	perl "$(kernel_source)/scripts/kernel-doc" -none -Wall -Werror "$@"
}

# The driver once more with a checker in the compiler's place or before it;
# a copy of its own, so that nothing is left out as already built.
module_with() {
	local name=$1
	shift
	rm -rf "$TDMA_BUILD/module-$(kernel_release)-$name"
	env VARIANT="$name" "$@" "$TDMA_TOP/tools/guest/build.sh" driver
}

# Without those that want an OCaml compiler, and the one that asks for min() and
# max() where a comparison reads better (upstream's checkers omit it, too).
coccinelle_scripts() {
	cd "$(kernel_source)/scripts/coccinelle"
	grep -L '^@.*ocaml' -- */*.cocci | grep -vxF misc/minmax.cocci
}

run_coccinelle() {
	local script

	for script in $(coccinelle_scripts); do
		spatch -D report --no-show-diff --very-quiet -I uapi --dir driver \
			--cocci-file "$(kernel_source)/scripts/coccinelle/$script" ||
			echo "$script: status $?"
	done
}

coccinelle() {
	complaints "$HERE/coccinelle.ignore" run_coccinelle
}

main() {
	local quick=${1:-}

	cd "$TDMA_TOP"
	prepare_style
	tap_test "text: licence lines, white space" \
		on_files "$TDMA_PYTHON" "$HERE/text.py" -- .
	tap_test "codespell" on_files codespell --ignore-words \
		"$HERE/codespell.ignore" -- . ':!*.tsv' ':!*.ppm' ':!*.png'
	tap_test "shellcheck" check_shell
	tap_test "pyflakes" on_files pyflakes3 -- '*.py'
	tap_test "selftests are complete" \
		"$TDMA_PYTHON" "$HERE/selftests.py" selftests
	tap_test "checkpatch --strict: driver" \
		on_files kernel_style 100 -- 'driver/*.[ch]'
	tap_test "checkpatch --strict: uapi" \
		on_files kernel_style 100 -- 'uapi/*.h'
	tap_test "checkpatch --strict: selftests" \
		on_files kernel_style 100 -- 'selftests/*.[ch]'
	tap_test "QEMU's checkpatch: device" qemu_style
	tap_test "kernel-doc" on_files kernel_doc -- 'driver/*.[ch]' 'uapi/*.h'
	tap_test "driver: W=1 and sparse, warnings are errors" \
		module_with sparse W=1 KCFLAGS=-Werror \
		C=2 CHECK="sparse -Wsparse-error"
	if [ "$quick" = --quick ]; then
		tap_skip "checkpatch --strict: tools" "slow; make lint runs it"
		tap_skip "coccinelle" "slow; make lint runs it"
	else
		tap_test "checkpatch --strict: tools" \
			on_files kernel_style 100 -- 'tools/*.[ch]'
		tap_test "coccinelle" coccinelle
	fi
	tap_end
}

main "$@"
