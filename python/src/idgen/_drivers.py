"""What DB-API drivers and pools tell about themselves: dialect, parameters, transactions, errors."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from ._errors import (
    ArgumentError,
    Error,
    StoreUnavailableError,
    StoreUnsafeError,
    UnsupportedError,
)
from ._store import error, text_of

OWN_POOL = "give SqlStore a small pool of its own"

DIALECT_BY_DRIVER = {
    "pymysql": "mysql",
    "MySQLdb": "mysql",
    "mysql": "mysql",  # mysql.connector
    "mariadb": "mysql",
    "psycopg": "postgres",
    "psycopg2": "postgres",
    "pg8000": "postgres",
    "sqlite3": "sqlite",
}
_MARK = {"qmark": "?", "format": "%s"}
_NAMED_MARK = {"named": ":v{}", "pyformat": "%(v{})s"}

# What pools raise when all connections are lent.
_POOL_IS_EMPTY = {"PoolTimeout", "TooManyRequests", "TooManyConnections", "PoolError"}


def check_source(connect: Callable[[], Any], has_release: bool) -> None:
    """Refuses a callable that is known to be the wrong one. Nothing is asked of it."""
    if not callable(connect):
        raise TypeError(f"connect: needs a callable that returns a connection, not {type(connect).__name__}")
    pool = getattr(connect, "__self__", None)
    if inspect.iscoroutinefunction(connect) or getattr(getattr(pool, "dialect", None), "is_async", False):
        raise _no_async()
    if _lends_one_to_all(getattr(pool, "pool", None)):
        raise lent_to_others()
    if _counts(pool) and not has_release:
        raise _no_release()


def check_connection(connection: Any, has_release: bool) -> None:
    """The same for what the callable returned, which may be a lambda around it."""
    if inspect.isawaitable(connection):
        if inspect.iscoroutine(connection):
            connection.close()  # it is never awaited, as we say here
        raise _no_async()
    if pool_that_counts(connection) and not has_release:
        raise _no_release()


def pool_that_counts(connection: Any) -> Any:
    """The pool that wants this connection back, where the connection knows it, as psycopg's does."""
    pool = getattr(connection, "_pool", None)
    return pool if _counts(pool) else None


def _counts(pool: Any) -> bool:
    return hasattr(pool, "putconn") and not getattr(pool, "close_returns", False)


def is_lent_to_others(connection: Any) -> bool:
    return _lends_one_to_all(getattr(connection, "_pool", None))  # of SQLAlchemy's proxy


def _lends_one_to_all(pool: Any) -> bool:
    return any(kind.__name__ == "StaticPool" for kind in type(pool).__mro__)


def _no_async() -> Error:
    return error(
        UnsupportedError,
        "connect: the connections of an async engine or pool belong to its event loop, and a store is asked by other "
        "threads. Give SqlStore a small synchronous pool, such as create_engine(URL, pool_size=2).raw_connection with "
        "a synchronous driver (psycopg, PyMySQL); await generator.next_async() works over it",
    )


def _no_release() -> Error:
    return error(
        ArgumentError,
        "connect: this pool wants its connections back by putconn; closing them instead would empty it. Write "
        "SqlStore(pool.getconn, release=pool.putconn)",
    )


def lent_to_others() -> Error:
    return error(
        StoreUnsafeError,
        "the connection comes from SQLAlchemy's StaticPool, which lends one connection to all: the commit of a grant "
        f"would be one of the program's own rows too. Nothing was granted; {OWN_POOL}",
    )


def is_in_transaction(driver: Any) -> bool | None:
    """What the driver knows without asking the server. None: it does not say."""
    # PyMySQL and MariaDB Connector keep what the server said with its latest answer. Bit 1: in a transaction.
    said = getattr(driver, "server_status", None)
    if isinstance(said, int):
        return bool(said & 1)
    for name in ("in_transaction", "_in_transaction"):  # sqlite3 and mysql.connector; pg8000
        said = getattr(driver, name, None)
        if isinstance(said, bool):
            return said
    status = getattr(getattr(driver, "info", None), "transaction_status", None)  # psycopg and psycopg2
    return 1 <= status <= 3 if isinstance(status, int) else None  # 0: idle, 4: the connection is lost


def commits_by_itself(driver: Any) -> bool:
    """True only if the server has said so: then a statement that was answered is committed."""
    said = getattr(driver, "server_status", None)
    return isinstance(said, int) and said & 3 == 2


