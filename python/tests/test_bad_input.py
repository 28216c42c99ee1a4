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

UNTYPED: Any = idgen  # for arguments that a type checker would refuse


def test_an_unknown_keyword_is_reported_before_its_value_is_looked_at() -> None:
    with pytest.raises(idgen.UnknownKeyError):
        UNTYPED.Generator(wroker=object())


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        (b"12345678", "read-only"),
        (bytearray(8), "format 'B', 1 bytes each"),
        (array.array("i", [0, 0]), "format 'i', 4 bytes each"),
        (array.array("d", [0.0]), "format 'd', 8 bytes each"),
        (np.zeros(4, dtype=">i8"), "format '>"),
        (np.zeros(4, dtype="datetime64[ms]"), "memory"),
        (np.zeros(8, dtype=np.int64)[::2], "not contiguous"),
        ([0, 0], "list is not a buffer"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_a_buffer_of_the_wrong_kind_is_refused_before_an_id_is_drawn(
    segment: idgen.Generator, target: Any, reason: str
) -> None:
    with pytest.raises(idgen.InvalidBufferError, match=reason):
        segment.fill(target)
    assert segment.next() == 1


def test_a_batch_of_impossible_size_is_refused_before_an_id_is_drawn(segment: idgen.Generator) -> None:
    for n, error in (
        *((-1, idgen.ArgumentError), (2**60, idgen.ArgumentError), (2**80, idgen.ArgumentError)),
        *((2**59, MemoryError), (1.5, TypeError), ("3", TypeError), (None, TypeError)),
    ):
        with pytest.raises(error):
            segment.next_batch(n)  # type: ignore[arg-type]
    assert segment.next() == 1


def test_what_is_no_id_is_not_decoded(snowflake: idgen.Generator) -> None:
    for of in (snowflake, snowflake.layout):
        for outside in (-1, 2**64, 2**100):
            with pytest.raises(idgen.InvalidValueError, match="0 to 18446744073709551615"):
                of.decode(outside)
        for other in (1.0, "1", None):
            with pytest.raises(TypeError):
                of.decode(other)  # type: ignore[arg-type]


def test_an_object_without_init_is_refused_and_is_no_crash() -> None:
    bare: Any = idgen.Generator.__new__(idgen.Generator)
    calls: list[Callable[[], object]] = [
        *(bare.next, bare.try_next, bare.next_text, bare.next_async, bare.describe, bare.stats, bare.close),
        *(bare.__next__, bare.__enter__, bare.__aiter__),
        *(lambda n=n: bare.next_batch(n) for n in (2, 5000)),
        lambda: bare.fill(array.array("q", [0])),
        *(lambda method=method: getattr(bare, method)(1) for method in ("next_block", "next_for", "decode")),
        *(lambda method=method: getattr(bare, method)([1]) for method in ("next_wide_for_each", "decode_array")),
        *(lambda name=name: getattr(bare, name) for name in ("layout", "name", "kind", "closed", "text_pattern")),
    ]
    for call in calls:
        with pytest.raises(idgen.HandleError, match="NULL"):
            call()
    assert repr(bare) == "<idgen.Generator, not initialised>"
    pattern: Any = idgen.TextPattern.__new__(idgen.TextPattern)
    layout: Any = idgen.Layout.__new__(idgen.Layout)
    for call in (
        lambda: pattern.format(1),
        lambda: pattern.parse("1"),
        lambda: repr(pattern),
        lambda: layout.decode(1),
    ):
        with pytest.raises(TypeError, match="made without __init__"):
            call()


def test_a_method_on_an_object_of_another_type_is_a_type_error() -> None:
    methods: list[Any] = [idgen.Generator.next, idgen.Generator.describe, idgen.Generator.close, idgen.Generator.stats]
    for method in methods:
        for wrong in (42, None, idgen.Layout()):
            with pytest.raises(TypeError):
                method(wrong)


def test_an_unknown_encoding_names_the_known_ones() -> None:
    with pytest.raises(idgen.ArgumentError, match="decimal, hex, crockford, base58, base62"):
        UNTYPED.format_id(1, "base61")


def test_text_that_no_c_string_can_be_is_never_cut_off_in_silence(tmp_path: Path) -> None:
    calls: list[tuple[Callable[[], object], str]] = [
        (lambda: idgen.Generator(store="memory:a\0b", worker=1), "ARGUMENT"),
        (lambda: idgen.Layout("default\0"), "ARGUMENT"),
        (lambda: idgen.Layout("default", "2025\0"), "ARGUMENT"),
        (lambda: idgen.open(tmp_path / "a\0b", "orders"), "ARGUMENT"),
        (lambda: idgen.open(tmp_path / "idgen.toml", "a\0b"), "ARGUMENT"),
        (lambda: UNTYPED.Generator(**{"work\0er": 1}), "ARGUMENT"),
        (lambda: idgen.segment_max_of("or\0ders", "id", store="memory"), "ARGUMENT"),
        (lambda: idgen.segment_max_of("orders", "i\0d", store="memory"), "ARGUMENT"),
        # Not a C string: this function takes a length, and the error has the position.
        (lambda: idgen.parse_id("12\0", "decimal"), "TEXT"),
        (lambda: idgen.Generator(store="memory:\ud800", worker=1), "VALUE"),
        (lambda: UNTYPED.Generator(**{"\ud800": 1}), "VALUE"),
        (lambda: UNTYPED.Generator(**{"work\udcffer": 1}), "UNKNOWN_KEY"),
        (lambda: UNTYPED.Layout().encode(**{"\udcff": 1}), "ARGUMENT"),
    ]
    for call, status in calls:
        with pytest.raises(idgen.Error) as caught:
            call()
        assert caught.value.name == status, str(caught.value)


def test_paths_that_are_not_utf8_work_as_everywhere_in_python(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    folder.mkdir()
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
