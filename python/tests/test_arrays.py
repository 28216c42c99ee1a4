"""Whole columns of ids: decode_array agrees with decode, and works without numpy where it can."""

from __future__ import annotations

import array
from typing import Any

import idgen
import numpy as np
import pytest
from conftest import run_python, vectors


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
    unsigned = idgen.Layout("discord")
    column = np.array([2**64 - 1, 5], dtype=np.uint64)
    assert columns_of(unsigned, column.view(np.int64)) == columns_of(unsigned, column)


def test_columns_have_the_shape_of_the_input_and_their_types(snowflake: idgen.Generator) -> None:
    columns = snowflake.decode_array(np.asarray(snowflake.next_batch(6)).reshape(2, 3))
    assert {column.shape for column in columns.values()} == {(2, 3)}
    assert columns["time"].dtype == np.dtype("datetime64[ms]")
    assert columns["worker"].dtype == np.int64
    sizes = {name: column.size for name, column in snowflake.decode_array([]).items()}
    assert sizes == {"time": 0, "ticks": 0, "worker": 0, "sequence": 0}


CONSTANT = "time:41ms fixed:3=5 worker:7 sequence:12"


@pytest.mark.parametrize(
    ("layout", "good", "bad"),
    [
        ("default", 1, -5),
        ("default", 1, 2**63),
        ("default", 1, 2**64),
        (CONSTANT, 5 << 19, 4 << 19),
    ],
)
def test_an_id_of_another_layout_gives_the_error_of_decode(layout: str, good: int, bad: int) -> None:
    of = idgen.Layout(layout)
    with pytest.raises(idgen.InvalidValueError) as alone:
        of.decode(bad)
    inputs: list[Any] = [[good, bad], *([np.array([bad])] if bad < 2**64 else [])]
    for ids in inputs:
        with pytest.raises(idgen.InvalidValueError) as caught:
            of.decode_array(ids)
        assert str(caught.value) == str(alone.value)


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
    buffer = array.array("Q", [0, 0])
    assert generator.fill(buffer) == 2 and list(buffer) == [71, 72]
    try:
        generator.decode_array(batch)
    except ImportError as error:
        assert "idgen[numpy]" in str(error), error
    else:
        raise SystemExit("decode_array worked without numpy")
print("done")
""")
    assert result.stdout == "done\n", result.stderr
