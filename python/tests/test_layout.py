"""Layouts without a generator. What they decode and encode is in the vectors, tests/vectors/layouts.tsv."""

from __future__ import annotations

import copy
import pickle
from datetime import datetime, timezone
from typing import Any

import idgen
import pytest


def test_encode_takes_the_time_in_three_forms() -> None:
    layout = idgen.Layout("twitter")
    id = 1541815603606036480
    parts = layout.decode(id)
    assert parts.time == datetime(2022, 6, 28, 16, 7, 40, 105000, tzinfo=timezone.utc)
    node: Any = {"datacenter": parts.datacenter, "worker": parts.worker, "sequence": parts.sequence}
    for time in ({"time": parts.time}, {"unix_ms": parts.unix_ms}, {"ticks": parts.ticks}):
        assert layout.encode(**time, **node) == id
    assert layout.encode(time=parts.time) <= id


@pytest.mark.parametrize(
    ("fields", "error", "reason"),
    [
        ({"shard": 1}, "ARGUMENT", "no field 'shard'; it has time .or unix_ms, or ticks., datacenter, worker, sequ"),
        ({"worker": 32}, "VALUE", "worker"),
        ({"worker": -1}, "VALUE", "0 to"),
        ({"ticks": 1, "unix_ms": 2}, "ARGUMENT", "one of time, unix_ms and ticks"),
        ({"unix_ms": -(2**63)}, "VALUE", "before the layout's epoch"),
        ({"unix_ms": 2**63 - 1}, "VALUE", "time"),
        ({"unix_ms": 2**63}, "VALUE", "9223372036854775808 is out of range"),
        ({"unix_ms": -(2**63) - 1}, "VALUE", "out of range"),
        ({"time": datetime(2026, 1, 1)}, "VALUE", "no time zone"),
    ],
)
def test_encode_refuses_what_the_layout_cannot_hold(fields: Any, error: str, reason: str) -> None:
    with pytest.raises(idgen.ConfigError, match=reason) as caught:
        idgen.Layout("twitter").encode(**fields)
    assert caught.value.name == error


def test_encode_refuses_values_of_other_types() -> None:
    wrong: Any
    for wrong in ({"worker": "3"}, {"unix_ms": "x"}, {"unix_ms": 1.5}, {"unix_ms": None}, {"time": "2026-01-01"}):
        with pytest.raises(TypeError):
            idgen.Layout("twitter").encode(**wrong)
    with pytest.raises(idgen.ArgumentError, match="no time; it has"):
        idgen.Layout("business64").encode(unix_ms=5)


def test_a_layout_is_a_value() -> None:
    layout = idgen.Layout("time:41ms worker:10 sequence:12", "2025-01-01T00:00:00Z")
    assert layout == idgen.Layout.parse("default")
    assert layout.preset == "default"
    assert layout != idgen.Layout("twitter")
    assert layout != "default"
    assert {layout: 1}[idgen.Layout()] == 1
    for twin in (pickle.loads(pickle.dumps(layout)), copy.deepcopy(layout)):
        assert twin == layout
    assert eval(repr(layout), {"Layout": idgen.Layout}) == layout
    fields = (("time", 41, 22), ("worker", 10, 12), ("sequence", 12, 0))
    assert layout.fields == fields
    assert (layout.bits, layout.is_unsigned) == (63, False)


def test_years_left_count_from_the_given_moment() -> None:
    layout = idgen.Layout("uid-generator")
    assert layout.info(datetime(2016, 6, 1, tzinfo=timezone.utc)).years_left > 8
    assert layout.info().years_left < 0


def test_time_beyond_the_year_9999_is_an_overflow_but_unix_ms_is_not() -> None:
    parts = idgen.Layout("mastodon").decode(2**64 - 1)
    assert parts.unix_ms == 2**48 - 1
    with pytest.raises(OverflowError):
        _ = parts.time
