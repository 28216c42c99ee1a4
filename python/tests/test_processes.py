"""Forks, copies of a process, and processes that share a file."""

from __future__ import annotations

import asyncio
import multiprocessing
import re
from typing import Any

import idgen
import pytest
from conftest import REPOSITORY, expect, in_child, run_python
from patience import patience


def test_a_forked_child_of_a_fixed_worker_gets_forked_and_the_parent_goes_on(file_store: str) -> None:
    with idgen.Generator(worker=1, store=file_store) as generator:
        first = generator.next()
        for call in (generator.next, lambda: next(generator), lambda: generator.next_batch(100), generator.try_next):
            assert in_child(lambda call=call: expect(idgen.ForkedError, call)) == "ForkedError"  # type: ignore[misc]
        assert in_child(lambda: str(generator.decode(first).worker)) == "1"
        assert generator.next() > first


def test_a_forked_child_of_an_event_loop_awaits_ids_on_a_loop_of_its_own(file_store: str) -> None:
    with idgen.Generator(kind="segment", tag="t", store=file_store, segment_step=100) as generator:

        async def draw() -> int:
            return await generator.next_async()

        async def draw_and_fork() -> tuple[int, str]:
            return await draw(), in_child(lambda: str(asyncio.run(draw())))

        mine, theirs = asyncio.run(draw_and_fork())
        assert int(theirs) > mine == 1


def test_a_fork_waits_until_another_thread_has_imported_what_its_call_needs(file_store: str) -> None:
    code = f"""
import importlib.abc, os, sys, threading
import idgen

class Slow(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "idgen._values" and threading.current_thread() is not threading.main_thread():
            begun.set()
            forks.wait(0.2)  # the fork comes meanwhile, or waits

begun, forks = threading.Event(), threading.Event()
sys.meta_path.insert(0, Slow())
orders = idgen.lazy(kind="segment", tag="t", store="{file_store}")
threading.Thread(target=orders.next).start()
begun.wait()
child = os.fork()
if child == 0:
    orders.next()
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert run_python(code).stdout == "0\n"


def test_the_extension_module_imports_under_the_lock_that_a_fork_waits_for() -> None:
    sources = REPOSITORY / "bindings/python/src"
    imported = {
        name for path in sources.glob("*pp") for name in re.findall(r"module_::import\((.*?)\)", path.read_text())
    }
    assert imported == {'"builtins"', '"idgen"', "name"}, "use module_named()"


def test_quiesced_generators_wait_for_the_reset_and_go_on(file_store: str) -> None:
    with idgen.Generator(kind="segment", tag="t", store=file_store, wait_max="1s") as generator:
        first = generator.next()
        idgen.quiesce()
        try:
            assert idgen.segment_show(store=file_store, tag="t").max_id == first
            with pytest.raises(idgen.StoreUnavailableError, match="quiesced for a checkpoint"):
                generator.next()
        finally:
            idgen.reset()
        assert generator.next() == first + 1


def test_of_processes_that_never_rest_none_keeps_a_store_from_the_others(file_store: str) -> None:
    """The lock of a file has no queue, and whoever asks soonest gets it: without turns the luckiest of eight has a
    hundred grants for each of the unluckiest."""
    context = multiprocessing.get_context("fork")
    counts = context.Array("q", 8, lock=False)
    with context.Pool(8, begin_together, (context.Barrier(8), counts)) as pool:
        pool.starmap(draw_until_all_have, [(file_store, index) for index in range(8)], chunksize=1)
    grants = list(counts)
    assert min(grants) >= sum(grants) / 8 / 4, grants


all_are_ready: Any = None  # in the processes of the pool: a barrier
grants_of: Any = None  # how many each of them has


def begin_together(barrier: Any, counts: Any) -> None:
    global all_are_ready, grants_of
    all_are_ready, grants_of = barrier, counts


def draw_until_all_have(store: str, index: int) -> None:
    """One who always wants the next one, until all have a hundred, or one has so many that others get none."""
    with idgen.Generator(
        kind="segment", tag="t", store=store, segment_step=10, segment_runway=0, store_timeout="60s", wait_max="60s"
    ) as generator:
        all_are_ready.wait(patience(60))
        while min(grants_of) < 100 and max(grants_of) < 1000:
            generator.next_batch(10)
            grants_of[index] += 1
