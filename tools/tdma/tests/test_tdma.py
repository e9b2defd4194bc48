#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""The tdma command against NumPy, and with files that are not what they seem.

usage: test_tdma.py TDMA CASES     TAP on standard output; TDMA_SEED repeats
"""

import json
import os
import pty
import random
import struct
import subprocess
import sys
import tempfile
import time

import numpy

TYPES = ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8",
         "c8", "c16", "?", "V3", "V2", "S5", ">i4", "<U2")
ROUNDS = int(os.environ.get("TDMA_JOBS", "15"))
MUTATIONS = int(os.environ.get("TDMA_MUTATIONS", "60"))
FIDELITIES = ("fast", "cycle")


class Failure(Exception):
    """What a test found."""


def check(condition, message):
    if not condition:
        raise Failure(message)


class Tester:
    """A directory, the command, random numbers."""

    def __init__(self, tdma, cases, directory, seed):
        self.tdma, self.cases, self.directory = tdma, cases, directory
        self.rng = random.Random(seed)

    def path(self, name):
        return os.path.join(self.directory, name)

    def run(self, *words):
        return subprocess.run([self.tdma, *map(str, words)], text=True,
                              cwd=self.directory, check=False, timeout=60,
                              stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def good(self, *words):
        done = self.run(*words)
        check(done.returncode == 0, "%s: status %d: %s" % (
            " ".join(map(str, words)), done.returncode, done.stderr))
        return done.stdout

    def refused(self, status, message, *words):
        """The command says no, says why, and writes nothing."""
        if os.path.exists(self.path("out.npy")):
            os.remove(self.path("out.npy"))
        done = self.run(*words)
        line = done.stderr.split("\n")[0]
        check(done.returncode == status, "%s: status %d, not %d: %s" % (
            words, done.returncode, status, line))
        check(message in done.stderr, "%s: no '%s' in: %s" % (
            words, message, done.stderr))
        check(not [name for name in os.listdir(self.directory)
                   if name.startswith("out.npy")], "something was written")

    def array(self, most_dims=4, dims=None):
        """Random bytes of a random type, so NaNs with payloads, too."""
        dtype = numpy.dtype(self.rng.choice(TYPES))
        if dims is None:
            dims = self.rng.randint(0, most_dims)
        shape = [self.rng.choice((0, 1, 2, 3, 5, 7, 9)) if
                 self.rng.random() < .9 else 0 for _ in range(dims)]
        count = int(numpy.prod(shape, dtype=int)) * dtype.itemsize
        data = numpy.frombuffer(self.rng.randbytes(count), dtype=dtype)
        array = data.reshape(shape)
        return numpy.asfortranarray(array) if self.rng.random() < .3 else array

    def equal(self, array, *words):
        """copy with the words makes this of in.npy, bit by bit."""
        out = self.good("copy", "--quiet", "--fidelity",
                        self.rng.choice(FIDELITIES), "in.npy", "out.npy",
                        *words)
        check(out == "", "not quiet")
        got = numpy.load(self.path("out.npy"))
        check(got.shape == array.shape, "%s: shape %s, not %s" % (
            words, got.shape, array.shape))
        check(got.dtype == array.dtype, "%s: type %s, not %s" % (
            words, got.dtype, array.dtype))
        check(got.tobytes() == array.tobytes(), "%s: other bytes" % (words,))

    def save(self, array):
        numpy.save(self.path("in.npy"), array)


def commas(numbers):
    return ",".join(map(str, numbers))


def test_permute(t):
    """permutes are NumPy's"""
    for _ in range(ROUNDS):
        array = t.array(5)
        axes = t.rng.sample(range(array.ndim), array.ndim)
        t.save(array)
        if axes:
            t.equal(array.transpose(axes), "--transpose", commas(axes))
        t.equal(array.T, "--transpose", "all")


def random_slice(rng):
    part = [str(rng.randint(-9, 9)) if rng.random() < .6 else ""
            for _ in range(2)]
    if rng.random() < .6:
        part.append(str(rng.choice((-3, -2, -1, 1, 2, 3))))
    return ":".join(part)


def test_slice(t):
    """slices are Python's"""
    for _ in range(ROUNDS):
        array = t.array(4)
        words = [random_slice(t.rng) for _ in range(array.ndim)]
        if not words:
            continue
        index = tuple(slice(*[int(n) if n else None for n in word.split(":")])
                      for word in words)
        t.save(array)
        t.equal(array[index], "--slice=" + ",".join(words))


