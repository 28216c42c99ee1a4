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
def column(request: pytest.FixtureRequest, segment: idgen.Generator) -> Any:
    if request.param == "next_batch":
        return np.asarray(segment.next_batch(7))  # whose items are numpy.longlong: as large, but another type
    ids = np.empty(7, np.int64)
    segment.fill(ids)
    return ids


@pytest.fixture
def database() -> sqlite3.Connection:
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE orders(number integer PRIMARY KEY, id integer)")
    return database


def test_json_refuses_them_as_values_and_as_keys(column: Any) -> None:
    with pytest.raises(TypeError, match=r"Object of type (int64|longlong) is not JSON serializable"):
        json.dumps({"id": column[6]})
    with pytest.raises(TypeError, match="keys must be str"):
        json.dumps({column[6]: "id"})
    assert json.dumps(column.tolist()) == "[1, 2, 3, 4, 5, 6, 7]"


def test_sqlite3_stores_eight_bytes_and_finds_nothing(column: Any, database: sqlite3.Connection) -> None:
    database.execute("INSERT INTO orders(number, id) VALUES(1, ?)", (column[6],))
    assert database.execute("SELECT id, typeof(id) FROM orders").fetchall() == [(b"\7" + bytes(7), "blob")]
    database.execute("UPDATE orders SET id = 7")
    assert database.execute("SELECT count(*) FROM orders WHERE id = ?", (column[6],)).fetchall() == [(0,)]
    assert database.execute("SELECT count(*) FROM orders WHERE id = ?", (int(column[6]),)).fetchall() == [(1,)]
    with pytest.raises(sqlite3.IntegrityError, match="datatype mismatch"):
        database.execute("INSERT INTO orders(number) VALUES(?)", (column[6],))


def test_psycopg2_refuses_them(column: Any) -> None:
    with pytest.raises(Exception, match=r"can't adapt type 'numpy\.(int64|longlong)'"):
        psycopg2_extensions.adapt(column[6])
    assert psycopg2_extensions.adapt(int(column[6])).getquoted() == b"7"


def test_psycopg_takes_them_as_integers(column: Any) -> None:
    assert psycopg_sql.Literal(column[6]).as_string(None) == "7"


def test_pymysql_sends_them_as_text(column: Any) -> None:
    assert pymysql_converters.escape_item(column[6], "utf8mb4") == "'7'"
    assert pymysql_converters.escape_item(int(column[6]), "utf8mb4") == "7"


def test_sqlalchemy_leaves_them_to_the_driver(column: Any) -> None:
    engine = sqlalchemy.create_engine("sqlite://")
    with engine.begin() as connection:
        connection.execute(sqlalchemy.text("CREATE TABLE orders(id bigint)"))
        connection.execute(sqlalchemy.text("INSERT INTO orders VALUES(:id)"), {"id": column[6]})
        assert connection.execute(sqlalchemy.text("SELECT typeof(id) FROM orders")).scalar() == "blob"
    engine.dispose()


def test_they_are_no_int_and_wrap_around(column: Any) -> None:
    assert not isinstance(column[6], int)
    assert {7: "x"}[column[6]] == "x"
    with pytest.warns(RuntimeWarning, match="overflow"):
        assert np.int64(2**63 - 1) + np.int64(1) == -(2**63)
    assert (column + column.astype(np.uint64)).dtype == np.float64


def test_a_list_holds_plain_ints(segment: idgen.Generator, database: sqlite3.Connection) -> None:
    ids = segment.next_list(3)
    assert ids == [1, 2, 3]
    assert {type(id) for id in ids} == {int}
    assert json.dumps(ids) == "[1, 2, 3]"
    database.executemany("INSERT INTO orders(number) VALUES(?)", [(id,) for id in ids])
    assert segment.next_list(0) == []
    assert segment.next_list(np.int64(2)) == [4, 5]
    assert idgen.Layout("instagram").is_unsigned
    with idgen.Generator(layout="instagram", shard=1, store="memory:unsigned list") as unsigned:
        assert all(id > 0 for id in unsigned.next_list(100))
    with pytest.raises(idgen.ArgumentError, match="a batch of -1 ids"):
        segment.next_list(-1)
    with pytest.raises(TypeError):
        segment.next_list("3")  # type: ignore[arg-type]


def test_a_list_that_fails_halfway_says_what_was_drawn() -> None:
    class Once:
        taken = False

        def segment_take(self, namespace: str, tag: str, count: int) -> int:
            if self.taken:
                raise idgen.TagUnknownError("it is gone")
            self.taken = True
            return 1

        def segment_return(self, namespace: str, tag: str, last: int, unused: int) -> None: ...

    with idgen.Generator(kind="segment", store=Once(), segment_step=5, segment_runway=0) as ids:
        with pytest.raises(idgen.TagUnknownError) as raised:
            ids.next_list(10)
        assert raised.value.written == 5
        assert raised.value.ids is not None
        assert raised.value.ids.tolist() == [1, 2, 3, 4, 5]
