"""Stores written in Python: what the core asks of them, and what becomes of their exceptions."""

from __future__ import annotations

import itertools
import re
import weakref
from collections import deque
from collections.abc import Iterable
from typing import Any, Protocol, TypeVar

from ._errors import CLASS_BY_NAME, Error
from ._types import WorkerChange, WorkerRow

_LONGEST = 495  # bytes of a message in the core
HOST = 1000  # IDGEN_E_HOST
_ENDS_WAITS = 2**64 - 1  # IDGEN_ENDS_WAITS
_Kind = TypeVar("_Kind", bound=Error)
_Value = TypeVar("_Value")

# What connection strings and drivers' messages may hold. Rather too much is hidden than too little.
_SECRETS = (
    (re.compile(r"(://[^\s:/@]*):\S*@"), r"\1:***@"),
    (
        re.compile(r"(?i)\b(\w*(?:password|passwd|pwd|secret|token))(['\"]?\s*[=:]\s*)('[^']*'|\"[^\"]*\"|[^\s&;,)]+)"),
        r"\1\2***",
    ),
)


class Store(Protocol):
    """A store of the program's own, for ``Generator(store=...)`` with ``kind="segment"``. With workers too it is a
    ``WorkerStore``.

    Each call is one atomic, durable step and returns when its commit is acknowledged, not before. Called from any
    thread, one of the core's own included, and several at once; never on the path of an id. It must not use the
    generator that calls it. The core sets no time limit: the store's own connections should have one.

    An exception means: not known whether it happened. What was asked for is then never issued by anyone. An
    ``idgen.Error`` goes on with its status, so ``raise idgen.TagUnknownError("...")`` does what it says; any other
    becomes a ``HostError``, which is tried again. A forked child gets ``ForkedError`` instead of its parent's store.
    """

    def segment_take(self, namespace: str, tag: str, count: int, /) -> int:
        """``max_id += count`` for the tag; returns the first number of the grant, the old ``max_id + 1``."""

    def segment_return(self, namespace: str, tag: str, last: int, unused: int, /) -> None:
        """If ``max_id == last``: ``max_id = last - unused``. Else nothing: somebody else has drawn since.

        May be left out: what is unused when a generator is closed is then never issued.
        """


class AboveStore(Store, Protocol):
    """A ``Store`` that serials with a date (``kind="serial"``) can be drawn from."""

    def segment_take_above(self, namespace: str, tag: str, count: int, above: int, /) -> int:
        """``max_id = max(max_id, above) + count`` for the tag; returns the first number of the grant."""


class WorkerStore(Protocol):
    """What a store of the program's own has for ``kind="snowflake"``: a row for each worker, with a lease. All else is
    as for ``Store``, whose methods it may have too.

    The core decides, by the rules of its own stores, what a row becomes. The store only reads rows, and changes one if
    it is still what was read: so no worker's time is granted twice. Its clock is one that all clients share.
    """

    def namespace_format(self, namespace: str, format: str, /) -> str:
        """The format of the namespace; "" if it has none. If it has none and `format` is not "", it gets that one
        first, unless somebody else is faster.
        """

    def worker_read(self, namespace: str, worker: int, /) -> WorkerRow:
        """The worker's row, with the store's clock of the same moment. A worker without a row has the fence 0."""

    def worker_list(self, namespace: str, /) -> Iterable[WorkerRow]:
        """All workers of the namespace that have a row."""

    def worker_replace(self, namespace: str, change: WorkerChange, /) -> bool:
        """Changes the row if it is as `change` says that it was seen; True if it did. Compare and set: one step."""


Store.__module__ = AboveStore.__module__ = WorkerStore.__module__ = "idgen"


def text_of(exception: BaseException) -> str:
    """An exception in words, without what looks like a password."""
    text = " ".join(str(exception).split())
    for pattern, shown in _SECRETS:
        text = pattern.sub(shown, text)
    name = type(exception).__name__
    return f"{name}: {text}" if text else name


def error(kind: type[_Kind], message: str) -> _Kind:
    """An exception as the core would raise it, with the status that its class stands for."""
    from ._core import statuses

    row = next(row for row in statuses() if CLASS_BY_NAME.get(row.name) is kind)
    return kind(message, row.status, row.name, row.retryable)


