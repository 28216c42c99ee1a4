"""A generator that opens itself when it is first used, in each process once.

Modules make their generators when they are imported. At that moment a server that forks its workers has not forked
yet, the store may not be up, and tools that only import the module need no ids. A lazy handle can be made there: it
holds what to open, and nothing else.
"""

from __future__ import annotations

import copy
import os
import threading
import time
import weakref
from functools import partial

from ._core import Generator, _is_store, open as open_table
from ._delegating import Delegating
from ._errors import CancelledError, ClosedError, Error, ForkedError, UnsupportedError, WorkerBusyError

TYPE_CHECKING = False  # as in __init__.py
if TYPE_CHECKING:
    import asyncio
    from collections.abc import AsyncIterator, Callable
    from datetime import timedelta
    from typing import Any, TypeVar, overload

    from typing_extensions import Self, Unpack

    from ._properties import Properties

    _Path = str | os.PathLike[str]
    _Kind = TypeVar("_Kind", bound=Error)

# Between two attempts to open, in seconds: twice as long each time.
_FIRST_PAUSE_S = 0.05
_LONGEST_PAUSE_S = 2.0


class _Opening:
    """One opening, by one thread. The others wait for it, and share its failure."""

    def __init__(self) -> None:
        self.threads = [threading.get_ident()]  # those that must not wait for it, because it waits for them
        self.is_over = False
        self.failure: Exception | None = None  # None: it is open, or whoever opened was told to leave


class _Callback:
    """A clock, a store or a log. While the opening lasts, the thread that runs it is one that the opening waits for."""

    __slots__ = ("_opening", "_target")

    def __init__(self, target: Any, opening: _Opening) -> None:
        self._target = target
        self._opening = opening

    def __call__(self, *arguments: Any) -> Any:
        return self._run(self._target, *arguments)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._target, name)
        return partial(self._run, value) if callable(value) else value

    def _run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        opening = self._opening
        if opening.is_over:
            return function(*arguments)
        thread = threading.get_ident()
        opening.threads.append(thread)
        try:
            return function(*arguments)
        finally:
            opening.threads.remove(thread)


class _Leave:
    """Tells a thread that waits on behalf of asyncio that nobody waits for it any more."""

    is_asked = False


class _Wait:
    """A thread of an event loop's executor that opens, or waits for who does, for all tasks of the loop."""

    def __init__(self, handle: LazyGenerator, loop: asyncio.AbstractEventLoop) -> None:
        self.leave = _Leave()
        self.tasks = 0
        self.generator = loop.run_in_executor(None, handle._get, self.leave)
        self.generator.add_done_callback(_look_at_exception)


def _look_at_exception(generator: asyncio.Future[Generator]) -> None:
    if not generator.cancelled():
        generator.exception()  # else asyncio complains about one that was never retrieved, when all tasks have left


def error(kind: type[_Kind], message: str) -> _Kind:
    from . import _import

    # It loads much that a program without errors does not need.
    made: _Kind = _import("idgen._store").error(kind, message)
    return made


def _for_this_caller(failure: Exception) -> Exception:
    """A failure that several threads share would collect the tracebacks of all."""
    if not isinstance(failure, Error):
        return failure
    mine = copy.copy(failure)
    mine.__cause__ = failure.__cause__
    return mine


