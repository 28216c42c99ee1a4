"""Stores of the host's language over its own connections, beside the native modules, on the same tags."""

import contextlib
import functools
import itertools
import threading
from concurrent.futures import ThreadPoolExecutor

import idgen
import psycopg_pool as pools
import pytest
import sqlalchemy
from clients import CAN_BE_RETRIED, Asked, Client, ascending, clients, create, distinct, ids_of, new_tag, run, show
from hosts import LANGUAGES, command
from idgen.sql import SqlStore
from own_connections import Asking, Watched, connect_to
from patience import patience, wait_until
from proxy import Proxy
from sqlalchemy.ext.asyncio import create_async_engine
from test_faults import PATIENT

import servers

KINDS = ("mysql", "postgres")
LARGEST = 2**63 - 1
SECOND = {"wait_max": f"{patience(1):.0f}s"}  # for calls that must fail, after all of it
SECRET = "hunter2-hidden"


@pytest.fixture(params=KINDS)
def server(request, started):
    return started(request.param)


@pytest.fixture
def tag(server):
    return create(server.url(), new_tag())


def opened(url, tag, **properties):
    """A client whose first connection may take its time, as that of Java does."""
    return Asked(url, tag, **{**PATIENT, **properties})


def refused(line, status, *parts):
    name, _, message = line.partition(" ")
    assert name == status, line
    assert 20 < len(message.encode()) < 495, "cut off"
    for part in parts:
        assert part in message, line
    for secret in (SECRET, "s3cr3t"):
        assert secret not in message
    return message


def only_line(url, tag, language, ends_with=1, **properties):
    """Of a program whose first call fails: its status and message. As Asked.first_ids() does, one whose first
    connection took longer than its wait_max is started again.
    """
    with opened(url, tag, language=language, **properties) as process:

        def said():
            line = process.process.stdout.readline().strip()
            assert line.startswith("!"), line
            status = process.process.wait(patience(60))
            if status == CAN_BE_RETRIED != ends_with:
                process.start_again()
                return None
            assert status == ends_with, line
            return line[1:]

        return wait_until(said)


@pytest.mark.parametrize("autocommit", ["true", "false"])
@pytest.mark.parametrize("language", [None, *LANGUAGES])
def test_a_commit_that_fails_after_its_statement_was_answered_grants_nothing(started, language, autocommit):
    postgres = started("postgres")
    tag = create(postgres.url(), new_tag())
    own = {"autocommit": autocommit} if language else {}
    with opened(postgres.url(), tag, language=language, step=10, prefetch=1, **SECOND, **own) as client:
        assert client.first_ids(10) == list(range(1, 11))
        with postgres.commits_that_fail("idgen_segment", f"NEW.tag = '{tag}'"):
            wait_until(lambda: "not committed" in client.draw(10)[1])
            assert client.drawn == list(range(1, 11))
            assert show(postgres.url(), tag)["max_id"] == 10
        wait_until(lambda: client.draw(10)[0], what="issuing goes on")
        assert client.drawn == list(range(1, 21))


@pytest.mark.parametrize("autocommit", ["true", "false"])
def test_native_and_host_stores_draw_all_numbers_of_a_tag_and_each_of_them_once(server, tag, language, autocommit):
    step, grants = 20, 60
    options = {"step": step, "prefetch": 1, "wait_max": "60s"}
    with contextlib.ExitStack() as stack:
        drawing = [stack.enter_context(opened(server.url(), tag, **options)) for _ in range(2)]
        drawing += [
            stack.enter_context(opened(server.url(), tag, language=language, autocommit=autocommit, **options))
            for _ in range(2)
        ]
        for asked in drawing:
            asked.ask(step * grants)
        drawn = []
        for asked in drawing:
            ids, failure = asked.answer()
            assert not failure, failure
            drawn += ascending(ids)
    # Whole segments, each requested when the one before is used up: nothing is left over.
    assert sorted(distinct(drawn)) == list(range(1, len(drawing) * grants * step + 1))
    assert show(server.url(), tag) == {"max_id": len(drawing) * grants * step, "grants": len(drawing) * grants}


