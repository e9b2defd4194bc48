# SPDX-License-Identifier: GPL-2.0
"""Prints results as they come, and the account at the end."""

import os
import sys
import time

from results import FAILED, PASSED, SKIPPED

WORDS = {PASSED: "ok", FAILED: "FAIL", SKIPPED: "skip"}


class Report:
    """Counts and prints; one line per test, the failed ones once more."""

    def __init__(self, tap_path, out=sys.stdout):
        self.counts = {PASSED: 0, FAILED: 0, SKIPPED: 0}
        self._failures = []
        self._out = out
        self._start = time.monotonic()
        os.makedirs(os.path.dirname(tap_path), exist_ok=True)
        self._tap = open(tap_path, "w", encoding="utf-8")
        self._tap.write("TAP version 13\n")

    def begin(self, suite):
        self._print("\n# %s: %s" % (suite.name, suite.purpose))

    def end(self, suite, seconds):
        self._print("# %s took %d s" % (suite.name, seconds))

    def add(self, result):
        self.counts[result.status] += 1
        line = "%-4s %s" % (WORDS[result.status], result.name)
        if result.reason:
            line += "  # " + result.reason
        self._print(line)
        self._tap_line(result)
        if result.status == FAILED:
            self._failures.append(result)
            self._detail(result)

    def finish(self):
        """The closing lines; returns the exit status."""
        self._tap.write("1..%d\n" % sum(self.counts.values()))
        self._tap.close()
        self._print("")
        if len(self._failures) > 1:
            self._print("Failed:")
            for result in self._failures:
                self._print("  " + result.name)
        self._print("Logs: build/check, build/logs, build/guest; time: %d s"
                    % (time.monotonic() - self._start))
        self._print(self.summary())
        return 0 if self.good() else 1

    def good(self):
        """A run in which nothing passed has shown nothing."""
        return self.counts[FAILED] == 0 and self.counts[PASSED] > 0

    def summary(self):
        text = "%d passed, %d failed" % (self.counts[PASSED],
                                         self.counts[FAILED])
        if self.counts[SKIPPED]:
            text += ", %d skipped" % self.counts[SKIPPED]
        return text

    def _print(self, text):
        print(text, file=self._out, flush=True)

    def _detail(self, result):
        for line in result.detail:
            self._print("       | " + line.rstrip())

    def _tap_line(self, result):
        words = "not ok" if result.status == FAILED else "ok"
        line = "%s %d %s" % (words, sum(self.counts.values()),
                             result.name.replace("#", "\\#"))
        if result.status == SKIPPED:
            line += " # SKIP " + result.reason
        self._tap.write(line + "\n")
        self._tap.flush()
