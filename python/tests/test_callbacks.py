"""Clocks and logs written in Python."""

from __future__ import annotations

import contextlib
import gc
import logging
import sys
import time
import weakref
from functools import partial
from typing import Any

import idgen
import pytest
from conftest import ManualClock, distinct, in_threads, run_python, wait_until_forgotten


class SleepingClock(ManualClock):
    """A clock on which a wait takes no real time."""

    slept_ns = 0

    def sleep_ns(self, ns: int) -> None:
        self.slept_ns += ns
        self.ns += ns


@pytest.fixture
def sleeping_clock() -> SleepingClock:
    return SleepingClock()


def test_ids_carry_the_time_of_the_given_clock_and_a_wait_uses_its_sleep_ns(
    memory_store: str, sleeping_clock: SleepingClock
) -> None:
    with idgen.Generator(worker=1, store=memory_store, clock=sleeping_clock) as generator:
        assert generator.decode(generator.next()).unix_ms == 1_767_225_600_000
        ids = generator.next_batch(4096 * 20)
        assert generator.decode(ids[-1]).unix_ms >= 1_767_225_600_000 + 19
    assert sleeping_clock.slept_ns > 0


def test_a_clock_works_from_many_threads(memory_store: str, sleeping_clock: SleepingClock) -> None:
    with idgen.Generator(worker=1, store=memory_store, clock=sleeping_clock) as generator:

        def draw(mine: list[int]) -> None:
            for _ in range(2_000):
                mine.append(generator.next())
                generator.stats()

        assert distinct(*in_threads(4, draw)) == 8_000  # a lock of the core and the GIL do not wait for each other


@pytest.mark.parametrize("clock", [5, lambda: 1.5])
def test_a_clock_that_cannot_work_is_refused_at_once(memory_store: str, clock: Any) -> None:
    with pytest.raises(TypeError, match="ns since 1970-01-01 UTC"):
        idgen.Generator(worker=1, store=memory_store, clock=clock)


def test_a_clock_that_raises_at_once_raises_its_own_error(memory_store: str) -> None:
    def clock() -> int:
        raise LookupError("no time today")

    with pytest.raises(LookupError, match="no time today"):
        idgen.Generator(worker=1, store=memory_store, clock=clock)


def test_a_clock_that_fails_later_is_reported_and_stands_still(
    memory_store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    reported: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda event: reported.append(event.exc_value))
    broken = False
    steady = ManualClock()

    def clock() -> int:
        if broken:
            raise LookupError("no time today")
        return steady()

    with idgen.Generator(worker=1, store=memory_store, clock=clock) as generator:
        first = generator.next()
        broken = True
        assert generator.next() == first + 1
        assert [type(error) for error in reported[:1]] == [LookupError]
        broken = False


def test_the_log_hears_of_a_clock_set_back_with_levels_of_logging(memory_store: str, manual_clock: ManualClock) -> None:
    lines: list[tuple[int, str]] = []
    options: dict[str, Any] = {"clock": manual_clock, "log": lambda level, text: lines.append((level, text))}
    with idgen.Generator(worker=1, store=memory_store, on_clock_back="continue", **options) as generator:
        generator.next()
        manual_clock.advance_ms(-5_000)
        generator.next()
    assert lines
    assert {level for level, _ in lines} <= {logging.INFO, logging.WARNING, logging.ERROR}
    assert any("clock" in text for _, text in lines)


def test_a_log_that_is_not_callable_is_refused(memory_store: str) -> None:
    log: Any = "stderr"
    with pytest.raises(TypeError, match="callable"):
        idgen.Generator(worker=1, store=memory_store, log=log)


@pytest.mark.parametrize("worker", [1, 5000])
def test_callbacks_are_released_with_their_generator_also_if_it_could_not_be_made(
    memory_store: str, worker: int
) -> None:
    clock = ManualClock()
    gone = weakref.ref(clock)
    with contextlib.suppress(idgen.InvalidValueError):
        idgen.Generator(clock=clock, log=partial(setattr, clock), worker=worker, store=memory_store).next()
    del clock
    wait_until_forgotten(gone)


class Service:
    """Holds the generator that calls it: a cycle through the core."""

    def __init__(self, store: str, **options: Any) -> None:
        self.lines: list[str] = []
        self.ids = idgen.Generator(store=store, clock=self.now, log=self.log, **options)

    def now(self) -> int:
        return time.time_ns()

    def log(self, level: int, message: str) -> None:
        self.lines.append(message)


@pytest.mark.parametrize("closed", [False, True])
@pytest.mark.parametrize("kind", ["snowflake", "segment"])
def test_a_generator_and_the_callbacks_that_hold_it_are_collected(memory_store: str, closed: bool, kind: str) -> None:
    options = {"worker": 1} if kind == "snowflake" else {"kind": kind, "tag": "t", "store_create": True}
    services = [Service(memory_store, **options)]
    gone = weakref.ref(services[0])
    gc.collect()
    services[0].ids.next()  # somebody has it
    if closed:
        services[0].ids.close()
    services.clear()
    gc.collect()
    assert gone() is None


def test_a_generator_that_is_collected_is_closed_first_and_gives_its_worker_back(file_store: str) -> None:
    last = Service(file_store, worker=1).ids.next()
    gc.collect()
    with idgen.Generator(worker=1, store=file_store) as generator:
        assert generator.next() > last


def test_collecting_while_other_threads_draw_disturbs_nobody(memory_store: str) -> None:
    service = Service(memory_store, worker=1)

    def draw(mine: list[int]) -> None:
        for _ in range(2_000):
            mine.append(service.ids.next())

    def collect() -> None:
        for number in range(20):
            Service(f"{memory_store}-{number}", worker=1).ids.next()
            gc.collect()

    assert distinct(*in_threads(3, draw, meanwhile=collect)) == 6_000


def test_an_interpreter_ends_cleanly_with_generators_and_their_callbacks_alive() -> None:
    result = run_python("""
import builtins, idgen, time
options = {"clock": time.time_ns, "log": print, "window": "1s"}
builtins.keep = [idgen.Generator(worker=n, store="memory", **options) for n in range(3)]
for generator in builtins.keep:
    generator.next()
print("last line")
""")
    assert result.returncode == 0, result.stderr
    assert result.stdout.endswith("last line\n")
    assert result.stderr == ""
