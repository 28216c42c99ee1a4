"""Stores of the program's own: how the core calls them, and what happens to what they raise."""

from __future__ import annotations

import contextlib
import logging
import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import idgen
import pytest
from conftest import distinct, in_child, in_threads, run_python, wait_until_forgotten
from idgen import _drivers
from idgen.sql import SqlStore
from patience import patience, wait_until


class Counter:
    """A store in this process's memory."""

    def __init__(self, max_id: int = 0) -> None:
        self.max_id = max_id
        self.asked: list[tuple[str, str, int]] = []
        self.threads: set[int] = set()
        self.failure: BaseException | None = None
        self.lock = threading.Lock()

    def segment_take(self, namespace: str, tag: str, count: int, /) -> int:
        with self.lock:
            self.threads.add(threading.get_ident())
            self.asked.append((namespace, tag, count))
            if self.failure:
                raise self.failure
            self.max_id += count
            return self.max_id - count + 1

    def segment_return(self, namespace: str, tag: str, last: int, unused: int, /) -> None:
        with self.lock:
            if self.max_id == last:
                self.max_id -= unused


def generator(store: Any, **properties: Any) -> idgen.Generator:
    defaults = {"kind": "segment", "tag": "orders", "segment_step": 10}
    return idgen.Generator(store=store, **{**defaults, **properties})


def take(store: Any, tag: str = "orders") -> int:
    """The first number of a grant, whose rest goes back. Waits for nothing."""
    with idgen.Generator(kind="segment", tag=tag, store=store, segment_step=10, wait_max=0) as orders:
        return orders.next()


class AboveCounter(Counter):
    def segment_take_above(self, namespace: str, tag: str, count: int, above: int, /) -> int:
        self.max_id = max(self.max_id, above)
        return self.segment_take(namespace, tag, count)


def test_serials_with_a_date_need_a_store_that_grants_above_a_number() -> None:
    with generator(AboveCounter(), kind="serial", pattern="{yyyyMMdd}-{0000}") as orders:
        assert orders.next_text().endswith("-0001")
    with generator(Counter(), kind="serial", pattern="C{0000}") as orders:
        assert orders.next_text() == "C0001"
    with pytest.raises(idgen.UnsupportedError, match="cannot count from 1 in each period"):
        generator(Counter(), kind="serial", pattern="{yyyyMMdd}-{0000}").next_text()


def once_it_answers(draw: Callable[[], Any]) -> Any:
    """What draw() returns, as soon as the pause after the store's failures is over."""

    def answer() -> list[Any]:
        with contextlib.suppress(idgen.HostError, idgen.StoreUnavailableError):
            return [draw()]
        return []

    return wait_until(answer, what="the store is asked again")[0]


def test_ids_come_from_the_programs_store_and_the_rest_goes_back() -> None:
    store = Counter()
    with generator(store, namespace="shop") as orders:
        assert orders.next_batch(25).tolist() == list(range(1, 26))
        assert "the host's own" in orders.describe()
    assert store.max_id == 25
    assert store.asked[0] == ("shop", "orders", 10)


def test_the_next_segment_is_asked_for_by_a_thread_of_the_core_while_others_draw() -> None:
    store, mine = Counter(), set[int]()

    def draw(ids: list[int]) -> None:
        mine.add(threading.get_ident())
        ids.extend(orders.next() for _ in range(500))

    with generator(store) as orders:
        assert distinct(*in_threads(4, draw)) == 2000
    assert store.threads - {threading.get_ident()} - mine


class LosesTheRest(Counter):
    def segment_return(self, namespace: str, tag: str, last: int, unused: int, /) -> None:
        raise ConnectionError("connection reset by peer")


def test_finished_work_is_no_failure_when_the_store_does_not_take_the_rest_back() -> None:
    lines: list[tuple[int, str]] = []
    orders = generator(LosesTheRest(), log=lambda *line: lines.append(line))

    def work() -> None:
        with orders:
            orders.next()
            raise ValueError("the work failed")

    with pytest.raises(ValueError, match="the work failed") as caught:
        work()
    assert caught.value.__context__ is None
    assert any(level == logging.WARNING and "connection reset by peer" in line for level, line in lines), lines
    orders.close()
    with pytest.raises(idgen.ClosedError):
        orders.next()


