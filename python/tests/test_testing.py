"""idgen.testing: generators that do what a test tells them."""

from __future__ import annotations

import array
import asyncio
import ctypes
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
from conftest import wait_until_forgotten
from idgen import testing

AT = datetime(2026, 11, 21, 8, tzinfo=timezone.utc)


def test_a_segment_starts_where_it_is_told_each_time_anew() -> None:
    for _ in range(2):  # the same tag and namespace, but nothing is left of the first
        with testing.segment(start=1000, tag="orders") as ids:
            assert ids.next() == 1000
            assert ids.next_list(3) == [1001, 1002, 1003]
    assert testing.segment().next() == 1
    assert testing.generator(kind="segment", start=5).next() == 5


def test_a_snowflake_starts_at_the_time_and_the_sequence_that_it_is_told() -> None:
    ids = testing.snowflake(AT, sequence=5)
    id = ids.next()
    assert testing.snowflake(AT, sequence=5).next() == id
    parts = ids.decode(id)
    assert (parts.time, parts.sequence, parts.worker) == (AT, 5, 1)
    assert testing.snowflake(layout="instagram", shard=7).kind == "snowflake"
    first = testing.snowflake()
    assert first.decode(first.next()).time == datetime(2026, 1, 1, tzinfo=timezone.utc)


def test_the_clock_moves_as_it_is_told_and_days_are_no_leap() -> None:
    ids = testing.snowflake(AT)
    for by in (timedelta(milliseconds=1), 3600, timedelta(days=400)):
        ids.clock.advance(by)
        assert ids.decode(ids.next()).time == ids.clock.now
    ids.clock.set(AT + timedelta(days=4000))
    assert ids.decode(ids.next()).time == AT + timedelta(days=4000)


def test_a_clock_set_back_is_what_the_policy_says_and_no_wait_takes_real_time() -> None:
    fails = testing.snowflake(AT, on_clock_back="fail")
    fails.next()
    fails.clock.set_back(1)
    with pytest.raises(idgen.ClockBackError):
        fails.next()
    waits = testing.snowflake(AT, wait_max="1h")
    first = waits.next()
    waits.clock.set_back(timedelta(minutes=50))
    assert waits.next() > first
    waits.clock.set(AT - timedelta(hours=2))
    with pytest.raises(idgen.ClockBackError):
        waits.next()


def test_a_tick_that_is_used_up_moves_the_clock() -> None:
    ids = testing.snowflake(AT, sequence=4095)
    ids.next()
    parts = ids.decode(ids.next())
    assert (parts.time - AT, parts.sequence) == (timedelta(milliseconds=1), 0)


def test_generators_may_share_a_clock() -> None:
    clock = testing.ManualClock(AT)
    both = [testing.snowflake(clock, worker=worker) for worker in (1, 2)]
    with idgen.Generator(worker=3, store="memory:shared clock", clock=clock) as third:
        clock.advance(60)
        for ids in (*(ids.get() for ids in both), third):
            assert ids.decode(ids.next()).time == AT + timedelta(minutes=1)
    assert all(ids.clock is clock for ids in both)
    assert repr(clock) == "ManualClock(2026-11-21T08:01:00+00:00)"


def test_the_next_calls_fail_with_the_exception_of_the_status() -> None:
    ids = testing.segment()
    ids.fail_next(2)
    for _ in range(2):
        with pytest.raises(idgen.StoreUnavailableError) as raised:
            ids.next()
        assert (raised.value.name, raised.value.status, raised.value.retryable) == ("STORE_UNAVAILABLE", 60, True)
    assert ids.next() == 1


def test_every_class_that_stands_for_a_status_can_be_told() -> None:
    ids = testing.segment()
    messages = {row.name: row.message for row in idgen.statuses()}
    messages["HOST"] = "a status of the host's own store"  # which has no row: from 1000 on they are the host's
    kinds = [kind for kind in vars(idgen).values() if isinstance(kind, type) and issubclass(kind, idgen.Error)]
    told = set()
    for kind in kinds:
        if kind in (idgen.Error, idgen.ConfigError, idgen.StateError, idgen.ClockError, idgen.StoreError):
            with pytest.raises(idgen.ArgumentError, match="is a family of errors"):
                ids.fail_next(1, kind)
            continue
        ids.fail_next(1, kind)
        with pytest.raises(kind) as raised:
            ids.next_text()
        assert type(raised.value) is kind
        assert str(raised.value) == messages[raised.value.name]
        told.add(raised.value.name)
    assert told == {*messages} - {"OK", "UNKNOWN"}


