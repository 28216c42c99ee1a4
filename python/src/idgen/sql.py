"""Segments and workers from a database, over connections of the program's own.

    pool = psycopg_pool.ConnectionPool(DSN, min_size=1, max_size=2)  # small, and for idgen alone
    store = idgen.sql.SqlStore(pool.getconn, release=pool.putconn)
    orders = idgen.Generator(kind="segment", tag="orders", store=store)
    events = idgen.Generator(worker="auto", store=store)

The tables are those of the stores ``mysql://`` and ``postgres://``, so both may draw from one tag at the same time, and
no worker is leased by both.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any, NoReturn, TypeVar

from . import _drivers, _sql_workers
from ._errors import (
    ArgumentError,
    Error,
    ExhaustedError,
    StoreDamagedError,
    StoreUnavailableError,
    StoreUnsafeError,
    TagExistsError,
    TagUnknownError,
    UnsupportedError,
)
from ._lending import Lender, NobodyLendsError
from ._store import error
from ._types import SegmentInfo, SegmentRow, WorkerChange, WorkerRow

__all__ = ["SqlStore"]

_Result = TypeVar("_Result")
_LARGEST = 2**63 - 1
_WHERE = " WHERE ns = :ns AND tag = :tag"
_STAMP = ", updated_unix_ms = :now"
_COUNTED = ", grants = grants + 1" + _STAMP

# One statement is one atomic step. PostgreSQL: no grant is acknowledged before it is on disk, whatever the session
# says. TiDB runs a statement that commits by itself optimistically at first, so what LAST_INSERT_ID gave may not be
# what was committed.
_TAKE = {
    "mysql": "UPDATE idgen_segment SET max_id = LAST_INSERT_ID(GREATEST(max_id, :above) + :count)"
    + _COUNTED
    + _WHERE
    + " AND max_id BETWEEN 0 AND :limit AND LOCATE('TiDB', VERSION()) = 0",
    "postgres": "UPDATE idgen_segment SET max_id = GREATEST(max_id, :above) + :count"
    + _COUNTED
    + " FROM (SELECT set_config('synchronous_commit', 'on', true)) AS durable"
    + _WHERE
    + " AND max_id BETWEEN 0 AND :limit RETURNING max_id",
    "sqlite": "UPDATE idgen_segment SET max_id = MAX(max_id, :above) + :count"
    + _COUNTED
    + _WHERE
    + " AND max_id BETWEEN 0 AND :limit RETURNING max_id",
}
_RETURN = "UPDATE idgen_segment SET max_id = max_id - :unused" + _STAMP + _WHERE + " AND max_id = :last"
_READ = "SELECT max_id FROM idgen_segment" + _WHERE
_VERSION = "SELECT VERSION()"

# Fails inside a transaction and else does nothing: a transaction may write unless it is told otherwise.
_FAILS_IN_TRANSACTION = "SET TRANSACTION READ WRITE"
_IN_TRANSACTION = 1568

# As the native stores make it; a test compares the two.
_CREATE_TABLE = {
    "mysql": """CREATE TABLE IF NOT EXISTS idgen_segment (
  ns VARBINARY(512) NOT NULL,
  tag VARBINARY(512) NOT NULL,
  max_id BIGINT NOT NULL,
  grants BIGINT NOT NULL DEFAULT 0,
  updated_unix_ms BIGINT NOT NULL DEFAULT 0,
  step BIGINT NOT NULL DEFAULT 0,
  rate BIGINT NOT NULL DEFAULT 0,
  holder VARBINARY(512) NOT NULL DEFAULT '',
  PRIMARY KEY (ns, tag)) ENGINE = InnoDB""",
    "postgres": """CREATE TABLE IF NOT EXISTS idgen_segment (
  ns varchar(128) NOT NULL,
  tag varchar(128) NOT NULL,
  max_id bigint NOT NULL CHECK (max_id >= 0),
  grants bigint NOT NULL DEFAULT 0 CHECK (grants >= 0),
  updated_unix_ms bigint NOT NULL DEFAULT 0,
  step bigint NOT NULL DEFAULT 0 CHECK (step >= 0),
  rate bigint NOT NULL DEFAULT 0,
  holder varchar(512) NOT NULL DEFAULT '',
  PRIMARY KEY (ns, tag))""",
    "sqlite": """CREATE TABLE IF NOT EXISTS idgen_segment (
  ns TEXT NOT NULL,
  tag TEXT NOT NULL,
  max_id INTEGER NOT NULL CHECK (max_id >= 0),
  grants INTEGER NOT NULL DEFAULT 0,
  updated_unix_ms INTEGER NOT NULL DEFAULT 0,
  step INTEGER NOT NULL DEFAULT 0,
  rate INTEGER NOT NULL DEFAULT 0,
  holder TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (ns, tag))""",
}
_INSERT = "INSERT INTO idgen_segment(ns, tag, max_id, grants, updated_unix_ms) VALUES(:ns, :tag, 0, 0, :now)"
_INSERT_NEW = {  # changes no row if there is one; MySQL has no such form, but its failure leaves the transaction whole
    "mysql": _INSERT,
    "postgres": _INSERT + " ON CONFLICT DO NOTHING",
    "sqlite": _INSERT + " ON CONFLICT DO NOTHING",
}
_ADVANCE = (
    "UPDATE idgen_segment SET max_id = CASE WHEN max_id < :to THEN :to ELSE max_id + 1 END"
    + _COUNTED
    + _WHERE
    + " AND max_id BETWEEN 0 AND :limit"
)
_STATE = "SELECT ns, tag, max_id, grants, updated_unix_ms, step, rate, holder FROM idgen_segment"
_SHOW = _STATE + _WHERE
_LIST = _STATE + " ORDER BY ns, tag"


class SqlStore:
    """An ``idgen.AboveStore`` and ``idgen.WorkerStore`` over any DB-API driver: MariaDB, MySQL, PostgreSQL, SQLite.

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

    A grant is one statement, committed before ``segment_take`` returns, whether or not the connection commits by
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
        if dialect is not None and dialect not in _TAKE:
            raise ValueError(f"dialect: {dialect!r} is none of {', '.join(_TAKE)}")
        if not pool_timeout > 0:
            raise ValueError(f"pool_timeout: {pool_timeout!r} is not a number of seconds above 0")
        self._dialect = dialect
        self._release = release or _close
        self._lender = Lender(connect, self._release, pool_timeout)
        self._closes = False  # connections, in place of giving them back
        self._shared: Any = None  # a connection that the pool lends to others at the same time

    def segment_take(self, namespace: str, tag: str, count: int) -> int:
        return self.segment_take_above(namespace, tag, count, 0)

    def segment_take_above(self, namespace: str, tag: str, count: int, above: int) -> int:
        if count < 1 or above < 0:
            raise error(ArgumentError, f"a segment of {count} numbers above {above} is invalid; ask for at least 1")
        if count > _LARGEST - above:
            _exhausted(namespace, tag, above, count)

        def take(statements: _Statements) -> Any:
            last = statements.take(count, above)
            if last is None:
                _refused(statements, namespace, tag, count)
            return last

        last = self._transact(take, namespace, tag)
        if not isinstance(last, int) or not above + count <= last <= _LARGEST:
            raise error(
                StoreDamagedError,
                f"the driver gave {last!r} for the end of a grant of {count} numbers; it was not used. For MySQL the "
                "driver must give LAST_INSERT_ID() of an UPDATE as lastrowid",
            )
        return last - count + 1

    def segment_return(self, namespace: str, tag: str, last: int, unused: int) -> None:
        if not 0 <= unused <= last <= _LARGEST:
            raise error(ArgumentError, f"of a segment that ends at {last}, {unused} numbers cannot be unused")
        if unused == 0:
            return

        def give_back(statements: _Statements) -> None:
            if statements.change(_RETURN, last=last, unused=unused, now=_now()) != 1 and statements.max_id() is None:
                _unknown(namespace, tag)

        self._transact(give_back, namespace, tag)

    def create_tables(self) -> None:
        """Makes the tables of segments and workers, if they are missing: all that workers need."""

        def create(statements: _Statements) -> None:
            for table in (_CREATE_TABLE[statements.dialect], *_sql_workers.CREATE_TABLES[statements.dialect]):
                statements.run(table)

        self._transact(create, "")

    def namespace_format(self, namespace: str, format: str) -> str:
        # Each step is a transaction: inside one, a row that another process has just made may not be seen.
        found = self._transact(_sql_workers.found_format, namespace)
        if found is None and format:
            self._transact(lambda statements: _sql_workers.set_format(statements, format), namespace)
            found = self._transact(_sql_workers.found_format, namespace)
            if found is None:
                _sql_workers.fail_without_format()
        return found or ""

    def worker_read(self, namespace: str, worker: int) -> WorkerRow:
        return self._transact(lambda statements: _sql_workers.read(statements, worker), namespace)

    def worker_list(self, namespace: str) -> list[WorkerRow]:
        """All workers of the namespace that anybody has had, by number."""
        return self._transact(_sql_workers.all_rows, namespace)

    def worker_replace(self, namespace: str, change: WorkerChange) -> bool:
        return self._transact(lambda statements: _sql_workers.replace(statements, change), namespace)

    def segment_create(self, namespace: str, tag: str) -> None:
        """Makes the tag at 0, so that its first id is 1, and the table if it is missing. Raises TagExistsError."""

        def create(statements: _Statements) -> bool:
            return statements.insert(_INSERT_NEW[statements.dialect], now=_now())

        try:
            made = self._transact(create, namespace, tag)
        except Error as failed:
            if failed.__cause__ is None or not _drivers.is_no_table(failed.__cause__):
                raise
            self._transact(lambda statements: statements.run(_CREATE_TABLE[statements.dialect]), namespace, tag)
            made = self._transact(create, namespace, tag)
        if not made:
            raise error(TagExistsError, f'tag "{tag}" of namespace "{namespace}" is in the table idgen_segment already')

    def segment_show(self, namespace: str, tag: str) -> SegmentInfo:
        """Where a tag stands. Raises TagUnknownError."""
        return self._transact(lambda statements: _shown(statements, namespace, tag), namespace, tag)

    def segment_list(self) -> list[SegmentRow]:
        """All tags of all namespaces, in the order of their names."""
        return self._transact(lambda statements: statements.rows(_LIST), "")

    def segment_advance(self, namespace: str, tag: str, to: int) -> SegmentInfo:
        """Lifts a tag to `to`, or by 1 if it is there already; never lowers it. No later grant holds a number up to
        `to`; what a running generator has reserved before, it still issues. Raises TagUnknownError, ExhaustedError.
        """
        if not 0 <= to <= _LARGEST:
            raise error(ArgumentError, f"a tag cannot be advanced to {to}; allowed: 0 to 2^63 - 1")

        def advance(statements: _Statements) -> SegmentInfo:
            changed = statements.change(_ADVANCE, to=to, limit=_LARGEST - 1, now=_now())
            info = _shown(statements, namespace, tag)
            if changed != 1:
                _exhausted(namespace, tag, info.max_id, 1)
            return info

        return self._transact(advance, namespace, tag)

    def _transact(self, use: Callable[[_Statements], _Result], namespace: str, tag: str = "") -> _Result:
        """use(statements) in one transaction. What the pool and the driver raise becomes an idgen.Error."""

        def work(connection: Any) -> _Result:
            statements = self._begun(connection, namespace, tag)
            try:
                result = use(statements)
                statements.commit()
                return result
            except BaseException:
                with contextlib.suppress(Exception):
                    connection.rollback()
                raise
            finally:
                self._release(connection)

        try:
            if self._shared is not None:
                raise _drivers.lent_to_others()
            return self._lender.run(work)
        except Error:
            raise
        except NobodyLendsError:
            raise _drivers.nobody_lends(self._lender.bound, self._closes) from None
        except Exception as exception:
            raise _drivers.translated(exception, self._closes) from exception

    def _begun(self, connection: Any, namespace: str, tag: str) -> _Statements:
        try:
            if _drivers.is_lent_to_others(connection):
                self._shared = connection  # and kept: SQLAlchemy would roll back when it goes
                raise _drivers.lent_to_others()
            _drivers.check_connection(connection, self._has_release)
            statements = _Statements(connection, self._dialect, namespace, tag)
            statements.begin()
            self._closes = not self._has_release and not statements.is_proxied
            return statements
        except BaseException as refused:
            # Closing the connection of somebody's transaction would roll that back. A `release` is its pool's own.
            if self._has_release or not isinstance(refused, StoreUnsafeError):
                self._release(connection)
            raise