def test_what_is_unused_goes_back_only_if_nobody_has_drawn_since(server, tag, a_language):
    options = {"step": 100, "prefetch": 1}
    with opened(server.url(), tag, language=a_language, **options) as host:
        assert host.ids(7) == list(range(1, 8))
    assert show(server.url(), tag)["max_id"] == 7
    with opened(server.url(), tag, language=a_language, **options) as host:
        assert host.ids(1) == [8]
        with opened(server.url(), tag, **options) as native:
            assert native.ids(1) == [108]
        assert show(server.url(), tag)["max_id"] == 108
        with opened(server.url(), tag, language=a_language, **options) as other:
            assert other.ids(100) == list(range(109, 209))
    assert show(server.url(), tag)["max_id"] == 208  # 8 to 107 are lost


def test_sessions_and_servers_that_are_killed_make_no_duplicate(server, tag, a_language, tmp_path):
    step = 5
    options = {"step": step, "wait_max": "60s"}
    with clients(tmp_path, 2, server.url(), tag, language=a_language, **options) as all_of_them:
        all_of_them.append(Client(tmp_path, server.url(), tag, **options).goes_on())
        for hit in (server.kill_sessions, server.kill_sessions, server.restart, server.kill_sessions):
            hit()
            for client in all_of_them:
                client.goes_on(client.size() + 400)
        for client in all_of_them:
            client.kill()
        ids = ids_of(all_of_them)
    found = show(server.url(), tag)
    assert found["max_id"] == found["grants"] * step  # each grant counted once, including those whose answer was lost
    assert max(ids) <= found["max_id"]


def test_a_grant_whose_commit_is_not_acknowledged_is_burned(server, tag, language):
    options = {"step": 10, "prefetch": 1, "wait_max": "60s", "autocommit": "false"}
    with Proxy(server.port) as proxy, opened(server.url(proxy.port), tag, language=language, **options) as host:
        assert host.ids(10) == list(range(1, 11))
        # Go's grant in PostgreSQL is a statement that commits by itself: of its words, only the values are sent.
        commits = tag.encode() if (language, server.name) == ("go", "postgres") else b"COMMIT"
        for n in range(1, 4):
            proxy.lose_answer(commits)
            before = show(server.url(), tag)["max_id"]
            assert host.ids(10) == list(range(before + 11, before + 21))
            assert proxy.lost.is_set()
            assert show(server.url(), tag)["grants"] == 1 + 2 * n


def test_a_grant_is_one_round_trip_where_the_pool_can_tell_that_it_is_committed(server, tag, language):
    grants = 20
    with (
        Proxy(server.port) as proxy,
        opened(server.url(proxy.port), tag, language=language, step=10, prefetch=1) as host,
    ):
        host.ids(200)  # connected, and all statements prepared
        before = proxy.round_trips
        host.ids(10 * grants)
        asked = proxy.round_trips - before
    assert asked <= grants * (4 if (language, server.name) == ("go", "mysql") else 1), asked


def test_a_server_that_is_away_is_unavailable_and_comes_back(server, tag, language):
    with opened(server.url(), tag, language=language, step=10, **SECOND) as host:
        host.first_ids(3)
        server.kill()
        try:
            failure = wait_until(lambda: host.draw(10)[1])
            refused(failure, "STORE_UNAVAILABLE")
        finally:
            server.start()
        before = len(host.drawn)
        wait_until(lambda: len(host.draw(10)[0]) == 10)
        assert len(host.drawn) > before


def test_a_tag_that_is_lost_is_named_with_how_to_make_it(server, tag, a_language):
    with opened(server.url(), tag, language=a_language, step=10) as host:
        host.first_ids(1)
        server.sql(f"DELETE FROM idgen_segment WHERE tag = '{tag}'")
        failure = wait_until(lambda: host.draw(10)[1])
        refused(failure, "TAG_UNKNOWN", tag, "idgen segment create")


