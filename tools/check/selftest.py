#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Runs Python's unit tests in DIRECTORY/tests and writes TAP; the harness's own
without a DIRECTORY.

usage: selftest.py [DIRECTORY]
"""

import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "setup"),
                os.path.join(os.path.dirname(HERE), "guest")]
sys.dont_write_bytecode = True


class TapResult(unittest.TestResult):
    """Writes a line of TAP as each test ends."""

    def _line(self, test, word, note=""):
        name = test.id().split("tests.", 1)[-1]
        print("%s %d %s%s" % (word, self.testsRun, name, note), flush=True)

    def addSuccess(self, test):
        super().addSuccess(test)
        self._line(test, "ok")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self._line(test, "ok", " # SKIP " + reason)

    def _broken(self, test, records):
        for line in records[-1][1].splitlines():
            print("# " + line)
        self._line(test, "not ok")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._broken(test, self.failures)

    def addError(self, test, err):
        super().addError(test, err)
        self._broken(test, self.errors)


def main(top=HERE):
    sys.path.insert(0, top)
    tests = unittest.defaultTestLoader.discover(
        os.path.join(top, "tests"), top_level_dir=top)
    print("TAP version 13\n1..%d" % tests.countTestCases())
    result = TapResult()
    tests.run(result)
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main(*map(os.path.abspath, sys.argv[1:])))
