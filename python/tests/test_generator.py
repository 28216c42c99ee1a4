"""Drawing ids: one, many, into memory, by iteration, by several threads."""

from __future__ import annotations

import array
import copy
import itertools
import math
import pickle
import threading
from datetime import datetime, timedelta, timezone
from typing import Any

import idgen
import numpy as np
import pytest
from conftest import distinct, in_threads


def test_single_ids_batches_and_iteration_draw_from_one_counter(segment: idgen.Generator) -> None:
    assert [segment.next(), segment.next_batch(3).tolist(), next(segment)] == [1, [2, 3, 4], 5]
    assert iter(segment) is segment
    assert list(itertools.islice(segment, 4)) == [6, 7, 8, 9]
    assert segment.try_next() == 10


@pytest.mark.parametrize("n", [0, 1, 63, 64, 2000])  # from 64 on without the GIL
def test_next_batch_is_an_array_of_int64(segment: idgen.Generator, n: int) -> None:
    batch = segment.next_batch(n)
    assert type(batch) is array.array
    assert batch == array.array("q", range(1, n + 1))
    assert np.asarray(batch).dtype == np.int64
    batch.append(n + 1)  # nothing holds on to its memory


def test_next_batch_of_an_unsigned_layout_is_an_array_of_uint64(memory_store: str) -> None:
    with idgen.Generator(layout="discord", worker=1, process=2, store=memory_store) as generator:
        batch = generator.next_batch(100)
        assert batch.typecode == "Q"
        assert generator.decode(batch[0]).process == 2


@pytest.mark.parametrize("n", [0, 1, 63, 64, 5000])
@pytest.mark.parametrize("code", ["q", "Q", "l", "L"])
def test_fill_writes_every_item_of_an_array(segment: idgen.Generator, n: int, code: str) -> None:
    buffer = array.array(code, bytes(8 * n))
    assert segment.fill(buffer) == n
    assert buffer.tolist() == list(range(1, n + 1))


def test_fill_takes_numpy_memoryviews_and_casts(segment: idgen.Generator) -> None:
    matrix = np.zeros((2, 3), dtype=np.uint64)
    assert segment.fill(matrix) == 6
    assert matrix.tolist() == [[1, 2, 3], [4, 5, 6]]
    raw = bytearray(16)
    assert segment.fill(memoryview(raw).cast("q")) == 2
    assert raw == (7).to_bytes(8, "little") + (8).to_bytes(8, "little")


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
    timeless = idgen.Layout("segment:63").decode(1)
    assert dict(timeless.fields) == {"segment": 1}
    with pytest.raises(AttributeError, match="no time; it has segment"):
        _ = timeless.time


def test_parts_are_values_that_compare_hash_copy_and_pickle() -> None:
    layout = idgen.Layout()
    parts = layout.decode(5)
    assert parts == layout.decode(5)
    assert parts != layout.decode(6)
    assert {parts: 1}[pickle.loads(pickle.dumps(parts))] == 1
    assert copy.copy(parts) == parts
    assert repr(parts).startswith("Parts(id=5, unix_ms=")


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


def test_leaving_the_context_closes_and_gives_the_rest_back(file_store: str) -> None:
    for id in (1, 2):
        with idgen.Generator(kind="segment", tag="t", store=file_store) as generator:
            assert generator.next() == id
        assert generator.closed


def test_four_threads_never_get_the_same_id(snowflake: idgen.Generator) -> None:
    def draw(mine: list[int]) -> None:
        mine.extend(snowflake.next() for _ in range(20_000))
        mine.extend(snowflake.next_batch(20_000))

    ids = in_threads(4, draw)
    assert all(mine == sorted(mine) for mine in ids)
    assert distinct(*ids) == 4 * 40_000


def test_closing_while_other_threads_draw_ends_them_with_closed(snowflake: idgen.Generator) -> None:
    drawing = threading.Barrier(4)

    def draw(ends: list[type[idgen.Error]]) -> None:
        try:
            for number, _ in enumerate(snowflake):
                if number == 100:
                    drawing.wait(30)
        except idgen.Error as error:
            ends.append(type(error))

    def close() -> None:
        drawing.wait(30)
        snowflake.close()

    assert in_threads(3, draw, meanwhile=close) == [[idgen.ClosedError]] * 3


def test_initialising_twice_changes_nothing(snowflake: idgen.Generator) -> None:
    first = snowflake.next()
    again: Any = snowflake
    again.__init__(worker=9)
    assert snowflake.next() > first
    assert snowflake.decode(snowflake.next()).worker == 7


def test_a_generator_is_neither_pickled_nor_copied_nor_derived_from(snowflake: idgen.Generator) -> None:
    for refuse in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="Make one in each process"):
            refuse(snowflake)
    with pytest.raises(TypeError, match="not an acceptable base type"):
        type("Mine", (idgen.Generator,), {})


def test_describe_stats_and_names_say_what_is_going_on(segment: idgen.Generator) -> None:
    segment.next()
    assert "segment" in segment.describe()
    stats = segment.stats()
    assert stats.handles == 1
    assert stats.issued == stats.granted - stats.remaining == 1
    assert stats.refills >= 1
    assert stats.stock_seconds == math.inf or stats.rate > 0
    assert (segment.kind, segment.name, segment.layout.fields[0].name) == ("segment", "idgen", "segment")
    assert repr(segment) == "<idgen.Generator segment 'idgen', tag 'orders' of namespace 'default'>"
