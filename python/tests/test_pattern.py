"""Ids as text, by a pattern. What patterns write and read is in the vectors, tests/vectors/patterns.tsv."""

from __future__ import annotations

import pickle
from datetime import datetime
from typing import TYPE_CHECKING

import idgen
import pytest
from conftest import distinct, in_threads

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import ManualClock

TWITTER = 1541815603606036480  # 2022-06-28T16:07:40.105Z


def segment(store: str, **more: object) -> idgen.Generator:
    properties = {"kind": "segment", "tag": "orders", "store": store, "store_create": True, **more}
    return idgen.Generator(**properties)  # type: ignore[arg-type]


def test_the_parts_of_a_text_are_the_id_its_number_and_its_local_time() -> None:
    pattern = idgen.TextPattern("ORD-{base62:11}-{check}")
    parts = pattern.parse("ORD-00fFgnDxSe7-7")
    assert (parts.id, parts.number, parts.unit, parts.local_time) == (9007199254740991, 9007199254740991, None, None)
    assert parts[3:] == (1970, 1, 1, 0, 0, 0)
    assert repr(pattern) == "<idgen.TextPattern 'ORD-{base62:11}-{check}'>"
    layout = idgen.Layout("twitter")
    pattern = idgen.TextPattern("{yyyyMMdd HH}-{decimal}", zone="+09:30", layout=layout)
    del layout
    parts = pattern.parse(pattern.format(TWITTER))
    assert (parts.id, parts.unit, parts.local_time) == (TWITTER, "hour", datetime(2022, 6, 29, 1))


def test_mistakes_are_refused() -> None:
    pattern = idgen.TextPattern("{000}")
    for id in (-1, 2**64, bytes(9), b""):
        with pytest.raises(idgen.InvalidValueError):
            pattern.format(id)
    with pytest.raises(TypeError):
        pattern.format("7")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a text is a str, not int"):
        pattern.parse(7)  # type: ignore[arg-type]
    with pytest.raises(idgen.TextError):
        pattern.parse("00\0")
    with pytest.raises(TypeError, match="pattern is a str, not int"):
        idgen.TextPattern(7)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"needs an idgen\.Layout, not str"):
        idgen.TextPattern("{hex}", layout="twitter")  # type: ignore[arg-type]
    with pytest.raises(idgen.ArgumentError, match="a pattern has no NUL characters"):
        idgen.TextPattern("{hex}\0")
    with pytest.raises(idgen.ConfigError):  # a wrong value, or, without the module of zones, unsupported
        idgen.TextPattern("{hex}", zone="+25:00")
    with pytest.raises(TypeError):
        idgen.TextPattern("{hex}", "UTC")  # type: ignore[call-arg]


def test_a_pattern_is_pickled_by_its_arguments() -> None:
    pattern = idgen.TextPattern("{yyyy}/{decimal}", zone="-01:00", layout=idgen.Layout("twitter"))
    again = pickle.loads(pickle.dumps(pattern))
    assert again.format(TWITTER) == pattern.format(TWITTER) == f"2022/{TWITTER}"


def test_a_configuration_has_the_pattern_of_its_generator(tmp_path: Path) -> None:
    file = tmp_path / "idgen.toml"
    file.write_text('[orders]\nlayout = "twitter"\npattern = "{yyyyMMdd}-{hex}"\nzone = "+14:00"\n')
    pattern = idgen.TextPattern.open(file, "orders")
    assert pattern.format(TWITTER) == f"20220629-{TWITTER:016x}"
    with pytest.raises(TypeError, match="of a configuration cannot be pickled"):
        pickle.dumps(pattern)
    assert idgen.TextPattern.open(file, "orders", pattern="{decimal}").format(TWITTER) == str(TWITTER)
    with pytest.raises(idgen.ConfigFileError):
        idgen.TextPattern.open(file, "others")


def test_a_generator_writes_its_ids_by_its_pattern(memory_store: str) -> None:
    before = "№" * 37  # 111 bytes: with its number it is the longest text that there is
    with segment(memory_store, pattern=before + " {decimal:39}") as orders:
        assert [orders.next_text() for _ in range(3)] == [f"{before} {n:039}" for n in (1, 2, 3)]
        assert orders.text_pattern.parse(f"{before} {2:039}").id == 2
        assert orders.next() == 4, "no id is lost"
    with pytest.raises(idgen.ClosedError):
        orders.next_text()
    pattern = orders.text_pattern
    del orders
    assert pattern.format(5) == f"{before} {5:039}"


def test_a_serial_has_a_number_that_is_not_its_id(memory_store: str, manual_clock: ManualClock) -> None:
    with segment(memory_store, kind="serial", pattern="SO{yyyyMMdd}-{000}", clock=manual_clock) as orders:
        assert [orders.next_text() for _ in range(2)] == ["SO20260101-001", "SO20260101-002"]
        parts = orders.text_pattern.parse("SO20260101-002")
        assert (parts.number, parts.unit, parts.local_time) == (2, "day", datetime(2026, 1, 1))
        assert parts.id != 2
        assert orders.text_pattern.format(parts.id) == "SO20260101-002"


def test_threads_write_no_id_twice(memory_store: str) -> None:
    with segment(memory_store, pattern="{base58}-{check}", segment_step=100) as orders:
        pattern = orders.text_pattern

        def work(texts: list[str]) -> None:
            for _ in range(5000):
                texts.append(orders.next_text())
                assert pattern.format(pattern.parse(texts[-1]).id) == texts[-1]

        assert distinct(*in_threads(4, work)) == 20_000