@pytest.mark.parametrize(
    ("failure", "kind", "text"),
    [
        (idgen.TagUnknownError("no such tag here"), idgen.TagUnknownError, "no such tag here"),
        (idgen.StoreUnavailableError("busy"), idgen.StoreUnavailableError, "busy"),
        (idgen.ExhaustedError("all gone"), idgen.ExhaustedError, "all gone"),
        (LookupError("no\nroom"), idgen.HostError, "the program's own store: LookupError: no room"),
        (LookupError(), idgen.HostError, "LookupError"),
        (LookupError("db://app:s3cr3t:@/x@db password='s3 cr3t' pwd=s3cr3t"), idgen.HostError, "db://app:***@db"),
        (SystemExit("bye"), idgen.HostError, "SystemExit: bye"),
        (LookupError("ü" * 600), idgen.HostError, "üüü"),
    ],
)
def test_what_a_store_raises_becomes_the_error_of_the_call(failure: BaseException, kind: Any, text: str) -> None:
    store = Counter()
    store.failure = failure
    with pytest.raises(kind) as raised:
        generator(store, wait_max=0)
    assert text in str(raised.value)
    assert "s3" not in str(raised.value)
    assert "\ufffd" not in str(raised.value)


@pytest.mark.parametrize("granted", [None, "1", 1.5, -1, 2**64, 0])
def test_a_grant_that_cannot_be_is_refused(granted: Any) -> None:
    class Odd:  # which may do without segment_return
        def segment_take(self, namespace: str, tag: str, count: int) -> Any:
            return granted

    with pytest.raises((idgen.HostError, idgen.StoreDamagedError)):
        generator(Odd(), wait_max=0)
    granted = 1
    with generator(Odd()) as orders:
        assert orders.next() == 1


@pytest.mark.parametrize("failure", [KeyboardInterrupt(), RuntimeError("no proxy today")])
@pytest.mark.parametrize("keyword", ["store", "clock"])
def test_what_an_attribute_raises_is_not_taken_for_one_that_is_not_there(keyword: str, failure: BaseException) -> None:
    """Ctrl-C may come at any moment, while a store's methods are looked at too."""

    class Lazy:
        def __getattr__(self, name: str) -> object:
            raise failure

        def __call__(self) -> int:
            return time.time_ns()

    properties: dict[str, Any] = {"store": "memory", "worker": 1, keyword: Lazy()}
    with pytest.raises(type(failure)):
        idgen.Generator(**properties)


def test_a_store_that_holds_its_generator_is_found_by_the_garbage_collector() -> None:
    class Service(Counter):
        orders: idgen.Generator

    service = Service()
    service.orders = generator(service)
    service.orders.next()
    gone = weakref.ref(service)
    del service
    wait_until_forgotten(gone)


def test_the_end_of_python_does_not_wait_for_a_store_that_hangs() -> None:
    result = run_python(
        """
import idgen, threading

class Hangs:
    calls = 0
    def segment_take(self, namespace, tag, count):
        self.calls += 1
        if self.calls > 1:
            began.set()
            threading.Event().wait()
        return 1

began = threading.Event()
orders = idgen.Generator(kind="segment", tag="t", store=Hangs(), segment_step=100, segment_prefetch=0.01, wait_max=0)
orders.next_batch(50)
assert began.wait(30)
print("done")
"""
    )
    assert result.stdout == "done\n"
    assert result.stderr == ""


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "app.db"
    SqlStore(lambda: sqlite3.connect(path)).segment_create("default", "orders")
    return path


