"""Everyday events with stores over a network, on real servers: idle connections, locked rows, missing permissions,
forks."""

import contextlib
import os
import signal
import socket
import subprocess
import threading

import idgen
import pytest
from clients import MODULES, Asked, create, draw, new_tag, patience, segment, show, wait_until

import servers

SQL = ["mysql", "postgres"]


@pytest.fixture(params=SQL)
def database(request, started):
    return started(request.param)


@pytest.fixture
def tag(database):
    return create(database.url(), new_tag())


def generator(server, tag, port=None, **more):
    settled = {
        "segment.step": 10_000,
        "segment.runway": "0",
        "segment.prefetch": 1,
        "module.path": str(MODULES),
    }
    return idgen.Generator(kind="segment", store=server.url(port), tag=tag, **settled, **more)


def connections(server):
    """How many idgen has open."""
    if server.name == "mysql":
        return int(server.sql("SELECT count(*) FROM information_schema.processlist WHERE user = 'app'"))
    return int(server.sql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'idgen'"))


def cut(server):
    """From the server's side, as an idle timeout or an administrator does."""
    server.kill_sessions()
    wait_until(lambda: connections(server) == 0)


def test_a_connection_that_was_cut_while_idle_costs_no_number_and_no_error(database, tag):
    with generator(database, tag) as ids:
        assert ids.next() == 1
        cut(database)
    assert show(database.url(), tag)["max_id"] == 1, "the tail was given back"
    with Asked(database.url(), tag, step=10, prefetch=1) as client:
        for n in range(3):
            assert client.ids(10) == list(range(10 * n + 2, 10 * n + 12))
            cut(database)
    assert show(database.url(), tag)["grants"] == 4


def test_a_connection_that_the_server_ends_after_idle_seconds_is_opened_again(database, tag):
    idle = {
        "mysql": ("SET GLOBAL wait_timeout = 1", "SET GLOBAL wait_timeout = 28800"),
        "postgres": (
            "ALTER ROLE app SET idle_session_timeout = '300ms'",
            "ALTER ROLE app RESET idle_session_timeout",
        ),
    }[database.name]
    database.sql(idle[0])
    try:
        with generator(database, tag) as ids:
            assert ids.next() == 1
            wait_until(
                lambda: connections(database) == 0,
                what="the server ends the connection",
            )
    finally:
        database.sql(idle[1])
    assert show(database.url(), tag)["max_id"] == 1


class Lock:
    """Holds a tag's row, or the whole table, in a transaction of somebody else's."""

    def __init__(self, server, tag, whole_table):
        if server.name == "mysql":
            take = "LOCK TABLES idgen_segment WRITE" if whole_table else "BEGIN"
            base = [
                "mariadb",
                "--no-defaults",
                f"--socket={server.socket}",
                "--user=root",
                "--unbuffered",
                "ids",
            ]
        else:
            take = "BEGIN; LOCK TABLE idgen_segment" if whole_table else "BEGIN"
            base = [
                "psql",
                "-qX",
                "-h",
                server.folder,
                "-p",
                str(server.port),
                "-U",
                "root",
                "-d",
                "ids",
            ]
        self.process = subprocess.Popen(base, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.say(f"{take}; SELECT 'locked', max_id FROM idgen_segment WHERE tag = '{tag}' FOR UPDATE;")
        while "locked" not in self.process.stdout.readline():
            assert self.process.poll() is None

    def say(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()  # what was not committed is rolled back
        self.process.wait()
        self.process.stdout.close()


def waiting_statements(server):
    if server.name == "mysql":
        found = "information_schema.processlist WHERE user = 'app' AND info LIKE 'UPDATE%'"
    else:
        found = "pg_stat_activity WHERE application_name = 'idgen' AND state = 'active'"
    return int(server.sql(f"SELECT count(*) FROM {found}"))


@pytest.mark.parametrize("whole_table", [False, True], ids=["row", "table"])
def test_a_statement_that_waited_too_long_for_a_lock_is_given_up_by_the_server(database, tag, whole_table):
    before = show(database.url(), tag)
    with Lock(database, tag, whole_table):
        for _ in range(3):
            done = draw(database.url(), tag, step=1000, store_timeout="1s", wait_max="1s")
            assert done.stderr.startswith("idgen: error: STORE_UNAVAILABLE")
            assert waiting_statements(database) == 0, "none is left to be done when the lock is free"
    assert show(database.url(), tag) == before
    assert draw(database.url(), tag).stdout == "1\n"


FUTILE = {
    "mysql": (
        "CREATE TRIGGER futile BEFORE UPDATE ON idgen_segment FOR EACH ROW SET NEW.max_id = OLD.max_id, "
        "NEW.grants = OLD.grants, NEW.updated_unix_ms = OLD.updated_unix_ms, NEW.step = OLD.step, "
        "NEW.rate = OLD.rate, NEW.holder = OLD.holder",
        "DROP TRIGGER futile",
    ),
    "postgres": (
        "CREATE FUNCTION futile() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';"
        "CREATE TRIGGER futile BEFORE UPDATE ON idgen_segment FOR EACH ROW EXECUTE FUNCTION futile()",
        "DROP FUNCTION futile CASCADE",
    ),
    "row-level security": (
        "ALTER TABLE idgen_segment ENABLE ROW LEVEL SECURITY; ALTER TABLE idgen_segment FORCE ROW LEVEL SECURITY;"
        "CREATE POLICY futile ON idgen_segment FOR SELECT USING (true)",
        "DROP POLICY futile ON idgen_segment; ALTER TABLE idgen_segment NO FORCE ROW LEVEL SECURITY;"
        "ALTER TABLE idgen_segment DISABLE ROW LEVEL SECURITY",
    ),
}


@pytest.mark.parametrize("what", FUTILE)
def test_a_row_that_update_silently_leaves_as_it_is_is_an_error_and_no_endless_loop(what, started):
    server = started("mysql" if what == "mysql" else "postgres")
    tag = create(server.url(), new_tag())
    make, undo = FUTILE[what]
    server.sql(make)
    try:
        for url in [server.url(), server.url(statements="transaction")] if what == "mysql" else [server.url()]:
            for done in (
                draw(url, tag, wait_max="1s", store_timeout="1s"),
                segment(url, tag, "advance", "--to", "5000"),
                segment(url, tag, "set-step", "--step", "7"),
            ):
                assert done.stderr.startswith("idgen: error: STORE_PERMISSION"), done
                assert "row-level security, a trigger or a rule" in done.stderr
    finally:
        server.sql(undo)
    assert show(server.url(), tag)["max_id"] == 0
    assert draw(server.url(), tag).stdout == "1\n"


@contextlib.contextmanager
def while_connecting(kind, tag):
    """A thread of this process is connecting to a server that accepts the connection and never says anything; yields
    the server's end."""

    def connect():
        store = f"{kind}://app:x@{servers.HOST}:{listener.getsockname()[1]}/0"
        with contextlib.suppress(idgen.Error):
            idgen.Generator(kind="segment", tag=tag, store=store, store_timeout=f"{patience(6):.0f}s", wait_max="1ms")

    with socket.create_server((servers.HOST, 0)) as listener:
        connecting = threading.Thread(target=connect)
        connecting.start()
        with listener.accept()[0] as server_end:
            yield server_end
            assert connecting.is_alive(), "it was connecting all the time"
        listener.close()
        connecting.join()


@pytest.mark.parametrize("kind", servers.KINDS)
def test_a_fork_does_not_wait_for_a_connection_that_is_being_made(kind):
    with while_connecting(kind, "orders") as server_end:
        child = os.fork()
        if child == 0:
            os._exit(0)
        server_end.setblocking(False)
        with contextlib.suppress(BlockingIOError):  # there is nothing to read, and it may still come
            while server_end.recv(1000):
                pass
            pytest.fail("the parent has hung up: fork() waited until it did")
        os.waitpid(child, 0)


@pytest.mark.parametrize("kind", servers.KINDS)
def test_a_child_that_was_forked_while_its_parent_was_connecting_draws(kind, started):
    server = started(kind)
    tag = create(server.url(), new_tag())
    here, there = os.pipe()
    with while_connecting(kind, tag):
        child = os.fork()
        if child == 0:
            signal.alarm(int(patience(60)))
            try:
                with idgen.Generator(kind="segment", tag=tag, store=server.url(), segment_step=10) as ids:
                    os.write(there, b"".join(b"%d " % ids.next() for _ in range(25)))
            finally:
                os._exit(0)
    os.close(there)
    with os.fdopen(here) as report:
        assert report.read().split() == [str(number) for number in range(1, 26)]
    os.waitpid(child, 0)


def pairs_of_libcurl(folder):
    """Sockets that lead to each other and to no server: libcurl wakes itself up with a pair of them."""
    with open(f"{folder}/net/unix") as table:
        return {f"socket:[{row[6]}]" for row in map(str.split, table) if len(row) == 7}


@pytest.mark.parametrize("kind", servers.KINDS)
def test_a_program_that_is_started_inherits_no_connection(kind, started):
    server = started(kind)
    tag = create(server.url(), new_tag())
    with Asked(server.url(), tag, step=10, prefetch=1) as client:
        client.ids(5)
        inherited = []
        folder = f"/proc/{client.process.pid}"
        for number in os.listdir(f"{folder}/fd"):
            if int(number) < 3:
                continue
            with open(f"{folder}/fdinfo/{number}") as info:
                flags = int(
                    next(line for line in info if line.startswith("flags:")).split()[1],
                    8,
                )
            what = os.readlink(f"{folder}/fd/{number}")
            if what.startswith("socket:") and not flags & os.O_CLOEXEC and what not in pairs_of_libcurl(folder):
                inherited.append(what)
    assert not inherited
