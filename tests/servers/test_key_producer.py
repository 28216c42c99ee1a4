"""segment.schema = key_producer: what only its rows have. What they share with other schemas is in test_schemas.py."""

import contextlib
from concurrent.futures import ThreadPoolExecutor

import originals
import pytest
from clients import new_tag, wait_until
from proxy import Proxy
from schemas import CREATE, KEY_PRODUCERS, made
from serials import Clock, distinct, text_of
from test_bad_input import refused

SO = "SO{yyyyMMdd}{000000}"
CACHE = originals.KeyProducer.CACHE
EACH = 3000


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


@pytest.fixture(params=KEY_PRODUCERS)
def row(request, started, tmp_path):
    return made(request.param, started, tmp_path)


# --- alone


def test_a_row_that_was_just_made_begins_above_the_highest_number_of_that_day_in_the_table(row):
    row.create(pattern=SO)
    assert row.counter() == "INIT"
    row.insert(f"SO{row.today}000417", f"SO{row.today}000009", f"SO{row.clock.day(-1)}000900", "KO20260101000999")
    assert row.next(pattern=SO) == [f"SO{row.today}000418"]


def test_a_number_of_more_digits_is_the_higher_one_although_as_text_it_is_less(row):
    row.pattern = "{yyyyMMdd}{0+}"
    row.create().insert(f"{row.today}9", f"{row.today}10")
    assert row.ids(1) == [11]


def test_a_percent_sign_in_a_pattern_is_itself(row):
    row.pattern = "_%|{yyyy}-{0000}"
    year = row.today[:4]
    row.create().insert(f"_%|{year}-0002", f"ab|{year}-0100")
    assert row.next() == [f"_%|{year}-0003"]


def test_a_row_whose_format_is_quoted_in_another_way_is_the_same_row(row):
    row.pattern = "INV-{yyyyMMdd}{0000}"
    row.create()
    assert [row.select("DATEFMT"), row.select("NOFMT")] == ["'INV-'yyyyMMdd", "0000"]
    row.set(DATEFMT=quoted("'INV'-yyyyMMdd"))
    assert row.next()[0].endswith("0001")
    assert row.counter().endswith("0001")


def test_each_pattern_of_a_column_is_a_series_of_its_own(row):
    row.create()
    row.refused("TAG_UNKNOWN", "'SO'yyyyMMdd", "000000", "idgen segment create", pattern=SO)
    row.create(pattern=SO)
    assert row.ids(2) == [1, 2]
    assert row.next(pattern=SO)[0].startswith("SO")
    assert row.next(pattern="K" + SO, store_create="true")[0].endswith("000001")
    assert len(row.counter().split()) == 3


def test_a_series_without_a_date_counts_on(row):
    row.pattern = "C{00000}"
    row.create()
    assert row.next(2) == ["C00001", "C00002"]
    assert row.counter() == "C00002"


def test_create_prints_what_it_would_run_and_a_person_may_run_that(row):
    row.pattern = SO
    printed = row.done(*CREATE, "--print")
    assert "CREATE TABLE IF NOT EXISTS key_producer" in printed
    row.server.sql(printed)
    assert row.counter() == "INIT"
    assert row.next()[0].startswith("SO")
    row.refused("TAG_EXISTS", row.tag, words=CREATE)


# --- bad input


def test_a_number_of_the_table_that_is_none_of_the_pattern_is_said_so(row):
    row.create().insert(f"{row.today}12", f"{row.clock.day(1)}12")
    row.refused("STORE_DAMAGED", "MAXSERIALNO", "by hand", row.today[:6])
    assert row.counter() == "INIT"


def test_a_table_that_is_not_there_is_said_so(row):
    missing = new_tag()
    row.tag = f"{missing}.number"
    row.create().refused("VALUE", missing)


@pytest.mark.parametrize("row", ["postgres key_producer"], indirect=True)
def test_in_postgres_the_tag_names_the_table_with_its_case_until_the_first_grant(row):
    row.create().refused("VALUE", f'"{row.business.upper()}" does not exist', tag=row.tag.upper())
    assert row.ids(1) == [1]
    assert row.ids(1, tag=row.tag.upper()) == [2]