class _Statements:
    """The statements of a transaction about one tag, or one namespace's workers, on one connection."""

    def __init__(self, connection: Any, dialect: str | None, namespace: str, tag: str) -> None:
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
        self._names = {"ns": namespace, "tag": tag}

    def begin(self) -> None:
        """Refuses a connection that is inside a transaction. Nothing is sent where the driver knows that."""
        found = _drivers.is_in_transaction(self._driver)
        if found is None and self.dialect == "mysql":
            found = self._fails_in_transaction()
        if found is None:
            raise error(
                UnsupportedError,
                f"the driver {type(self._driver).__module__} does not tell whether a connection is inside a "
                "transaction, and what is inside one must be left alone; use psycopg or pg8000",
            )
        if found:
            raise _drivers.inside_a_transaction()

    def commit(self) -> None:
        if not _drivers.commits_by_itself(self._driver):
            self._connection.commit()

    def take(self, count: int, above: int) -> Any:
        """The last number of the grant; None if the row was not changed."""
        values = {"count": count, "above": above, "limit": _LARGEST - count, "now": _now()}
        with self._run(_TAKE[self.dialect], **values) as cursor:
            if self.dialect == "mysql":
                return cursor.lastrowid if cursor.rowcount == 1 else None
            row = cursor.fetchone()
            return None if row is None else _values(row)[0]

    def change(self, sql: str, **values: int | str) -> int:
        """How many rows were changed."""
        with self._run(sql, **values) as cursor:
            return int(cursor.rowcount)

    def insert(self, sql: str, **values: int | str) -> bool:
        """False: the row is there already."""
        try:
            return self.change(sql, **values) == 1
        except Exception as exception:
            if _drivers.is_duplicate(exception):
                return False
            raise

    def run(self, sql: str) -> None:
        with self._run(sql):
            pass

    def fetch(self, sql: str, **values: int | str) -> list[list[Any]]:
        with self._run(sql, **values) as cursor:
            return [list(_values(row)) for row in cursor.fetchall()]

    def max_id(self) -> Any:
        with self._run(_READ) as cursor:
            row = cursor.fetchone()
            return None if row is None else _values(row)[0]

    def rows(self, sql: str) -> list[SegmentRow]:
        return [SegmentRow(*map(_as_text, row)) for row in self.fetch(sql)]

    def is_tidb(self) -> bool:
        if self.dialect != "mysql":
            return False
        with self._run(_VERSION) as cursor:
            return "TiDB" in str(_values(cursor.fetchone())[0])

    def _stored(self, value: int | str) -> int | str | bytes:
        """In MySQL texts are bytes, so that the session's character set does not change them."""
        return value.encode() if isinstance(value, str) and self.dialect == "mysql" else value

    def _fails_in_transaction(self) -> bool:
        try:
            with self._run(_FAILS_IN_TRANSACTION):
                return False
        except Exception as exception:
            if _IN_TRANSACTION in exception.args:
                return True
            raise

    @contextlib.contextmanager
    def _run(self, sql: str, **values: int | str) -> Iterator[Any]:
        stored = {name: self._stored(value) for name, value in {**self._names, **values}.items()}
        cursor = self._connection.cursor()
        try:
            cursor.execute(*_drivers.in_style(self._style, sql, stored))
            yield cursor
        finally:
            cursor.close()


