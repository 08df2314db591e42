#!/usr/bin/env python3
"""Tests of what the driver reads out of the suite's output, on output as the suite of 7.0.15 prints it."""

import os
import unittest

import suite_output

HERE = os.path.dirname(os.path.abspath(__file__))

FINISHED = """\
Starting test server at port 21079
[ready]: 1234
Testing unit/keyspace
[ok]: DEL against a single item (1 ms)
[ok]: a name (with brackets) (12 ms)
[skip]: left out by its name
[ignore]: large memory flag not provided
[err]: KEYS with pattern in tests/unit/keyspace.tcl
Expected 'a' to be equal to 'b' (context: type eval line 2 cmd {assert_equal} proc ::test)
[ok]: DBSIZE (0 ms)
[1/1 done]: unit/keyspace (3 seconds)

                   The End

Execution time of different units:
  3 seconds - unit/keyspace

!!! WARNING The following tests failed:

*** [err]: KEYS with pattern in tests/unit/keyspace.tcl
Expected 'a' to be equal to 'b'
"""

BROKEN_BLOCK = """\
[ok]: first (1 ms)
[err]: breaks the block in tests/unit/multi.tcl
unknown command
ERR unknown command
    while executing
[err]: t be parsed
ERR that cannot be parsed
    while executing
"r exec"
[ok]: of the next block (1 ms)
[1/1 done]: unit/multi (3 seconds)
"""

HUNG = """\
[ok]: first (1 ms)
[err]: fails and goes on in tests/unit/pubsub.tcl
Expected something else
[TIMEOUT]: clients state report follows.
sock55a0 => (IN PROGRESS) waits for ever

                   The End
"""

ENDED_BY_EXCEPTION = """\
[ok]: first (1 ms)
[err]: sends what it should not in tests/unit/other.tcl
I/O error reading reply
[exception]: Executing test client: I/O error reading reply.
I/O error reading reply
    while executing
[ok]: never counted (1 ms)
"""


class ParseTest(unittest.TestCase):
    def test_failures_listed_again_at_the_end_are_counted_twice(self):
        output = suite_output.parse(FINISHED)
        self.assertEqual(output.passed, ["DEL against a single item", "a name (with brackets)", "DBSIZE"])
        self.assertEqual([failure.name for failure in output.failures], ["KEYS with pattern"])
        self.assertIn("to be equal to 'b'", output.failures[0].message)

    def test_a_file_with_failures_alone_is_run_again(self):
        output = suite_output.parse(FINISHED)
        self.assertTrue(output.clean)
        self.assertEqual(output.guilty(), [])

    def test_a_block_that_breaks_hides_who_broke_it(self):
        output = suite_output.parse(BROKEN_BLOCK)
        self.assertFalse(output.clean)
        self.assertEqual(output.guilty(), ["breaks the block"])
        self.assertEqual([failure.name for failure in output.failures], ["breaks the block", ""])
        self.assertEqual(output.passed, ["first", "of the next block"])

    def test_another_than_the_hanging_test_is_left_out(self):
        output = suite_output.parse(HUNG)
        self.assertTrue(output.timed_out)
        self.assertFalse(output.clean)
        self.assertEqual(output.guilty(), ["waits for ever"])

    def test_an_exception_passes_for_a_complete_run(self):
        output = suite_output.parse(ENDED_BY_EXCEPTION)
        self.assertFalse(output.clean)
        self.assertEqual(output.passed, ["first"])
        self.assertEqual(output.guilty(), ["sends what it should not"])

    def test_a_run_that_was_killed_passes_for_a_complete_one(self):
        output = suite_output.parse("[ok]: first (1 ms)\n")
        self.assertFalse(output.clean)
        self.assertEqual(output.guilty(), [])


class LostTest(unittest.TestCase):
    def test_a_name_that_comes_twice_is_lost_once_unseen(self):
        self.assertEqual(suite_output.lost(["a", "twice", "b", "twice"], ["twice", "a", "extra"]), ["twice", "b"])
        self.assertEqual(suite_output.lost(["a"], ["a", "a"]), [])


class CannotPassTest(unittest.TestCase):
    def test_bars_in_names_are_taken_for_the_reason(self):
        text = "# why\n[three]\nSCAN MATCH a | b | no reason is long\n\n[one]\nother | reason\n"
        self.assertEqual(suite_output.read_cannot_pass(text),
                         {"three": {"SCAN MATCH a | b": "no reason is long"}, "one": {"other": "reason"}})

    def test_a_test_without_reason_or_named_twice_is_taken(self):
        for text in ("[three]\nname\n", "name | reason\n", "[three]\nname | \n", "[three]\na | b\na | c\n",
                     "[three]\na | b\n[three]\n"):
            with self.assertRaises(ValueError, msg=text):
                suite_output.read_cannot_pass(text)

    def test_the_list_itself_is_broken(self):
        with open(os.path.join(HERE, "cannot-pass.txt"), encoding="utf-8") as lines:
            sections = suite_output.read_cannot_pass(lines.read())
        self.assertLessEqual(set(sections), {"one", "three"})


if __name__ == "__main__":
    unittest.main()
