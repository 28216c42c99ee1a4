"""`witness`: a host remembers what it was granted, so that a restored store is noticed by who starts after that."""

import fcntl
import shutil
import sqlite3
import subprocess
import threading

from test_cli import OK, TOOL, TRY_AGAIN, Cli, environment


class Witness(Cli):
    """A SQLite store whose lock file is lost in the restore stands for any store that does not notice by itself."""

    STORE = ("--store", "sqlite:ids.db", "--tag", "orders")

    def setUp(self):
        super().setUp()
        (self.dir / "seen").mkdir()
        self.good("segment", "create", *self.STORE)

    def arguments(self, count, folder="seen", *more):
        return ("next", "--kind", "segment", *self.STORE, "-n", count, "--set", f"witness={folder}", *more)

    def draw(self, count, *more):
        return [int(id) for id in self.good(*self.arguments(count, "seen", *more)).lines]

    def ids_of(self, command, count):
        """Of so many of it side by side, which must all end well."""
        drawing = [
            subprocess.Popen(command, cwd=self.dir, stdout=subprocess.PIPE, text=True, env=environment())
            for _ in range(count)
        ]
        ids = []
        for process in drawing:
            out, _ = process.communicate(timeout=120)
            self.assertEqual(process.returncode, OK)
            ids += out.split()
        return ids

    def file(self):
        (found,) = (self.dir / "seen").iterdir()
        return found

    def restored(self):
        """Numbers up to 10 are in the store, and 20 more were drawn."""
        self.draw(10)
        shutil.copy(self.dir / "ids.db", self.dir / "backup")
        self.assertEqual(self.draw(20)[-1], 30)
        shutil.copy(self.dir / "backup", self.dir / "ids.db")
        (self.dir / "ids.db-lock").unlink()

    def test_a_restored_store_is_noticed_by_each_process_that_starts_until_the_tag_is_raised(self):
        self.restored()
        for more in ((), ("--set", "segment.step=1000"), ("--set", "segment.step=1000")):
            said = self.refused("STORE_REGRESSED", *self.arguments(1, "seen", *more))
            self.assertIn("the store granted 11, but this host has had numbers up to 30", said)
        self.assertIn("idgen segment advance", said)
        self.good("segment", "advance", *self.STORE, "--to", 30)
        self.assertGreater(self.draw(1)[0], 30)

    def test_it_is_noticed_also_if_the_store_does_not_answer_at_first(self):
        self.restored()
        other = sqlite3.connect(self.dir / "ids.db", check_same_thread=False)
        other.execute("BEGIN IMMEDIATE")
        threading.Timer(1, other.rollback).start()
        said = self.refused(
            "STORE_REGRESSED", *self.arguments(1, "seen", "--set", "store_timeout=100ms", "--set", "wait_max=20s")
        )
        self.assertIn("the store granted 11", said)

    def test_a_file_that_another_process_holds_is_waited_for_as_long_as_for_the_store(self):
        self.draw(5)
        with self.file().open() as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            said = self.refused(
                "STORE_UNAVAILABLE",
                *self.arguments(1, "seen", "--set", "store_timeout=200ms", "--set", "wait_max=0"),
                status=TRY_AGAIN,
            )
            self.assertIn("another process has held it all the time", said)
            self.assertIn(str(self.file().name), said)
            threading.Timer(0.5, fcntl.flock, (held, fcntl.LOCK_UN)).start()
            self.assertEqual(self.draw(1), [6])

    def test_processes_that_end_while_others_start_are_not_mistaken_for_a_restore(self):
        script = f"""for i in $(seq 40); do
            "$1" {" ".join(map(str, self.arguments(1, "seen", "--set", "segment.step=10")))} || exit 1
        done"""
        self.assertEqual(len(set(self.ids_of(["sh", "-c", script, "sh", TOOL], 6))), 240)

    def test_numbers_that_were_given_back_are_not_missed(self):
        for count in (3, 1, 25, 7, 1):
            self.draw(count, "--set", "segment.step=10", "--set", "segment.runway=0")
        self.assertEqual(self.draw(1), [38])
        self.assertTrue(self.file().read_text().splitlines()[1] == f"{1:020}-{38:020}", self.file().read_text())
        self.assertEqual(self.draw(3, "--set", "segment.stride=4", "--set", "segment.offset=1"), [41, 45, 49])
        self.assertGreater(self.draw(1)[0], 49)

    def test_processes_of_one_host_that_draw_side_by_side_are_not_mistaken_for_a_restore(self):
        command = [
            TOOL,
            *map(str, self.arguments(300, "seen", "--set", "segment.step=10", "--set", "segment.runway=0")),
        ]
        ids = self.ids_of(command, 4)
        self.assertEqual(len(set(ids)), 1200)
        self.assertGreater(self.draw(1)[0], max(map(int, ids)) - 40)

    def test_each_tag_has_its_own(self):
        self.draw(50)
        carts = ("--store", "sqlite:ids.db", "--tag", "carts")
        self.good("segment", "create", *carts)
        self.assertEqual(self.good("next", "--kind", "segment", *carts, "--set", "witness=seen").lines, ["1"])

    def test_it_is_refused_where_it_could_not_hold(self):
        buffer = ("--set", "buffer.redis=redis://127.0.0.1:1", "--set", "buffer.database=sqlite:ids.db")
        for store, more in (("buffer", buffer), ("memory", ()), ("memory:shop", ())):
            where = ("--kind", "segment", "--store", store, "--tag", "t", "--set", "witness=seen")
            said = self.refused("UNSUPPORTED", "next", *where, *more)
            self.assertIn("a store that lasts", said)

    def test_doctor_says_what_is_covered(self):
        (self.dir / "idgen.toml").write_text('[orders]\nkind = "segment"\nstore = "sqlite:ids.db"\nwitness = "seen"\n')
        out = self.good("doctor", "--config", "idgen.toml").out
        self.assertIn("noticed where it grants what this host has had, as 'seen' says", out)
        self.assertIn("not covered: what only other hosts have had", out)
