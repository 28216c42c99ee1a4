"""Rows of Leaf, tinyid and CosId: idgen draws from them as the original does, alone and at the same time."""

import json
import re
from dataclasses import dataclass
from typing import Any

import clients
import hosts
import originals
import pytest
from clients import Asked, Client, distinct, draw, ids_of, new_tag, segment
from test_bad_input import refused

import servers

LARGEST = 2**63 - 1
TABLES = {"leaf": "leaf_alloc", "tinyid": "tiny_id_info", "cosid": "cosid"}
COUNTERS = {"leaf": "max_id", "tinyid": "max_id", "cosid": "last_max_id"}
KEYS = {"leaf": "biz_tag", "tinyid": "biz_type", "cosid": "name"}


@dataclass
class Place:
    """The rows of one schema in one server."""

    server: Any
    schema: str
    statements: str = ""

    def url(self):
        return self.server.url(**({"statements": self.statements} if self.statements else {}))

    @property
    def properties(self):
        return {"schema": self.schema, "namespace": "cosid" if self.schema == "cosid" else "default"}

    @property
    def next_free(self):
        """Leaf's counter is the next free number, that of the others the highest granted."""
        return 1 if self.schema == "leaf" else 0

    def segment(self, tag, verb, *arguments, **properties):
        return segment(self.url(), tag, verb, *arguments, **{**self.properties, **properties})

    def done(self, tag, verb, *arguments, **properties):
        finished = self.segment(tag, verb, *arguments, **properties)
        assert finished.returncode == 0, finished.stderr
        return finished.stdout

    def shown(self, tag):
        found = json.loads(self.done(tag, "show", "--json"))
        return int(found["max_id"]), int(found["grants"]), int(found["step"])

    def draw(self, tag, count=1, **properties):
        return draw(self.url(), tag, count, **{**self.properties, **properties})

    def ids(self, tag, count, **properties):
        finished = self.draw(tag, count, **properties)
        assert finished.returncode == 0, finished.stderr
        return [int(line) for line in finished.stdout.split()]

    def asked(self, tag, **properties):
        """Draws the next segment only when the one before is used up."""
        return Asked(self.url(), tag, **{**self.properties, "prefetch": 1, **properties})

    def row(self, highest=0, step=10, **columns):
        """A new tag, made like the original's operator makes it, with highest as the highest number in use."""
        tag = new_tag()
        self.done(tag, "create", step=step)
        if highest:
            self.set_counter(tag, highest + self.next_free)
        if columns:
            self.set(tag, **columns)
        return tag

    def key(self, tag):
        return f"cosid.{tag}" if self.schema == "cosid" else tag

    def where(self, tag):
        return f"FROM {TABLES[self.schema]} WHERE {KEYS[self.schema]} = '{self.key(tag)}'"

    def set(self, tag, **columns):
        values = ", ".join(f"{name} = {value}" for name, value in columns.items())
        self.server.sql(f"UPDATE {TABLES[self.schema]} SET {values} WHERE {KEYS[self.schema]} = '{self.key(tag)}'")

    def set_counter(self, tag, number):
        if self.server.name == "redis":
            self.server.cli("SET", f"cosid:{{{self.key(tag)}}}.adder", str(number))
        else:
            self.set(tag, **{COUNTERS[self.schema]: number})

    def counter(self, tag):
        if self.server.name == "redis":
            return int(self.server.cli("GET", f"cosid:{{{self.key(tag)}}}.adder"))
        return int(self.server.sql(f"SELECT {COUNTERS[self.schema]} {self.where(tag)}"))

    def highest(self, tag):
        return self.counter(tag) - self.next_free

    def version(self, tag):
        return int(self.server.sql(f"SELECT version {self.where(tag)}"))


SQL = [(kind, schema) for kind in ("mysql", "mysql transaction", "postgres") for schema in TABLES]
EVERYWHERE = [*SQL, ("redis", "cosid")]


