#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Add the tensordma device to a QEMU source tree, or take it out again.
#
# The device is self-contained; QEMU's own files gain one line each:
#   hw/meson.build            descends into hw/tensordma
#   hw/Kconfig                sources its Kconfig
#   tests/qtest/meson.build   lists its qtests, a line each
# Everything else is new files: hw/tensordma, its headers under
# linux-headers/linux, its qtests and a minimal device configuration
# (configure --without-default-devices --with-devices-x86_64=tensordma).

set -eu

prog=${0##*/}
here=$(cd "$(dirname "$0")" && pwd -P)
root=$(dirname "$here")

usage() {
	cat <<USAGE
usage: $prog [--copy] TREE     add the device to the QEMU source tree TREE
       $prog --remove TREE     take it out; TREE is as it was before
       $prog --check TREE      exit 0 if it is in, 1 if it is not

Without --copy, TREE refers to this directory by symbolic links: changes here
take effect at the next build. Adding twice is the same as adding once.
USAGE
}

die() {
	echo "$prog: $*" >&2
	exit 2
}

# Names of the qtests.
qtests() {
	for test in "$here"/qtest/*-test.c; do
		basename "$test" .c
	done
}

# One row per line added to a file of QEMU: file|after this line|the line.
edits() {
	cat <<'ROWS'
hw/meson.build|subdir('ssi')|subdir('tensordma')
hw/Kconfig|source ssi/Kconfig|source tensordma/Kconfig
ROWS
	for test in $(qtests); do
		echo "tests/qtest/meson.build|qtests_x86_64 = qtests_i386|qtests_x86_64 += config_all_devices.has_key('CONFIG_TENSORDMA') ? ['$test'] : []"
	done
}

# One row per file added: path in TREE|what it is.
files() {
	for entry in Kconfig core hw meson.build trace-events trace.h; do
		echo "hw/tensordma/$entry|$here/$entry"
	done
	for header in "$root"/uapi/linux/*.h; do
		echo "linux-headers/linux/${header##*/}|$header"
	done
	for test in $(qtests); do
		echo "tests/qtest/$test.c|$here/qtest/$test.c"
	done
	echo "configs/devices/x86_64-softmmu/tensordma.mak|$here/tensordma.mak"
}

has_line() {
	grep -qxF -- "$2" "$1"
}

# Refuse anything but a tree this script knows how to change, before changing.
check_tree() {
	if ! [ -f "$tree/VERSION" ] || ! [ -f "$tree/hw/pci/pci.c" ]; then
		die "$tree is not a QEMU source tree"
	fi
	version=$(cat "$tree/VERSION")
	case $version in
	[0-9].*)
		die "QEMU $version is too old, 10.0 or later is needed" ;;
	[1-9][0-9].*)
		;;
	*)
		die "$tree/VERSION: cannot understand '$version'" ;;
	esac
	edits | while IFS='|' read -r file anchor line; do
		[ -f "$tree/$file" ] || die "QEMU $version has no $file"
		has_line "$tree/$file" "$anchor" ||
			die "$tree/$file has no line \"$anchor\"; this QEMU ($version) is arranged in a way unknown to $prog"
	done
}

# A file in the way that is not ours (another link or other content) stays.
is_ours() {
	if [ -L "$1" ]; then
		[ "$(readlink "$1")" = "$2" ]
	elif [ -d "$1" ]; then
		diff -rq "$1" "$2" >/dev/null 2>&1
	else
		cmp -s "$1" "$2"
	fi
}

check_clear() {
	files | while IFS='|' read -r path source; do
		[ -e "$source" ] || die "$source is missing"
		if [ -e "$tree/$path" ] || [ -L "$tree/$path" ]; then
			is_ours "$tree/$path" "$source" ||
				die "$tree/$path exists and is not from $here; use that checkout's $prog --remove, or delete it"
		fi
	done
}

add() {
	check_tree
	check_clear
	mkdir -p "$tree/hw/tensordma"
	files | while IFS='|' read -r path source; do
		if [ -e "$tree/$path" ]; then
			continue
		elif [ "$copy" = yes ]; then
			cp -RL -- "$source" "$tree/$path"
		else
			ln -s -- "$source" "$tree/$path"
		fi
	done
	edits | while IFS='|' read -r file anchor line; do
		has_line "$tree/$file" "$line" ||
			rewrite "$tree/$file" add "$anchor" "$line"
	done
}

# Add $4 after the line $3, or remove the line $4; mode bits are kept.
rewrite() {
	awk -v action="$2" -v anchor="$3" -v line="$4" '
		action == "remove" && $0 == line { next }
		{ print }
		action == "add" && $0 == anchor { print line }
	' "$1" >"$1.tensordma"
	cat "$1.tensordma" >"$1"
	rm -f "$1.tensordma"
}

remove() {
	check_tree
	# While the device is in, what lies under its paths was put there by
	# this script, be it a copy that was changed since. Otherwise only what
	# is beyond doubt goes.
	installed=no
	if has_line "$tree/hw/meson.build" "subdir('tensordma')"; then
		installed=yes
	fi
	edits | while IFS='|' read -r file anchor line; do
		if has_line "$tree/$file" "$line"; then
			rewrite "$tree/$file" remove "$anchor" "$line"
		fi
	done
	files | while IFS='|' read -r path source; do
		if [ "$installed" = yes ] || is_ours "$tree/$path" "$source"; then
			rm -rf -- "${tree:?}/$path"
		fi
	done
	[ ! -d "$tree/hw/tensordma" ] || rmdir "$tree/hw/tensordma"
}

check() {
	check_tree
	edits | while IFS='|' read -r file anchor line; do
		has_line "$tree/$file" "$line" || exit 1
	done
	files | while IFS='|' read -r path source; do
		[ -e "$tree/$path" ] || exit 1
	done
}

action=add
copy=no
case ${1-} in
--copy)		copy=yes; shift ;;
--remove)	action=remove; shift ;;
--check)	action=check; shift ;;
-h|--help)	usage; exit 0 ;;
esac
[ $# -eq 1 ] || { usage >&2; exit 2; }
case $1 in
-*)	usage >&2; exit 2 ;;
esac
[ -d "$1" ] || die "$1: no such directory"
tree=$(cd "$1" && pwd -P)
$action
