# SPDX-License-Identifier: GPL-2.0
"""Suites must report failure for everything that is not success."""

import io
import os
import tempfile
import unittest

import check
from report import Report
from results import FAILED, PASSED, failed, passed, skipped
from suites import Command, Guest, TapCommand

END = "tensordma-guest: job check ended with status 0\n"
KERNEL = "[    0.000000] Linux version 6.12.1\n"
TAP = "TAP version 13\n1..1\nok 1 a\n"


class Place:
    """Stands for plan.Context in a directory of its own."""

    def __init__(self, root):
        self.top = self.build = self.logs = root

    def tool(self, path):
        return os.path.join(self.top, path)

    def guest_tests(self):
        return ("tdma_copy", "tdma_uapi")


class InDirectory(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.place = Place(directory.name)


class Commands(InDirectory):
    def statuses(self, kind, script, **options):
        suite = kind(self.place, "x", "", ["sh", "-c", script], **options)
        return [result.status for result in suite.run()]

    def test_status_decides(self):
        self.assertEqual(self.statuses(Command, "exit 0"), [PASSED])
        self.assertEqual(self.statuses(Command, "exit 1"), [FAILED])

    def test_signal_fails(self):
        self.assertEqual(self.statuses(Command, "kill -SEGV $$"), [FAILED])

    def test_endless_fails(self):
        self.assertEqual(self.statuses(Command, "sleep 60", timeout=0.2),
                         [FAILED])

    def test_tap(self):
        self.assertEqual(self.statuses(TapCommand, "echo 1..1; echo ok 1 a"),
                         [PASSED])

    def test_tap_and_status_disagree(self):
        self.assertEqual(
            self.statuses(TapCommand, "echo 1..1; echo ok 1 a; exit 1"),
            [PASSED, FAILED])

    def test_tap_cut_off_by_time(self):
        self.assertIn(FAILED, self.statuses(
            TapCommand, "echo 1..1; echo ok 1 a; sleep 60", timeout=0.5))

    def test_no_output(self):
        self.assertEqual(self.statuses(TapCommand, "true"), [FAILED])

    def test_needs(self):
        suite = Command(self.place, "x", "", ["false"],
                        needs=lambda: "no tool")
        result, = suite.run()
        self.assertEqual((result.status, result.reason),
                         ("skipped", "no tool"))


class Guests(InDirectory):
    """With a script in the place of the one that boots."""

    def run_guest(self, job, console, status=0):
        script = self.place.tool("guest/boot.sh")
        guest = os.path.join(self.place.build, "guest", "g")
        os.makedirs(guest)
        for name, text in (("job.log", job), ("console.log", console)):
            with open(os.path.join(guest, name), "w", encoding="utf-8") as log:
                log.write(text)
        with open(script, "w", encoding="utf-8") as out:
            out.write("#!/bin/sh\ncat %s/job.log\nexit %d\n" % (guest, status))
        os.chmod(script, 0o755)
        return list(Guest(self.place, "g", "").run())

    def failures(self, *arguments, **options):
        return [result.name for result in self.run_guest(*arguments, **options)
                if result.status == FAILED]

    def test_good(self):
        self.assertEqual(self.failures(TAP + END, KERNEL), [])

    def test_no_mark_of_success(self):
        self.assertEqual(self.failures(TAP, KERNEL),
                         ["g: guest ran to its end"])

    def test_mark_not_at_the_end(self):
        self.assertEqual(self.failures(END + TAP, KERNEL),
                         ["g: guest ran to its end"])

    def test_boot_failed(self):
        self.assertIn("g: guest ran to its end",
                      self.failures(TAP + END, KERNEL, status=3))

    def test_died_in_the_middle(self):
        names = self.failures("TAP version 13\n1..3\nok 1 a\n", KERNEL)
        self.assertEqual(names, ["g: plan", "g: guest ran to its end"])

    def test_splat(self):
        names = self.failures(TAP + END, KERNEL + "[ 1.0] BUG: bad page\n")
        self.assertEqual(names, ["g: kernel log is clean"])

    def test_no_kernel_log(self):
        self.assertEqual(self.failures(TAP + END, ""),
                         ["g: kernel log is clean"])

    def test_no_tests(self):
        self.assertIn("g: results", self.failures(END, KERNEL))


class Reports(InDirectory):
    def finish(self, *results):
        out = io.StringIO()
        report = Report(self.place.tool("build/results.tap"), out)
        for result in results:
            report.add(result)
        status = report.finish()
        return status, out.getvalue().splitlines()[-1]

    def test_last_line(self):
        self.assertEqual(self.finish(passed("a"), passed("b")),
                         (0, "2 passed, 0 failed"))
        self.assertEqual(self.finish(passed("a"), failed("b")),
                         (1, "1 passed, 1 failed"))
        self.assertEqual(self.finish(passed("a"), skipped("b", "why")),
                         (0, "1 passed, 0 failed, 1 skipped"))

    def test_nothing_ran(self):
        self.assertEqual(self.finish(), (1, "0 passed, 0 failed"))
        self.assertEqual(self.finish(skipped("a", "why"))[0], 1)


class Selection(InDirectory):
    def setUp(self):
        super().setUp()
        self.suites = [Command(self.place, "lint", "", ["true"]),
                       Guest(self.place, "guest", "")]

    def test_all(self):
        self.assertEqual(len(check.select(self.suites, [])), 2)

    def test_suite(self):
        self.assertEqual(check.select(self.suites, ["lint"]),
                         [(self.suites[0], ())])

    def test_guest_test(self):
        self.assertEqual(check.select(self.suites, ["copy"]),
                         [(self.suites[1], ("tdma_copy",))])

    def test_unknown(self):
        self.assertEqual(check.select(self.suites, ["nonesuch"]), [])

    def test_broken_suite_is_a_failure(self):
        class Broken:
            name, purpose = "broken", ""

            def run(self, _tests):
                raise RuntimeError("oops")

        report = Report(self.place.tool("build/results.tap"), io.StringIO())
        check.run_suites([(Broken(), ())], report, 1)
        self.assertEqual(report.counts["failed"], 1)


class Lanes(InDirectory):
    def test_order_of_reports(self):
        out = io.StringIO()
        report = Report(self.place.tool("build/results.tap"), out)
        suites = [(Command(self.place, name, "", ["sh", "-c", script]), ())
                  for name, script in (("slow", "sleep 0.3"), ("quick", "true"),
                                       ("bad", "false"))]
        check.run_suites(suites, report, 2)
        names = [line.split()[1] for line in out.getvalue().splitlines()
                 if line.startswith(("ok", "FAIL"))]
        self.assertEqual(names, ["slow", "quick", "bad"])
        self.assertEqual(report.counts["failed"], 1)


if __name__ == "__main__":
    unittest.main()
