"""Rows and keys of Leaf, tinyid, CosId, key_producer and INCR: idgen draws from them as the original does, alone and at
the same time. Each test runs against every schema, or those in its list: see schemas.py."""

import contextlib
import json
import re

import clients
import hosts
import pytest
from clients import command, distinct, draw, ids_of, new_tag, run, segment
from schemas import (
    CASES,
    CLASSES,
    CREATE,
    KEY_PRODUCERS,
    SEGMENTS,
    SERIALS,
    SQL_STORES,
    CosidKey,
    Leaf,
    Schema,
    made,
    only,
)
from serials import text_of
from test_bad_input import refused

import servers

LARGEST = 2**63 - 1
SET_STEP = ("segment", "set-step", "--step")
DATABASES = ("mysql", "postgres")
TABLES = {schema: CLASSES[schema].table for schema in SEGMENTS}


@pytest.fixture(params=CASES)
def row(request, started, tmp_path):
    return made(request.param, started, tmp_path)


# --- alone


def test_a_new_tag_begins_with_1_and_what_was_not_used_is_given_back(row):
    row.create()
    assert row.shown()["max_id"] == row.highest() == 0
    assert row.ids(3) == [1, 2, 3]
    assert row.highest() == 3
    assert row.ids(25) == list(range(4, 29))
    assert row.shown()["max_id"] == row.highest() == 28


def test_the_first_id_is_the_one_after_those_in_use(row):
    row.create(highest=1000)
    assert row.ids(3) == [1001, 1002, 1003]
    assert row.highest() == 1003


def test_a_tag_that_is_there_is_not_made_again(row):
    row.create(highest=500)
    row.refused("TAG_EXISTS", row.tag, *(["500"] if row.kind == "segment" else []), words=CREATE)
    assert row.highest() == 500


def test_a_tag_that_is_not_there_is_not_made_by_drawing(row):
    row.another().create()
    row.refused("TAG_UNKNOWN", row.tag, "idgen segment create")


def test_a_tag_is_made_by_drawing_where_that_is_wanted(row):
    assert row.ids(2, store_create="true") == [1, 2]


@only("leaf", "tinyid")
def test_the_rows_step_is_taken_also_when_an_operator_changes_it_meanwhile(row):
    row.create(highest=100, step=10)
    with row.asked(step=50) as process:
        assert process.ids(1) == [101]
        assert row.highest() == 110
        row.set(step=7)
        assert process.ids(10) == list(range(102, 112))
        assert row.highest() == 117
    assert row.highest() == 111


@only("cosid", "key_producer")
def test_where_a_row_has_no_step_each_process_uses_its_own(row):
    row.create(highest=100)
    with row.asked(step=50) as one:
        assert row.numbers(one.ids(1)) == [101]
        assert row.highest() == 150
        with row.asked(step=7) as other:
            assert row.numbers(other.ids(1)) == [151]
            assert row.highest() == 157
    row.refused("UNSUPPORTED", row.without_step, words=(*SET_STEP, "5"))


@only("leaf", "tinyid", "incr")
def test_a_command_sets_the_rows_step(row):
    row.create()
    row.done(*SET_STEP, "25")
    assert int(row.shown()["step"]) == 25
    with row.asked(step=1000) as process:
        process.ids(1)
        assert row.highest() == 25
    if row.kind == "segment":
        row.refused("VALUE", "1 to 1000000000", words=(*SET_STEP, "0"))


def test_a_tag_is_lifted_and_never_lowered(row):
    row.create(highest=100)
    assert f"{row.label:12}{row.text(5000)}\n" in row.advance(5000)
    assert row.shown()["max_id"] == row.highest() == 5000
    assert row.ids(1) == [5001]
    assert f"{row.label:12}{row.text(5001)}\n" in row.done("segment", "show")
    row.advance(10)
    assert row.highest() >= 5001
    assert row.ids(1)[0] > 5001


@only(*SEGMENTS)
def test_near_the_end_nothing_is_granted_and_nothing_is_written(row):
    row.create(highest=LARGEST - 6)
    before = row.counter()
    row.refused("EXHAUSTED", row.tag, "2^63 - 1", words=("next", "-n", "10"))
    assert row.counter() == before
    if row.name == "leaf":
        row.refused("VALUE", str(LARGEST - 1), words=("segment", "advance", "--to", str(LARGEST)))


