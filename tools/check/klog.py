# SPDX-License-Identifier: GPL-2.0
"""Finds what must not be in a kernel log."""

import re

# Each pattern starts a report; some are in every report of a kind.
PATTERNS = [re.compile(pattern) for pattern in (
    r"\bBUG:",
    r"\bWARNING:",
    r"\bOops\b",
    r"Kernel panic",
    r"\bCall Trace:",
    r"\bRIP: ",
    r"general protection fault",
    r"unable to handle",
    r"-+\[ cut here \]-+",
    r"soft lockup",
    r"hard LOCKUP",
    r"workqueue lockup",
    r"rcu.*(detected|self-detected) (expedited )?stall",
    r"INFO: task .* blocked for more",
    r"possible (circular|recursive) locking",
    r"inconsistent lock state",
    r"suspicious RCU usage",
    r"lock held when returning|still has locks held",
    r"bad unlock balance",
    r"sleeping function called from invalid context",
    r"scheduling while atomic",
    r"\bKASAN:",
    r"\bKCSAN:",
    r"\bKFENCE:",
    r"\bUBSAN:",
    # Two lines of the same prefix are from its start.
    r"\bDMA-API: (?!preallocated|debugging enabled)",
    r"DMAR: .*(fault|Fault)",
    r"swiotlb buffer is full",
    r"refcount_t:",
    r"list_(add|del) corruption",
    r"Bad page (state|map)",
    r"page allocation failure",
    r"\bvmalloc error:",
    r"unreferenced object 0x",
    r"kmemleak: .*(new suspected memory leaks|disabled)",
    r"\bODEBUG:",
    r"trying to register non-static key",
    r"turning off the locking correctness validator",
    r"\bref_tracker:",
    r"nobody cared",
    r"Device release is not defined",
    r"Kernel memory may be corrupted",
    r"Out of memory:",
    r"segfault at",
)]

# Parts of a report that begins with another line. That of a program, not of
# the kernel, is the last one of a warning.
FOLLOWERS = re.compile(r"\bCall Trace:|\bRIP: 0033:")
FOLLOWING = 60

STAMP = re.compile(r"^(<\d+>)?\[\s*\d+\.\d+\](\[\s*[TC]\d+\])?\s*")

CONTEXT = 12


def find(lines):
    """Indices of the lines that match."""
    return [index for index, line in enumerate(lines)
            if any(pattern.search(line) for pattern in PATTERNS)]


def scan(lines, allowed=()):
    """Reports as (headline, following lines), one per cluster of matches.

    @allowed are regular expressions of lines that a test provokes on purpose;
    the trace that such a line may begin is allowed with it.
    """
    permits = [re.compile(text) for text in allowed]
    reports, last, permitted = [], None, None
    for index in find(lines):
        if any(permit.search(lines[index]) for permit in permits):
            permitted = index
            continue
        if (permitted is not None and index - permitted <= FOLLOWING
                and FOLLOWERS.search(lines[index])):
            continue
        permitted = None
        if last is None or index - last > CONTEXT:
            headline = STAMP.sub("", lines[index]).strip()
            reports.append((headline, lines[index:index + CONTEXT]))
        last = index
    return reports
