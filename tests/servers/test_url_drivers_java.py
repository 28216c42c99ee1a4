"""mysql:// and postgres:// in Java where their modules are absent: over the JDBC drivers of the program."""

import os
import subprocess

import clients
import hosts
import idgen
import pytest
from clients import MODULES, ascending, create, distinct, new_tag, show
from patience import patience
from test_tls import Certificates, started as with_tls

import servers

DRIVERS = {"mariadb-java-client": "mysql", "mysql-connector-j": "mysql", "postgresql": "postgres"}
LAYOUT = "time:41ms worker:10 sequence:12"
PATIENT = {"wait_max": f"{patience(60):.0f}s"}


def java(jars, *words):
    """HostDrawing, with these of all drivers on its class path."""
    command = [str(word) for word in hosts.command("java")]
    at = command.index("-cp") + 1
    others = [*(name for name in DRIVERS if name not in jars), *(["jna-"] if "jna" not in jars else [])]
    kept = [path for path in command[at].split(os.pathsep) if not any(f"/{name}" in path for name in others)]
    command[at] = os.pathsep.join(kept)
    return [*command, "native", *words]


def settled(url, properties):
    found = {"store": url, "segment.runway": "0", **PATIENT}
    found |= {clients.NAMES.get(key, key): value for key, value in properties.items()}
    return [f"{key}={value}" for key, value in found.items()]


class Drawing(clients.Asked):
    """A program that draws as many ids as requested, over a driver."""

    def __init__(self, jars, url, folder, **properties):
        self.program = java(jars, "0", *settled(url, {"module_path": folder, **properties}))
        self.start()
        self.drawn = []


def said(jars, url, folder, **properties):
    """STATUS and message of a program that cannot open."""
    words = java(jars, "1", *settled(url, {"module_path": folder, "kind": "segment", "tag": "none", **properties}))
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=patience(120))
    (line,) = done.stdout.splitlines()
    assert line.startswith("!"), line
    assert len(line.encode()) < 495, "cut off"
    for secret in (servers.PASSWORD, "wrong-secret"):
        assert secret not in done.stdout + done.stderr
    return line[1:]


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    return Certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(params=DRIVERS)
def jar(request):
    return request.param


@pytest.fixture
def server(jar, started):
    return started(DRIVERS[jar])


@pytest.fixture
def tag(server):
    return create(server.url(), new_tag())


def segments(tag, step=10):
    return {"kind": "segment", "tag": tag, "step": step, "prefetch": 1}


def test_ids_of_a_tag_are_drawn_once_by_drivers_and_by_the_module(jar, server, tag, tmp_path):
    with (
        Drawing([jar], server.url(), tmp_path, **segments(tag)) as one,
        Drawing([jar], server.url(), tmp_path, **segments(tag)) as other,
        Drawing([], server.url(), MODULES, **segments(tag)) as native,
    ):
        for drawing in (one, other, native):
            drawing.first_ids(10)
            drawing.ask(490)
        for drawing in (one, other, native):
            ids, failure = drawing.answer()
            assert not failure, failure
            assert len(ids) == 490
            ascending(drawing.drawn)
        assert distinct(one.drawn + other.drawn + native.drawn) == set(range(1, 1501))
    assert show(server.url(), tag) == {"max_id": 1500, "grants": 150}


def test_workers_are_leased_by_drivers_and_by_the_module_and_no_two_get_the_same(jar, server, namespace, tmp_path):
    own = {"kind": "snowflake", "worker": "auto", "layout": LAYOUT, "namespace": namespace, "store_create": "true"}
    with (
        Drawing([jar], server.url(), tmp_path, **own) as one,
        Drawing([jar], server.url(), tmp_path, **own) as other,
        Drawing([], server.url(), MODULES, **own) as native,
    ):
        drawn = [drawing.first_ids(20) for drawing in (one, other, native)]
    workers = [{idgen.Layout(LAYOUT).decode(number).worker for number in ids} for ids in drawn]
    assert len(workers) == len(set().union(*workers)) == 3


def test_a_server_that_is_started_again_between_two_grants_costs_no_id_and_no_error(jar, tmp_path):
    with servers.KINDS[DRIVERS[jar]]() as server:
        tag = create(server.url(), new_tag())
        with Drawing([jar], server.url(), tmp_path, **segments(tag)) as drawing:
            assert drawing.first_ids(10) == list(range(1, 11))
            server.restart()
            assert drawing.ids(20) == list(range(11, 31))


def test_a_password_that_is_replaced_in_its_file_is_used_for_the_next_connection(jar, tmp_path):
    with servers.KINDS[DRIVERS[jar]]() as server:
        tag = create(server.url(), new_tag())
        file = tmp_path / "password"
        file.write_text(servers.PASSWORD + "\n")
        url = server.url(password_file=file).replace(":s3cr3t%2F%25@", "@")
        with Drawing([jar], url, tmp_path / "nothing", **segments(tag)) as drawing:
            assert drawing.first_ids(10) == list(range(1, 11))
            user, is_now = ("USER app", "IDENTIFIED BY") if server.name == "mysql" else ("ROLE app", "PASSWORD")
            server.sql(f"ALTER {user} {is_now} 'another one'", database="ids" if server.name == "mysql" else "postgres")
            file.write_text("another one\n")
            server.kill_sessions()
            assert drawing.ids(20) == list(range(11, 31))


