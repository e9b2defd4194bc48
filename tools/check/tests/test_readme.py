# SPDX-License-Identifier: GPL-2.0
"""Commands out of Markdown."""

import os
import unittest

import readme

TEXT = """\
# Title

```sh test
echo one
```

```text
one
```

```sh test
true
```
Words between.
```text
no output of it
```

```sh
not run
```
"""


class Blocks(unittest.TestCase):
    def test_tests(self):
        pairs = readme.tests(readme.blocks("x.md", TEXT))
        self.assertEqual([block.lines for block, _ in pairs],
                         [["echo one"], ["true"]])
        self.assertEqual([expected for _, expected in pairs], [["one"], None])

    def test_line_numbers(self):
        self.assertEqual(readme.blocks("x.md", TEXT)[0].number, 3)

    def test_no_end(self):
        with self.assertRaises(ValueError):
            readme.blocks("x.md", "```sh test\necho\n")


class Quotes(unittest.TestCase):
    def test_name(self):
        block = readme.Block("x.md", 1, "c file=a/b.c", ["int x;"])
        self.assertEqual(block.quoted(), "a/b.c")
        self.assertTrue(block.is_test())

    def test_whole_lines(self):
        self.assertTrue(readme.stands_in(["b", "c"], "a\nb\nc\nd\n"))
        self.assertFalse(readme.stands_in(["b", "d"], "a\nb\nc\nd\n"))
        self.assertFalse(readme.stands_in(["b"], "ab\nbc\n"))

    def test_dead_links(self):
        text = "[a](no/such.md) [b](https://x.org/y) [c](readme.py#z)"
        here = os.path.dirname(os.path.abspath(readme.__file__))
        self.assertEqual(readme.dead_links("x.md", text, here),
                         ["no/such.md"])


class Matching(unittest.TestCase):
    def test_exact(self):
        self.assertIsNone(readme.missing_line(["a", "b"], ["a", "b"]))
        self.assertEqual(readme.missing_line(["a", "c"], ["a", "b"]), "c")

    def test_order(self):
        self.assertEqual(readme.missing_line(["b", "a"], ["a", "b"]), "a")

    def test_dots(self):
        self.assertIsNone(readme.missing_line(
            ["took ... ms", "...", "end"], ["took 17 ms", "x", "y", "end"]))

    def test_no_part_of_a_line(self):
        self.assertEqual(readme.missing_line(["0 failed"], ["10 failed"]),
                         "0 failed")

    def test_space(self):
        self.assertIsNone(readme.missing_line(["a b"], ["  a   b"]))


class Running(unittest.TestCase):
    def check(self, script, expected=None):
        block = readme.Block("x.md", 1, "sh test", script.splitlines())
        return readme.verdict(block, expected, "/")

    def test_good(self):
        self.assertIsNone(self.check("echo a", ["a"]))

    def test_status(self):
        self.assertEqual(self.check("exit 3")[0], "status 3")

    def test_each_command_counts(self):
        self.assertEqual(self.check("false\ntrue")[0], "status 1")

    def test_output(self):
        self.assertIn("lacks", self.check("echo a", ["b"])[0])


if __name__ == "__main__":
    unittest.main()
