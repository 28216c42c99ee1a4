"""Generators for the tests of programs that draw ids.

    >>> from idgen import testing
    >>> orders = testing.segment(start=1000)
    >>> orders.next()
    1000

What is here is the library itself, over a store of its own in memory and a clock that the test sets: ids, decoding and
errors are those of production. Each generator starts afresh, and nothing of it is left once it is closed and forgotten.
``docs/testing.md`` shows all of it, in three languages.
"""

from __future__ import annotations

import asyncio
import operator
import os
import threading
from collections.abc import AsyncIterator, Callable
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, SupportsIndex

from . import _core, _store
from ._core import Generator, open as open_table, statuses
from ._delegating import Delegating
from ._errors import CLASS_BY_NAME, Error, HostError, StoreUnavailableError
from ._values import UNIX_EPOCH, invalid_argument

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._properties import Properties

    _Path = str | os.PathLike[str]

__all__ = ["ManualClock", "ScriptedGenerator", "generator", "open", "segment", "snowflake"]

_MICROSECOND = timedelta(microseconds=1)
_FIRST_MOMENT = datetime(2026, 1, 1, tzinfo=timezone.utc)


class ManualClock:
    """A clock that stands still until it is told to move. Any number of threads and generators may share it.

    For ``at=`` of this module, and for ``Generator(clock=...)``. A generator that has to wait for this clock moves it
    by the time that it would have waited, so no wait takes real time.
    """

    def __init__(self, at: datetime = _FIRST_MOMENT) -> None:
        """Stands at `at`, a datetime with a time zone; by default 2026-01-01 00:00 UTC. InvalidValueError without."""
        self._lock = threading.Lock()
        self._ns = _unix_ns(at)

    def __call__(self) -> int:
        """Nanoseconds since 1970-01-01 UTC: what ``Generator(clock=...)`` asks for."""
        return self._ns

    @property
    def now(self) -> datetime:
        """Where it stands, in UTC, rounded down to a microsecond."""
        return UNIX_EPOCH + timedelta(microseconds=self._ns // 1000)

    def set(self, at: datetime) -> None:
        """Sets it, forward or back. InvalidValueError for a datetime without a time zone."""
        ns = _unix_ns(at)
        with self._lock:  # else what moves the clock at the same moment undoes it
            self._ns = ns

    def advance(self, by: timedelta | float) -> None:
        """Moves it forward, by a timedelta or seconds. ArgumentError if that is negative: see set_back."""
        self._move(_ns("advance", by))

    def set_back(self, by: timedelta | float) -> None:
        """Moves it back, by a timedelta or seconds. ArgumentError if that is negative: see advance."""
        self._move(-_ns("set_back", by))

    def sleep_ns(self, ns: int) -> None:
        """Called by generators, in place of waiting: moves it forward."""
        self._move(ns)

    def _move(self, ns: int) -> None:
        with self._lock:
            self._ns += ns

    def __repr__(self) -> str:
        return f"ManualClock({self.now.isoformat()})"


def _unix_ns(at: datetime) -> int:
    if not isinstance(at, datetime):
        raise TypeError(f"a clock stands at a datetime, not {at!r}")
    if at.utcoffset() is None:
        raise invalid_argument(f"{at!r} has no time zone; use datetime(..., tzinfo=timezone.utc)")
    return (at - UNIX_EPOCH) // _MICROSECOND * 1000


def _ns(what: str, by: timedelta | float) -> int:
    ns = by // _MICROSECOND * 1000 if isinstance(by, timedelta) else round(by * 1e9)
    if ns < 0:
        other = "advance" if what == "set_back" else "set_back"
        raise invalid_argument(f"{what}: {by!r} is negative; use {other}")
    return ns


class _Told:
    """An error of the test's own. The library knows it by a number, as it knows what a store has raised."""

    def __init__(self, failure: Error) -> None:
        self.failure = failure
        self.number = next(_store.numbers) << 32
        _store.sinks[self.number] = self

    def raised(self, number: int) -> Error:
        return self.failure


def _again(failure: Error) -> Error:
    """A copy, so that each call has a stack, and ids, of its own. Without __init__, which need not take the args."""
    kind = type(failure)
    try:
        made = kind.__new__(kind, *failure.args)
        made.__dict__.update(failure.__dict__)
        made.__cause__ = failure.__cause__
    except Exception:
        made = failure
    made.written, made.ids = 0, None
    return made


def _checked(failure: Error | type[Error]) -> Error:
    if isinstance(failure, Error):
        told = _again(failure)
        if told.status == 0 and type(told) in CLASS_BY_NAME.values():  # made of a message alone
            whole = _checked(type(told))
            told.status, told.name, told.retryable = whole.status, whole.name, whole.retryable
        return told
    if not isinstance(failure, type) or not issubclass(failure, Error):
        raise TypeError(f"a generator fails with an idgen.Error, a class or an instance, not with {failure!r}")
    if failure is HostError:  # a host's own store has no row: its statuses are the host's
        return HostError("a status of the host's own store", _store.HOST, "HOST", True)
    for row in statuses():
        if CLASS_BY_NAME.get(row.name) is failure:
            return _store.error(failure, row.message)
    classes = ", ".join(sorted(kind.__name__ for kind in CLASS_BY_NAME.values() if issubclass(kind, failure)))
    raise invalid_argument(f"idgen.{failure.__name__} is a family of errors; name one of {classes}")


class ScriptedGenerator(Delegating):
    """A generator that a test tells what to do. Made by ``segment``, ``snowflake``, ``generator`` and ``open`` of this
    module. It has the methods and attributes of ``Generator``, and draws from a real one. Any number of threads may use
    it.
    """

    __slots__ = ("__weakref__", "_clock", "_generator", "_told")

    def __init__(self, generator: Generator, clock: ManualClock) -> None:
        self._generator = generator
        self._clock = clock
        self._told: _Told | None = None  # an instance

    # ---- what it is told

    @property
    def clock(self) -> ManualClock:
        """Its clock, which stands still until the test moves it."""
        return self._clock

    def fail_next(self, n: int = 1, error: Error | type[Error] = StoreUnavailableError) -> None:
        """The next n calls that draw ids raise `error`, then all is as before. Replaces what it was told before.

        A class stands for its status, with the message that the status has in every language. Of an instance a copy is
        raised each time, with its cause; one that has no status gets that of its class. ``try_next`` answers None where
        the error is retryable, as always. Nothing is drawn, and nothing waits. ArgumentError if n is below 1, and for a
        class that is a family, such as StoreError.
        """
        self._tell(_core._fail_next, n, error)

    def fail_after(self, ids: int, error: Error | type[Error] = StoreUnavailableError) -> None:
        """After that many more ids, each call that draws raises `error`, until ``recover``. A batch that needs more
        fails halfway: the exception's `written` and `ids` say what it has drawn. Only ids that a call has got count.
        Replaces what it was told before.

        Else as fail_next. ArgumentError if ids is negative.
        """
        self._tell(_core._fail_after, ids, error)

    def _tell(self, tell: Callable[..., None], number: int, error: Error | type[Error]) -> None:
        failure = _checked(error)
        told = _Told(failure) if isinstance(error, Error) else None
        # A class of the program's own stands for what it is derived from.
        kind = next(kind for kind in (*type(failure).__mro__, HostError) if kind in CLASS_BY_NAME.values())
        status = failure.status or _checked(kind).status
        tell(self._generator, _int64(number), status, 0 if told is None else told.number)
        self._told = told

    def recover(self) -> None:
        """Ends what fail_next and fail_after have begun."""
        _core._recover(self._generator)

    def get(self) -> Generator:
        """The generator that it draws from, which fails as it is told: for what takes a ``Generator``, such as
        ``idgen.metrics``.
        """
        return self._generator

    # ---- ids

    def _call(self, method: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> Any:
        try:
            return method(self._generator, *arguments, **keywords)
        except Error as failure:
            raised = self._own(failure)
        raise raised

    def _own(self, failure: Error) -> Error:
        """The test's own error, if that is why the call has failed."""
        told = self._told
        if told is None or failure.__cause__ is not told.failure:
            return failure
        own = _again(told.failure)
        own.written, own.ids = failure.written, failure.ids
        return own

    def try_next(self) -> int | None:
        """An id at once, or None, as ``Generator.try_next``."""
        try:
            return super().try_next()
        except Error as failure:
            if failure.retryable:
                return None
            raise

    async def next_async(self) -> int:
        """``await generator.next_async()``: one id for asyncio."""
        try:
            return await self._generator.next_async()
        except Error as failure:
            raised = self._own(failure)
        raise raised

    async def __aiter__(self) -> AsyncIterator[int]:
        while True:
            yield await self.next_async()
            await asyncio.sleep(0)  # ids can come for ever without a single wait: the loop's other tasks get a turn

    def __repr__(self) -> str:
        return f"<idgen.testing.ScriptedGenerator of {self._generator!r}>"


def segment(start: int = 1, **properties: Unpack[Properties]) -> ScriptedGenerator:
    """A generator of consecutive numbers, the first of which is `start`. Takes the properties of ``Generator`` too, but
    for store and clock. Raises as ``Generator(...)``; ArgumentError if `start` is out of range.
    """
    settings: Properties = {"kind": "segment", **properties}
    return generator(start=start, **settings)


def snowflake(
    at: datetime | ManualClock | None = None, sequence: int = 0, **properties: Unpack[Properties]
) -> ScriptedGenerator:
    """A snowflake generator whose first id has the time `at` and this sequence; worker 1, unless the properties name
    one.

    at: a datetime with a time zone, or a ManualClock that others share; by default 2026-01-01 00:00 UTC, or the
    layout's epoch if that is later. The clock stands still there: see ``clock`` of the generator.
    sequence: 0 to what the layout holds in a tick. Those below are drawn and dropped.

    Takes the properties of ``Generator`` too, but for store and clock. Raises as ``Generator(...)``; ArgumentError if
    `sequence` is out of range.
    """
    nodes = {"datacenter", "worker", "process", "shard"}
    settings: Properties = {**properties} if nodes & set(properties) else {"worker": 1, **properties}
    return generator(at=at, sequence=sequence, **settings)


def generator(
    *,
    start: int | None = None,
    at: datetime | ManualClock | None = None,
    sequence: int = 0,
    **properties: Unpack[Properties],
) -> ScriptedGenerator:
    """A generator of any kind with the properties of ``Generator``, but for store and clock.

    start: the first number, of the kinds segment and business; of a serial, the first of each period. at and sequence:
    as for ``snowflake``; the date of serials and patterns is that of `at`. Raises as ``Generator(...)``; ArgumentError
    for what is out of range, or does not apply to the kind.
    """
    return _made(lambda **own: Generator(**{**properties, **own}), properties, start, at, sequence)


def open(
    toml_path: _Path | None,
    name: str,
    /,
    *,
    start: int | None = None,
    at: datetime | ManualClock | None = None,
    sequence: int = 0,
    **overrides: Unpack[Properties],
) -> ScriptedGenerator:
    """A generator as the table of a TOML file describes it, in place of ``idgen.open``: with its layout, pattern and
    policies, but never with its store, its worker_source or its witness. Otherwise as ``generator``; raises as
    ``idgen.open`` too.
    """
    return _made(lambda **own: open_table(toml_path, name, **{**overrides, **own}), overrides, start, at, sequence)


def _made(
    make: Callable[..., Generator],
    properties: Any,
    start: int | None,
    at: datetime | ManualClock | None,
    sequence: int,
) -> ScriptedGenerator:
    for name, instead in (("store", "each generator has a store of its own"), ("clock", "pass a ManualClock as at=")):
        if properties.get(name) is not None:
            raise invalid_argument(f"{name}: a generator for tests takes none: {instead}")
    clock = at if isinstance(at, ManualClock) or at is None else ManualClock(at)

    def clock_at(first_unix_ms: int) -> ManualClock:
        nonlocal clock
        clock = clock or ManualClock(UNIX_EPOCH + timedelta(milliseconds=first_unix_ms))
        return clock

    first = -(2**63) if start is None else _int64(start)
    made = make(_test=(first, _int64(sequence), clock_at))
    assert clock is not None
    return ScriptedGenerator(made, clock)


def _int64(number: SupportsIndex) -> int:
    """Any integer, as one that the library can refuse."""
    return min(max(operator.index(number), 1 - 2**63), 2**63 - 1)
