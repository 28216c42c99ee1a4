"""Several processes: forks, pools, and a shared store."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import multiprocessing
import os
import re
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import idgen
import pytest
from conftest import distinct, expect, in_child, run_python
from patience import patience

COUNT = 20_000


def test_a_forked_child_of_a_fixed_worker_gets_forked_and_the_parent_goes_on(tmp_path: Path) -> None:
    with idgen.Generator(worker=1, store=f"sqlite:{tmp_path / 'ids.db'}", store_create=True) as generator:
        first = generator.next()
        for call in (generator.next, lambda: next(generator), lambda: generator.next_batch(100), generator.try_next):
            assert in_child(lambda call=call: expect(idgen.ForkedError, call)) == "ForkedError"  # type: ignore[misc]
        assert in_child(lambda: str(generator.decode(first).worker)) == "1"
        assert generator.next() > first


def test_a_forked_child_of_a_segment_draws_a_segment_of_its_own(tmp_path: Path) -> None:
    store = f"sqlite:{tmp_path / 'ids.db'}"
    with idgen.Generator(kind="segment", tag="t", store=store, store_create=True, segment_step=100) as generator:
        mine = set(generator.next_batch(10).tolist())
        theirs: set[int] = set()
        for _ in range(3):
            drawn = in_child(lambda: " ".join(map(str, generator.next_batch(50).tolist())))
            assert not drawn.startswith("raised"), drawn
            ids = {int(id) for id in drawn.split()}
            assert not theirs & ids
            theirs |= ids
        mine |= set(generator.next_batch(500).tolist())
        assert not mine & theirs


def test_a_forked_child_of_an_event_loop_awaits_ids_on_a_loop_of_its_own(tmp_path: Path) -> None:
    store = f"sqlite:{tmp_path / 'ids.db'}"
    with idgen.Generator(kind="segment", tag="t", store=store, store_create=True, segment_step=100) as generator:

        async def draw() -> int:
            return await generator.next_async()

        async def draw_and_fork() -> tuple[int, str]:
            return await draw(), in_child(lambda: str(asyncio.run(draw())))

        mine, theirs = asyncio.run(draw_and_fork())
        assert theirs.isdigit(), theirs
        assert int(theirs) != mine


def test_a_fork_waits_until_another_thread_has_imported_what_its_call_needs(tmp_path: Path) -> None:
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
orders = idgen.lazy(kind="segment", tag="t", store="sqlite:{tmp_path}/ids.db", store_create=True)
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
    sources = Path(__file__).resolve().parents[2] / "bindings/python/src"
    imported = {
        name for path in sources.glob("*pp") for name in re.findall(r"module_::import\((.*?)\)", path.read_text())
    }
    assert imported == {'"builtins"', '"idgen"', "name"}, "use module_named()"


def test_on_fork_error_is_kept(tmp_path: Path) -> None:
    store = f"sqlite:{tmp_path / 'ids.db'}"
    with idgen.Generator(kind="segment", tag="t", store=store, store_create=True, on_fork="error") as generator:
        generator.next()
        assert in_child(lambda: expect(idgen.ForkedError, generator.next)) == "ForkedError"


def test_closing_in_the_child_leaves_the_parents_rights_alone(tmp_path: Path) -> None:
    generator = idgen.Generator(worker=1, store=f"sqlite:{tmp_path / 'ids.db'}", store_create=True)
    first = generator.next()

    def close() -> str:
        with contextlib.suppress(idgen.Error):
            generator.close()
        return "closed"

    assert in_child(close) == "closed"
    assert generator.next() > first
    generator.close()


def test_quiesced_generators_wait_for_the_reset_and_go_on(tmp_path: Path) -> None:
    store = f"sqlite:{tmp_path / 'ids.db'}"
    with idgen.Generator(kind="segment", tag="t", store=store, store_create=True, wait_max="1s") as generator:
        first = generator.next()
        idgen.quiesce()
        try:
            assert idgen.segment_show(store=store, tag="t").max_id == first
            with pytest.raises(idgen.StoreUnavailableError, match="quiesced for a checkpoint"):
                generator.next()
        finally:
            idgen.reset()
        assert generator.next() == first + 1


def draw_from_file(path: str, worker: int) -> list[int]:
    with idgen.Generator(worker=worker, store=f"sqlite:{path}", store_create=True) as generator:
        ids: list[int] = [generator.next() for _ in range(COUNT)]
        ids += generator.next_batch(COUNT).tolist()
    return ids


def draw_segment(path: str, _worker: int) -> list[int]:
    with idgen.Generator(kind="segment", tag="t", store=f"sqlite:{path}", segment_step=1000) as generator:
        return [generator.next() for _ in range(COUNT)]


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.parametrize("draw", [draw_from_file, draw_segment])
def test_processes_of_a_pool_never_get_the_same_id(
    tmp_path: Path, method: str, draw: Callable[[str, int], list[int]]
) -> None:
    path = str(tmp_path / "ids.db")
    idgen.segment_create(store=f"sqlite:{path}", tag="t")
    with multiprocessing.get_context(method).Pool(3) as pool:
        lists = pool.starmap(draw, [(path, worker) for worker in range(6)], chunksize=2)
    ids = [id for each in lists for id in each]
    assert distinct(ids) >= 6 * COUNT


def test_a_generator_made_before_the_pool_works_in_its_forked_workers(tmp_path: Path) -> None:
    # As with gunicorn --preload: the generator is made once, the workers are forks.
    result = run_python(
        """
