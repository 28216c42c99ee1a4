"""What docs/python.md says of numpy's integers as ids: what each library makes of numpy.int64."""

from __future__ import annotations

import json
import sqlite3
from importlib import import_module
from typing import Any

import idgen
import numpy as np
import pytest
import sqlalchemy

pymysql_converters: Any = import_module("pymysql.converters")
psycopg_sql: Any = import_module("psycopg.sql")
psycopg2_extensions: Any = import_module("psycopg2.extensions")


@pytest.fixture(params=["next_batch", "fill"])
def seven(request: pytest.FixtureRequest, segment: idgen.Generator) -> Any:
    """The id 7 out of a column."""
    column: Any = np.empty(7, np.int64)
    if request.param == "next_batch":
        column = np.asarray(segment.next_batch(7))  # whose items are numpy.longlong: as large, but another type
    else:
        segment.fill(column)
    assert json.dumps(column.tolist()) == "[1, 2, 3, 4, 5, 6, 7]"
    assert (column + column.astype(np.uint64)).dtype == np.float64
    return column[6]


@pytest.fixture
def database() -> sqlite3.Connection:
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE orders(number integer PRIMARY KEY, id integer)")
    return database


def test_json_refuses_them_as_values_and_as_keys(seven: Any) -> None:
    with pytest.raises(TypeError, match=r"Object of type (int64|longlong) is not JSON serializable"):
        json.dumps({"id": seven})
    with pytest.raises(TypeError, match="keys must be str"):
        json.dumps({seven: "id"})


def test_sqlite3_stores_eight_bytes_and_finds_nothing(seven: Any, database: sqlite3.Connection) -> None:
    database.execute("INSERT INTO orders(number, id) VALUES(1, ?)", (seven,))
    assert database.execute("SELECT id, typeof(id) FROM orders").fetchall() == [(b"\7" + bytes(7), "blob")]
    database.execute("UPDATE orders SET id = 7")
    assert database.execute("SELECT count(*) FROM orders WHERE id = ?", (seven,)).fetchall() == [(0,)]
    assert database.execute("SELECT count(*) FROM orders WHERE id = ?", (int(seven),)).fetchall() == [(1,)]
    with pytest.raises(sqlite3.IntegrityError, match="datatype mismatch"):
        database.execute("INSERT INTO orders(number) VALUES(?)", (seven,))


def test_drivers_refuse_them_or_take_them_as_integers_or_as_text(seven: Any) -> None:
    with pytest.raises(Exception, match=r"can't adapt type 'numpy\.(int64|longlong)'"):
        psycopg2_extensions.adapt(seven)
    assert psycopg2_extensions.adapt(int(seven)).getquoted() == b"7"
    assert psycopg_sql.Literal(seven).as_string(None) == "7"
    assert pymysql_converters.escape_item(seven, "utf8mb4") == "'7'"
    assert pymysql_converters.escape_item(int(seven), "utf8mb4") == "7"


def test_sqlalchemy_leaves_them_to_the_driver(seven: Any) -> None:
    engine = sqlalchemy.create_engine("sqlite://")
    with engine.begin() as connection:
        connection.execute(sqlalchemy.text("CREATE TABLE orders(id bigint)"))
        connection.execute(sqlalchemy.text("INSERT INTO orders VALUES(:id)"), {"id": seven})
        assert connection.execute(sqlalchemy.text("SELECT typeof(id) FROM orders")).scalar() == "blob"
    engine.dispose()


def test_they_are_no_int_and_wrap_around(seven: Any) -> None:
    assert not isinstance(seven, int)
    assert {7: "x"}[seven] == "x"
    with pytest.warns(RuntimeWarning, match="overflow"):
        assert np.int64(2**63 - 1) + np.int64(1) == -(2**63)


def test_a_list_holds_plain_ints(segment: idgen.Generator) -> None:
    ids = segment.next_list(3)
    assert ids == [1, 2, 3]
    assert {type(id) for id in ids} == {int}
    assert json.dumps(ids) == "[1, 2, 3]"
    assert segment.next_list(0) == []
    assert segment.next_list(np.int64(2)) == [4, 5]
    assert idgen.Layout("instagram").is_unsigned
    with idgen.Generator(layout="instagram", shard=1, store="memory:unsigned list") as unsigned:
        assert all(id > 0 for id in unsigned.next_list(100))
    with pytest.raises(idgen.ArgumentError, match="a batch of -1 ids"):
        segment.next_list(-1)
