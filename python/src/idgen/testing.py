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
import contextlib
import ctypes
import operator
import os
import threading
from array import array
from collections.abc import AsyncIterator, Callable, Iterable
from datetime import datetime, timedelta, timezone
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, SupportsIndex, TypeVar

from . import _store
from ._core import Generator, open as open_table, statuses
from ._errors import CLASS_BY_NAME, Error, HandleError, HostError, LifetimeError, StoreUnavailableError
from ._types import Block, WorkerChange, WorkerRow
from ._values import UNIX_EPOCH, invalid_argument

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from typing_extensions import Buffer, Self, Unpack

    from ._core import Layout, TextPattern
    from ._properties import Properties

    _Owner = SupportsIndex | str | bytes
    _Path = str | os.PathLike[str]

__all__ = ["ManualClock", "ScriptedGenerator", "generator", "open", "segment", "snowflake"]

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")

_MICROSECOND = timedelta(microseconds=1)
_FIRST_MOMENT = datetime(2026, 1, 1, tzinfo=timezone.utc)
_LAST_START = 2**62  # so that a step fits behind it; a tag that ends is told by fail_after
# What a table of the program's file may have that reaches beyond the process, or is for stores of other kinds.
_OWN: Properties = {
    "worker_source": "store",
    "worker_url": "",
    "worker_cache": "",
    "segment_schema": "idgen",
    "segment_grant_log": 0,
    "witness": "",
}


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


class _FreshStore:
    """A store in memory that belongs to one generator. Its clock is the generator's."""

    def __init__(self, first: int, clock: ManualClock) -> None:
        self._before = first - 1  # the highest number that counts as granted already: of the tag, or of each period
        self._clock = clock
        self._lock = threading.Lock()
        self._max_ids: dict[tuple[str, str], int] = {}
        self._formats: dict[str, str] = {}
        self._rows: dict[tuple[str, int], WorkerRow] = {}  # lease_left_ms: when the lease ends

    def segment_take(self, namespace: str, tag: str, count: int) -> int:
        return self.segment_take_above(namespace, tag, count, 0)

    def segment_take_above(self, namespace: str, tag: str, count: int, above: int) -> int:
        key = namespace, tag
        with self._lock:
            before = max(self._max_ids.get(key, 0), above)
            if before == above:  # nothing was granted yet: of the tag, or of a serial's period
                before += self._before
            self._max_ids[key] = before + count
            return before + 1

    def segment_return(self, namespace: str, tag: str, last: int, unused: int) -> None:
        with self._lock:
            if self._max_ids.get((namespace, tag)) == last:
                self._max_ids[namespace, tag] = last - unused

    def namespace_format(self, namespace: str, format: str) -> str:
        with self._lock:
            return self._formats.setdefault(namespace, format) if format else self._formats.get(namespace, "")

    def worker_read(self, namespace: str, worker: int) -> WorkerRow:
        with self._lock:
            now = self._clock() // 1_000_000
            row = self._rows.get((namespace, worker), WorkerRow(worker, 0, "", 0, now, 0, now, ""))
            return row._replace(lease_left_ms=row.lease_left_ms - now, store_now_ms=now)

    def worker_list(self, namespace: str) -> list[WorkerRow]:
        with self._lock:
            workers = [worker for of, worker in self._rows if of == namespace]
        return [self.worker_read(namespace, worker) for worker in workers]

    def worker_replace(self, namespace: str, change: WorkerChange) -> bool:
        key = namespace, change.worker
        with self._lock:
            row = self._rows.get(key, WorkerRow(change.worker, 0, "", 0, 0, 0, 0, ""))
            if (row.fence, row.owner, row.hw_ms) != (change.seen_fence, change.seen_owner, change.seen_hw_ms):
                return False
            lease_end = self._clock() // 1_000_000 + change.lease_ms
            self._rows[key] = WorkerRow(
                change.worker, change.fence, change.owner, change.hw_ms, lease_end, 0, 0, change.holder
            )
            return True


