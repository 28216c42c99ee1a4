"""Workers over the program's own connections, in each language, beside the native modules on the same rows."""

import contextlib
import datetime
import functools
import itertools
import json
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import clients
import idgen
import pymysql
import pytest
import sqlalchemy
from clients import IDGEN, MODULES, SECONDS, Client, ascending, at, drawing_py, ids_of, new_tag, run
from hosts import LANGUAGES, command
from idgen.sql import SqlStore
from own_connections import Asking, connect_to
from patience import patience, wait_until
from proxy import Proxy
from psycopg.rows import dict_row
from pymysql.constants import CLIENT

import servers

KINDS = ("mysql", "postgres")
LAYOUT = "time:41ms worker:10 sequence:1"  # at most 2000 ids per second: files stay small
LONG_S = round(patience(60))
# Nobody loses a worker for being slow: tests end leases with expire().
PATIENT = {"worker_lease": f"{LONG_S}s", "wait_max": f"{LONG_S}s"}
SHORT = {"window": "1s", "max_ahead": "60s"}
NATIVE = "native"


@pytest.fixture(params=KINDS)
def server(request, started):
    made = started(request.param)
    done = run([IDGEN, "store", "create", "--store", made.url(), "--set", f"module.path={MODULES}"])
    assert done.returncode == 0, done.stderr
    return made


def properties(namespace, worker, **others):
    found = {"kind": "snowflake", "namespace": namespace, "worker": worker, "layout": LAYOUT, **PATIENT, **others}
    return [f"{key}={value}" for key, value in found.items()]


def program(url, language, batch, namespace, worker, **others):
    """drawing.py, or the program of a language over its own connections."""
    if language == NATIVE:
        asked = [*drawing_py(batch), f"store={url}", f"module.path={MODULES}"]
    else:
        asked = [*command(language), url, str(batch)]
    return [*asked, *properties(namespace, worker, **others)]


class Worker(Client):
    """A process that draws snowflake ids until it is killed."""

    def __init__(self, folder, url, language, namespace, worker, batch=50, **others):
        self.path = Path(folder) / new_tag()
        self.language = language
        self.layout = others.get("layout", LAYOUT)
        self.program = program(url, language, batch, namespace, worker, **others)
        self.start()

    def workers(self):
        """Those that it has had, in that order."""
        layout = idgen.Layout(self.layout)
        return [layout.decode(number).worker for number in self.ids()]


class Asked(clients.Asked):
    """Gives its worker up at the end."""

    def __init__(self, url, language, namespace, worker, **others):
        self.program, self.drawn = program(url, language, 0, namespace, worker, **others), []
        self.start()

    def ask(self, count):
        with contextlib.suppress(BrokenPipeError):  # it has ended, and said why
            super().ask(count)

    def answer(self):
        ids, failure = super().answer()
        return ascending(ids), failure


def scene(name, url, language, namespace, **others):
    """The lines that one of the programs' scenes prints."""
    done = run([*command(language), url, name, *properties(namespace, 7, **others)])
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def listed(url, namespace):
    """By the command, which uses the native module. By number."""
    sets = [word for pair in (f"module.path={MODULES}", f"namespace={namespace}") for word in ("--set", pair)]
    done = run([IDGEN, "worker", "list", "--json", "--store", url, *sets])
    assert done.returncode == 0, done.stderr
    return {int(row["worker"]): row for row in map(json.loads, done.stdout.splitlines())}


def one(url, namespace):
    (row,) = listed(url, namespace).values()
    return row


# Rows and tables.


def test_the_tables_are_those_that_the_native_stores_make(server, a_language, namespace):
    tables = ("idgen_segment", "idgen_worker", "idgen_namespace")
    native = [server.layout(table) for table in tables]
    with server.without(*tables):
        assert scene("tables", server.url(), a_language, namespace) == ["None", "None"]
        assert [server.layout(table) for table in tables] == native


