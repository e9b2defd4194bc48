# SPDX-License-Identifier: GPL-2.0
"""The command with files that are no traces, and places it cannot write to."""

import copy
import json
import os
import subprocess
import sys
import tempfile
import unittest

from tests import random_trace

REPORT = os.path.join(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))), "report.py")


def changed(path, value):
    """A trace in which the member at @path has another value."""
    document = copy.deepcopy(random_trace.document(7))
    place = document
    for key in path[:-1]:
        place = place[key]
    if value is KeyError:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return json.dumps(document)


# What is in the file, and what the message has to say
MALFORMED = (
    ("", "line 1, column 1"),
    ("{\n  \"format\": }", "line 2, column 13"),
    ("[" * 100000, "recursion"),
    ("{\"format\": NaN}", "NaN is no JSON"),
    ("[]", "top level"),
    ("{}", "'format' is a required property"),
    (changed(["format"], "another"), "format: "),
    (changed(["version"], 2), "version: "),
    (changed(["machine", "lanes"], 0), "machine.lanes: "),
    (changed(["machine", "lanes"], 2 ** 40), "machine.lanes: "),
    (changed(["machine", "fidelity"], "no"), "machine.fidelity: "),
    (changed(["descriptors"], []), "descriptors: "),
    (changed(["descriptors", 1, "end"], -1), "descriptors[1].end: "),
    (changed(["descriptors", 1, "start"], "9" * 19), "descriptors[1].end: "),
    (changed(["descriptors", 2, "elements"], "1e5"),
     "descriptors[2].elements: "),
    (changed(["descriptors", 0, "status"], KeyError), "descriptors[0]: "),
    (changed(["requests", "columns", 2], "way"), "requests.columns: lane"),
    (changed(["requests", "rows", 3], [1, 2]), "requests.rows[3]: 2 values"),
    (changed(["requests", "rows", 3], 5), "requests.rows[3]: no list"),
    (changed(["requests", "rows", 4, 1], "up"), "requests.rows[4].side: 'up'"),
    (changed(["requests", "rows", 4, 1], ["src"]), "requests.rows[4].side"),
    (changed(["requests", "rows", 5, 2], 99), "requests.rows[5].lane: 99"),
    (changed(["requests", "rows", 5, 2], True), "requests.rows[5].lane: True"),
    (changed(["requests", "rows", 6, 0], 3), "requests.rows[6].descriptor: 3"),
    (changed(["requests", "rows", 6, 7], -4), "requests.rows[6].issue: -4"),
    (changed(["requests", "rows", 6, 7], 1.5), "requests.rows[6].issue: 1.5"),
    (changed(["requests", "rows", 6, 8], 0), "requests.rows[6].response: bef"),
    (changed(["requests", "rows", 6, 8], "x" * 9999),
     "requests.rows[6].response: 'xxx"),
    (changed(["stalls", "rows", 0, 2], "weather"), "stalls.rows[0].cause: "),
    (changed(["stalls", "rows"], 7), "stalls.rows: "),
    (changed(["memory", 0, "bytes"], -1), "memory[0].bytes: "),
)


class Command(unittest.TestCase):
    """report.py as people call it."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name

    def write(self, name, content):
        """A file of the directory."""
        with open(os.path.join(self.directory, name), "wb") as output:
            output.write(content if isinstance(content, bytes)
                         else content.encode())

    def run_report(self, *words):
        """The finished process."""
        return subprocess.run([sys.executable, REPORT, *words], text=True,
                              cwd=self.directory, check=False, timeout=60,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def refused(self, status, message, *words):
        """It says no in one line, and leaves nothing behind."""
        before = sorted(os.listdir(self.directory))
        done = self.run_report(*words)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIn(message, done.stderr)
        if status != 2:
            self.assertEqual(done.stderr.count("\n"), 1)
            self.assertLess(len(done.stderr), 400)
        self.assertEqual(sorted(os.listdir(self.directory)), before)

    def test_malformed(self):
        """Where it is wrong, and in what."""
        for text, message in MALFORMED:
            with self.subTest(message):
                self.write("t.json", text)
                self.refused(3, message, "t.json")
                self.refused(3, "t.json: ", "t.json", "--perfetto", "p.json")

    def test_second_one_malformed(self):
        """Nothing is written if one of two is bad."""
        self.write("good.json", json.dumps(random_trace.document(1)))
        self.write("bad.json", b"\xff\xfe{}")
        self.refused(3, "bad.json: byte 0 is not UTF-8", "good.json",
                     "bad.json")

    def test_usage(self):
        """Wrong words."""
        self.refused(2, "required: TRACE")
        self.refused(2, "two traces at most", "a", "b", "c")
        self.refused(3, "absent.json: No such file", "absent.json")

    def test_output(self):
        """A report that cannot be written."""
        self.write("good.json", json.dumps(random_trace.document(1)))
        self.refused(6, "No such file", "good.json", "-o", "no/where.html")
        os.mkdir(os.path.join(self.directory, "here"))
        self.refused(6, "here", "good.json", "-o", "here")

    def test_what_is_written(self):
        """Both files; only what was asked for."""
        self.write("good.json", json.dumps(random_trace.document(1)))
        self.assertEqual(self.run_report("good.json", "--perfetto",
                                         "p.json").returncode, 0)
        self.assertEqual(sorted(os.listdir(self.directory)),
                         ["good.json", "p.json"])
        self.assertEqual(self.run_report("good.json").returncode, 0)
        self.assertIn("report.html", os.listdir(self.directory))

    def test_help(self):
        """--help shows examples and the meaning of the status."""
        done = self.run_report("--help")
        self.assertEqual(done.returncode, 0)
        self.assertIn("examples:", done.stdout)
        self.assertIn("status: 0; 2 wrong use", done.stdout)
