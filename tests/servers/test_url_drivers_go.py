"""mysql:// and postgres:// in Go where their modules are not: over the drivers that the program imports."""

import contextlib
import functools
import itertools
import os
import subprocess
from urllib.parse import quote as percent

import pytest
from clients import Asked, ascending, create, distinct, draw, new_tag, settings, show
from hosts import BUILD, HERE, build
from patience import patience, wait_until
from test_poolers import PgBouncer
from test_tls import certificates, started as started_with  # noqa: F401, the first is a fixture

import servers

# What a program imports, and the kind of server that it is for.
DRIVERS = {"go-sql-driver": "mysql", "idgen-mysql": "mysql", "pgx": "postgres", "pq": "postgres"}
TAGS = {
    "go-sql-driver": "with_mysql",
    "idgen-mysql": "with_idgen_mysql",  # go/mysql
    "pgx": "with_pgx",  # go/pgx
    "pq": "with_pq",
}
PATIENT = {"wait_max": "60s", "store_timeout": f"{patience(20):.0f}s"}
SHORT = {"wait_max": "1s", "store_timeout": f"{patience(1):.0f}s"}
SECRET = "hunter2-hidden"
LAYOUT = "time:41ms worker:10 sequence:1"


@functools.cache
def program(*drivers):
    made = BUILD / "tests" / "-".join(["url-drivers-go", *drivers])
    tags = " ".join(["idgen_system", "libsqlite3", *(TAGS[driver] for driver in drivers)])
    words = ("go", "build", "-race", "-tags", tags, "-o", made, ".")
    return build(made, [], *words, folder=HERE / "url_drivers_go")  # Go knows its sources


def words(drivers, properties):
    """A program with these drivers, which finds no module."""
    nowhere = {"module.path": BUILD / "tests" / "no-modules"}
    return [program(*drivers), *settings(properties, **nowhere)]


class Own(Asked):
    """Draws over the drivers of its program."""

    def __init__(self, drivers, url, tag="", environment=None, **properties):
        self.environment = environment
        properties = {"kind": "segment", "store": url, "tag": tag, **PATIENT, **properties}
        self.program = words(drivers, {key: value for key, value in properties.items() if value != ""})
        self.start()
        self.drawn = []

    def start(self):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen(self.program, text=True, env=self.environment, **pipes)

    def describe(self):
        self.process.stdin.write("describe\n")
        self.process.stdin.flush()
        return self.process.stdout.readline()


def told(drivers, url, **properties):
    """What a program says that cannot open, as STATUS and message."""
    properties = {"kind": "segment", "tag": "any", "store": url, **SHORT, **properties}
    environment = properties.pop("environment", None)
    done = subprocess.run(
        words(drivers, properties),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=patience(60),
        env=environment,
    )
    assert done.returncode in (1, 75), done
    assert done.stdout.startswith("!"), done
    status, _, message = done.stdout[1:].strip().partition(" ")
    assert len(message.encode()) < 495, "cut off"
    for secret in (SECRET, servers.PASSWORD, "s3cr3t"):
        assert secret not in message
    return status, message


def allow(postgres, rule):
    rules = postgres.data / "pg_hba.conf"
    rules.write_text(f"{rules.read_text()}{rule}\n")
    postgres.sql("SELECT pg_reload_conf()")


@pytest.fixture(params=DRIVERS)
def driver(request):
    return request.param


@pytest.fixture
def server(driver, started):
    return started(DRIVERS[driver])


@pytest.fixture
def tag(server):
    return create(server.url(), new_tag())


def test_segments_are_drawn_without_a_module(driver, server, tag):
    with Own([driver], server.url(), tag, step=10, prefetch=1) as client:
        assert client.ids(35) == list(range(1, 36))
        assert "over a driver of the program" in client.describe()
    assert show(server.url(), tag)["max_id"] == 35


def test_native_modules_and_drivers_draw_all_numbers_of_a_tag_and_each_of_them_once(driver, server, tag):
    step, grants = 20, 60
    options = {"step": step, "prefetch": 1, "wait_max": "60s"}
    with contextlib.ExitStack() as stack:
        drawing = [stack.enter_context(Asked(server.url(), tag, **options)) for _ in range(2)]
        drawing += [stack.enter_context(Own([driver], server.url(), tag, **options)) for _ in range(2)]
        for asked in drawing:
            asked.ask(step * grants)
        drawn = list(itertools.chain.from_iterable(ascending(asked.answer()[0]) for asked in drawing))
    assert sorted(distinct(drawn)) == list(range(1, len(drawing) * grants * step + 1))


