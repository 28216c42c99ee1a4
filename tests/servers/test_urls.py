"""URLs as other programs write them reach the same rows, and a password can be changed while ids are drawn."""

import os
import tempfile
import time
from pathlib import Path

import idgen
import pytest
from clients import MODULES, create, distinct, draw, new_tag, patience, repeating, wait_until
from proxy import Proxy
from test_etcd_tokens import WithSimpleTokens
from test_faults import PATIENT

import servers

PASSWORD = "s3cr3t%2F%25"


def of_others(server):
    """(what it is, URL), each for the database that server.url() names."""
    place = f"{servers.HOST}:{server.port}"
    if server.name == "mysql":
        socket = server.socket
        return [
            ("JDBC", f"jdbc:mariadb://{place}/ids?user=app&password={PASSWORD}&useSSL=false"),
            (
                "JDBC of MySQL",
                f"jdbc:mysql://{place}/ids?user=app&password={PASSWORD}&serverTimezone=UTC&useUnicode=true",
            ),
            ("SQLAlchemy", f"mysql+pymysql://app:{PASSWORD}@{place}/ids?charset=utf8mb4"),
            ("a socket", f"mysql+pymysql://app:{PASSWORD}@/ids?unix_socket={socket}"),
        ]
    return [
        ("libpq", f"postgresql://app:{PASSWORD}@{place}/ids?sslmode=disable&connect_timeout=5"),
        ("SQLAlchemy", f"postgresql+psycopg2://app:{PASSWORD}@{place}/ids"),
        ("JDBC", f"jdbc:postgresql://{place}/ids?user=app&password={PASSWORD}&ApplicationName=shop"),
        ("a socket", f"postgresql://root@/ids?host={server.folder}&port={server.port}"),
    ]


@pytest.mark.parametrize("kind", ["mysql", "postgres"])
def test_a_url_of_another_program_reaches_the_same_rows(kind, started):
    server = started(kind)
    tag = create(server.url(), new_tag())
    drawn = []
    for what, url in of_others(server):
        with idgen.Generator(kind="segment", tag=tag, store=url, segment_step=10, module_path=str(MODULES)) as ids:
            drawn += ids.next_batch(10).tolist()
            assert PASSWORD not in ids.describe(), what
            assert "s3cr3t" not in ids.describe(), what
    assert sorted(drawn) == list(range(1, len(drawn) + 1))


@pytest.mark.parametrize("kind", ["mysql", "postgres"])
def test_a_worker_is_shared_by_generators_that_name_its_store_in_other_forms(kind, started):
    server = started(kind)
    (_, one), (_, two) = of_others(server)[:2]
    settings = {"worker": 77, "namespace": new_tag(), "module_path": str(MODULES), "worker_wait": "0ms"}
    with idgen.Generator(store=one, **settings) as a, idgen.Generator(store=two, **settings) as b:
        assert a.stats().handles == 2
        ids = [generator.next() for _ in range(1000) for generator in (a, b)]
        distinct(ids)


def set_password(server, password):
    if server.name == "mysql":
        server.sql(f"CREATE USER IF NOT EXISTS turned; ALTER USER turned IDENTIFIED BY '{password}';")
        server.sql("GRANT ALL ON ids.* TO turned;")
    elif server.name == "postgres":
        if "turned" not in server.sql("SELECT rolname FROM pg_roles"):
            server.sql("CREATE ROLE turned LOGIN IN ROLE app")
            (server.data / "pg_hba.conf").open("a").write("host all turned 127.0.0.1/32 scram-sha-256\n")
            server.sql("SELECT pg_reload_conf()")
        server.sql(f"ALTER ROLE turned PASSWORD '{password}'")
    elif server.name == "etcd":
        if "turned" not in server.as_root("user", "list"):
            server.as_root("user", "add", "turned:" + password)
            server.as_root("user", "grant-role", "turned", "root")
        server.as_root("user", "passwd", "turned", "--interactive=false", input=password + "\n")
    else:
        server.cli("ACL", "SETUSER", "turned", "on", "resetpass", f">{password}", "~*", "+@all")


