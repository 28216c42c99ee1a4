"""asyncio: ids without a blocked loop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from typing import Any

import pytest

import idgen
from conftest import ManualClock


def run(coroutine: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(asyncio.wait_for(coroutine, timeout=30))


def test_await_gives_ids_in_order(segment: idgen.Generator) -> None:
    async def draw() -> list[int]:
        return [await segment.next_async() for _ in range(5)]

    assert run(draw()) == [1, 2, 3, 4, 5]


def test_many_tasks_never_get_the_same_id(snowflake: idgen.Generator) -> None:
    async def draw() -> list[int]:
        async def worker() -> list[int]:
            return [await snowflake.next_async() for _ in range(500)]

        return [id for ids in await asyncio.gather(*(worker() for _ in range(20))) for id in ids]

    assert len(set(run(draw()))) == 10_000


def test_async_for_lets_other_tasks_have_their_turn(segment: idgen.Generator) -> None:
    async def draw() -> int:
        turns = 0

        async def other() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        task = asyncio.create_task(other())
        async for id in segment:
            if id >= 5_000:
                break
        task.cancel()
        return turns

    assert run(draw()) >= 5


def test_the_loop_goes_on_while_an_id_is_waited_for(memory_store: str, manual_clock: ManualClock) -> None:
    async def draw() -> tuple[int, int]:
        with idgen.Generator(worker=1, store=memory_store, clock=manual_clock, on_clock_back="wait") as generator:
            last = generator.next()
            manual_clock.advance_ms(-1)
            waiting = asyncio.ensure_future(generator.next_async())
            turns = 0
            while turns < 20:
                await asyncio.sleep(0.001)
                assert not waiting.done()
                turns += 1
            manual_clock.advance_ms(2)
            return last, await waiting

    last, id = run(draw())
    assert id > last


def test_cancelling_a_task_ends_its_wait(memory_store: str, manual_clock: ManualClock) -> None:
    async def draw() -> float:
        options: dict[str, Any] = {"clock": manual_clock, "on_clock_back": "wait", "wait_max": "60s"}
        with idgen.Generator(worker=1, store=memory_store, **options) as generator:
            generator.next()
            manual_clock.advance_ms(-1)
            waiting = asyncio.ensure_future(generator.next_async())
            await asyncio.sleep(0.05)
            start = time.monotonic()
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            # The thread of the executor is free again: otherwise this would wait for wait_max.
            await asyncio.get_running_loop().shutdown_default_executor()
            return time.monotonic() - start

    assert run(draw()) < 10


def test_errors_come_out_of_await(snowflake: idgen.Generator) -> None:
    snowflake.close()

    async def draw() -> int:
        return await snowflake.next_async()

    with pytest.raises(idgen.ClosedError):
        run(draw())