def test_a_row_that_one_store_has_written_is_read_by_the_others(server, language, namespace):
    with Asked(server.url(), language, namespace, 7) as host:
        host.ids(3)
        row = one(server.url(), namespace)
        assert (row["worker"], row["fence"], row["live"]) == ("7", "1", True) or (row["worker"], row["live"]) == (
            7,
            True,
        )
        assert f"process {host.process.pid} on " in row["holder"]
        assert abs(int(row["clock_ahead_ms"])) < 10_000
        count, line = scene("workers", server.url(), language, namespace)
        assert (count, line) == ("1", f"7 1 {row['hw_unix_ms']} true {row['holder']}")
    assert not one(server.url(), namespace)["live"]
    with Asked(server.url(), NATIVE, namespace, 7) as native:
        native.ids(3)
        _, line = scene("workers", server.url(), language, namespace)
        assert line.startswith("7 2 ")
        assert f" true process {native.process.pid} on " in line


# Owners.


def busy(url, language, namespace, worker, **others):
    with Asked(url, language, namespace, worker, worker_wait="0ms", **others) as refused:
        failure = refused.process.stdout.readline()
        assert refused.process.wait(SECONDS) != 0
        return failure


def test_a_worker_of_one_store_is_refused_to_the_other_until_it_is_given_up(server, a_language, namespace):
    drawn = []
    for first, second in ((a_language, NATIVE), (NATIVE, a_language), (a_language, a_language)):
        with Asked(server.url(), first, namespace, 7) as owner:
            drawn.append(owner.ids(100))
            failure = busy(server.url(), second, namespace, 7)
            assert failure.startswith("!WORKER_BUSY worker 7 of namespace"), failure
            assert f"is owned by process {owner.process.pid} on " in failure
    ascending(itertools.chain(*drawn))
    assert one(server.url(), namespace)["fence"] in (3, "3")


def test_a_process_that_is_replaced_is_waited_for_by_the_other_store(server, a_language, namespace, tmp_path):
    with Asked(server.url(), NATIVE, namespace, 7) as first, Counting(server.port, namespace) as proxy:
        drawn = first.ids(10)
        second = Worker(tmp_path, server.url(proxy.port), a_language, namespace, 7, worker_wait="1h")
        with contextlib.closing(second):
            wait_until(lambda: len(proxy.before) > 4, what="the second one asks again and again")
            assert second.size() == 0
            first.process.stdin.close()
            second.goes_on().kill()
            ascending([drawn[-1], min(second.ids())])


def test_the_worker_of_a_process_that_was_killed_is_taken_when_its_lease_has_ended(
    server, a_language, namespace, tmp_path
):
    short = {**SHORT, "worker_lease": "1s", "worker_wait": f"{LONG_S}s"}
    drawn = []
    for taker in (a_language, NATIVE, a_language):
        with contextlib.closing(Worker(tmp_path, server.url(), taker, namespace, 7, **short)) as worker:
            worker.goes_on().kill()
            drawn += worker.ids()
    ascending(drawn)


def test_an_owner_that_draws_nothing_stays_the_owner(server, a_language, namespace):
    with Asked(server.url(), a_language, namespace, 7, window="500ms") as idle:
        first = idle.ids(1)
        before = int(one(server.url(), namespace)["hw_unix_ms"])
        wait_until(lambda: int(one(server.url(), namespace)["hw_unix_ms"]) > before + 1000, what="two renewals")
        server.expire(namespace, 7)
        wait_until(lambda: one(server.url(), namespace)["live"], what="a renewal of the lease")
        assert one(server.url(), namespace)["fence"] in (1, "1")
        ascending(first + idle.ids(1))


class Counting(Proxy):
    """At each request that holds a text, as it is or in hexadecimal digits, it counts the round trips before."""

    def __init__(self, target, text):
        self.texts, self.before = (text.encode(), text.encode().hex().encode()), []
        super().__init__(target)

    def fate_of(self, data):
        if any(text in data for text in self.texts):
            self.before.append(self.round_trips)
        return super().fate_of(data)


def test_a_renewal_is_one_round_trip_where_the_pool_can_tell_that_it_is_committed(server, language, namespace):
    with (
        Counting(server.port, namespace) as proxy,
        Asked(server.url(proxy.port), language, namespace, 7, window="300ms") as host,
    ):
        host.ids(1)
        most = 4 if language == "go" else 1

        def eight_in_a_row():
            """First the statements are prepared, and pools look after connections that were idle for long."""
            last = proxy.before[-9:]
            return len(last) == 9 and max(after - before for before, after in itertools.pairwise(last)) <= most

        wait_until(eight_in_a_row, what="eight renewals of so few round trips")


