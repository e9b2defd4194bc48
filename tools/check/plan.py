# SPDX-License-Identifier: GPL-2.0
"""Which suites there are, cheap ones first."""

import glob
import os
import shutil

from suites import Command, Guest, TapCommand

GUEST_EXTRA = ("dmatest", "client", "tools", "reload", "leaks")
# The in-kernel client makes transfers fail half way.
INJECT = "inject=1"


# What is worth another boot with another IOMMU: whatever maps and unmaps, and
# random walks over memory that is mapped page by page.
MAPPING_TESTS = ("tdma_async", "tdma_dmabuf", "tdma_kill", "tdma_mm",
                 "tdma_unbind", "tdma_userq", "dmatest", "client", "leaks")


class Context:
    """The places the suites work in."""

    def __init__(self):
        here = os.path.dirname(os.path.abspath(__file__))
        self.top = os.path.dirname(os.path.dirname(here))
        self.build = os.environ.get("TDMA_BUILD",
                                    os.path.join(self.top, "build"))
        self.cache = os.environ.get("TDMA_CACHE", "")
        self.logs = os.path.join(self.build, "check")
        self.qemu = os.environ.get("QEMU") or os.path.join(
            self.build, "qemu", "qemu-system-x86_64")

    def tool(self, path):
        return os.path.join(self.top, "tools", path)

    def guest_tests(self):
        """Names that the guest's job knows."""
        path = os.path.join(self.build, "kselftest", "kselftest-list.txt")
        try:
            with open(path, encoding="utf-8") as entries:
                names = [line.strip().split(":")[-1] for line in entries]
        except OSError:
            names = []
        return tuple(name for name in names if name) + GUEST_EXTRA


def qtests(context):
    """The device's tests in QEMU's own framework, one suite per program."""
    binaries = os.path.join(context.build, "qemu")
    # The framework takes the architecture from the end of the name.
    environment = {"QTEST_QEMU_BINARY": context.qemu}
    sources = glob.glob(os.path.join(context.top, "qemu-device", "qtest",
                                     "*-test.c"))
    for source in sorted(sources):
        program = os.path.basename(source)[:-len(".c")]
        topic = program[len("tensordma"):-len("-test")]
        yield TapCommand(
            context, "qtest" + topic, "the device without a guest",
            [os.path.join(binaries, program), "--tap"], env=environment,
            timeout=300, needs=lambda: "" if not os.environ.get("QEMU") else
            "QEMU= is a binary without its tests")


def native(context):
    """The machine core on the host, plain and under each sanitizer."""
    directory = os.path.join(context.top, "qemu-device", "tests")
    make = ["make", "-s", "--no-print-directory", "-C", directory, "check"]
    yield TapCommand(context, "native", "the machine core on the host", make,
                     timeout=900)
    for name in ("asan", "tsan"):    # asan has ubsan in it
        # What sanitizers look for does not hide in one job of ten thousand.
        yield TapCommand(context, "native-" + name,
                         "the same under the sanitizer " + name,
                         make + ["SAN=" + name], timeout=900,
                         env={"TDMA_JOBS": "100"})
    yield Command(context, "fuzz", "descriptor streams by libFuzzer, 10 s",
                  make[:-1] + ["fuzz", "FUZZ_SECONDS=10"], timeout=600,
                  needs=lambda: "" if shutil.which("clang") else
                  "clang is not installed (make setup)")
    yield Command(context, "driver-check",
                  "the driver's check of descriptors against the device's",
                  [context.tool("check/driver.sh"), "300000"], timeout=300)


def tools(context):
    """The library and the command line tool, on simulated machines."""
    yield TapCommand(context, "library", "operations on tensors",
                     ["make", "-s", "--no-print-directory", "-C",
                      context.tool("libtensordma"), "check"], timeout=300)
    yield TapCommand(context, "command", "the tdma command against NumPy",
                     [context.tool("check/tdma.sh")], timeout=300)
    yield TapCommand(context, "report", "pictures of traces, in a browser",
                     [context.tool("check/report.sh")], timeout=300)


