#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Pictures of what a tensor job did, clock by clock.

Reads trace files of "tdma trace" and writes an HTML report that needs nothing
but a browser: lanes, requests in flight, addresses, stalls, progress. Two traces
are shown side by side, on the same scale. With --perfetto also, or only, a file
for Perfetto (ui.perfetto.dev, Open trace file).
"""

import argparse
import os
import sys
import tempfile

import page
import perfetto
import trace_file

# As those of tdma
STATUS_USAGE = 2
STATUS_MALFORMED = 3
STATUS_OUTPUT = 6

EXAMPLES = """examples:
  tdma trace -o a.json copy in.npy out.npy --transpose 1,0
  tdma trace -o b.json -D ids=64 copy in.npy out.npy --transpose 1,0
  report.py a.json b.json -o report.html
  report.py a.json --perfetto a.perfetto.json

status: 0; 2 wrong use; 3 a trace is malformed; 6 a file cannot be written
"""


def say(message):
    """An error, as the tools put it."""
    sys.stderr.write("report: %s\n" % message)


def arguments(words):
    """What the command line asks for."""
    parser = argparse.ArgumentParser(
        prog="report.py", description=__doc__, epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("traces", metavar="TRACE", nargs="+",
                        help="one trace, or two to compare")
    parser.add_argument("-o", "--output", metavar="FILE",
                        help="the report (report.html, unless only "
                        "--perfetto is given)")
    parser.add_argument("--perfetto", metavar="FILE",
                        help="trace events for Perfetto")
    options = parser.parse_args(words)
    if len(options.traces) > 2:
        parser.error("two traces at most")
    if not options.output and not options.perfetto:
        options.output = "report.html"
    return options


def write_whole(path, writer, traces):
    """The file is there when it is complete, or not at all."""
    directory = os.path.dirname(os.path.abspath(path))
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=directory,
                                     prefix=".report-", delete=False) as part:
        try:
            writer(traces, part)
            part.flush()
            os.chmod(part.name, 0o644)
            os.replace(part.name, path)
        except BaseException as error:
            os.unlink(part.name)
            if isinstance(error, OSError):
                error.filename = path
            raise
    print("%s: %d bytes" % (path, os.path.getsize(path)))


def main(words):
    """The command; returns its exit status."""
    options = arguments(words)
    outputs = ((options.output, page.write),
               (options.perfetto, perfetto.write))
    try:
        traces = [trace_file.load(path) for path in options.traces]
        for path, writer in outputs:
            if path:
                write_whole(path, writer, traces)
    except trace_file.TraceError as error:
        say(error)
        return STATUS_MALFORMED
    except page.PageError as error:
        say(error)
        return STATUS_USAGE
    except OSError as error:
        say("%s: %s" % (error.filename, error.strerror))
        return STATUS_OUTPUT
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
