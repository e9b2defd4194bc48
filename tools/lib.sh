# SPDX-License-Identifier: GPL-2.0
# Shared by the scripts under tools/: places, messages, progress.
# shellcheck shell=bash
#
# To be sourced; the sourcing script keeps its own "set -euo pipefail".

TDMA_TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
TDMA_BUILD=${TDMA_BUILD:-$TDMA_TOP/build}
TDMA_CACHE=${TENSORDMA_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tensordma}
TDMA_MAKE_JOBS=${JOBS:-$(nproc)}
TDMA_LOGS=$TDMA_BUILD/logs
# The system's own Python: another one earlier in PATH lacks Debian's modules.
TDMA_PYTHON=${PYTHON:-/usr/bin/python3}
# Seconds between progress lines when standard output is no terminal.
TDMA_PROGRESS_INTERVAL=${TDMA_PROGRESS_INTERVAL:-30}

export TDMA_TOP TDMA_BUILD TDMA_CACHE TDMA_MAKE_JOBS TDMA_LOGS TDMA_PYTHON

say() {
	printf '%s\n' "$*"
}

warn() {
	printf 'tensordma: %s\n' "$*" >&2
}

# die MESSAGE [NEXT STEP...]: every failure says what to do about it.
die() {
	printf '\ntensordma: error: %s\n' "$1" >&2
	shift
	[ $# -eq 0 ] || printf '  %s\n' "$@" >&2
	exit 1
}

case $TDMA_MAKE_JOBS in
*[!0-9]* | 0) die "JOBS=$TDMA_MAKE_JOBS is no number of compilations." ;;
esac

elapsed() {
	printf '%dm%02ds' $(($1 / 60)) $(($1 % 60))
}

# The last "[done/all]" of a ninja log, or nothing.
progress_of() {
	tail -c 400 "$1" 2>/dev/null | tr '\r' '\n' |
		grep -o '^\[[0-9]*/[0-9]*\]' | tail -n 1 || true
}

# Reports on a running job until it ends: one line that is rewritten on a
# terminal, else a line now and then.
watch_job() {
	local pid=$1 title=$2 log=$3 start=$SECONDS last=$SECONDS line

	while kill -0 "$pid" 2>/dev/null; do
		sleep 0.5
		line="  $title: $(elapsed $((SECONDS - start))) $(progress_of "$log")"
		if [ -t 1 ]; then
			printf '\r\033[K%s' "$line"
		elif [ $((SECONDS - last)) -ge "$TDMA_PROGRESS_INTERVAL" ]; then
			last=$SECONDS
			say "$line"
		fi
	done
	[ ! -t 1 ] || printf '\r\033[K'
}

# step NAME TITLE ESTIMATE COMMAND...: runs a command with its output in
# build/logs/NAME.log, shows progress, and on failure the log's end and what
# STEP_HINT says.
step() {
	local name=$1 title=$2 estimate=$3 log start=$SECONDS pid rc=0
	shift 3

	mkdir -p "$TDMA_LOGS"
	log=$TDMA_LOGS/$name.log
	say "$title${estimate:+ (about $estimate)}"
	"$@" >"$log" 2>&1 </dev/null &
	pid=$!
	# Without job control an interrupted script would leave it running.
	trap 'kill "$pid" 2>/dev/null; exit 130' INT TERM
	watch_job "$pid" "$title" "$log"
	wait "$pid" || rc=$?
	trap - INT TERM
	if [ "$rc" -ne 0 ]; then
		tail -n 25 "$log" >&2
		die "$title failed (status $rc)." "The whole log: $log" \
			${STEP_HINT:+"$STEP_HINT"}
	fi
	[ $((SECONDS - start)) -lt 2 ] ||
		say "  done in $(elapsed $((SECONDS - start)))"
}

# Minutes that so many CPU seconds take on this machine, for a person to read.
estimate() {
	local seconds=$(($1 / TDMA_MAKE_JOBS))

	if [ "$seconds" -lt 90 ]; then
		say "$seconds s"
	else
		say "$(((seconds + 30) / 60)) min"
	fi
}

# Copies a file only if it differs, so that its time stamp says when it changed.
refresh() {
	cmp -s "$1" "$2" || install -D -m "${3:-644}" "$1" "$2"
}

# The Debian release: "bookworm", "trixie", or what else there is.
release_codename() {
	(. /etc/os-release 2>/dev/null && say "${VERSION_CODENAME:-unknown}")
}
