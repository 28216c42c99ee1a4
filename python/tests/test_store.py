"""Stores of the program's own: how the core calls them, and what happens to what they raise."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import idgen
import pytest
from conftest import distinct, expect, in_child, run_python, wait_until_forgotten
from idgen import _drivers
from idgen.sql import SqlStore
from patience import wait_until

TABLE = """CREATE TABLE idgen_segment (
  ns TEXT NOT NULL, tag TEXT NOT NULL, max_id INTEGER NOT NULL, grants INTEGER NOT NULL DEFAULT 0,
  updated_unix_ms INTEGER NOT NULL DEFAULT 0, step INTEGER NOT NULL DEFAULT 0, rate INTEGER NOT NULL DEFAULT 0,
  holder TEXT NOT NULL DEFAULT '', PRIMARY KEY (ns, tag))"""
LARGEST = 2**63 - 1


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
    return idgen.Generator(kind="segment", tag="orders", store=store, **{"segment_step": 10, **properties})


def take(store: Any, tag: str = "orders") -> int:
    """The first number of a grant, whose rest goes back. Waits for nothing."""
    with idgen.Generator(kind="segment", tag=tag, store=store, segment_step=10, wait_max=0) as orders:
        return orders.next()


class AboveCounter(Counter):
    def segment_take_above(self, namespace: str, tag: str, count: int, above: int, /) -> int:
        self.max_id = max(self.max_id, above)
        return self.segment_take(namespace, tag, count)


def serials(store: Any, pattern: str = "{yyyyMMdd}-{0000}") -> idgen.Generator:
    return idgen.Generator(kind="serial", tag="orders", store=store, pattern=pattern, segment_step=10)


def test_serials_with_a_date_count_from_1_in_a_store_that_grants_above_a_number() -> None:
    store = AboveCounter()
    with serials(store) as orders:
        first = orders.next_text()
        assert first.endswith("-0001")
        found = orders.text_pattern.parse(first).id
        assert isinstance(found, int)
        assert found >> 40 == store.max_id >> 40 > 20_000
    with serials(store) as orders:
        assert orders.next_text().endswith("-0002")


def test_a_store_that_does_not_grant_above_a_number_has_serials_without_a_date_only() -> None:
    with serials(Counter(), "C{0000}") as orders:
        assert orders.next_text() == "C0001"
    with pytest.raises(idgen.UnsupportedError, match="cannot count from 1 in each period"):
        serials(Counter()).next_text()


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
    store = Counter()
    with generator(store) as orders:
        ids: list[list[int]] = [[] for _ in range(4)]
        threads = [
            threading.Thread(target=lambda mine=mine: mine.extend(orders.next() for _ in range(500))) for mine in ids
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=60)
            assert not thread.is_alive()
    assert distinct(*ids) == 2000
    assert store.threads - {threading.get_ident()} - {thread.ident for thread in threads}


def test_a_store_may_do_without_segment_return() -> None:
    class Take:
        def segment_take(self, namespace: str, tag: str, count: int) -> int:
            return 1

    with generator(Take()) as orders:
        assert orders.next() == 1


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


def test_a_failure_that_passes_is_not_noticed_while_numbers_are_left() -> None:
    store = Counter()
    with generator(store, wait_max="100ms") as orders:
        store.failure = OSError("away")
        with pytest.raises(idgen.HostError, match="away"):
            orders.next_batch(100)
        store.failure = None
        assert once_it_answers(orders.next) > 10


@pytest.mark.parametrize("granted", [None, "1", 1.5, -1, 2**64, 0, LARGEST])
def test_a_grant_that_cannot_be_is_refused(granted: Any) -> None:
    class Odd:
        def segment_take(self, namespace: str, tag: str, count: int) -> Any:
            return granted

    with pytest.raises((idgen.HostError, idgen.StoreDamagedError)):
        generator(Odd(), wait_max=0)


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


def test_only_segments_come_from_a_store_of_the_programs_own() -> None:
    with pytest.raises(idgen.UnsupportedError, match="window_take"):
        idgen.Generator(kind="snowflake", worker=1, store=Counter())
    with pytest.raises(TypeError, match="store"):
        generator(object())


def test_a_forked_child_does_not_use_its_parents_store() -> None:
    store = Counter()
    with generator(store) as orders:
        orders.next()
        assert in_child(lambda: expect(idgen.ForkedError, orders.next)) == "ForkedError"
        assert orders.next() == 2


def test_a_store_that_holds_its_generator_is_found_by_the_garbage_collector() -> None:
    class Service(Counter):
        orders: idgen.Generator

    def forgotten() -> weakref.ref[Service]:
        service = Service()
        service.orders = generator(service)
        service.orders.next()
        return weakref.ref(service)

    gone = forgotten()
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
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(TABLE)
        connection.execute("INSERT INTO idgen_segment(ns, tag, max_id) VALUES('default', 'orders', 0)")
    return path


def row(database: Path) -> tuple[int, int]:
    with contextlib.closing(sqlite3.connect(database)) as connection:
        found: tuple[int, int] = connection.execute("SELECT max_id, grants FROM idgen_segment").fetchone()
    return found


def test_a_database_of_the_programs_own_is_a_store(database: Path) -> None:
    with generator(SqlStore(lambda: sqlite3.connect(database))) as orders:
        assert orders.next_batch(25).tolist() == list(range(1, 26))
    assert row(database)[0] == 25


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
    assert row(database) == (0, 0)


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
def connection(database: Path) -> Iterator[sqlite3.Connection]:
    with contextlib.closing(sqlite3.connect(database, check_same_thread=False)) as made:
        yield made


@pytest.fixture
def pool(connection: sqlite3.Connection) -> Pool:
    return Pool(connection)


def test_a_pool_that_counts_its_connections_is_refused_without_its_putconn(pool: Pool) -> None:
    with pytest.raises(idgen.ArgumentError, match=r"SqlStore\(pool.getconn, release=pool.putconn\)"):
        SqlStore(pool.getconn)
    with generator(SqlStore(pool.getconn, release=pool.putconn), segment_runway=0) as orders:
        for _ in range(100):
            orders.next()
    assert len(pool.free) == 1


def test_connections_of_an_event_loop_are_refused() -> None:
    async def connect() -> sqlite3.Connection:
        raise AssertionError

    with pytest.raises(idgen.UnsupportedError, match="event loop"):
        SqlStore(connect)
    with pytest.raises(idgen.UnsupportedError, match="synchronous pool"):
        take(SqlStore(lambda: connect()))


def test_a_connection_inside_a_transaction_is_refused_and_left_as_it_is(
    pool: Pool, connection: sqlite3.Connection, database: Path
) -> None:
    store = SqlStore(pool.getconn, release=pool.putconn)
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


def test_connections_are_never_borrowed_on_the_callers_thread(pool: Pool) -> None:
    store = SqlStore(pool.getconn, release=pool.putconn)
    take(store)
    assert pool.threads
    assert threading.get_ident() not in pool.threads


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
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if take(store) == 1 else 1)
        except BaseException:
            os._exit(2)
    held.set()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


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
    assert store.segment_advance("shop", "orders", 10).max_id == 1001
    with generator(store, namespace="shop") as orders:
        assert orders.next() == 1002
    assert [(row.namespace, row.tag, row.max_id) for row in store.segment_list()] == [
        ("shop", "items", 0),
        ("shop", "orders", 1002),
    ]
    store.segment_advance("shop", "orders", LARGEST)
    with pytest.raises(idgen.ExhaustedError):
        store.segment_advance("shop", "orders", 1)
    with pytest.raises(idgen.InvalidValueError):
        store.segment_advance("shop", "orders", LARGEST + 1)


class Away(Exception):
    """One of Python's own classes could not be referred to weakly."""


