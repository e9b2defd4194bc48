# SPDX-License-Identifier: GPL-2.0
"""A trace for Perfetto and chrome://tracing: the JSON trace event format.

A cycle of the machine is a microsecond there. A run is a process; its threads
are the descriptors, the lanes and stalls of each side, and its updates.
"""

import json

from summary import in_flight
from trace_file import SIDES, number

NAMES = {"src": "source", "dst": "destination"}
# Thread IDs, in the order in which they are shown
DESCRIPTORS = 1
UPDATES = 2
FIRST_SIDE = 10         # a side's stalls, then its lanes
PER_SIDE = 100


def stalls_tid(side):
    """Thread of a side's stalls."""
    return FIRST_SIDE + PER_SIDE * SIDES.index(side)


def lane_tid(side, lane):
    """Thread of a lane."""
    return stalls_tid(side) + 1 + lane


def meta(pid, tid, what, value):
    """Metadata: a name, or a place in the order."""
    key = "sort_index" if what.endswith("sort_index") else "name"
    return {"ph": "M", "pid": pid, "tid": tid, "ts": 0, "name": what,
            "args": {key: value}}


def names(trace, pid):
    """Names of the process and its threads, and their order."""
    yield meta(pid, 0, "process_name", trace.title or "tensordma")
    threads = [(DESCRIPTORS, "descriptors"), (UPDATES, "updates")]
    for side in SIDES:
        threads.append((stalls_tid(side), NAMES[side] + " stalls"))
        threads += [(lane_tid(side, lane), "%s lane %d" % (NAMES[side], lane))
                    for lane in range(trace.machine["lanes"])]
    for tid, name in threads:
        yield meta(pid, tid, "thread_name", name)
        yield meta(pid, tid, "thread_sort_index", tid)


def slice_event(pid, tid, name, start, duration, **args):
    """Something that takes time."""
    return {"ph": "X", "pid": pid, "tid": tid, "name": name, "ts": start,
            "dur": duration, "args": args}


def descriptors(trace, pid):
    """Descriptors overlap in the pipeline: each is a track of its own."""
    for d in trace.descriptors:
        name = "%d: %s" % (d["descriptor"], d["opcode"])
        common = {"pid": pid, "tid": DESCRIPTORS, "cat": "descriptor",
                  "id": d["descriptor"], "name": name}
        yield dict(common, ph="b", ts=number(d["start"]),
                   args={key: value for key, value in d.items()
                         if key not in ("start", "end")})
        yield dict(common, ph="e", ts=number(d["end"]))


def requests(trace, pid):
    """Each request, in the cycle in which its lane sent it."""
    table = trace["requests"]
    for descriptor, side, lane, request_id, op, element, address, issue, \
            response in table.rows("descriptor", "side", "lane", "id", "op",
                                   "element", "address", "issue", "response"):
        yield slice_event(pid, lane_tid(side, lane), op, issue, 1,
                          descriptor=descriptor, id=request_id,
                          element=element, address=address, response=response)


def stalls(trace, pid):
    """Intervals in which a side was held back."""
    for descriptor, side, cause, cycle, cycles in trace["stalls"].rows(
            "descriptor", "side", "cause", "cycle", "cycles"):
        yield slice_event(pid, stalls_tid(side), cause, cycle, cycles,
                          descriptor=descriptor)


def counter(pid, name, cycle, value):
    """A value from a cycle on."""
    return {"ph": "C", "pid": pid, "tid": 0, "name": name, "ts": cycle,
            "args": {"value": value}}


def counters(trace, pid):
    """Requests in flight of each side, and elements that are in memory."""
    for side in SIDES:
        for cycle, value in in_flight(trace, side):
            yield counter(pid, NAMES[side] + " in flight", cycle, value)
    for descriptor, side, cycle, elements in trace["commits"].rows(
            "descriptor", "side", "cycle", "elements"):
        yield counter(pid, "descriptor %d: %s elements" %
                      (descriptor, NAMES[side]), cycle, elements)


def updates(trace, pid):
    """Partial updates, which software could see."""
    for descriptor, side, cycle, elements in trace["sync"].rows(
            "descriptor", "side", "cycle", "elements"):
        yield {"ph": "i", "s": "t", "pid": pid, "tid": UPDATES,
               "name": "update", "ts": cycle,
               "args": {"descriptor": descriptor, "side": side,
                        "elements": elements}}


def events(trace, pid):
    """All events of a run: metadata, then the rest in the order of time."""
    yield from names(trace, pid)
    rest = []
    for part in (descriptors, requests, stalls, counters, updates):
        rest += part(trace, pid)
    rest.sort(key=lambda event: event["ts"])
    yield from rest


def write(traces, output):
    """All runs into the file object @output."""
    document = {
        "displayTimeUnit": "ns",
        "otherData": {"time": "1 us is a cycle of the machine"},
        "traceEvents": [event for pid, trace in enumerate(traces, 1)
                        for event in events(trace, pid)],
    }
    json.dump(document, output, separators=(",", ":"))
    output.write("\n")
