"""asyncio: ids without a blocked loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import idgen
import pytest
from conftest import ManualClock, distinct
from patience import patience


def run(coroutine: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(asyncio.wait_for(coroutine, timeout=patience(60)))


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


async def waiting(generator: idgen.Generator, count: int = 6) -> list[asyncio.Task[int]]:
    """So many tasks of which the first waits in a thread."""
    tasks = [asyncio.ensure_future(generator.next_async()) for _ in range(count)]
    while not generator._async_waits:
        await asyncio.sleep(0)
    return tasks


Stuck = Callable[..., idgen.Generator]


@pytest.fixture
def stuck(memory_store: str, manual_clock: ManualClock) -> Iterator[Stuck]:
    """Makes a generator whose clock was just set back by a ms: the next id has to wait until the clock moves on."""
    made: list[idgen.Generator] = []

    def make(wait_max: str | timedelta = "1h") -> idgen.Generator:
        generator = idgen.Generator(
            worker=len(made), store=memory_store, clock=manual_clock, on_clock_back="wait", wait_max=wait_max
        )
        made.append(generator)
        generator.next()
        manual_clock.advance_ms(-1)
        return generator

    yield make
    for generator in made:
        generator.close()


TASKS = 200


def test_many_tasks_wait_in_one_thread_and_all_get_an_id(stuck: Stuck, manual_clock: ManualClock) -> None:
    async def draw() -> list[int]:
        generator = stuck()
        loop = asyncio.get_running_loop()
        loop.set_default_executor(ThreadPoolExecutor(2))
        tasks = await waiting(generator, TASKS)
        # The loop goes on, and the executor has a thread left for others.
        assert await asyncio.wait_for(loop.run_in_executor(None, lambda: 42), timeout=patience(60)) == 42
        assert not any(task.done() for task in tasks)
        manual_clock.advance_ms(2)
        return list(await asyncio.gather(*tasks))

    assert distinct(run(draw())) == TASKS


def test_wait_max_bounds_every_task(stuck: Stuck) -> None:
    async def draw() -> list[Any]:
        generator = stuck(wait_max=timedelta(seconds=patience(2)))
        first = await waiting(generator, TASKS)
        late = [asyncio.ensure_future(generator.next_async()) for _ in range(TASKS)]
        errors = await asyncio.gather(*first, *late, return_exceptions=True)
        assert generator._async_waits == {}
        return errors

    errors = run(draw())  # one after the other, they would take a quarter of an hour
    assert {type(error) for error in errors} == {idgen.ClockBackError}
    assert len({id(error) for error in errors}) == 2 * TASKS, "each task has an exception of its own"


def test_wait_max_bounds_a_task_that_finds_the_executor_full(stuck: Stuck) -> None:
    async def draw() -> None:
        generator = stuck(wait_max="50ms")
        executor = ThreadPoolExecutor(1)
        asyncio.get_running_loop().set_default_executor(executor)
        release = threading.Event()
        executor.submit(release.wait)
        try:
            with pytest.raises(idgen.OverloadedError, match=r"50ms \(wait_max\)") as caught:
                await generator.next_async()
            assert caught.value.retryable
        finally:
            release.set()

    run(draw())


def test_a_cancelled_task_does_not_end_the_wait_of_the_others(stuck: Stuck, manual_clock: ManualClock) -> None:
    async def draw() -> list[int]:
        generator = stuck()
        tasks = await waiting(generator)
        for task in tasks[:3]:  # the one that began the wait among them
            task.cancel()
        await asyncio.wait(tasks[:3])
        assert [task.done() for task in tasks] == [True] * 3 + [False] * 3
        manual_clock.advance_ms(2)
        return list(await asyncio.gather(*tasks[3:]))

    assert distinct(run(draw())) == 3


def test_the_last_task_that_is_cancelled_ends_the_wait(stuck: Stuck) -> None:
    async def draw() -> None:
        generator = stuck()
        tasks = await waiting(generator)
        for task in tasks:
            task.cancel()
        ends = await asyncio.gather(*tasks, return_exceptions=True)
        assert {type(end) for end in ends} == {asyncio.CancelledError}
        assert generator._async_waits == {}
        # The thread of the executor is free again: otherwise this would wait for wait_max.
        await asyncio.get_running_loop().shutdown_default_executor()

    run(draw())


def test_a_coroutine_that_is_thrown_away_ends_its_wait(stuck: Stuck) -> None:
    async def draw() -> None:
        generator = stuck()
        coroutine: Any = generator.next_async()
        coroutine.send(None)  # to where it waits
        coroutine.close()  # GeneratorExit, not CancelledError
        assert generator._async_waits == {}
        await asyncio.get_running_loop().shutdown_default_executor()

    run(draw())


def test_loops_of_several_threads_wait_each_for_itself(stuck: Stuck, manual_clock: ManualClock) -> None:
    generator = stuck()
    all_wait = threading.Barrier(4)

    async def draw() -> list[int]:
        tasks = await waiting(generator, 20)
        all_wait.wait(timeout=patience(60))
        return list(await asyncio.gather(*tasks))

    with ThreadPoolExecutor(3) as threads:
        results = [threads.submit(run, draw()) for _ in range(3)]
        all_wait.wait(timeout=patience(60))
        manual_clock.advance_ms(2)
        ids = [id for result in results for id in result.result(timeout=patience(60))]
    assert distinct(ids) == 60
    assert generator._async_waits == {}


def test_closing_ends_the_wait_of_all_tasks(stuck: Stuck) -> None:
    async def draw() -> list[Any]:
        generator = stuck()
        tasks = await waiting(generator, 5)
        await asyncio.to_thread(generator.close)
        return list(await asyncio.gather(*tasks, return_exceptions=True))

    assert [type(error) for error in run(draw())] == [idgen.ClosedError] * 5