NO_SERIALS = ["'2026'", "'SO2026112100000001'", "'2026112100000001x'", "'2026993100000001'", "''", "NULL", "'init'"]
NO_NUMBERS = ("ten", "-5", "1099511627776", "99999999999999999999", "007", "1.5", "")
DAMAGE = [
    ("mysql cosid", LARGEST + 10),
    ("redis cosid", "ten"),
    *((row, text) for row in KEY_PRODUCERS for text in NO_SERIALS),
    *(("redis incr", text) for text in NO_NUMBERS),
]


@pytest.mark.parametrize(("row", "value"), DAMAGE, indirect=["row"])
def test_a_value_that_is_no_counter_is_damage_and_is_left_alone(row, value):
    row.create()
    row.set_counter(value)
    before = row.counter()
    row.refused("STORE_DAMAGED", *row.damage(value))
    assert row.counter() == before
    row.remove()


def list_without(row, *others):
    """What a list of all tags says of the one that is damaged, after it has shown the others."""
    done = row.list()
    shown = {json.loads(line)["tag"].lower() for line in done.stdout.splitlines()}  # key_producer's are in capitals
    assert row.tag not in shown
    assert {other.tag for other in others} <= shown
    assert done.returncode == 1
    assert done.stderr.startswith("idgen: error: STORE_DAMAGED: ")
    assert row.tag in done.stderr.lower()
    return done.stderr


@pytest.mark.parametrize(
    ("row", "value"),
    [case for case in DAMAGE if case[1] in ("NULL", LARGEST + 10) or case == ("redis cosid", "ten")],
    indirect=["row"],
)
def test_a_damaged_row_is_named_by_a_list_which_shows_all_others(row, value):
    first, last = row.another(), row.another()
    for each in (first, row, last):
        each.create().next()
    row.set_counter(value)
    try:
        list_without(row, first, last)
    finally:
        row.remove()


@pytest.mark.parametrize("kind", DATABASES)
@pytest.mark.parametrize(
    ("schema", "column"), [("leaf", "step"), ("leaf", "max_id"), ("tinyid", "version"), ("cosid", "last_max_id")]
)
def test_a_null_is_named_with_its_tag_and_column_and_all_others_are_listed(started, kind, schema, column):
    row = CLASSES[schema](started(kind))
    first, last = row.another(), row.another()
    row.server.sql(f"DROP TABLE IF EXISTS {row.table}")
    try:
        for each in (first, row, last):
            each.create()
        change = f"MODIFY {column} BIGINT NULL" if kind == "mysql" else f"ALTER COLUMN {column} DROP NOT NULL"
        row.server.sql(f"ALTER TABLE {row.table} {change}")
        row.set(**{column: "NULL"})
        assert f"column {column}: the table {row.table} holds NULL" in list_without(row, first, last)
        row.refused("STORE_DAMAGED", row.tag, f"column {column}", words=("segment", "show"))
        assert last.ids(1) == [1]
    finally:
        row.server.sql(f"DROP TABLE IF EXISTS {row.table}")


@pytest.mark.parametrize("kind", DATABASES)
def test_a_leaf_row_at_0_is_refused_because_its_first_id_would_be_0(started, kind):
    leaf = Leaf(started(kind)).create(columns={"max_id": 0})
    leaf.refused("UNSUPPORTED", "max_id = 0", "idgen segment advance")
    leaf.advance(0)
    assert leaf.ids(1) == [1]


@only("tinyid")
@pytest.mark.parametrize(("delta", "remainder", "first"), [(1, 0, 101), (3, 0, 102), (3, 1, 103), (7, 2, 107)])
def test_delta_and_remainder_of_a_row_are_obeyed(row, delta, remainder, first):
    row.create(highest=100, columns={"delta": delta, "remainder": remainder})
    assert row.ids(50) == list(range(first, first + 50 * delta, delta))


@only("tinyid")
def test_a_step_below_delta_still_holds_an_id(row):
    row.create(step=2, columns={"delta": 7, "remainder": 3})
    assert row.ids(4) == [3, 10, 17, 24]


