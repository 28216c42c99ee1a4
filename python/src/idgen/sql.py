"""Segments from a database, over connections of the program's own.

    pool = psycopg_pool.ConnectionPool(...)
    orders = idgen.Generator(kind="segment", tag="orders", store=idgen.sql.SqlStore(pool.getconn))

The table is that of the stores ``mysql://`` and ``postgres://``, so both may draw from one tag at the same time.
"""

from __future__ import annotations

import contextlib
import re
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from ._errors import (
    ArgumentError,
    Error,
    ExhaustedError,
    StoreDamagedError,
    StoreFullError,
    StoreMissingError,
    StorePermissionError,
    StoreUnavailableError,
    StoreVersionError,
    TagUnknownError,
    UnsupportedError,
)
from ._store import text_of

__all__ = ["SqlStore"]

_LARGEST = 2**63 - 1
_WHERE = " WHERE ns = :ns AND tag = :tag"
_STAMP = ", updated_unix_ms = :now"

# One statement is one atomic step. PostgreSQL: no grant is acknowledged before it is on disk, whatever the session
# says. TiDB runs a statement that commits by itself optimistically at first, so what LAST_INSERT_ID gave may not be
# what was committed.
_TAKE = {
    "mysql": "UPDATE idgen_segment SET max_id = LAST_INSERT_ID(max_id + :count), grants = grants + 1"
    + _STAMP
    + _WHERE
    + " AND max_id BETWEEN 0 AND :limit AND LOCATE('TiDB', VERSION()) = 0",
    "postgres": "UPDATE idgen_segment SET max_id = max_id + :count, grants = grants + 1"
    + _STAMP
    + " FROM (SELECT set_config('synchronous_commit', 'on', true)) AS durable"
    + _WHERE
    + " AND max_id BETWEEN 0 AND :limit RETURNING max_id",
    "sqlite": "UPDATE idgen_segment SET max_id = max_id + :count, grants = grants + 1"
    + _STAMP
    + _WHERE
    + " AND max_id BETWEEN 0 AND :limit RETURNING max_id",
}
_RETURN = "UPDATE idgen_segment SET max_id = max_id - :unused" + _STAMP + _WHERE + " AND max_id = :last"
_READ = "SELECT max_id FROM idgen_segment" + _WHERE
_VERSION = "SELECT VERSION()"

_DIALECT_BY_DRIVER = {
    "pymysql": "mysql",
    "MySQLdb": "mysql",
    "mysql": "mysql",  # mysql.connector
    "mariadb": "mysql",
    "psycopg": "postgres",
    "psycopg2": "postgres",
    "pg8000": "postgres",
    "sqlite3": "sqlite",
}
_MARK = re.compile(r":(\w+)")
_NUMBERED_MARK = {"qmark": "?", "format": "%s"}
_NAMED_MARK = {"named": ":{}", "pyformat": "%({})s", "numeric": ":{}"}

# What the server says, by MySQL's number or PostgreSQL's SQLSTATE. All else is unknown, or can pass: unavailable.
_PERMISSION = {1045, 1044, 1142, 1143, 1290, 1792, "42501", "25006", "28000", "28P01"}
_ERROR_BY_CODE: dict[object, type[Error]] = {
    **dict.fromkeys((1146, 1049, "42P01", "3D000"), StoreMissingError),
    **dict.fromkeys(_PERMISSION, StorePermissionError),
    **dict.fromkeys((1021, 1114, "53100"), StoreFullError),
    **dict.fromkeys((1054, "42703", "42804"), StoreVersionError),
    **dict.fromkeys((1690, "22003", "23514"), StoreDamagedError),
}
_NO_TABLE = (1146, "42P01")
# libpq gives no SQLSTATE for a connection that is refused, and SQLite none at all.
_ERROR_BY_TEXT: tuple[tuple[str, type[Error]], ...] = (
    ("no such table: idgen_segment", StoreMissingError),
    ("password authentication failed", StorePermissionError),
    ("no pg_hba.conf entry", StorePermissionError),
    ("readonly database", StorePermissionError),
    ("disk is full", StoreFullError),
)
_HOW_TO_CREATE = (
    "Make it with `idgen segment create --store URL --tag TAG`, or INSERT INTO idgen_segment(ns, tag, max_id) "
    "VALUES(NAMESPACE, TAG, 0)"
)