def test_pad(t):
    """padding is NumPy's, cropping undoes it"""
    for _ in range(ROUNDS):
        array = t.array(4)
        if not array.ndim or array.dtype.itemsize > 16:
            continue
        pairs = [(t.rng.randint(0, 4), t.rng.randint(0, 4))
                 for _ in range(array.ndim)]
        back = commas("%d:%d" % (-a, -b) for a, b in pairs)
        words = commas("%d:%d" % pair for pair in pairs)
        padded = numpy.zeros([n + a + b for n, (a, b) in
                              zip(array.shape, pairs)], array.dtype)
        padded[tuple(slice(a, a + n) for n, (a, b) in
                     zip(array.shape, pairs))] = array
        t.save(array)
        t.equal(padded, "--pad", words)
        t.equal(array, "--pad", words, "--pad=" + back)


def test_pad_value(t):
    """padding with a value"""
    for dtype, value in (("f4", "1.5"), ("f2", "-2"), ("f8", "1e300"),
                         ("i2", "-7"), ("u1", "255"), ("i8", "-1")):
        array = numpy.arange(6).reshape(2, 3).astype(dtype)
        t.save(array)
        t.equal(numpy.pad(array, 2, constant_values=numpy.dtype(dtype).type(
            float(value) if dtype[0] == "f" else int(value))),
                "--pad", "2", "--value=" + value)
    t.save(numpy.zeros((2, 2), "u1"))
    t.refused(2, "not a u8", "copy", "in.npy", "out.npy", "--pad", "1",
              "--value", "256")


def test_reshape(t):
    """reshapes are NumPy's, of any order in memory"""
    for _ in range(ROUNDS):
        array = numpy.frombuffer(t.rng.randbytes(720 * 4), "i4").reshape(
            t.rng.sample((2, 3, 4, 5, 6), 5))
        axes = t.rng.sample(range(5), 5)
        shape = t.rng.choice(((720,), (9, 80), (6, -1, 5), (16, 45), (8, 9, 10)))
        t.save(array)
        t.equal(array.transpose(axes).reshape(shape), "--transpose",
                commas(axes), "--reshape", commas(shape))


def test_broadcast(t):
    """broadcasting is NumPy's"""
    array = numpy.frombuffer(t.rng.randbytes(12), "u1").reshape(3, 1, 4)
    t.save(array)
    t.equal(numpy.broadcast_to(array, (2, 3, 5, 4)), "--broadcast", "2,3,5,4")


def im2col(array, kernel, stride, dilation, pad):
    padded = numpy.pad(array, ((0, 0), (pad[0],) * 2, (pad[1],) * 2, (0, 0)))
    windows = numpy.lib.stride_tricks.sliding_window_view(
        padded, [dilation[i] * (kernel[i] - 1) + 1 for i in range(2)], (1, 2))
    windows = windows[:, ::stride[0], ::stride[1], :, ::dilation[0],
                      ::dilation[1]]
    return windows.transpose(0, 1, 2, 4, 5, 3)


def test_im2col(t):
    """im2col is that of a sliding window"""
    for _ in range(ROUNDS):
        shape = [t.rng.randint(*r) for r in ((1, 2), (6, 9), (6, 9), (1, 3))]
        count = int(numpy.prod(shape))
        array = numpy.frombuffer(t.rng.randbytes(2 * count), "u2").reshape(
            shape)
        p = {name: (t.rng.randint(*r), t.rng.randint(*r)) for name, r in
             (("kernel", (1, 3)), ("stride", (1, 3)), ("dilation", (1, 2)),
              ("pad", (0, 2)))}
        t.save(array)
        t.equal(im2col(array, **p), "--im2col",
                commas("%s=%dx%d" % (k, *v) for k, v in p.items()))