def place(started, kind, schema):
    name, _, statements = kind.partition(" ")
    return Place(started(name), schema, statements)


@pytest.fixture(params=EVERYWHERE, ids=" ".join)
def everywhere(request, started):
    return place(started, *request.param)


@pytest.fixture(params=[case for case in SQL if case[1] != "cosid"], ids=" ".join)
def with_steps(request, started):
    """Schemas whose rows have a step."""
    return place(started, *request.param)


@pytest.fixture(params=[case for case in EVERYWHERE if case[1] == "cosid"], ids=" ".join)
def without_steps(request, started):
    return place(started, *request.param)


@pytest.fixture(params=[case for case in SQL if case[1] == "tinyid"], ids=" ".join)
def strided(request, started):
    return place(started, *request.param)


@pytest.fixture(params=SQL, ids=" ".join)
def table(request, started):
    return place(started, *request.param)


# --- alone


def test_a_new_tag_begins_with_1_and_what_was_not_used_is_given_back(everywhere):
    tag = everywhere.row()
    assert everywhere.shown(tag)[0] == everywhere.highest(tag) == 0
    assert everywhere.ids(tag, 3) == [1, 2, 3]
    assert everywhere.highest(tag) == 3
    assert everywhere.ids(tag, 25) == list(range(4, 29))
    assert everywhere.shown(tag)[0] == everywhere.highest(tag) == 28


def test_the_first_id_is_the_one_after_those_in_use(everywhere):
    tag = everywhere.row(highest=1000)
    assert everywhere.ids(tag, 3) == [1001, 1002, 1003]


def test_a_tag_that_is_there_is_not_made_again(everywhere):
    tag = everywhere.row(highest=500)
    refused(everywhere.segment(tag, "create"), "TAG_EXISTS", tag, "500")
    assert everywhere.highest(tag) == 500


def test_a_tag_that_is_not_there_is_not_made_by_drawing(everywhere):
    everywhere.row()
    refused(everywhere.draw(new_tag()), "TAG_UNKNOWN", "idgen segment create")


def test_a_tag_is_made_by_drawing_where_that_is_wanted(everywhere):
    assert everywhere.ids(new_tag(), 2, store_create="true") == [1, 2]


def test_the_rows_step_is_taken_also_when_an_operator_changes_it_meanwhile(with_steps):
    tag = with_steps.row(highest=100, step=10)
    with with_steps.asked(tag, step=50) as process:
        assert process.ids(1) == [101]
        assert with_steps.highest(tag) == 110
        with_steps.set(tag, step=7)
        assert process.ids(10) == list(range(102, 112))
        assert with_steps.highest(tag) == 117
    assert with_steps.highest(tag) == 111


def test_where_a_row_has_no_step_each_process_uses_its_own(without_steps):
    tag = without_steps.row(highest=100)
    with without_steps.asked(tag, step=50) as one:
        assert one.ids(1) == [101]
        assert without_steps.highest(tag) == 150
        with without_steps.asked(tag, step=7) as other:
            assert other.ids(1) == [151]
            assert without_steps.highest(tag) == 157
        refused(without_steps.segment(tag, "set-step", "--step", "5"), "UNSUPPORTED", "segment.step")


def test_a_command_sets_the_rows_step(with_steps):
    tag = with_steps.row()
    with_steps.done(tag, "set-step", "--step", "25")
    assert with_steps.shown(tag)[2] == 25
    refused(with_steps.segment(tag, "set-step", "--step", "0"), "VALUE", "1 to 1000000000")


def test_a_tag_is_lifted_and_never_lowered(everywhere):
    tag = everywhere.row(highest=100)
    everywhere.done(tag, "advance", "--to", "5000")
    assert everywhere.shown(tag)[0] == everywhere.highest(tag) == 5000
    assert everywhere.ids(tag, 1) == [5001]
    everywhere.done(tag, "advance", "--to", "10")
    assert everywhere.highest(tag) >= 5001
    assert everywhere.ids(tag, 1)[0] > 5001