class SqlStore:
    """An ``idgen.Store`` over any DB-API driver for MariaDB, MySQL, PostgreSQL or SQLite.

    Args:
        connect: called for each grant; returns a connection, such as a pool's ``getconn`` or an SQLAlchemy engine's
            ``raw_connection``.
        release: called with the connection when it is done with, such as a pool's ``putconn``. None: its ``close()``.
        dialect: "mysql", "postgres" or "sqlite"; None tells it from the connection's driver.

    A grant is one statement, committed before ``segment_take`` returns, whether or not the connection commits by
    itself; an open transaction that it comes with is rolled back. Where the driver can tell that the statement has
    committed by itself, that is one round trip.

    Raises idgen.StoreError, idgen.ExhaustedError. SQLite: a database of the program's own, never the file of a
    ``sqlite:`` store, which another copy of SQLite must not open in the same process.
    """

    def __init__(
        self,
        connect: Callable[[], Any],
        *,
        release: Callable[[Any], object] | None = None,
        dialect: str | None = None,
    ) -> None:
        if not callable(connect):
            raise TypeError(f"connect: needs a callable that returns a connection, not {type(connect).__name__}")
        if dialect is not None and dialect not in _TAKE:
            raise ValueError(f"dialect: {dialect!r} is none of {', '.join(_TAKE)}")
        self._connect = connect
        self._release = release
        self._dialect = dialect

    def segment_take(self, namespace: str, tag: str, count: int) -> int:
        if count < 1:
            raise ArgumentError(f"a segment of {count} numbers cannot be meant; ask for at least 1")
        if count > _LARGEST:
            self._exhausted(namespace, tag, 0, count)
        with self._statements(namespace, tag) as statements:
            last = statements.take(count)
            if last is None:
                self._refused(statements, namespace, tag, count)
        if not isinstance(last, int) or not count <= last <= _LARGEST:
            raise StoreDamagedError(
                f"the driver gave {last!r} for the end of a grant of {count} numbers; it was not used. For MySQL the "
                "driver must give LAST_INSERT_ID() of an UPDATE as lastrowid"
            )
        return last - count + 1

    def segment_return(self, namespace: str, tag: str, last: int, unused: int) -> None:
        if not 0 <= unused <= last <= _LARGEST:
            raise ArgumentError(f"of a segment that ends at {last}, {unused} numbers cannot be unused")
        if unused == 0:
            return
        with self._statements(namespace, tag) as statements:
            if statements.give_back(last, unused) != 1 and statements.max_id() is None:
                self._unknown(namespace, tag)

    @contextlib.contextmanager
    def _statements(self, namespace: str, tag: str) -> Iterator[_Statements]:
        """For one transaction. What the pool and the driver raise becomes an idgen.Error."""
        try:
            connection = self._connect()
            try:
                statements = _Statements(connection, self._dialect, namespace, tag)
                statements.begin()
                try:
                    yield statements
                    statements.commit()
                except BaseException:
                    with contextlib.suppress(Exception):
                        connection.rollback()
                    raise
            finally:
                (self._release or _close)(connection)
        except Error:
            raise
        except Exception as exception:
            raise _translated(exception) from exception

    def _refused(self, statements: _Statements, namespace: str, tag: str, count: int) -> NoReturn:
        if statements.is_tidb():
            raise UnsupportedError(
                "TiDB runs a statement that commits by itself optimistically, so this store cannot know what it "
                'granted; use store = "mysql://...", which knows TiDB'
            )
        found = statements.max_id()
        if found is None:
            self._unknown(namespace, tag)
        if not isinstance(found, int) or found < 0:
            raise StoreDamagedError(
                f"the table idgen_segment holds {found!r} where a number from 0 to 2^63 - 1 belongs. Set it right by "
                "hand, above the highest id in use"
            )
        if found > _LARGEST - count:
            self._exhausted(namespace, tag, found, count)
        raise StoreUnavailableError(f"tag {tag!r} changed while it was read; nothing was granted")

    @staticmethod
    def _exhausted(namespace: str, tag: str, found: int, count: int) -> NoReturn:
        raise ExhaustedError(
            f'tag "{tag}" of namespace "{namespace}" stands at {found}; {count} more would pass 2^63 - 1. Take a '
            "smaller step, or a new tag"
        )

    @staticmethod
    def _unknown(namespace: str, tag: str) -> NoReturn:
        raise TagUnknownError(
            f'tag "{tag}" of namespace "{namespace}" is not in the table idgen_segment. {_HOW_TO_CREATE}: it begins at '
            "0, so the first id is 1"
        )