@only("tinyid")
def test_a_stride_that_changes_under_a_running_generator_stops_it(row):
    row.create(columns={"delta": 2, "remainder": 1}, step=10)
    with row.asked() as process:
        assert process.ids(1) == [1]
        row.set(delta=3)
        assert process.draw(10)[1].startswith("FORMAT_MISMATCH")


@only("tinyid")
@pytest.mark.parametrize(("delta", "remainder"), [(0, 0), (-1, 0), (3, 3), (3, -1)])
def test_a_stride_that_cannot_be_meant_is_refused(row, delta, remainder):
    row.create(columns={"delta": delta, "remainder": remainder})
    row.refused("STORE_DAMAGED", f"delta = {delta}", f"remainder = {remainder}", "Correct the row")


@only("tinyid")
@pytest.mark.parametrize("step", ["0", "NULL"])
def test_a_tinyid_row_without_a_step_leaves_it_to_the_generator(row, step):
    row.create(columns={"step": step})
    with row.asked(step=30) as process:
        assert process.ids(1) == [1]
        assert row.highest() == 30


@only("tinyid")
def test_the_version_rises_with_every_change(row):
    row.create()
    versions = [int(row.select("version"))]
    for change in (
        lambda: row.advance(50),
        lambda: row.done(*SET_STEP, "20"),
        lambda: row.ids(1),  # a grant, and what is given back
    ):
        change()
        versions.append(int(row.select("version")))
    assert versions[1] == versions[0] + 1
    assert versions[2] == versions[1] + 1
    assert versions[3] >= versions[2] + 2
    assert int(row.shown()["grants"]) == versions[3]


@only("leaf", "tinyid", *SERIALS)
def test_rows_without_a_namespace_are_had_in_the_default_one_only(row):
    row.create()
    said = ("no namespace",) if row.kind == "serial" else ("'shop'", row.table, "default")
    for words in (("next",), CREATE):
        row.refused("VALUE", *said, words=words, namespace="shop")


@only("tinyid", "cosid", stores=DATABASES)
def test_a_name_is_not_cut(row):
    done = row.command(*CREATE, tag="x" * {"tinyid": 64, "cosid": 95}[row.name])
    refused(done, "VALUE", "characters", row.table)


def test_tags_are_listed_with_their_namespaces(row):
    row.create(highest=76)
    assert row.ids(1) == [77]
    found = row.listed()[row.tag.upper() if row.name == "key_producer" else row.tag]
    assert (found["namespace"], row.number_of(int(found["max_id"]))) == (row.namespace, 77)


def emptied(started, kind, name):
    """The URL of a separate database."""
    server = started(kind)
    server.make_database(name)
    return server.url().replace("/ids", f"/{name}"), lambda text: server.sql(text, database=name)


@pytest.mark.parametrize("kind", DATABASES)
@pytest.mark.parametrize("schema", SEGMENTS)
def test_a_table_that_is_missing_or_of_another_schema_is_named(started, kind, schema):
    url, sql = emptied(started, kind, f"other_{schema}")
    table = TABLES[schema]
    refused(draw(url, "t", schema=schema), "STORE_MISSING", table, "idgen segment create")
    sql(f"CREATE TABLE {table} ({CLASSES[schema].key} varchar(60) PRIMARY KEY, last_id bigint)")
    sql(f"INSERT INTO {table} VALUES ('t', 5), ('default.t', 5)")
    if kind == "postgres":
        sql(f"GRANT ALL ON {table} TO app")
    for done in (
        draw(url, "t", schema=schema),
        *(segment(url, "t", *words, schema=schema) for words in (("show",), ("advance", "--to", "9"), ("create",))),
    ):
        refused(done, "STORE_VERSION", f"table {table}", f"segment.schema = {schema}")


@pytest.mark.parametrize("schema", SEGMENTS)
def test_a_table_of_an_engine_that_forgets_is_refused(started, schema):
    url, sql = emptied(started, "mysql", f"engine_{schema}")
    assert segment(url, "t", "create", schema=schema).returncode == 0
    sql(f"ALTER TABLE {TABLES[schema]} ENGINE = MyISAM")
    refused(draw(url, "t", schema=schema), "STORE_UNSAFE", f"ALTER TABLE {TABLES[schema]} ENGINE = InnoDB")


