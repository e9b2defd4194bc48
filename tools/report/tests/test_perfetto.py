# SPDX-License-Identifier: GPL-2.0
"""The events for Perfetto against the trace they come from."""

import collections
import io
import json
import unittest

import perfetto
import summary
import trace_file
from tests import random_trace

REQUIRED = {"X": ("dur",), "C": ("args",), "i": ("s",), "b": ("id", "cat"),
            "e": ("id", "cat"), "M": ("args",)}


def events_of(*traces):
    """What a reader of the file gets."""
    output = io.StringIO()
    perfetto.write(traces, output)
    return json.loads(output.getvalue())["traceEvents"]


class Perfetto(unittest.TestCase):
    """perfetto.py on random traces."""

    def test_form(self):
        """Each event has what its phase requires; time does not go back."""
        events = events_of(random_trace.trace(1), random_trace.trace(2))
        for event in events:
            for key in ("ph", "pid", "tid", "ts", "name") + \
                    REQUIRED[event["ph"]]:
                self.assertIn(key, event)
        for pid in (1, 2):
            times = [e["ts"] for e in events
                     if e["pid"] == pid and e["ph"] != "M"]
            self.assertEqual(times, sorted(times))

    def test_each_request_once(self):
        """No request is lost, none is twice, all say what they are."""
        for seed in range(10):
            trace = random_trace.trace(seed)
            found = collections.Counter(
                (e["tid"], e["ts"], e["name"], *e["args"].values())
                for e in events_of(trace)
                if e["ph"] == "X" and "element" in e["args"])
            expected = collections.Counter(
                (perfetto.lane_tid(side, lane), issue, op, descriptor, number,
                 element, address, response)
                for descriptor, side, lane, number, op, element, address,
                issue, response in trace["requests"].rows(
                    *trace_file.TABLES["requests"]))
            self.assertEqual(found, expected, seed)

    def test_descriptors_begin_and_end(self):
        """What is begun is ended, not before."""
        begun = {}
        for event in events_of(random_trace.trace(3, 7)):
            if event["ph"] == "b":
                begun[event["id"]] = event["ts"]
            elif event["ph"] == "e":
                self.assertLessEqual(begun.pop(event["id"]), event["ts"])
        self.assertEqual(begun, {})

    def test_counters(self):
        """Requests in flight are those of the curve."""
        trace = random_trace.trace(4)
        events = events_of(trace)
        for side, name in perfetto.NAMES.items():
            values = [(e["ts"], e["args"]["value"]) for e in events
                      if e["ph"] == "C" and e["name"] == name + " in flight"]
            self.assertEqual(values, summary.in_flight(trace, side))

    def test_threads_have_names(self):
        """Whatever an event is on has a name."""
        events = events_of(random_trace.trace(5))
        named = {(e["pid"], e["tid"]) for e in events
                 if e["name"] == "thread_name"}
        used = {(e["pid"], e["tid"]) for e in events if e["ph"] in "Xibe"}
        self.assertLessEqual(used, named)

    def test_stalls_and_updates(self):
        """Stalls take as long as they took; updates are all there."""
        trace = random_trace.trace(6)
        events = events_of(trace)
        self.assertEqual(
            sum(e["dur"] for e in events
                if e["ph"] == "X" and e["name"] in trace_file.CAUSES),
            sum(trace["stalls"]["cycles"]))
        self.assertEqual(sum(1 for e in events if e["ph"] == "i"),
                         len(trace["sync"]))