def test_names_are_the_same_bytes_for_all(server, language):
    name = "Bestellung-Ä-注文'\"\\%s?:x"
    create(server.url(), name)
    with opened(server.url(), name, step=10, prefetch=1) as native:
        native.ids(10)
        with opened(server.url(), name, language=language, step=10, prefetch=1) as host:
            assert host.ids(10) == list(range(11, 21))
    server.sql("DELETE FROM idgen_segment WHERE tag LIKE 'Bestellung%'")


def test_a_table_that_is_missing_is_said_so(server, tag, a_language):
    with server.without("idgen_segment"):
        line = only_line(server.url(), tag, a_language)
    refused(line, "STORE_MISSING", "table idgen_segment is not there", "idgen segment create")


def test_a_role_whose_schemas_are_gone_is_told_so_and_not_to_try_again(started, language):
    postgres = started("postgres")
    postgres.sql("ALTER ROLE app SET search_path = nowhere")
    try:
        made, *_ = scene("tags", postgres.url(), new_tag(), language)
    finally:
        postgres.sql("ALTER ROLE app RESET search_path")
    refused(made[1:], "STORE_MISSING", "no schema has been selected to create in")


def test_an_account_that_is_locked_or_may_not_log_in_from_here_is_refused_and_not_tried_again(started, language):
    mysql = started("mysql")
    mysql.sql("CREATE USER locked@'%' IDENTIFIED BY 'x' ACCOUNT LOCK; CREATE USER elsewhere@'192.0.2.1'")
    try:
        for user in ("locked", "elsewhere"):
            url = mysql.url(password="x").replace("app:", user + ":")
            refused(only_line(url, new_tag(), language), "STORE_PERMISSION")
    finally:
        mysql.sql("DROP USER locked@'%', elsewhere@'192.0.2.1'")


def test_a_wrong_password_is_refused_and_not_shown(server, tag, language):
    line = only_line(server.url(password=SECRET), tag, language)
    refused(line, "STORE_PERMISSION", "app")  # the server's own words


def test_an_exception_of_the_pool_is_told_without_its_secrets(server, tag, language):
    text = f"no room for db://app:{SECRET}@db/ids with password={SECRET}; ask the operator"
    line = only_line(server.url(), tag, language, broken=text, ends_with=CAN_BE_RETRIED, **SECOND)
    refused(line, "STORE_UNAVAILABLE", "no room for db://app:***@db/ids", "password=***; ask the operator")


def test_a_counter_stops_at_the_largest_number(server, tag, language):
    server.set_counter(tag, LARGEST - 15)
    with opened(server.url(), tag, language=language, step=10, prefetch=1) as host:
        assert host.ids(10) == list(range(LARGEST - 14, LARGEST - 4))
        refused(host.draw(1)[1], "EXHAUSTED", str(LARGEST - 5), "2^63 - 1")
    assert show(server.url(), tag)["max_id"] == LARGEST - 5
    server.set_counter(tag, LARGEST - 10)
    with opened(server.url(), tag, language=language, step=10, prefetch=1) as host:
        assert host.ids(10)[-1] == LARGEST
        refused(host.draw(1)[1], "EXHAUSTED", str(LARGEST))


def test_a_counter_that_cannot_be_is_damage(server, tag, a_language):
    if server.name == "postgres":
        server.sql("ALTER TABLE idgen_segment DROP CONSTRAINT idgen_segment_max_id_check")
    server.set_counter(tag, -1)
    try:
        refused(only_line(server.url(), tag, a_language), "STORE_DAMAGED", "-1", "by hand")
    finally:
        server.set_counter(tag, 0)
        if server.name == "postgres":
            server.sql("ALTER TABLE idgen_segment ADD CONSTRAINT idgen_segment_max_id_check CHECK (max_id >= 0)")