# The in-kernel client aims at this address on purpose. The first line comes
# ahead of each fault's own.
PROVOKED_FAULTS = (r"DMAR: DRHD: handling fault status reg",
                   r"\[01:00\.0\] fault addr 0x200000000000 ")


# These change the machine's memory map while other CPUs use it, which QEMU 10.0
# does not survive with a thread per CPU: an access that has found its region's
# number looks it up in the next map (iotlb_to_section).
MAP_TESTS = ("tdma_lifecycle", "tdma_race", "tdma_stress")
ONE_THREAD = "tcg,thread=single"
# The in-kernel client has tests of that kind as well.
RESETS = {"CLIENT_OPTIONS": "resets=1"}
# The same, where the root port's link does not come back after a reset.
LOST_TESTS = ("tdma_lost",)
LOST_LINK = {"ACCEL": ONE_THREAD, "ACPI_HOTPLUG": "on"}
# A device with fewer dimensions than a descriptor
DIMS_TESTS = ("tdma_split",)
FEW_DIMS = INJECT + ",dims=2"
# What is not for the boot that has everything else
OTHER_BOOTS = MAP_TESTS + LOST_TESTS + DIMS_TESTS


def all_but(context, *names):
    """Names of the guest's tests without some."""
    return tuple(name for name in context.guest_tests() if name not in names)


def guests(context):
    """Boots of the guest, in several configurations of the machine."""
    return [
        Guest(context, "guest", "selftests and dmatest in the booted guest",
              tests=all_but(context, *OTHER_BOOTS), device=INJECT),
        Guest(context, "guest-events",
              "the device is reset, unbound, unplugged under load",
              tests=MAP_TESTS + ("client", "leaks"), variables=RESETS,
              environment={"ACCEL": ONE_THREAD}),
        Guest(context, "guest-lost",
              "bus errors that the kernel does not recover from",
              tests=LOST_TESTS + ("leaks",), environment=LOST_LINK),
        Guest(context, "guest-iommu",
              "what maps memory, behind an IOMMU that maps every transfer",
              tests=MAPPING_TESTS, device=INJECT,
              environment={
                  "QEMU_ARGS": "-device intel-iommu",
                  "APPEND": "intel_iommu=on iommu.strict=1",
              },
              allowed=PROVOKED_FAULTS),
        Guest(context, "guest-dims",
              "jobs with more dimensions than the device has",
              tests=("tdma_copy",) + DIMS_TESTS, device=FEW_DIMS),
        Guest(context, "guest-cycle",
              "copies with the engine that simulates every clock",
              tests=("tdma_accumulate", "tdma_copy", "tdma_debugfs",
                     "tdma_pad"),
              device="fidelity=cycle"),
    ]


FAIL_NTH = "tdma_fail_nth"
MAINLINE = "mainline"


# Linux 6.12 loses the name of a channel's device that it fails to register.
CORE_LEAK = "__dma_async_device_channel_register"


def own_kernel(context, variant, append="", leaks_ignored="", **environment):
    """Options of a guest with a kernel that we built ourselves."""
    tree = "linux-mainline" if variant == MAINLINE else "linux-%s-%s" % (
        os.environ.get("KERNEL_SERIES", ""), variant)
    return {
        "timeout": 7200,
        "device": INJECT,
        # Programs know that they must be patient.
        "variables": {"KSFT_MACHINE_SLOW": "yes", "TEST_TIMEOUT": "7200",
                      "LEAKS_IGNORED": leaks_ignored},
        "environment": dict({
            "KERNEL": os.path.join(context.cache, tree,
                                   "arch/x86/boot/bzImage"),
            "INITRD": os.path.join(context.build,
                                   "initramfs-%s.gz" % variant),
            "MEM": "2G",
            "APPEND": append}, **environment),
    }