def test_an_exception_of_the_tests_own_words_is_raised_each_time_anew() -> None:
    ids = testing.segment()
    mine = idgen.StoreUnavailableError("orders: the store is down", 60, "STORE_UNAVAILABLE", True, retry_after=2.5)
    ids.fail_after(0, mine)
    seen = []
    for _ in range(2):
        with pytest.raises(idgen.StoreUnavailableError, match="orders: the store is down") as raised:
            ids.next()
        assert raised.value.retry_after == 2.5
        seen.append(raised.value)
    assert seen[0] is not seen[1]
    assert mine not in seen


@pytest.mark.parametrize("draw", ["next_batch", "next_list"])
def test_a_batch_fails_halfway_and_says_what_it_has_drawn(draw: str) -> None:
    ids = testing.segment()
    ids.fail_after(5, idgen.ExhaustedError)
    assert ids.next() == 1
    with pytest.raises(idgen.ExhaustedError) as raised:
        getattr(ids, draw)(10)
    assert raised.value.written == 4
    assert raised.value.ids == array.array("q", [2, 3, 4, 5])
    with pytest.raises(idgen.ExhaustedError) as raised:
        getattr(ids, draw)(1)
    assert (raised.value.written, raised.value.ids) == (0, None)
    ids.recover()
    assert ids.next() == 6


@pytest.mark.parametrize("make", [lambda: array.array("q", bytes(80)), lambda: np.zeros(10, np.int64)])
def test_a_fill_fails_halfway_too(make: Callable[[], Any]) -> None:
    ids = testing.segment()
    ids.fail_after(4, idgen.ExhaustedError)
    column = make()
    with pytest.raises(idgen.ExhaustedError) as raised:
        ids.fill(column)
    assert raised.value.written == 4
    assert column.tolist() == [1, 2, 3, 4, 0, 0, 0, 0, 0, 0]
    with pytest.raises(idgen.InvalidBufferError):
        ids.fill([0])  # type: ignore[arg-type]
    ids.recover()
    assert ids.fill(column) == 10


def test_blocks_end_where_the_failure_begins() -> None:
    ids = testing.segment()
    ids.fail_after(3, idgen.ExhaustedError)
    assert list(ids.next_block(10).ids) == [1, 2, 3]
    with pytest.raises(idgen.ExhaustedError):
        ids.next_block(10)


def test_try_next_answers_as_the_real_one() -> None:
    ids = testing.segment()
    ids.fail_next(1, idgen.StoreUnavailableError)
    assert ids.try_next() is None
    ids.fail_next(1, idgen.ExhaustedError)
    with pytest.raises(idgen.ExhaustedError):
        ids.try_next()
    assert ids.try_next() == 1


def test_ids_with_an_owner_fail_too() -> None:
    ids = testing.generator(kind="business", start=7)
    assert ids.decode(ids.next_for(42)).segment == 7
    ids.fail_after(1, idgen.ForkedError)
    with pytest.raises(idgen.ForkedError) as raised:
        ids.next_for_each([1, 2, 3])
    assert raised.value.written == 1
    calls: list[Callable[[], object]] = [
        lambda: ids.next_for("42"),
        lambda: ids.next_batch_for(42, 2),
        lambda: ids.next_wide_for(42),
        lambda: ids.next_wide_for_each([42]),
    ]
    for call in calls:
        with pytest.raises(idgen.ForkedError):
            call()
    ids.recover()
    for call in calls:
        call()


def test_iteration_and_asyncio_fail_too() -> None:
    ids = testing.segment()
    ids.fail_after(2, idgen.ExhaustedError)
    seen: list[int] = []
    with pytest.raises(idgen.ExhaustedError):
        seen.extend(ids)
    assert seen == [1, 2]

    async def draw() -> None:
        async for id in ids:
            seen.append(id)

    async def main() -> None:
        with pytest.raises(idgen.ExhaustedError):
            await ids.next_async()
        ids.fail_after(2, idgen.ExhaustedError)
        with pytest.raises(idgen.ExhaustedError):
            await draw()

    asyncio.run(main())
    assert seen == [1, 2, 3, 4]


TOML = """
[orders]
kind = "segment"
store = "sqlite:ids.db"
pattern = "SO-{000000}"
segment.grant_log = 100
witness = "seen"
[events]
worker = "auto"
worker_source = "cosid"
worker_url = "mysql://app@db.invalid/ids"
worker_cache = "worker"
sequence_start = "random"
store = "postgres://app@db.invalid/ids"
[bills]
kind = "serial"
pattern = "{yyyyMMdd}{0000}"
store = "sqlite:ids.db"
[buffered]
kind = "segment"
store = "buffer"
buffer.redis = "redis://cache.invalid"
buffer.database = "mysql://app@db.invalid/ids"
[leaf]
kind = "segment"
segment.schema = "leaf"
store = "mysql://app@db.invalid/ids"
"""