def scene(name, url, tag, language, **properties):
    """The lines that one of the programs' scenes prints."""
    settings = {"segment.step": "10", "segment.runway": "0", "kind": "segment", "tag": tag, **PATIENT, **properties}
    done = run([*command(language), url, name, *(f"{key}={value}" for key, value in settings.items())])
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("autocommit", ["true", "false"])
def test_a_connection_inside_a_transaction_is_refused_and_left_as_it_is(server, tag, language, autocommit):
    (line,) = scene("inside", server.url(), tag, language, **{"pool.autocommit": autocommit})
    refused(line[1:], "STORE_UNSAFE", "inside a transaction", "nothing was granted", "pool of its own")
    assert show(server.url(), tag) == {"max_id": 0, "grants": 0}
    assert server.sql(f"SELECT max_id FROM idgen_segment WHERE ns = 'theirs' AND tag = '{tag}'").split() == ["7"]


def test_a_pool_that_the_callers_transaction_has_emptied_ends_the_call_at_once_and_says_so(server, tag, language):
    # Neither wait_max is waited for, nor pool_timeout by each of a hundred grants: the test would not be over in time.
    line, _, *drawn = scene("emptied", server.url(), tag, language, wait_max="1h")
    ids, _, failure = line.partition("!")
    assert len(ids.split()) == 10  # what was reserved before
    refused(failure, "STORE_UNAVAILABLE", "pool of its own")
    assert drawn[-1].split() == [str(n) for n in range(11, 21)]


def test_tags_are_made_and_shown_and_advanced_through_the_store(server, language):
    tag = new_tag()
    made, again, shown, advanced, lifted, listed, unknown = scene("tags", server.url(), tag, language)
    assert made == "None"
    refused(again[1:], "TAG_EXISTS", tag)
    assert (shown, advanced, lifted, listed) == ("0 0", "1000", "1001", "1001")
    refused(unknown[1:], "TAG_UNKNOWN", tag, "nobody")
    assert show(server.url(), tag) == {"max_id": 1001, "grants": 2}


def test_the_table_is_the_one_that_the_native_stores_make(server, a_language):
    tag = new_tag()
    with server.without("idgen_segment"):
        create(server.url(), tag)
        native = server.layout("idgen_segment")
        server.sql("DROP TABLE idgen_segment")
        assert scene("tags", server.url(), tag, a_language)[0] == "None"
        assert server.layout("idgen_segment") == native


def test_the_cause_of_an_error_is_the_drivers(server, tag, language):
    with server.without("idgen_segment"):
        (found,) = scene("cause", server.url(), tag, language)
    assert found in ("ProgrammingError", "UndefinedTable", "SQLSyntaxErrorException", "PSQLException", "true")


# Druid with its filter of statements, in Java.

DRIVERS = [("mysql", "mariadb"), ("mysql", "mysql"), ("postgres", "postgresql")]


@pytest.fixture(params=DRIVERS, ids=lambda pair: pair[1])
def filtered(request, started):
    """filtered(scene, tag, wall="", **properties): the lines of a scene over Druid, by the settings of its filter."""
    kind, driver = request.param
    server = started(kind)

    def lines(name, tag, wall="", **properties):
        own = {"pool.driver": driver, "pool.wall": wall, "namespace": tag, **properties}
        return scene(name, server.url(), tag, "java", **own)

    lines.server, lines.driver = server, driver
    return lines


def test_druids_filter_lets_all_statements_of_segments_and_workers_pass(filtered):
    tag = new_tag()
    assert filtered("tables", tag) == ["None", "None"]
    made, again, shown, advanced, lifted, listed, _ = filtered("tags", tag)
    refused(again[1:], "TAG_EXISTS", tag)
    assert (made, shown, advanced, lifted, listed) == ("None", "0 0", "1000", "1001", "1001")
    (drawn,) = filtered("draw", tag, kind="snowflake", worker="7", window="100ms")
    assert len(drawn.split()) == 20
    count, row = filtered("workers", tag)
    assert (count, row.split()[0], row.split()[3]) == ("1", "7", "false"), "it was leased, and given up"


