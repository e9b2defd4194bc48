#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Compare the fast engine with NumPy on the affine moves of the case table.

Runs the bench program given as the only argument and the same moves with
numpy.copyto() on strided views, one after the other, single thread, by the
thread's own time, and prints the ratio of each and their geometric mean.
"""

import math
import subprocess
import sys
import time

import numpy
from numpy.lib.stride_tricks import as_strided

TYPES = {1: numpy.uint8, 2: numpy.uint16, 4: numpy.uint32, 8: numpy.uint64}
SEGMENT = 20 << 20
SECONDS = 0.1


def numbers(text):
    """The innermost-first list of a field, outermost first."""
    return tuple(reversed([int(word) for word in text.split(",")]))


def view(buffer, offset, steps, strides, elem):
    """A strided view of a buffer of bytes."""
    # Only the start has to lie in the base array; strides may be anything.
    start = numpy.frombuffer(buffer, dtype=numpy.uint8)[offset:]
    base = start[:elem].view(TYPES[elem])
    return as_strided(base, shape=steps, strides=strides)


def best_time(function):
    """Best time of one call among those that fit into SECONDS."""
    best, end = math.inf, time.monotonic() + SECONDS
    rounds = 0
    while rounds < 5 or (time.monotonic() < end and rounds < 1000):
        start = time.thread_time()
        function()
        best = min(best, time.thread_time() - start)
        rounds += 1
    return best


def main():
    program = sys.argv[1]
    source = numpy.ones(SEGMENT, dtype=numpy.uint8)
    destination = numpy.zeros(SEGMENT, dtype=numpy.uint8)
    logs = []
    process = subprocess.Popen([program, "-c"] + sys.argv[2:],
                               stdout=subprocess.PIPE, text=True)
    for line in process.stdout.readlines():
        name, *fields = line.split()
        case = dict(field.split("=") for field in fields)
        elem, steps = int(case["elem"]), numbers(case["steps"])
        src = view(source, int(case["src_offset"]), steps,
                   numbers(case["src"]), elem)
        dst = view(destination, int(case["dst_offset"]), steps,
                   numbers(case["dst"]), elem)
        seconds = best_time(lambda: numpy.copyto(dst, src))
        ratio = seconds / float(case["seconds"])
        logs.append(math.log(ratio))
        print("%-44s %8.2f GB/s  %6.2f x NumPy" % (
            name, int(case["bytes"]) / float(case["seconds"]) * 1e-9, ratio))
    if process.wait() or not logs:
        sys.exit("the bench program failed")
    print("%d cases, geometric mean %.2f x NumPy" % (
        len(logs), math.exp(sum(logs) / len(logs))))


if __name__ == "__main__":
    main()