def test_near_the_end_nothing_is_granted_and_nothing_is_written(everywhere):
    tag = everywhere.row(highest=LARGEST - 6)
    before = everywhere.counter(tag)
    refused(everywhere.draw(tag, 10), "EXHAUSTED", tag, "2^63 - 1")
    assert everywhere.counter(tag) == before
    if everywhere.schema == "leaf":
        refused(everywhere.segment(tag, "advance", "--to", str(LARGEST)), "VALUE", str(LARGEST - 1))


def test_a_counter_beyond_what_an_id_can_be_is_refused(started):
    mysql = Place(started("mysql"), "cosid")
    tag = mysql.row()
    mysql.set_counter(tag, LARGEST + 10)
    refused(mysql.draw(tag), "STORE_DAMAGED", "table cosid", str(LARGEST + 10))
    mysql.set_counter(tag, 0)  # for listing them all


def test_a_leaf_row_at_0_is_refused_because_its_first_id_would_be_0(started):
    for kind in ("mysql", "postgres"):
        leaf = Place(started(kind), "leaf")
        tag = leaf.row(max_id=0)
        refused(leaf.draw(tag), "UNSUPPORTED", "max_id = 0", "idgen segment advance")
        leaf.done(tag, "advance", "--to", "0")
        assert leaf.ids(tag, 1) == [1]


@pytest.mark.parametrize(("delta", "remainder", "first"), [(1, 0, 101), (3, 0, 102), (3, 1, 103), (7, 2, 107)])
def test_delta_and_remainder_of_a_row_are_obeyed(strided, delta, remainder, first):
    tag = strided.row(highest=100, delta=delta, remainder=remainder)
    assert strided.ids(tag, 50) == list(range(first, first + 50 * delta, delta))


def test_a_step_below_delta_still_holds_an_id(strided):
    tag = strided.row(step=2, delta=7, remainder=3)
    assert strided.ids(tag, 4) == [3, 10, 17, 24]


def test_a_stride_that_changes_under_a_running_generator_stops_it(strided):
    tag = strided.row(delta=2, remainder=1)
    with strided.asked(tag) as process:
        assert process.ids(1) == [1]
        strided.set(tag, delta=3)
        assert process.draw(10)[1].startswith("FORMAT_MISMATCH")


@pytest.mark.parametrize(("delta", "remainder"), [(0, 0), (-1, 0), (3, 3), (3, -1)])
def test_a_stride_that_cannot_be_meant_is_refused(strided, delta, remainder):
    tag = strided.row(delta=delta, remainder=remainder)
    refused(strided.draw(tag), "STORE_DAMAGED", f"delta = {delta}", f"remainder = {remainder}", "Correct the row")


@pytest.mark.parametrize("step", ["0", "NULL"])
def test_a_tinyid_row_without_a_step_leaves_it_to_the_generator(strided, step):
    tag = strided.row()
    strided.set(tag, step=step)
    with strided.asked(tag, step=30) as process:
        assert process.ids(1) == [1]
        assert strided.highest(tag) == 30


def test_the_version_rises_with_every_change(strided):
    tag = strided.row()
    versions = [strided.version(tag)]
    for change in (
        lambda: strided.done(tag, "advance", "--to", "50"),
        lambda: strided.done(tag, "set-step", "--step", "20"),
        lambda: strided.ids(tag, 1),  # a grant, and what is given back
    ):
        change()
        versions.append(strided.version(tag))
    assert versions[1] == versions[0] + 1
    assert versions[2] == versions[1] + 1
    assert versions[3] >= versions[2] + 2
    assert strided.shown(tag)[1] == versions[3]


@pytest.mark.parametrize("kind", ["mysql", "postgres"])
@pytest.mark.parametrize("schema", ["leaf", "tinyid"])
def test_rows_without_a_namespace_are_had_in_the_default_one_only(started, kind, schema):
    where = place(started, kind, schema)
    tag = where.row()
    refused(where.draw(tag, namespace="shop"), "VALUE", "'shop'", TABLES[schema], "default")
    refused(where.segment(tag, "create", namespace="shop"), "VALUE", "'shop'")