class _Script:
    """What a test has told a generator to do."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._failure: Error | None = None
        self._ids_before = 0  # that are still drawn
        self._calls: int | None = None  # that fail then; None: all

    def tell(self, ids_before: int, calls: int | None, failure: Error | type[Error]) -> None:
        with self._lock:
            self._failure, self._ids_before, self._calls = _checked(failure), ids_before, calls

    def recover(self) -> None:
        with self._lock:
            self._failure = None

    def take(self, want: int) -> tuple[int, Error | None, Error | None]:
        """How many ids a call may draw, what it raises after these, and what was told, for put_back."""
        with self._lock:
            told = self._failure
            if told is None:
                return want, None, told
            if want <= self._ids_before:
                self._ids_before -= want
                return want, None, told
            drawn, self._ids_before = self._ids_before, 0
            failure = _again(told)
            if self._calls is not None:
                self._calls -= 1
                if self._calls == 0:
                    self._failure = None
            return drawn, failure, told

    def put_back(self, ids: int, told: Error | None) -> None:
        """Of what a call may draw, what it did not, unless something else was told since."""
        with self._lock:
            if self._failure is told:
                self._ids_before += ids


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


def _delegated(
    method: Callable[Concatenate[Generator, _Arguments], _Result],
) -> Callable[Concatenate[ScriptedGenerator, _Arguments], _Result]:
    """The same method, of what draws nothing."""

    def call(self: ScriptedGenerator, /, *arguments: _Arguments.args, **keywords: _Arguments.kwargs) -> _Result:
        return method(self._generator, *arguments, **keywords)

    call.__name__ = method.__name__
    call.__qualname__ = f"ScriptedGenerator.{method.__name__}"
    call.__doc__ = method.__doc__
    return call


class ScriptedGenerator:
    """A generator that a test tells what to do. Made by ``segment``, ``snowflake``, ``generator`` and ``open`` of this
    module. It has the methods and attributes of ``Generator``, and draws from a real one. Any number of threads may use
    it.
    """

    __slots__ = ("__weakref__", "_clock", "_generator", "_script")

    def __init__(self, generator: Generator, clock: ManualClock) -> None:
        self._generator = generator
        self._clock = clock
        self._script = _Script()

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
        n = operator.index(n)
        if n < 1:
            raise invalid_argument(f"fail_next: n is {n}; allowed: 1 and above")
        self._script.tell(0, n, error)

    def fail_after(self, ids: int, error: Error | type[Error] = StoreUnavailableError) -> None:
        """After that many more ids, each call that draws raises `error`, until ``recover``. A batch that needs more
        fails halfway: the exception's `written` and `ids` say what it has drawn. Only ids that a call has got count.
        Replaces what it was told before.

        Else as fail_next. ArgumentError if ids is negative.
        """
        ids = operator.index(ids)
        if ids < 0:
            raise invalid_argument(f"fail_after: ids is {ids}; allowed: 0 and above")
        self._script.tell(ids, None, error)

    def recover(self) -> None:
        """Ends what fail_next and fail_after have begun."""
        self._script.recover()

    def get(self) -> Generator:
        """The real generator, which fails by itself alone: for what takes a ``Generator``, such as
        ``idgen.metrics``.
        """
        return self._generator

    # ---- ids

    def _draw_one(self, draw: Callable[[], _Result]) -> _Result:
        may, failure, told = self._script.take(1)
        if failure is not None:
            raise failure
        return self._draw(may, told, draw)

    def _draw(self, may: int, told: Error | None, draw: Callable[[], _Result]) -> _Result:
        """What is refused has drawn nothing, and what fails halfway only a part."""
        try:
            return draw()
        except BaseException as failure:
            self._script.put_back(may - getattr(failure, "written", 0), told)
            raise

    def _draw_many(self, n: SupportsIndex, draw: Callable[[int], _Result]) -> _Result:
        """A negative n is for the generator to refuse."""
        want = operator.index(n)
        may, failure, told = self._script.take(max(want, 0))
        if failure is None:
            return self._draw(may, told, lambda: draw(want))
        if may > 0:
            drawn: Any = self._draw(may, told, lambda: draw(may))
            failure.written, failure.ids = may, drawn
        raise failure

    def _draw_each(self, owners: Any, draw: Callable[[Any], _Result]) -> _Result:
        """Owners that are one, or none, are for the generator to refuse."""
        try:
            items = iter(owners.tolist() if hasattr(owners, "tolist") else owners)
        except TypeError:
            return draw(owners)
        if isinstance(owners, str | bytes):
            return draw(owners)
        all_owners = list(items)
        return self._draw_many(len(all_owners), lambda may: draw(all_owners[:may]))

    def next(self) -> int:
        return self._draw_one(self._generator.next)

    def try_next(self) -> int | None:
        may, failure, told = self._script.take(1)
        if failure is None:
            id = self._draw(may, told, self._generator.try_next)
            if id is None:
                self._script.put_back(may, told)
            return id
        if failure.retryable:
            return None
        raise failure

    def next_text(self) -> str:
        return self._draw_one(self._generator.next_text)

    def next_batch(self, n: SupportsIndex, /) -> array[int]:
        return self._draw_many(n, self._generator.next_batch)

    def next_list(self, n: SupportsIndex, /) -> list[int]:
        return self._draw_many(n, self._generator.next_batch).tolist()

    def fill(self, buffer: Buffer | npt.NDArray[np.integer[Any]], /) -> int:
        with contextlib.suppress(HandleError):  # of one that is not initialised: fill looks at the buffer first
            Generator.__new__(Generator).fill(buffer)
        may, failure, told = self._script.take(memoryview(buffer).nbytes // 8)  # type: ignore[arg-type]
        if failure is None:
            return self._draw(may, told, lambda: self._generator.fill(buffer))
        if may > 0:
            part: Any = ctypes.c_int64 * may  # a memoryview cannot be cut if it has several dimensions, or none
            failure.written = self._draw(may, told, lambda: self._generator.fill(part.from_buffer(buffer)))
        raise failure

    def next_block(self, want: SupportsIndex, /) -> Block:
        number = operator.index(want)
        may, failure, told = self._script.take(max(number, 0))
        if failure is not None and may == 0:
            raise failure
        block = self._draw(may, told, lambda: self._generator.next_block(number if failure is None else may))
        self._script.put_back(may - block.count, told)
        return block

    def next_for(self, owner: _Owner, /) -> int:
        return self._draw_one(lambda: self._generator.next_for(owner))

    def next_batch_for(self, owner: _Owner, n: SupportsIndex, /) -> array[int]:
        return self._draw_many(n, lambda may: self._generator.next_batch_for(owner, may))

    def next_for_each(self, owners: Iterable[_Owner] | npt.NDArray[np.integer[Any]], /) -> array[int]:
        return self._draw_each(owners, self._generator.next_for_each)

    def next_wide_for(self, owner: _Owner, /) -> bytes:
        return self._draw_one(lambda: self._generator.next_wide_for(owner))

    def next_wide_for_each(self, owners: Iterable[_Owner] | npt.NDArray[np.integer[Any]], /) -> list[bytes]:
        return self._draw_each(owners, self._generator.next_wide_for_each)

    async def next_async(self) -> int:
        """``await generator.next_async()``: one id for asyncio."""
        may, failure, told = self._script.take(1)
        if failure is not None:
            raise failure
        try:
            return await self._generator.next_async()
        except BaseException:  # also a task that is cancelled
            self._script.put_back(may, told)
            raise

    def __iter__(self) -> Self:
        return self

    __next__ = next

    async def __aiter__(self) -> AsyncIterator[int]:
        while True:
            yield await self.next_async()
            await asyncio.sleep(0)  # ids can come for ever without a single wait: the loop's other tasks get a turn

    # ---- what a generator has besides

    decode = _delegated(Generator.decode)
    decode_array = _delegated(Generator.decode_array)
    describe = _delegated(Generator.describe)
    stats = _delegated(Generator.stats)
    close = _delegated(Generator.close)

    @property
    def layout(self) -> Layout:
        """The generator's Layout."""
        return self._generator.layout

    @property
    def text_pattern(self) -> TextPattern:
        """The TextPattern by which next_text writes ids."""
        return self._generator.text_pattern

    @property
    def name(self) -> str:
        """The property name."""
        return self._generator.name

    @property
    def kind(self) -> str:
        """'snowflake', 'segment', 'business' or 'serial'."""
        return self._generator.kind

    @property
    def closed(self) -> bool:
        """True once close was called."""
        return self._generator.closed

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None, /
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<idgen.testing.ScriptedGenerator of {self._generator!r}>"


