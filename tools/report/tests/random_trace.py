# SPDX-License-Identifier: GPL-2.0
"""Traces made up at random, which are as trace files are."""

import json
import random

import trace_file

SIDES = ("src", "dst")
OPS = ("read", "write", "discard", "memset")


def requests(rng, descriptors, lanes, ids):
    """Rows of the requests; lanes of a side send at most once in a cycle."""
    rows = []
    for side in SIDES:
        cycle, at = rng.randrange(1, 20), 0
        while at < len(descriptors) * 10:
            for lane in range(rng.randrange(lanes + 1)):
                response = cycle + rng.randrange(1, 60)
                rows.append([at // 10 % len(descriptors), side, lane, at % ids,
                             rng.choice(OPS), at, rng.randrange(2 ** 33),
                             cycle,
                             response if rng.random() < 0.95 else None])
                at += 1
            cycle += rng.choice((1, 1, 1, 2, 7))
    return sorted(rows, key=lambda row: (row[7], row[0]))


def stalls(rng, end):
    """Rows of the stalls, which do not overlap on a side."""
    rows = []
    for side in SIDES:
        cycle = rng.randrange(5)
        while cycle < end - 20:
            cycles = rng.randrange(1, 9)
            rows.append([0, side, rng.choice(trace_file.CAUSES), cycle, cycles])
            cycle += cycles + rng.choice((0, 0, 3, 11))
    return sorted(rows, key=lambda row: row[3])


def document(seed, count=3):
    """A whole trace as json.load() would return it."""
    rng = random.Random(seed)
    lanes, ids = rng.randrange(1, 9), rng.randrange(4, 500)
    sent = requests(rng, range(count), lanes, ids)
    end = max(row[7] for row in sent) + 100
    commits = [[d, "dst", 10 + d * 20 + i, (i + 1) * 3]
               for d in range(count) for i in range(9)]
    return {
        "format": "tensordma-trace", "version": 1, "title": "made up",
        "machine": {"backend": "sim", "fidelity": "cycle", "lanes": lanes,
                    "request_ids": ids, "properties": {"lanes": lanes}},
        "memory": [{"segment": 0, "name": "a", "bytes": "18446744073709551615"}],
        "descriptors": [
            {"descriptor": d, "opcode": "copy", "elements": 30, "elem_bytes": 4,
             "start": 0, "end": end, "status": "OK", "cycles": end,
             "steps": [5, 6]} for d in range(count)],
        "requests": {"columns": list(trace_file.TABLES["requests"]),
                     "rows": sent},
        "stalls": {"columns": list(trace_file.TABLES["stalls"]),
                   "rows": stalls(rng, end)},
        "commits": {"columns": list(trace_file.TABLES["commits"]),
                    "rows": sorted(commits, key=lambda row: row[2])},
        "sync": {"columns": list(trace_file.TABLES["sync"]),
                 "rows": commits[4::4]},
        "limit": 1000000, "dropped": 0,
    }


def trace(seed, count=3):
    """The same, read."""
    return trace_file.parse(json.dumps(document(seed, count)))