class WithPasswords(WithSimpleTokens):
    def as_root(self, *command, **options):
        where = (f"--endpoints=http://{servers.HOST}:{self.port}", "--user=root:s3cr3t")
        return self.run("etcdctl", *where, *command, **options).stdout


@pytest.fixture
def server_with_passwords(kind, started):
    if kind != "etcd":
        yield started(kind)
        return
    with WithPasswords() as etcd:
        yield etcd.ask_for_passwords()


@pytest.mark.parametrize("kind", ["mysql", "postgres", "redis", "etcd"])
def test_a_password_is_changed_under_load_and_no_call_fails(kind, server_with_passwords, tmp_path):
    server = server_with_passwords
    set_password(server, "first")
    file = tmp_path / "password"
    file.write_text("first\n")
    tag = create(server.url(), new_tag())
    with Proxy(server.port) as proxy:
        place = f"{servers.HOST}:{proxy.port}" + ("/ids" if kind in ("mysql", "postgres") else "")
        with idgen.Generator(
            kind="segment",
            tag=tag,
            store=f"{kind}://turned@{place}?password_file={file}",
            segment_step=1000,
            segment_runway=f"{patience(2):.0f}s",  # calls are served from the stock while the password is a wrong one
            module_path=str(MODULES),
            **PATIENT,
        ) as ids:
            drawn, failures = [], []

            def draw():
                try:
                    drawn.append(ids.next())
                except idgen.Error as failure:
                    failures.append(failure)
                time.sleep(0.002)

            with repeating(draw, threads=2):
                for turn in range(3):
                    before = ids.stats()
                    set_password(server, f"turn-{turn}")
                    proxy.cut()  # whoever connects now still has the old password
                    wait_until(lambda failures=before.refill_failures: ids.stats().refill_failures > failures)
                    fresh = tmp_path / "fresh"
                    fresh.write_text(f"turn-{turn}\n")
                    os.replace(fresh, file)
                    wait_until(lambda refills=before.refills: ids.stats().refills > refills, what="a grant")
                wait_until(lambda: len(drawn) > 1000)
    assert not failures, failures[0]
    distinct(drawn)


def test_zookeeper_is_asked_with_the_password_that_the_file_has_now(started, tmp_path):
    """To it user and password are a name: it shows a node to those who had the same when the node was made."""
    file = tmp_path / "password"
    file.write_text("first\n")
    server = started("zookeeper")
    create(server.url(), new_tag())  # so that /idgen is everybody's
    url = f"zookeeper://app@{servers.HOST}:{server.port}?password_file={file}"
    tag = create(url, new_tag())
    assert draw(url, tag).stdout == "1\n"
    file.write_text("second\n")
    assert "STORE_PERMISSION" in draw(url, tag).stderr
    file.write_text("first")
    assert draw(url, tag).stdout == "2\n"


@pytest.mark.parametrize("kind", ["mysql", "postgres", "redis", "etcd", "zookeeper"])
def test_a_password_file_that_is_not_there_or_empty_is_named(kind, started):
    server = started(kind)
    place = f"{servers.HOST}:{server.port}" + ("/ids" if kind in ("mysql", "postgres") else "")
    folder = tempfile.TemporaryDirectory()  # messages cut longer paths than a user has
    file = Path(folder.name) / "password"
    url = f"{kind}://app@{place}?password_file={file}"
    for content, why in ((None, "cannot be opened: No such file"), ("\n", "is empty")):
        if content is not None:
            file.write_text(content)
        with pytest.raises(idgen.StorePermissionError, match=why) as failure:
            idgen.Generator(kind="segment", tag="t", store=url, module_path=str(MODULES))
        assert str(file) in str(failure.value)
    file.write_text("x")
    with pytest.raises(idgen.ConfigError, match="password_file, and another password beside it"):
        idgen.Generator(
            kind="segment", tag="t", store=f"{kind}://app:secret@{place}?password_file={file}", module_path=str(MODULES)
        )
