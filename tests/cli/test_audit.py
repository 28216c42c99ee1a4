"""`idgen audit`: it finds every id that was issued twice, and names the cause that was planted."""

import array
import csv
import hashlib
import io
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest
import xml.etree.ElementTree as xml
from collections import Counter
from pathlib import Path
from typing import Any

import broken_generators as broken
from broken_generators import Row
from patience import patience
from test_cli import FAILURE, OK, ROOT, TOOL, USAGE, Cli, Result

DUPLICATES = 3  # the exit status: some were found

MIB = 1 << 20


def lines(rows: list[Row]) -> str:
    return "".join(f"{row.id}\n" for row in rows)


def table(rows: list[Row]) -> str:
    """As an export of a table with more columns, among them one that is different in every row."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["created", "order_id", "host", "note"])
    for i, row in enumerate(rows):
        note = hashlib.md5(str(i).encode(), usedforsecurity=False).hexdigest()
        writer.writerow([row.unix_ms, row.id, row.process, f'"{note}",\nsecond line' if i % 100 == 0 else note])
    return out.getvalue()


def packed(ids: list[int], order: str = "little") -> bytes:
    return b"".join(id.to_bytes(8, order) for id in ids)  # type: ignore[arg-type]


class Audit(Cli):
    def write(self, name: str, content: str | bytes) -> str:
        data = content.encode() if isinstance(content, str) else content
        (self.dir / name).write_bytes(data)
        return name

    def audit(self, *arguments: object, status: int = OK, stdin: str = "") -> list[dict[str, Any]]:
        result: Result = self.run_tool("audit", *arguments, "--json", stdin=stdin)
        self.assertEqual(result.status, status, result.err)
        return [json.loads(line) for line in result.lines]

    def summary(self, *arguments: object, status: int = OK, stdin: str = "") -> dict[str, Any]:
        return self.audit(*arguments, status=status, stdin=stdin)[0]

    def findings(self, *arguments: object) -> list[dict[str, Any]]:
        return [r for r in self.audit(*arguments, status=DUPLICATES) if r["record"] == "duplicates"]


class Causes(Audit):
    """Dumps of each broken generator: all duplicates are found, and the cause is named."""

    def check(self, cause: str, rows: list[Row], *layout: str) -> None:
        found = self.findings(self.write("dump.txt", lines(rows)), *layout)
        copies = Counter(row.id for row in rows)
        self.assertEqual({r["likely"] for r in found}, {cause}, found)
        self.assertEqual(sum(r["ids"] for r in found), sum(count > 1 for count in copies.values()))

    def check_all(self, *causes: str, layout: tuple[str, ...] = ()) -> None:
        for cause in causes:
            for seed in range(5):
                with self.subTest(cause, seed=seed):
                    self.check(cause, broken.CAUSES[cause](random.Random(seed)), *layout)

    def test_two_owners_of_a_worker_and_a_clock_that_was_set_back_are_named(self) -> None:
        self.check_all("same-worker", "clock-back", layout=("--layout", "default"))

    def test_forks_and_rows_that_were_exported_twice_are_named(self) -> None:
        self.check_all("fork", "dumped-twice", layout=("--layout", "default"))

    def test_a_store_that_was_restored_and_two_stores_are_named(self) -> None:
        self.check_all("store-restored", "two-stores")

    def test_causes_are_named_also_in_their_less_common_forms(self) -> None:
        rng = random.Random(9)
        self.check("clock-back", broken.clock_back(rng, back_ms=200), "--layout", "default")
        self.check("store-restored", broken.store_restored(rng, processes=1))
        for seed in range(5):
            self.check("fork", broken.forked_segment(random.Random(seed)))

    def test_several_faults_in_one_dump_are_told_apart(self) -> None:
        rng = random.Random(3)
        rows = broken.clock_back(rng) + [
            Row(row.id + (100_000 << 22), row.process, row.unix_ms) for row in broken.forked(rng)
        ]
        name = self.write("dump.txt", lines(rows))
        causes = {r["likely"]: r["worker"] for r in self.findings(name, "--layout", "default")}
        self.assertEqual(causes, {"clock-back": "worker 2", "fork": "worker 1"})

    def test_a_healthy_dump_has_no_duplicates_and_the_status_says_so(self) -> None:
        name = self.write("dump.txt", lines(broken.healthy(random.Random(1))))
        records = self.audit(name, "--layout", "default")
        self.assertEqual([records[0]["duplicated"], records[0]["steps_back"], records[0]["workers"]], [0, 0, 4])
        self.assertEqual([r for r in records if r["record"] == "duplicates"], [])
        self.assertIn("No id was issued twice.", self.good("audit", name, "--layout", "default").out)

    def test_a_sorted_dump_has_lost_the_order_and_several_causes_are_possible(self) -> None:
        rows = sorted(broken.clock_back(random.Random(1)), key=lambda row: row.id)
        (found,) = self.findings(self.write("dump.txt", lines(rows)), "--layout", "default")
        self.assertEqual(found["likely"], "")
        self.assertIn("clock-back", found["possible"].split())
        self.assertIn("sorted by id", found["evidence"])

    def test_an_earlier_dump_and_a_later_one_with_a_clock_that_was_set_back_between_them(self) -> None:
        rows = broken.clock_back(random.Random(1))
        half = next(i for i, row in enumerate(rows) if row.unix_ms >= broken.START + 30_000)
        names = [self.write("one.txt", lines(rows[:half])), self.write("two.txt", lines(rows[half:]))]
        (found,) = self.findings(*names, "--layout", "default")
        self.assertEqual(found["possible"].split()[0], "clock-back")
        self.assertRegex(found["places"], r"^row [\d ]+ of one.txt; row [\d ]+ of two.txt$")

    def test_a_dump_of_each_of_two_processes_with_one_worker_number(self) -> None:
        rows = broken.same_worker(random.Random(1))
        names = [
            self.write(f"{process}.txt", lines([row for row in rows if row.process == process]))
            for process in ("app-3", "app-4")
        ]
        (found,) = self.findings(*names, "--layout", "default")
        self.assertEqual(found["likely"], "same-worker")


class OtherColumns(Audit):
    def test_rows_that_are_the_same_in_all_columns_were_exported_twice(self) -> None:
        text = table(broken.healthy(random.Random(1), seconds=4)).splitlines(keepends=True)
        single = [line for line in text if "second line" not in line and '"' not in line]
        name = self.write("dump.csv", "".join(single[:2000] + single[1000:]))
        (found,) = self.findings(name, "--layout", "default", "--column", "order_id")
        self.assertEqual(found["likely"], "dumped-twice")
        self.assertIn("the same in all columns", found["evidence"])

    def test_rows_that_differ_in_another_column_were_issued_twice_and_the_process_is_named(self) -> None:
        name = self.write("dump.csv", table(broken.same_worker(random.Random(1))))
        (found,) = self.findings(
            name, *("--layout", "default", "--column", "order_id", "--process", "host", "--time", "created")
        )
        self.assertEqual(found["likely"], "same-worker")
        self.assertIn("app-3, app-4", found["evidence"])
        self.assertIn("the copies differ in other columns", found["evidence"])
        self.assertIn(f"rows are of {str(broken.START)[:6]}", found["evidence"])

    def test_a_sorted_dump_with_processes_tells_two_of_them_apart(self) -> None:
        rows = sorted(broken.same_worker(random.Random(1)), key=lambda row: row.id)
        name = self.write("dump.csv", table(rows))
        (found,) = self.findings(name, "--layout", "default", "--column", "2", "--process", "3")
        self.assertEqual(found["likely"], "same-worker")


class Formats(Audit):
    IDS = (1 << 62, 7, 9, 7, 2**53, 12, 300)

    def check(self, *arguments: object, stdin: str = "") -> None:
        records = self.audit(*arguments, status=DUPLICATES, stdin=stdin)
        self.assertEqual([records[0]["ids"], records[0]["duplicated"]], [len(self.IDS), 1], arguments)
        self.assertEqual([r["example"] for r in records if r["record"] == "duplicates"], ["7"])

    def test_standard_input_is_read_once_and_looked_at_twice(self) -> None:
        self.check("-", stdin="".join(f"{id}\n" for id in self.IDS))

    def test_binary_of_either_byte_order(self) -> None:
        self.check(self.write("ids.bin", packed(list(self.IDS))))
        self.check(self.write("ids.big", packed(list(self.IDS), "big")), "--format", "binary", "--big-endian")
        self.check(self.write("unnamed", packed(list(self.IDS))), "--format", "binary")

    def test_rows_that_cannot_be_read_are_shown_and_leave_the_audit_without_an_answer(self) -> None:
        name = self.write("ids.txt", "\n".join([*map(str, range(1000, 2000)), "abc", "5 6"]))
        result = self.run_tool("audit", name)
        self.assertEqual(result.status, FAILURE)
        self.assertIn("2 rows without a readable id:\n", result.out)
        self.assertIn("No id that could be read was issued twice.", result.out)
        self.assertIn("the ids of 2 rows could not be read, so it is not known whether one came twice", result.err)
        for row, text in (("1 001", "abc"), ("1 002", "5 6")):
            self.assertIn(f"\n  ids.txt, row {row}: '{text}' ", result.out)
        records = self.audit(name, status=FAILURE)
        self.assertEqual([records[0]["ids"], records[0]["broken_rows"]], [1000, 2])
        self.assertEqual(self.audit(self.write("b.txt", "5\nabc\n5\n"), status=DUPLICATES)[0]["broken_rows"], 1)

    def test_rows_without_an_id_are_counted_and_clean(self) -> None:
        records = self.audit(self.write("a.csv", "id,x\n1,a\n,b\nNULL,c\n\\N,d\n2,e\n"))
        self.assertEqual([records[0][n] for n in ("ids", "broken_rows", "empty_rows")], [2, 0, 3])

    def test_a_file_of_binary_ids_that_is_cut_off_has_no_answer(self) -> None:
        self.assertEqual(self.summary(self.write("a.bin", packed([1, 2, 3])[:-3]), status=FAILURE)["broken_rows"], 1)

    def test_ids_of_another_layout_are_broken_rows(self) -> None:
        records = self.audit(self.write("ids.txt", f"{1 << 63}\n5\n"), "--layout", "default", status=FAILURE)
        self.assertEqual([records[0]["ids"], records[0]["broken_rows"]], [1, 1])
        self.assertIn("outside the layout", records[2]["why"])
        ids = [5 << 60 | 1 << 40, 5 << 60 | 2 << 40, 4 << 60 | 3 << 40, 7]
        for name in (self.write("ids.txt", "\n".join(map(str, ids))), self.write("ids.bin", packed(ids))):
            layout = ("--layout", "fixed:3=5 time:41ms worker:7 sequence:12")
            records = self.audit(name, *layout, status=FAILURE)
            self.assertEqual([records[0]["ids"], records[0]["broken_rows"]], [2, 2])
            self.assertIn("another constant", records[2]["why"])

    def test_a_dump_without_any_id_is_an_error(self) -> None:
        for text in ("", "abc\n5x\n", "\n\n"):
            result = self.run_tool("audit", self.write("ids.txt", text))
            self.assertEqual((result.status, result.out), (FAILURE, ""))
            self.assertRegex(result.err, r"\Aidgen: error: there is no id in ids.txt")

    def test_options_that_make_no_sense_are_usage_errors(self) -> None:
        name = self.write("ids.txt", "1\n")
        for arguments in (
            *(("--memory", "1M"), ("--memory", "many"), ("--epoch", "0"), ("--name", "orders")),
            *(("--layout", "business128"), ("--process", "host"), ("--delimiter", "ab"), ("--charset", "no-such")),
            *(("--routes", "routes.toml"), ("--shards", 2**20), ("-", "-")),
        ):
            self.assertEqual(self.run_tool("audit", name, *arguments).status, USAGE, arguments)


class Configured(Audit):
    def test_the_layout_is_that_of_a_configured_generator(self) -> None:
        config = self.write(
            "idgen.toml",
            '[orders]\nkind = "snowflake"\nlayout = "js53"\nworker = 1\nstore = "memory"\n'
            '[numbers]\nkind = "segment"\nstore = "memory"\n',
        )
        name = self.write("ids.txt", "1\n2\n")
        self.assertEqual(self.summary(name, "--config", config, "--name", "orders")["layout"], "js53")
        self.assertEqual(self.summary(name, "--config", config, "--name", "numbers")["layout"], "")

    def test_ids_of_the_future_and_of_the_layout_s_first_day_make_the_layout_doubtful(self) -> None:
        future = ((int(time.time()) + 86_400) * 1000 - broken.EPOCH) << 22
        name = self.write("ids.txt", f"{future}\n17\n18\n")
        records = self.audit(name, "--layout", "default")
        self.assertEqual([records[0]["in_future"], records[0]["in_first_day"]], [1, 2])
        self.assertIn("is this their layout?", self.good("audit", name, "--layout", "default").out)


class Order(Audit):
    def test_the_largest_step_back_is_found_for_each_worker_and_in_all(self) -> None:
        def id(ms: int, worker: int) -> int:
            return (broken.START + ms - broken.EPOCH) << 22 | worker << 12

        ids = [id(0, 1), id(100, 2), id(50, 1), id(40, 1), id(200, 2), id(150, 2), id(300, 1)]
        records = self.audit(self.write("ids.txt", "\n".join(map(str, ids))), "--layout", "default")
        self.assertEqual([records[0]["largest_step_back"], records[0]["largest_step_back_at"]], [50, "row 6"])
        workers = {r["worker"]: r["largest_step_back_ms"] for r in records if r["record"] == "worker"}
        self.assertEqual(workers, {"worker 1": 10, "worker 2": 50})

    def test_many_workers_are_all_followed(self) -> None:
        ids = [second << 35 | worker << 13 for second in (9_000_000, 9_000_001) for worker in range(40_000)]
        name = self.write("ids.bin", packed([*ids, ids[0], ids[39_999]]))
        records = self.audit(name, "--layout", "uid-generator", "--epoch", 0, status=DUPLICATES)
        self.assertEqual([records[0]["workers"], records[0]["different"]], [40_000, 80_000])
        self.assertEqual([records[0]["duplicated"], records[0]["steps_back"]], [2, 2])

    def test_a_tick_that_is_used_up_is_counted(self) -> None:
        begin = (broken.START - broken.EPOCH) << 22
        ids = [begin + sequence for sequence in range(4096)] + [begin + (1 << 22)]
        records = self.audit(self.write("ids.txt", "\n".join(map(str, ids))), "--layout", "default")
        (worker,) = (r for r in records if r["record"] == "worker")
        self.assertEqual([worker["full_ticks"], worker["ticks"]], [1, 2])


class Shards(Audit):
    def evenness(self, *arguments: object) -> dict[str, Any]:
        (record,) = (r for r in self.audit(*arguments) if r["record"] == "evenness")
        return record

    def test_even_numbers_are_even_and_snowflakes_at_a_low_rate_are_not(self) -> None:
        rng = random.Random(1)
        random_ids = self.write("random.txt", "\n".join(str(rng.getrandbits(63)) for _ in range(10_000)))
        even = self.evenness(random_ids, "--shards", 16)
        self.assertEqual([even["degrees_of_freedom"], even["meaning"]], [15, "as even as chance would make it"])
        low = self.write(
            "low.txt", lines(broken.traffic(rng, [broken.Snowflake(1)], broken.START, broken.START + 100_000, 50))
        )
        uneven = self.evenness(low, "--layout", "default", "--shards", 16)
        self.assertEqual(uneven["meaning"], "uneven, and not by chance")
        self.assertGreater(uneven["fullest"], 10)
        self.assertIn("sequence_start", self.good("audit", low, "--layout", "default", "--shards", 16).out)

    def test_chi_squared_is_what_arithmetic_by_hand_gives(self) -> None:
        counts = [30, 20, 25, 25]
        ids = [4 * i + shard for shard, count in enumerate(counts) for i in range(count)]
        even = self.evenness(self.write("ids.txt", "\n".join(map(str, ids))), "--shards", 4)
        self.assertAlmostEqual(even["chi_squared"], (25 + 25) / 25)
        self.assertAlmostEqual(even["p"], 0.5724067, places=6)  # of tables, for 2.0 with 3 degrees of freedom

    def test_shards_of_a_table_of_routes_have_what_their_nodes_make(self) -> None:
        routes = self.write(
            "routes.toml",
            'version = 1\nbits = 2\nshards = ["db0", "db1"]\n[[range]]\nupto = 2\nshard = "db0"\n'
            '[[range]]\nupto = 3\nshard = "db1"\n',
        )
        ids = [(gene << 47) + number for gene in range(4) for number in range(100)]
        records = self.audit(
            self.write("ids.txt", "\n".join(map(str, ids))), "--layout", "business64", "--routes", routes
        )
        shards = {r["shard"]: r["ids"] for r in records if r["record"] == "shard"}
        self.assertEqual(shards, {"db0": 300, "db1": 100})
        (even,) = (r for r in records if r["record"] == "evenness")
        self.assertAlmostEqual(even["chi_squared"], 0)


class Picture(Audit):
    def draw(self, rows: list[Row], *layout: str) -> tuple[str, list[str]]:
        name = self.write("dump & <more>.txt", lines(rows))
        self.run_tool("audit", name, *layout, "--svg", "audit.svg")
        text = (self.dir / "audit.svg").read_text()
        root = xml.fromstring(text)
        return text, [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]

    def test_the_picture_says_what_was_found(self) -> None:
        text, words = self.draw(broken.clock_back(random.Random(1)), "--layout", "default")
        self.assertLessEqual({"dump & <more>.txt", "back by 3.0 s", "ids per second"}, {*words})
        self.assertTrue(any("the clock was set back" in word for word in words))
        self.assertIn('<circle class="copy"', text)

    def test_plain_numbers_have_their_course_and_no_rates(self) -> None:
        _, words = self.draw(broken.store_restored(random.Random(1)))
        self.assertNotIn("ids per second", words)
        self.assertIn("number", words)
        self.assertTrue(any(word.startswith("back by 9") for word in words))

    def test_a_healthy_dump_and_a_single_id_are_drawn_too(self) -> None:
        text, _ = self.draw(broken.healthy(random.Random(1), seconds=2), "--layout", "default")
        self.assertIn("no id came twice", text)
        self.assertNotIn('class="copy"', text)
        for layout in ((), ("--layout", "default")):
            text, _ = self.draw([Row(72477573140983808, "app", 0)], *layout)
            self.assertNotRegex(text, "-nan|nan\\b|inf\\b")


class Example(Audit):
    def test_the_example_finds_the_three_things_that_go_wrong_in_it(self) -> None:
        env = {**os.environ, "PATH": f"{Path(TOOL).parent}:{os.environ['PATH']}"}
        script = str(ROOT / "examples" / "audit" / "run.sh")
        done = subprocess.run(["sh", script], cwd=self.dir, env=env, capture_output=True, text=True, check=True)
        for words in ("had the same worker number", "the same rows are in the dump twice", "the clock was set back"):
            self.assertEqual(len(re.findall(f"(?:likely   |processes) {words}", done.stdout)), 1, words)
        self.assertIn("</svg>", (self.dir / "audit.svg").read_text())


class Bounded(Audit):
    """An audit stays within --memory, and leaves nothing behind however it ends."""

    COUNT = 12_000_000  # 96 MB, shuffled: nothing is in order anywhere

    def test_memory_holds_and_every_duplicate_is_found(self) -> None:
        numbers = array.array("Q", (3 * (i * 2_471_557 % self.COUNT) for i in range(self.COUNT)))
        places = random.Random(1).sample(range(self.COUNT), 2000)
        for here, there in zip(places[:1000], places[1000:], strict=True):
            numbers[here] = numbers[there]
        if sys.byteorder == "big":
            numbers.byteswap()
        name = self.write("ids.bin", numbers.tobytes())
        temporary = self.dir / "tmp"
        temporary.mkdir()
        # What a process has used at most begins with what the one that starts it uses: so a small one starts it.
        measured = (
            "import resource, subprocess, sys; status = subprocess.call(sys.argv[1:]); "
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(status)"
        )
        done = subprocess.run(
            [sys.executable, "-S", "-c", measured, TOOL, "audit", name, "--memory", "512M", "--tmp", "tmp", "--json"],
            cwd=self.dir,
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertEqual((done.returncode, done.stderr), (DUPLICATES, "idgen: error: 1000 ids came more than once\n"))
        summary = json.loads(done.stdout.splitlines()[0])
        self.assertEqual([summary["ids"], summary["different"]], [self.COUNT, self.COUNT - 1000])
        self.assertEqual(summary["extra_copies"], 1000)
        self.assertLessEqual(int(done.stdout.splitlines()[-1]) * 1024, 512 * MIB)
        self.assertEqual(list(temporary.iterdir()), [])

    def started(self) -> subprocess.Popen[bytes]:
        """An audit that waits for its standard input, and has its folder of temporary files."""
        (self.dir / "tmp").mkdir(exist_ok=True)
        process = subprocess.Popen(
            [TOOL, "audit", "-", "--tmp", "tmp"],
            cwd=self.dir,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdin
        process.stdin.write(packed(list(range(1_000_000))))  # more than the pipe holds: it is reading
        process.stdin.flush()
        return process

    def test_a_signal_ends_it_and_leaves_nothing_behind(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.started() as process:
                process.send_signal(number)
                self.assertEqual(process.wait(timeout=patience(60)), 128 + number)
            self.assertEqual(list((self.dir / "tmp").iterdir()), [])

    def test_the_next_audit_removes_what_a_killed_one_left(self) -> None:
        with self.started() as process:
            process.kill()
        self.assertEqual(len(list((self.dir / "tmp").iterdir())), 1)
        with self.started() as running:
            self.good("audit", self.write("ids.txt", "1\n"), "--tmp", "tmp")
            self.assertEqual(len(list((self.dir / "tmp").iterdir())), 1)  # of the one that runs
            running.send_signal(signal.SIGINT)
        self.assertEqual(list((self.dir / "tmp").iterdir()), [])


class Started(Audit):
    """How `idgen audit` finds the program that does the work."""

    def test_no_code_of_the_working_directory_runs(self) -> None:
        for module in ("duckdb", "numpy", "json", "argparse", "sitecustomize", "idgen"):
            (self.dir / f"{module}.py").write_text("open('it ran', 'w')\n")
        program = self.dir / "idgen-audit"
        program.write_text("#!/bin/sh\n>'it ran'\n")
        program.chmod(0o755)
        name = self.write("ids.txt", "7\n")
        for folders in (":", f":{self.dir.parent}", ".", f"{self.dir.parent}:"):
            environment = {"PYTHONPATH": f"{folders}:.", "PATH": f":.:{os.environ['PATH']}:"}
            result = self.run_tool("audit", name, "--json", **environment)
            self.assertEqual(result.status, OK, result.err)
        self.assertFalse((self.dir / "it ran").exists())

    def test_without_the_program_it_says_what_to_install(self) -> None:
        result = self.run_tool("audit", self.write("ids.txt", "1\n"), PATH=f":.:{self.dir}")
        self.assertEqual((result.status, result.out), (FAILURE, ""))
        self.assertIn("pip install 'idgen[audit]'", result.err)
        self.assertIn("--column COLUMN", self.run_tool("audit", "--help", PATH="").out)

    def test_a_program_that_cannot_start_is_an_error(self) -> None:
        program = self.dir / "idgen-audit"
        program.write_text("#!/no/such/python\n")
        program.chmod(0o755)
        result = self.run_tool("audit", self.write("ids.txt", "1\n"), PATH=str(self.dir))
        self.assertEqual(result.status, FAILURE)
        self.assertIn(f"cannot start {program}", result.err)

    def test_both_programs_describe_the_same_options(self) -> None:
        def options(text: str) -> set[str]:
            return set(re.findall(r"^ +(--[a-z-]+)", text, re.MULTILINE)) - {"--version"}

        program = shutil.which("idgen-audit")
        assert program
        own = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
        self.assertEqual(options(self.good("audit", "--help").out), options(own))

    def test_options_are_given_in_any_order_and_with_an_equals_sign(self) -> None:
        names = [self.write("a.csv", "k,x\n5,a\n"), self.write("b.csv", "k,x\n5,b\n")]
        self.assertEqual(self.summary(names[0], "--column=k", names[1], status=DUPLICATES)["duplicated"], 1)


if __name__ == "__main__":
    unittest.main()
