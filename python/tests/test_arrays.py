"""Whole columns of ids: decode_array agrees with decode, and works without numpy where it can."""

from __future__ import annotations

import array
from typing import Any

import idgen
import numpy as np
import pytest
from conftest import run_python, vectors

FIELDS = ("time", "datacenter", "worker", "process", "shard", "sequence", "gene", "version", "segment", "fixed")


def columns_of(layout: idgen.Layout, ids: Any) -> dict[str, list[int]]:
    columns = layout.decode_array(ids)
    return {name: (column.astype(np.int64) if name == "time" else column).tolist() for name, column in columns.items()}


def test_decode_array_agrees_with_every_vector() -> None:
    by_layout: dict[tuple[str, str], list[int]] = {}
    for text, epoch, id_text, *_ in vectors("layouts.tsv"):
        by_layout.setdefault((text, epoch), []).append(int(id_text))
    for (text, epoch), ids in by_layout.items():
        layout = idgen.Layout(text, epoch)
        columns = columns_of(layout, np.array(ids, dtype=np.uint64))
        for position, id in enumerate(ids):
            parts = layout.decode(id)
            got = {name: column[position] for name, column in columns.items()}
            expected = dict(parts.fields)
            if "ticks" in expected:
                expected["time"] = parts.unix_ms
            assert got == expected, (text, epoch, id)


def test_an_id_with_another_constant_than_the_layouts_gives_the_error_of_decode() -> None:
    layout = idgen.Layout("time:41ms fixed:3=5 worker:7 sequence:12")
    ids = [layout.encode(ticks=7, worker=worker) for worker in range(3)]
    assert columns_of(layout, ids)["fixed"] == [5, 5, 5]
    with pytest.raises(idgen.InvalidValueError) as caught:
        layout.decode_array([*ids, ids[0] ^ 1 << 19])
    with pytest.raises(idgen.InvalidValueError) as alone:
        layout.decode(ids[0] ^ 1 << 19)
    assert str(caught.value) == str(alone.value)
    assert "an id with fixed 4, but those of layout" in str(alone.value)


def test_every_kind_of_integers_gives_the_same_columns(snowflake: idgen.Generator) -> None:
    batch = snowflake.next_batch(100)
    expected = columns_of(snowflake.layout, batch)
    assert expected["worker"] == [7] * 100
    ids = batch.tolist()
    for same in (
        ids,
        tuple(ids),
        array.array("q", ids),
        memoryview(array.array("Q", ids)),
        np.asarray(batch),
        np.asarray(batch).astype(np.uint64),
        np.asarray(batch).astype(object).tolist(),
        iter(ids),
    ):
        assert columns_of(snowflake.layout, same) == expected


def test_the_shape_of_the_input_is_kept(snowflake: idgen.Generator) -> None:
    columns = snowflake.decode_array(np.asarray(snowflake.next_batch(6)).reshape(2, 3))
    assert {column.shape for column in columns.values()} == {(2, 3)}
    assert columns["time"].dtype == np.dtype("datetime64[ms]")
    assert columns["worker"].dtype == np.int64


def test_no_ids_give_empty_columns(snowflake: idgen.Generator) -> None:
    assert {name: column.size for name, column in snowflake.decode_array([]).items()} == {
        "time": 0,
        "ticks": 0,
        "worker": 0,
        "sequence": 0,
    }


def test_a_signed_column_of_an_unsigned_layout_is_read_as_the_same_bits() -> None:
    layout = idgen.Layout("discord")
    ids = np.array([2**64 - 1, 5], dtype=np.uint64)
    assert columns_of(layout, ids.view(np.int64)) == columns_of(layout, ids)


@pytest.mark.parametrize("ids", [[1, -5], [2**63], [2**64], np.array([-5]), np.array([2**63], dtype=np.uint64)])
def test_an_id_outside_the_layout_gives_the_error_of_decode(snowflake: idgen.Generator, ids: Any) -> None:
    with pytest.raises(idgen.InvalidValueError) as caught:
        snowflake.decode_array(ids)
    bad = next(int(id) for id in ids if not 0 <= int(id) < 2**63)
    with pytest.raises(idgen.InvalidValueError) as single:
        snowflake.decode(bad)
    assert str(caught.value) == str(single.value)


@pytest.mark.parametrize("ids", [[1.0], ["1"], np.array([1.5]), np.array([True]), [True], [None], 5])
def test_anything_but_integers_is_a_type_error(snowflake: idgen.Generator, ids: Any) -> None:
    with pytest.raises(TypeError):
        snowflake.decode_array(ids)


def test_a_wide_layout_cannot_be_decoded_from_64_bits() -> None:
    with pytest.raises(idgen.UnsupportedError):
        idgen.Layout("business128").decode_array([1])


def test_without_numpy_batches_are_the_same_and_decode_array_says_what_to_install() -> None:
    result = run_python("""
import sys
sys.modules["numpy"] = None  # as if it were not installed
import array, idgen
with idgen.Generator(kind="segment", tag="t", store="memory", store_create=True) as generator:
    batch = generator.next_batch(70)
    assert type(batch) is array.array and batch.typecode == "q" and list(batch) == list(range(1, 71)), batch
    assert list(generator.next_batch(0)) == []
    batch.append(1)  # no export is left on it
    buffer = array.array("Q", [0, 0])
    assert generator.fill(buffer) == 2 and list(buffer) == [71, 72]
    try:
        generator.decode_array(batch)
    except ImportError as error:
        assert "idgen[numpy]" in str(error), error
    else:
        raise SystemExit("decode_array worked without numpy")
with idgen.Generator(layout="mastodon", store="memory:u") as generator:
    assert generator.next_batch(3).typecode == "Q"
print("done")
""")
    assert result.stdout == "done\n", result.stderr


def test_neither_the_import_nor_a_batch_imports_what_nobody_asked_for() -> None:
    result = run_python("""
import sys, idgen
with idgen.Generator(worker=1, store="memory") as generator:
    for n in (0, 10, 5000):
        generator.next_batch(n)
    generator.fill(memoryview(bytearray(8 * 10)).cast("q"))
print({"numpy", "asyncio", "argparse", "typing_extensions"} & set(sys.modules))
""")
    assert result.stdout == "set()\n", result.stderr
