# SPDX-License-Identifier: GPL-2.0
"""Status of the requirements against the tests there are."""

import os
import tempfile
import unittest

import status


class Status(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.top = directory.name
        os.makedirs(os.path.join(self.top, "selftests"))
        path = os.path.join(self.top, "selftests", "tdma_x.c")
        with open(path, "w", encoding="utf-8") as text:
            text.write("TEST_F(x, moves)\n")

    def test_rows(self):
        text = "| ID | subject | state | by |\n| A1 | x | open | |\nwords"
        self.assertEqual(list(status.rows(text)), [("A1", "open", "")])

    def test_there(self):
        self.assertIsNone(status.problem("done", "`tdma_x: moves`", self.top))

    def test_python(self):
        os.makedirs(os.path.join(self.top, "tools/report/tests"))
        with open(os.path.join(self.top, "tools/report/tests/test_a.py"), "w",
                  encoding="utf-8") as text:
            text.write("    def test_zoom(self):\n")
        self.assertIsNone(status.problem("done", "`report: test_zoom`",
                                         self.top))
        self.assertIn("no test", status.problem("done", "`report: test_zoo`",
                                                self.top))
        self.assertIn("no test", status.problem("done", "`command: test_zoom`",
                                                self.top))

    def test_no_such_test(self):
        self.assertIn("no test", status.problem("done", "`tdma_x: move`",
                                                self.top))

    def test_no_such_program(self):
        self.assertIn("no program", status.problem("partly", "`tdma_y: a`",
                                                   self.top))

    def test_nothing_named(self):
        self.assertIn("names no test", status.problem("done", "sure", self.top))

    def test_unknown_state(self):
        self.assertIn("no such state", status.problem("nearly", "", self.top))


if __name__ == "__main__":
    unittest.main()