@pytest.mark.parametrize("row", ["postgres key_producer"], indirect=True)
def test_in_postgres_a_table_that_is_missing_or_forgets_is_refused(row):
    row.server.sql("DROP TABLE IF EXISTS key_producer")
    row.refused("STORE_MISSING", "table key_producer is not there", "idgen segment create")
    row.create().server.sql("ALTER TABLE key_producer SET UNLOGGED")
    row.refused("STORE_UNSAFE", "ALTER TABLE key_producer SET LOGGED")
    row.server.sql("DROP TABLE key_producer")


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("{yyyyMMdd}{base62:6}", "decimal"),
        ("{yyyyMMdd}{000000}{check}", "no check"),
        ("{yyyyMMdd}{000000}X", "nothing behind"),
        ("{yyyyMMdd}{decimal}", "width"),
        ("A VERY LONG NAME FOR IT {yyyyMMdd}{0000}", "20"),
    ],
)
def test_a_pattern_that_a_row_cannot_say_is_refused(row, pattern, words):
    row.refused("UNSUPPORTED", "key_producer", words, pattern=pattern)


@pytest.mark.parametrize("tag", ["orders", ".number", "orders.", "x" * 81 + ".number"])
def test_a_tag_that_is_no_table_and_column_is_refused(row, tag):
    row.refused("VALUE", "TABLE.COLUMN", tag=tag)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (("'INV'-yyyyMMdd", "0000"), "INV-{yyyyMMdd}{0000}"),  # the same
        (("yyyyMMdd", "000000"), "{yyyyMMdd}{00000000}"),
        (("'W'yyyyMMdd", "0"), "W{yyyyMMdd}{00+}"),
        (("yyyy", "000000"), "{yyyyMMdd}{00}"),
        (("YYYYMMdd", "00000000"), "{yyyyMMdd}{00000000}"),  # the year of the week: a slip
        (("'A2'yyyy", "00"), "A{yyyy}{000}"),
    ],
)
def test_a_row_whose_serials_could_be_the_same_is_not_passed_by(row, theirs, ours):
    date, number = theirs
    row.create(pattern="none of these {yy}{0}", columns={"DATEFMT": quoted(date), "NOFMT": quoted(number)})
    for words in (("next",), CREATE):
        for create in ("true", "false"):
            done = row.command(*words, pattern=ours, store_create=create)
            if date != "'INV'-yyyyMMdd":
                refused(done, "FORMAT_MISMATCH", date, number)
            elif words == CREATE:
                refused(done, "TAG_EXISTS")


def test_two_rows_of_one_pattern_are_refused(row):
    row.pattern = "INV-{yyyyMMdd}{0000}"
    row.create()
    date = quoted("'INV'-yyyyMMdd")
    row.server.sql(
        "INSERT INTO key_producer (TABLENAME, COLUMNNAME, MAXSERIALNO, DATEFMT, NOFMT) VALUES"
        f" ('{row.business.upper()}', 'NUMBER', 'INIT', {date}, '0000')"
    )
    row.refused("FORMAT_MISMATCH", "another row")


def test_a_row_that_nobody_has_drawn_from_is_neither_advanced_nor_imported(row):
    row.create().insert(f"{row.today}00000417")
    row.refused("UNSUPPORTED", "INIT", words=("segment", "advance", "--above", f"{row.clock.day(-1)}00000900"))
    source = ("--from-schema", "key_producer", "--from-tag", row.tag)
    row.refused("UNSUPPORTED", "INIT", words=("segment", "import", *source), tag=new_tag(), schema="idgen")
    assert row.counter() == "INIT"
    assert row.ids(1) == [418]


def test_a_tag_of_idgens_own_that_takes_a_row_over_goes_on_above_it(row):
    tag = new_tag()
    row.create().ids(3)
    source = ("--from-schema", "key_producer", "--from-tag", row.tag)
    row.done("segment", "import", *source, tag=tag, schema="idgen")
    assert row.next(tag=tag, schema="idgen") == [row.text(4)]