@pytest.mark.parametrize(
    ("url", "schema", "knowing"),
    [
        ("zookeeper://127.0.0.1:1", "leaf", "postgres"),
        *(
            (url, schema, knowing)
            for schema, other, knowing in (
                ("key_producer", "redis", "mysql, mariadb, postgres"),
                ("incr", "postgres", "redis"),
                ("incr", "mysql", "redis"),
            )
            for url in ("sqlite:ids.db", "memory", f"{other}://127.0.0.1:1/0")
        ),
    ],
)
def test_a_store_that_does_not_know_the_schema_names_those_that_do(url, schema, knowing):
    serial = {"kind": "serial", "pattern": CLASSES[schema].pattern} if schema in SERIALS else {"kind": "segment"}
    for words in (("next",), CREATE):
        done = run(command(url, "orders.number", *words, schema=schema, **serial))
        refused(done, "UNSUPPORTED", f"'{schema}'", knowing)


# --- serials


@only(*SERIALS)
def test_another_days_number_begins_with_1(row):
    row.create()
    row.set_highest(500, row.clock.day(-1))
    assert row.ids(1) == [1]


@only(*SERIALS)
def test_a_day_to_come_means_that_a_clock_is_wrong(row):
    row.create()
    ahead = row.clock.day(2)
    row.set_highest(5, ahead)
    row.refused("CLOCK_BACK", row.tag, f"{ahead}00000005")
    assert row.highest(ahead) == 5


@only(*SERIALS)
def test_no_more_is_taken_than_the_pattern_holds(row):
    row.pattern = "{yyyyMMdd}{00}"
    row.create()
    with row.asked(step=1000) as process:
        assert [text_of(number, 2) for number in process.ids(99)] == [f"{row.today}{n:02}" for n in range(1, 100)]
        failure = process.draw(1)[1]
        assert failure.startswith("EXHAUSTED")
        assert (row.day_key() if row.name == "incr" else f"{row.today}99") in failure
    assert row.highest() == 99


@only(*SERIALS)
@pytest.mark.parametrize("pattern", ["{dd}{000}", "{yyyyMMddHHmm}{000}"])
def test_a_pattern_whose_dates_come_again_makes_no_row(row, pattern):
    for words in (CREATE, (*CREATE, "--print")):
        row.refused("VALUE", pattern, words=words, pattern=pattern)


@only(*SERIALS)
def test_another_kind_is_refused(row):
    row.create()
    row.refused("VALUE", "kind = serial", kind="segment", pattern="")


# --- what create would run


@pytest.mark.parametrize("kind", DATABASES)
@pytest.mark.parametrize("schema", ["idgen", *SEGMENTS])
def test_the_statements_that_are_printed_make_the_tag(started, kind, schema):
    url, sql = emptied(started, kind, f"printed_{schema}")
    tag = 'it\'s a \\ "tag"'
    properties = {"schema": schema, "step": 40}
    printed = segment(url.replace("127.0.0.1", "no-such-host.invalid"), tag, "create", "--print", **properties)
    assert printed.returncode == 0, printed.stderr
    sql(printed.stdout)
    if kind == "postgres":
        sql("GRANT ALL ON ALL TABLES IN SCHEMA public TO app")
    done = draw(url, tag, 3, **properties)
    assert done.stdout.split() == ["1", "2", "3"], done.stderr


@only(*SEGMENTS)
def test_create_prints_what_it_ran(row):
    printed = row.done(*CREATE, step=40)
    assert row.table in printed
    assert row.tag in printed
    assert "its first id is 1" in printed


@pytest.mark.parametrize("url", ["etcd://h.invalid", "zookeeper://h.invalid", "redis://h.invalid", "sqlite:ids.db"])
def test_other_stores_print_theirs_too(url, tmp_path):
    printed = segment(url, "orders", "create", "--print")
    assert printed.returncode == 0, printed.stderr
    assert "orders" in printed.stdout


# --- beside the original