def test_a_grant_passes_druids_filter_but_not_inside_a_transaction(filtered):
    server, tag = filtered.server, create(filtered.server.url(), new_tag())
    assert filtered("draw", tag, namespace="default") == [" ".join(map(str, range(1, 21)))]
    (line,) = filtered("inside", tag, namespace="default", **{"pool.autocommit": "false"})
    refused(line[1:], "STORE_UNSAFE", "inside a transaction", "nothing was granted", "pool of its own with autocommit")
    assert show(server.url(), tag)["max_id"] == 20
    assert server.sql(f"SELECT max_id FROM idgen_segment WHERE ns = 'theirs' AND tag = '{tag}'").split() == ["7"]


@pytest.mark.parametrize(
    ("setting", "what"),
    [
        ("metadataAllow", "draw"),
        ("updateAllow", "draw"),
        ("setAllow", "draw"),
        ("selectAllow", "workers"),
        ("insertAllow", "tags"),
        ("createTableAllow", "tables"),
    ],
)
def test_what_druids_filter_refuses_is_an_error_that_names_its_settings_and_ends_the_wait(filtered, setting, what):
    tag = create(filtered.server.url(), new_tag())
    first, *_ = filtered(what, tag, f"{setting}=false", namespace="default", wait_max="1h")
    if setting == "setAllow" and filtered.driver != "mysql":
        assert first.split()[-1] == "20", "its driver knows of transactions"
    else:
        refused(first[1:], "STORE_PERMISSION", "Druid", setting, "without the filter")


# What Python's store does with a connection, seen from inside.


@pytest.fixture
def connect(server):
    return functools.partial(connect_to, server)


def test_threads_on_one_pool_take_every_number_once(connect, server, tag):
    store = SqlStore(connect)

    def take(count):
        with orders(store, tag, segment_step=count, segment_prefetch=1) as generator:
            return [generator.next() for _ in range(50 * count)]

    with ThreadPoolExecutor(4) as threads:
        taken = sorted(itertools.chain(*threads.map(take, (1, 2, 3, 7))))
    assert taken == list(range(1, 50 * 13 + 1))
    assert show(server.url(), tag) == {"max_id": 650, "grants": 200}


@pytest.mark.parametrize("autocommit", [True, False])
def test_a_grant_is_committed_before_it_is_returned_and_the_connection_goes_back(connect, server, tag, autocommit):
    log = []
    store = SqlStore(lambda: Watched(connect(autocommit=autocommit), log))
    with orders(store, tag, segment_prefetch=1) as generator:
        assert generator.next_batch(6)[0] == 1
        assert show(server.url(), tag) == {"max_id": 10, "grants": 1}
        assert log[-1] == "close"
        if server.name == "mysql" and autocommit:
            assert log == ["close"]  # one round trip: the server has said that it committed
    assert log[-1] == "close"
    assert show(server.url(), tag) == {"max_id": 6, "grants": 1}


@pytest.fixture
def engine(connect, server):
    """engine(...): SQLAlchemy's, on connections that `connect` makes."""
    made = []

    def make(**options):
        dialect = "mysql+pymysql" if server.name == "mysql" else "postgresql+psycopg"
        made.append(sqlalchemy.create_engine(dialect + "://", creator=connect, **options))
        return made[-1]

    yield make
    for engine in made:
        engine.dispose()


def orders(store, tag, **properties):
    return idgen.Generator(
        kind="segment", tag=tag, store=store, **{"segment_step": 10, "segment_runway": "0", **properties}
    )


@pytest.fixture
def psycopg_pool(started):
    server = started("postgres")
    address = f"host={servers.HOST} port={server.port} user=app dbname=ids"
    with pools.ConnectionPool(address, kwargs={"password": servers.PASSWORD}, min_size=1, max_size=2) as pool:
        yield pool


def all_are_back(pool):
    """What the pool says when no connection is out, nor still opening."""
    return wait_until(lambda: (found := pool.get_stats())["pool_available"] == found["pool_size"] and found)


