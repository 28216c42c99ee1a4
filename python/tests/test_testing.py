"""idgen.testing: generators that do what a test tells them."""

from __future__ import annotations

import array
import asyncio
import shutil
import threading
import time
import weakref
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import idgen
import numpy as np
import pytest
from conftest import REPOSITORY, vectors, wait_until_forgotten
from idgen import testing
from idgen._errors import CLASS_BY_NAME

AT = datetime(2026, 11, 21, 8, tzinfo=timezone.utc)

# How a program may draw one id, many, and into a buffer.
WAYS: dict[str, tuple[Callable[[testing.ScriptedGenerator], int], str, Callable[[int], Any]]] = {
    "next": (lambda ids: ids.next(), "next_batch", lambda n: array.array("q", bytes(8 * n))),
    "asyncio": (lambda ids: asyncio.run(ids.next_async()), "next_list", lambda n: np.zeros(n, np.int64)),
    "blocks": (lambda ids: ids.next_block(1).first, "next_batch", lambda n: memoryview(bytearray(8 * n)).cast("q")),
}


def instant(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def as_text(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(map(as_text, value))
    if isinstance(value, datetime):
        return value.isoformat(timespec="milliseconds").replace("+00:00", "Z").replace(".000Z", "Z")
    return "" if value is None else str(value)


def made(text: str, file: Path) -> testing.ScriptedGenerator:
    read: dict[str, Callable[[str], Any]] = {"start": int, "sequence": int, "at": instant}
    pairs = [pair.split("=", 1) for pair in text.split(", ")]
    given: dict[str, Any] = {name.replace(".", "_"): read.get(name, str)(value) for name, value in pairs}
    table = given.pop("table", None)
    return testing.open(file, table, **given) if table else testing.generator(**given)


def steps(ids: testing.ScriptedGenerator, way: str) -> dict[str, Callable[..., Any]]:
    draw_one, draw_many, buffer = WAYS[way]
    column = buffer(0)

    def fill(count: str) -> Any:
        nonlocal column
        column = buffer(int(count))
        return ids.fill(column)

    def parts(id: int, *names: str) -> list[Any]:
        return [getattr(ids.decode(id), name) for name in names]

    owner: dict[str, Callable[[str], Any]] = {"integer": int, "text": str, "bytes": str.encode}
    return {
        "fail_next": lambda count, status: ids.fail_next(int(count), CLASS_BY_NAME[status]),
        "fail_after": lambda count, status: ids.fail_after(int(count), CLASS_BY_NAME[status]),
        "recover": ids.recover,
        "set": lambda at: ids.clock.set(instant(at)),
        "advance": lambda by: ids.clock.advance(float(by)),
        "set_back": lambda by: ids.clock.set_back(float(by)),
        "clock": lambda: ids.clock.now,
        "next": lambda: draw_one(ids),
        "text": ids.next_text,
        "try": lambda: ids.try_next() or "none",
        "batch": lambda count: list(getattr(ids, draw_many)(int(count))),
        "fill": fill,
        "column": lambda: column.tolist(),
        "time": lambda: parts(draw_one(ids), "time"),
        "parts": lambda: parts(draw_one(ids), "time", "worker", "sequence"),
        "for": lambda kind, text: parts(ids.next_for(owner[kind](text)), "segment", "gene"),
        "close": ids.close,
    }


def failure(error: idgen.Error, call: str) -> str:
    assert type(error) is CLASS_BY_NAME[error.name]
    assert call.startswith("fill") or len(error.ids or ()) == error.written
    return error.name + " retryable" * error.retryable + f", {error.written} drawn" * (error.written > 0)


@pytest.mark.parametrize("way", WAYS)
def test_the_kit_does_what_the_table_says(way: str, tmp_path: Path) -> None:
    file = Path(shutil.copy(REPOSITORY / "tests/vectors/kits.toml", tmp_path))
    for row in vectors("kits.tsv"):
        _, generator, told, clock, call, gives, says = row
        got, said = None, ""
        try:
            if generator:
                ids = made(generator, file)
                known = steps(ids, way)
            for step in filter(None, (told, clock, call)):
                name, *arguments = step.split(" ")
                got = known[name](*arguments)
        except idgen.ArgumentError as error:
            got, said = "refused", str(error)
        except idgen.Error as error:
            got, said = failure(error, call), str(error)
        assert as_text(got) == gives, row
        assert says in said, row
    assert list(tmp_path.iterdir()) == [file]


def test_the_functions_take_the_properties_of_a_generator_too() -> None:
    events = testing.snowflake(AT, sequence=5)
    parts = events.decode(events.next())
    assert (parts.time, parts.sequence, parts.worker) == (AT, 5, 1)
    assert testing.segment(start=1000, tag="orders").next() == 1000
    assert testing.segment(start=np.int64(5)).next() == 5
    assert testing.snowflake(layout="instagram", shard=7).kind == "snowflake"
    assert testing.snowflake(epoch=AT, sequence=3).clock.now == AT
    assert testing.open(REPOSITORY / "tests/vectors/kits.toml", "events", at=AT, worker=9).name == "events"


def test_generators_may_share_a_clock() -> None:
    clock = testing.ManualClock(AT)
    both = [testing.snowflake(clock, worker=worker) for worker in (1, 2)]
    with idgen.Generator(worker=3, store="memory:shared clock", clock=clock) as third:
        clock.advance(timedelta(minutes=2))
        clock.set_back(timedelta(minutes=1))
        for ids in (*(ids.get() for ids in both), third):
            assert ids.decode(ids.next()).time == AT + timedelta(minutes=1)
    assert all(ids.clock is clock for ids in both)
    assert repr(clock) == "ManualClock(2026-11-21T08:01:00+00:00)"


def test_a_clock_is_set_while_nothing_else_moves_it() -> None:
    clock = testing.ManualClock(AT)
    with clock._lock:
        setting = threading.Thread(target=clock.set, args=(AT + timedelta(days=1),))
        setting.start()
        setting.join(0.05)
        assert clock.now == AT
    setting.join()
    assert clock.now == AT + timedelta(days=1)


def test_every_class_that_stands_for_a_status_can_be_told() -> None:
    ids = testing.segment()
    rows: dict[str, tuple[int, str, str, bool]] = {row.name: row for row in idgen.statuses()}
    rows["HOST"] = 1000, "HOST", "a status of the host's own store", True  # which has no row
    kinds = [kind for kind in vars(idgen).values() if isinstance(kind, type) and issubclass(kind, idgen.Error)]
    told = set()
    for kind in kinds:
        if kind in (idgen.Error, idgen.ConfigError, idgen.StateError, idgen.ClockError, idgen.StoreError):
            with pytest.raises(idgen.ArgumentError, match="is a family of errors"):
                ids.fail_next(1, kind)
            continue
        ids.fail_next(np.int64(1), kind)
        with pytest.raises(kind) as raised:
            ids.next_text()
        error = raised.value
        assert type(error) is kind
        assert (error.status, error.name, str(error), error.retryable) == rows[error.name]
        told.add(error.name)
    assert told == {*rows} - {"OK", "UNKNOWN"}
    ids.fail_next()
    with pytest.raises(idgen.StoreUnavailableError):
        ids.next()


def test_an_error_of_the_tests_own_words_is_otherwise_that_of_its_class() -> None:
    ids = testing.segment()
    for told in (
        idgen.StoreUnavailableError("db01 is down", retry_after=2.5),
        idgen.StoreUnavailableError("db01 is down", 60, "STORE_UNAVAILABLE", True, retry_after=2.5),
        idgen.HostError("db01 is down"),
    ):
        told.__cause__ = OSError("no route")
        ids.fail_next(1, type(told))
        with pytest.raises(type(told)) as of_the_class:
            ids.next()
        seen: list[idgen.Error] = [told]
        ids.fail_next(2, told)
        for _ in range(2):
            with pytest.raises(type(told), match=r"^db01 is down$") as raised:
                ids.next()
            for name in ("status", "name", "retryable"):
                assert getattr(raised.value, name) == getattr(of_the_class.value, name), name
            assert (raised.value.retry_after, raised.value.__cause__) == (told.retry_after, told.__cause__)
            assert raised.value not in seen
            seen.append(raised.value)
    ids.fail_next(1, idgen.StoreUnavailableError("db01 is down"))
    assert ids.try_next() is None  # so it is retryable
    assert ids.try_next() == 1


def test_the_programs_own_error_is_raised_anew_with_the_ids_of_each_call() -> None:
    class OfTheProgram(idgen.ExhaustedError):
        def __init__(self, shard: int, *, because: str) -> None:
            super().__init__(f"shard {shard} is full: {because}")
            self.shard = shard

    ids = testing.segment()
    mine = OfTheProgram(7, because="no disk")
    mine.written, mine.ids = 3, array.array("q", [7, 8, 9])  # of another call, which it comes from
    mine.__cause__ = OSError("no route")
    failures: list[OfTheProgram] = []
    for draw in (ids.next_batch, ids.next_list):
        ids.fail_after(2, mine)
        for n in (5, 1):
            with pytest.raises(OfTheProgram, match=r"^shard 7 is full: no disk$") as raised:
                draw(n)
            failures.append(raised.value)
    assert [failure.written for failure in failures] == [2, 0, 2, 0]
    assert [failure.ids for failure in failures] == [array.array("q", numbers) for numbers in ([1, 2], [], [3, 4], [])]
    assert {(failure.shard, failure.__cause__) for failure in failures} == {(7, mine.__cause__)}
    assert len({mine, *failures}) == 5


def test_iteration_ends_where_the_failure_begins() -> None:
    ids = testing.segment()
    seen: list[int] = []

    async def draw() -> None:
        async for id in ids:
            seen.append(id)

    ways: list[Callable[[], object]] = [lambda: seen.extend(ids), lambda: asyncio.run(draw())]
    for iterate in ways:
        ids.fail_after(2, idgen.ExhaustedError)
        with pytest.raises(idgen.ExhaustedError):
            iterate()
    assert seen == [1, 2, 3, 4]


def test_what_does_not_apply_is_refused_with_what_is_allowed() -> None:
    for make, says in (
        (lambda: testing.segment(start=0), "allowed: 1 to 4611686018427387904"),
        (lambda: testing.segment(store="memory"), "a store of its own"),
        (lambda: testing.snowflake(clock=time.time_ns), "at="),
        (lambda: testing.snowflake(datetime(2026, 1, 1)), "no time zone"),
        (lambda: testing.ManualClock().set_back(timedelta(-1)), "use advance"),
        (lambda: testing.segment().next_batch(-1), "allowed: 0 to"),
    ):
        with pytest.raises(idgen.ArgumentError, match=says):
            make()
    untyped: Any = testing
    ids = untyped.segment()
    with pytest.raises(TypeError, match=r"an idgen\.Error, a class or an instance"):
        ids.fail_next(1, ValueError)
    with pytest.raises(TypeError, match="stands at a datetime"):
        ids.clock.set(1.5)
    calls: list[Callable[[float], object]] = [
        *(ids.fail_next, ids.fail_after, ids.next_batch, ids.next_list, ids.next_block),
        lambda number: untyped.segment(start=number),
        lambda number: untyped.snowflake(sequence=number),
    ]
    for call in calls:
        with pytest.raises(TypeError, match="integer"):
            call(1.5)


def test_generators_handles_and_the_kits_are_all_id_sources(memory_store: str) -> None:
    lazy = idgen.lazy(kind="segment", store=memory_store, store_create=True)
    sources: list[idgen.IdSource] = [testing.segment(), testing.segment().get(), lazy]
    for source in sources:
        assert isinstance(source, idgen.IdSource)
        assert (source.next(), source.next_text(), source.next_list(2)) == (1, "2", [3, 4])
        assert source.next_batch(1).tolist() == [5]
        source.close()
        with pytest.raises(idgen.ClosedError):
            source.next()


def test_a_scripted_generator_has_all_that_a_generator_has() -> None:
    public = {name for name in dir(idgen.Generator) if not name.startswith("_")}
    assert public <= set(dir(testing.ScriptedGenerator))
    for name in public:
        assert getattr(testing.ScriptedGenerator, name).__doc__, name
    with testing.segment(name="orders") as ids:
        assert (ids.name, ids.kind, ids.closed, ids.layout.bits) == ("orders", "segment", False, 63)
        assert ids.text_pattern.format(ids.next()) == "1"
        assert ids.stats().issued == 1
        assert 'name="orders"' in idgen.metrics([ids.get()])
        assert "ScriptedGenerator" in repr(ids)
        assert ids.describe()
    assert ids.closed


def test_nothing_is_left_of_a_generator_that_is_closed_and_forgotten() -> None:
    ids = testing.snowflake()
    ids.next()
    left = weakref.ref(ids.clock)
    ids.close()
    del ids
    wait_until_forgotten(left)
