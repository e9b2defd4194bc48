# SPDX-License-Identifier: GPL-2.0
"""What a trace comes to: curves and numbers."""

import collections

from trace_file import CAUSES, SIDES, number

# What a cycle of a side was, in the order in which they are drawn.
KINDS = ("sending",) + CAUSES + ("other",)


def changes(trace, side):
    """[(cycle, change of the number of requests in flight)], by cycle."""
    change = collections.Counter()
    requests = trace["requests"]
    for which, issue, response in requests.rows("side", "issue", "response"):
        if which == side:
            change[issue] += 1
            if response is not None:
                change[response] -= 1
    return sorted(change.items())


def in_flight(trace, side):
    """[(cycle, requests in flight from then on)] of a side."""
    curve, now = [], 0
    for cycle, change in changes(trace, side):
        now += change
        curve.append((cycle, now))
    return curve


def envelope(curve, start, end, bins):
    """A step curve in at most @bins intervals: [(cycle, lowest, highest)].

    Curves of fewer points come out as they are.
    """
    if len(curve) <= bins:
        return [(cycle, value, value) for cycle, value in curve]
    result, value, at = [], 0, 0
    for i in range(bins):
        until = start + (end - start) * (i + 1) // bins
        low = high = value
        while at < len(curve) and curve[at][0] < until:
            value = curve[at][1]
            low, high = min(low, value), max(high, value)
            at += 1
        result.append((start + (end - start) * i // bins, low, high))
    return result


def cycle_kinds(trace, side):
    """How many cycles of a side were of each of KINDS.

    A cycle in which something was held back counts as a stall of that cause,
    even if some lanes did send, as the counters of the device have it.
    """
    requests, stalls = trace["requests"], trace["stalls"]
    kinds = dict.fromkeys(KINDS, 0)
    stalled = []
    for which, cause, cycle, cycles in stalls.rows("side", "cause", "cycle",
                                                   "cycles"):
        if which == side:
            kinds[cause] += cycles
            stalled.append((cycle, cycle + cycles))
    sending = {issue for which, op, issue in requests.rows("side", "op",
                                                           "issue")
               if which == side}
    kinds["sending"] = len(sending) - covered(sorted(sending), sorted(stalled))
    kinds["other"] = max(0, trace.end() - trace.start() -
                         sum(kinds.values()))
    return kinds


def covered(cycles, intervals):
    """How many of the sorted @cycles lie in one of the sorted @intervals."""
    count, at = 0, 0
    for cycle in cycles:
        while at < len(intervals) and intervals[at][1] <= cycle:
            at += 1
        if at < len(intervals) and intervals[at][0] <= cycle:
            count += 1
    return count


def moved_bytes(trace):
    """Bytes that the descriptors moved."""
    return sum(number(d["elements"]) * number(d["elem_bytes"])
               for d in trace.descriptors)


def issued(trace, side):
    """Requests of a side."""
    return trace["requests"]["side"].count(side)


def latency(trace):
    """(least, mean, most) cycles from request to response; None without."""
    cycles = [response - issue for issue, response
              in trace["requests"].rows("issue", "response")
              if response is not None]
    if not cycles:
        return None
    return min(cycles), sum(cycles) / len(cycles), max(cycles)


def limit(trace):
    """What held the run back most, in a sentence."""
    if not trace["requests"]:
        return "no requests in the trace: fidelity is " + \
            trace.machine["fidelity"]
    cycles = trace.end() - trace.start()
    texts = {
        "backpressure": "memory accepted no more requests",
        "throttle": "the throttle's budget was used up",
        "ids": "no request ID was free while answers were on their way",
    }
    kinds = {side: cycle_kinds(trace, side) for side in SIDES}
    side, cause = max(((s, c) for s in SIDES for c in CAUSES),
                      key=lambda pair: kinds[pair[0]][pair[1]])
    held = kinds[side][cause]
    busiest = max(SIDES, key=lambda s: kinds[s]["sending"])
    if held > kinds[busiest]["sending"]:
        return "%s: %s (%s, %.0f %% of the cycles)" % (
            cause, texts[cause], side, 100 * held / cycles)
    if 2 * kinds[busiest]["sending"] > cycles:
        return "lanes: they sent in %.0f %% of the cycles (%s)" % (
            100 * kinds[busiest]["sending"] / cycles, busiest)
    return "latency: in %.0f %% of the cycles there was nothing to send" % (
        100 * kinds[busiest]["other"] / cycles)


def headline(trace):
    """[(name, value, unit)]: the numbers to begin with."""
    cycles = trace.end() - trace.start()
    spread = latency(trace)
    rows = [("cycles", cycles, ""),
            ("descriptors", len(trace.descriptors), ""),
            ("bytes moved", moved_bytes(trace), ""),
            ("bytes per cycle", moved_bytes(trace) / cycles, "")]
    for side, name in zip(SIDES, ("source", "destination")):
        rows.append((name + " requests per cycle", issued(trace, side) / cycles,
                     "of %d" % trace.machine["lanes"]))
        curve = in_flight(trace, side)
        rows.append((name + " requests in flight, most",
                     max((value for _, value in curve), default=0),
                     "of %d" % trace.machine["request_ids"]))
    if spread:
        rows.append(("latency, mean", spread[1],
                     "cycles, %d to %d" % (spread[0], spread[2])))
    return rows