def test_snowflakes_lease_their_worker_over_a_driver_and_no_other_has_it(driver, server):
    namespace = new_tag()
    options = {"kind": "snowflake", "worker": "auto", "namespace": namespace, "layout": LAYOUT, "store_create": "true"}
    with Own([driver], server.url(), **options) as first, Own([driver], server.url(), **options) as second:
        distinct(first.ids(50) + second.ids(50))
    rows = server.sql(f"SELECT worker FROM idgen_worker WHERE ns = '{namespace}'").split()
    assert len(rows) == 2


def test_a_server_that_was_started_again_between_two_grants_is_asked_again(driver, server, tag):
    with Own([driver], server.url(), tag, step=10, prefetch=1) as client:
        before = client.ids(10)
        server.restart()
        assert ascending(before + client.ids(20))


def test_sessions_that_are_killed_make_no_duplicate(driver, server, tag):
    with Own([driver], server.url(), tag, step=5) as client:
        for _ in range(5):
            server.kill_sessions()
            ascending(client.ids(200))
    ascending(client.drawn)


def test_a_server_that_says_nothing_is_unavailable_and_comes_back(driver, server, tag):
    with Own([driver], server.url(), tag, step=10, **{**SHORT, "store_timeout": "1s"}) as client:
        client.first_ids(3)
        server.pause()
        try:
            failure = wait_until(lambda: client.draw(10)[1])
            assert failure.startswith("STORE_UNAVAILABLE"), failure
        finally:
            server.go_on()
        wait_until(lambda: len(client.draw(10)[0]) == 10)


def test_what_fails_has_the_status_that_the_module_gives(driver, server, tag):
    kind = DRIVERS[driver]
    away = f"{kind}://app:{SECRET}@{servers.HOST}:1/ids"
    nowhere = server.url().replace("/ids", "/nowhere")
    for url, status in (
        (server.url(password=SECRET), "STORE_PERMISSION"),
        (nowhere, "STORE_PERMISSION" if kind == "mysql" else "STORE_MISSING"),
        (away, "STORE_UNAVAILABLE"),
    ):
        assert told([driver], url)[0] == status
        assert f"{status}: " in draw(url, tag, **SHORT).stderr, "as the module says"
    assert told([driver], server.url(), tag=tag + "-unknown")[0] == "TAG_UNKNOWN"


def test_a_password_that_is_replaced_in_its_file_is_used_for_the_next_connection(driver, server, tag, tmp_path):
    file = tmp_path / "password"
    file.write_text(servers.PASSWORD + "\n")
    user = "rotated_" + new_tag()
    secrets = [servers.PASSWORD, "other ):@/?#&='\\\" %41é"]
    if server.name == "mysql":
        server.sql(f"CREATE USER {user} IDENTIFIED BY '{secrets[0]}'; GRANT ALL ON ids.* TO {user}")
        quoted = secrets[1].replace("\\", "\\\\").replace("'", "\\'")
        change = f"ALTER USER {user} IDENTIFIED BY '{quoted}'"
    else:
        server.sql(f"CREATE ROLE {user} LOGIN PASSWORD '{secrets[0]}' IN ROLE app")
        allow(server, f"host all {user} 127.0.0.1/32 scram-sha-256")
        quoted = secrets[1].replace("'", "''")
        change = f"ALTER ROLE {user} PASSWORD '{quoted}'"
    url = f"{server.name}://{user}@{servers.HOST}:{server.port}/ids?password_file={file}"
    with Own([driver], url, tag, step=5, prefetch=1) as client:
        client.first_ids(5)
        server.sql(change)
        file.write_text(secrets[1])
        server.restart()
        client.ids(20)


def test_a_socket_is_used_where_the_url_names_one(driver, server, tag):
    socket = server.socket if server.name == "mysql" else server.folder / f".s.PGSQL.{server.port}"
    if server.name == "postgres":
        allow(server, "local all app scram-sha-256")
    url = server.url(port=1, socket=socket)
    with Own([driver], url, tag, step=10) as client:
        assert client.ids(20) == list(range(1, 21))
    if server.name == "postgres":
        status, message = told([driver], server.url(port=1, socket="/tmp/named"))
        assert (status, ".s.PGSQL.PORT" in message) == ("UNSUPPORTED", True)


def test_without_a_driver_the_message_names_the_import(started):
    for kind, path in (("mysql", "go/mysql"), ("postgres", "go/pgx")):
        status, message = told([], started(kind).url())
        assert status == "UNSUPPORTED"
        assert f"libidgen_{kind}.so is not in" in message
        assert f'import _ "github.com/idgen/idgen/{path}"' in message


