"""Segments and workers from a database, over connections of the program's own.

    pool = psycopg_pool.ConnectionPool(DSN, min_size=1, max_size=2)  # small, and for idgen alone
    store = idgen.sql.SqlStore(pool.getconn, release=pool.putconn)
    orders = idgen.Generator(kind="segment", tag="orders", store=store)
    events = idgen.Generator(worker="auto", store=store)

The tables are those of the stores ``mysql://`` and ``postgres://``, so both may draw from one tag at the same time, and
no worker is leased by both. Which statements are sent, and what their answers mean, is decided by the core.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from . import _drivers
from ._errors import Error, StoreUnsafeError, UnsupportedError
from ._lending import Lender, NobodyLendsError
from ._store import error
from ._types import SegmentInfo, SegmentRow, WorkerInfo

__all__ = ["SqlStore"]

_DIALECTS = {"mysql": 1, "postgres": 2, "sqlite": 3}  # IDGEN_SQL_*
_REFUSED = 2  # IDGEN_SQL_REFUSED
_DONE = 0  # IDGEN_SQL_DONE


class SqlStore:
    """Segments and workers over any DB-API driver: MariaDB, MySQL, PostgreSQL, SQLite.

    Args:
        connect: called on threads of the store's own; returns a connection that nobody else uses until it is released:
            a pool's ``getconn``, an SQLAlchemy engine's ``raw_connection``, a function that opens one.
        release: called with the connection when it is done with. A pool with ``getconn`` needs its ``putconn`` here:
            without it the connection's ``close()`` is called, which is right for SQLAlchemy and for a function that
            opens one, and would empty such a pool.
        dialect: "mysql", "postgres" or "sqlite"; None tells it from the connection's driver.
        pool_timeout: seconds that one call waits for `connect`. After that the calls that wait for ids end with
            StoreUnavailableError too, and do not wait for ``wait_max``: they may hold the connections themselves.

    Give it a small pool of its own (two connections serve any number of generators): in a pool that transactions share,
    the transactions that ask for ids can hold all connections, and wait for the one that the store needs.

    A grant is one statement, committed before an id of it is issued, whether or not the connection commits by
    itself. Where the driver can tell that it has, that is one round trip. So is the renewal of a worker. A connection
    that comes inside a transaction is refused and left as it is.

    ``create_tables``, ``segment_create`` and the rest are for the program, and may block on the database. Raises
    idgen.StoreError, idgen.ExhaustedError; idgen.ArgumentError and idgen.UnsupportedError for a `connect` that cannot
    work (an async engine, a pool's ``getconn`` without its ``putconn``). SQLite: a database of the program's own, never
    the file of a ``sqlite:`` store.
    """

    def __init__(
        self,
        connect: Callable[[], Any],
        *,
        release: Callable[[Any], object] | None = None,
        dialect: str | None = None,
        pool_timeout: float = 2.0,
    ) -> None:
        self._has_release = release is not None
        _drivers.check_source(connect, self._has_release)
        if dialect is not None and dialect not in _DIALECTS:
            raise ValueError(f"dialect: {dialect!r} is none of {', '.join(_DIALECTS)}")
        if not pool_timeout > 0:
            raise ValueError(f"pool_timeout: {pool_timeout!r} is not a number of seconds above 0")
        self._dialect = dialect
        self._release = release or _close
        self._lender = Lender(connect, self._release, pool_timeout)
        self._closes = False  # connections, in place of giving them back
        self._shared: Any = None  # a connection that the pool lends to others at the same time

    def create_tables(self) -> None:
        """Makes the tables of segments and workers, if they are missing: all that workers need."""
        from ._core import store_create

        store_create(store=self)

    def segment_create(self, namespace: str, tag: str) -> None:
        """Makes the tag at 0, so that its first id is 1, and the table if it is missing. Raises TagExistsError."""
        from ._core import segment_create

        segment_create(store=self, namespace=namespace, tag=tag)

    def segment_show(self, namespace: str, tag: str) -> SegmentInfo:
        """Where a tag stands. Raises TagUnknownError."""
        from ._core import segment_show

        return segment_show(store=self, namespace=namespace, tag=tag)

    def segment_list(self) -> list[SegmentRow]:
        """All tags of all namespaces, in the order of their names."""
        from ._core import segment_list

        return segment_list(store=self)

    def segment_advance(self, namespace: str, tag: str, to: int) -> SegmentInfo:
        """Raises a tag to `to`, or by 1 if it is there already; never lowers it. No later grant holds a number up to
        `to`; what a running generator has reserved before, it still issues. Raises TagUnknownError, ExhaustedError.
        """
        from ._core import segment_advance

        return segment_advance(to, store=self, namespace=namespace, tag=tag)

    def worker_list(self, namespace: str) -> list[WorkerInfo]:
        """All workers of the namespace that anybody has had, by number."""
        from ._core import worker_list

        return worker_list(store=self, namespace=namespace)

    def _with_connection(self, function: Callable[[_Connection, int], int]) -> bool:
        """function(connection, dialect) on a connection that is borrowed for it. False if it failed."""

        def work(connection: Any) -> bool:
            statements = self._statements(connection)
            said = function(statements, _DIALECTS[statements.dialect])
            # Closing the connection of somebody's transaction would roll that back. A `release` is its pool's own.
            if self._has_release or said != _REFUSED:
                self._release(connection)
            return said == _DONE

        try:
            if self._shared is not None:
                raise _drivers.lent_to_others()
            return self._lender.run(work)
        except Error:
            raise
        except NobodyLendsError:
            raise _drivers.nobody_lends(self._lender.bound, self._closes) from None
        except Exception as exception:
            if found := _drivers.known(exception, self._closes):
                raise found from exception
            raise

    def _statements(self, connection: Any) -> _Connection:
        try:
            if _drivers.is_lent_to_others(connection):
                self._shared = connection  # and kept: SQLAlchemy would roll back when it goes
                raise _drivers.lent_to_others()
            _drivers.check_connection(connection, self._has_release)
            statements = _Connection(connection, self._dialect)
            self._closes = not self._has_release and not statements.is_proxied
            return statements
        except BaseException as refused:
            if self._has_release or not isinstance(refused, StoreUnsafeError):
                self._release(connection)
            raise


class _Connection:
    """What the extension module asks of a connection."""

    def __init__(self, connection: Any, dialect: str | None) -> None:
        self._connection = connection
        # An SQLAlchemy engine's raw_connection is a proxy.
        self._driver = getattr(connection, "driver_connection", None) or connection
        self.is_proxied = self._driver is not connection
        name, self._style = _drivers.driver_of(self._driver)
        self.dialect = dialect or _drivers.DIALECT_BY_DRIVER.get(name, "")
        if not self.dialect:
            raise error(
                UnsupportedError,
                f"the connection is a {type(self._driver).__module__}.{type(self._driver).__qualname__}, whose driver "
                f"is not known; known: {', '.join(_drivers.DIALECT_BY_DRIVER)}. Name its database: dialect='mysql', "
                "'postgres' or 'sqlite'",
            )

    def inside(self) -> int:
        """1 or 0; -1: the driver does not say, and MySQL can be asked."""
        found = _drivers.is_in_transaction(self._driver)
        if found is None and self.dialect != "mysql":
            raise error(
                UnsupportedError,
                f"the driver {type(self._driver).__module__} does not tell whether a connection is inside a "
                "transaction, and what is inside one must be left alone; use psycopg or pg8000",
            )
        return -1 if found is None else int(found)

    def execute(self, sql: str, values: list[Any], has_rows: bool, is_alone: bool) -> tuple[int, int, list[Any]]:
        """(changed rows, last inserted id, rows)."""
        cursor = self._connection.cursor()
        try:
            cursor.execute(*_drivers.in_style(self._style, sql, values))
            rows = [[_drivers.cell(value) for value in _values(row)] for row in cursor.fetchall()] if has_rows else []
            changed, last = max(int(cursor.rowcount or 0), 0), _whole(getattr(cursor, "lastrowid", None))
        finally:
            cursor.close()
        if is_alone and not self._is_committed():
            self._connection.commit()
        return changed, last, rows

    def _is_committed(self) -> bool:
        return _drivers.commits_by_itself(self._driver)

    def begin(self) -> None:
        """Whether or not the driver would begin by itself, and before it would. PostgreSQL needs none."""
        cursor = self._connection.cursor()
        try:
            cursor.execute("BEGIN IMMEDIATE" if self.dialect == "sqlite" else "START TRANSACTION")
        finally:
            cursor.close()

    def commit(self) -> None:
        self._connection.commit()

    def rollback(self) -> None:
        with contextlib.suppress(Exception):
            self._connection.rollback()


def _values(row: Any) -> Any:
    """Of a row that is a tuple, or a mapping because the pool likes it so."""
    return list(row.values()) if hasattr(row, "values") else row


def _whole(value: Any) -> int:
    return value if isinstance(value, int) and 0 <= value < 2**64 else 0


def _close(connection: Any) -> None:
    """In place of a `release`; what was refused for having none goes back as it came."""
    if pool := _drivers.pool_that_counts(connection):
        pool.putconn(connection)
    else:
        connection.close()