def test_the_cause_of_an_error_is_what_the_store_raised() -> None:
    stores = [Counter(), Counter()]
    for store in stores:
        store.failure = Away("the same words")
        with pytest.raises(idgen.HostError) as opened:
            generator(store, wait_max=0)
        assert opened.value.__cause__ is store.failure
        store.failure = None
    with generator(stores[0], wait_max="100ms") as first, generator(stores[1], wait_max="100ms") as second:
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
    orders = generator(store, wait_max="100ms")
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


def test_every_paramstyle_says_the_same(database: Path) -> None:
    from idgen._drivers import in_style

    values = [1, "a", "b"]
    sql = "x = ? AND ns = ? AND tag = ?"
    assert in_style("qmark", sql, values) == (sql, (1, "a", "b"))
    assert in_style("format", sql, values) == ("x = %s AND ns = %s AND tag = %s", (1, "a", "b"))
    assert in_style("numeric", sql, values) == ("x = :1 AND ns = :2 AND tag = :3", (1, "a", "b"))
    named = {"v1": 1, "v2": "a", "v3": "b"}
    assert in_style("named", sql, values) == ("x = :v1 AND ns = :v2 AND tag = :v3", named)
    assert in_style("pyformat", sql, values) == ("x = %(v1)s AND ns = %(v2)s AND tag = %(v3)s", named)


