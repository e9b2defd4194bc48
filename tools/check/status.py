#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Checks that every test which the status of the requirements names exists,
and that no requirement is called done without one. Writes TAP.

usage: status.py [FILE...]    (default: Documentation/requirements-*.md)
"""

import glob
import os
import re
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
PLACES = ("qemu-device/tests", "selftests", "tools/libtensordma/tests")
TEST = re.compile(r"`((?:test|cycle|tdma)_\w+)(?:: (\w+))?`")
# Tests of the in-kernel client have names, not identifiers.
CLIENT = re.compile(r"`client: ([^`]+)`")
# Tests in Python, by the suite that runs them
PYTHON = re.compile(r"`(command|report): (test_\w+)`")
PYTHON_PLACES = {"command": "tools/tdma/tests", "report": "tools/report/tests"}
# States that claim nothing.
NO_CLAIM = ("open", "reason")


def rows(text):
    """ID, state and last column of each row of the table."""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if len(cells) == 6 and re.fullmatch(r"[A-Z]\d+", cells[1]):
            yield cells[1], cells[3], cells[4]


def source(program, top):
    """The text of a test program, or "" if there is none."""
    for place in PLACES:
        path = os.path.join(top, place, program + ".c")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as text:
                return text.read()
    return ""


def together(top, pattern):
    """The text of all files that match."""
    text = ""
    for path in glob.glob(os.path.join(top, pattern)):
        with open(path, encoding="utf-8") as part:
            text += part.read()
    return text


def client(top):
    """The text of the in-kernel client."""
    return together(top, "driver/tests/client_*.c")


def python_problem(suite, test, top):
    """What is wrong with the name of a test in Python, or None."""
    text = together(top, PYTHON_PLACES[suite] + "/test_*.py")
    if not re.search(r"def %s\(" % test, text):
        return "%s has no test %s" % (suite, test)
    return None


def problem(state, shown_by, top=TOP):
    """What is wrong with a row, or None."""
    if state not in ("done", "partly"):
        return "no such state: " + state
    tests, names = TEST.findall(shown_by), CLIENT.findall(shown_by)
    python = PYTHON.findall(shown_by)
    if not tests and not names and not python and \
            "make check T=" not in shown_by:
        return "names no test"
    for suite, test in python:
        if python_problem(suite, test, top):
            return python_problem(suite, test, top)
    for name in names:
        if '"%s"' % name not in client(top):
            return "the client has no test " + name
    for program, test in tests:
        text = source(program, top)
        if not text:
            return "no program " + program
        # The word alone: as a function, or as an argument of TEST_F().
        if test and not re.search(r"\b%s\b" % test, text):
            return "%s has no test %s" % (program, test)
    return None


def main(paths):
    found = []
    for path in paths:
        with open(path, encoding="utf-8") as text:
            found += rows(text.read())
    claims = [row for row in found if row[1] not in NO_CLAIM]
    print("TAP version 13")
    print("1..%d" % len(claims))
    bad = not claims
    for number, (name, state, shown_by) in enumerate(claims, 1):
        what = problem(state, shown_by)
        if what:
            bad = True
            print("# " + what)
        print("%sok %d %s is %s" % ("not " if what else "", number, name,
                                    state))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or
                  sorted(glob.glob(os.path.join(TOP, "Documentation",
                                                "requirements-*.md")))))