def test_a_table_of_a_file_is_used_but_not_its_store(tmp_path: Path) -> None:
    file = tmp_path / "idgen.toml"
    file.write_text(TOML)
    assert testing.open(file, "orders", start=41).next_text() == "SO-000041"
    events = testing.open(file, "events", at=AT)
    assert events.decode(events.next()).time == AT
    assert testing.open(file, "events", at=AT, worker=9).name == "events"
    bills = testing.open(file, "bills", at=AT, start=7)
    assert [bills.next_text(), bills.next_text()] == ["202611210007", "202611210008"]
    bills.clock.advance(timedelta(days=1))
    assert bills.next_text() == "202611220007"
    assert testing.open(file, "buffered", start=3).next() == 3
    assert testing.open(file, "leaf", start=3).next() == 3
    events = testing.open(file, "events", at=AT, sequence=5)
    assert events.decode(events.next()).sequence == 5
    assert list(tmp_path.iterdir()) == [file]


def test_a_told_exception_is_raised_with_its_cause() -> None:
    class OfTheProgram(idgen.StoreUnavailableError):
        def __init__(self, shard: int) -> None:
            super().__init__(f"shard {shard} is down", retryable=True)
            self.shard = shard

    told = OfTheProgram(7)
    told.__cause__ = OSError("no route")
    ids = testing.segment()
    ids.fail_next(2, told)
    for _ in range(2):
        with pytest.raises(OfTheProgram, match="shard 7 is down") as raised:
            ids.next()
        assert (raised.value is told, raised.value.shard, raised.value.__cause__) == (False, 7, told.__cause__)
    plain = idgen.StoreUnavailableError("down")
    plain.__cause__ = told
    ids.fail_next(1, plain)
    with pytest.raises(idgen.StoreUnavailableError) as again:
        ids.next()
    assert (again.value is plain, again.value.__cause__) == (False, told)
    assert ids.next() == 1


def test_only_what_a_block_holds_counts_towards_a_failure() -> None:
    ids = testing.snowflake()
    ids.fail_after(5000, idgen.ExhaustedError)
    held = ids.next_block(5000).count
    assert held < 5000
    assert len(ids.next_batch(5000 - held)) == 5000 - held
    with pytest.raises(idgen.ExhaustedError):
        ids.next()


def test_what_does_not_apply_is_refused_with_what_is_allowed() -> None:
    for make, says in (
        (lambda: testing.generator(worker=1, start=5), "start is for numbers"),
        (lambda: testing.generator(kind="segment", sequence=5), "sequence is for snowflakes"),
        (lambda: testing.snowflake(sequence=4096), "allowed: 0 to 4095"),
        (lambda: testing.snowflake(sequence=-1), "allowed: 0 to 4095"),
        (lambda: testing.segment(start=0), "allowed: 1 to 4611686018427387904"),
        (lambda: testing.segment(start=2**62 + 1), "allowed: 1 to 4611686018427387904"),
        (lambda: testing.segment(store="memory"), "a store of its own"),
        (lambda: testing.snowflake(clock=time.time_ns), "at="),
        (lambda: testing.snowflake(datetime(2026, 1, 1)), "no time zone"),
        (lambda: testing.segment().fail_next(0), "1 and above"),
        (lambda: testing.segment().fail_after(-1), "0 and above"),
        (lambda: testing.ManualClock().advance(-1), "use set_back"),
        (lambda: testing.ManualClock().set_back(timedelta(-1)), "use advance"),
        (lambda: testing.segment().next_batch(-1), "allowed: 0 to"),
    ):
        with pytest.raises(idgen.ArgumentError, match=says):
            make()
    with pytest.raises(TypeError, match=r"an idgen\.Error, a class or an instance"):
        testing.segment().fail_next(1, ValueError)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="stands at a datetime"):
        testing.ManualClock().set(1.5)  # type: ignore[arg-type]


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