def test_another_layout_in_the_namespace_is_refused(server, a_language, namespace):
    with Asked(server.url(), NATIVE, namespace, 1) as native:
        native.ids(1)
    failure = busy(server.url(), a_language, namespace, 2, layout="time:41ms worker:10 sequence:3")
    assert failure.startswith("!FORMAT_MISMATCH"), failure
    assert "time:41ms worker:10 sequence:1" in failure
    mine = new_tag()
    with Asked(server.url(), a_language, mine, 1) as host:
        host.ids(1)
    assert busy(server.url(), NATIVE, mine, 2, layout="time:41ms worker:10 sequence:3").startswith("!FORMAT_MISMATCH")


def test_tables_that_are_missing_are_said_so(server, a_language, namespace):
    for table in ("idgen_worker", "idgen_namespace"):
        with server.without(table):
            for worker in ("7", "auto"):
                failure = busy(server.url(), a_language, namespace, worker, wait_max="1s")
                assert failure.startswith("!STORE_MISSING "), failure
                assert f"the table {table} is not there" in failure
                assert "idgen store create" in failure
        namespace = new_tag()


def test_a_row_that_cannot_be_is_damage(server, a_language, namespace):
    with Asked(server.url(), a_language, namespace, 7) as host:
        host.ids(1)
    server.sql(f"UPDATE idgen_worker SET owner = 'somebody' WHERE ns = '{namespace}'")
    assert "!STORE_DAMAGED" in busy(server.url(), a_language, namespace, 7, wait_max="1s")


# Clocks.


def server_at(kind, offset, *more):
    """A server whose clock is off. A JVM whose clock is off by libfaketime hangs in timed waits."""

    class Shifted(servers.KINDS[kind]):
        def command(self):
            return [*at(offset), *more, *super().command()]

    return Shifted()


@pytest.mark.parametrize("hours", [-1, 1])
@pytest.mark.parametrize("kind", KINDS)
def test_a_clock_that_is_an_hour_off_reserves_nothing_ahead(kind, hours):
    with server_at(kind, f"{-hours:+d}h") as server:
        for language in LANGUAGES:
            namespace = new_tag()
            scene("tables", server.url(), language, namespace)
            with Asked(server.url(), language, namespace, 7) as asked:
                ids, failure = asked.draw(3)
            if hours > 0:
                assert failure.startswith("CLOCK_LEAP"), failure
                assert "ahead of the store's" in failure
                assert listed(server.url(), namespace) == {}
            else:
                assert len(ids) == 3, failure  # ids of an hour ago by the server's clock, which are nobody else's
                assert -3_610_000 < int(one(server.url(), namespace)["clock_ahead_ms"]) < -3_590_000


@pytest.mark.parametrize("minutes", [-30, 30])
def test_the_hour_that_comes_twice_in_local_time_is_two_hours_for_a_server(minutes):
    """Clocks go back: the server's local time, and that of its sessions, says the same for two instants."""
    end_of_summer = datetime.datetime(2026, 10, 25, 1, tzinfo=datetime.UTC)
    offset = (end_of_summer + datetime.timedelta(minutes=minutes)).timestamp() - time.time()
    with server_at("mysql", f"{offset:+.0f}", "TZ=Europe/Berlin") as berlin:
        assert berlin.sql("SELECT NOW()").startswith("2026-10-25 02:")
        assert berlin.sql("SELECT UTC_TIMESTAMP()").startswith(f"2026-10-25 0{minutes > 0:d}:")
        for language in ("python", NATIVE):  # all send the same
            namespace = new_tag()
            scene("tables", berlin.url(), "python", namespace)
            asked = program(berlin.url(), language, 0, namespace, 7)
            done = run([*at(f"{offset:+.0f}"), *asked], input="3\n")
            assert len(done.stdout.split()) == 3, done.stdout + done.stderr
            assert abs(int(one(berlin.url(), namespace)["clock_ahead_ms"])) < 10_000


# What breaks.


