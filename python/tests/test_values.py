"""Python values as properties, in keywords and in TOML files."""

from __future__ import annotations

import sqlite3
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import idgen
import numpy as np
import pytest
from idgen._values import to_text

if TYPE_CHECKING:
    from idgen._values import PropertyValue


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (False, "false"),
        (42, "42"),
        (2.5, "2.5"),
        ("10s", "10s"),
        (datetime(2025, 1, 1, 1, tzinfo=timezone(timedelta(hours=1))), "1735689600000"),
        (datetime(1969, 12, 31, 23, 59, 59, 999000, tzinfo=timezone.utc), "-1"),
        (timedelta(seconds=10), "10000ms"),
        (timedelta(milliseconds=1), "1ms"),
        (Path("/srv/ids"), "/srv/ids"),
        (np.int64(7), "7"),
    ],
)
def test_values_get_the_text_form_of_the_core(value: PropertyValue, text: str) -> None:
    assert to_text("key", value) == text


@pytest.mark.parametrize(
    ("value", "error", "reason"),
    [
        (datetime(2025, 1, 1), idgen.InvalidValueError, "no time zone"),
        (datetime(2025, 1, 1, microsecond=1, tzinfo=timezone.utc), idgen.InvalidValueError, "whole number of milli"),
        (timedelta(microseconds=1), idgen.InvalidValueError, "whole number of milliseconds"),
        ("a\0b", idgen.ArgumentError, "NUL"),
        *((value, TypeError, "") for value in (date(2025, 1, 1), b"memory", object(), [1], 1j)),
    ],
)
def test_values_that_have_no_text_form_or_would_change_in_silence_are_refused_by_keyword(
    value: Any, error: type[Exception], reason: str
) -> None:
    for keyword in ("epoch", "store"):  # which may also be an object with methods
        with pytest.raises(error, match=f"{keyword}: .*{reason}"):
            idgen.Generator(**{keyword: value})


def test_every_property_is_a_keyword_of_its_own() -> None:
    keywords = [row.keyword for row in idgen.properties()]
    assert len(set(keywords)) == len(keywords)
    assert all(keyword.isidentifier() for keyword in keywords)
    assert {"segment_step", "on_clock_back", "store_create"} <= set(keywords)
    assert not {"clock", "log"} & set(keywords), "clock= and log= would hide a property"


def test_keywords_and_names_of_properties_reach_the_core_and_none_leaves_a_default(memory_store: str) -> None:
    settings = {"kind": "segment", "store": memory_store, "store_create": True, "wait_max": timedelta(seconds=1)}
    settings |= {"segment.step": 100, "segment_runway": "0ms", "layout": None, "clock": None, "log": None}
    with idgen.Generator(**cast(idgen.Properties, settings)) as generator:
        generator.next()
        assert generator.stats().granted == 100
        assert generator.layout == idgen.Layout("segment:63")
        assert "wait_max = 1000ms" in generator.describe()


def test_open_reads_a_table_and_keywords_override_it(tmp_path: Path) -> None:
    path = tmp_path / "idgen.toml"
    path.write_text(
        '[orders]\nkind = "segment"\nstore = "sqlite:ids.db"\n'
        '[events]\nworker = 4\nstore = "sqlite:ids.db"\nstore_create = true\n'
    )
    assert idgen.config_names(path) == ("orders", "events")
    with idgen.open(path, "events", worker=9) as events:
        assert events.name == "events"
        assert events.decode(events.next()).worker == 9
    with idgen.open(str(path), "orders", store_create=True, segment_step=50) as orders:
        assert [orders.next(), orders.kind] == [1, "segment"]
    assert (tmp_path / "ids.db").exists(), "a relative store lies beside the file"


def test_what_would_make_a_tag_is_told_without_making_it(tmp_path: Path) -> None:
    path = tmp_path / "ids.db"
    where: idgen.Properties = {"store": f"sqlite:{path}", "namespace": 128 * "'", "tag": "caf\u00e9" + 120 * "'"}
    statements = idgen.segment_statements(**where)
    assert not path.exists()
    connection = sqlite3.connect(path)
    connection.executescript(statements)
    connection.close()
    assert idgen.segment_show(**where).max_id == 0
    assert idgen.segment_retire(**where).max_id == 0
    assert idgen.segment_show(**where).max_id == 2**63 - 1