def test_users_and_databases_with_any_character_in_their_names_are_found(driver, server):
    colon = "" if driver == "go-sql-driver" else ":"
    name, secret = f"odd{colon} @/?#&='%41)é" + new_tag(), "p:a@s(s)/w?o%72d"
    quote = "`" if server.name == "mysql" else '"'
    server.make_database(f"{quote}{name}{quote}")
    if server.name == "mysql":
        account = "'" + name.replace("'", "''") + "'"
        server.sql(f"CREATE USER {account} IDENTIFIED BY '{secret}'; GRANT ALL ON {quote}{name}{quote}.* TO {account}")
    else:
        server.sql(f"CREATE ROLE {quote}{name}{quote} LOGIN PASSWORD '{secret}' IN ROLE app")
        allow(server, "host all all 127.0.0.1/32 scram-sha-256")
    user, password = (percent(text, safe="") for text in (name, secret))
    url = f"{server.name}://{user}:{password}@{servers.HOST}:{server.port}/{user}"
    tag = new_tag()
    with Own([driver], url, tag, store_create="true") as client:
        assert client.first_ids(3) == [1, 2, 3]


def test_a_user_that_the_driver_cannot_name_is_refused():
    status, message = told(["go-sql-driver"], f"mysql://a%3Ab:{SECRET}@{servers.HOST}:1/ids")
    assert status == "UNSUPPORTED"
    assert "go-sql-driver/mysql alone cannot log in a user with a colon in its name" in message
    assert message.endswith('import _ "github.com/idgen/idgen/go/mysql"')


@pytest.fixture(scope="module")
def tls_servers(certificates):  # noqa: F811
    """tls_servers(driver, certificate): one that takes no plain connections."""
    running = {}
    with contextlib.ExitStack() as stack:

        def start(driver, certificate="right"):
            key = DRIVERS[driver], certificate
            if key not in running:
                running[key] = stack.enter_context(
                    started_with(key[0], certificates, getattr(certificates, certificate))
                )
            return running[key]

        yield start


def trusting(file):
    """The environment of a program for which that file has the system's authorities."""
    return {**os.environ, "SSL_CERT_FILE": str(file), "SSL_CERT_DIR": "/nonexistent"}


CAN_NAME_AN_AUTHORITY = ["idgen-mysql", "pgx", "pq"]


@pytest.mark.parametrize("tls", [{}, {"tls": "prefer"}, {"tls": "require"}])
def test_tls_is_used_where_it_is_required_or_the_server_has_it(driver, tls_servers, tls):
    server = tls_servers(driver)
    tag = create(server.url(tls="require"), new_tag())
    with Own([driver], server.url(**tls), tag) as client:
        assert client.ids(15) == list(range(1, 16))
    assert told([driver], server.url(tls="off"))[0] != "UNSUPPORTED", "the server refuses it"


def test_a_server_without_tls_is_used_if_tls_is_only_preferred(driver, server, tag):
    with Own([driver], server.url(tls="prefer"), tag) as client:
        assert client.ids(5) == [1, 2, 3, 4, 5]
    for tls in ("require", "verify"):
        status, message = told([driver], server.url(tls=tls))
        assert status == "STORE_UNSAFE", message
        assert "STORE_UNSAFE: " in draw(server.url(tls=tls), tag, **SHORT).stderr, "as the module says"


def test_a_certificate_is_verified_by_the_systems_authorities(driver, tls_servers, certificates):  # noqa: F811
    server = tls_servers(driver)
    tag = create(server.url(tls="require"), new_tag())
    verified = {"url": server.url(tls="verify"), "tag": tag}
    with Own([driver], **verified, environment=trusting(certificates.ca)) as client:
        assert client.ids(3) == [1, 2, 3]
    status, message = told([driver], server.url(tls="verify"), environment=trusting(certificates.wrong_ca))
    assert (status, "certificate" in message) == ("STORE_PERMISSION", True), message
    other = tls_servers(driver, "of_another_name")
    status, message = told([driver], other.url(tls="verify"), environment=trusting(certificates.ca))
    assert (status, "certificate" in message) == ("STORE_PERMISSION", True), message
    assert told([driver], other.url(tls="require"))[0] in ("STORE_MISSING", "TAG_UNKNOWN"), "it connects"


@pytest.mark.parametrize("driver", CAN_NAME_AN_AUTHORITY)
def test_a_certificate_is_verified_by_the_authority_that_the_url_names(driver, tls_servers, certificates):  # noqa: F811
    server, other = tls_servers(driver), tls_servers(driver, "of_another_name")
    ours, wrong = {"tls_ca": certificates.ca}, {"tls_ca": certificates.wrong_ca}
    for store in (server.url(tls="verify", **ours), server.url(tls="verify-ca", **ours)):
        with Own([driver], store, create(store, new_tag())) as client:
            assert client.ids(3) == [1, 2, 3]
    passing_over = other.url(tls="verify-ca", **ours)
    with Own([driver], passing_over, create(passing_over, new_tag())) as client:
        assert client.ids(3) == [1, 2, 3]
    for store in (
        server.url(tls="verify", **wrong),
        server.url(tls="verify-ca", **wrong),
        other.url(tls="verify", **ours),
    ):
        status, message = told([driver], store, environment=trusting(certificates.ca))
        assert (status, "certificate" in message) == ("STORE_PERMISSION", True), message


