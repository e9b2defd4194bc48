# SPDX-License-Identifier: GPL-2.0
# TAP from a shell script: one test per command.
# shellcheck shell=bash
# To be sourced.

TAP_NUMBER=0
TAP_FAILED=0

# tap_test TITLE COMMAND...: the command's output is shown if it fails.
tap_test() {
	local title=$1 output rc=0
	shift

	TAP_NUMBER=$((TAP_NUMBER + 1))
	output=$("$@" 2>&1) || rc=$?
	if [ "$rc" -eq 0 ]; then
		echo "ok $TAP_NUMBER $title"
		return
	fi
	TAP_FAILED=$((TAP_FAILED + 1))
	printf '%s\n' "$output" | sed 's/^/# /'
	echo "not ok $TAP_NUMBER $title"
}

# tap_skip TITLE REASON
tap_skip() {
	TAP_NUMBER=$((TAP_NUMBER + 1))
	echo "ok $TAP_NUMBER $1 # SKIP $2"
}

# The plan comes last; the status is that of the whole.
tap_end() {
	echo "1..$TAP_NUMBER"
	[ "$TAP_FAILED" -eq 0 ]
}
