"""mysql:// and postgres:// in Python where their modules are absent: over each driver that a program may have."""

import json
import ssl
import subprocess
import sys

import idgen
import pytest
import trustme
from clients import checked, distinct, new_tag
from patience import patience, wait_until
from test_faults import PATIENT
from test_password import SECRET, Impostor
from test_tls import certificates as certificates, started as started_with

import servers

DRIVERS = {
    "mysqlclient": ("mysql", "MySQLdb"),
    "PyMySQL": ("mysql", "pymysql"),
    "mariadb": ("mysql", "mariadb"),
    "mysql-connector-python": ("mysql", "mysql.connector"),
    "psycopg": ("postgres", "psycopg"),
    "psycopg2": ("postgres", "psycopg2"),
    "pg8000": ("postgres", "pg8000.dbapi"),
}

SECOND = {"wait_max": f"{patience(1):.0f}s"}  # for calls that must fail, after all of it

# A program that has only the given drivers, and draws as it is asked: "here N" or "forked N", ids of each kind.
PROGRAM = """
import json, os, sys
url, tag, given, every, folder, options = sys.argv[1:]
ours, modules = json.loads(options), every.split()
for name in modules:
    if name not in given.split():
        sys.modules[name] = None
import idgen
common = {"store": url, "namespace": tag, "module_path": folder, "store_create": True, **ours}
try:
    orders = idgen.Generator(kind="segment", tag="orders", segment_step=10, segment_prefetch=1, segment_runway=0,
                             **common)
    events = idgen.Generator(kind="snowflake", worker="auto", **common)
except idgen.Error as error:
    print("!" + error.name, error, flush=True)
    sys.exit(0)
loaded = [name for name in modules if sys.modules.get(name)]
print(json.dumps([loaded, orders.describe()]), flush=True)
def draw(count):
    try:
        return [[orders.next() for _ in range(count)], [events.next() for _ in range(count)]]
    except idgen.Error as error:
        return "!" + error.name + " " + str(error)
for line in sys.stdin:
    how, count = line.split()
    if how == "here":
        print(json.dumps(draw(int(count))), flush=True)
    elif os.fork() == 0:
        print(json.dumps(draw(int(count))), flush=True)
        sys.exit(0)
    else:
        assert os.waitstatus_to_exitcode(os.wait()[1]) == 0
"""


