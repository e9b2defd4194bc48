# SPDX-License-Identifier: GPL-2.0
"""The HTML report: one file with everything in it, which opens offline."""

import array
import base64
import collections
import html
import json
import os

import summary
from trace_file import CAUSES, SIDES, number

# Beyond these a picture has more marks than anybody can tell apart and the
# file becomes unwieldy. Curves are drawn from all there is.
DETAIL = 200000
BINS = 2000

D3 = ("/usr/share/nodejs/d3/dist/d3.min.js",
      "/usr/share/javascript/d3/d3.min.js")

HERE = os.path.dirname(os.path.abspath(__file__))


class PageError(Exception):
    """The page cannot be made."""


def resource(name):
    """A file beside this one."""
    with open(os.path.join(HERE, name), encoding="utf-8") as source:
        return source.read()


def library():
    """The text of d3, which the page brings with it."""
    for path in D3:
        if os.path.exists(path):
            with open(path, encoding="utf-8") as source:
                return source.read()
    raise PageError("d3 is not installed: apt-get install node-d3")


def column(values):
    """Numbers as the page decodes them: a type and base64."""
    small = not values or max(values) < 2 ** 32
    data = array.array("I" if small else "d", values)
    return {"type": "Uint32Array" if small else "Float64Array",
            "data": base64.b64encode(data.tobytes()).decode("ascii")}


def detail(trace):
    """The requests to draw one by one, by columns; the first DETAIL."""
    table, first = trace["requests"], trace.start()
    order = sorted(range(len(table)), key=table["issue"].__getitem__)[:DETAIL]
    ops = sorted(set(table["op"]))

    def take(name, change):
        values = table[name]
        return column([change(values[i]) for i in order])

    return {
        "count": len(order), "total": len(table), "ops": ops,
        "until": table["issue"][order[-1]] - first if order else 0,
        "side": take("side", SIDES.index),
        "lane": take("lane", int),
        "id": take("id", int),
        "op": take("op", ops.index),
        "descriptor": take("descriptor", int),
        "element": take("element", int),
        "address": take("address", int),
        "issue": take("issue", lambda cycle: cycle - first),
        # 0: none came; a response takes a cycle at least
        "response": take("response", lambda cycle: cycle - first
                         if cycle is not None else 0),
    }


def stalls(trace, side):
    """[[cause, first cycle, cycles]] of a side, neighbours joined."""
    merged, first = [], trace.start()
    rows = sorted((cycle, cycles, CAUSES.index(cause)) for
                  which, cause, cycle, cycles in trace["stalls"].rows(
                      "side", "cause", "cycle", "cycles") if which == side)
    for cycle, cycles, cause in rows:
        last = merged[-1] if merged else None
        if last and last[0] == cause and last[1] + last[2] == cycle - first:
            last[2] += cycles
        else:
            merged.append([cause, cycle - first, cycles])
    return merged


def curve(trace, points):
    """A step curve for the page, as an envelope if it has many points."""
    first = trace.start()
    return [[cycle - first, low, high] for cycle, low, high in
            summary.envelope(points, first, trace.end(), BINS)]


def progress(trace):
    """What each descriptor had in memory, and when."""
    lines = collections.defaultdict(list)
    for descriptor, side, cycle, elements in trace["commits"].rows(
            "descriptor", "side", "cycle", "elements"):
        lines[descriptor, side].append((cycle, elements))
    return [{"descriptor": descriptor, "side": side,
             "curve": curve(trace, points)}
            for (descriptor, side), points in sorted(lines.items())]


def updates(trace):
    """[[cycle, descriptor, side, elements]] of partial updates."""
    first = trace.start()
    return [[cycle - first, descriptor, SIDES.index(side), elements]
            for descriptor, side, cycle, elements in trace["sync"].rows(
                "descriptor", "side", "cycle", "elements")][:DETAIL]


def descriptor_text(descriptor):
    """A line about a descriptor."""
    text = "%s, %s elements of %s bytes" % (
        descriptor["opcode"], descriptor["elements"], descriptor["elem_bytes"])
    if descriptor.get("steps"):
        text += ", steps " + " × ".join(
            str(n) for n in reversed(descriptor["steps"]))
    return text + ", %s, %s cycles" % (descriptor["status"],
                                       descriptor["cycles"])


def run(trace):
    """All that the page shows of a trace."""
    return {
        "title": trace.title,
        "machine": trace.machine,
        "limit": summary.limit(trace),
        "headline": summary.headline(trace),
        "cycles": trace.end() - trace.start(),
        "dropped": trace.dropped,
        "memory": [[m["name"], number(m["bytes"])] for m in trace.memory],
        "descriptors": [descriptor_text(d) for d in trace.descriptors],
        "kinds": {side: summary.cycle_kinds(trace, side) for side in SIDES},
        "flight": {side: curve(trace, summary.in_flight(trace, side))
                   for side in SIDES},
        "stalls": {side: stalls(trace, side)[:DETAIL] for side in SIDES},
        "progress": progress(trace),
        "updates": updates(trace),
        "requests": detail(trace),
    }


def script(value):
    """JSON that can stand inside a script element."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")


def write(traces, output):
    """The report of one trace or two into the file object @output."""
    title = " / ".join(trace.title for trace in traces) or "tensordma"
    parts = {
        "@TITLE@": html.escape(title),
        "@STYLE@": resource("page.css"),
        "@LIBRARY@": library().replace("</script", "<\\/script"),
        "@DATA@": script({"runs": [run(trace) for trace in traces],
                          "kinds": summary.KINDS, "causes": CAUSES}),
        "@SCRIPT@": resource("page.js"),
    }
    for line in resource("page.html").splitlines():
        output.write(parts.get(line.strip(), line) + "\n")