@pytest.mark.parametrize("kind", ["mysql", "postgres"])
@pytest.mark.parametrize(("schema", "too_long"), [("tinyid", 64), ("cosid", 95)])
def test_a_name_is_not_cut(started, kind, schema, too_long):
    done = place(started, kind, schema).segment("x" * too_long, "create")
    refused(done, "VALUE", "characters", TABLES[schema])


def test_tags_are_listed_with_their_namespaces(everywhere):
    tag = everywhere.row(highest=77)
    arguments = clients.command(everywhere.url(), tag, "segment", "show", "--json", **everywhere.properties)
    at = arguments.index("--tag")
    listed = clients.run(arguments[:at] + arguments[at + 2 :])
    rows = [json.loads(line) for line in listed.stdout.splitlines()]
    found = next(row for row in rows if row["tag"] == tag)
    assert (found["namespace"], int(found["max_id"])) == (everywhere.properties["namespace"], 77)


def emptied(started, kind, name):
    """The URL of a separate database."""
    server = started(kind)
    if kind == "mysql":
        server.sql(f"CREATE DATABASE {name}; GRANT ALL ON {name}.* TO app", database="")
    else:
        server.sql(f"CREATE DATABASE {name} OWNER app", database="postgres")
    return server.url().replace("/ids", f"/{name}"), lambda text: server.sql(text, database=name)


@pytest.mark.parametrize("kind", ["mysql", "postgres"])
@pytest.mark.parametrize("schema", TABLES)
def test_a_table_that_is_missing_or_of_another_schema_is_named(started, kind, schema):
    url, sql = emptied(started, kind, f"other_{schema}")
    refused(draw(url, "t", schema=schema), "STORE_MISSING", TABLES[schema], "idgen segment create")
    sql(f"CREATE TABLE {TABLES[schema]} ({KEYS[schema]} varchar(60) PRIMARY KEY, last_id bigint)")
    sql(f"INSERT INTO {TABLES[schema]} VALUES ('t', 5), ('default.t', 5)")
    if kind == "postgres":
        sql(f"GRANT ALL ON {TABLES[schema]} TO app")
    for done in (
        draw(url, "t", schema=schema),
        segment(url, "t", "show", schema=schema),
        segment(url, "t", "advance", "--to", "9", schema=schema),
        segment(url, "t", "create", schema=schema),
    ):
        refused(done, "STORE_VERSION", f"table {TABLES[schema]}", f"segment.schema = {schema}")


@pytest.mark.parametrize("schema", TABLES)
def test_a_table_of_an_engine_that_forgets_is_refused(started, schema):
    url, sql = emptied(started, "mysql", f"engine_{schema}")
    assert segment(url, "t", "create", schema=schema).returncode == 0
    sql(f"ALTER TABLE {TABLES[schema]} ENGINE = MyISAM")
    refused(draw(url, "t", schema=schema), "STORE_UNSAFE", f"ALTER TABLE {TABLES[schema]} ENGINE = InnoDB")


@pytest.mark.parametrize(
    ("url", "schema", "knowing"),
    [
        ("sqlite:ids.db", "leaf", "mysql, mariadb, postgres"),
        ("memory", "cosid", "mysql, mariadb, postgres, redis"),
        ("redis://127.0.0.1:1", "tinyid", "mysql, mariadb, postgres"),
        ("etcd://127.0.0.1:1", "cosid", "redis"),
        ("zookeeper://127.0.0.1:1", "leaf", "postgres"),
    ],
)
def test_a_store_that_does_not_know_the_schema_names_those_that_do(url, schema, knowing):
    for done in (draw(url, "t", schema=schema), segment(url, "t", "create", schema=schema)):
        refused(done, "UNSUPPORTED", f"'{schema}'", knowing)


