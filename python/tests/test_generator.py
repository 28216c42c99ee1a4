"""Drawing ids: one, many, into memory, by iteration, by several threads."""

from __future__ import annotations

import array
import copy
import itertools
import math
import pickle
import threading
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import idgen
import numpy as np
import pytest
from conftest import distinct, in_threads


def test_a_new_segment_begins_at_1_and_has_no_gaps(segment: idgen.Generator) -> None:
    assert [segment.next() for _ in range(5)] == [1, 2, 3, 4, 5]
    assert segment.next_batch(3).tolist() == [6, 7, 8]
    assert next(segment) == 9


def test_a_generator_is_its_own_endless_iterator(segment: idgen.Generator) -> None:
    assert iter(segment) is segment
    assert list(itertools.islice(segment, 4)) == [1, 2, 3, 4]


def test_try_next_gives_an_id_or_none(segment: idgen.Generator) -> None:
    assert segment.try_next() in (1, None)


@pytest.mark.parametrize("n", [0, 1, 63, 64, 2000])
def test_next_batch_is_an_array_of_int64(segment: idgen.Generator, n: int) -> None:
    batch = segment.next_batch(n)
    assert type(batch) is array.array
    assert batch.typecode == "q"
    assert batch.tolist() == list(range(1, n + 1))
    batch.append(n + 1)  # nothing holds on to its memory


def test_next_batch_of_an_unsigned_layout_is_an_array_of_uint64(memory_store: str) -> None:
    with idgen.Generator(layout="discord", worker=1, process=2, store=memory_store) as generator:
        batch = generator.next_batch(100)
        assert batch.typecode == "Q"
        assert generator.decode(batch[0]).process == 2


def test_a_batch_becomes_a_numpy_array_without_a_copy(segment: idgen.Generator) -> None:
    batch = segment.next_batch(1000)
    column = np.asarray(batch)
    assert column.dtype == np.int64
    assert column.tolist() == list(range(1, 1001))
    batch[0] = 77
    assert column[0] == 77


@pytest.mark.parametrize("n", [1, 63, 64, 5000])
def test_fill_writes_every_item_of_an_array(segment: idgen.Generator, n: int) -> None:
    buffer = array.array("q", bytes(8 * n))
    assert segment.fill(buffer) == n
    assert buffer.tolist() == list(range(1, n + 1))


@pytest.mark.parametrize("code", ["q", "Q", "l", "L"])
def test_fill_takes_every_8_byte_integer_format(segment: idgen.Generator, code: str) -> None:
    buffer = array.array(code, [0, 0])
    assert segment.fill(buffer) == 2
    assert buffer.tolist() == [1, 2]


def test_fill_takes_numpy_memoryviews_and_casts(segment: idgen.Generator) -> None:
    matrix = np.zeros((2, 3), dtype=np.uint64)
    assert segment.fill(matrix) == 6
    assert matrix.tolist() == [[1, 2, 3], [4, 5, 6]]
    raw = bytearray(16)
    assert segment.fill(memoryview(raw).cast("q")) == 2
    assert raw == (7).to_bytes(8, "little") + (8).to_bytes(8, "little")
    assert segment.fill(array.array("q")) == 0
    assert segment.next() == 9


def test_next_block_gives_a_run_that_nobody_else_gets(segment: idgen.Generator) -> None:
    block = segment.next_block(10)
    assert (block.first, block.count, block.stride) == (1, 10, 1)
    assert list(block.ids) == list(range(1, 11))
    assert segment.next() == 11


def test_decode_gives_the_fields_of_the_layout_and_no_other(snowflake: idgen.Generator) -> None:
    before = datetime.now(timezone.utc) - timedelta(milliseconds=2)
    parts = snowflake.decode(snowflake.next())
    assert before < parts.time < datetime.now(timezone.utc) + timedelta(seconds=1)
    assert list(parts.fields) == ["ticks", "worker", "sequence"]
    assert parts.unix_ms == 1735689600000 + parts.ticks
    assert parts.as_dict() == {"time": parts.time, "ticks": parts.ticks, "worker": 7, "sequence": parts.sequence}
    with pytest.raises(AttributeError, match="no datacenter; it has ticks, worker, sequence"):
        _ = parts.datacenter
    with pytest.raises(AttributeError, match="cannot be changed"):
        parts.worker = 8  # type: ignore[misc]
    assert "datacenter" not in dir(parts)
    assert "time" in dir(parts)


def test_parts_are_values_that_compare_hash_copy_and_pickle(snowflake: idgen.Generator) -> None:
    id = snowflake.next()
    parts = snowflake.decode(id)
    assert parts == snowflake.decode(id)
    assert parts != snowflake.decode(id + 1)
    assert {parts: 1}[pickle.loads(pickle.dumps(parts))] == 1
    assert copy.copy(parts) == parts
    assert repr(parts).startswith(f"Parts(id={id}, unix_ms=")


