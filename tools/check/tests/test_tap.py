# SPDX-License-Identifier: GPL-2.0
"""The TAP parser must not let an incomplete account pass."""

import unittest

import tap
from results import FAILED, PASSED, SKIPPED


def statuses(text):
    return [result.status for result in tap.parse(text.splitlines())]


def names(text):
    return [result.name for result in tap.parse(text.splitlines())]


GOOD = """\
TAP version 13
1..3
ok 1 first
ok 2 - second
ok 3 third # SKIP no device
"""

KSELFTEST = """\
TAP version 13
1..2
# timeout set to 45
# selftests: tensordma: tdma_copy
# TAP version 13
# 1..2
# # Starting 2 tests from 1 test cases.
# #  RUN           global.a ...
# #            OK  global.a
# ok 1 global.a
# # tdma_copy.c:12:b:Expected 1 (1) == 0 (0)
# not ok 2 global.b
# # FAILED: 1 / 2 tests passed.
not ok 1 selftests: tensordma: tdma_copy # exit=1
# timeout set to 45
# selftests: tensordma: tdma_uapi
# TAP version 13
# 1..1
# ok 1 global.c
ok 2 selftests: tensordma: tdma_uapi
"""


class Flat(unittest.TestCase):
    def test_good(self):
        self.assertEqual(statuses(GOOD), [PASSED, PASSED, SKIPPED])
        self.assertEqual(names(GOOD), ["first", "second", "third"])

    def test_failure(self):
        self.assertEqual(statuses("1..1\nnot ok 1 a\n"), [FAILED])

    def test_nothing(self):
        self.assertEqual(statuses(""), [FAILED])
        self.assertEqual(statuses("Segmentation fault\n"), [FAILED])

    def test_only_a_version(self):
        self.assertEqual(statuses("TAP version 13\n"), [FAILED])

    def test_missing_plan(self):
        self.assertEqual(statuses("TAP version 13\nok 1 a\n"), [PASSED, FAILED])

    def test_plan_at_the_end(self):
        self.assertEqual(statuses("ok 1 a\nok 2 b\n1..2\n"), [PASSED, PASSED])

    def test_too_few(self):
        self.assertEqual(statuses("1..3\nok 1 a\nok 2 b\n"),
                         [PASSED, PASSED, FAILED])

    def test_too_many(self):
        self.assertIn(FAILED, statuses("1..1\nok 1 a\nok 2 b\n"))

    def test_gap(self):
        self.assertIn(FAILED, statuses("1..3\nok 1 a\nok 3 c\n"))

    def test_twice(self):
        self.assertIn(FAILED, statuses("1..2\nok 1 a\nok 1 a\n"))

    def test_bail_out(self):
        self.assertIn(FAILED, statuses("1..2\nok 1 a\nBail out! no device\n"))

    def test_empty_plan_is_a_skip(self):
        result, = tap.parse(["1..0 # SKIP no device"])
        self.assertEqual((result.status, result.reason),
                         (SKIPPED, "no device"))

    def test_not_ok_skip_is_no_skip(self):
        self.assertEqual(statuses("1..1\nnot ok 1 a # SKIP why\n"), [FAILED])

    def test_second_document_cut_off(self):
        text = GOOD + "TAP version 13\n1..2\nok 1 a\n"
        self.assertEqual(statuses(text)[-2:], [PASSED, FAILED])

    def test_first_document_cut_off(self):
        text = "TAP version 13\n1..2\nok 1 a\n" + GOOD
        self.assertEqual(statuses(text).count(FAILED), 1)

    def test_last_words_are_kept(self):
        result, = tap.parse(["1..1", "# expected 1", "# got 2", "not ok 1 a"])
        self.assertEqual(result.detail, ["# expected 1", "# got 2"])


class Nested(unittest.TestCase):
    def test_kselftest(self):
        self.assertEqual(names(KSELFTEST), ["tdma_copy: global.a",
                                            "tdma_copy: global.b",
                                            "tdma_uapi: global.c"])
        self.assertEqual(statuses(KSELFTEST), [PASSED, FAILED, PASSED])

    def test_inner_cut_off(self):
        text = KSELFTEST.replace("# not ok 2 global.b\n", "")
        self.assertEqual(statuses(text).count(FAILED), 1)

    def test_inner_crash_without_a_result(self):
        text = ("TAP version 13\n1..1\n# TAP version 13\n# 1..2\n# ok 1 a\n"
                "# Segmentation fault\nnot ok 1 selftests: x: y # exit=139\n")
        self.assertIn(FAILED, statuses(text))

    def test_outer_failure_alone(self):
        text = ("TAP version 13\n1..1\n# TAP version 13\n# 1..1\n# ok 1 a\n"
                "not ok 1 selftests: x: y # TIMEOUT 45 seconds\n")
        results = tap.parse(text.splitlines())
        self.assertEqual([r.status for r in results], [PASSED, FAILED])
        self.assertIn("timeout", results[1].reason)

    def test_outer_ok_over_inner_failure(self):
        text = ("TAP version 13\n1..1\n# TAP version 13\n# 1..1\n# not ok 1 a\n"
                "ok 1 selftests: x: y\n")
        self.assertEqual(statuses(text), [FAILED, FAILED])

    def test_program_without_tap(self):
        text = "TAP version 13\n1..1\n# hello\nok 1 selftests: x: y.sh\n"
        self.assertEqual(names(text), ["y.sh"])

    def test_guest_died_between_programs(self):
        text = KSELFTEST[:KSELFTEST.index("# selftests: tensordma: tdma_uapi")]
        self.assertIn(FAILED, statuses(text)[2:])


if __name__ == "__main__":
    unittest.main()