def test_tile(t):
    """tiles are those of reshape and transpose, and come back"""
    for _ in range(ROUNDS):
        array = t.array(dims=2)
        if 0 in array.shape or array.dtype.itemsize > 16:
            continue
        rows, columns = array.shape
        a, b = t.rng.randint(2, 6), t.rng.randint(2, 6)
        padded = numpy.zeros((-(-rows // a) * a, -(-columns // b) * b),
                             array.dtype)
        padded[:rows, :columns] = array
        tiled = padded.reshape(-(-rows // a), a, -1, b).transpose(0, 2, 1, 3)
        t.save(array)
        t.equal(tiled, "--tile", "%d,%d" % (a, b))
        t.equal(numpy.ascontiguousarray(array), "--tile", "%d,%d" % (a, b),
                "--untile", "%d,%d:%d,%d" % (a, b, rows, columns))


def test_append(t):
    """concatenation is NumPy's"""
    one = numpy.arange(12, dtype="i2").reshape(3, 4)
    two = numpy.arange(20, dtype="i2").reshape(5, 4)
    numpy.save(t.path("more.npy"), two)
    t.save(one)
    t.equal(numpy.concatenate((one, two)), "--append", "0:more.npy")
    t.refused(2, "dimension 0", "copy", "in.npy", "out.npy", "--append",
              "1:more.npy")


def test_dtype(t):
    """formats change by name, bytes stay"""
    array = numpy.arange(24, dtype="f4").reshape(4, 6)
    t.save(array)
    t.equal(array.view("u2"), "--dtype", "u16")
    t.equal(array.view("f8"), "--dtype", "f64")
    t.refused(2, "no such format", "copy", "in.npy", "out.npy", "--dtype",
              "f5")


def test_usage(t):
    """what makes no sense is refused, with the place"""
    t.save(numpy.zeros((3, 4), "f4"))
    for message, words in (
            ("named twice", ("--transpose", "1,1")),
            ("no such dimension", ("--transpose", "0,2")),
            ("as many numbers", ("--transpose", "0")),
            ("not START:STOP:STEP", ("--slice", "::0")),
            ("leaves dimension 0", ("--slice", "3")),
            ("more slices", ("--slice", ":,:,:")),
            ("do not fill", ("--reshape", "5,-1")),
            ("not BEFORE:AFTER", ("--pad", "1:2:3")),
            ("leaves no tensor", ("--pad=-2",)),
            ("cannot become", ("--broadcast", "3,5")),
            ("no property", ("-D", "lane=4")),
            ("not within 1 to 8", ("-D", "lanes=9")),
            ("no number", ("--fidelity", "slow")),
            ("more than is possible", ("--max-elem", "65537"))):
        t.refused(2, message, "copy", "in.npy", "out.npy", *words)
    t.refused(4, "/dev/none", "copy", "in.npy", "out.npy", "-b", "/dev/none")
    t.refused(2, "no command", "move")
    t.refused(6, "missing/out.npy", "copy", "in.npy", "missing/out.npy")
    check("usage" in t.good("--help"), "no help")


def test_dry_run(t):
    """a dry run writes nothing"""
    t.save(numpy.zeros((3, 4), "f4"))
    out = t.good("copy", "in.npy", "none.npy", "--dry-run")
    check("nothing was moved" in out, out)
    check(not os.path.exists(t.path("none.npy")), "none.npy was written")


def header(text, version=(1, 0), length=None, data=b""):
    size = len(text) if length is None else length
    return (b"\x93NUMPY" + bytes(version) +
            struct.pack("<H" if version[0] == 1 else "<I", size) +
            text.encode() + data)


def dictionary(descr="'<f4'", order="False", shape="(2, 3)"):
    return "{'descr': %s, 'fortran_order': %s, 'shape': %s, }\n" % (
        descr, order, shape)


def test_npy(t):
    """malformed .npy: message with position, status 3, nothing written"""
    data = bytes(24)
    bad = (
        ("byte 0: not a .npy", b""), ("byte 0: not a .npy", b"\x93NUMPX" + data),
        ("byte 6: version 4.0", header(dictionary(), (4, 0))),
        ("byte 8: a header of 65535", header(dictionary(), length=65535)),
        ("byte 8: a header of 9000", header(dictionary(), length=9000)),
        ("byte 20: format", header(dictionary("'<f5'"), data=data)),
        ("byte 20: records", header(dictionary("[('a', '<f4')]"), data=data)),
        ("True or False", header(dictionary(order="false"), data=data)),
        ("beyond 63 bits", header(dictionary(
            shape="(99999999999999999999,)"), data=data)),
        ("64 bits can count", header(dictionary(
            shape="(8589934592, 8589934592)"), data=data)),
        ("24 bytes of data, the shape needs 28", header(dictionary(
            shape="(7,)"), data=data)),
        ("24 bytes of data, the shape needs 20", header(dictionary(
            shape="(5,)"), data=data)),
        ("a size expected", header(dictionary(shape="(-2, 3)"), data=data)),
        ("',' expected", header(dictionary(shape="(6)"), data=data)),
        ("more than 32 dimensions", header(dictionary(
            shape="(" + "1," * 33 + ")"), data=data)),
        ("'descr' a second time", header("{'descr': '<f4', 'descr': '<f4'}",
                                         data=data)),
        ("no entry 'shape'", header(
            "{'descr': '<f4', 'fortran_order': False}", data=data)),
        ("no entry 'size' is known", header("{'size': 1}", data=data)),
        ("more than a header", header(dictionary() + "x", data=data)))
    for message, content in bad:
        with open(t.path("in.npy"), "wb") as file:
            file.write(content)
        t.refused(3, message, "copy", "in.npy", "out.npy")
    for version in ((1, 0), (2, 0), (3, 0)):
        with open(t.path("in.npy"), "wb") as file:
            file.write(header(dictionary(order="True"), version,
                              data=bytes(range(24))))
        t.equal(numpy.load(t.path("in.npy")))


def mutate(rng, data):
    data = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(4)
        if kind == 0:
            del data[at:at + rng.randint(1, 9)]
        elif kind == 1:
            data[at:at] = rng.choice((b"\0", b"9" * 20, b"-", b",", b"(", b"'",
                                      b"\xff", b"\t", b"]", b"{"))
        elif at < len(data):
            data[at] = rng.randrange(256) if kind == 2 else data[at] ^ 1 << \
                rng.randrange(8)
    return bytes(data)


def fuzz(t, name, good, words, statuses, share=1):
    """Mutations of a file: a status that is documented, never a signal."""
    for _ in range(MUTATIONS // share):
        content = mutate(t.rng, good)
        with open(t.path(name), "wb") as file:
            file.write(content)
        done = subprocess.run([t.tdma, *words], cwd=t.directory, check=False,
                              stdout=subprocess.DEVNULL, timeout=60,
                              stderr=subprocess.PIPE)
        check(done.returncode in statuses, "status %d of %r: %s" % (
            done.returncode, content[:2000], done.stderr[-2000:]))
        check(done.returncode == 0 or done.stderr.startswith(b"tdma: ") or
              done.returncode == 1, "no message: %r" % content[:2000])


def test_fuzz_npy(t):
    """mutations of a .npy file"""
    t.save(numpy.zeros((2, 3), "f4"))
    with open(t.path("in.npy"), "rb") as file:
        good = file.read()
    fuzz(t, "in.npy", good, ("copy", "in.npy", "x.npy"), (0, 3))


JOB = {
    "buffers": {"a": {"bytes": 64, "fill": "random", "seed": 3,
                      "output": "a.bin"},
                "b": {"bytes": 64, "fill": 9, "output": "b.bin"}},
    "descriptors": [
        {"opcode": "copy", "elem_bytes": 2, "src": "a", "dst": "b",
         "src_offset": 4, "steps": [3, 2], "src_stride": [2, 8],
         "dst_stride": [4, 2]},
        {"opcode": "memset", "elem_bytes": 1, "dst": "b", "dst_offset": 32,
         "steps": [4], "dst_stride": [1], "fill": [1], "fence": True},
        {"opcode": "copy", "elem_bytes": 1, "src": "a", "dst": "b",
         "dst_offset": 40, "src_offset": -1, "steps": [4], "src_stride": [1],
         "dst_stride": [1], "fill": [77],
         "axes": [{"side": "src", "start": -1, "extent": 2, "coef": [1]}]}],
}


def test_job(t):
    """a JSON job does what its descriptors say"""
    for optimize in (False, True):
        with open(t.path("job.json"), "w", encoding="utf-8") as file:
            json.dump(dict(JOB, optimize=optimize), file)
        t.good("run", "job.json")
        with open(t.path("b.bin"), "rb") as file:
            b = file.read()
        numbers = t.good("run", "--json", "job.json")
        check(json.loads(numbers)["bytes"] == 20, numbers)
        with open(t.path("a.bin"), "rb") as file:
            a = file.read()
        expected = bytearray([9]) * 64
        for y in range(2):
            for x in range(3):
                at = 4 * x + 2 * y
                expected[at:at + 2] = a[4 + 2 * x + 8 * y:][:2]
        expected[32:36] = bytes([1] * 4)
        expected[40:44] = bytes([77]) + a[0:2] + bytes([77])
        check(b == expected, "%r" % b)


def test_bad_job(t):
    """malformed jobs: message with the place, nothing written"""
    good = json.dumps(JOB)
    for status, message, old, new in (
            (3, "job.json:1:", "}]}", "}]"),
            (3, "descriptors[0].steps[1]: a whole number", "[3, 2]",
             "[3, 2.5]"),
            (3, "descriptors[0].steps[0]: -3 is not within", "[3, 2]",
             "[-3, 2]"),
            (3, "descriptors[0]: as many strides", "[2, 8]", "[2]"),
            (3, "no member \"step\" is known", "\"steps\": [4]",
             "\"step\": [4]"),
            (3, "no buffer \"c\"", "\"src\": \"a\"", "\"src\": \"c\""),
            (3, "duplicate", "\"src_offset\": 4", "\"src\": \"a\""),
            (3, "no opcode", "memset", "memcpy"),
            (3, "buffers.a", "\"bytes\": 64, \"fill\": \"random\"",
             "\"fill\": \"random\""),
            (5, "src_stride", "[2, 8]", "[2, 80]"),
            (5, "descriptors[0].elem_bytes", "\"elem_bytes\": 2",
             "\"elem_bytes\": 0")):
        if os.path.exists(t.path("b.bin")):
            os.remove(t.path("b.bin"))
        with open(t.path("job.json"), "w", encoding="utf-8") as file:
            file.write(good.replace(old, new, 1))
        t.refused(status, message, "run", "job.json")
        check(not os.path.exists(t.path("b.bin")), "b.bin was written")


def test_fuzz_job(t):
    """mutations of a JSON job"""
    fuzz(t, "job.json", json.dumps(JOB).encode(), ("run", "job.json"),
         (0, 3, 5, 6))


def rows(t, *names):
    with open(t.cases, encoding="utf-8") as table:
        return [line for line in table
                if line.split("\t")[0] in names or line.startswith("name\t")]


def test_table(t):
    """malformed tables: message with line and column"""
    head, row = rows(t, "nchw2nhwc_f16_conv1_in")
    cells = row.split("\t")
    for message, column, text in (
            ("t.tsv:2: sizes: \"x\" is no number", 5, "1,x,224,3"),
            ("t.tsv:2: elem_bytes: 0 is not within", 4, "0"),
            ("t.tsv:2: src_strides: 3 numbers for 4 sizes", 6, "1,2,3"),
            ("more than 8 numbers", 5, "1,1,1,1,1,1,1,1,1"),
            ("more than 2^60 bytes", 5, "1,2000000000,2000000000,2"),
            ("23 columns, 24 expected", 22, None)):
        changed = list(cells)
        if text is None:
            del changed[column]
        else:
            changed[column] = text
        with open(t.path("t.tsv"), "w", encoding="utf-8") as file:
            file.write(head + "\t".join(changed))
        t.refused(3, message, "cases", "t.tsv")


def test_fuzz_table(t):
    """mutations of a table"""
    good = "".join(rows(t, "nchw2nhwc_f16_conv1_in", "cutlass_im2col_s1",
                        "aie_pad_61x56")).encode()
    fuzz(t, "t.tsv", good, ("cases", "t.tsv", "--bytes", "256"), (0, 1, 3), 4)


def test_cases(t):
    """every row of the table that a DMA engine can do, in both fidelities"""
    for fidelity in FIDELITIES:
        for words in ((), ("--as-is",)):
            done = t.run("cases", "--fidelity", fidelity, *words, "--bytes",
                         "16384", t.cases)
            last = done.stdout.strip().split("\n")[-1]
            check(done.returncode == 0, last)
            check(last == "1344 passed, 0 failed, 59 skipped", last)
            for line in done.stdout.split("\n"):
                check("# SKIP" not in line or
                      line.endswith("needs indirect streams") or
                      line.endswith("needs cross-lane unit"), line)


def address_of(desc, side, element):
    """Byte offset of an element, by the strides of its descriptor."""
    address = desc[side + "_offset"]
    for steps, stride in zip(desc["steps"], desc[side + "_stride"]):
        address += element % steps * stride
        element //= steps
    return address


def test_trace(t):
    """a trace holds every request once, and its columns fit together"""
    t.save(numpy.arange(80, dtype="u2").reshape(8, 10))
    t.good("trace", "-q", "-o", "trace.json", "-D",
           "latency-min=20,latency-max=300", "copy", "in.npy", "out.npy",
           "--transpose", "1,0", "--pad", "1")
    with open(t.path("trace.json"), encoding="utf-8") as file:
        trace = json.load(file)
    check(trace["format"] == "tensordma-trace" and trace["version"] == 1,
          "format")
    table = trace["requests"]
    columns = table["columns"]
    requests = [dict(zip(columns, row)) for row in table["rows"]]
    desc, = trace["descriptors"]
    check(desc["elements"] == 120 and desc["status"] == "OK", str(desc))
    check(len(desc["axes"]) == 2, str(desc["axes"]))
    for side, count in (("src", 80), ("dst", 120)):
        mine = [r for r in requests if r["side"] == side]
        check(len({r["element"] for r in mine}) == len(mine) == count, side)
        for r in mine:
            check(r["lane"] == r["element"] % 4, str(r))
            check(desc["start"] <= r["issue"] <= r["response"] <= desc["end"],
                  str(r))
            check(r["address"] == address_of(desc, side, r["element"]), str(r))
    check(trace["commits"]["rows"][-1][-1] == 120, "commits")
    check([m["name"] for m in trace["memory"]] == ["in.npy", "out.npy"],
          str(trace["memory"]))
    numbers = json.loads(t.good("explain", "--json", "copy", "in.npy",
                                "out.npy", "--transpose", "1,0", "--pad", "1"))
    check(numbers["elements"] == 120, str(numbers))


def test_explain(t):
    """what limits a move is found"""
    t.save(numpy.zeros((64, 64), "f4"))
    for limit, words in (("lanes", ()), ("ids", ("-D", "ids=16")),
                         ("backpressure", ("-D", "host-bandwidth=2")),
                         ("latency", ("-D", "latency-min=5000,latency-max=5000,"
                                      "ids=4096"))):
        numbers = json.loads(t.good("explain", "--json", *words, "copy",
                                    "in.npy", "out.npy", "--transpose", "1,0"))
        check(numbers["limit"] == limit, "%s: %s" % (limit, numbers))


def test_config(t):
    """properties from a file"""
    with open(t.path("machine.conf"), "w", encoding="utf-8") as file:
        file.write("# a small one\nlanes = 2\nids=8 # few\n")
    info = json.loads(t.good("info", "--json", "--config", "machine.conf"))
    check(info["lanes"] == 2 and info["request_ids"] == 8, str(info))
    with open(t.path("machine.conf"), "w", encoding="utf-8") as file:
        file.write("\nlanes 2\n")
    t.refused(3, "machine.conf:2: no \"=\"", "info", "--config",
              "machine.conf")


def test_progress(t):
    """a bar on a terminal, nothing elsewhere"""
    words = [t.tdma, "copy", "--fidelity", "cycle", "--max-elem", "4",
             "large.npy", "large-out.npy"]
    size, seconds = 2 ** 20, 0
    while seconds < 1:      # a bar comes after 0.2 s, and every 0.05 s
        size *= 2
        numpy.save(t.path("large.npy"), numpy.zeros(size, "u1"))
        start = time.monotonic()
        done = subprocess.run(words, cwd=t.directory, check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        seconds = time.monotonic() - start
        check(done.stderr == b"", "%r" % done.stderr)
    leader, follower = pty.openpty()
    subprocess.run(words, cwd=t.directory, check=True, stderr=follower,
                   stdout=subprocess.DEVNULL)
    os.close(follower)
    seen = b""
    try:
        while True:
            seen += os.read(leader, 65536)
    except OSError:
        pass
    os.close(leader)
    bars = [line for line in seen.split(b"\r") if line.startswith(b"moving")]
    check(len(set(bars)) > 2, "%d bars: %r" % (len(bars), seen[-200:]))


TESTS = (test_permute, test_slice, test_pad, test_pad_value, test_reshape,
         test_broadcast, test_im2col, test_tile, test_append, test_dtype,
         test_usage, test_dry_run, test_npy, test_fuzz_npy, test_job,
         test_bad_job, test_fuzz_job, test_table, test_fuzz_table, test_cases,
         test_trace, test_explain, test_config, test_progress)


def main(tdma, cases):
    seed = int(os.environ.get("TDMA_SEED", random.SystemRandom().getrandbits(
        32)))
    bad = 0
    print("TAP version 13\n1..%d\n# TDMA_SEED=%d" % (len(TESTS), seed))
    for number, test in enumerate(TESTS, 1):
        with tempfile.TemporaryDirectory() as directory:
            tester = Tester(tdma, cases, directory, seed)
            try:
                test(tester)
                verdict = "ok"
            except (Failure, subprocess.TimeoutExpired) as problem:
                print("# %s" % str(problem).replace("\n", "\n# "))
                verdict = "not ok"
                bad += 1
        print("%s %d tdma: %s" % (verdict, number, test.__doc__), flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(*map(os.path.abspath, sys.argv[1:])))