def driver_of(connection: Any) -> tuple[str, str]:
    """(name, paramstyle) of the module that the connection's class, or one that it derives from, comes from."""
    for kind in type(connection).__mro__:
        name = kind.__module__.partition(".")[0]
        for module in (kind.__module__, ".".join(kind.__module__.split(".")[:2]), name):
            style = getattr(sys.modules.get(module), "paramstyle", None)
            if style in _MARK or style in _NAMED_MARK or style == "numeric":
                return name, style
    return "", "qmark"


def in_style(style: str, sql: str, values: list[Any]) -> tuple[str, Any]:
    """The statement, whose values are each a ?, and its parameters as the driver's paramstyle wants them."""
    if style in _MARK:
        return sql.replace("?", _MARK[style]), tuple(values)
    parts = sql.split("?")
    mark = _NAMED_MARK.get(style, ":{}")
    marks = [mark.format(number) for number in range(1, len(parts))]
    text = "".join(part + mark for part, mark in zip(parts, [*marks, ""], strict=True))
    return text, tuple(values) if style == "numeric" else {f"v{i}": value for i, value in enumerate(values, 1)}


def cell(value: Any) -> int | bytes | None:
    """A value of a row: a whole number, NULL, or the text of anything else, which the core refuses for a number."""
    if value is None or (isinstance(value, int) and -(2**63) <= value < 2**63):
        return value
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    if isinstance(value, Decimal) and value == value.to_integral_value() and abs(value) < 2**63:
        return int(value)
    return str(value).encode("utf-8", "replace")


def nobody_lends(seconds: float, closes: bool) -> Error:
    """Whoever asks for an id may hold the connection that this waits for: so the call is not to wait on."""
    forgotten = ". A pool that counts its connections wants them back by release=" if closes else ""
    failed = error(
        StoreUnavailableError,
        f"no connection within {seconds:g} s (pool_timeout): the pool has lent all of them, or the server does not "
        "answer. A transaction that asks for ids while it holds one may be waiting for itself: ask before it begins, "
        f"or {OWN_POOL}{forgotten}",
    )
    failed._ends_waits = True
    return failed


def known(exception: BaseException, closes: bool) -> Error | None:
    """What a pool or a framework says in its own way. All else is the core's to tell."""
    cause: BaseException | None = exception
    for _ in range(8):
        if cause is None:
            break
        if type(cause).__name__ == "MissingGreenlet":
            return _no_async()
        cause = cause.__cause__ or cause.__context__
    if not _says_that_the_pool_is_empty(exception):
        return None
    advice = f"ask for ids before a transaction begins, or {OWN_POOL}"
    if closes:
        advice += "; a pool that counts its connections wants them back by release="
    failed = error(
        StoreUnavailableError, f"the pool has lent all its connections: {advice}. It said: {text_of(exception)}"
    )
    failed._ends_waits = True
    return failed


def code_of(exception: BaseException) -> tuple[int, str, str]:
    """(MySQL's number, PostgreSQL's SQLSTATE, text) of what the server said, which a pool may have wrapped."""
    text = text_of(exception)
    cause: BaseException | None = exception
    for _ in range(8):
        if cause is None:
            break
        codes = _codes_of(cause)
        # A driver of MySQL may have an SQLSTATE besides the number, which says less.
        for code in codes:
            if isinstance(code, int) and code > 0:
                return code, "", text
        for code in codes:
            if isinstance(code, str) and len(code) == 5 and code.isalnum():
                return 0, code, text
        if cause is not exception and (more := text_of(cause)) not in text:
            text = f"{text}, because of {more}"
        cause = cause.__cause__ or cause.__context__
    return 0, "", text


def _says_that_the_pool_is_empty(exception: BaseException) -> bool:
    kind = type(exception)
    return kind.__name__ in _POOL_IS_EMPTY or (kind.__name__, kind.__module__) == ("TimeoutError", "sqlalchemy.exc")


def _codes_of(exception: BaseException) -> list[object]:
    """MySQL's number, PostgreSQL's SQLSTATE, or both, wherever the driver has them."""
    if isinstance(exception, OSError):  # its errno is the system's
        return []
    first = exception.args[0] if exception.args else None
    if isinstance(first, dict):  # pg8000
        first = first.get("C")
    named = (getattr(exception, name, None) for name in ("sqlstate", "pgcode", "errno"))
    return [code for code in (first, *named) if isinstance(code, (int, str))]
