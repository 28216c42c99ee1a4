"""The rights that docs/stores.md lists are enough, and none of them can be left out."""

import itertools
import os
import re
from pathlib import Path

import pytest
from clients import IDGEN, create, draw, native_settings, new_tag, run, segment, wait_until
from schemas import made
from test_tls import TlsEtcd, certificates  # noqa: F401, a fixture

import servers

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "stores.md").read_text()


def listed(store):
    """The lines of the block below that store's name."""
    section = PAGE.partition("### The rights that a user needs\n")[2].partition("\n### ")[0]
    block = re.search(rf"^{store}\b.*?\n```\w+\n(.*?)```", section, re.DOTALL | re.MULTILINE)
    return block[1].splitlines()


def snowflake(url, *words, **properties):
    settings = {"worker": "1", "worker_wait": "0ms", "namespace": new_tag(), **properties}
    place = ["--store", url, *(word for pair in native_settings(settings) for word in ("--set", pair))]
    return run([IDGEN, *(words or ("next", "--kind", "snowflake")), *place])


def served(done):
    assert done.returncode == 0, done.stderr
    return done


def refused(done, status="STORE_PERMISSION"):
    assert done.stderr.startswith(f"idgen: error: {status}: "), done.stderr
    return done.stderr


class Sql:
    """A new role of a database, which has no rights yet."""

    def __init__(self, server):
        self.server, self.role = server, f"role_{new_tag()}"
        self.tag = create(server.url(), new_tag())
        served(run([IDGEN, "store", "create", "--store", server.url()]))
        if server.name == "mysql":
            server.sql(f"CREATE USER {self.role} IDENTIFIED BY 'pw'")
        else:
            server.sql(f"CREATE ROLE {self.role} LOGIN PASSWORD 'pw'")
            rules = server.data / "pg_hba.conf"
            rules.write_text(f"host all {self.role} 127.0.0.1/32 scram-sha-256\n" + rules.read_text())
            server.sql("SELECT pg_reload_conf()")
            wait_until(lambda: "pg_hba.conf" not in segment(self.url, self.tag, "show").stderr)

    @property
    def url(self):
        return self.server.url(user=self.role, password="pw")

    def change(self, word, rights, table):
        to = "TO" if word == "GRANT" else "FROM"
        self.server.sql(f"{word} {rights} ON {table} {to} {self.role}")


@pytest.mark.parametrize(("kind", "store"), [("mysql", "MySQL"), ("postgres", "PostgreSQL")])
def test_the_rights_on_tables_are_enough_and_each_is_needed(kind, store, started):
    role = Sql(started(kind))
    rights = [re.fullmatch(r"GRANT (.*) ON (\S+) TO app;", line).groups() for line in listed(store)]
    for words, table in rights:
        role.change("GRANT", words, table)
    assert served(draw(role.url, role.tag, 3, step=10)).stdout == "1\n2\n3\n"
    used = {"namespace": new_tag()}
    for _ in range(2):
        served(snowflake(role.url, **used))
    for words, table in rights:
        for right in words.split(", "):
            role.change("REVOKE", right, table)
            if table.endswith("idgen_segment"):
                said = refused(draw(role.url, role.tag, 3, step=10))
            else:  # a worker's first row is inserted
                said = refused(snowflake(role.url, **(used if (right, table[-6:]) == ("UPDATE", "worker") else {})))
            assert "denied" in said, (right, table)
            role.change("GRANT", right, table)
    assert served(draw(role.url, role.tag, 3, step=10)).stdout == "4\n5\n6\n"
    refused(segment(role.url, new_tag(), "create"))


@pytest.mark.parametrize("case", ["mysql key_producer", "postgres key_producer"])
def test_the_rights_for_key_producer_are_enough_and_each_is_needed(case, started, tmp_path):
    row = made(case, started, tmp_path).create()
    role = Sql(row.server)
    row.url = role.url
    rights_text = r"`([A-Z, ]+)` on `key_producer`[^`]*`idgen_segment`, and `([A-Z]+)` on\s+the business table"
    words, business = re.search(rights_text, PAGE).groups()
    rights = [*((word, "key_producer") for word in words.split(", ")), (business, row.business)]
    for right in rights:
        role.change("GRANT", *right)
    for right in rights:
        role.change("REVOKE", *right)
        row.refused("STORE_PERMISSION", "denied")
        assert row.counter() == "INIT"
        role.change("GRANT", *right)
    assert row.ids(3) == [1, 2, 3]
    role.change("REVOKE", *rights[-1])
    assert row.ids(1) == [4]


