"""Lazy handles: made where modules are imported, opened by the first use in each process."""

from __future__ import annotations

import asyncio
import copy
import gc
import multiprocessing
import pickle
import re
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import idgen
import idgen.sql
import pytest
from conftest import distinct, expect, in_child, in_threads, run_python
from patience import repeating, wait_until
from test_interrupt import interrupted


class Store:
    """A store that fails as it is told, and holds whoever asks until it may go on."""

    def __init__(self, *failures: Exception) -> None:
        self.failures = list(failures)
        self.asked = threading.Event()
        self.may_answer = threading.Event()
        self.may_answer.set()
        self.max_id = 0

    def segment_take(self, namespace: str, tag: str, count: int, /) -> int:
        self.asked.set()
        assert self.may_answer.wait(30)
        if self.failures:
            raise self.failures.pop(0)
        self.max_id += count
        return self.max_id - count + 1

    def segment_return(self, namespace: str, tag: str, last: int, unused: int, /) -> None:
        if self.max_id == last:
            self.max_id -= unused


def on(store: Any, open_wait: float = 30, **properties: Any) -> idgen.LazyGenerator:
    """A handle whose every attempt to open fails at once if the store does."""
    defaults = {"kind": "segment", "tag": "t", "wait_max": "0ms", "segment_step": 10, "segment_runway": 0}
    return idgen.lazy(store=store, open_wait=open_wait, **{**defaults, **properties})


def wait_for_waiters(handle: idgen.LazyGenerator, count: int) -> None:
    wait_until(lambda: len(handle._changed._waiters) == count)  # type: ignore[attr-defined]


# ---- making


def test_making_a_handle_reads_nothing_and_the_first_use_says_what_is_wrong(tmp_path: Path) -> None:
    file = tmp_path / "idgen.toml"
    orders = idgen.lazy(file, "orders", store_create=True, pattern="O-{0000}")
    draw = orders.next_text
    assert not orders.is_open
    with pytest.raises(idgen.ConfigFileError):
        draw()
    file.write_text('[orders]\nkind = "segment"\nstore = "memory:lazy"\n')
    assert draw() == "O-0001", "the next use tries again"
    assert orders.is_open
    assert (orders.name, orders.kind) == ("orders", "segment")
    orders.close()


def test_one_positional_argument_is_refused_at_once() -> None:
    with pytest.raises(TypeError, match="toml_path and name"):
        idgen.lazy("idgen.toml")  # type: ignore[call-overload]


def test_the_repr_opens_nothing_and_shows_no_password(monkeypatch: pytest.MonkeyPatch) -> None:
    orders = idgen.lazy("idgen.toml", "orders")
    assert repr(orders) == "<idgen.LazyGenerator 'orders' of 'idgen.toml', not open>"
    events = idgen.lazy(kind="segment", tag="t", store="postgres://app:secret@db/ids")
    assert repr(events) == "<idgen.LazyGenerator kind='segment' tag='t', not open>"
    rows = idgen.lazy(None, "rows")
    assert repr(rows) == "<idgen.LazyGenerator 'rows' of the environment, not open>"
    for name, value in (("KIND", "segment"), ("STORE", "memory:lazy-repr"), ("STORE_CREATE", "true")):
        monkeypatch.setenv(f"IDGEN_ROWS_{name}", value)
    assert rows.next() == 1
    assert repr(rows).endswith(", open>")
    rows.close()
    assert repr(rows).endswith(", closed>")


def test_a_handle_has_all_that_a_generator_has() -> None:
    public = {name for name in dir(idgen.Generator) if not name.startswith("_")}
    assert public - set(dir(idgen.LazyGenerator)) == set()


def test_the_calls_of_a_handle_are_those_of_its_generator(memory_store: str) -> None:
    with idgen.lazy(kind="segment", tag="t", store=memory_store, store_create=True) as rows:
        assert [rows.next(), next(rows), rows.try_next(), next(iter(rows))] == [1, 2, 3, 4]
        assert rows.next_batch(2).tolist() == [5, 6]
        assert rows.fill(rows.next_batch(3)) == 3
        assert list(rows.next_block(2).ids) == [13, 14]
        assert (rows.decode(7).segment, rows.stats().issued) == (7, 14)
        assert rows.layout == rows.get().layout
        assert rows.describe() == rows.get().describe()
        assert re.search(r'^idgen_issued_total\{name="idgen",[^}]*\} 14$', idgen.metrics([rows.get()]), re.MULTILINE)
    assert rows.closed
    with idgen.lazy(kind="business", tag="t", store=memory_store, store_create=True) as owned:
        assert len(owned.next_batch_for(b"acme", 2)) == 2
        assert owned.decode(owned.next_for(42)).gene == owned.decode(owned.next_for("42")).gene


