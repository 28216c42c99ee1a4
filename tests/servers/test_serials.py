"""kind = serial on real servers: a day's numbers come once, whatever happens at midnight."""

import os
import random
import subprocess
import sys
import time
from datetime import datetime, timedelta
from pathlib import Path

import pytest
import tally
from clients import BUILD, MODULES, Asked, command, create, new_tag, run
from hosts import LANGUAGES
from serials import EPOCH, NUMBER_BITS, Clock

PATTERN = "SO{yyyyMMdd}{00000000}"
FIRST_DAY = datetime(2026, 11, 21)


@pytest.fixture(params=["redis", "mysql"])
def server(request, started):
    return started(request.param)


class Process:
    """Draws batches of a day's numbers by a clock that a file says."""

    def __init__(self, folder, number, url, tag, clock, schema):
        self.path = folder / f"{number}.txt"
        settings = {
            "kind": "serial",
            "store": url,
            "tag": tag,
            "pattern": PATTERN,
            "segment.schema": schema,
            "segment.step": "1000",
            "wait_max": "60s",
            "module.path": str(MODULES),
        }
        with self.path.open("wb") as out:
            self.process = subprocess.Popen(
                [
                    sys.executable,
                    str(Path(__file__).with_name("drawing.py")),
                    str(BUILD / "lib" / "libidgen.so"),
                    "500",
                    *(f"{key}={value}" for key, value in settings.items()),
                ],
                stdout=out,
                env={**os.environ, **clock.environment, "PAUSE": "0.01"},
            )

    def ids(self):
        """Of whole lines."""
        found = []
        for line in self.path.read_text().split("\n")[:-1]:
            assert "!" not in line, line
            found += [int(word) for word in line.split()]
        return found

    def kill(self):
        self.process.kill()
        self.process.wait()


@pytest.mark.parametrize(
    ("kind", "schema"),
    [("redis", "idgen"), ("redis", "incr"), ("mysql", "idgen")],
    ids=["redis", "redis, a key a day", "mysql"],
)
def test_a_million_numbers_of_five_days_come_once_though_processes_are_killed(started, kind, schema, tmp_path):
    server = started(kind)
    tag = new_tag()
    made = run(command(server.url(), tag, "segment", "create", kind="serial", pattern=PATTERN, schema=schema))
    assert made.returncode == 0, made.stderr
    clock = Clock(tmp_path / "clock", f"@{FIRST_DAY:%Y-%m-%d} 23:59:50")
    choice = random.Random(21)
    processes = []

    def start():
        process = Process(tmp_path, len(processes), server.url(), tag, clock, schema)
        processes.append(process)
        return process

    running = [start() for _ in range(4)]
    try:
        for day in range(5):
            clock.set(
                f"@{FIRST_DAY + timedelta(days=day):%Y-%m-%d} 23:59:58"
            )  # so midnight comes by itself, while all draw
            until = time.monotonic() + 6
            while time.monotonic() < until:
                time.sleep(0.7)
                victim = running.pop(choice.randrange(len(running)))
                victim.kill()
                running.append(start())
        deadline = time.monotonic() + 120
        while sum(process.path.stat().st_size for process in processes) < 19 * 1_000_000:
            assert time.monotonic() < deadline, "so slow a server"
            time.sleep(0.5)
    finally:
        for process in running:
            process.kill()

    drawn = [number for process in processes for number in process.ids()]
    tally.add(len(drawn), len(drawn) - len(set(drawn)))
    assert len(set(drawn)) == len(drawn)
    assert len(drawn) >= 1_000_000
    for process in processes:
        ids = process.ids()
        assert ids == sorted(ids)
    days = {number >> NUMBER_BITS for number in drawn}
    first = (FIRST_DAY - EPOCH).days
    assert days == set(range(first, first + 6))
    for day in days:
        numbers = [number & (1 << NUMBER_BITS) - 1 for number in drawn if number >> NUMBER_BITS == day]
        assert min(numbers) <= 4 * 1000  # it began from 1, and a process that was killed may have lost that range
    print(f"{len(drawn)} serials of {len(days)} days by {len(processes)} processes, all different")


@pytest.mark.parametrize("kind", ["mysql", "postgres"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_languages_own_store_counts_the_days_numbers_beside_native_ones(started, kind, language):
    server = started(kind)
    tag = create(server.url(), new_tag())
    serial = {"kind": "serial", "pattern": PATTERN, "step": 50, "prefetch": 1}
    with Asked(server.url(), tag, language, **serial) as host, Asked(server.url(), tag, **serial) as native:
        host.ask(2000)
        native.ask(2000)
        drawn = [number for process in (host, native) for number in process.answer()[0]]
    tally.add(len(drawn), len(drawn) - len(set(drawn)))
    assert len(set(drawn)) == len(drawn) == 4000
    today = int(time.time()) // 86_400
    assert {number >> NUMBER_BITS for number in drawn} <= {today - 1, today}
    assert min(drawn) & (1 << NUMBER_BITS) - 1 == 1


def test_the_command_counts_and_goes_on_above_what_a_person_names(server):
    tag = create(server.url(), new_tag())
    serial = {"kind": "serial", "pattern": "{yyyy}-{0000}"}

    def next_one():
        done = run(command(server.url(), tag, "next", **serial))
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    year = datetime.now().astimezone().year
    assert next_one() == f"{year}-0001"
    assert next_one() == f"{year}-0002"
    done = run(command(server.url(), tag, "segment", "advance", "--above", f"{year}-0417", **serial))
    assert done.returncode == 0, done.stderr
    assert f"serial      {year}-0417" in done.stdout
    assert next_one() == f"{year}-0418"
    assert f"serial      {year}-0418" in run(command(server.url(), tag, "segment", "show", **serial)).stdout