class Program:
    def __init__(self, url, tag, drivers, folder, **options):
        given, every = (" ".join(DRIVERS[driver][1] for driver in names) for names in (drivers.split(), DRIVERS))
        words = [sys.executable, "-c", PROGRAM, url, tag, given, every, folder, json.dumps({**PATIENT, **options})]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen(words, text=True, **pipes)
        self.first = self.process.stdout.readline().strip()

    def refusal(self):
        assert self.first.startswith("!"), self.first
        assert SECRET not in self.first
        assert len(self.first.encode()) < 495, "cut off"
        return self.first[1:]

    def draw(self, count, how="here"):
        assert self.first.startswith("["), self.first
        self.process.stdin.write(f"{how} {count}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, self.process.wait(patience(60))
        return json.loads(answer)

    def ids(self, count, how="here"):
        drawn = self.draw(count, how)
        assert len(drawn) == 2, drawn
        return drawn

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        try:
            self.process.wait(patience(60))
        finally:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()
        assert checked(self.process).returncode == 0


@pytest.fixture(params=DRIVERS)
def driver(request):
    return request.param


@pytest.fixture
def server(driver, started):
    return started(DRIVERS[driver][0])


def test_segments_and_a_leased_worker_come_over_the_driver_that_the_program_has(server, driver, tmp_path):
    tag = new_tag()
    with Program(server.url(), tag, driver, tmp_path) as program:
        loaded, described = json.loads(program.first)
        assert loaded == [DRIVERS[driver][1]]
        assert "over a driver of the program" in described
        orders, events = program.ids(25)
        assert orders == list(range(1, 26))
        distinct(events)


def test_the_drivers_and_the_module_draw_from_one_tag_and_no_id_twice(server, driver, tmp_path):
    tag = new_tag()
    native = {"namespace": tag, "store_create": True, **PATIENT}
    with (
        Program(server.url(), tag, driver, tmp_path) as program,
        idgen.Generator(kind="segment", tag="orders", store=server.url(), segment_step=10, **native) as orders,
        idgen.Generator(worker="auto", store=server.url(), **native) as events,
    ):
        numbers, times = [], []
        for _ in range(5):
            theirs = program.ids(30)
            numbers += theirs[0] + [orders.next() for _ in range(30)]
            times += theirs[1] + [events.next() for _ in range(30)]
    assert len(distinct(numbers)) == len(distinct(times)) == 300


def test_a_server_that_has_restarted_is_connected_to_again(server, driver, tmp_path):
    with Program(server.url(), new_tag(), driver, tmp_path) as program:
        orders, events = program.ids(10)
        server.restart()
        more = wait_until(lambda: [drawn for drawn in [program.draw(30)] if len(drawn) == 2])
        distinct([*orders, *more[0][0]])
        distinct([*events, *more[0][1]])


def test_a_forked_child_draws_on_over_connections_of_its_own_and_leaves_its_parents(server, driver, tmp_path):
    numbers, times = [], []
    with Program(server.url(), new_tag(), driver, tmp_path) as program:
        for how in ("here", "forked", "here", "forked", "forked", "here"):
            orders, events = program.ids(25, how)
            numbers += orders
            times += events
    assert len(distinct(numbers)) == len(distinct(times)) == 150


@pytest.mark.parametrize(
    ("old", "new", "status"),
    [("s3cr3t%2F%25", SECRET, "STORE_PERMISSION"), ("/ids", "/elsewhere", "STORE_MISSING")],
    ids=["password", "database"],
)
def test_a_url_that_is_wrong_fails_as_it_does_with_the_module(server, driver, old, new, status, tmp_path):
    if server.name == "mysql":
        server.sql("GRANT ALL ON elsewhere.* TO app")
    url = server.url().replace(old, new)
    with pytest.raises(idgen.Error) as native:
        idgen.Generator(kind="segment", tag="orders", store=url, store_create=True)
    with Program(url, new_tag(), driver, tmp_path) as program:
        assert program.refusal().split()[0] == native.value.name == status


def test_a_server_that_is_down_is_unavailable(server, driver, tmp_path):
    url = server.url(servers.free_port())
    with Program(url, new_tag(), driver, tmp_path, **SECOND) as program:
        assert program.refusal().startswith("STORE_UNAVAILABLE"), program.first


def test_a_password_that_is_changed_in_its_file_is_used_for_the_next_connection(server, driver, tmp_path):
    user, file = "u" + new_tag(), tmp_path / "password"
    make, change = {
        "mysql": (
            "CREATE USER {0} IDENTIFIED BY '{1}'; GRANT ALL ON ids.* TO {0}",
            "ALTER USER {0} IDENTIFIED BY '{1}'",
        ),
        "postgres": ("CREATE ROLE {0} LOGIN PASSWORD '{1}'; GRANT app TO {0}", "ALTER ROLE {0} PASSWORD '{1}'"),
    }[server.name]
    if server.name == "postgres":
        rules = server.data / "pg_hba.conf"
        rules.write_text(rules.read_text() + f"host all {user} 127.0.0.1/32 scram-sha-256\n")
        server.sql("SELECT pg_reload_conf()")
    server.sql(make.format(user, "first"))
    file.write_text("first\n")
    url = server.url(user=user).replace(":s3cr3t%2F%25", "")
    url += ("&" if "?" in url else "?") + f"password_file={file}"
    tag = new_tag()
    idgen.store_create(store=server.url())
    idgen.segment_create(store=server.url(), namespace=tag, tag="orders")
    with Program(url, tag, driver, tmp_path, store_create=False) as program:
        before = program.ids(5)[0]
        server.sql(change.format(user, "second"))
        file.write_text("second\n")
        server.restart()
        after = wait_until(lambda: [drawn for drawn in [program.draw(20)] if len(drawn) == 2])[0]
        distinct([*before, *after[0]])


def test_a_unix_socket_is_used_where_the_url_names_one(server, driver, tmp_path):
    if server.name == "mysql":
        url = server.url(socket=server.socket)
    else:
        rules = server.data / "pg_hba.conf"
        rules.write_text(rules.read_text() + "local all app scram-sha-256\n")
        server.sql("SELECT pg_reload_conf()")
        url = f"postgres://app:s3cr3t%2F%25@/ids?host={server.folder}&port={server.port}"
        named = server.url(socket=server.folder / f".s.PGSQL.{server.port}")
        with Program(named, new_tag(), driver, tmp_path) as program:
            program.ids(5)
    with Program(url, new_tag(), driver, tmp_path) as program:
        program.ids(5)
    with Program(f"{url}&tls=require", new_tag(), driver, tmp_path) as program:
        assert "tls=require over a Unix socket" in program.refusal()


@pytest.mark.parametrize(
    ("kind", "drivers", "used"),
    [
        ("mysql", "mysql-connector-python mariadb mysqlclient PyMySQL", "pymysql"),
        ("mysql", "mysql-connector-python mariadb mysqlclient", "MySQLdb"),
        ("postgres", "pg8000 psycopg2 psycopg", "psycopg"),
    ],
)
def test_of_several_drivers_the_first_in_the_order_of_the_manual_is_used(started, kind, drivers, used, tmp_path):
    with Program(started(kind).url(), new_tag(), drivers, tmp_path) as program:
        assert json.loads(program.first)[0] == [used]


@pytest.mark.parametrize(("kind", "package"), [("mysql", "PyMySQL"), ("postgres", "psycopg")])
def test_a_program_without_a_driver_is_told_which_one_would_do(started, kind, package, tmp_path):
    with Program(started(kind).url(), new_tag(), "", tmp_path) as program:
        said = program.refusal()
        assert said.startswith("UNSUPPORTED")
        assert f"libidgen_{kind}.so" in said
        assert f"pip install {package}" in said


def test_what_the_url_says_to_the_module_alone_is_refused_by_name(server, driver, tmp_path):
    url = server.url()
    url += ("&" if "?" in url else "?") + {"mysql": "auth=sha256_password", "postgres": "channel_binding=require"}[
        server.name
    ]
    with Program(url, new_tag(), driver, tmp_path) as program:
        assert ("parameter auth" if server.name == "mysql" else "parameter channel_binding") in program.refusal()


def test_a_server_that_hangs_is_given_up_and_used_again_when_it_answers(server, driver, tmp_path):
    with Program(server.url(), new_tag(), driver, tmp_path, **SECOND, store_timeout=SECOND["wait_max"]) as program:
        wait_until(lambda: len(program.draw(5)) == 2)
        server.pause()
        try:
            wait_until(lambda: str(program.draw(30)).startswith("!STORE_UNAVAILABLE"))
        finally:
            server.go_on()
        wait_until(lambda: len(program.draw(30)) == 2)


def test_a_program_ends_while_its_connections_are_open_and_its_server_hangs(server, driver, tmp_path):
    with Program(server.url(), new_tag(), driver, tmp_path, **SECOND) as program:
        program.ids(5)
        server.pause()
        try:
            wait_until(lambda: str(program.draw(30)).startswith("!"))
            program.process.stdin.close()
            assert program.process.wait() == 0
        finally:
            server.go_on()


@pytest.mark.parametrize("plugin", [b"mysql_clear_password", b"dialog"])
@pytest.mark.parametrize("has_tls", [False, True], ids=["plain", "TLS"])
@pytest.mark.parametrize("driver", ["PyMySQL", "mysqlclient", "mariadb", "mysql-connector-python"])
def test_a_server_that_asks_for_the_password_as_clear_text_is_not_shown_it(driver, has_tls, plugin, tmp_path):
    if has_tls and driver == "mysql-connector-python":
        pytest.skip("through TLS it shows it, as docs/stores.md says")
    context = None
    if has_tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        trustme.CA().issue_cert(servers.HOST).configure_cert(context)
    with Impostor(plugin, context) as server, Program(server.url, new_tag(), driver, tmp_path) as program:
        assert program.refusal().startswith("STORE_PERMISSION"), program.first
        assert server.has_asked
        assert SECRET.encode() not in server.heard


def test_a_program_ends_although_a_statement_has_no_answer_yet(server, driver, tmp_path):
    tag = new_tag()
    program = """
import sys, threading
url, tag, given, every, folder = sys.argv[1:]
for name in every.split():
    if name != given:
        sys.modules[name] = None
import idgen
orders = idgen.Generator(kind="segment", tag="orders", segment_step=10, store=url, namespace=tag, module_path=folder,
                         store_create=True, store_timeout="10m", wait_max="1h")
print(orders.next(), flush=True)
sys.stdin.readline()
def draw():
    while True:
        orders.next()
threading.Thread(target=draw, daemon=True).start()
sys.stdin.readline()
"""
    every = " ".join(module for _, module in DRIVERS.values())
    words = [sys.executable, "-c", program, server.url(), tag, DRIVERS[driver][1], every, tmp_path]
    with subprocess.Popen(words, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == "1\n"
        server.pause()
        try:
            process.stdin.write("\n\n")
            process.stdin.flush()
            process.wait()
        finally:
            server.go_on()
            process.kill()
    assert checked(process).returncode == 0


# ---- TLS

MODES = ["prefer", "require", "verify-ca", "verify"]
CANNOT = {
    ("mysqlclient", "verify-ca"),  # over libmariadb, with which it is built here
    ("mariadb", "verify-ca"),
    ("mysql-connector-python", "require"),
}


@pytest.fixture(scope="module")
def tls_server(certificates):
    """tls_server(kind, certificate): one that takes no plain connections."""
    running = {}

    def start(kind, certificate="right"):
        if (kind, certificate) not in running:
            running[kind, certificate] = started_with(kind, certificates, getattr(certificates, certificate))
        return running[kind, certificate]

    yield start
    for server in running.values():
        server.close()


def cannot(driver, tls, program):
    """Whether it is one of those that refuse: then they do."""
    if (driver, tls) not in CANNOT:
        return False
    said = program.refusal()
    assert said.startswith("UNSUPPORTED"), said
    assert f"{driver} " in said
    assert f"tls={tls}" in said
    return True


@pytest.mark.parametrize("tls", MODES)
def test_tls_is_as_the_url_says(driver, tls, tls_server, certificates, tmp_path):
    kind = DRIVERS[driver][0]
    ca = {"tls_ca": certificates.ca} if tls.startswith("verify") else {}
    url = tls_server(kind).url(tls=tls, **ca)
    with Program(url, new_tag(), driver, tmp_path) as program:
        if not cannot(driver, tls, program):
            program.ids(15)


@pytest.mark.parametrize("tls", ["verify-ca", "verify"])
def test_a_certificate_of_another_authority_is_refused(driver, tls, tls_server, certificates, tmp_path):
    url = tls_server(DRIVERS[driver][0]).url(tls=tls, tls_ca=certificates.wrong_ca)
    with Program(url, new_tag(), driver, tmp_path) as program:
        if not cannot(driver, tls, program):
            assert program.refusal().startswith("STORE_PERMISSION"), program.first
            assert "certificate" in program.refusal().lower()


@pytest.mark.parametrize("tls", ["verify-ca", "verify"])
def test_a_certificate_for_another_name_is_refused_if_the_name_is_to_be_verified(
    driver, tls, tls_server, certificates, tmp_path
):
    url = tls_server(DRIVERS[driver][0], "of_another_name").url(tls=tls, tls_ca=certificates.ca)
    with Program(url, new_tag(), driver, tmp_path) as program:
        if cannot(driver, tls, program):
            return
        if tls == "verify":
            assert program.refusal().startswith("STORE_PERMISSION"), program.first
        else:
            program.ids(5)


@pytest.mark.parametrize("tls", MODES)
def test_a_server_without_tls_is_only_reached_if_the_url_does_not_require_it(
    server, driver, tls, certificates, tmp_path
):
    ca = {"tls_ca": certificates.ca} if tls.startswith("verify") else {}
    with Program(server.url(tls=tls, **ca), new_tag(), driver, tmp_path) as program:
        if tls == "prefer":
            program.ids(5)
        elif not cannot(driver, tls, program):
            assert program.refusal().split()[0] in ("STORE_UNSAFE", "STORE_PERMISSION"), program.first