def test_an_unknown_schema_is_answered_with_those_that_are_known():
    refused(draw("memory", "t", schema="leav"), "VALUE", "idgen | leaf | tinyid | cosid | key_producer | incr")


# --- what create would run


@pytest.mark.parametrize("kind", ["mysql", "postgres"])
@pytest.mark.parametrize("schema", ["idgen", *TABLES])
def test_the_statements_that_are_printed_make_the_tag(started, kind, schema):
    name = f"printed_{schema}"
    url, sql = emptied(started, kind, name)
    tag = 'it\'s a \\ "tag"'
    properties = {"schema": schema, "step": 40}
    printed = segment(url.replace("127.0.0.1", "no-such-host.invalid"), tag, "create", "--print", **properties)
    assert printed.returncode == 0, printed.stderr
    sql(printed.stdout)
    if kind == "postgres":
        sql("GRANT ALL ON ALL TABLES IN SCHEMA public TO app")
    done = draw(url, tag, 3, **properties)
    assert done.stdout.split() == ["1", "2", "3"], done.stderr


def test_create_prints_what_it_ran(everywhere):
    tag = new_tag()
    printed = everywhere.done(tag, "create", step=40)
    assert f"{TABLES[everywhere.schema]}" in printed
    assert tag in printed
    assert "its first id is 1" in printed


@pytest.mark.parametrize("url", ["etcd://h.invalid", "zookeeper://h.invalid", "redis://h.invalid", "sqlite:ids.db"])
def test_other_stores_print_theirs_too(url, tmp_path):
    printed = segment(url, "orders", "create", "--print")
    assert printed.returncode == 0, printed.stderr
    assert "orders" in printed.stdout


# --- beside the original

STEP = 50
EACH = 12_000


def partner(where, tag, cosid_jar):
    if where.schema == "leaf":
        return originals.leaf(where.server, tag)
    if where.schema == "tinyid":
        return originals.tinyid(where.server, tag)
    return originals.cosid(cosid_jar, where.server, tag, step=STEP)


def drawn_alone(where, cosid_jar):
    """How far the original's EACH ids move a counter that nobody else moves."""
    tag = where.row(step=STEP)
    before = where.counter(tag)
    with partner(where, tag, cosid_jar) as process:
        process.issue(EACH)
    return where.counter(tag) - before


BESIDE = [
    *(("mysql", "leaf"), ("mysql", "tinyid"), ("mysql", "cosid"), ("redis", "cosid")),
    *(("mysql transaction", "leaf"), ("mysql transaction", "tinyid")),
]


@pytest.fixture(params=BESIDE, ids=" ".join)
def shared_row(request, started):
    return place(started, *request.param)


def test_the_original_and_idgen_draw_from_one_row_and_the_counter_ends_where_both_say(shared_row, cosid_jar):
    alone = drawn_alone(shared_row, cosid_jar)
    tag = shared_row.row(highest=1000, step=STEP)
    before = shared_row.counter(tag)
    found = []
    with partner(shared_row, tag, cosid_jar) as original:
        ours = [shared_row.asked(tag, step=STEP) for _ in range(3)]
        try:
            found += original.issue(1)
            for process in ours:
                found += process.ids(1)
            original.ask(EACH - 1)
            for process in ours:
                process.ask(EACH - 2)  # one number of the last segment is left, so no other segment is requested
            found += original.answer()
            for process in ours:
                ids, failure = process.answer()
                assert not failure
                found += ids
            assert shared_row.counter(tag) == before + alone + len(ours) * EACH
        finally:
            for process in ours:
                process.process.kill()
                process.__exit__()
    assert len(found) == 4 * EACH - len(ours)
    distinct(found)
    assert min(found) == 1001
    assert max(found) <= shared_row.highest(tag)


