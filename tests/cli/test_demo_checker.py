"""The demo's duplicate check must be able to find duplicates, or its 0 would mean nothing."""

import array
import random
import subprocess
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "examples" / "demo" / "count_duplicates.cpp"


class CountDuplicates(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.dir = Path(scratch.name)
        cls.program = cls.dir / "count_duplicates"
        subprocess.run(["c++", "-O1", "-std=c++20", str(SOURCE), "-o", str(cls.program)], check=True)

    def count(self, *runs):
        files = []
        for number, ids in enumerate(runs):
            files.append(self.dir / f"{number}.ids")
            files[-1].write_bytes(array.array("Q", ids).tobytes())
        done = subprocess.run([self.program, *files], capture_output=True, text=True, check=True)
        return tuple(map(int, done.stdout.split()))

    def test_disjoint_ids_have_no_duplicate(self):
        self.assertEqual(self.count([1, 4, 7], [2, 5], [3, 6, 8]), (8, 0))

    def test_a_duplicate_is_found_wherever_it_lies(self):
        top = 2**64 - 1
        self.assertEqual(self.count([1, 2, 2, 3]), (4, 1))  # in one file
        self.assertEqual(self.count([1, 5], [5, 9]), (4, 1))  # at an end and a begin
        self.assertEqual(self.count([1, 5, 9], [2, 5, 8], [3, 5]), (8, 2))  # in three files
        self.assertEqual(self.count([top], [0, top]), (3, 1))  # at the largest id
        self.assertEqual(self.count([0], [0]), (2, 1))  # at the smallest
        self.assertEqual(self.count([9, 1, 5], [5]), (4, 1))  # in a file that is not in order

    def test_empty_files_are_no_problem(self):
        self.assertEqual(self.count(), (0, 0))
        self.assertEqual(self.count([], [1], []), (1, 0))

    def test_random_ids_are_counted_as_a_set_counts_them(self):
        generator = random.Random(20261121)
        for _ in range(50):
            runs = [sorted(generator.choices(range(60), k=generator.randrange(30))) for _ in range(4)]
            ids = [i for run in runs for i in run]
            self.assertEqual(self.count(*runs), (len(ids), len(ids) - len(set(ids))))


if __name__ == "__main__":
    unittest.main()