STEP = 50
EACH = 12_000
BESIDE = pytest.mark.parametrize(
    "row",
    [case for case in CASES if case not in ("mysql transaction cosid", *(f"postgres {name}" for name in SEGMENTS))],
    indirect=True,
)


@contextlib.contextmanager
def killed(row, count):
    """Processes of idgen, which give nothing back at the end."""
    with contextlib.ExitStack() as stack:
        ours = [stack.enter_context(row.asked(step=STEP)) for _ in range(count)]
        try:
            yield ours
        finally:
            for process in ours:
                process.process.kill()


def ids_said(ours):
    found = []
    for process in ours:
        ids, failure = process.answer()
        assert not failure
        found += ids
    return found


def answers(row, theirs, ours):
    """The numbers of all that were asked."""
    found = [row.number_in(number) for process in theirs for number in process.answer()]
    return found + row.numbers(ids_said(ours))


def drawn_alone(row, cosid_jar):
    """How far the original's EACH ids move a counter that only it moves."""
    row.create(highest=row.begins, step=STEP)
    with row.original(cosid_jar) as process:
        process.issue(EACH)
    return row.highest() - row.begins


@BESIDE
def test_the_original_and_idgen_draw_from_one_row_and_the_counter_ends_where_both_say(row, cosid_jar):
    alone = drawn_alone(row.another(), cosid_jar)
    assert alone == EACH or row.kind == "segment"
    row.create(highest=row.begins, step=STEP)
    with contextlib.ExitStack() as stack, killed(row, 3) as ours:
        theirs = [stack.enter_context(row.original(cosid_jar)) for _ in range(row.partners)]
        for process in (*theirs, *ours):
            process.ask(1)
        found = answers(row, theirs, ours)
        for process in theirs:
            process.ask(EACH - 1)
        for process in ours:
            process.ask(EACH - 2)  # one number of the last segment is left, so no other segment is requested
        found += answers(row, theirs, ours)
        assert row.highest() == row.begins + len(theirs) * alone + len(ours) * EACH
    assert len(distinct(found)) == (len(theirs) + len(ours)) * EACH - len(ours)
    assert min(found) == row.begins + 1
    assert max(found) <= row.highest()


def test_processes_of_idgen_alone_share_a_row_and_the_counter_ends_where_they_say(row):
    row.create(highest=1000, step=STEP)
    with killed(row, 3) as ours:
        for process in ours:
            process.ask(2999)
        found = answers(row, [], ours)
        assert row.highest() == 1000 + 3 * 3000
    assert len(distinct(found)) == 3 * 2999
    assert min(found) == 1001
    assert max(found) <= 1000 + 3 * 3000


@only("tinyid", stores=["mysql"])
def test_a_tinyid_row_with_a_stride_is_drawn_by_both(row):
    row.create(highest=1000, step=30, columns={"delta": 3, "remainder": 2})
    with row.original() as original, row.asked() as one, row.asked() as other:
        for process in (original, one, other):
            process.ask(3000)
        found = answers(row, [original], [one, other])
    assert len(distinct(found)) == 9000
    assert all(number % 3 == 2 for number in found)
    assert min(found) == 1001
    assert max(found) <= row.highest()


@BESIDE
def test_clients_that_are_killed_beside_the_original_lose_numbers_and_share_none(row, cosid_jar, tmp_path):
    row.create(step=STEP)
    with contextlib.ExitStack() as stack:
        original = stack.enter_context(row.original(cosid_jar))

        def start():
            return stack.enter_context(contextlib.closing(row.client(tmp_path, batch=7, step=STEP)))

        found = original.issue(1)
        original.ask(EACH)
        everybody = [start() for _ in range(3)]
        for _ in range(row.kills):
            victim = everybody[-1].goes_on()
            victim.goes_on(victim.size() + 2000)
            victim.kill()
            everybody.append(start())
        found += original.answer()
        for client in everybody:
            if client.process.poll() is None:
                client.goes_on().stop()
        found += original.issue(100)
    assert len(distinct(found)) == EACH + 101
    numbers = [*row.numbers(ids_of(everybody)), *map(row.number_in, found)]
    assert max(distinct(numbers)) <= row.highest()