def test_processes_of_idgen_alone_share_a_row_and_the_counter_ends_where_they_say(everywhere):
    tag = everywhere.row(highest=1000, step=STEP)
    ours = [everywhere.asked(tag, step=STEP) for _ in range(3)]
    try:
        for process in ours:
            process.ask(2999)
        found = [number for process in ours for number in process.answer()[0]]
        assert everywhere.highest(tag) == 1000 + 3 * 3000
    finally:
        for process in ours:
            process.process.kill()
            process.__exit__()
    assert len(distinct(found)) == 3 * 2999
    assert min(found) == 1001
    assert max(found) <= 1000 + 3 * 3000


def test_a_tinyid_row_with_a_stride_is_drawn_by_both(started):
    where = Place(started("mysql"), "tinyid")
    tag = where.row(highest=1000, step=30, delta=3, remainder=2)
    with originals.tinyid(where.server, tag) as original, where.asked(tag) as one, where.asked(tag) as other:
        original.ask(3000)
        one.ask(3000)
        other.ask(3000)
        found = [*original.answer(), *one.answer()[0], *other.answer()[0]]
    assert len(distinct(found)) == 9000
    assert all(number % 3 == 2 for number in found)
    assert min(found) == 1001
    assert max(found) <= where.highest(tag)


def test_clients_that_are_killed_beside_the_original_lose_numbers_and_share_none(shared_row, cosid_jar, tmp_path):
    tag = shared_row.row(step=STEP)
    with partner(shared_row, tag, cosid_jar) as original:
        found = original.issue(1)
        original.ask(EACH)
        all_of_them = [
            Client(tmp_path, shared_row.url(), tag, batch=7, step=STEP, **shared_row.properties) for _ in range(3)
        ]
        try:
            for _ in range(3):
                victim = all_of_them[-1].goes_on()
                victim.goes_on(victim.size() + 2000)
                victim.kill()
                all_of_them.append(Client(tmp_path, shared_row.url(), tag, batch=7, step=STEP, **shared_row.properties))
            found += original.answer()
            for client in all_of_them:
                if client.process.poll() is None:
                    client.goes_on().stop()
        finally:
            for client in all_of_them:
                client.close()
        found += original.issue(100)
    assert len(distinct(found)) == EACH + 101
    assert max(distinct([*ids_of(all_of_them), *found])) <= shared_row.highest(tag)


# --- CosId's keys in Redis


def test_a_key_that_cosid_has_made_is_taken_over_by_hand_once(started, cosid_jar):
    redis = Place(started("redis"), "cosid")
    tag = new_tag()
    with originals.cosid(cosid_jar, redis.server, tag, step=10) as original:
        found = original.issue(1)
        refused(redis.draw(tag), "STORE_REGRESSED", "CosId", "idgen segment advance")
        redis.done(tag, "advance", "--to", "10")
        found += redis.ids(tag, 15)
        found += original.issue(25)
    assert len(distinct(found)) == 41


def test_a_key_that_was_lost_is_not_made_anew_by_drawing(started):
    redis = Place(started("redis"), "cosid")
    tag = redis.row(highest=100)
    redis.server.cli("DEL", f"cosid:{{cosid.{tag}}}.adder")
    refused(redis.draw(tag, store_create="true"), "TAG_UNKNOWN", tag)


def test_after_a_restart_of_redis_idgen_stops_and_cosid_goes_on(cosid_jar):
    with servers.Redis() as server:
        redis = Place(server, "cosid")
        tag = redis.row(step=10)
        with redis.asked(tag, step=10) as process:
            found = process.ids(1)
            server.restart()
            failure = process.draw(20)[1]
            while failure.startswith("STORE_UNAVAILABLE"):
                failure = process.draw(1)[1]
            assert failure.startswith("STORE_REGRESSED"), failure
            found = process.drawn
        refused(redis.draw(tag), "STORE_REGRESSED", "another life of the server", "idgen segment advance")
        with originals.cosid(cosid_jar, server, tag, step=10) as original:
            found += original.issue(5)
        redis.done(tag, "advance", "--to", "100")
        found += redis.ids(tag, 5)
        distinct(found)
        assert redis.draw(tag).returncode == 0