# --- what others do at the same moment


@pytest.mark.parametrize("row", ["mysql key_producer", "postgres key_producer"], indirect=True)
def test_a_grant_whose_answer_is_lost_after_the_commit_is_burned(row):
    row.create()
    with Proxy(row.server.port) as proxy:
        row.url = row.server.url(proxy.port)
        with row.asked(step=10) as process:
            found = process.first_ids(10)
            proxy.lose_answer(b"UPDATE key_producer SET MAXSERIALNO")
            found += process.first_ids(10)
            assert proxy.lost.is_set()
            assert row.numbers(found) == [*range(1, 11), *range(21, 31)]
            assert row.highest() == 30


@pytest.fixture(params=["read committed", "repeatable read", "serializable"])
def isolated(request, started, tmp_path):
    """A row on PostgreSQL, where idgen's transactions are isolated in that way."""
    row = made("postgres key_producer", started, tmp_path).create()
    row.server.sql(f"ALTER ROLE app SET default_transaction_isolation = '{request.param}'")
    yield row
    row.server.sql("ALTER ROLE app RESET default_transaction_isolation")


def test_at_every_isolation_level_who_has_waited_for_another_goes_on_behind_it(isolated):
    row = isolated
    row.set_highest(10)
    waiters = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%key_producer%'"
    for other, ours, then in (
        (50, lambda: row.ids(1, step=1), [51]),
        (100, lambda: row.advance(200), 200),
        (1000, lambda: row.advance(300), 1001),
    ):
        with originals.connect(row.server) as holder, ThreadPoolExecutor(1) as pool:
            cursor = holder.cursor()
            cursor.execute(f"UPDATE key_producer SET MAXSERIALNO = '{row.text(other)}' {row.where}")
            waiting = pool.submit(ours)
            wait_until(lambda: row.server.sql(waiters).strip() == "1", what="idgen waits for the row")
            holder.commit()
            found = waiting.result()
        if isinstance(then, list):
            assert found == then
        else:
            assert f"{row.label:12}{row.text(then)}\n" in found


def test_at_every_isolation_level_processes_beside_an_original_draw_each_number_once(isolated):
    row = isolated
    with contextlib.ExitStack() as stack:
        original = stack.enter_context(row.original())
        ours = [stack.enter_context(row.asked(step=7)) for _ in range(3)]
        for process in (original, *ours):
            process.ask(EACH)
        found = [row.number_in(number) for number in original.answer()]
        for process in ours:
            ids, failure = process.answer()
            assert not failure
            found += row.numbers(ids)
        assert len(distinct(found)) == 4 * EACH
        assert max(found) <= row.highest()


# --- with the original, whose clock differs


def test_an_original_whose_clock_is_behind_begins_the_day_before_again_and_idgen_stops(row, tmp_path):
    row.create().clock.set("2026-11-22 00:00:00")
    with row.asked(step=CACHE) as ours, row.original(clock=Clock(tmp_path / "b", "2026-11-21 23:59:59")) as behind:
        ours.ids(CACHE)
        assert behind.issue(1) == [2026112100000001]
        assert row.counter() == f"20261121{CACHE:08}"
        found, failure = ours.draw(1)
        assert not found
        assert failure.startswith("STORE_REGRESSED")


def test_what_originals_began_again_and_drew_past_a_generator_is_not_noticed(row):
    """As docs/stores.md says: nothing in the row tells."""
    row.create().clock.set("2026-11-22 00:00:00")
    with row.asked(step=CACHE) as ours, row.original() as other:
        assert row.numbers(ours.ids(CACHE))[0] == 1
        row.clock.set("2026-11-21 23:59:59")
        other.issue(CACHE)
        row.clock.set("2026-11-22 00:00:00")
        assert other.issue(CACHE)[0] == 2026112200000001  # the original's second time
        assert text_of(ours.ids(1)[0]) == f"20261122{CACHE + 1:08}"
