#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Runs the test suites and ends in one line "N passed, N failed".

usage: check.py [--debug] [NAME...]
    --debug  the suites of make check-debug instead of those of make check
    NAME  only suites, or tests of the guest, whose name contains it;
          "list" prints the names
"""

import concurrent.futures
import os
import queue
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True

import plan
from process import kill_all
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


def produce(suite, tests, results):
    """Run a suite; a suite that breaks is a failed test, not the end."""
    start = time.monotonic()
    try:
        for result in suite.run(tests):
            results.put(result)
    except Exception as error:
        results.put(failed(suite.name,
                           "%s: %s" % (type(error).__name__, error)))
    results.put(time.monotonic() - start)


def run_suites(chosen, report, lanes):
    """Run some suites at a time, report one after the other."""
    pool = concurrent.futures.ThreadPoolExecutor(lanes)
    queues = [queue.SimpleQueue() for _ in chosen]
    try:
        for (suite, tests), results in zip(chosen, queues):
            pool.submit(produce, suite, tests, results)
        for (suite, _), results in zip(chosen, queues):
            report.begin(suite)
            result = results.get()
            while not isinstance(result, float):
                report.add(result)
                result = results.get()
            report.end(suite, result)
    finally:
        # Reached with suites unfinished only when a person has enough.
        pool.shutdown(wait=False, cancel_futures=True)
        kill_all()


def main(names):
    context = plan.Context()
    if names[:1] == ["--debug"]:
        names = names[1:]
        suites = list(plan.debug_suites(context))
    else:
        suites = plan.suites(context)
    if names == ["list"]:
        print_list(suites)
        return 0
    chosen = select(suites, names)
    if not chosen:
        print("no test's name contains %s; see make check T=list"
              % " or ".join(names), file=sys.stderr)
    report = Report(os.path.join(context.build, "check", "results.tap"))
    lanes = int(os.environ.get("CHECK_JOBS") or min(2, os.cpu_count()))
    run_suites(chosen, report, lanes)
    return report.finish()


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