@only(*SERIALS)
def test_both_go_over_midnight_and_no_number_comes_twice(row):
    row.create()
    row.clock.set("2026-11-21 23:59:59")
    with contextlib.ExitStack() as stack:
        theirs = [stack.enter_context(row.original()) for _ in range(2)]
        ours = [stack.enter_context(row.asked(step=STEP)) for _ in range(2)]
        found = []
        for time_of_day in ("2026-11-21 23:59:59", "2026-11-22 00:00:00", "2026-11-22 23:59:59", "2026-11-24 00:00:00"):
            row.clock.set(time_of_day)
            for _ in range(5):
                for process in (*theirs, *ours):
                    process.ask(220)
                drawn = [str(number) for process in theirs for number in process.answer()]
                drawn += map(text_of, ids_said(ours))
                assert {text[:8] for text in drawn} <= {"20261121", "20261122", "20261124"}
                found += drawn
            assert {text[:8] for text in drawn} == {row.today}
    distinct(found)
    for first in ("20261121", "20261122", "20261124"):
        assert f"{first}00000001" in found


# --- CosId's keys in Redis


@only("cosid", stores=["redis"])
def test_a_key_that_cosid_has_made_is_taken_over_by_hand_once(row, cosid_jar):
    with row.original(cosid_jar, step=10) as original:
        found = original.issue(1)
        row.refused("STORE_REGRESSED", "CosId", "idgen segment advance")
        row.advance(10)
        found += row.ids(15)
        found += original.issue(25)
    assert len(distinct(found)) == 41


@only("cosid", stores=["redis"])
def test_a_key_that_was_lost_is_not_made_anew_by_drawing(row):
    row.create(highest=100)
    row.remove()
    row.refused("TAG_UNKNOWN", row.tag, store_create="true")


def test_after_a_restart_of_redis_idgen_stops_and_cosid_goes_on(cosid_jar):
    with servers.Redis() as server:
        row = CosidKey(server).create(step=10)
        with row.asked(step=10) as process:
            found = process.ids(1)
            server.restart()
            failure = process.draw(20)[1]
            while failure.startswith("STORE_UNAVAILABLE"):
                failure = process.draw(1)[1]
            assert failure.startswith("STORE_REGRESSED"), failure
            found = process.drawn
        row.refused("STORE_REGRESSED", "another life of the server", "idgen segment advance")
        with row.original(cosid_jar, step=10) as original:
            found += original.issue(5)
        row.advance(100)
        found += row.ids(5)
        distinct(found)
        assert row.ids(1)


# --- import


def imported(row, tag, *arguments, **properties):
    words = ("segment", "import", "--json", *arguments)
    return row.read(row.done(*words, tag=tag, **{"schema": "idgen", **properties}))


def test_a_tag_begins_above_where_a_foreign_row_stands(row):
    row.create(highest=4320)
    assert row.ids(1) == [4321]
    tag = new_tag()
    source = ("--from-schema", row.name, "--from-tag", row.tag, "--from-namespace", row.namespace)
    done = imported(row, tag, *source)
    assert (row.number_of(int(done["found"])), done["created"], done["max_id"]) == (4321, True, 4321)
    assert row.ids(1, tag=tag, schema="idgen") == [4322]
    again = imported(row, tag, *source, "--margin", "1000")
    assert (again["created"], again["max_id"]) == (False, 5321)
    assert imported(row, tag, *source)["max_id"] == 5322  # never lowered; the right to give back has ended


@only(*SEGMENTS, stores=SQL_STORES)
def test_a_foreign_row_begins_above_where_idgens_own_tag_stands(row):
    source = new_tag()
    assert row.ids(5, tag=source, schema="idgen", namespace="shop", store_create="true")
    row.done("segment", "import", "--from-schema", "idgen", "--from-tag", source, "--from-namespace", "shop")
    assert row.ids(1) == [6]


@pytest.fixture(params=DATABASES)
def database(request, started):
    """A tag of idgen's own."""
    own = Schema(started(request.param))
    own.name = "idgen"
    return own


