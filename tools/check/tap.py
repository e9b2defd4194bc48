# SPDX-License-Identifier: GPL-2.0
"""A parser of the Test Anything Protocol that trusts nothing.

It reads what the kernel's selftests, cmocka and GLib write: TAP 12/13, several
documents in a row, and the kernel's nesting, where the lines of an inner
document are comments ahead of the outer result. Whatever is not a complete
account (no plan, a result missing or twice, an inner document cut off, an
outer failure that no inner one explains) becomes a failed result itself.
"""

import re

from results import FAILED, PASSED, SKIPPED, Result, failed

RESULT = re.compile(r"^(not )?ok\b(?:\s+(\d+))?(?:\s+-)?\s*(.*)$")
DIRECTIVE = re.compile(r"^(.*?)\s*#\s*(SKIP|TODO|XFAIL|TIMEOUT|exit=)\S*\s*(.*)$",
                       re.IGNORECASE)
PLAN = re.compile(r"^1\.\.(\d+)(?:\s*#\s*SKIP\b\s*(.*))?\s*$", re.IGNORECASE)
VERSION = re.compile(r"^K?TAP version \d+\s*$")
# kselftest's runner announces each program so.
TITLE = re.compile(r"^selftests: (\S+): (\S+)$")

DETAIL_LINES = 15


def title_of(name):
    """A short name for a program run by kselftest's runner."""
    match = TITLE.match(name)
    return match.group(2) if match else name


def is_account(lines):
    """Whether comment lines hold an inner document."""
    return any(VERSION.match(line) or PLAN.match(line) for line in lines)


class Parser:
    """Feed it lines; results come out as soon as they are known."""

    def __init__(self):
        self._documents = 0
        self._begin()

    def _begin(self):
        self._open = False
        self._plan = None
        self._plan_reason = None
        self._count = 0
        self._bailed = False
        self._pending = []

    def feed(self, line):
        """Take one line, return the results that it completes."""
        line = line.rstrip("\r\n")
        if VERSION.match(line):
            results = self._end()
            self._open = True
            return results
        plan = PLAN.match(line)
        if plan:
            return self._take_plan(int(plan.group(1)), plan.group(2))
        if line.startswith("Bail out!"):
            self._open = self._bailed = True
            return [failed("bail out", line[9:].strip(), self._tail())]
        match = RESULT.match(line)
        if match:
            self._open = True
            return self._take_result(*match.groups())
        self._pending.append(line)
        return []

    def finish(self):
        """The input is over: what is missing?"""
        results = self._end()
        if self._documents == 0:
            results.append(failed("results", "no results at all", self._tail()))
        return results

    def _take_plan(self, plan, reason):
        results = []
        if self._plan is not None:
            # A second plan without a version line: another document.
            results = self._end()
        self._open = True
        self._plan, self._plan_reason = plan, reason
        return results

    def _take_result(self, negation, number, rest):
        results = []
        self._count += 1
        if number and int(number) != self._count:
            results.append(failed(
                "numbering", "result %s where %d was due" % (number, self._count)))
            self._count = int(number)
        status, name, reason = classify(negation, rest)
        pending, self._pending = self._pending, []
        inner = [line[2:] if line.startswith("# ") else line[1:]
                 for line in pending if line.startswith("#")]
        name = title_of(name) or "test %d" % self._count
        if is_account(inner):
            return results + nested(name, status, reason, inner)
        detail = pending[-DETAIL_LINES:] if status != PASSED else []
        return results + [Result(name, status, reason, detail)]

    def _tail(self):
        return self._pending[-DETAIL_LINES:]

    def _end(self):
        """Close the current document and check that it was whole."""
        results = []
        if self._open:
            self._documents += 1
            if self._plan == 0 and self._count == 0:
                results.append(Result("all", SKIPPED, self._plan_reason or
                                      "nothing to run"))
            elif not self._bailed:
                results += self._check_plan()
        pending = self._pending
        self._begin()
        # Kept for a report of a death before the first line of TAP.
        self._pending = pending
        return results

    def _check_plan(self):
        if self._plan is None:
            return [failed("plan", "the plan is missing", self._tail())]
        if self._plan != self._count:
            return [failed("plan", "%d results of %d planned"
                           % (self._count, self._plan), self._tail())]
        return []


def classify(negation, rest):
    """Status, name and reason of a result line."""
    directive = DIRECTIVE.match(rest)
    name, kind, reason = directive.groups() if directive else (rest, "", "")
    kind = kind.upper()
    name = name.strip()
    if kind == "SKIP":
        # "not ok # SKIP" is no skip: something failed on the way.
        return (FAILED if negation else SKIPPED), name, reason or "no reason given"
    if kind in ("TODO", "XFAIL"):
        return SKIPPED, name, "expected failure: " + reason
    if negation:
        return FAILED, name, (kind + " " + reason).strip().lower()
    return PASSED, name, ""


def nested(name, status, reason, lines):
    """The results of an inner document, held against the outer one's."""
    results = parse(lines)
    statuses = [result.status for result in results]
    results = [result.under(name) for result in results]
    if status == FAILED and FAILED not in statuses:
        results.append(failed(name, reason or "failed as a whole",
                              lines[-DETAIL_LINES:]))
    elif status == PASSED and FAILED in statuses:
        results.append(failed(name, "said ok over failed results"))
    return results


def parse(lines):
    """All results of a complete text."""
    parser = Parser()
    results = []
    for line in lines:
        results += parser.feed(line)
    return results + parser.finish()