# ---- threads


def test_of_threads_that_race_one_opens_and_all_draw_from_its_generator(file_store: str) -> None:
    start = threading.Barrier(8)

    def draw(mine: list[Any]) -> None:
        start.wait(30)
        mine += [rows.get(), rows.next()]

    with idgen.lazy(kind="segment", tag="t", store=file_store, segment_step=1000) as rows:
        drawn = in_threads(8, draw)
    assert len({id(generator) for generator, _ in drawn}) == 1
    assert sorted(number for _, number in drawn) == [*range(1, 9)], "a second opening would take another range"


def test_a_failure_to_open_goes_to_all_who_wait_for_it_and_the_next_use_tries_again() -> None:
    store = Store(idgen.StoreDamagedError("not a database"))
    store.may_answer.clear()
    rows = on(store)
    with ThreadPoolExecutor(4) as threads:
        draws = [threads.submit(rows.next) for _ in range(4)]
        wait_for_waiters(rows, 3)
        store.may_answer.set()
        failures = [draw.exception(30) for draw in draws]
    assert [type(failure) for failure in failures] == [idgen.StoreDamagedError] * 4
    assert len({id(failure) for failure in failures}) == 4, "each thread has a traceback of its own"
    assert rows.next() == 1
    rows.close()


class InterruptedOnce(idgen.LazyGenerator):
    """Whose first opener is interrupted, as by Ctrl-C, when another thread waits for it."""

    taken = threading.Event()

    def _attempt(self, opening: Any) -> idgen.Generator:
        if not self.taken.is_set():
            self.taken.set()
            wait_for_waiters(self, 1)
            raise KeyboardInterrupt
        return super()._attempt(opening)


def test_who_opens_and_is_interrupted_leaves_it_to_the_next_of_those_who_wait() -> None:
    rows = InterruptedOnce(None, 30, on(Store())._properties)
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(rows.next)
        assert rows.taken.wait(30)
        second = threads.submit(rows.next)
        assert isinstance(first.exception(30), KeyboardInterrupt)
        assert second.result(30) == 1
    rows.close()


# ---- a store that is not ready


def test_opening_tries_again_while_the_store_is_down_or_a_worker_is_held() -> None:
    store = Store(
        idgen.StoreUnavailableError("starting"), idgen.WorkerBusyError("held by the process that this one replaces")
    )
    rows = on(store)
    assert rows.next() == 1
    assert store.failures == []
    rows.close()


@pytest.mark.parametrize(
    ("open_wait", "failure"), [(0, idgen.StoreUnavailableError("down")), (3600, idgen.TagUnknownError("no such tag"))]
)
def test_without_open_wait_and_where_waiting_cannot_cure_it_one_failure_is_the_end(
    open_wait: float, failure: idgen.Error
) -> None:
    store = Store(failure, failure)
    with pytest.raises(type(failure), match=str(failure)):
        on(store, open_wait=open_wait).next()
    assert len(store.failures) == 1


def test_ctrl_c_ends_the_wait_for_a_store_that_is_down() -> None:
    out = interrupted("""
import idgen
class Down:
    def segment_take(self, namespace, tag, count): raise idgen.StoreUnavailableError("down")
orders = idgen.lazy(kind="segment", store=Down(), wait_max="0ms", open_wait=60)
print("waiting", flush=True)
try:
    orders.next()
except KeyboardInterrupt:
    assert not orders.is_open
    print("interrupted")
""")
    assert out == "interrupted\n"


# ---- forks


def test_a_forked_child_draws_from_a_generator_of_its_own_and_leaves_the_parents_alone(file_store: str) -> None:
    rows = idgen.lazy(kind="segment", tag="t", store=file_store, segment_step=100, segment_runway=0, segment_prefetch=1)
    draw = rows.next
    assert draw() == 1

    def draw_and_close() -> str:
        ids = [draw(), *rows.next_batch(4)]
        rows.close()
        return f"{ids} {expect(idgen.ClosedError, rows.next)}"

    before = idgen.segment_show(store=file_store, tag="t").max_id
    assert in_child(lambda: f"{rows.is_open} {rows!r}") == f"False {rows!r}".replace(", open", ", not open")
    assert idgen.segment_show(store=file_store, tag="t").max_id == before, "the child gave nothing of its parent's back"
    assert in_child(draw_and_close) == "[101, 102, 103, 104, 105] ClosedError"
    assert draw() == 2
    rows.close()


def test_a_child_does_not_wait_for_the_fixed_worker_that_its_parent_has(file_store: str) -> None:
    with idgen.lazy(worker=1, store=file_store, open_wait=3600) as events:
        events.next()
        assert in_child(lambda: expect(idgen.WorkerBusyError, events.next)) == "WorkerBusyError"