def _shown(statements: _Statements, namespace: str, tag: str) -> SegmentInfo:
    rows = statements.rows(_SHOW)
    return SegmentInfo(*rows[0][2:]) if rows else _unknown(namespace, tag)


def _refused(statements: _Statements, namespace: str, tag: str, count: int) -> NoReturn:
    """Why a grant changed no row."""
    if statements.is_tidb():
        raise error(
            UnsupportedError,
            "TiDB runs a statement that commits by itself optimistically, so this store cannot know what it "
            'granted; use store = "mysql://...", which knows TiDB',
        )
    found = statements.max_id()
    if found is None:
        _unknown(namespace, tag)
    if not isinstance(found, int) or found < 0:
        raise error(
            StoreDamagedError,
            f"the table idgen_segment holds {found!r} where a number from 0 to 2^63 - 1 belongs. Set it right by "
            "hand, above the highest id in use",
        )
    if found > _LARGEST - count:
        _exhausted(namespace, tag, found, count)
    raise error(StoreUnavailableError, f"tag {tag!r} changed while it was read; nothing was granted")


def _exhausted(namespace: str, tag: str, found: int, count: int) -> NoReturn:
    raise error(
        ExhaustedError,
        f'tag "{tag}" of namespace "{namespace}" stands at {found}; {count} more would pass 2^63 - 1. Take a '
        "smaller step, or a new tag",
    )


def _unknown(namespace: str, tag: str) -> NoReturn:
    raise error(
        TagUnknownError,
        f'tag "{tag}" of namespace "{namespace}" is not in the table idgen_segment. {_drivers.HOW_TO_CREATE}: it '
        "begins at 0, so the first id is 1",
    )


def _values(row: Any) -> Any:
    """Of a row that is a tuple, or a mapping because the pool likes it so."""
    return list(row.values()) if hasattr(row, "values") else row


def _as_text(value: Any) -> Any:
    return bytes(value).decode("utf-8", "replace") if isinstance(value, (bytes, bytearray, memoryview)) else value


def _now() -> int:
    return time.time_ns() // 1_000_000


def _close(connection: Any) -> None:
    """In place of a `release`; what was refused for having none goes back as it came."""
    if pool := _drivers.pool_that_counts(connection):
        pool.putconn(connection)
    else:
        connection.close()