def test_the_connections_of_psycopgs_pool_go_back_to_it(started, psycopg_pool):
    tag = create(started("postgres").url(), new_tag())
    with orders(SqlStore(psycopg_pool.getconn, release=psycopg_pool.putconn), tag) as generator:
        for _ in range(300):
            generator.next()

    found = all_are_back(psycopg_pool)
    assert found.get("connections_lost", 0) == 0
    assert found["connections_num"] <= 2


def test_psycopgs_pool_without_its_putconn_is_refused_and_loses_no_connection(psycopg_pool):
    with pytest.raises(idgen.ArgumentError, match=r"release=pool\.putconn"):
        SqlStore(psycopg_pool.getconn)
    store = SqlStore(lambda: psycopg_pool.getconn())
    for _ in range(5):
        with pytest.raises(idgen.ArgumentError, match=r"release=pool\.putconn"):
            store.segment_advance("default", "orders", 10)
    with psycopg_pool.connection() as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    all_are_back(psycopg_pool)


def test_bulk_transactions_that_share_the_pool_with_the_store_fail_once_and_then_go_on(engine, server, tag):
    transactions = 10
    shared = engine(pool_size=transactions, max_overflow=0)
    all_in = threading.Barrier(transactions)
    failed = []

    def bulk(generator):
        with shared.begin() as connection:
            connection.execute(sqlalchemy.text("SELECT 1"))
            all_in.wait(patience(60))
            try:
                generator.next_batch(1000)
            except idgen.StoreUnavailableError as error:
                failed.append(str(error))
                return
        for _ in range(20):
            with shared.begin():
                generator.next_batch(10)

    def go_on():
        with contextlib.suppress(idgen.StoreUnavailableError):
            return len(generator.next_batch(1000))

    with orders(SqlStore(shared.raw_connection, pool_timeout=1.0), tag, wait_max="1h") as generator:
        threads = [threading.Thread(target=bulk, args=(generator,)) for _ in range(transactions)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(patience(60))
            assert not thread.is_alive(), "it waits for wait_max"
        assert failed
        for text in failed:
            assert "pool of its own" in text
        wait_until(go_on, what="the transactions have ended")


def test_transactions_that_fail_and_start_again_at_once_do_not_starve_the_store(engine, server, tag):
    """Each holds a connection of the pool while it draws an id, so all are always lent."""
    shared = engine(pool_size=4, max_overflow=0)

    def request(generator):
        with shared.begin() as connection, contextlib.suppress(idgen.StoreUnavailableError):
            connection.execute(sqlalchemy.text("SELECT 1"))
            return generator.next()

    def requests(generator):
        return [request(generator) for _ in range(40)]

    with (
        orders(SqlStore(shared.raw_connection, pool_timeout=0.5), tag, segment_step=100) as generator,
        ThreadPoolExecutor(4) as threads,
    ):
        done = list(itertools.chain(*threads.map(requests, [generator] * 4)))
    served = [id for id in done if id is not None]
    assert len(done) == 160
    assert len(distinct(served)) >= 100, len(served)


def test_a_transaction_that_shares_its_connection_with_the_store_loses_no_row(engine, server, tag):
    shared = engine(poolclass=sqlalchemy.pool.StaticPool)
    with pytest.raises(idgen.StoreUnsafeError, match="StaticPool"):
        SqlStore(shared.raw_connection)
    store = SqlStore(lambda: shared.raw_connection())
    with shared.begin() as connection:
        text = "INSERT INTO idgen_segment(ns, tag, max_id) VALUES('theirs', :tag, 7)"
        connection.execute(sqlalchemy.text(text), {"tag": tag})
        with pytest.raises(idgen.StoreUnsafeError, match=r"(?i)nothing was granted"):
            store.segment_advance("default", tag, 10)
    assert server.sql(f"SELECT max_id FROM idgen_segment WHERE ns = 'theirs' AND tag = '{tag}'").split() == ["7"]
    assert show(server.url(), tag) == {"max_id": 0, "grants": 0}


def test_an_async_engine_is_refused_by_name(started):
    server = started("postgres")
    asynchronous = create_async_engine(server.url().replace("postgres://", "postgresql+psycopg://"))
    for connect in (asynchronous.raw_connection, asynchronous.sync_engine.raw_connection):
        with pytest.raises(idgen.UnsupportedError, match="event loop"):
            SqlStore(connect)
    for connect in (lambda: asynchronous.raw_connection(), lambda: asynchronous.sync_engine.raw_connection()):
        with pytest.raises(idgen.UnsupportedError, match="event loop"):
            SqlStore(connect).segment_advance("default", "orders", 10)


def test_a_driver_that_does_not_tell_of_transactions_has_its_server_asked(connect, started, server, tag):
    """Like mysqlclient, and unknown drivers of PostgreSQL."""

    class Silent:
        def __init__(self, connection):
            self._of = connection

        def cursor(self):
            return self._of.cursor()

        def commit(self):
            self._of.commit()

        def rollback(self):
            raise AssertionError("it is theirs to roll back")

        def close(self):
            pass

    Silent.__module__ = type(connect()).__module__  # its paramstyle
    connection = connect()
    store = SqlStore(lambda: Silent(connection), dialect=server.name)
    if server.name == "postgres":
        with pytest.raises(idgen.UnsupportedError, match="does not tell"):
            store.segment_advance("default", tag, 10)
        return
    assert store.segment_advance("default", tag, 10).max_id == 10
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO idgen_segment(ns, tag, max_id) VALUES('theirs', %s, 7)", (tag,))
    with pytest.raises(idgen.StoreUnsafeError, match="inside a transaction"):
        store.segment_advance("default", tag, 10)
    connection.commit()
    assert show(server.url(), tag) == {"max_id": 10, "grants": 1}
    assert store.segment_show("theirs", tag).max_id == 7
    connection.close()


def test_a_grant_of_postgresql_is_durable_whatever_the_session_says(started):
    server = started("postgres")
    tag = create(server.url(), new_tag())
    seen = []
    store = SqlStore(lambda: Asking(connect_to(server, options="-c synchronous_commit=off"), seen))
    with orders(store, tag, segment_prefetch=1) as generator:
        generator.next_batch(15)
    assert seen == ["on"] * 3, "two grants, and what is given back"


def test_a_failed_commit_is_an_error_and_what_it_granted_is_not_granted_again(connect, server, tag):
    class Lost(Watched):
        def commit(self):
            self.driver_connection.commit()
            raise ConnectionResetError("the answer was lost")

    store = SqlStore(lambda: Lost(connect(autocommit=False), []))
    with pytest.raises(idgen.StoreUnavailableError, match="the answer was lost"):
        store.segment_advance("default", tag, 10)
    assert SqlStore(connect).segment_advance("default", tag, 10).max_id == 11


def test_a_locked_row_is_waited_for_and_its_connection_goes_back_after_a_timeout(connect, server, tag):
    log = []
    limit = "SET SESSION innodb_lock_wait_timeout = 1" if server.name == "mysql" else "SET lock_timeout = '1s'"

    def limited():
        connection = connect(autocommit=True)
        with connection.cursor() as cursor:
            cursor.execute(limit)
        return Watched(connection, log)

    holder = connect(autocommit=False)
    with holder.cursor() as cursor:
        cursor.execute("SELECT max_id FROM idgen_segment WHERE tag = %s FOR UPDATE", (tag,))
    with pytest.raises(idgen.StoreUnavailableError, match=r"(?i)lock"):
        SqlStore(limited).segment_advance("default", tag, 10)
    assert log.count("close") == 1, "it was tried once"
    assert log[-1] == "close"
    holder.rollback()
    assert SqlStore(limited).segment_advance("default", tag, 10).max_id == 10
    holder.close()