def test_a_value_that_is_no_counter_is_refused(started):
    redis = Place(started("redis"), "cosid")
    tag = redis.row()
    redis.set_counter(tag, "ten")
    refused(redis.draw(tag), "STORE_DAMAGED", "no counter")


# --- import


def imported(where, tag, *arguments, **properties):
    return json.loads(where.done(tag, "import", "--json", *arguments, **{"schema": "idgen", **properties}))


def test_a_tag_begins_above_where_a_foreign_row_stands(table):
    source = table.row(highest=4321)
    tag = new_tag()
    arguments = ("--from-schema", table.schema, "--from-tag", source, "--from-namespace", table.properties["namespace"])
    done = imported(table, tag, *arguments)
    assert (done["found"], done["created"], done["max_id"]) == (4321, True, 4321)
    assert table.ids(tag, 1, schema="idgen") == [4322]
    again = imported(table, tag, *arguments, "--margin", "1000")
    assert (again["created"], again["max_id"]) == (False, 5321)
    assert imported(table, tag, *arguments)["max_id"] == 5322  # never lowered; the right to give back has ended


def test_a_foreign_row_begins_above_where_idgens_own_tag_stands(table):
    source = new_tag()
    assert table.ids(source, 5, schema="idgen", namespace="shop", store_create="true")
    target = new_tag()
    table.done(target, "import", "--from-schema", "idgen", "--from-tag", source, "--from-namespace", "shop")
    assert table.ids(target, 1) == [6]


@pytest.fixture(params=["mysql", "postgres"])
def database(request, started):
    return Place(started(request.param), "idgen")


def business_table(where, name, column, *ids):
    quote = "`" if where.server.name == "mysql" else '"'
    quoted = ".".join(f"{quote}{part.replace(quote, 2 * quote)}{quote}" for part in (name, column))
    table, column = quoted.split(".")
    where.server.sql(f"CREATE TABLE {table} ({column} bigint)")
    for number in ids:
        where.server.sql(f"INSERT INTO {table} VALUES ({number})")
    if where.server.name == "postgres":
        where.server.sql(f"GRANT ALL ON {table} TO app")


def test_a_tag_begins_above_the_ids_of_a_table(database):
    name = "Orders " + new_tag() + """ x'"`; --"""
    business_table(database, name, 'the "id`', 17, 5000, 4)
    tag = new_tag()
    done = imported(database, tag, "--from-table", name, "--from-column", 'the "id`', "--margin", "100")
    assert (done["found"], done["max_id"]) == (5000, 5100)
    assert database.ids(tag, 1) == [5101]


def test_an_empty_table_leaves_a_new_tag_at_its_beginning(database):
    name = new_tag()
    business_table(database, name, "id")
    tag = new_tag()
    assert imported(database, tag, "--from-table", name, "--from-column", "id")["max_id"] == 0
    assert database.ids(tag, 1) == [1]


def test_what_cannot_be_imported_is_named(database):
    name = new_tag()
    business_table(database, name, "id", 5)

    def refuse(*arguments):
        return database.segment(new_tag(), "import", *arguments)

    refused(refuse("--from-table", "no_such_table", "--from-column", "id"), "VALUE", "no_such_table")
    refused(refuse("--from-table", name, "--from-column", "no_such_column"), "VALUE", "no_such_column")
    refused(refuse("--from-table", f"{name}.", "--from-column", "id"), "VALUE", "name is missing")
    refused(refuse("--from-schema", "leaf", "--from-tag", "no_such_tag"), "TAG_UNKNOWN", "no_such_tag")
    for wrong in ((), ("--from-table", name), ("--from-column", "id"), ("--from-table", name, "--from-tag", "x")):
        assert refuse(*wrong).returncode == 2


