#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Benchmarks of both engines, as ratios within one run; `make bench` runs it.

usage: bench.py LIBRARY [-p] [NAME]

LIBRARY is the machine core with bench_*.c, and beside it, if the machine has
oneDNN, the same moves in oneDNN. -p makes source and destination lists of
pages; NAME selects moves by a part of their name.

All take turns in one process, on the same memory, in one thread, and are
measured by that thread's CPU time. What is printed are medians of the ratios
within a turn: a machine that slows down slows down all of them.
"""

import ctypes
import itertools
import math
import os
import statistics
import sys
import time

# Before anything starts threads of its own
os.environ["OMP_NUM_THREADS"] = "1"

try:
    import numpy
    from numpy.lib.stride_tricks import as_strided
except ImportError:
    numpy = None

TURNS = 9
TURN_SECONDS = 0.003
CONTIGUOUS = [64 << shift for shift in range(0, 22, 2)]


class Move(ctypes.Structure):
    """struct bench_move"""
    _fields_ = [("name", ctypes.c_char * 96)] + [
        (name, ctypes.c_int64) for name in ("padded", "bytes", "elem", "ndims")
    ] + [(name, ctypes.c_int64 * 8) for name in ("steps", "src", "dst")] + [
        (name, ctypes.c_int64) for name in ("src_offset", "dst_offset")]


def load(path):
    """A library, its functions' types set."""
    library = ctypes.CDLL(path)
    for name in ("run", "copy", "fill", "memcpy", "memset", "cycle",
                 "onednn_run"):
        function = getattr(library, "bench_" + name, None)
        if function:
            function.restype = ctypes.c_double
    return library


def declare(library):
    """Types of the functions that take or return something wider than int."""
    library.bench_get_move.restype = ctypes.POINTER(Move)
    library.bench_memory.restype = ctypes.c_void_p
    for name in ("copy", "fill", "memcpy", "memset"):
        getattr(library, "bench_" + name).argtypes = [ctypes.c_uint64,
                                                      ctypes.c_uint]


def take_turns(peers):
    """Seconds per call of each peer, a list with one number per turn."""
    calls, samples = {}, {name: [] for name in peers}
    for name, run in peers.items():
        calls[name] = 1
        while run(calls[name]) < TURN_SECONDS and calls[name] < 1 << 20:
            calls[name] *= 2
    names = list(peers)
    for turn in range(TURNS):
        for name in names[turn % len(names):] + names[:turn % len(names)]:
            samples[name].append(peers[name](calls[name]) / calls[name])
    return samples


def ratio(samples, name):
    """How many times faster than a peer the engine is."""
    return statistics.median(
        peer / own for peer, own in zip(samples[name], samples["engine"]))


def rate(samples, size):
    """The engine's gigabytes per second."""
    return size / statistics.median(samples["engine"]) * 1e-9