def test_messages_of_the_database_say_what_to_do(tmp_path: Path, database: Path) -> None:
    store = SqlStore(lambda: sqlite3.connect(database))
    with pytest.raises(idgen.TagUnknownError, match=r"tag 'nobody' of .*idgen segment create"):
        take(store, "nobody")
    with pytest.raises(idgen.StoreMissingError, match=r"idgen_segment is not there.*idgen segment create"):
        take(SqlStore(lambda: sqlite3.connect(tmp_path / "empty.db")))
    with pytest.raises(idgen.StoreUnavailableError, match="unable to open"):
        take(SqlStore(lambda: sqlite3.connect(tmp_path / "no" / "folder.db")))
    with pytest.raises(idgen.UnsupportedError, match="dialect="):
        take(SqlStore(lambda: database.open()))  # a file is no connection
    with pytest.raises(TypeError, match="connect: needs a callable"):
        SqlStore(5)  # type: ignore[arg-type]
    wrong: dict[str, Any]
    for wrong in ({"dialect": "oracle"}, {"pool_timeout": 0}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            SqlStore(lambda: None, **wrong)
    with contextlib.closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE idgen_segment SET max_id = 12.5")
    with pytest.raises(idgen.StoreDamagedError, match=r"'12\.5' where a number"):
        take(store)


class Pool:
    """Lends its connections in turn, and counts; like those of psycopg_pool and psycopg2."""

    def __init__(self, *connections: Any) -> None:
        self.free: list[Any] = list(connections)
        self.changed = threading.Condition()
        self.threads: set[int] = set()

    def getconn(self) -> Any:
        self.threads.add(threading.get_ident())
        with self.changed:
            self.changed.wait_for(lambda: self.free)
            return self.free.pop()

    def putconn(self, connection: Any) -> None:
        with self.changed:
            self.free.append(connection)
            self.changed.notify_all()


@pytest.fixture
def pool(database: Path) -> Iterator[Pool]:
    with contextlib.closing(sqlite3.connect(database, check_same_thread=False)) as connection:
        yield Pool(connection)


def test_a_pool_that_counts_its_connections_is_refused_without_its_putconn(pool: Pool) -> None:
    with pytest.raises(idgen.ArgumentError, match=r"SqlStore\(pool.getconn, release=pool.putconn\)"):
        SqlStore(pool.getconn)
    with generator(SqlStore(pool.getconn, release=pool.putconn), segment_runway=0) as orders:
        for _ in range(100):
            orders.next()
    assert len(pool.free) == 1
    assert pool.threads
    assert threading.get_ident() not in pool.threads, "nothing is borrowed on the caller's thread"


def test_connections_of_an_event_loop_are_refused() -> None:
    async def connect() -> sqlite3.Connection:
        raise AssertionError

    with pytest.raises(idgen.UnsupportedError, match="event loop"):
        SqlStore(connect)
    with pytest.raises(idgen.UnsupportedError, match="synchronous pool"):
        take(SqlStore(lambda: connect()))


def test_a_connection_inside_a_transaction_is_refused_and_left_as_it_is(pool: Pool) -> None:
    store, connection = SqlStore(pool.getconn, release=pool.putconn), pool.free[0]
    connection.execute("INSERT INTO idgen_segment(ns, tag, max_id) VALUES('default', 'theirs', 7)")
    with pytest.raises(idgen.StoreUnsafeError, match="nothing was granted"):
        take(store)
    assert connection.in_transaction
    connection.commit()
    assert connection.execute("SELECT max_id FROM idgen_segment WHERE tag = 'theirs'").fetchone() == (7,)
    assert take(store) == 1


def test_a_call_that_holds_the_pools_last_connection_ends_within_the_bound_and_only_once(pool: Pool) -> None:
    store = SqlStore(pool.getconn, release=pool.putconn, pool_timeout=0.3)
    with generator(store, segment_runway=0, segment_prefetch=1, wait_max="1h") as orders:
        orders.next_batch(10)
        mine = pool.getconn()
        with pytest.raises(idgen.StoreUnavailableError, match=r"within 0\.3 s .*pool of its own") as raised:
            orders.next_batch(1000)  # a hundred grants; not after wait_max, which is an hour
        assert raised.value.retryable
        assert raised.value.retry_after is None
        pool.putconn(mine)
        assert once_it_answers(orders.next) == 11
    assert len(pool.free) == 1


def test_a_connection_that_comes_too_late_serves_the_next_call_before_others_take_it(pool: Pool) -> None:
    store = SqlStore(pool.getconn, release=pool.putconn, pool_timeout=1.0)
    mine = pool.getconn()
    with pytest.raises(idgen.StoreUnavailableError):
        take(store)
    pool.putconn(mine)  # to the thread that has been waiting since
    wait_until(lambda: not pool.free, what="the connection that comes too late")
    assert take(store) == 1
    assert pool.free
    with contextlib.ExitStack() as gives_back:
        gives_back.callback(pool.putconn, pool.getconn())
        with pytest.raises(idgen.StoreUnavailableError):
            take(store)
    wait_until(lambda: pool.free, what="a connection that nobody claimed goes back")


def test_a_forked_child_waits_for_no_thread_of_its_parent(database: Path) -> None:
    held = threading.Event()

    def connect() -> sqlite3.Connection:
        if threading.current_thread().name == "idgen-sql" and not held.is_set() and os.getpid() == parent:
            held.wait(30)
        return sqlite3.connect(database)

    parent = os.getpid()
    store = SqlStore(connect, pool_timeout=0.1)
    with pytest.raises(idgen.StoreUnavailableError):
        take(store)
    assert in_child(lambda: str(take(store))) == "1"
    held.set()


def test_tags_are_made_and_shown_and_advanced_through_the_store(tmp_path: Path) -> None:
    store = SqlStore(lambda: sqlite3.connect(tmp_path / "new.db"))
    store.segment_create("shop", "orders")
    with pytest.raises(idgen.TagExistsError, match="orders") as raised:
        store.segment_create("shop", "orders")
    assert raised.value.name == "TAG_EXISTS"
    with pytest.raises(idgen.TagUnknownError, match="segment create"):
        store.segment_show("shop", "items")
    store.segment_create("shop", "items")
    before = store.segment_show("shop", "orders")
    assert (before.max_id, before.grants, before.step, before.holder) == (0, 0, 0, "")
    assert store.segment_advance("shop", "orders", 1000).max_id == 1000
    with generator(store, namespace="shop") as orders:
        assert orders.next_batch(25).tolist() == [*range(1001, 1026)]
    assert [tuple(row)[:3] for row in store.segment_list()] == [("shop", "items", 0), ("shop", "orders", 1025)]


class Away(Exception):
    """One of Python's own classes could not be referred to weakly."""


def test_the_cause_of_an_error_is_what_the_store_raised() -> None:
    stores = [Counter(), Counter()]
    stores[0].failure = Away("at once")
    with pytest.raises(idgen.HostError) as opened:
        generator(stores[0], wait_max=0)
    assert opened.value.__cause__ is stores[0].failure
    stores[0].failure = None
    with (
        generator(stores[0], wait_max=timedelta(seconds=patience(2))) as first,
        generator(stores[1], wait_max=timedelta(seconds=patience(2))) as second,
    ):
        for store in stores:
            store.failure = Away("the same words")
        for store, orders in zip(stores, (first, second), strict=True):
            with pytest.raises(idgen.HostError, match="the same words") as raised:
                orders.next_batch(100)
            assert raised.value.__cause__ is store.failure
            with pytest.raises(idgen.HostError) as raised:
                orders.next_block(1000)
            assert raised.value.__cause__ is store.failure
            store.failure = None


def test_what_stands_behind_an_error_of_idgen_is_the_cause_of_the_calls(database: Path) -> None:
    def connect() -> sqlite3.Connection:
        raise away

    away = sqlite3.OperationalError("no way there")
    with pytest.raises(idgen.StoreUnavailableError, match="no way there") as raised:
        generator(SqlStore(connect), wait_max=0)
    assert raised.value.__cause__ is away


@pytest.mark.parametrize("recovers", [True, False])
def test_a_cause_is_kept_no_longer_than_until_the_store_answers_or_its_generator_goes(recovers: bool) -> None:
    store = Counter()
    orders = generator(store, wait_max=timedelta(seconds=patience(2)))
    store.failure = Away("away")
    gone = weakref.ref(store.failure)
    with pytest.raises(idgen.HostError):
        orders.next_batch(100)
    store.failure = None
    if recovers:
        once_it_answers(lambda: orders.next_batch(100))
    else:
        orders.close()
        del orders
    wait_until_forgotten(gone)


def test_every_paramstyle_says_the_same() -> None:
    in_style, values = _drivers.in_style, [1, "a", "b"]
    sql = "x = ? AND ns = ? AND tag = ?"
    assert in_style("qmark", sql, values) == (sql, (1, "a", "b"))
    assert in_style("format", sql, values) == ("x = %s AND ns = %s AND tag = %s", (1, "a", "b"))
    assert in_style("numeric", sql, values) == ("x = :1 AND ns = :2 AND tag = :3", (1, "a", "b"))
    named = {"v1": 1, "v2": "a", "v3": "b"}
    assert in_style("named", sql, values) == ("x = :v1 AND ns = :v2 AND tag = :v3", named)
    assert in_style("pyformat", sql, values) == ("x = %(v1)s AND ns = %(v2)s AND tag = %(v3)s", named)


def test_of_a_drivers_numbers_mysqls_own_counts_and_not_the_sqlstate_beside_it() -> None:
    class DriverError(Exception):
        sqlstate = "23000"
        errno = 1062

    assert _drivers.code_of(DriverError(1062, "Duplicate entry"))[:2] == (1062, "")
    assert _drivers.code_of(DriverError("Duplicate entry"))[:2] == (1062, "")
    DriverError.errno = 0
    assert _drivers.code_of(DriverError("Duplicate entry"))[:2] == (0, "23000")