def test_the_library_finds_a_driver_again_that_only_the_opening_thread_could_see(jar, tmp_path):
    (path,) = (path for path in hosts.class_path().split(os.pathsep) if f"/{jar}-" in path)
    with servers.KINDS[DRIVERS[jar]]() as server:
        tag = create(server.url(), new_tag())
        with Drawing([], server.url(), tmp_path, **{"pool.drivers": path}, **segments(tag)) as drawing:
            assert drawing.first_ids(10) == list(range(1, 11))
            server.restart()
            assert drawing.ids(20) == list(range(11, 31))


@pytest.fixture(scope="module")
def tls_servers(certificates):
    made = {kind: with_tls(kind, certificates, certificates.right) for kind in set(DRIVERS.values())}
    yield made
    for server in made.values():
        server.close()


@pytest.fixture
def tls_server(jar, tls_servers):
    return tls_servers[DRIVERS[jar]]


@pytest.mark.parametrize("tls", ["", "require", "verify-ca", "verify"])
def test_ids_are_drawn_from_a_server_that_takes_no_plain_connections(jar, tls_server, certificates, tls, tmp_path):
    url = tls_server.url(tls=tls, tls_ca=certificates.ca) if tls else tls_server.url()
    tag = create(url, new_tag())
    with Drawing([jar], url, tmp_path, **segments(tag)) as drawing:
        assert drawing.first_ids(15) == list(range(1, 16))


def test_a_server_without_tls_is_refused_where_tls_is_required(jar, server, tmp_path):
    line = said([jar], server.url(tls="require"), tmp_path, wait_max="1s")
    assert line.startswith("STORE_"), line


def test_a_certificate_of_an_unknown_authority_is_refused(jar, tls_server, certificates, tmp_path):
    for tls in ("verify", "verify-ca"):
        line = said([jar], tls_server.url(tls=tls, tls_ca=certificates.wrong_ca), tmp_path)
        assert line.startswith("STORE_PERMISSION the certificate of "), line
    line = said([jar], tls_server.url(tls="verify"), tmp_path)
    assert line.startswith("STORE_PERMISSION the certificate of "), line
    assert "tls_ca" in line


def test_a_certificate_for_another_name_is_refused_unless_only_its_authority_is_asked_for(jar, certificates, tmp_path):
    with with_tls(DRIVERS[jar], certificates, certificates.of_another_name) as server:
        line = said([jar], server.url(tls="verify", tls_ca=certificates.ca), tmp_path)
        assert line.startswith("STORE_PERMISSION the certificate of "), line
        assert "use tls=verify-ca" in line
        url = server.url(tls="verify-ca", tls_ca=certificates.ca)
        with Drawing([jar], url, tmp_path, **segments(create(url, new_tag()))) as drawing:
            assert drawing.first_ids(15) == list(range(1, 16))


def test_errors_have_the_status_that_they_have_with_the_module(jar, server, tag, tmp_path):
    named = {"tag": tag, "wait_max": "1s"}
    urls = {
        "STORE_PERMISSION": server.url(password="wrong-secret"),
        "STORE_MISSING": server.url().replace("/ids", "/nowhere"),
        "STORE_UNAVAILABLE": server.url(port=1),
        "TAG_UNKNOWN": server.url(),
    }
    for status, url in urls.items():
        if status == "TAG_UNKNOWN":
            named["tag"] = new_tag()
        lines = said([jar], url, tmp_path, **named), said([], url, MODULES, **named)
        if status == "STORE_MISSING" and server.name == "mysql":
            status = "STORE_PERMISSION"  # MariaDB does not tell this user what is there
        for line in lines:
            assert line.startswith(status + " "), lines


def test_a_unix_socket_is_used_where_the_driver_has_what_it_needs(started, tmp_path):
    server = started("mysql")
    tag = create(server.url(), new_tag())
    url = server.url(port=1, socket=server.socket)
    with Drawing(["mariadb-java-client", "jna"], url, tmp_path, **segments(tag)) as drawing:
        assert drawing.first_ids(15) == list(range(1, 16))
    line = said(["mariadb-java-client"], url, tmp_path)
    assert line.startswith("UNSUPPORTED "), line
    assert "MariaDB Connector/J has no parameter socket without JNA" in line


@pytest.mark.parametrize("jar", ["mysql-connector-j", "postgresql"], indirect=True)
def test_a_parameter_that_the_driver_does_not_have_is_refused_by_name(jar, server, tmp_path):
    line = said([jar], server.url(socket="/run/server"), tmp_path)
    assert line.startswith("UNSUPPORTED "), line
    assert "has no parameter socket: leave that out" in line


@pytest.mark.parametrize("kind", ["mysql", "postgres"])
def test_without_a_driver_the_message_names_those_that_can_be_added(kind, tmp_path):
    line = said([], f"{kind}://app@{servers.HOST}:1/ids", tmp_path)
    artifact = "org.mariadb.jdbc:mariadb-java-client" if kind == "mysql" else "org.postgresql:postgresql"
    assert line.startswith("UNSUPPORTED "), line
    assert f"there is none: add {artifact}" in line