class LazyGenerator(Delegating):
    """A generator that opens itself when it is first used. Made by ``idgen.lazy``, which says all about it.

    It has the methods and attributes of ``Generator``, and any number of threads may use it.
    """

    __slots__ = (
        "__weakref__",
        "_changed",
        "_generator",
        "_is_closed",
        "_key",
        "_open_wait",
        "_opening",
        "_parent_had",
        "_properties",
        "_table",
        "_waits",
    )

    def __init__(
        self, table: tuple[_Path | None, str] | None, open_wait: float | timedelta, properties: dict[str, Any]
    ) -> None:
        self._table = table
        self._open_wait = open_wait
        self._properties = properties
        self._key: str | None = None  # who this is in pickles
        self._is_closed = False
        self._parent_had = False  # had opened, or was about to, when it forked this process
        self._generator: Generator | None = None  # this process's; stays when it is closed, and says so
        self._forget_threads()
        _handles.add(self)

    def _forget_threads(self) -> None:
        """Of the parent: in a forked child they do not run. Nothing of ours is called while _changed is held."""
        self._changed = threading.Condition()
        self._opening: _Opening | None = None
        self._waits: dict[asyncio.AbstractEventLoop, _Wait] = {}

    def _begin_in_child(self) -> None:
        self._parent_had |= self._generator is not None or self._opening is not None
        # Not closed: the reservation is the parent's. The core frees its memory here and touches nothing else.
        self._generator = None
        self._forget_threads()

    # ---- opening

    def get(self) -> Generator:
        """The generator of this process, opened if it is not open yet. For what takes a ``Generator``, such as
        ``idgen.metrics``; do not keep it across a fork. May block, up to ``open_wait``; Ctrl-C ends the wait.

        Raises what ``Generator(...)`` and ``idgen.open`` raise; ClosedError after ``close``; ForkedError in a child
        whose parent has used a store of the program's own.
        """
        generator = self._generator
        return self._get() if generator is None else generator

    def _get(self, leave: _Leave | None = None) -> Generator:
        mine = _Opening()
        try:
            while True:
                with self._changed:
                    if self._generator is not None:
                        return self._generator
                    self._check()
                    opening = self._opening
                    if opening is None:
                        self._opening = mine
                        break
                    if mine.threads[0] in opening.threads:
                        raise error(
                            UnsupportedError,
                            f"{self._subject()}: the lazy generator is used by a clock, a store or a log that its "
                            "opening waits for; use another generator there",
                        )
                    self._wait(lambda opening=opening: opening.is_over, leave)  # type: ignore[misc]
                if opening.failure is not None:
                    raise _for_this_caller(opening.failure)
            return self._open(mine, leave)
        finally:
            if self._opening is mine:  # this thread was interrupted: the next of those who wait opens
                self._end(mine, None, None)

    def _check(self) -> None:
        if self._is_closed:
            raise error(ClosedError, f"{self._subject()}: the lazy generator is closed; make another one")
        if self._parent_had and _is_store(self._properties.get("store")):
            raise error(
                ForkedError,
                f"{self._subject()}: this is a forked child, and the parent has used the store, which is the program's "
                "own; use the handle after the fork only, or make another store and another handle in the child",
            )

    def _wait(self, is_over: Callable[[], bool], leave: _Leave | None, wait_s: float | None = None) -> None:
        """With _changed held. Ends early when the handle is closed."""
        self._changed.wait_for(lambda: is_over() or self._is_closed or (leave is not None and leave.is_asked), wait_s)
        if leave is not None and leave.is_asked:
            raise error(CancelledError, f"{self._subject()}: nobody waits for it to open any more")
        self._check()

    def _open(self, mine: _Opening, leave: _Leave | None) -> Generator:
        try:
            generator = self._opened(mine, leave)
        except CancelledError:  # of this caller alone
            self._end(mine, None, None)
            raise
        except Exception as failure:
            self._end(mine, None, failure)
            raise
        if self._opening is not mine:
            raise error(ForkedError, f"{self._subject()}: this process was forked while it opened; call again")
        self._end(mine, generator, None)
        if self._is_closed:  # meanwhile
            generator.close()
            self._check()
        return generator

    def _end(self, opening: _Opening, generator: Generator | None, failure: Exception | None) -> None:
        with self._changed:
            opening.failure = failure
            opening.is_over = True
            if self._opening is opening:  # not in a child that a callback has forked
                self._opening = None
                self._generator = generator
            self._changed.notify_all()

    def _opened(self, mine: _Opening, leave: _Leave | None) -> Generator:
        open_wait = self._open_wait
        wait_s = open_wait if isinstance(open_wait, (int, float)) else open_wait.total_seconds()
        deadline = time.monotonic() + wait_s
        pause = _FIRST_PAUSE_S
        while True:
            try:
                return self._attempt(mine)
            except Error as failure:
                left = deadline - time.monotonic()
                # The parent lives on, and keeps a worker whose number is fixed.
                is_parents = self._parent_had and isinstance(failure, WorkerBusyError)
                if not failure.retryable or is_parents or left <= 0:
                    raise
                this_pause = min(max(pause, failure.retry_after or 0), left)
            with self._changed:
                self._wait(lambda: False, leave, this_pause)
            pause = min(2 * pause, _LONGEST_PAUSE_S)

    def _attempt(self, opening: _Opening) -> Generator:
        properties: Any = {
            key: _Callback(value, opening) if callable(value) or _is_store(value) else value
            for key, value in self._properties.items()
        }
        if self._table is None:
            return Generator(**properties)
        return open_table(*self._table, **properties)

    async def get_async(self) -> Generator:
        """``get`` for asyncio: a thread of the loop's default executor opens, one for all tasks of the loop, and the
        loop goes on. When no task waits any more, it gives up, within ``wait_max``. Raises as get.
        """
        import asyncio

        if self._generator is not None:
            return self._generator
        loop = asyncio.get_running_loop()
        waits = self._waits
        wait = waits.get(loop)
        if wait is None:
            wait = waits[loop] = _Wait(self, loop)
        wait.tasks += 1
        try:
            await asyncio.wait((wait.generator,))  # a cancelled task does not end the wait of the others
        finally:
            wait.tasks -= 1
            if wait.tasks == 0 and not wait.generator.done():
                with self._changed:
                    wait.leave.is_asked = True
                    self._changed.notify_all()
            if (wait.tasks == 0 or wait.generator.done()) and waits.get(loop) is wait:
                del waits[loop]
        failure = wait.generator.exception()
        if isinstance(failure, Exception):
            raise _for_this_caller(failure)
        return wait.generator.result()

    # ---- what a generator has

    def next(self) -> int:
        generator = self._generator  # the calls of most programs: not by _delegated, which costs twice as much
        return (self.get() if generator is None else generator).next()

    def try_next(self) -> int | None:
        """An id at once, or None. The first use opens all the same, which may block."""
        generator = self._generator
        return (self.get() if generator is None else generator).try_next()

    def next_text(self) -> str:
        generator = self._generator
        return (self.get() if generator is None else generator).next_text()

    next.__doc__ = Generator.next.__doc__
    next_text.__doc__ = Generator.next_text.__doc__
    __next__ = next

    async def next_async(self) -> int:
        """``await handle.next_async()``: one id for asyncio, as ``Generator.next_async``; opens as get_async."""
        generator = self._generator
        return await (await self.get_async() if generator is None else generator).next_async()

    async def __aiter__(self) -> AsyncIterator[int]:
        async for id in await self.get_async():
            yield id

    @property
    def is_open(self) -> bool:
        """Whether this process has opened the generator and not closed it. Opens nothing."""
        return self._generator is not None and not self.closed

    @property
    def closed(self) -> bool:
        """True once close was called. Opens nothing."""
        generator = self._generator
        return self._is_closed or (generator is not None and generator.closed)

    def close(self) -> None:
        """Closes the handle for good, and this process's generator with it, as ``Generator.close`` does. Later uses
        raise ClosedError: nothing is opened again. An opening that is under way ends. Idempotent. May block.
        """
        with self._changed:
            self._is_closed = True
            generator = self._generator
            self._changed.notify_all()
        if generator is not None:
            generator.close()

    # ---- the handle as an object

    def _subject(self) -> str:
        """What this is, without what may hold a password."""
        if self._table is not None:
            path, name = self._table
            return f"{name!r} of " + ("the environment" if path is None else repr(os.fspath(path)))
        shown = (f"{key}={self._properties[key]!r}" for key in ("name", "kind", "tag") if key in self._properties)
        return " ".join(shown) or "kind='snowflake'"

    def __repr__(self) -> str:
        state = "closed" if self.closed else "open" if self._generator is not None else "not open"
        return f"<idgen.LazyGenerator {self._subject()}, {state}>"

    def __reduce__(self) -> Any:
        if self._key is None:
            with self._changed:
                self._key = self._key or os.urandom(16).hex()
        _pickled.setdefault(self._key, self)
        return _unpickled, (self._key, self._table, self._open_wait, self._properties)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self


