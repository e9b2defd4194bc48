#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Builds a kernel of our own for tests, from Debian's source: allnoconfig, plus
# kernel/small.config, plus the fragment of the variant.
# usage: debug-kernel.sh VARIANT
#	(debug, rt, kcsan, mainline: kernel/VARIANT.config)
#
# The result stays in the cache and is known by the version of the source and
# the text of both fragments. Another set of options is built over the last
# one, an interrupted build goes on where it was: kbuild knows what to do anew.
set -euo pipefail
# shellcheck source=tools/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tools/setup/apt.sh
. "$TDMA_TOP/tools/setup/apt.sh"
# shellcheck source=tools/setup/kernel-paths.sh
. "$TDMA_TOP/tools/setup/kernel-paths.sh"
# shellcheck source=tools/setup/debug-paths.sh
. "$TDMA_TOP/tools/setup/debug-paths.sh"

FRAGMENTS=$TDMA_TOP/tools/setup/kernel
# Large parts that no option of ours compiles. Their Kconfig files are read.
EXCLUDES=(
	'linux-source-*/Documentation/*.rst'
	'linux-source-*/Documentation/*.txt'
	'linux-source-*/Documentation/*.yaml'
	'linux-source-*/tools/perf'
	'linux-source-*/tools/testing'
	'linux-source-*/arch/*.dts*'
	'linux-source-*/drivers/gpu/*.[ch]'
	'linux-source-*/drivers/infiniband/*.[ch]'
	'linux-source-*/drivers/media/*.[ch]'
	'linux-source-*/drivers/net/*/*.[ch]'
	'linux-source-*/drivers/scsi/*.[ch]'
	'linux-source-*/drivers/staging/*.[ch]'
	'linux-source-*/sound/*.[ch]'
)

unpack_source() {
	rm -rf "$SOURCE" "$SOURCE.part"
	mkdir -p "$SOURCE.part"
	tar -xJf "$1" -C "$SOURCE.part" --strip-components=1 \
		"${EXCLUDES[@]/#/--exclude=}"
	mv "$SOURCE.part" "$SOURCE"
}

# What identifies the source: its version and the package's.
source_version() {
	sed -n '1,6p' "$SOURCE/Makefile"
	printf '%s\n' "${EXCLUDES[@]}"
}

stamp() {
	{ source_version; cat "$FRAGMENTS/small.config" \
		"$FRAGMENTS/$VARIANT.config"; } | sha256sum
}

kernel_make() {
	make -C "$SOURCE" O="$DIR" ARCH=x86_64 KCFLAGS= "$@"
}

# in_force LINE: what is off may be unmentioned, its dependencies being off.
in_force() {
	case $1 in
	'#'*) ! grep -q "^$(awk '{ print $2 }' <<<"$1")=" "$DIR/.config" ;;
	*) grep -qxF -- "$1" "$DIR/.config" ;;
	esac
}

# Every line of the fragments must have survived: an option that lost its
# dependency would otherwise silently be a test that finds nothing.
check_config() {
	local line missing=()

	while read -r line; do
		in_force "$line" || missing+=("$line")
	done < <(effective)
	[ ${#missing[@]} -eq 0 ] || {
		printf 'not in the result: %s\n' "${missing[@]}"
		return 1
	}
}

# The lines that are in force; the variant's fragment overrides the other.
effective() {
	cat "$FRAGMENTS/small.config" "$FRAGMENTS/$VARIANT.config" |
		awk '{ name = "" }
			/^CONFIG_/ { split($0, part, "="); name = part[1] }
			/^# CONFIG_.* is not set$/ { name = $2 }
			name { lines[name] = $0 }
			END { for (name in lines) print lines[name] }'
}

configure() {
	mkdir -p "$DIR"
	effective >"$DIR/fragment"
	kernel_make KCONFIG_ALLCONFIG="$DIR/fragment" allnoconfig
	check_config
}

# A file that is written again is new to kbuild, but not its content.
compile() {
	kernel_make -j "$TDMA_MAKE_JOBS" all
}

# The newest series of all that the archive has
mainline_series() {
	apt_packages linux-source- |
		sed -n 's/^linux-source-\([0-9][0-9.]*\)$/\1/p' | tail -n 1
}

fetch_source() {
	local archive series=$KERNEL_SERIES tmp=$TDMA_CACHE/linux-source-package

	if [ "$VARIANT" = mainline ]; then
		APT_SET=mainline apt_prepare
		series=$(mainline_series)
	fi
	if ! archive=$(source_archive "" "$series"); then
		[ "$VARIANT" = mainline ] || apt_prepare
		step kernel-source "Fetching the source of kernel $series" \
			"30 s, 150 MB" \
			apt_unpack "$tmp" "linux-source-$series"
		archive=$(source_archive "$tmp" "$series")
	fi
	step kernel-full "Unpacking the kernel's source" "40 s" \
		unpack_source "$archive"
	rm -rf "$tmp"
}

main() {
	VARIANT=${1:?usage: debug-kernel.sh VARIANT}
	[ -r "$FRAGMENTS/$VARIANT.config" ] ||
		die "there is no kernel variant $VARIANT." \
			"See: ls $FRAGMENTS"
	DIR=$(debug_dir "$VARIANT")
	SOURCE=$(debug_source "$VARIANT")
	mkdir -p "$TDMA_CACHE"
	exec 7>"$TDMA_CACHE/debug-kernel.lock"
	flock -n 7 || { say "Waiting for another build of a kernel"; flock 7; }
	[ -d "$SOURCE" ] || fetch_source
	[ "$(cat "$DIR/.tensordma" 2>/dev/null)" != "$(stamp)" ] || return 0

	step "kernel-$VARIANT-config" "Configuring the $VARIANT kernel" "" \
		configure
	step "kernel-$VARIANT" "Building the $VARIANT kernel" \
		"$(estimate 1100)" compile
	stamp >"$DIR/.tensordma"
}

main "$@"