def mean(ratios):
    """Geometric mean."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def show_size(size):
    """1024 -> 1 KiB"""
    for unit in ("B", "KiB", "MiB"):
        if size < 1024:
            break
        size //= 1024
    return "%d %s" % (size, unit)


def contiguous(library):
    """Copies and fills of one piece, against the C library."""
    print("contiguous       copy GB/s  x memcpy   fill GB/s  x memset")
    for size in CONTIGUOUS:
        row = []
        for own, peer in (("copy", "memcpy"), ("fill", "memset")):
            own, peer_run = (getattr(library, "bench_" + function)
                             for function in (own, peer))
            samples = take_turns({
                "engine": lambda calls: own(size, calls),
                peer: lambda calls: peer_run(size, calls)})
            row += [rate(samples, size), ratio(samples, peer)]
        print("%-15s  %9.2f  %8.2f   %9.2f  %8.2f" % (
            show_size(size), *row))


class Memory:
    """The memory that peers work on."""

    def __init__(self, library):
        size = ctypes.c_uint64()
        self.address = [library.bench_memory(side, ctypes.byref(size))
                        for side in range(2)]
        self.size = size.value

    def view(self, side, move):
        """A strided view of one side of a move."""
        strides = (move.src, move.dst)[side]
        offset = (move.src_offset, move.dst_offset)[side]
        buffer = (ctypes.c_uint8 * self.size).from_address(self.address[side])
        # Only the start has to lie in the base array; strides may be anything.
        base = numpy.frombuffer(buffer, dtype=numpy.uint8)[offset:]
        base = base[:move.elem].view("u%d" % move.elem)
        return as_strided(base, shape=move.steps[:move.ndims][::-1],
                          strides=strides[:move.ndims][::-1])


def numpy_peer(memory, move):
    """A function that does a move by numpy.copyto()."""
    source, destination = memory.view(0, move), memory.view(1, move)

    def run(calls):
        start = time.thread_time()
        for _ in itertools.repeat(None, calls):
            numpy.copyto(destination, source)
        return time.thread_time() - start
    return run


def onednn_peer(onednn, memory, move):
    """A function that does a move by oneDNN, or None and why not."""
    why = ctypes.create_string_buffer(200)
    onednn.bench_onednn_open.restype = ctypes.c_void_p
    onednn.bench_onednn_run.argtypes = [ctypes.c_void_p, ctypes.c_uint]
    reorder = onednn.bench_onednn_open(
        ctypes.byref(move), ctypes.c_void_p(memory.address[0]),
        ctypes.c_void_p(memory.address[1]), why, len(why))
    if not reorder:
        return None, why.value.decode()
    return lambda calls: onednn.bench_onednn_run(reorder, calls), ""


def peers_of(library, onednn, memory, index):
    """Who can do a move, and a remark on who cannot."""
    move, remark = library.bench_get_move(index).contents, ""
    peers = {"engine": lambda calls: library.bench_run(index, calls),
             "memcpy": lambda calls: library.bench_memcpy(move.bytes, calls)}
    if move.padded:
        return peers, "padded: nobody else does it in one go"
    if numpy:
        peers["NumPy"] = numpy_peer(memory, move)
    if onednn:
        run, remark = onednn_peer(onednn, memory, move)
        if run:
            peers["oneDNN"] = run
        else:
            remark = "oneDNN: " + remark
    return peers, remark


def written(move):
    """First byte that a move writes in the destination, and how many."""
    reach = [(move.steps[i] - 1) * move.dst[i] for i in range(move.ndims)]
    low = move.dst_offset + sum(far for far in reach if far < 0)
    return low, sum(map(abs, reach)) + move.elem


def agree(peers, memory, move):
    """Do all leave the same bytes? Otherwise they do not do the same."""
    low, size = written(move)
    address = memory.address[1] + low
    results = set()
    for name in peers.keys() - {"memcpy"}:
        ctypes.memset(address, 0, size)
        peers[name](1)
        results.add(ctypes.string_at(address, size))
    return len(results) == 1


def moves(library, onednn, memory, count, paged, only):
    """The moves of the case table, against all peers."""
    columns = ("NumPy", "oneDNN", "better", "memcpy")
    ratios = {column: [] for column in columns}
    print("\n%-44s %8s" % ("moves of the case table: x", "GB/s"),
          "".join("%8s" % column for column in columns))
    for index in range(count):
        move = library.bench_get_move(index).contents
        name = move.name.decode()
        if only not in name:
            continue
        peers, remark = peers_of(library, onednn, memory, index)
        if not paged and not agree(peers, memory, move):
            sys.exit("%s: not all peers do the same" % name)
        samples = take_turns(peers)
        row = {peer: ratio(samples, peer) for peer in peers
               if peer != "engine"}
        if not move.padded and len(row) > 1:
            row["better"] = min(row[peer] for peer in row if peer != "memcpy")
        for column in row:
            ratios[column].append(row[column])
        print("%-44s %8.2f" % (name, rate(samples, move.bytes)),
              "".join("%8.2f" % row[column] if column in row else
                      "%8s" % "-" for column in columns), "", remark)
    print("%-44s %8s" % ("geometric mean", ""),
          "".join("%8.2f" % mean(ratios[column]) if ratios[column] else
                  "%8s" % "-" for column in columns))
    print("%-44s %8s" % ("moves", ""),
          "".join("%8d" % len(ratios[column]) for column in columns))


def cycle(library):
    """Simulation speed of the cycle engine."""
    print("\ncycle engine, both sides busy")
    for any_order, name in enumerate(("memory answers in order",
                                      "memory answers in any order")):
        cycles, requests = ctypes.c_uint64(), ctypes.c_uint64()
        rates = []
        for _ in range(TURNS):
            cycles.value = requests.value = 0
            seconds = library.bench_cycle(any_order, 20, ctypes.byref(cycles),
                                          ctypes.byref(requests))
            rates.append(cycles.value / seconds * 1e-6)
        # There is no peer to take turns with: a busy machine only takes away.
        print("%-32s %5.2f million cycles/s at best, %5.2f in the middle, "
              "%4.2f requests per cycle" % (
                  name, max(rates), statistics.median(rates),
                  requests.value / cycles.value))


def main():
    """Everything, or the moves that were asked for."""
    arguments = sys.argv[2:]
    paged = "-p" in arguments
    only = [word for word in arguments if word != "-p"]
    library = load(sys.argv[1])
    declare(library)
    path = os.path.join(os.path.dirname(sys.argv[1]), "libonednn.so")
    onednn = load(path) if os.path.exists(path) else None
    count = library.bench_open(paged)
    for peer, there in (("NumPy", numpy), ("oneDNN", onednn)):
        if not there:
            print("no %s to compare with" % peer)
    if not only:
        contiguous(library)
    moves(library, onednn, Memory(library), count, paged,
          only[0] if only else "")
    if not only:
        cycle(library)


if __name__ == "__main__":
    main()