def test_sessions_and_servers_that_are_killed_make_no_duplicate(server, a_language, namespace, tmp_path):
    options = {"window": "500ms", "max_ahead": "60s"}
    with contextlib.ExitStack() as stack:
        both = (a_language, a_language, NATIVE)
        all_of_them = [
            stack.enter_context(contextlib.closing(Worker(tmp_path, server.url(), which, namespace, number, **options)))
            for number, which in enumerate(both)
        ]
        for worker in all_of_them:
            worker.goes_on()
        for hit in (server.kill_sessions, server.restart, server.kill_sessions, server.kill_sessions):
            hit()
            for worker in all_of_them:
                worker.goes_on(worker.size() + 20_000)
        for worker in all_of_them:
            worker.kill()
        ids_of(all_of_them)


def test_a_window_whose_commit_is_not_acknowledged_is_burned(server, language, namespace):
    options = {"window": "300ms", "pool.autocommit": "false"}
    with Proxy(server.port) as proxy, Asked(server.url(proxy.port), language, namespace, 7, **options) as host:
        drawn = host.ids(10)
        # Go's statement in PostgreSQL commits by itself: of its words, only the values are sent.
        commits = namespace.encode() if (language, server.name) == ("go", "postgres") else b"COMMIT"
        for _ in range(5):
            proxy.lose_answer(commits)
            while not proxy.lost.is_set():
                drawn += host.ids(10)
            drawn += host.ids(10)
        assert one(server.url(), namespace)["fence"] in (1, "1")
    ascending(drawn)


@pytest.mark.parametrize("autocommit", ["true", "false"])
@pytest.mark.parametrize("server", ["postgres"], indirect=True)
def test_a_commit_that_fails_after_its_statement_was_answered_grants_nothing(server, language, namespace, autocommit):
    own = {"pool.autocommit": autocommit, "wait_max": "1s"}
    with server.commits_that_fail("idgen_worker", f"NEW.ns = '{namespace}'"):
        failure = busy(server.url(), language, namespace, 7, **own)
        assert "not committed" in failure
        assert listed(server.url(), namespace) == {}
    with Asked(server.url(), language, namespace, 7, window="300ms", **own) as host:
        drawn = host.ids(10)
        with server.commits_that_fail("idgen_worker", f"NEW.ns = '{namespace}'"):
            hw = one(server.url(), namespace)["hw_unix_ms"]
            failure = wait_until(lambda: host.draw(1000)[1], what="the window is used up")
            assert "not committed" in failure
            assert one(server.url(), namespace)["hw_unix_ms"] == hw
        more = wait_until(lambda: host.draw(10)[0], what="issuing goes on")
        ascending([max(drawn), min(more)])


def test_processes_of_all_languages_lease_workers_and_no_two_the_same_however_they_are_hit(server, namespace, tmp_path):
    """8 processes, native and host stores, are killed and stopped at random, and new ones take their place. 32 if
    IDGEN_TEST_FULL=1."""
    choice = random.Random(11)
    is_full = os.environ.get("IDGEN_TEST_FULL") == "1"
    kinds = [NATIVE, "python", "go"] * 9 + ["java"] * 5 if is_full else [NATIVE, "python", "go"] * 2 + ["java"] * 2
    seconds = int(os.environ.get("IDGEN_TEST_SECONDS", "30" if is_full else "6"))
    bits = 6 if is_full else 4
    few = {**SHORT, "layout": LAYOUT.replace("worker:10", f"worker:{bits}")}

    def start(kind):
        return Worker(tmp_path, server.url(), kind, namespace, "auto", batch=20, **few)

    def taken_from(worker):
        """Its number is another's now, if somebody wants it; unless it was stopped inside a transaction."""
        for number in worker.workers()[-1:]:
            with contextlib.suppress(subprocess.CalledProcessError):
                server.expire(namespace, number)

    def is_one_used_again():
        """A number of those who were killed, or stopped for long."""
        used = [number for worker in everybody for number in set(worker.workers())]
        return len(used) > len(set(used))

    for kind in LANGUAGES:
        command(kind)  # built before, not while others draw
    everybody, drawing, stopped = [], [], []
    try:
        for kind in kinds:
            drawing.append(start(kind))
            everybody.append(drawing[-1])
        for worker in drawing:
            worker.goes_on()
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline or not is_one_used_again():
            victim = drawing.pop(choice.randrange(len(drawing)))
            if choice.random() < 0.5:
                victim.kill()
                taken_from(victim)
                drawing.append(start(victim.language))
                everybody.append(drawing[-1])
            else:
                victim.process.send_signal(signal.SIGSTOP)
                taken_from(victim)
                stopped.append((time.monotonic() + choice.uniform(1, seconds / 3), victim))
            time.sleep(0.5 if is_full else 0.2)
            for until, victim in [pair for pair in stopped if pair[0] < time.monotonic()]:
                stopped.remove((until, victim))
                victim.process.send_signal(signal.SIGCONT)
                drawing.append(victim)
        for _, victim in stopped:
            victim.process.send_signal(signal.SIGCONT)
            drawing.append(victim)
        for worker in drawing:
            worker.goes_on(worker.size() + 100)

        def each_has_its_own():
            rows = listed(server.url(), namespace)
            held = {worker.workers()[-1]: worker for worker in drawing}
            # Whoever went on within an old window uses it up first.
            return len(held) == len(kinds) and all(
                rows[number]["live"] and f"process {worker.process.pid} on " in rows[number]["holder"]
                for number, worker in held.items()
            )

        wait_until(each_has_its_own, what="a lease of its own for each")  # a slow machine renews late
    finally:
        for worker in everybody:
            worker.close()
    ids_of(everybody)


