"""Ids for asyncio: never a blocked event loop.

An id that is there is returned at once, in the loop's own thread. Only a call that would have to wait moves to the
loop's default executor, and a cancelled task ends that wait.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from . import _core

if TYPE_CHECKING:
    from ._core import Generator

# After so many ids the other tasks of the loop get their turn: ids can come for ever without a single wait.
_YIELD_EVERY = 256


async def next_async(generator: Generator) -> int:
    """One id; see Generator.next_async."""
    id = generator.try_next()
    if id is not None:
        return id
    token = _core.CancelToken()
    waiting = asyncio.get_running_loop().run_in_executor(None, generator._next_until, token)
    try:
        return await waiting
    except asyncio.CancelledError:
        token.cancel()
        raise


async def iterate(generator: Generator) -> AsyncIterator[int]:
    """Ids without end; see Generator.__aiter__."""
    while True:
        for _ in range(_YIELD_EVERY):
            yield await next_async(generator)
        await asyncio.sleep(0)
