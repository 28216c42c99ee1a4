"""kind = serial on real servers: a day's numbers come once, whatever happens at midnight."""

import random
import time
from datetime import datetime, timedelta

import pytest
from clients import Asked, Client, ascending, command, create, new_tag, run, wait_until
from hosts import LANGUAGES
from rotation import FULL, one_of
from serials import EPOCH, NUMBER_BITS, Clock, distinct
from test_faults import PATIENT

PATTERN = "SO{yyyyMMdd}{00000000}"
FIRST_DAY = datetime(2026, 11, 21)
FIRST = (FIRST_DAY - EPOCH).days


class Process(Client):
    """Draws batches of a day's numbers by a clock that a file says."""

    def __init__(self, folder, url, tag, clock, schema):
        serial = {"kind": "serial", "pattern": PATTERN, "schema": schema, "step": 1000, "runway": "10s", **PATIENT}
        super().__init__(folder, url, tag, batch=500, prefix=(*clock.prefix, "PAUSE=0.01"), **serial)

    def day(self):
        """Of its latest whole line; -1 if there is none."""
        lines = self.path.read_bytes()[-100_000:].rsplit(b"\n", 2)
        return int(lines[-2].split()[-1]) >> NUMBER_BITS if len(lines) > 1 else -1


@pytest.mark.parametrize(
    ("kind", "schema"),
    one_of(
        [
            pytest.param("redis", "idgen", id="redis"),
            pytest.param("redis", "incr", id="redis, a key a day"),
            pytest.param("mysql", "idgen", id="mysql"),
        ]
    ),
)
def test_numbers_of_five_days_come_once_though_processes_are_killed(started, kind, schema, tmp_path):
    server = started(kind)
    tag = new_tag()
    enough = 1_000_000 if FULL else 100_000
    made = run(command(server.url(), tag, "segment", "create", kind="serial", pattern=PATTERN, schema=schema))
    assert made.returncode == 0, made.stderr
    clock = Clock(tmp_path / "clock", f"@{FIRST_DAY:%Y-%m-%d} 12:00:00")
    choice = random.Random(21)
    processes = []

    def start():
        processes.append(Process(tmp_path, server.url(), tag, clock, schema))
        return processes[-1]

    running = [start() for _ in range(4)]
    try:
        for process in running:
            process.goes_on()  # on the first day
        for day in range(5):
            # So midnight comes by itself, while all draw.
            clock.set(f"@{FIRST_DAY + timedelta(days=day):%Y-%m-%d} 23:59:59")
            for _ in range(4):
                victim = running.pop(choice.randrange(len(running)))
                victim.goes_on().kill()
                running.append(start())
            wait_until(lambda day=day: any(process.day() > FIRST + day for process in running), what="midnight")
            victim = running.pop(choice.randrange(len(running)))
            victim.kill()
            running.append(start())
        wait_until(lambda: sum(process.size() for process in processes) > 19 * enough, what="numbers")
    finally:
        for process in running:
            process.kill()

    assert not [failure for process in processes for failure in process.failures()]
    drawn = [number for process in processes for number in process.ids()]
    assert len(distinct(drawn)) >= enough
    for process in processes:
        ascending(process.ids())
    days = {number >> NUMBER_BITS for number in drawn}
    assert days == set(range(FIRST, FIRST + 6))
    for day in days:
        numbers = [number & (1 << NUMBER_BITS) - 1 for number in drawn if number >> NUMBER_BITS == day]
        assert min(numbers) <= 4 * 1000  # it began from 1, and a process that was killed may have lost that range
    print(f"{len(drawn)} serials of {len(days)} days by {len(processes)} processes, all different")


@pytest.mark.parametrize("kind", ["mysql", "postgres"])
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_languages_own_store_counts_the_days_numbers_beside_native_ones(started, kind, language):
    server = started(kind)
    tag = create(server.url(), new_tag())
    serial = {"kind": "serial", "pattern": PATTERN, "step": 50, "prefetch": 1, **PATIENT}
    with Asked(server.url(), tag, language, **serial) as host, Asked(server.url(), tag, **serial) as native:
        host.ask(2000)
        native.ask(2000)
        drawn = [number for process in (host, native) for number in process.answer()[0]]
    assert len(distinct(drawn)) == 4000
    today = int(time.time()) // 86_400
    assert {number >> NUMBER_BITS for number in drawn} <= {today - 1, today}
    assert min(drawn) & (1 << NUMBER_BITS) - 1 == 1