import multiprocessing, sys, idgen
generator = idgen.Generator(kind="segment", tag="t", store=f"sqlite:{sys.argv[1]}", store_create=True, segment_step=100)
generator.next()
def draw(_):
    return generator.next_batch(1000).tolist()
with multiprocessing.get_context("fork").Pool(3) as pool:
    ids = [id for each in pool.map(draw, range(12), chunksize=1) for id in each] + generator.next_batch(1000).tolist()
assert len(ids) == len(set(ids)) == 13_000, "DUPLICATE"
print("unique")
""",
        str(tmp_path / "ids.db"),
    )
    assert result.stdout == "unique\n", result.stderr


def test_of_processes_that_never_rest_none_keeps_a_store_from_the_others(tmp_path: Path) -> None:
    """The lock of a file has no queue, and whoever asks soonest gets it: without turns the luckiest of eight has a
    hundred grants for each of the unluckiest."""
    store = f"sqlite:{tmp_path / 'ids.db'}"
    idgen.segment_create(store=store, tag="t")
    context = multiprocessing.get_context("fork")
    counts = context.Array("q", 8, lock=False)
    with context.Pool(8, begin_together, (context.Barrier(8), counts)) as pool:
        pool.starmap(draw_until_all_have, [(store, index) for index in range(8)], chunksize=1)
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


def test_a_process_that_was_stopped_while_it_had_the_turn_is_not_waited_for(tmp_path: Path) -> None:
    store = f"sqlite:{tmp_path / 'ids.db'}"
    idgen.segment_create(store=store, tag="t")
    with (tmp_path / "ids.db-lock").open("r+b") as lock:
        turn = struct.pack("hhqqi", fcntl.F_WRLCK, os.SEEK_SET, (1 << 62) + 1, 25, 0)  # lock_file.hpp
        fcntl.fcntl(lock, fcntl.F_OFD_SETLK, turn)
        began = time.monotonic()
        with idgen.Generator(kind="segment", tag="t", store=store, store_timeout="10m", wait_max="1h") as generator:
            assert generator.next() == 1
        assert time.monotonic() - began >= 0.02, "not seen"


def test_a_second_process_on_the_same_worker_is_refused_until_the_first_is_gone(tmp_path: Path) -> None:
    path = str(tmp_path / "ids.db")
    code = """
import sys, idgen
try:
    with idgen.Generator(worker=1, store=f"sqlite:{sys.argv[1]}") as generator:
        print("got", generator.next())
except idgen.WorkerBusyError as error:
    print("busy", error)
"""
    with idgen.Generator(worker=1, store=f"sqlite:{path}", store_create=True) as generator:
        last = generator.next()
        refused = run_python(code, path)
        assert refused.stdout.startswith("busy "), refused.stderr
        assert str(os.getpid()) in refused.stdout, "the message says which process has the worker"
    allowed = run_python(code, path)
    assert allowed.stdout.startswith("got "), allowed.stderr
    assert int(allowed.stdout.split()[1]) > last


def test_a_killed_process_leaves_no_duplicates_and_no_wait(tmp_path: Path) -> None:
    path = str(tmp_path / "ids.db")
    idgen.Generator(worker=1, store=f"sqlite:{path}", store_create=True).close()
    code = """
import os, signal, sys, idgen
generator = idgen.Generator(worker=1, store=f"sqlite:{sys.argv[1]}")
print(*generator.next_batch(50).tolist(), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    seen: set[int] = set()
    for _ in range(5):
        result = run_python(code, path)
        ids = [int(id) for id in result.stdout.split()]
        assert len(ids) == 50, result.stderr
        assert not seen.intersection(ids)
        seen.update(ids)