def business_table(server, name, column, *ids, type_of_column="bigint"):
    quote = "`" if server.name == "mysql" else '"'
    table, column = (f"{quote}{part.replace(quote, 2 * quote)}{quote}" for part in (name, column))
    server.sql(f"CREATE TABLE {table} ({column} {type_of_column})")
    for number in ids:
        server.sql(f"INSERT INTO {table} VALUES ('{number}')")
    if server.name == "postgres":
        server.sql(f"GRANT ALL ON {table} TO app")


def from_table(name, column="id"):
    return ("--from-table", name, "--from-column", column)


def test_a_tag_begins_above_the_ids_of_a_table(database):
    name = "Orders " + new_tag() + """ x'"`; --"""
    business_table(database.server, name, 'the "id`', 17, 5000, 4)
    done = imported(database, None, *from_table(name, 'the "id`'), "--margin", "100")
    assert (int(done["found"]), done["max_id"]) == (5000, 5100)
    assert database.ids(1) == [5101]


def test_an_empty_table_leaves_a_new_tag_at_its_beginning(database):
    name = new_tag()
    business_table(database.server, name, "id")
    assert imported(database, None, *from_table(name))["max_id"] == 0
    assert database.ids(1) == [1]


def test_what_cannot_be_imported_is_named(database):
    name = new_tag()
    business_table(database.server, name, "id", 5)

    def tried(*arguments):
        return database.command("segment", "import", *arguments)

    for arguments, status, said in (
        (from_table("no_such_table"), "VALUE", "no_such_table"),
        (from_table(name, "no_such_column"), "VALUE", "no_such_column"),
        (from_table(f"{name}."), "VALUE", "name is missing"),
        (("--from-schema", "leaf", "--from-tag", "no_such_tag"), "TAG_UNKNOWN", "no_such_tag"),
    ):
        refused(tried(*arguments), status, said)


@pytest.mark.parametrize(
    ("database", "column"),
    [
        *[("mysql", column) for column in ("varchar(20)", "varbinary(20)", "enum('9', '10')", "float", "double")],
        *[("postgres", column) for column in ("varchar(20)", "text", "real", "double precision")],
    ],
    indirect=["database"],
)
def test_the_largest_id_of_a_column_that_is_no_exact_number_is_not_guessed(database, column):
    name = new_tag()
    business_table(database.server, name, "id", 9, 10, type_of_column=column)
    done = database.command("segment", "import", *from_table(name))
    refused(done, "VALUE", "whole numbers", "segment advance")


@pytest.mark.parametrize("column", ["smallint", "int", "bigint", "decimal(20, 0)"])
def test_the_largest_id_is_read_from_every_type_of_whole_numbers(database, column):
    name = new_tag()
    business_table(database.server, name, "id", 9, 10, type_of_column=column)
    assert int(imported(database, None, *from_table(name))["found"]) == 10


# --- from the languages


def told(language, what, url, **properties):
    """The result of a language's own function: segment_max_of, or segment_statements without its timestamp."""
    words = [*hosts.command(language), "native", what, f"store={url}", *clients.native_settings(properties)]
    done = clients.run(words)
    assert done.returncode == 0, done.stderr
    return without_moment(done.stdout)


def without_moment(text):
    return re.sub(r"\b[0-9]{13}\b", "NOW", text)


@pytest.mark.parametrize("kind", DATABASES)
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
        message = refused(segment(url, "t", "import", *from_table(table, column)), "VALUE")
        assert told(language, "max_of", url, table=table, column=column) == f"!VALUE {message}\n"


@pytest.mark.parametrize("language", hosts.LANGUAGES)
def test_each_language_tells_what_create_would_run_and_reaches_for_no_server(language, tmp_path):
    tag = 'it\'s a \\ "tag"'
    for kind in DATABASES:
        url = f"{kind}://app@no-such-host.invalid/ids"
        for schema in ("idgen", *SEGMENTS):
            printed = segment(url, tag, "create", "--print", schema=schema)
            assert TABLES.get(schema, "idgen_segment") in printed.stdout
            assert told(language, "statements", url, tag=tag, schema=schema) == without_moment(printed.stdout)
        missing = segment(url, tag, "create", "--print", module_path=tmp_path)
        message = refused(missing, "UNSUPPORTED", "module.path")
        assert told(language, "statements", url, tag=tag, module_path=tmp_path) == f"!UNSUPPORTED {message}\n"