# What Python's store does with a connection, seen from inside.


@pytest.fixture
def connect(server):
    return functools.partial(connect_to, server)


def on_worker_7(store, namespace, **properties):
    return idgen.Generator(worker="7", namespace=namespace, store=store, **{"window": "300ms", **properties})


@pytest.mark.parametrize("server", ["mysql"], indirect=True)
def test_a_row_that_is_there_is_not_taken_for_one_that_was_inserted_in_sessions_that_count_found_rows(
    connect, server, namespace
):
    """As SQLAlchemy and most drivers for Java ask for."""
    engine = sqlalchemy.create_engine("mysql+pymysql://", creator=lambda: connect(client_flag=CLIENT.FOUND_ROWS))
    store = SqlStore(engine.raw_connection)
    with on_worker_7(store, namespace), pytest.raises(idgen.WorkerBusyError):
        on_worker_7(server.url(), namespace, wait_max="1s")
    with on_worker_7(server.url(), namespace), pytest.raises(idgen.WorkerBusyError):
        on_worker_7(store, namespace, wait_max="1s")
    assert [row.fence for row in store.worker_list(namespace)] == [2]
    engine.dispose()


def test_the_clock_is_the_databases_whatever_the_time_zone_of_the_session_is(connect, server, namespace):
    sets = "SET time_zone = '{}'" if server.name == "mysql" else "SET TIME ZONE '{}'"
    for zone in ("+00:00", "-11:00", "+13:00"):

        def connected(zone=zone):
            connection = connect(autocommit=True)
            with connection.cursor() as cursor:
                cursor.execute(sets.format(zone))
            return connection

        store = SqlStore(connected)
        with on_worker_7(store, namespace):
            (row,) = store.worker_list(namespace)
        assert abs(row.clock_ahead_ms) < 10_000, zone


@pytest.mark.parametrize("server", ["postgres"], indirect=True)
def test_a_window_of_postgresql_is_durable_whatever_the_session_says(connect, server, namespace):
    seen = []
    store = SqlStore(lambda: Asking(connect(options="-c synchronous_commit=off"), seen))
    with on_worker_7(store, namespace) as generator:
        generator.next()
    assert seen
    assert set(seen) == {"on"}


def test_rows_that_are_mappings_are_read_too(connect, server, namespace):
    mappings = {"cursorclass": pymysql.cursors.DictCursor} if server.name == "mysql" else {"row_factory": dict_row}
    store = SqlStore(functools.partial(connect, **mappings))
    with on_worker_7(store, namespace):
        (row,) = store.worker_list(namespace)
    assert (row.worker, row.fence, row.is_live) == (7, 1, True)
    assert str(os.getpid()) in row.holder


def test_a_connection_inside_a_transaction_is_refused_and_left_as_it_is(connect, server, namespace):
    connection = connect(autocommit=False)
    store = SqlStore(lambda: connection, release=lambda _: None)
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO idgen_segment(ns, tag, max_id) VALUES('theirs', %s, 7)", (namespace,))
    with pytest.raises(idgen.StoreUnsafeError, match="inside a transaction"):
        store.worker_list(namespace)
    connection.commit()
    assert store.segment_show("theirs", namespace).max_id == 7
    connection.close()