class Sink:
    """What the core asks in a store's place. Keeps what the store raised, for the exceptions of the calls that fail for
    it: the core answers on another thread, or later, and knows the exception by a number only.
    """

    def __init__(self, store: Any, most_raised: int = 2) -> None:
        self._store = store  # a Store, a WorkerStore, or both
        # The latest two: a call may still be on its way with one while the next attempt fails.
        self._raised: deque[tuple[int, BaseException]] = deque(maxlen=most_raised)
        self._number = next(numbers) << 32
        self._failures = itertools.count(self._number + 1)
        sinks[self._number] = self

    def segment_take(self, namespace: str, tag: str, count: int, above: int) -> int:
        # Without it, the core sees that the grant does not begin above, and says so.
        first: int
        if above and hasattr(self._store, "segment_take_above"):
            first = self._store.segment_take_above(namespace, tag, count, above)
        else:
            first = self._store.segment_take(namespace, tag, count)
        self._raised.clear()
        return first

    def segment_return(self, namespace: str, tag: str, last: int, unused: int) -> None:
        self._store.segment_return(namespace, tag, last, unused)

    def namespace_format(self, namespace: str, format: str) -> str:
        return _a(str, "namespace_format", self._store.namespace_format(namespace, format))

    def worker_read(self, namespace: str, worker: int) -> WorkerRow:
        return _row("worker_read", self._store.worker_read(namespace, worker))

    def worker_list(self, namespace: str) -> list[WorkerRow]:
        return [_row("worker_list", row) for row in self._store.worker_list(namespace)]

    def worker_replace(self, namespace: str, *change: Any) -> bool:
        changed = _a(bool, "worker_replace", self._store.worker_replace(namespace, WorkerChange(*change)))
        self._raised.clear()
        return changed

    def with_connection(self, function: Any) -> None:
        if self._store._with_connection(function):
            self._raised.clear()

    def failure(self, exception: BaseException) -> tuple[int, bytes, int, int]:
        """(status, message, retry_after_ns, cause) of what the store raised. Called by the extension module only."""
        return *_told(exception), self._kept(exception)

    def sql_failure(self, exception: BaseException) -> tuple[int, int, str, bytes, int, int]:
        """(status, code, sqlstate, message, retry_after_ns, cause) of what a driver or a pool raised. Called by the
        extension module only.
        """
        number = self._kept(exception)
        if isinstance(exception, Error):
            status, message, retry_after_ns = _told(exception)
            return status, 0, "", message, retry_after_ns, number
        from ._drivers import code_of

        code, sqlstate, text = code_of(exception)
        return HOST, code, sqlstate, _cut(text), 0, number

    def _kept(self, exception: BaseException) -> int:
        number = next(self._failures)
        # An idgen.Error says what the store found, and the call's exception will say that too: the cause is behind it.
        known = exception.__cause__ if isinstance(exception, Error) else None
        self._raised.append((number, exception if known is None else known))
        return number

    def raised(self, number: int) -> BaseException | None:
        return next((exception for mine, exception in tuple(self._raised) if mine == number), None)


def _a(kind: type[_Value], method: str, value: object) -> _Value:
    if not isinstance(value, kind):
        raise TypeError(f"{method} returned {value!r}; it must be of the type {kind.__name__}")
    return value


def _row(method: str, row: object) -> WorkerRow:
    row = _a(WorkerRow, method, row)
    for name, value in row._asdict().items():
        _a(str if name in ("owner", "holder") else int, f"{method}: {name}", value)
    return row


numbers = itertools.count(1)
sinks: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()


def cause_of(number: int) -> BaseException | None:
    """What a store raised, by the number that the core gives back. None if something newer was raised since."""
    sink = sinks.get(number >> 32 << 32)
    raised: BaseException | None = sink.raised(number) if sink else None
    return raised


def _told(exception: BaseException) -> tuple[int, bytes, int]:
    if isinstance(exception, Error):
        message = str(exception)
        status = exception.status or _status_of(type(exception))
        retry_after_ns = _ENDS_WAITS if exception._ends_waits else round((exception.retry_after or 0) * 1e9)
    else:
        message, status, retry_after_ns = f"the program's own store: {text_of(exception)}", HOST, 0
    return status, _cut(message), retry_after_ns


def _cut(message: str) -> bytes:
    encoded = message.encode("utf-8", "replace").replace(b"\0", b" ")
    return encoded[:_LONGEST].decode("utf-8", "ignore").encode()  # at a character


def _status_of(kind: type[Error]) -> int:
    """The status that a class of exceptions stands for; that of the host's own for one that stands for none."""
    from ._core import statuses

    return next((status.status for status in statuses() if CLASS_BY_NAME.get(status.name) is kind), HOST)