def test_many_threads_share_the_told_ids() -> None:
    ids = testing.segment()
    ids.fail_after(100, idgen.ExhaustedError)
    seen: list[int] = []

    def draw() -> None:
        for id in iter(lambda: ids.next(), None):
            seen.append(id)

    def until_it_fails() -> None:
        with pytest.raises(idgen.ExhaustedError):
            draw()

    threads = [threading.Thread(target=until_it_fails) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(seen) == list(range(1, 101))


def test_nothing_is_left_of_a_generator_that_is_closed_and_forgotten() -> None:
    ids = testing.snowflake()
    ids.next()
    left = weakref.ref(ids.clock)
    ids.close()
    del ids
    wait_until_forgotten(left)


def test_a_call_that_is_refused_uses_up_nothing_that_was_told() -> None:
    ids = testing.segment(1)
    ids.fail_after(3, idgen.ExhaustedError)
    refused: list[Callable[[], object]] = [
        lambda: ids.fill(memoryview(bytes(16))),
        lambda: ids.next_for_each([1, 2]),  # a plain segment has no owners
        lambda: ids.next_for(1),
    ]
    for call in refused:
        with pytest.raises((idgen.Error, TypeError, BufferError)):
            call()
    assert ids.next_list(3) == [1, 2, 3]
    with pytest.raises(idgen.ExhaustedError):
        ids.next()


def test_two_batches_that_fail_with_the_programs_own_error_keep_their_ids_apart() -> None:
    class OfTheProgram(idgen.ExhaustedError):
        def __init__(self, shard: int, *, because: str) -> None:
            super().__init__(f"shard {shard} is full: {because}")
            self.shard = shard

    ids = testing.segment()
    mine = OfTheProgram(7, because="no disk")
    mine.written, mine.ids = 3, array.array("q", [7, 8, 9])  # of another call, which it comes from
    failures: list[OfTheProgram] = []
    for _ in range(2):
        ids.fail_after(2, mine)
        for n in (5, 1):
            with pytest.raises(OfTheProgram, match=r"^shard 7 is full: no disk$") as raised:
                ids.next_batch(n)
            failures.append(raised.value)
    assert [failure.written for failure in failures] == [2, 0, 2, 0]
    assert [list(failure.ids or ()) for failure in failures] == [[1, 2], [], [3, 4], []]
    assert {failure.shard for failure in failures} == {7}


def test_an_error_made_of_a_message_alone_is_the_error_of_its_class() -> None:
    ids = testing.segment()
    for told in (idgen.StoreUnavailableError("db01 is down", retry_after=2.5), idgen.HostError("db01 is down")):
        told.__cause__ = OSError("no route")
        ids.fail_next(1, told)
        with pytest.raises(type(told), match=r"^db01 is down$") as raised:
            ids.next()
        ids.fail_next(1, type(told))
        with pytest.raises(type(told)) as of_the_class:
            ids.next()
        for name in ("status", "name", "retryable"):
            assert getattr(raised.value, name) == getattr(of_the_class.value, name), name
        assert (raised.value.retry_after, raised.value.__cause__) == (told.retry_after, told.__cause__)
    assert ids.try_next() == 1
    ids.fail_next(1, idgen.StoreUnavailableError("db01 is down"))
    assert ids.try_next() is None  # so it is retryable


def test_a_fill_takes_and_refuses_the_buffers_that_production_does() -> None:
    ids = testing.segment()
    ids.fail_after(2, idgen.ExhaustedError)
    refused: list[Any] = [
        array.array("d", [0.0] * 4),
        array.array("i", [0] * 8),
        bytearray(32),
        bytes(32),
        np.zeros(4, ">i8"),
        np.zeros(8, np.int64)[::2],
        np.zeros((2, 4), np.int64).T,
        [0],
    ]
    for buffer in refused:
        with pytest.raises(idgen.InvalidBufferError) as said:
            ids.fill(buffer)
        with pytest.raises(idgen.InvalidBufferError) as wanted:
            ids.get().fill(buffer)
        assert str(said.value) == str(wanted.value)
    assert ids.fill(array.array("q")) == 0
    taken: list[Any] = [
        array.array("Q", [0] * 4),
        memoryview(bytearray(32)).cast("q"),
        np.zeros((2, 2), np.int64),
        (ctypes.c_int64 * 4)(),
    ]
    begun = 1
    for buffer in taken:
        with pytest.raises(idgen.ExhaustedError) as raised:
            ids.fill(buffer)
        assert raised.value.written == 2
        assert np.asarray(buffer).ravel().tolist() == [begun, begun + 1, 0, 0]
        begun += 2
        ids.fail_after(2, idgen.ExhaustedError)
    one = np.zeros((), np.int64)
    assert ids.fill(one) == 1
    assert one == begun


def test_what_is_no_list_of_owners_fails_as_in_production() -> None:
    ids = testing.generator(kind="business")
    ids.fail_next(1, idgen.ExhaustedError)
    wrong: list[Any] = ["abc", b"abc", "", 5, None, np.array(5)]
    for owners in wrong:
        for name in ("next_for_each", "next_wide_for_each"):
            with pytest.raises(TypeError) as said:
                getattr(ids, name)(owners)
            with pytest.raises(TypeError) as wanted:
                getattr(ids.get(), name)(owners)
            assert str(said.value) == str(wanted.value)
    ids.recover()
    assert len(ids.next_for_each(np.array([1, 2]))) == 2
    mixed: list[Any] = ["a", b"b", 3]
    assert len(ids.next_wide_for_each(iter(mixed))) == 3


def test_only_ids_that_were_drawn_count_towards_a_failure() -> None:
    ids = testing.snowflake(AT)
    ids.next()
    calls: list[Callable[[], object]] = [
        ids.next,
        ids.next_text,
        lambda: ids.next_block(1),
        lambda: ids.next_block(7),
        lambda: asyncio.run(ids.next_async()),
    ]
    for call in calls:
        ids.clock.set_back(3600)
        ids.fail_after(1, idgen.ExhaustedError)
        with pytest.raises(idgen.ClockBackError):
            call()
        ids.clock.set(AT)
        ids.next()
        with pytest.raises(idgen.ExhaustedError):
            ids.next()
    ids.clock.set_back(1)
    ids.fail_after(1, idgen.ExhaustedError)
    assert ids.try_next() is None  # there is none without waiting
    ids.next()
    with pytest.raises(idgen.ExhaustedError):
        ids.next()

    owned = testing.generator(kind="business")
    owned.fail_after(1, idgen.ExhaustedError)
    with pytest.raises(idgen.UnsupportedError):
        owned.try_next()
    owned.next_for(42)
    with pytest.raises(idgen.ExhaustedError):
        owned.next_for(42)


@pytest.mark.parametrize("n", [6, 9])
def test_of_a_batch_that_fails_by_itself_only_what_it_has_drawn_counts(n: int) -> None:
    layout = "time:30s worker:10 sequence:2"
    ids = testing.snowflake(AT, layout=layout, sequence_start="zero", wait_max="100ms")
    for draw in (ids.next_batch, ids.next_list, lambda n: ids.fill(array.array("q", [0] * n))):
        ids.clock.advance(1)
        ids.fail_after(6, idgen.StoreFullError)
        with pytest.raises(idgen.OverloadedError) as raised:
            draw(n)  # waits longer than it may for the next tick
        assert raised.value.written == 4
        ids.clock.advance(1)
        ids.next_batch(2)
        with pytest.raises(idgen.StoreFullError):
            ids.next()


def test_a_table_with_a_new_epoch_begins_there() -> None:
    epoch = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)
    with testing.snowflake(epoch=epoch, sequence=3) as ids:
        assert ids.clock.now == epoch
        parts = ids.decode(ids.next())
        assert (parts.time, parts.sequence) == (epoch, 3)
    with pytest.raises(idgen.LifetimeError, match="2026-03-01"):
        testing.snowflake(epoch - timedelta(days=1), epoch=epoch)
    with pytest.raises(idgen.LifetimeError, match="9999"):
        testing.snowflake(epoch=datetime(9999, 1, 1, tzinfo=timezone.utc))


def test_numbers_that_are_not_whole_are_a_type_error() -> None:
    untyped: Any = testing
    ids = untyped.segment()
    calls: list[Callable[[], object]] = [
        lambda: ids.fail_next(1.5),
        lambda: ids.fail_after(1.5),
        lambda: ids.next_batch(3.0),
        lambda: ids.next_list(3.0),
        lambda: ids.next_block(3.0),
        lambda: untyped.segment(start=1.5),
        lambda: untyped.snowflake(sequence=1.5),
    ]
    for call in calls:
        with pytest.raises(TypeError, match="integer"):
            call()
    ids.fail_next(np.int64(1))
    with pytest.raises(idgen.StoreUnavailableError):
        ids.next()
    assert untyped.segment(start=np.int64(5)).next() == 5


def test_a_clock_is_set_while_nothing_else_moves_it() -> None:
    clock = testing.ManualClock(AT)
    with clock._lock:
        setting = threading.Thread(target=clock.set, args=(AT + timedelta(days=1),))
        setting.start()
        setting.join(0.05)
        assert clock.now == AT
    setting.join()
    assert clock.now == AT + timedelta(days=1)