def sql_store(folder: Path) -> idgen.sql.SqlStore:
    store = idgen.sql.SqlStore(lambda: sqlite3.connect(folder / "host.db", check_same_thread=False))
    store.create_tables()
    store.segment_create("default", "t")
    return store


@pytest.mark.parametrize("make", [lambda _: Store(), sql_store])
def test_a_store_object_that_the_parent_has_used_is_refused_in_its_child(
    make: Callable[[Path], Any], tmp_path: Path
) -> None:
    unused = on(Store())
    with on(make(tmp_path)) as used:
        used.next()
        assert in_child(lambda: expect(idgen.ForkedError, used.next)) == "ForkedError"
        assert in_child(lambda: str(unused.next())) == "1", "nobody has used this one's"


def test_children_forked_while_threads_draw_and_open_get_ids_of_their_own(file_store: str) -> None:
    # On a slow disk all wait for one another: this is not about time.
    handles = [on(file_store, segment_step=10, store_timeout="60s", wait_max="60s") for _ in range(20)]
    mine: set[int] = set()

    def draw() -> None:
        for handle in handles:
            mine.update(handle.next_batch(10))
            time.sleep(0.01)

    theirs: list[int] = []
    with repeating(draw):
        for handle in handles:
            drawn = in_child(lambda handle=handle: " ".join(map(str, handle.next_batch(20))))  # type: ignore[misc]
            assert not drawn.startswith("raised"), drawn
            theirs += [int(id) for id in drawn.split()]
    for handle in handles:
        handle.close()
    assert distinct(theirs) == 400
    assert not mine & set(theirs)


def test_a_process_that_a_callback_forks_while_it_opens_opens_by_itself(file_store: str) -> None:
    answers: list[str] = []

    def clock() -> int:
        if not answers:
            answers.append("")
            answers[0] = in_child(lambda: str(rows.next()))
        return time.time_ns()

    with idgen.lazy(kind="segment", tag="t", store=file_store, clock=clock, segment_step=10) as rows:
        mine = rows.next()
    assert answers[0].isdigit(), answers
    assert int(answers[0]) != mine


# ---- pickles


def apply(draw: Callable[[], int]) -> int:
    return draw()


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_bound_methods_are_sent_to_the_processes_of_a_pool_which_open_one_generator_each(
    file_store: str, method: str
) -> None:
    rows = idgen.lazy(kind="segment", tag="t", store=file_store, segment_step=50, segment_runway=0)
    rows.next()
    with multiprocessing.get_context(method).Pool(2) as pool:
        drawn = pool.map(apply, [rows.next] * 40, chunksize=1)
    assert len({1, *drawn}) == 41
    assert idgen.segment_show(store=file_store, tag="t").grants <= 3 * 2, "not one for each task"
    rows.close()


def test_a_handle_is_itself_when_it_is_unpickled_or_copied_in_its_process() -> None:
    orders = idgen.lazy("idgen.toml", "orders", open_wait=5, segment_step=7)
    assert pickle.loads(pickle.dumps(orders)) is orders
    assert copy.copy(orders) is orders
    assert copy.deepcopy({"default": orders.next})["default"].__self__ is orders


def test_elsewhere_it_is_one_handle_with_the_same_arguments_that_is_not_open(memory_store: str) -> None:
    rows = idgen.lazy(kind="segment", store=memory_store, store_create=True, name="r")
    rows.next()
    code = f"""
import pickle
data = {pickle.dumps((rows, rows.next))!r}
rows, draw = pickle.loads(data)
assert pickle.loads(data)[0] is rows is draw.__self__
shown = repr(rows)
print(shown, draw(), rows.name)
"""
    assert run_python(code).stdout == "<idgen.LazyGenerator name='r' kind='segment', not open> 1 r\n"
    rows.close()


def test_handles_that_come_with_tasks_are_freed_but_for_the_latest(memory_store: str) -> None:
    handles = []
    for _ in range(100):
        rows = idgen.lazy(kind="segment", store=memory_store, tag="t", store_create=True)
        data = pickle.dumps(rows)
        handles.append(weakref.ref(rows))
        del rows
        handles.append(weakref.ref(pickle.loads(data)))
    gc.collect()
    assert sum(handle() is not None for handle in handles) == 16
    assert handles[-1]() is not None


# ---- asyncio


def test_the_loop_goes_on_while_a_task_opens_and_one_thread_opens_for_all() -> None:
    store = Store()
    store.may_answer.clear()
    rows = on(store)

    async def main() -> list[int]:
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
        tasks = [asyncio.create_task(rows.next_async()) for _ in range(5)]
        while not store.asked.is_set():
            await asyncio.sleep(0)
        store.may_answer.set()
        return await asyncio.gather(*tasks)

    assert sorted(asyncio.run(main())) == [1, 2, 3, 4, 5]
    rows.close()