def test_parts_of_a_plain_segment_have_no_time(segment: idgen.Generator) -> None:
    parts = segment.decode(segment.next())
    assert dict(parts.fields) == {"segment": 1}
    with pytest.raises(AttributeError, match="no time; it has segment"):
        _ = parts.time


def test_close_is_idempotent_and_ends_the_generator(snowflake: idgen.Generator) -> None:
    id = snowflake.next()
    assert not snowflake.closed
    snowflake.close()
    snowflake.close()
    assert snowflake.closed
    assert repr(snowflake) == "<idgen.Generator snowflake 'idgen', worker 7 of namespace 'default', closed>"
    assert snowflake.decode(id).worker == 7
    for call in (snowflake.next, snowflake.try_next, lambda: next(snowflake), lambda: snowflake.next_batch(1)):
        with pytest.raises(idgen.ClosedError):
            call()


def test_leaving_the_context_closes_and_gives_the_rest_back(tmp_path: Path) -> None:
    store = f"sqlite:{tmp_path / 'ids.db'}"
    with idgen.Generator(kind="segment", tag="orders", store=store, store_create=True) as first:
        assert first.next() == 1
    assert first.closed
    with idgen.Generator(kind="segment", tag="orders", store=store) as second:
        assert second.next() == 2


def test_four_threads_never_get_the_same_id(snowflake: idgen.Generator) -> None:
    start = threading.Barrier(4)

    def draw(mine: list[int]) -> None:
        start.wait()
        for _ in range(20_000):
            mine.append(snowflake.next())
        mine.extend(snowflake.next_batch(20_000).tolist())

    ids = in_threads(4, draw)
    assert all(mine == sorted(mine) for mine in ids)
    assert distinct(*ids) == 4 * 40_000


def test_closing_while_other_threads_draw_ends_them_with_closed(memory_store: str) -> None:
    generator = idgen.Generator(worker=1, store=memory_store)
    ends: list[BaseException] = []

    def draw() -> None:
        try:
            for _ in generator:
                pass
        except idgen.Error as error:
            ends.append(error)

    threads = [threading.Thread(target=draw) for _ in range(3)]
    for thread in threads:
        thread.start()
    before = generator.next()
    while generator.next() < before + (1 << 24):  # some ms, in ids
        pass
    generator.close()
    for thread in threads:
        thread.join(timeout=30)
        assert not thread.is_alive()
    assert [type(end) for end in ends] == [idgen.ClosedError] * 3


def test_initialising_twice_changes_nothing(snowflake: idgen.Generator) -> None:
    first = snowflake.next()
    again: Any = snowflake
    again.__init__(worker=9)
    assert snowflake.next() > first
    assert snowflake.decode(snowflake.next()).worker == 7


def test_a_generator_is_neither_pickled_nor_copied(snowflake: idgen.Generator) -> None:
    for refuse in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="Make one in each process"):
            refuse(snowflake)


def test_a_generator_has_no_subclasses() -> None:
    with pytest.raises(TypeError, match="not an acceptable base type"):
        type("Mine", (idgen.Generator,), {})


def test_describe_and_stats_say_what_is_going_on(segment: idgen.Generator) -> None:
    segment.next()
    assert "segment" in segment.describe()
    stats = segment.stats()
    assert stats.handles == 1
    assert stats.issued == stats.granted - stats.remaining == 1
    assert stats.refills >= 1
    assert stats.stock_seconds == math.inf or stats.rate > 0


def test_name_kind_and_layout_are_those_of_the_configuration(segment: idgen.Generator) -> None:
    assert segment.kind == "segment"
    assert segment.layout.fields[0].name == "segment"
    assert repr(segment) == "<idgen.Generator segment 'idgen', tag 'orders' of namespace 'default'>"


def test_the_environment_overrides_the_file_and_can_do_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "idgen.toml"
    file.write_text('[orders]\nkind = "segment"\nstore = "memory"\nwait-max = "2s"\n')
    monkeypatch.setenv("IDGEN_ORDERS_KIND", "segment")
    monkeypatch.setenv("IDGEN_ORDERS_STORE", f"sqlite:{tmp_path}/ids.db")
    monkeypatch.setenv("IDGEN_ORDERS_STORE_CREATE", "true")
    with idgen.open(file, "orders") as one, idgen.open(None, "orders") as two:
        assert "ids.db" in one.describe()
        assert len({one.next(), two.next()}) == 2
    monkeypatch.setenv("IDGEN_ORDERS_SEGMENT_STEPP", "1")
    with pytest.raises(idgen.UnknownKeyError, match=r"IDGEN_ORDERS_SEGMENT_STEPP.*IDGEN_ORDERS_SEGMENT_STEP"):
        idgen.open(None, "orders")
