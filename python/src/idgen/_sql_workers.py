"""Workers in SqlStore's database: the rows of the native stores, read and replaced by single statements.

What a row becomes is decided by the core (core/src/store/worker_rows.hpp), as for the native stores. Here is what is
sent to the database, and what comes from it.
"""

from __future__ import annotations

from typing import Any, NoReturn, Protocol

from ._errors import StoreDamagedError, StorePermissionError, UnsupportedError
from ._store import error
from ._types import WorkerChange, WorkerRow

# The database's clock in Unix milliseconds, whatever the time zone of the session is.
_NOW = {
    "mysql": "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000)",
    "postgres": "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)",
    "sqlite": "CAST(ROUND((julianday('now') - 2440587.5) * 86400000) AS INTEGER)",
}
# TiDB runs a statement that commits by itself optimistically: how many rows it changed may not be what was committed.
_IS_TIDB = {"mysql": "LOCATE('TiDB', VERSION())", "postgres": "0", "sqlite": "0"}
# PostgreSQL: no change is acknowledged before it is on disk, whatever the session says.
_DURABLY = {
    "mysql": "",
    "postgres": " FROM (SELECT set_config('synchronous_commit', 'on', true)) AS durable",
    "sqlite": "",
}
# An INSERT without VALUES can have a condition. Types of parameters are not derived from it in PostgreSQL.
_FROM_NOTHING = {"mysql": " FROM DUAL", "postgres": _DURABLY["postgres"], "sqlite": ""}
_TYPED = {"mysql": ":{}", "postgres": "CAST(:{} AS {})", "sqlite": ":{}"}
# MySQL has no such form that would not count a row that was there already as one that was changed, if the session asks
# for found rows. But its failure leaves the transaction whole.
_IF_ABSENT = {"mysql": "", "postgres": " ON CONFLICT DO NOTHING", "sqlite": " ON CONFLICT DO NOTHING"}

_WHERE = " WHERE ns = :ns AND worker = :worker"
_AS_SEEN = " AND fence = :seen_fence AND owner = :seen_owner AND hw = :seen_hw_ms"
# Named, for pools whose rows are mappings.
_COLUMNS = (
    "{now} AS store_now, {is_tidb} AS is_tidb, worker, fence, owner, hw, lease_until - {now} AS lease_left, "
    "clock_ahead, holder"
)
_READ = f"SELECT {_COLUMNS} FROM (SELECT 1 AS one) AS it LEFT JOIN idgen_worker ON ns = :ns AND worker = :worker"
_LIST = f"SELECT {_COLUMNS} FROM idgen_worker WHERE ns = :ns ORDER BY worker"
_INSERT = (
    "INSERT INTO idgen_worker(ns, worker, fence, owner, hw, lease_until, clock_ahead, holder) "
    "SELECT {ns}, {worker}, {fence}, {owner}, {hw_ms}, {now} + {lease_ms}, {now_ms} - {now}, {holder}"
    "{from_nothing} WHERE {now_ms} - {now} <= {max_lead_ms}{if_absent}"
)
_TAKE = (
    "UPDATE idgen_worker SET fence = :fence, owner = :owner, hw = :hw_ms, lease_until = {now} + :lease_ms, "
    "clock_ahead = :now_ms - {now}, holder = :holder{durably}"
    + _WHERE
    + _AS_SEEN
    + " AND :now_ms - {now} <= :max_lead_ms"
)
_GIVE_UP = (
    "UPDATE idgen_worker SET fence = :fence, owner = :owner, hw = :hw_ms, lease_until = {now}, "
    "holder = :holder{durably}" + _WHERE + _AS_SEEN
)
_FORMAT = "SELECT format FROM idgen_namespace WHERE ns = :ns"
_SET_FORMAT = "INSERT INTO idgen_namespace(ns, format) SELECT {ns}, {format}{from_nothing} WHERE 1 = 1{if_absent}"

