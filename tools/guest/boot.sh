#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Boots the guest for one job (a script in tools/guest/jobs).
# usage: boot.sh JOB [VARIABLE=VALUE...]
#
# The job sees the variables. Its output appears on standard output as it is
# written; build/guest/JOB/ (or what GUEST_NAME says for JOB) receives
#   job.log      the same
#   console.log  the kernel's log
#   out/         the files that the job left in /out
#
# Status: 0 the job said that it ended well, 1 it ended otherwise, 3 the guest
# died or hung before the end within GUEST_TIMEOUT seconds (600).
#
# Environment: QEMU (binary), KERNEL (bzImage), INITRD, SMP, MEM, ACCEL,
# GUEST_FILES (one more archive for the guest's root, gzipped cpio),
# DEVICE_OPTS (properties of the device, "lanes=8,threads=2"; "none" leaves
# the device out), ACPI_HOTPLUG (off, or on: see device_arguments), QEMU_ARGS
# and APPEND (more arguments of QEMU and words of the kernel's command line),
# DRIVER_OPTS (module parameters).
set -euo pipefail
# shellcheck source=tools/lib.sh
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tools/setup/kernel-paths.sh
. "$TDMA_TOP/tools/setup/kernel-paths.sh"

JOBS_DIR=$TDMA_TOP/tools/guest/jobs

[ -f "$JOBS_DIR/${1:-}" ] ||
	die "${1:+no job is called $1. }usage: boot.sh JOB [VARIABLE=VALUE...]" \
		"Jobs: $(cd "$JOBS_DIR" && echo *)"
JOB=$1
shift
DIR=$TDMA_BUILD/guest/${GUEST_NAME:-$JOB}
QEMU=${QEMU:-$TDMA_BUILD/qemu/qemu-system-x86_64}
INITRD=${INITRD:-$TDMA_BUILD/initramfs.gz}

# The job's variables as one more archive behind the initramfs: no limit as
# on the command line, and no new packing of the whole.
pack_initrd() {
	local tmp=$DIR/env word

	rm -rf "$tmp"
	mkdir -p "$tmp"
	for word in DRIVER_OPTS="${DRIVER_OPTS:-}" "$@"; do
		printf 'export %s=%q\n' "${word%%=*}" "${word#*=}"
	done >"$tmp/job.env"
	# Compressed as well: a plain archive would have to start at an offset
	# that is a multiple of 4.
	(cd "$tmp" && echo job.env | cpio -o -H newc -R 0:0 --quiet) |
		gzip | cat "$INITRD" ${GUEST_FILES:+"$GUEST_FILES"} - \
		>"$DIR/initrd"
	rm -rf "$tmp"
}

# Long waits are no fault of the guest where every instruction is emulated.
command_line() {
	local level=ignore_loglevel

	# Who types does not want the log in between.
	[ "$JOB" != shell ] || level=quiet
	echo console=ttyS0,115200 panic=-1 oops=panic "$level" \
		no_timer_check tsc=reliable watchdog_thresh=60 \
		rcupdate.rcu_cpu_stall_timeout=120 workqueue.watchdog_thresh=120 \
		"tdma.job=$JOB" "${APPEND:-}"
}

# The shell's console is the terminal; otherwise the job's output is.
serial_arguments() {
	local out=chardev:out log=chardev:log

	if [ "$JOB" = shell ]; then
		echo "-chardev stdio,id=log,mux=on,signal=off,logfile=$DIR/console.log
			-mon log -chardev file,id=out,path=$DIR/job.log"
	else
		echo "-chardev file,id=log,path=$DIR/console.log
			-chardev stdio,id=out,signal=on,logfile=$DIR/job.log"
	fi
	echo "-serial $log -serial $out"
}

# Hot plug by ACPI, QEMU's default, leaves ports without the bit that says that
# their link is up. Linux waits for it in vain after it has reset a link.
device_arguments() {
	local opts=${DEVICE_OPTS:-}
	local property=ICH9-LPC.acpi-pci-hotplug-with-bridge-support

	[ "$opts" != none ] || return 0
	echo "-global $property=${ACPI_HOTPLUG:-off}
		-device pcie-root-port,id=rp0,chassis=1
		-device tensordma,bus=rp0${opts:+,$opts}"
}