def test_async_for_opens_too(memory_store: str) -> None:
    async def first() -> int:
        async for id in rows:
            return id
        raise AssertionError

    with idgen.lazy(kind="segment", store=memory_store, store_create=True) as rows:
        assert asyncio.run(first()) == 1


def test_the_opening_ends_with_the_last_task_that_waits_for_it_and_not_with_the_first() -> None:
    rows = on(Store(*(idgen.StoreUnavailableError("down") for _ in range(100_000))), open_wait=3600)

    async def main() -> None:
        tasks = [asyncio.create_task(rows.next_async()) for _ in range(2)]
        while rows._opening is None:
            await asyncio.sleep(0)
        opening = rows._opening
        tasks[0].cancel()
        await asyncio.wait(tasks[:1])
        assert rows._opening is opening
        tasks[1].cancel()
        await asyncio.wait(tasks)

    asyncio.run(main())  # waits for the executor's threads, which would wait for an hour
    assert rows._opening is None


def test_a_failure_to_open_comes_out_of_every_await() -> None:
    rows = on(Store(idgen.TagUnknownError("no such tag")))

    async def main() -> list[Any]:
        return await asyncio.gather(*(rows.next_async() for _ in range(3)), return_exceptions=True)

    found = asyncio.run(main())
    assert [type(failure) for failure in found] == [idgen.TagUnknownError] * 3
    assert len({id(failure) for failure in found}) == 3
    rows.close()


# ---- closing


def test_a_closed_handle_stays_closed_and_never_opens(memory_store: str) -> None:
    unused = idgen.lazy(kind="segment", store=memory_store, store_create=True)
    unused.close()
    assert unused.closed
    with pytest.raises(idgen.ClosedError, match=r": the lazy generator is closed; make another one$"):
        unused.next()
    used = idgen.lazy(kind="segment", store=memory_store, store_create=True)
    assert used.next() == 1
    used.close()
    used.close()
    with pytest.raises(idgen.ClosedError):
        used.next()
    assert used.decode(1).segment == 1, "as a generator, which decodes when it is closed"
    assert in_child(lambda: expect(idgen.ClosedError, used.next)) == "ClosedError"


def test_closing_ends_an_opening_that_waits_for_its_store() -> None:
    rows = on(Store(*(idgen.StoreUnavailableError("down") for _ in range(100_000))), open_wait=3600)
    with ThreadPoolExecutor(1) as thread:
        draw = thread.submit(rows.next)
        wait_for_waiters(rows, 1)  # the opener, between two attempts
        rows.close()
        assert isinstance(draw.exception(30), idgen.ClosedError)


def test_a_generator_that_opens_after_close_was_called_is_closed_and_gives_everything_back() -> None:
    store = Store()
    store.may_answer.clear()
    rows = on(store, wait_max="30s")
    with ThreadPoolExecutor(1) as thread:
        draw = thread.submit(rows.next)
        assert store.asked.wait(30)
        rows.close()
        store.may_answer.set()
        assert isinstance(draw.exception(30), idgen.ClosedError)
    wait_until(lambda: store.max_id == 0)


def test_a_module_that_ends_without_closing_gives_unused_ids_back(file_store: str) -> None:
    code = "import sys, idgen\norders = idgen.lazy(kind='segment', tag='t', store=sys.argv[1])\nprint(orders.next())"
    assert run_python(code, file_store).stdout == "1\n"
    assert idgen.segment_show(store=file_store, tag="t").max_id == 1


# ---- host code that uses the handle which opens with it


class UsesTheHandle(Store):
    handle: idgen.LazyGenerator

    def segment_take(self, namespace: str, tag: str, count: int, /) -> int:
        return self.handle.next()  # on a thread of the core


@pytest.mark.parametrize("uses", ["store", "clock"])
def test_host_code_that_uses_the_handle_which_opens_with_it_is_an_error_and_no_deadlock(uses: str) -> None:
    store = UsesTheHandle()
    store.handle = (
        on(store, open_wait=3600)
        if uses == "store"
        else idgen.lazy(worker=1, store="memory:lazy-clock", clock=lambda: store.handle.next(), open_wait=3600)
    )
    with pytest.raises(idgen.UnsupportedError, match="its opening waits for"):
        store.handle.next()
    store.handle.close()


def test_callbacks_may_use_the_handle_of_another_generator(memory_store: str) -> None:
    class Numbered(Store):
        def segment_take(self, namespace: str, tag: str, count: int, /) -> int:
            assert inner.next() > 0
            return super().segment_take(namespace, tag, count)

    inner = idgen.lazy(kind="segment", store=memory_store, store_create=True)
    outer = on(Numbered(), wait_max="5s")
    assert outer.next() == 1
    outer.close()
    inner.close()