_handles: weakref.WeakSet[LazyGenerator] = weakref.WeakSet()
# What was pickled, or unpickled, in this process or an ancestor, as long as the program has it. A handle that is sent
# with each task of a pool is thus one handle in each worker, and not one for each task: of those that no task has any
# more, the latest are kept.
_pickled: weakref.WeakValueDictionary[str, LazyGenerator] = weakref.WeakValueDictionary()
_latest: dict[str, LazyGenerator] = {}
_MOST_KEPT = 16


def _unpickled(
    key: str, table: tuple[_Path | None, str] | None, open_wait: float | timedelta, properties: dict[str, Any]
) -> LazyGenerator:
    made = LazyGenerator(table, open_wait, properties)
    made._key = key
    handle = _pickled.setdefault(key, made)
    _latest.pop(key, None)
    _latest[key] = handle
    for old in list(_latest)[:-_MOST_KEPT]:
        _latest.pop(old, None)
    return handle


def _forget_parent() -> None:
    for handle in list(_handles):
        handle._begin_in_child()


os.register_at_fork(after_in_child=_forget_parent)

if TYPE_CHECKING:

    @overload
    def lazy(
        toml_path: _Path | None, name: str, /, *, open_wait: float | timedelta = 60, **overrides: Unpack[Properties]
    ) -> LazyGenerator: ...
    @overload
    def lazy(*, open_wait: float | timedelta = 60, **properties: Unpack[Properties]) -> LazyGenerator: ...


def lazy(*table: Any, open_wait: float | timedelta = 60, **properties: Any) -> LazyGenerator:
    """lazy(toml_path, name, /, *, open_wait=60, **overrides) -> LazyGenerator
    lazy(*, open_wait=60, **properties) -> LazyGenerator

    A generator to be made at module level: arguments are those of ``idgen.open`` or of ``Generator``. Making it opens
    nothing, reads nothing and blocks on nothing. The first use opens it, in each process once, however many threads
    want it at the same moment; what is wrong with the configuration is raised there. If opening fails, all who waited
    for it get the exception, and the next use tries again.

    open_wait, in seconds or a timedelta: how long opening tries again after an error that is ``retryable``: the store
    is down, or the worker is still held by the process that this one replaces. The last attempt may take ``wait_max``
    longer. Ctrl-C ends the wait, and so does cancelling the task of ``next_async``.

    A forked child opens a generator of its own; its parent's is left alone. The handle and its bound methods can be
    pickled, which pickles the arguments. It is one handle in each process, however often it is unpickled there.
    """
    if len(table) not in (0, 2):
        raise TypeError(f"idgen.lazy takes toml_path and name, or keywords only; got {len(table)} positional arguments")
    return LazyGenerator((table[0], table[1]) if table else None, open_wait, properties)


LazyGenerator.__module__ = lazy.__module__ = "idgen"