# Where the ROMs may be: of the build here, or of a binary of the user's own.
firmware_directories() {
	local home

	home=$(dirname "$QEMU")
	printf '%s\n' "$TDMA_BUILD/qemu/firmware" "$home/pc-bios/optionrom" \
		"$home/pc-bios" "$home/../share/qemu" /usr/share/qemu \
		/usr/share/seabios
}

# Without its boot ROM the guest would wait for ever, and say nothing.
check_firmware() {
	local directory

	while read -r directory; do
		[ ! -r "$directory/linuxboot_dma.bin" ] || return 0
	done < <(firmware_directories)
	die "no boot ROM (linuxboot_dma.bin) for $QEMU." \
		"Put QEMU's pc-bios directory beside the binary," \
		"install qemu-system-data, or unset QEMU= and run: make setup"
}

run_qemu() {
	local serial device firmware extra=()

	read -r -d '' -a firmware < \
		<(firmware_directories | sed 's/^/-L\n/') || true
	read -r -d '' -a serial < <(serial_arguments) || true
	read -r -d '' -a device < <(device_arguments) || true
	[ -z "${QEMU_ARGS:-}" ] || read -r -a extra <<<"$QEMU_ARGS"
	timeout --foreground --kill-after=5 "${GUEST_TIMEOUT:-600}" "$QEMU" \
		-accel "${ACCEL:-tcg,thread=multi}" \
		-machine q35 -cpu max -smp "${SMP:-2}" -m "${MEM:-1G}" \
		-nodefaults -no-user-config -display none -no-reboot \
		"${firmware[@]}" \
		-kernel "$(kernel_image)" -initrd "$DIR/initrd" \
		-append "$(command_line)" "${serial[@]}" \
		-device virtio-serial-pci -chardev "file,id=files,path=$DIR/out.tar" \
		-device virtserialport,chardev=files,name=tdma.files \
		"${extra[@]}" "${device[@]}"
}

# With a thread per CPU, QEMU 10.0 can abort when one of them maps a BAR while
# another is looking up memory. That says nothing about the job if it has not
# begun.
lost_qemu_race() {
	[ ! -s "$DIR/job.log" ] || return 1
	sleep 1		# tee is another process
	grep -q "iotlb_to_section: Assertion" "$DIR/qemu.log"
}

run_job() {
	local rc=0

	run_qemu </dev/null 2> >(tee "$DIR/qemu.log" >&2) || rc=$?
	[ "$rc" -eq 0 ] || ! lost_qemu_race || {
		warn "QEMU lost a race of its own before the job began; once more"
		rc=0
		run_qemu </dev/null || rc=$?
	}
	return "$rc"
}

unpack_files() {
	[ -s "$DIR/out.tar" ] || return 0
	mkdir -p "$DIR/out"
	tar -xf "$DIR/out.tar" -C "$DIR/out"
}

# Only what the guest itself wrote at its very end counts as an end.
verdict() {
	local line

	line=$(tail -n 1 "$DIR/job.log" | tr -d '\r')
	case $line in
	"tensordma-guest: job $JOB ended with status 0") return 0 ;;
	"tensordma-guest: job "*) return 1 ;;
	esac
	return 3
}

main() {
	local rc=0

	[ -x "$QEMU" ] || die "no QEMU at $QEMU." "Run: make setup"
	[ "${DEVICE_OPTS:-}" = none ] ||
		"$QEMU" -device help 2>/dev/null | grep '"tensordma"' >/dev/null ||
		die "$QEMU is no QEMU with the device tensordma." \
			"Unset QEMU= and run: make setup"
	check_firmware
	[ -r "$INITRD" ] || die "no initramfs at $INITRD." "Run: make guest"
	rm -rf "$DIR"
	mkdir -p "$DIR"
	pack_initrd "$@"
	if [ "$JOB" = shell ]; then
		run_qemu || rc=$?
	else
		run_job || rc=$?
	fi
	unpack_files
	# A person may leave the shell by any way.
	[ "$JOB" != shell ] || return 0
	[ "$rc" -eq 0 ] || warn "QEMU ended with status $rc"
	verdict || {
		rc=$?
		[ $rc -ne 3 ] || warn "the guest did not reach its end;" \
			"its log: $DIR/console.log"
		exit $rc
	}
}

main "$@"
