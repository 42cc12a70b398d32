#!/usr/bin/python3
"""The judge finds what was planted, and nothing where nothing is."""
import unittest

import judge
import measure

S = 10**9


def figures(*entries, value=0, end_s=10):
    return judge.judge([(int(when * S), who, event, detail[0] if detail else "")
                        for when, who, event, *detail in entries], value, end_s * S)


class Judge(unittest.TestCase):
    def test_one_after_the_other_is_safe(self):
        found = figures((0, "A", "ask"), (0, "A", "granted"), (0.5, "B", "ask"), (1, "A", "wrote"), (1, "A", "leave"),
                        (1.1, "B", "granted"), (2, "B", "wrote"), (2, "B", "leave"), value=2)
        self.assertEqual(judge.kinds(found), ["safe"])

    def test_two_inside_are_counted_to_the_millisecond(self):
        found = figures((0, "A", "granted"), (1, "B", "granted"), (1.25, "A", "leave"), (2, "B", "leave"))
        self.assertEqual(found["overlap_ms"], 250)
        self.assertEqual(judge.words(found), "two holders for 250 ms")

    def test_a_frozen_holder_does_nothing_until_it_goes_on(self):
        found = figures((0, "A", "granted"), (1, "A", "stop"), (2, "B", "granted"), (5, "A", "cont"), (5.002, "A", "told"),
                        (6, "B", "leave"))
        self.assertEqual(found["overlap_ms"], 2)

    def test_a_dead_holder_is_none(self):
        found = figures((0, "A", "granted"), (1, "A", "killed"), (2, "B", "granted"), (3, "B", "leave"))
        self.assertEqual(judge.kinds(found), ["safe"])

    def test_waiting_for_nobody_is_stuck(self):
        found = figures((0, "A", "granted"), (0, "B", "ask"), (1, "A", "killed"), (4.5, "B", "granted"),
                        (5, "B", "leave"))
        self.assertEqual(judge.words(found), "stuck for 3.5 s")

    def test_waiting_for_a_frozen_holder_is_stuck(self):
        found = figures((0, "A", "granted"), (0, "B", "ask"), (1, "A", "stop"), (4, "A", "cont"), (5, "A", "leave"),
                        (5.1, "B", "granted"), (6, "B", "leave"))
        self.assertEqual(found["stuck_s"], 3)

    def test_without_an_end_it_is_more_than_that(self):
        found = figures((0, "A", "granted"), (0, "B", "ask"), (1, "A", "killed"))
        self.assertEqual(judge.words(found), "stuck for more than 9.0 s")

    def test_waiting_for_a_holder_at_work_is_not(self):
        found = figures((0, "A", "granted"), (0, "B", "ask"), (9, "A", "leave"), (9.1, "B", "granted"), (9.9, "B", "leave"))
        self.assertEqual(judge.kinds(found), ["safe"])

    def test_written_and_not_there_is_lost(self):
        found = figures((1, "A", "wrote"), (2, "B", "wrote"), value=1)
        self.assertEqual(judge.words(found), "loses 1 update")

    def test_refused_writes_are_told(self):
        self.assertEqual(judge.words(figures((1, "A", "stale"), (2, "B", "wrote"), value=1)), "refused by token")

    def test_who_asked_first_is_passed_over(self):
        events = [(1, "A", "ask", ""), (2, "B", "ask", ""), (3, "B", "granted", ""), (4, "A", "granted", "")]
        self.assertEqual(measure.passed_over(events), 1)


if __name__ == "__main__":
    unittest.main()
