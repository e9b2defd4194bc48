#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Runs the test suites and ends in one line "N passed, N failed".

usage: check.py [NAME...]
    NAME  only suites, or tests of the guest, whose name contains it;
          "list" prints the names
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True

import plan
from report import Report
from results import failed


def select(suites, names):
    """Pairs of suite and selected tests; all of them without names."""
    if not names:
        return [(suite, ()) for suite in suites]
    chosen = []
    for suite in suites:
        if any(name in suite.name for name in names):
            chosen.append((suite, ()))
            continue
        tests = tuple(test for test in suite.selectable
                      if any(name in test for name in names))
        if tests:
            chosen.append((suite, tests))
    return chosen


def print_list(suites):
    for suite in suites:
        print("%-16s %s" % (suite.name, suite.purpose))
        for test in suite.selectable:
            print("  " + test)


def run_suite(suite, tests, report):
    """A suite that breaks is a failed test, not the end of the run."""
    report.begin(suite)
    try:
        for result in suite.run(tests):
            report.add(result)
    except Exception as error:
        report.add(failed(suite.name, "%s: %s" % (type(error).__name__, error)))
    report.end(suite)


def main(names):
    context = plan.Context()
    suites = plan.suites(context)
    if names == ["list"]:
        print_list(suites)
        return 0
    chosen = select(suites, names)
    if not chosen:
        print("no test's name contains %s; see make check T=list"
              % " or ".join(names), file=sys.stderr)
    report = Report(os.path.join(context.build, "check", "results.tap"))
    for suite, tests in chosen:
        run_suite(suite, tests, report)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