def test_a_number_that_the_driver_gives_as_another_type_is_not_taken_for_one(database: Path) -> None:
    with contextlib.closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("UPDATE idgen_segment SET max_id = 12.5")
    with pytest.raises(idgen.StoreDamagedError, match=r"'12\.5' where a number"):
        take(SqlStore(lambda: sqlite3.connect(database)))


def test_a_witness_that_cannot_be_written_costs_no_numbers(tmp_path: Path) -> None:
    """Each attempt gives back what it was granted."""
    seen = tmp_path / "seen"
    seen.mkdir()

    def generator_of_ten() -> idgen.Generator:
        store = f"sqlite:{tmp_path / 'ids.db'}"
        return idgen.Generator(
            kind="segment",
            store=store,
            store_create=True,
            witness=str(seen),
            segment_step=10,
            segment_runway=0,  # grants do not grow with the rate
        )

    with generator_of_ten() as generator:
        first = generator.next_batch(20)
        seen.rename(tmp_path / "gone")  # the generator may be writing there: that grant is a gap
        for _ in range(20):
            with pytest.raises(idgen.StoreMissingError, match="witness"):
                generator.next_batch(10_000)
    seen.mkdir()
    with generator_of_ten() as generator:
        assert max(first) < generator.next() <= 100


def test_a_host_that_gave_all_of_a_grant_back_is_not_told_that_the_store_went_back(tmp_path: Path) -> None:
    """What lies below that grant is another host's, who may give it back as well."""

    def host(name: str) -> idgen.Generator:
        (tmp_path / name).mkdir(exist_ok=True)
        store, seen = f"sqlite:{tmp_path / 'ids.db'}", str(tmp_path / name)
        return idgen.Generator(kind="segment", store=store, store_create=True, witness=seen, segment_step=10)

    for _ in range(3):
        b = host("b")
        b.next()
        host("a").close()  # it was granted numbers, and issued none
        b.close()
        with host("a") as a:
            assert a.next() > 0


def test_of_a_drivers_numbers_mysqls_own_counts_and_not_the_sqlstate_beside_it() -> None:
    class DriverError(Exception):
        sqlstate = "23000"
        errno = 1062

    assert _drivers.code_of(DriverError(1062, "Duplicate entry"))[:2] == (1062, "")
    assert _drivers.code_of(DriverError("Duplicate entry"))[:2] == (1062, "")
    DriverError.errno = 0
    assert _drivers.code_of(DriverError("Duplicate entry"))[:2] == (0, "23000")
