#!/usr/bin/python3
"""The page's words must name each cell once, and a run that shows something else than the page is a difference."""
import json
import unittest

import judge
import page
from main import differences

SAFE = {"overlap_ms": 0, "stuck_s": 0, "stuck_open": False, "lost": 0, "stale": 0}


class Page(unittest.TestCase):
    def test_words_of_the_page_are_complete(self):
        self.assertEqual(page.unexplained(page.read("page.md")), [])

    def test_missing_strange_and_doubled_cells_are_reported(self):
        words = page.read("page.md").replace("{{zklock kill}}", "{{zklock krill}} {{zklock cut}}")
        self.assertEqual(sorted(page.unexplained(words)), [
            "explained twice: zklock cut", "not explained: zklock kill", "there is no cell zklock krill"])

    def test_two_holders_with_zklock_only_where_its_contract_says_so(self):
        """A frozen process is told when it goes on; a write of its own is refused then."""
        for fault, figures in json.loads(page.read("results.json"))["zklock"].items():
            self.assertEqual(figures.get("lost", 0), 0, fault)
            if fault not in ("freeze", "pause", "none"):
                self.assertNotIn("two holders", judge.kinds(figures) if "overlap_ms" in figures else [], fault)

    def test_another_kind_is_a_difference_and_another_figure_is_not(self):
        stored = {"zklock": {"kill": dict(SAFE, stuck_s=3.1)}}
        self.assertEqual(differences(stored, {"zklock": {"kill": dict(SAFE, stuck_s=2.8)}}), [])
        self.assertEqual(len(differences(stored, {"zklock": {"kill": SAFE}})), 1)

    def test_a_server_that_is_missing_is_a_difference(self):
        self.assertEqual(len(differences({"zklock": {"kill": SAFE}}, {"zklock": {"kill": {"note": "not run"}}})), 1)


if __name__ == "__main__":
    unittest.main()