class _Statements:
    """The statements of a transaction about one tag, on one connection."""

    def __init__(self, connection: Any, dialect: str | None, namespace: str, tag: str) -> None:
        self._connection = connection
        # An SQLAlchemy engine's raw_connection is a proxy.
        self._driver = getattr(connection, "driver_connection", None) or connection
        name, self._style = _driver_of(self._driver)
        self.dialect = dialect or _DIALECT_BY_DRIVER.get(name, "")
        if not self.dialect:
            raise UnsupportedError(
                f"the connection is a {type(self._driver).__module__}.{type(self._driver).__qualname__}, whose driver "
                f"is not known; known: {', '.join(_DIALECT_BY_DRIVER)}. Name its database: dialect='mysql', 'postgres' "
                "or 'sqlite'"
            )
        # In MySQL the names are bytes, so that the session's character set does not change them.
        as_stored = str.encode if self.dialect == "mysql" else str
        self._names = {"ns": as_stored(namespace), "tag": as_stored(tag)}

    def begin(self) -> None:
        if self._may_be_in_transaction():
            self._connection.rollback()

    def commit(self) -> None:
        if self._may_be_in_transaction():
            self._connection.commit()

    def take(self, count: int) -> Any:
        """The last number of the grant; None if the row was not changed."""
        with self._run(_TAKE[self.dialect], count=count, limit=_LARGEST - count, now=_now()) as cursor:
            if self.dialect == "mysql":
                return cursor.lastrowid if cursor.rowcount == 1 else None
            row = cursor.fetchone()
            return None if row is None else _first(row)

    def give_back(self, last: int, unused: int) -> int:
        with self._run(_RETURN, last=last, unused=unused, now=_now()) as cursor:
            return int(cursor.rowcount)

    def max_id(self) -> Any:
        with self._run(_READ) as cursor:
            row = cursor.fetchone()
            return None if row is None else _first(row)

    def is_tidb(self) -> bool:
        if self.dialect != "mysql":
            return False
        with self._run(_VERSION) as cursor:
            return "TiDB" in str(_first(cursor.fetchone()))

    @contextlib.contextmanager
    def _run(self, sql: str, **values: int) -> Iterator[Any]:
        cursor = self._connection.cursor()
        try:
            cursor.execute(*_in_style(self._style, sql, {**self._names, **values}))
            yield cursor
        finally:
            cursor.close()

    def _may_be_in_transaction(self) -> bool:
        # Of PyMySQL: what the server said with its latest answer. Bit 1: in a transaction, bit 2: commits by itself.
        said = getattr(self._driver, "server_status", None)
        if isinstance(said, int):
            return said & 3 != 2
        # psycopg sends nothing for a commit() or rollback() without a transaction; of the others it is not known.
        return True


def _driver_of(connection: Any) -> tuple[str, str]:
    """(name, paramstyle) of the module that the connection's class, or one that it derives from, comes from."""
    for kind in type(connection).__mro__:
        name = kind.__module__.partition(".")[0]
        for module in (kind.__module__, ".".join(kind.__module__.split(".")[:2]), name):
            style = getattr(sys.modules.get(module), "paramstyle", None)
            if style in _NUMBERED_MARK or style in _NAMED_MARK:
                return name, style
    return "", "qmark"


def _in_style(style: str, sql: str, values: dict[str, Any]) -> tuple[str, Any]:
    """The statement and its parameters as the driver's paramstyle wants them."""
    order = _MARK.findall(sql)
    if style in _NUMBERED_MARK:
        return _MARK.sub(_NUMBERED_MARK[style], sql), tuple(values[name] for name in order)
    if style == "numeric":
        numbers = iter(range(1, len(order) + 1))
        return _MARK.sub(lambda _: f":{next(numbers)}", sql), tuple(values[name] for name in order)
    mark = _NAMED_MARK[style]
    return _MARK.sub(lambda found: mark.format(found[1]), sql), {name: values[name] for name in order}


def _first(row: Any) -> Any:
    """Of a row that is a tuple, or a mapping because the pool likes it so."""
    return next(iter(row.values())) if hasattr(row, "values") else row[0]


def _now() -> int:
    return time.time_ns() // 1_000_000


def _close(connection: Any) -> None:
    connection.close()


def _translated(exception: BaseException) -> Error:
    """By what the server said, which a pool may have wrapped."""
    text = text_of(exception)
    cause: BaseException | None = exception
    for _ in range(8):
        if cause is None:
            break
        codes = _codes_of(cause)
        if not codes.isdisjoint(_NO_TABLE):
            return StoreMissingError(f"the table idgen_segment is not there. {_HOW_TO_CREATE}. The driver: {text}")
        for code in codes & _ERROR_BY_CODE.keys():
            return _ERROR_BY_CODE[code](f"the store's database: {text}")
        for words, kind in _ERROR_BY_TEXT:
            if words in str(cause):
                how = f"{_HOW_TO_CREATE}. The driver: " if kind is StoreMissingError else "the store's database: "
                return kind(how + text)
        cause = cause.__cause__ or cause.__context__
    return StoreUnavailableError(f"the store's database, or the pool of its connections: {text}")


def _codes_of(exception: BaseException) -> set[object]:
    """MySQL's number, PostgreSQL's SQLSTATE, or both, wherever the driver has them."""
    if isinstance(exception, OSError):  # its errno is the system's
        return set()
    first = exception.args[0] if exception.args else None
    if isinstance(first, dict):  # pg8000
        first = first.get("C")
    named = (getattr(exception, name, None) for name in ("sqlstate", "pgcode", "errno"))
    return {code for code in (first, *named) if isinstance(code, (int, str))}
