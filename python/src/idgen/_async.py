"""Ids for asyncio: never a blocked event loop.

An id that needs no wait is returned at once, in the loop's own thread. Only a call that has to wait moves to the loop's
default executor. However many tasks wait, a generator uses one thread of it: an executor has few, and wait_max does not
apply to a call in its queue.
"""

from __future__ import annotations

import asyncio
import copy
import re
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from . import _core
from ._errors import Error, OverloadedError, StoreUnavailableError

if TYPE_CHECKING:
    from ._core import Generator

# After this many ids the loop's other tasks get a turn: ids can come for ever without a single wait.
_YIELD_EVERY = 256
# The core ends its own wait at wait_max and knows why. This much later we end the wait of tasks that have waited longer
# than the core.
_GRACE_S = 0.25
_UNIT_S = {"": 0.001, "ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "y": 31557600.0}


class Wait:
    """A thread that waits for one id. It belongs to the task that began the wait; the others check again when it ends.

    The id goes to no other task, even if that one has left: a later task may have drawn a higher id meanwhile.
    """

    def __init__(self, generator: Generator, loop: asyncio.AbstractEventLoop) -> None:
        self.token = _core.CancelToken()
        self.tasks = 0
        self.id = loop.run_in_executor(None, generator._next_until, self.token)
        self.id.add_done_callback(_look_at_exception)


def _look_at_exception(id: asyncio.Future[int]) -> None:
    if not id.cancelled():
        id.exception()  # else asyncio complains about an exception that was never retrieved, when all tasks have left


def _wait_max_s(generator: Generator) -> float:
    match = re.fullmatch(r"(\d+)(\D*)", generator._wait_max)
    assert match is not None, "the core has accepted it"
    return int(match[1]) * _UNIT_S[match[2]]


def _waited_too_long(kind: str, message: str) -> Error:
    """For a task whose wait_max is over while others got the ids: what the core would say to a thread."""
    if kind == "segment":
        return StoreUnavailableError(message, 60, "STORE_UNAVAILABLE", True)
    return OverloadedError(message, 26, "OVERLOADED", True)


async def next_async(generator: Generator) -> int:
    """One id; see Generator.next_async."""
    id = generator.try_next()
    if id is not None:
        return id
    loop = asyncio.get_running_loop()
    waits = generator._async_waits
    deadline = loop.time() + _wait_max_s(generator)
    failure: Error | None = None
    while True:
        wait = waits.get(loop)
        mine = wait is None
        if wait is None:
            wait = waits[loop] = Wait(generator, loop)
        wait.tasks += 1
        try:
            # A timeout or a cancelled task does not end the wait of the others.
            await asyncio.wait((wait.id,), timeout=max(0.0, deadline - loop.time()) + _GRACE_S)
        finally:  # a discarded coroutine gets GeneratorExit
            wait.tasks -= 1
            if wait.tasks == 0:
                wait.token.cancel()
            if (wait.tasks == 0 or wait.id.done()) and waits.get(loop) is wait:
                del waits[loop]
        if wait.id.done():
            error = wait.id.exception()
            if mine:
                return wait.id.result()
            if isinstance(error, Error):
                failure = error
        id = generator.try_next()
        if id is not None:
            return id
        if loop.time() >= deadline:
            if failure is not None:
                raise copy.copy(failure)  # an exception raised by several tasks would collect all their tracebacks
            waited = f"{generator.name}: waited {generator._wait_max} (wait_max)"
            raise _waited_too_long(generator.kind, f"{waited}; all ids went to others. Try again, or raise wait_max")


async def iterate(generator: Generator) -> AsyncIterator[int]:
    """Endless ids; see Generator.__aiter__."""
    while True:
        for _ in range(_YIELD_EVERY):
            yield await next_async(generator)
        await asyncio.sleep(0)
