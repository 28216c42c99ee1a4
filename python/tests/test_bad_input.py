"""Every mistake gives a status and a message that says what to do, and loses no id."""

from __future__ import annotations

import array
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import idgen
import numpy as np
import pytest

UNTYPED: Any = idgen.Generator  # for arguments that a type checker would refuse


def error_of(call: Callable[[], object]) -> idgen.Error:
    with pytest.raises(idgen.Error) as caught:
        call()
    assert caught.value.status != 0
    assert str(caught.value)
    return caught.value


def test_an_unknown_keyword_is_reported_before_its_value_is_looked_at() -> None:
    assert error_of(lambda: UNTYPED(wroker=object())).name == "UNKNOWN_KEY"


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        (b"12345678", "read-only"),
        (bytearray(8), "format 'B', 1 bytes each"),
        (array.array("i", [0, 0]), "format 'i', 4 bytes each"),
        (array.array("d", [0.0]), "format 'd', 8 bytes each"),
        (np.zeros(4, dtype=">i8"), "format '>"),
        (np.zeros(4, dtype=np.float64), "format 'd'"),
        (np.zeros(4, dtype="datetime64[ms]"), "memory"),
        (np.zeros(8, dtype=np.int64)[::2], "not contiguous"),
        (memoryview(array.array("q", [0])).toreadonly(), "read-only"),
        ([0, 0], "list is not a buffer"),
        (None, "NoneType is not a buffer"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_a_buffer_of_the_wrong_kind_is_refused_before_an_id_is_drawn(
    segment: idgen.Generator, target: Any, reason: str
) -> None:
    error = error_of(lambda: segment.fill(target))
    assert isinstance(error, idgen.InvalidBufferError)
    assert reason in str(error)
    assert segment.next() == 1


@pytest.mark.parametrize("n", [-1, 2**60, 2**80])
def test_a_batch_of_impossible_size_is_refused(segment: idgen.Generator, n: int) -> None:
    assert isinstance(error_of(lambda: segment.next_batch(n)), idgen.ArgumentError)
    assert segment.next() == 1


def test_a_batch_larger_than_memory_is_a_memory_error(segment: idgen.Generator) -> None:
    with pytest.raises(MemoryError):
        segment.next_batch(2**59)
    assert segment.next() == 1


@pytest.mark.parametrize("n", [1.5, "3", None])
def test_a_batch_size_that_is_no_integer_is_a_type_error(segment: idgen.Generator, n: Any) -> None:
    with pytest.raises(TypeError):
        segment.next_batch(n)
    assert segment.next() == 1


@pytest.mark.parametrize("id", [-1, 2**64, 2**100])
def test_an_id_that_no_layout_has_is_refused(snowflake: idgen.Generator, id: int) -> None:
    error = error_of(lambda: snowflake.decode(id))
    assert isinstance(error, idgen.InvalidValueError)
    assert "0 to 18446744073709551615" in str(error)


@pytest.mark.parametrize("id", [1.0, "1", None])
def test_an_id_that_is_no_integer_is_a_type_error(snowflake: idgen.Generator, id: Any) -> None:
    with pytest.raises(TypeError):
        snowflake.decode(id)


def test_an_object_without_init_gives_the_cores_error_for_a_null_handle() -> None:
    bare: Any = idgen.Generator.__new__(idgen.Generator)
    calls: list[Callable[[], object]] = [
        bare.next,
        bare.try_next,
        lambda: next(bare),
        lambda: bare.next_batch(2),
        lambda: bare.next_batch(5000),
        lambda: bare.fill(array.array("q", [0])),
        lambda: bare.next_block(1),
        bare.next_async,
        lambda: bare.__aiter__(),
        lambda: bare.decode(1),
        lambda: bare.decode_array([1]),
        bare.describe,
        bare.stats,
        bare.close,
        bare.__enter__,
        lambda: bare.layout,
        lambda: bare.name,
        lambda: bare.kind,
        lambda: bare.closed,
    ]
    for call in calls:
        error = error_of(call)
        assert isinstance(error, idgen.HandleError)
        assert "NULL" in str(error)
    assert repr(bare) == "<idgen.Generator, not initialised>"


def test_a_method_on_an_object_of_another_type_is_a_type_error() -> None:
    layout: Any = idgen.Layout()
    methods: list[Any] = [idgen.Generator.next, idgen.Generator.describe, idgen.Generator.close, idgen.Generator.stats]
    for method in methods:
        for wrong in (42, None, layout):
            with pytest.raises(TypeError):
                method(wrong)


def test_a_layout_without_init_is_a_type_error() -> None:
    bare: Any = idgen.Layout.__new__(idgen.Layout)
    with pytest.raises(TypeError):
        bare.decode(1)


def test_an_unknown_encoding_names_the_known_ones() -> None:
    encoding: Any = "base61"
    error = error_of(lambda: idgen.format_id(1, encoding))
    assert "decimal, hex, crockford, base58, base62" in str(error)


def test_a_nul_character_is_never_cut_off_in_silence(tmp_path: Path) -> None:
    assert error_of(lambda: idgen.Generator(store="memory:a\0b", worker=1)).name == "ARGUMENT"
    assert error_of(lambda: idgen.Layout("default\0")).name == "ARGUMENT"
    assert error_of(lambda: idgen.Layout("default", "2025\0")).name == "ARGUMENT"
    assert error_of(lambda: idgen.open(str(tmp_path / "a\0b"), "orders")).name == "ARGUMENT"
    assert error_of(lambda: idgen.open(tmp_path / "idgen.toml", "a\0b")).name == "ARGUMENT"
    assert error_of(lambda: UNTYPED(**{"work\0er": 1})).name == "ARGUMENT"
    assert error_of(lambda: idgen.segment_max_of("or\0ders", "id", store="memory")).name == "ARGUMENT"
    assert error_of(lambda: idgen.segment_max_of("orders", "i\0d", store="memory")).name == "ARGUMENT"
    # Not a C string: this function takes a length, and the error has the position.
    assert error_of(lambda: idgen.parse_id("12\0", "decimal")).name == "TEXT"


def test_text_that_is_no_unicode_is_refused_with_a_status() -> None:
    assert error_of(lambda: idgen.Generator(store="memory:\ud800", worker=1)).name == "VALUE"
    assert error_of(lambda: UNTYPED(**{"\ud800": 1})).name == "VALUE"
    assert error_of(lambda: UNTYPED(**{"work\udcffer": 1})).name == "UNKNOWN_KEY"
    nonsense: Any = {"\udcff": 1}
    assert error_of(lambda: idgen.Layout().encode(**nonsense)).name == "ARGUMENT"


def test_paths_that_are_not_utf8_work_as_everywhere_in_python(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    idgen.Generator(worker=1, store=f"sqlite:{folder / 'one.db'}", store_create=True).close()
    assert (folder / "one.db").exists()
    with idgen.Generator(worker=1, store="sqlite:two.db", directory=folder, store_create=True) as generator:
        assert generator.describe()
    assert (folder / "two.db").exists()
    toml = folder / "idgen.toml"
    toml.write_text('[orders]\nstore = "sqlite:three.db"\nstore_create = true\nworker = 1\n')
    assert idgen.config_names(toml) == ("orders",)
    idgen.open(toml, "orders").close()
    assert (folder / "three.db").exists()
    with idgen.Generator(worker=1, store="memory", name="caf\udce9") as generator:
        assert generator.name == "caf\udce9"
        assert "caf" in repr(generator)