@pytest.mark.parametrize("tls", ["verify", "verify-ca"])
def test_an_authority_that_the_driver_cannot_be_given_is_refused(tls, tls_servers, certificates):  # noqa: F811
    server = tls_servers("go-sql-driver")
    status, message = told(["go-sql-driver"], server.url(tls=tls, tls_ca=certificates.ca))
    assert status == "UNSUPPORTED"
    assert "go-sql-driver/mysql alone cannot be given tls_ca" in message


@pytest.mark.parametrize("driver", CAN_NAME_AN_AUTHORITY)
def test_the_file_of_authorities_is_read_for_each_connection(driver, tls_servers, certificates, tmp_path):  # noqa: F811
    server, file = tls_servers(driver), tmp_path / "ca.pem"
    file.write_bytes(certificates.ca.read_bytes())
    store = server.url(tls="verify-ca", tls_ca=file)
    with Own([driver], store, create(store, new_tag()), step=5, prefetch=1) as client:
        client.first_ids(5)
        file.write_bytes(certificates.wrong_ca.read_bytes())
        server.kill_sessions()
        assert wait_until(lambda: client.draw(20)[1]).startswith("STORE_PERMISSION")
        file.write_bytes(certificates.ca.read_bytes())
        wait_until(lambda: not client.draw(20)[1])


@pytest.mark.parametrize("tls", ["verify", "verify-ca"])
def test_a_certificate_is_verified_over_a_socket(tls_servers, certificates, tls):  # noqa: F811
    server, other = tls_servers("idgen-mysql"), tls_servers("idgen-mysql", "of_another_name")

    def by_socket(server, authority):
        return server.url(port=1, socket=server.socket, tls=tls, tls_ca=authority)

    tag = create(server.url(tls="require"), new_tag())
    with Own(["idgen-mysql"], by_socket(server, certificates.ca), tag) as client:
        assert client.ids(3) == [1, 2, 3]
    for store, is_refused in (
        (by_socket(server, certificates.wrong_ca), True),
        (by_socket(other, certificates.ca), tls == "verify"),
    ):
        status, message = told(["idgen-mysql"], store)
        assert (status == "STORE_PERMISSION") == ("certificate" in message) == is_refused, message


def test_a_file_without_certificates_is_named(tls_servers, tmp_path):
    empty = tmp_path / "empty.pem"
    empty.touch()
    status, message = told(["idgen-mysql"], tls_servers("idgen-mysql").url(tls="verify", tls_ca=empty))
    assert status == "STORE_PERMISSION"
    assert f"tls_ca = '{empty}': there is no certificate in the file" in message


@pytest.mark.parametrize("tls", ["require", "verify"])
def test_tls_that_a_socket_does_not_have_is_refused(driver, server, tls):
    socket = server.socket if server.name == "mysql" else server.folder / f".s.PGSQL.{server.port}"
    status, message = told([driver], server.url(port=1, socket=socket, tls=tls))
    if driver == "idgen-mysql" or (driver, tls) == ("go-sql-driver", "require"):
        assert status == "STORE_UNSAFE", "MariaDB has TLS over sockets; this server has none at all"
    elif driver == "go-sql-driver":
        assert (status, "go-sql-driver/mysql alone cannot verify a server behind a socket" in message) == (
            "UNSUPPORTED",
            True,
        )
    else:
        assert (status, f"leave tls={tls} out" in message) == ("UNSUPPORTED", True), message


@pytest.mark.parametrize("driver", ["pgx", "pq"])
def test_a_pooler_may_lend_another_session_for_each_statement(driver, started):
    namespace, postgres = new_tag(), started("postgres")
    snowflake = {"kind": "snowflake", "worker": "auto", "namespace": namespace, "layout": LAYOUT}
    tag = create(postgres.url(), new_tag())
    with PgBouncer(postgres, "transaction") as pooler, contextlib.ExitStack() as stack:
        clients = [stack.enter_context(Own([driver], pooler.url(), tag, step=7)) for _ in range(3)]
        leasing = stack.enter_context(Own([driver], pooler.url(), **snowflake, store_create="true"))
        for client in clients:
            client.ask(2000)
        assert len(leasing.ids(50)) == 50
        drawn = [ascending(client.answer()[0]) for client in clients]
    assert len(distinct(itertools.chain.from_iterable(drawn))) == 6000


def test_what_the_driver_returned_is_in_the_error(driver, server):
    message = told([driver], server.url(password=SECRET))[1]
    kinds = {"pgx": "*pgconn.PgError", "pq": "*pq.Error"}
    assert message.endswith(f"({kinds.get(driver, '*mysql.MySQLError')})"), message