# As the native stores make them; a test compares the two.
CREATE_TABLES = {
    "mysql": (
        """CREATE TABLE IF NOT EXISTS idgen_namespace (
  ns VARBINARY(512) NOT NULL PRIMARY KEY,
  format VARBINARY(1024) NOT NULL) ENGINE = InnoDB""",
        """CREATE TABLE IF NOT EXISTS idgen_worker (
  ns VARBINARY(512) NOT NULL,
  worker BIGINT NOT NULL,
  fence BIGINT NOT NULL,
  owner VARBINARY(32) NOT NULL,
  hw BIGINT NOT NULL,
  lease_until BIGINT NOT NULL,
  clock_ahead BIGINT NOT NULL,
  holder VARBINARY(512) NOT NULL,
  PRIMARY KEY (ns, worker)) ENGINE = InnoDB""",
    ),
    "postgres": (
        """CREATE TABLE IF NOT EXISTS idgen_namespace (
  ns varchar(128) NOT NULL PRIMARY KEY,
  format varchar(1024) NOT NULL)""",
        """CREATE TABLE IF NOT EXISTS idgen_worker (
  ns varchar(128) NOT NULL,
  worker bigint NOT NULL CHECK (worker >= 0),
  fence bigint NOT NULL CHECK (fence > 0),
  owner varchar(32) NOT NULL,
  hw bigint NOT NULL,
  lease_until bigint NOT NULL,
  clock_ahead bigint NOT NULL,
  holder varchar(512) NOT NULL,
  PRIMARY KEY (ns, worker))""",
    ),
    "sqlite": (
        """CREATE TABLE IF NOT EXISTS idgen_namespace (
  ns TEXT NOT NULL PRIMARY KEY,
  format TEXT NOT NULL)""",
        """CREATE TABLE IF NOT EXISTS idgen_worker (
  ns TEXT NOT NULL,
  worker INTEGER NOT NULL CHECK (worker >= 0),
  fence INTEGER NOT NULL CHECK (fence > 0),
  owner TEXT NOT NULL,
  hw INTEGER NOT NULL,
  lease_until INTEGER NOT NULL,
  clock_ahead INTEGER NOT NULL,
  holder TEXT NOT NULL,
  PRIMARY KEY (ns, worker))""",
    ),
}
_TYPES = {
    **dict.fromkeys(("ns", "owner", "holder", "format"), "varchar"),
    **dict.fromkeys(("worker", "fence", "hw_ms", "lease_ms", "now_ms", "max_lead_ms"), "bigint"),
}


class Statements(Protocol):
    """What is needed of sql._Statements."""

    dialect: str

    def fetch(self, sql: str, **values: int | str) -> list[list[Any]]: ...
    def change(self, sql: str, **values: int | str) -> int: ...
    def insert(self, sql: str, **values: int | str) -> bool: ...


def _sql(statements: Statements, sql: str) -> str:
    dialect = statements.dialect
    return sql.format(
        now=_NOW[dialect],
        is_tidb=_IS_TIDB[dialect],
        durably=_DURABLY[dialect],
        from_nothing=_FROM_NOTHING[dialect],
        if_absent=_IF_ABSENT[dialect],
        **{name: _TYPED[dialect].format(name, kind) for name, kind in _TYPES.items()},
    )


def found_format(statements: Statements) -> str | None:
    rows = statements.fetch(_FORMAT)
    return _text(rows[0][0]) if rows else None


def set_format(statements: Statements, format: str) -> None:
    """If the namespace has none."""
    statements.insert(_sql(statements, _SET_FORMAT), format=format)


def fail_without_format() -> NoReturn:
    raise error(
        StorePermissionError,
        "a row inserted into idgen_namespace is not there: row-level security, a trigger or a rule prevents that. "
        "Allow this user to insert rows",
    )


def read(statements: Statements, worker: int) -> WorkerRow:
    rows = statements.fetch(_sql(statements, _READ), worker=worker)
    if len(rows) != 1:
        _fail_damaged(worker, f"it has {len(rows)} rows")
    return _row(rows[0], worker)


def all_rows(statements: Statements) -> list[WorkerRow]:
    return [_row(row, row[2]) for row in statements.fetch(_sql(statements, _LIST))]


def replace(statements: Statements, change: WorkerChange) -> bool:
    values = change._asdict()
    if change.seen_fence == 0:
        return statements.insert(_sql(statements, _INSERT), **values)
    return statements.change(_sql(statements, _TAKE if change.owner else _GIVE_UP), **values) == 1


def _row(row: list[Any], worker: int) -> WorkerRow:
    now, is_tidb, _, fence, owner, hw, left, ahead, holder = row
    if is_tidb:
        raise error(
            UnsupportedError,
            "TiDB runs a statement that commits by itself optimistically, so this store cannot know whether it has the "
            'worker; use store = "mysql://...", which knows TiDB',
        )
    if fence is None:
        return WorkerRow(worker, 0, "", 0, 0, 0, _number(worker, now), "")
    if _number(worker, fence) < 1:
        _fail_damaged(worker, f"its fence is {fence}, outside 1 to 2^63 - 2")
    hw, left, ahead, now = (_number(worker, value) for value in (hw, left, ahead, now))
    return WorkerRow(worker, fence, _text(owner), hw, left, ahead, now, _text(holder))


def _number(worker: int, value: Any) -> int:
    if not isinstance(value, int):
        _fail_damaged(worker, f"{value!r} is no whole number of 64 bits")
    return value


def _text(value: Any) -> str:
    return str(value, "utf-8", "replace") if isinstance(value, (bytes, bytearray, memoryview)) else str(value)


def _fail_damaged(worker: int, what: str) -> NoReturn:
    raise error(StoreDamagedError, f"worker {worker}: {what}. Set its row in idgen_worker right by hand")