def debug_suites(context):
    """Boots of kernels that look for bugs themselves; see debug.sh."""
    variants = os.environ.get("TDMA_KERNELS", "debug").split()
    if "debug" in variants:
        yield Guest(context, "guest-debug",
                    "all of it under KASAN, lockdep and their like",
                    tests=all_but(context, FAIL_NTH, *OTHER_BOOTS),
                    **own_kernel(context, "debug"))
        yield Guest(context, "debug-events",
                    "the device is reset, unbound, unplugged under load",
                    tests=MAP_TESTS + ("leaks",),
                    **own_kernel(context, "debug", ACCEL=ONE_THREAD))
        yield Guest(context, "debug-lost",
                    "bus errors that the kernel does not recover from",
                    tests=LOST_TESTS + ("leaks",),
                    **own_kernel(context, "debug", **LOST_LINK))
        yield Guest(context, "debug-dims",
                    "jobs with more dimensions than the device has",
                    tests=DIMS_TESTS + ("leaks",),
                    **dict(own_kernel(context, "debug"), device=FEW_DIMS))
        # Short of memory, the DMA API's checks switch themselves off: a boot
        # of its own.
        yield Guest(context, "debug-fail-nth", "allocations that fail",
                    tests=(FAIL_NTH, "leaks"),
                    # A header alone says nothing. Linux warns when it
                    # removes a file of an interrupt that it could not create.
                    allowed=(r"-+\[ cut here \]-+",
                             r"WARNING: CPU: \d+ PID: \d+ at remove_proc_entry",
                             r"DMA-API: cacheline tracking ENOMEM",
                             r"kmemleak: .*new suspected memory leaks",
                             FAIL_NTH + r": vmalloc error:"),
                    **own_kernel(context, "debug", leaks_ignored=CORE_LEAK))
        for mode, strict in (("strict", 1), ("lazy", 0)):
            yield Guest(context, "debug-" + mode,
                        "mapping tests behind an IOMMU, " + mode,
                        tests=MAPPING_TESTS, allowed=PROVOKED_FAULTS,
                        **own_kernel(context, "debug",
                                     "intel_iommu=on iommu.strict=%d" % strict,
                                     QEMU_ARGS="-device intel-iommu"))
    if "rt" in variants:
        yield Guest(context, "guest-rt", "all of it under PREEMPT_RT",
                    tests=all_but(context, *OTHER_BOOTS),
                    **own_kernel(context, "rt"))
    if "kcsan" in variants:
        yield Guest(context, "guest-kcsan", "all of it watched for data races",
                    tests=all_but(context, *OTHER_BOOTS),
                    **own_kernel(context, "kcsan"))
    if MAINLINE in variants:
        yield Command(context, "module-mainline",
                      "the driver builds for the newest kernel",
                      [context.tool("check/module.sh"), MAINLINE])
        yield Guest(context, "guest-mainline", "all of it on the newest kernel",
                    tests=all_but(context, *OTHER_BOOTS),
                    **own_kernel(context, MAINLINE))


def old_headers_missing(context):
    """Why the driver cannot be built for the old series, or ""."""
    if os.path.isdir(os.path.join(context.cache, "linux-6.1", "usr")):
        return ""
    return "the archive has no headers of Linux 6.1"


def modules(context):
    """The driver for the oldest kernel that it supports."""
    yield Command(context, "module-6.1", "the driver builds for Linux 6.1",
                  [context.tool("check/module.sh")],
                  needs=lambda: old_headers_missing(context))


def readme(context):
    """The documentation's commands, which may be tests themselves. They boot
    guests of their own: long ones are better begun early."""
    if "TDMA_IN_README" not in os.environ:
        yield TapCommand(
            context, "readme", "commands in the documentation",
            ["/usr/bin/python3", context.tool("check/readme.py")], timeout=900)


def suites(context):
    python = ["/usr/bin/python3"]
    return [
        TapCommand(context, "harness", "the test harness itself",
                   python + [context.tool("check/selftest.py")], timeout=120),
        TapCommand(context, "status", "what the requirements' status claims",
                   python + [context.tool("check/status.py")], timeout=60),
        TapCommand(context, "uapi", "headers and layout of the interface",
                   [context.tool("check/uapi.sh")], timeout=120),
        *readme(context),
        *native(context),
        *tools(context),
        *qtests(context),
        TapCommand(context, "lint", "style and static checks, the quick ones",
                   [context.tool("lint/lint.sh"), "--quick"], timeout=600,
                   needs=lambda: "" if shutil.which("shellcheck") else
                   "the lint tools are not installed (make setup)"),
        *modules(context),
        *guests(context),
    ]
