# SPDX-License-Identifier: GPL-2.0
"""Curves and numbers against counting cycle by cycle."""

import json
import os
import subprocess
import tempfile
import unittest

import summary
import trace_file
from tests import random_trace

SEEDS = range(8)


def flying(trace, side, cycle):
    """Requests of a side in flight in a cycle, by looking at each."""
    return sum(1 for s, issue, response in trace["requests"].rows(
        "side", "issue", "response")
        if s == side and issue <= cycle and (response is None or
                                             cycle < response))


def value_at(curve, cycle):
    """Value of a step curve."""
    values = [value for at, value in curve if at <= cycle]
    return values[-1] if values else 0


class Summary(unittest.TestCase):
    """summary.py on random traces."""

    def test_in_flight(self):
        """The curve is what counting gives, in every cycle."""
        for seed in SEEDS:
            trace = random_trace.trace(seed)
            for side in trace_file.SIDES:
                curve = summary.in_flight(trace, side)
                for cycle in range(trace.end()):
                    self.assertEqual(value_at(curve, cycle),
                                     flying(trace, side, cycle), seed)

    def test_cycle_kinds(self):
        """Each cycle is of one kind; stalls come first."""
        for seed in SEEDS:
            trace = random_trace.trace(seed)
            for side in trace_file.SIDES:
                expected = dict.fromkeys(summary.KINDS, 0)
                kind = {}
                for s, issue in trace["requests"].rows("side", "issue"):
                    if s == side:
                        kind[issue] = "sending"
                for s, cause, cycle, cycles in trace["stalls"].rows(
                        "side", "cause", "cycle", "cycles"):
                    for c in range(cycle, cycle + cycles):
                        if s == side:
                            kind[c] = cause
                for cycle in range(trace.start(), trace.end()):
                    expected[kind.get(cycle, "other")] += 1
                self.assertEqual(summary.cycle_kinds(trace, side), expected,
                                 seed)

    def test_envelope(self):
        """Fewer points lose neither the highest nor the lowest."""
        for seed in SEEDS:
            trace = random_trace.trace(seed, 30)
            curve = summary.in_flight(trace, "src")
            end = trace.end()
            bins = summary.envelope(curve, 0, end, 25)
            self.assertEqual(len(bins), 25)
            edges = [start for start, _, _ in bins] + [end]
            for i, (start, low, high) in enumerate(bins):
                values = [value_at(curve, c)
                          for c in range(start, edges[i + 1])]
                self.assertLessEqual(low, min(values), seed)
                self.assertEqual(high, max(values + [value_at(
                    curve, start - 1)]), seed)

    def test_envelope_of_few(self):
        """Few points come out as they are."""
        self.assertEqual(summary.envelope([(1, 2), (5, 0)], 0, 9, 2),
                         [(1, 2, 2), (5, 0, 0)])


class Real(unittest.TestCase):
    """Traces that tdma writes."""

    def make(self, *words):
        """A trace of a transpose on a machine with these properties."""
        with tempfile.TemporaryDirectory() as directory:
            job = {"buffers": {"a": {"bytes": 4096}, "b": {"bytes": 4096}},
                   "descriptors": [
                       {"src": "a", "dst": "b", "elem_bytes": 4,
                        "steps": [32, 32], "src_stride": [128, 4],
                        "dst_stride": [4, 128]}]}
            path = os.path.join(directory, "job.json")
            with open(path, "w", encoding="utf-8") as output:
                json.dump(job, output)
            result = os.path.join(directory, "trace.json")
            subprocess.run([os.environ["TDMA"], "trace", *words, "-q", "-o",
                            result, "run", path], check=True,
                           stdout=subprocess.DEVNULL)
            return trace_file.load(result)

    def test_stalls(self):
        """What is drawn adds up to what the descriptor was held back."""
        for words, cause in ((("-D", "ids=16"), "ids"),
                             (("-D", "host-bandwidth=2"), "backpressure"),
                             ((), None)):
            trace = self.make(*words)
            counts = trace.descriptors[0]["stalls"]
            kinds = [summary.cycle_kinds(trace, side)
                     for side in trace_file.SIDES]
            for name in trace_file.CAUSES:
                self.assertEqual(sum(kind[name] for kind in kinds),
                                 counts[name], words)
            if cause:
                self.assertGreater(counts[cause], 0)
                self.assertTrue(summary.limit(trace).startswith(cause),
                                summary.limit(trace))
            else:
                self.assertTrue(summary.limit(trace).startswith("lanes"),
                                summary.limit(trace))

    def test_requests(self):
        """An element is a request of each side; IDs are never exceeded."""
        trace = self.make("-D", "ids=16")
        for side in trace_file.SIDES:
            self.assertEqual(summary.issued(trace, side), 1024)
            self.assertLessEqual(max(v for _, v in
                                     summary.in_flight(trace, side)), 16)
        self.assertEqual(summary.moved_bytes(trace), 4096)

    def test_without_requests(self):
        """The fast engine has none to show, and the report says so."""
        trace = self.make("--fidelity", "fast")
        self.assertIn("fidelity is fast", summary.limit(trace))