class Acl:
    """Users of a Redis server with no more than the given words of its rules."""

    numbers = itertools.count()

    def __init__(self, server):
        self.server = server

    def url(self, words):
        name = f"few{next(self.numbers)}"
        self.server.cli("ACL", "SETUSER", name, "on", ">pw", *words)
        return f"redis://{name}:pw@{servers.HOST}:{self.server.port}"


@pytest.fixture
def acl(started):
    return Acl(started("redis"))


def segment_words():
    grants, inside = listed("Redis")[:2]
    return [*grants.split(), *inside.split()]


def test_the_rules_of_redis_are_enough_for_segments_and_each_is_needed(acl):
    words = segment_words()
    tag = create(acl.url(words), new_tag())
    assert served(draw(acl.url(words), tag, 3, step=10)).stdout == "1\n2\n3\n"
    served(segment(acl.url(words), tag, "advance", "--to", "100"))
    # Each of these does what the other is for, at the price of a round trip, until the scripts are flushed.
    for word in set(words) - {"+eval", "+script|load"}:
        fewer = acl.url([other for other in words if other != word])
        if word == "+config|get":
            assert "config|get" in refused(draw(fewer, tag), "STORE_UNSAFE")
            served(draw(fewer + "?accept_loss=maxmemory-policy,appendonly,appendfsync", tag))
        elif word == "+hsetnx":
            refused(segment(fewer, new_tag(), "create"))
        else:
            assert "the rights that a user needs" in refused(draw(fewer, tag, 3, step=10)), word


def test_the_rules_of_redis_are_enough_for_workers_and_each_is_needed(acl):
    more = listed("Redis")[2].split()
    served(snowflake(acl.url([*segment_words(), *more])))
    served(snowflake(acl.url([*segment_words(), *more]), "worker", "list"))
    for word in more:
        fewer = acl.url([*segment_words(), *(other for other in more if other != word)])
        if word == "+hkeys":
            refused(snowflake(fewer, "worker", "list"))
        else:
            refused(snowflake(fewer))


def test_the_rules_of_redis_are_enough_for_a_buffer(acl, started):
    database = started("postgres").url()
    words = [*segment_words(), *listed("Redis")[3].split()]
    for missing in ("", "~idgen-buffer:*"):
        url = acl.url([word for word in words if word != missing])
        tag = create(database, new_tag())
        served(draw("buffer", tag, 3, **{"buffer.redis": url, "buffer.database": database}))
        kept = acl.server.cli("EXISTS", f"idgen-buffer:default:{tag}").strip()
        assert kept == ("0" if missing else "1"), "without its right, numbers come from the database"


def test_the_rules_of_redis_reach_no_other_keys_and_no_other_commands(acl):
    rules = [word for line in listed("Redis") for word in line.split()]
    url = acl.url(rules)
    name = url.partition("://")[2].partition(":")[0]
    for command in (("GET", "shop:cart"), ("HSET", "shop", "a", "b"), ("SETNX", "idgenx", "1"), ("FLUSHALL",),
                    ("CONFIG", "SET", "appendonly", "no"), ("DEL", "idgen:store"), ("KEYS", "*")):  # fmt: skip
        said = acl.server.run(
            *("redis-cli", "-h", servers.HOST, "-p", str(acl.server.port), "--user", name, *command),
            env={**os.environ, "REDISCLI_AUTH": "pw"},
        )
        assert "NOPERM" in said.stdout, command


def test_a_role_of_etcd_with_the_prefix_is_enough_also_with_certificates_of_clients(certificates):  # noqa: F811
    (rule,) = listed("etcd")

    class Etcd(TlsEtcd):
        certificate = certificates.right
        authority, client = certificates.ca, certificates.client

    with Etcd() as etcd:
        for words in ("user add root:pw", "user grant-role root root", "user add few:pw", "role add app",
                      f"role {rule}", "user grant-role few app", "auth enable"):  # fmt: skip
            etcd.ctl(*words.split())
        known = dict(zip(("tls_cert", "tls_key"), etcd.client, strict=True))
        known |= {"tls": "verify", "tls_ca": etcd.authority}

        def url(user, **parameters):
            return etcd.url(**known, **parameters).replace("://", f"://{user}" if user else "://")

        tag = create(url("few:pw@"), new_tag())
        assert served(draw(url("few:pw@"), tag, 3, step=10)).stdout == "1\n2\n3\n"
        served(snowflake(url("few:pw@")))
        refused(segment(url("few:pw@", prefix="shop/"), new_tag(), "create"))
        # The name in the certificate is nobody.
        assert "user name is empty" in refused(draw(url(""), tag))
        refused(draw(url("few:wrong@"), tag))
