# SPDX-License-Identifier: GPL-2.0
"""Kinds of test suites: each runs something and yields results."""

import collections
import os

import klog
import tap
from process import Process
from results import FAILED, failed, passed, skipped

LAST_LINES = 15

# Variables of the caller that tests in the guest know.
PASSED_ON = ("TDMA_FAIL_STEP", "TDMA_RACE_SECONDS", "TDMA_ROUNDS", "TDMA_SEED",
             "TDMA_STRESS_JOBS", "TDMA_STRESS_PROCESSES", "TDMA_WORKERS")


class Suite:
    """What has a name, a purpose, and yields results when run."""

    name = ""
    purpose = ""
    # Tests that can be asked for by name without running the whole suite.
    selectable = ()

    def run(self, selection=()):
        raise NotImplementedError


class Command(Suite):
    """A command that passes if it ends with status 0."""

    def __init__(self, context, name, purpose, argv, **options):
        self.context, self.name, self.purpose = context, name, purpose
        self.argv = argv
        self.needs = options.pop("needs", None)
        self.options = options

    def process(self):
        log = os.path.join(self.context.logs, self.name + ".log")
        options = dict({"cwd": self.context.top}, **self.options)
        return Process(self.argv, log, **options)

    def run(self, selection=()):
        why_not = self.needs() if self.needs else ""
        if why_not:
            yield skipped(self.name, why_not)
            return
        yield from self.run_needed()

    def run_needed(self):
        process = self.process()
        tail = collections.deque(process, LAST_LINES)
        complaint = process.complaint()
        if complaint:
            yield failed(self.name, complaint, tail)
        else:
            yield passed(self.name)


class TapCommand(Command):
    """A command that writes TAP. Its exit status must agree."""

    def run_needed(self):
        process, parser = self.process(), tap.Parser()
        tail = collections.deque(maxlen=LAST_LINES)
        bad = False
        for line in process:
            tail.append(line)
            for result in parser.feed(line):
                bad |= result.status == FAILED
                yield result.under(self.name)
        for result in parser.finish():
            bad |= result.status == FAILED
            yield result.under(self.name)
        complaint = process.complaint()
        if process.timed_out or (complaint and not bad):
            yield failed(self.name, complaint, tail)


class Guest(Suite):
    """One boot of the guest with the tests in it.

    Beside the tests' results it reports whether the guest came to its end and
    whether the kernel had something to say.
    """

    def __init__(self, context, name, purpose, **options):
        self.context, self.name, self.purpose = context, name, purpose
        self.tests = options.pop("tests", None)
        self.variables = options.pop("variables", {})
        self.environment = options.pop("environment", {})
        # Properties of the device; what the user wants comes behind.
        self.device = options.pop("device", "")
        self.timeout = options.pop("timeout", 600)
        self.needs = options.pop("needs", None)
        # Patterns of log lines that a test provokes.
        self.allowed = options.pop("allowed", ())

    @property
    def selectable(self):
        return self.context.guest_tests() if self.tests is None else self.tests

    def directory(self):
        return os.path.join(self.context.build, "guest", self.name)

    def process(self, selection):
        tests = selection or self.tests or ()
        variables = dict(self.variables)
        variables.update((name, os.environ[name]) for name in PASSED_ON
                         if name in os.environ)
        if tests:
            variables["TESTS"] = " ".join(tests)
        argv = [self.context.tool("guest/boot.sh"), "check"]
        argv += ["%s=%s" % item for item in sorted(variables.items())]
        device = [self.device, os.environ.get("DEVICE_OPTS", "")]
        environment = dict(self.environment, GUEST_NAME=self.name,
                           GUEST_TIMEOUT=str(self.timeout),
                           DEVICE_OPTS=",".join(filter(None, device)))
        log = os.path.join(self.context.logs, self.name + ".log")
        # The guest's own limit comes first.
        return Process(argv, log, env=environment, timeout=self.timeout + 30)

    def run(self, selection=()):
        why_not = self.needs() if self.needs else ""
        if why_not:
            yield skipped(self.name, why_not)
            return
        process, parser = self.process(selection), tap.Parser()
        for line in process:
            for result in parser.feed(line):
                yield result.under(self.name)
        for result in parser.finish():
            yield result.under(self.name)
        yield self.end_of_guest(process)
        yield self.kernel_log()

    def end_of_guest(self, process):
        """Success must be present: a guest that vanished has not passed."""
        name = self.name + ": guest ran to its end"
        log = read_lines(os.path.join(self.directory(), "job.log"))
        mark = "tensordma-guest: job check ended with status 0"
        if process.complaint() == "" and log and log[-1] == mark:
            return passed(name)
        console = read_lines(os.path.join(self.directory(), "console.log"))
        return failed(name, process.complaint() or "no mark of its end",
                      log[-LAST_LINES:] + console[-LAST_LINES:])

    def kernel_log(self):
        name = self.name + ": kernel log is clean"
        path = os.path.join(self.directory(), "console.log")
        lines = read_lines(path)
        if not any("Linux version" in line for line in lines):
            return failed(name, "there is no kernel log", lines[:LAST_LINES])
        reports = klog.scan(lines, self.allowed)
        if not reports:
            return passed(name)
        headline, context = reports[0]
        return failed(name, "%s (%d in all, see %s)"
                      % (headline, len(reports), path), context)


def read_lines(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as text:
            return [line.rstrip("\r\n") for line in text]
    except OSError:
        return []