for _name in ("next", "try_next", "next_text", "next_batch", "next_list", "fill", "next_block", "next_for"):
    getattr(ScriptedGenerator, _name).__doc__ = getattr(Generator, _name).__doc__
for _name in ("next_batch_for", "next_for_each", "next_wide_for", "next_wide_for_each"):
    getattr(ScriptedGenerator, _name).__doc__ = getattr(Generator, _name).__doc__


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
    first = 1 if start is None else operator.index(start)
    if not 1 <= first <= _LAST_START:
        raise invalid_argument(f"start is {start}; allowed: 1 to {_LAST_START}")
    sequence = operator.index(sequence)
    clock = at if isinstance(at, ManualClock) else ManualClock(_FIRST_MOMENT if at is None else at)
    own: Any = dict(_OWN)
    if sequence != 0:
        own["sequence_start"] = "carry"  # a random one could not be told

    def made_with(clock: ManualClock) -> Generator:
        return make(**own, store=_FreshStore(first, clock), clock=clock)

    try:
        made = made_with(clock)
    except LifetimeError:
        if at is not None:
            raise
        # The epoch is later than the first moment, if the generator can be made today: no clock stands before it.
        with made_with(ManualClock(datetime.now(timezone.utc))) as today:
            clock = ManualClock(UNIX_EPOCH + timedelta(milliseconds=today.layout.info().epoch_unix_ms))
        made = made_with(clock)
    try:
        if start is not None and made.kind == "snowflake":
            raise invalid_argument("start is for numbers; where a snowflake starts is told by at and sequence")
        _drop(made, sequence)
    except BaseException:
        made.close()
        raise
    return ScriptedGenerator(made, clock)


def _drop(made: Generator, sequence: int) -> None:
    if sequence == 0:
        return
    if made.kind != "snowflake":
        raise invalid_argument(f"sequence is for snowflakes; where a {made.kind} starts is told by start")
    most = made.layout.info().ids_per_tick - 1
    if not 0 < sequence <= most:
        raise invalid_argument(f"sequence is {sequence}; allowed: 0 to {most}, with the layout {made.layout.text}")
    made.next_batch(sequence)