@pytest.mark.parametrize(
    ("kind", "column"),
    [
        *[("mysql", column) for column in ("varchar(20)", "varbinary(20)", "enum('9', '10')", "float", "double")],
        *[("postgres", column) for column in ("varchar(20)", "text", "real", "double precision")],
    ],
)
def test_the_largest_id_of_a_column_that_is_no_exact_number_is_not_guessed(started, kind, column):
    place = Place(started(kind), "idgen")
    name = new_tag()
    place.server.sql(f"CREATE TABLE {name} (id {column}); INSERT INTO {name} VALUES ('9'), ('10')")
    if kind == "postgres":
        place.server.sql(f"GRANT ALL ON {name} TO app")
    done = place.segment(new_tag(), "import", "--from-table", name, "--from-column", "id")
    refused(done, "VALUE", "whole numbers", "segment advance")


@pytest.mark.parametrize("kind", ["mysql", "postgres"])
@pytest.mark.parametrize("column", ["smallint", "int", "bigint", "decimal(20, 0)"])
def test_the_largest_id_is_read_from_every_type_of_whole_numbers(started, kind, column):
    place = Place(started(kind), "idgen")
    name = new_tag()
    place.server.sql(f"CREATE TABLE {name} (id {column}); INSERT INTO {name} VALUES (9), (10)")
    if kind == "postgres":
        place.server.sql(f"GRANT ALL ON {name} TO app")
    assert imported(place, new_tag(), "--from-table", name, "--from-column", "id")["found"] == 10


def test_a_store_without_tables_says_so(tmp_path):
    arguments = ("--from-table", "orders", "--from-column", "id")
    url = f"sqlite:{tmp_path}/ids.db"
    refused(segment(url, "t", "import", *arguments, store_create="true"), "UNSUPPORTED", "mysql, mariadb and postgres")


# --- from the languages


def told(language, what, url, **properties):
    """The result of a language's own function: segment_max_of, or segment_statements without its timestamp."""
    words = [*hosts.command(language), "native", what, f"store={url}", *clients.native_settings(properties)]
    done = clients.run(words)
    assert done.returncode == 0, done.stderr
    return without_moment(done.stdout)


def without_moment(text):
    return re.sub(r"\b[0-9]{13}\b", "NOW", text)


@pytest.mark.parametrize("kind", ["mysql", "postgres"])
@pytest.mark.parametrize("language", hosts.LANGUAGES)
def test_each_language_reads_where_a_tables_ids_end(started, kind, language):
    name = f"beside_{language}"
    url, sql = emptied(started, kind, name)  # there is no table of idgen's
    sql("CREATE TABLE orders (id bigint)")
    if kind == "postgres":
        sql("GRANT ALL ON orders TO app")
    assert told(language, "max_of", url, table="orders", column="id") == "0\n"
    sql(f"INSERT INTO orders VALUES (17), ({LARGEST}), (4)")
    for table in ("orders", f"{'public' if kind == 'postgres' else name}.orders"):
        assert told(language, "max_of", url, table=table, column="id") == f"{LARGEST}\n"
    for table, column in (("no_such_table", "id"), ("orders", "no_such_column"), ("orders.", "id")):
        done = segment(url, "t", "import", "--from-table", table, "--from-column", column)
        message = refused(done, "VALUE")
        assert told(language, "max_of", url, table=table, column=column) == f"!VALUE {message}\n"


@pytest.mark.parametrize("language", hosts.LANGUAGES)
def test_each_language_tells_what_create_would_run_and_reaches_for_no_server(language, tmp_path):
    tag = 'it\'s a \\ "tag"'
    for kind in ("mysql", "postgres"):
        url = f"{kind}://app@no-such-host.invalid/ids"
        for schema in ("idgen", *TABLES):
            printed = segment(url, tag, "create", "--print", schema=schema)
            assert TABLES.get(schema, "idgen_segment") in printed.stdout
            assert told(language, "statements", url, tag=tag, schema=schema) == without_moment(printed.stdout)
        missing = segment(url, tag, "create", "--print", module_path=tmp_path)
        message = refused(missing, "UNSUPPORTED", "module.path")
        assert told(language, "statements", url, tag=tag, module_path=tmp_path) == f"!UNSUPPORTED {message}\n"
