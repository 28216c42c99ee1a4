"""Rows of key_producer: idgen draws serials from them as the original does, alone and at the same time."""

from contextlib import ExitStack

import originals
import pytest
from clients import command, new_tag, run
from serials import Clock, Series, day, distinct, on_one_day, text_of
from test_bad_input import refused

PATTERN = "{yyyyMMdd}{00000000}"
SO = "SO{yyyyMMdd}{000000}"
CACHE = originals.KeyProducer.CACHE


class Business(Series):
    """A table of the business, and the series of its numbers."""

    SCHEMA, PATTERN = "key_producer", PATTERN

    def __init__(self, server, statements):
        self.server, self.table = server, new_tag()
        super().__init__(server.url(**({"statements": statements} if statements else {})), f"{self.table}.number")
        # The original looks for the table by the name that its row has, which is in upper case.
        self.server.sql(f"CREATE TABLE {self.table} (number varchar(80))")
        self.server.sql(f"CREATE VIEW {self.table.upper()} AS SELECT number FROM {self.table}")

    @property
    def where(self):
        return f"WHERE TABLENAME = '{self.table.upper()}' AND COLUMNNAME = 'NUMBER'"

    def latest(self):
        return self.server.sql(f"SELECT MAXSERIALNO FROM key_producer {self.where}").strip()

    def set(self, text, column="MAXSERIALNO"):
        self.server.sql(f"UPDATE key_producer SET {column} = {text} {self.where}")

    def insert(self, *numbers):
        self.server.sql(f"DELETE FROM {self.table}")
        for number in numbers:
            self.server.sql(f"INSERT INTO {self.table} VALUES ('{number}')")


@pytest.fixture(params=["", "transaction"], ids=["single", "transaction"])
def business(request, started):
    return Business(started("mysql"), request.param)


# --- alone


def test_a_new_series_begins_with_1_and_what_was_not_used_is_given_back(business):
    business.create()
    assert business.latest() == "INIT"

    def begins(today):
        business.set("'INIT'")
        assert business.next(2) == [f"{today}00000001", f"{today}00000002"]
        assert business.latest() == f"{today}00000002"
        assert business.next() == [f"{today}00000003"]

    on_one_day(begins)


def test_a_row_that_was_just_made_begins_above_the_highest_number_of_that_day_in_the_table(business):
    business.create(pattern=SO)

    def above(today):
        business.set("'INIT'")
        business.insert(f"SO{today}000417", f"SO{today}000009", f"SO{day(-1)}000900", "KO20260101000999")
        assert business.next(pattern=SO) == [f"SO{today}000418"]

    on_one_day(above)


def test_a_number_of_more_digits_is_the_higher_one_although_as_text_it_is_less(business):
    pattern = "{yyyyMMdd}{0+}"
    business.create(pattern=pattern)

    def above(today):
        business.set("'INIT'")
        business.insert(f"{today}9", f"{today}10")
        assert business.next(pattern=pattern) == [f"{today}11"]

    on_one_day(above)


def test_a_percent_sign_in_a_pattern_is_itself(business):
    pattern = "_%|{yyyy}-{0000}"
    business.create(pattern=pattern)
    year = day()[:4]
    business.insert(f"_%|{year}-0002", f"ab|{year}-0100")
    assert business.next(pattern=pattern) == [f"_%|{year}-0003"]


def test_a_row_of_an_earlier_day_begins_with_1(business):
    business.create()

    def first(today):
        business.set(f"'{day(-1)}00000500'")
        assert business.next() == [f"{today}00000001"]

    on_one_day(first)


def test_a_row_of_a_day_to_come_means_that_a_clock_is_wrong(business):
    business.create()
    ahead = f"{day(2)}00000005"
    business.set(f"'{ahead}'")
    business.refused("CLOCK_BACK", business.tag, ahead)
    assert business.latest() == ahead


def test_a_row_whose_format_is_quoted_in_another_way_is_the_same_row(business):
    pattern = "INV-{yyyyMMdd}{0000}"
    business.create(pattern=pattern)
    found = business.server.sql(f"SELECT DATEFMT, NOFMT FROM key_producer {business.where}")
    assert found.split() == ["'INV-'yyyyMMdd", "0000"]
    business.set("\"'INV'-yyyyMMdd\"", column="DATEFMT")
    assert business.next(pattern=pattern)[0].endswith("0001")
    assert business.latest().endswith("0001")


def test_each_pattern_of_a_column_is_a_series_of_its_own(business):
    business.create().create(pattern=SO)
    assert business.next(2)[-1].endswith("00000002")
    assert business.next(pattern=SO)[0].startswith("SO")
    assert len(business.latest().split()) == 2


def test_a_series_without_a_date_counts_on(business):
    business.create(pattern="C{00000}")
    assert business.next(2, pattern="C{00000}") == ["C00001", "C00002"]
    assert business.latest() == "C00002"


def test_no_more_is_taken_than_the_pattern_holds(business):
    pattern = "{yyyyMMdd}{00}"
    business.create(pattern=pattern)

    def all_of_them(today):
        business.set("'INIT'")
        with business.asked(pattern=pattern, step=1000) as process:
            assert [text_of(number, 2) for number in process.ids(99)] == [f"{today}{n:02}" for n in range(1, 100)]
            failure = process.draw(1)[1]
            assert failure.startswith("EXHAUSTED")
            assert f"{today}99" in failure
        assert business.latest() == f"{today}99"

    on_one_day(all_of_them)


def test_it_goes_on_above_what_a_person_names_and_is_shown(business):
    business.create()

    def above(today):
        business.set(f"'{today}00000001'")
        shown = business.done("segment", "advance", "--above", f"{today}00000417")
        assert f"serial      {today}00000417" in shown
        assert business.latest() == f"{today}00000417"
        assert business.next() == [f"{today}00000418"]
        assert f"serial      {today}00000418" in business.done("segment", "show")

    on_one_day(above)


def test_create_prints_what_it_would_run_and_a_person_may_run_that(business):
    printed = business.done("segment", "create", "--print", pattern=SO)
    assert "CREATE TABLE IF NOT EXISTS key_producer" in printed
    business.server.sql(printed)
    assert business.latest() == "INIT"
    assert business.next(pattern=SO)[0].startswith("SO")
    business.refused("TAG_EXISTS", business.tag, words=("segment", "create"), pattern=SO)


def test_a_series_goes_on_in_idgens_own_table_when_the_original_is_gone(business):
    business.create()

    def moved(today):
        business.set(f"'{today}00000417'")
        assert business.goes_on_in_idgens_own() == [f"{today}00000418"]

    on_one_day(moved)


def test_all_series_are_listed(business):
    business.create()
    business.next()
    assert text_of(business.listed()[business.tag.upper()]) == business.latest()


# --- bad input


@pytest.mark.parametrize(
    "text", ["'2026'", "'SO2026112100000001'", "'2026112100000001x'", "'2026993100000001'", "''", "NULL", "'init'"]
)
def test_a_text_that_is_none_of_the_pattern_is_damage_and_is_left_alone(business, text):
    business.create()
    business.set(text)
    before = business.latest()
    business.refused("STORE_DAMAGED", "MAXSERIALNO", business.tag)
    assert business.latest() == before
    business.set("'INIT'")  # for listing them all


def test_a_number_of_the_table_that_is_none_of_the_pattern_is_said_so(business):
    business.create()
    business.insert(f"{day()}12", f"{day(1)}12")
    business.refused("STORE_DAMAGED", "MAXSERIALNO", "by hand", day()[:6])
    assert business.latest() == "INIT"


def test_a_table_that_is_not_there_is_said_so(business):
    missing = new_tag()
    business.create(tag=f"{missing}.number")
    business.refused("VALUE", missing, tag=f"{missing}.number")


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
def test_a_pattern_that_a_row_cannot_say_is_refused(business, pattern, words):
    business.refused("UNSUPPORTED", "key_producer", words, pattern=pattern)


@pytest.mark.parametrize("tag", ["orders", ".number", "orders.", "x" * 81 + ".number"])
def test_a_tag_that_is_no_table_and_column_is_refused(business, tag):
    business.refused("VALUE", "TABLE.COLUMN", tag=tag)


def test_a_namespace_a_step_and_another_kind_are_refused(business):
    business.create()
    business.refused("VALUE", "no namespace", namespace="shop")
    business.refused("UNSUPPORTED", "no step", words=("segment", "set-step", "--step", "5"))
    business.refused("VALUE", "kind = serial", kind="segment", pattern="")


def test_a_series_that_is_not_there_is_not_made_by_drawing_unless_that_is_wanted(business):
    business.create()
    business.refused("TAG_UNKNOWN", "'SO'yyyyMMdd", "000000", "idgen segment create", pattern=SO)
    assert business.next(pattern=SO, store_create="true")[0].endswith("000001")


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
def test_a_row_whose_serials_could_be_the_same_is_not_passed_by(business, theirs, ours):
    date, number = theirs
    business.create(pattern="none of these {yy}{0}")
    business.set(f'"{date}"', column="DATEFMT")
    business.set(f"'{number}'", column="NOFMT")
    for words in (("next",), ("segment", "create")):
        for create in ("true", "false"):
            done = business.command(*words, pattern=ours, store_create=create)
            if date == "'INV'-yyyyMMdd":
                if words == ("segment", "create"):
                    refused(done, "TAG_EXISTS")
                continue
            refused(done, "FORMAT_MISMATCH", date, number)


def test_two_rows_of_one_pattern_are_refused(business):
    pattern = "INV-{yyyyMMdd}{0000}"
    business.create(pattern=pattern)
    business.server.sql(
        "INSERT INTO key_producer (TABLENAME, COLUMNNAME, MAXSERIALNO, DATEFMT, NOFMT) VALUES"
        f" ('{business.table.upper()}', 'NUMBER', 'INIT', \"'INV'-yyyyMMdd\", '0000')"
    )
    business.refused("FORMAT_MISMATCH", "another row", pattern=pattern)


def test_a_row_that_nobody_has_drawn_from_is_neither_advanced_nor_imported(business):
    business.create()
    business.insert(f"{day()}00000417")
    business.refused("UNSUPPORTED", "INIT", words=("segment", "advance", "--above", f"{day(-1)}00000900"))
    source = ("--from-schema", "key_producer", "--from-tag", business.tag)
    own = command(business.url, new_tag(), "segment", "import", *source, kind="serial", pattern=PATTERN)
    refused(run(own), "UNSUPPORTED", "INIT")
    assert business.latest() == "INIT"
    assert business.next()[0].endswith("00000418")


@pytest.mark.parametrize("pattern", ["{dd}{000}", "{yyyyMMddHHmm}{000}"])
def test_a_pattern_whose_dates_come_again_makes_no_row(business, pattern):
    business.create()
    business.refused("VALUE", pattern, words=("segment", "create"), pattern=pattern)


@pytest.mark.parametrize("store", ["sqlite:ids.db", "memory", "postgres://127.0.0.1:1/x", "redis://127.0.0.1:1"])
def test_other_stores_name_those_that_have_it(store):
    done = run(command(store, "orders.number", "next", kind="serial", schema="key_producer", pattern=PATTERN))
    refused(done, "UNSUPPORTED", "key_producer", "mysql, mariadb")


# --- beside the original

EACH = 12_000


def test_the_original_and_idgen_draw_from_one_row_and_it_ends_where_both_say(business):
    business.create()

    def drawn(today):
        business.set("'INIT'")
        with ExitStack() as stack:
            theirs = [stack.enter_context(original(business)) for _ in range(2)]
            ours = [stack.enter_context(business.asked(step=CACHE)) for _ in range(3)]
            for process in (*theirs, *ours):
                process.ask(EACH - 1)  # one number of the last segment is left, so no other is requested
            found = [str(number) for process in theirs for number in process.answer()]
            for process in ours:
                ids, failure = process.answer()
                assert not failure
                found += [text_of(number) for number in ids]
            assert business.latest() == f"{today}{5 * EACH:08}"
            for process in ours:
                process.process.kill()
        distinct(found)
        assert len(found) == 5 * (EACH - 1)
        assert min(found) == f"{today}00000001"
        assert max(found) <= f"{today}{5 * EACH:08}"

    on_one_day(drawn)


def original(business):
    return originals.key_producer(business.server, business.tag.upper())


def test_both_go_over_midnight_and_no_number_comes_twice(business, tmp_path, monkeypatch):
    business.create()
    with ExitStack() as stack:
        with monkeypatch.context() as patch:
            clock = Clock(tmp_path / "clock", "2026-11-21 23:59:59").patch(patch)
            theirs = [stack.enter_context(original(business)) for _ in range(2)]
            ours = [stack.enter_context(business.asked(step=CACHE)) for _ in range(2)]
        found = []
        for time_of_day in ("2026-11-21 23:59:59", "2026-11-22 00:00:00", "2026-11-22 23:59:59", "2026-11-24 00:00:00"):
            clock.set(time_of_day)
            for _ in range(5):
                for process in (*theirs, *ours):
                    process.ask(220)
                drawn = [str(number) for process in theirs for number in process.answer()]
                for process in ours:
                    ids, failure = process.answer()
                    assert not failure
                    drawn += [text_of(number) for number in ids]
                assert {text[:8] for text in drawn} <= {"20261121", "20261122", "20261124"}
                found += drawn
            assert {text[:8] for text in drawn} == {time_of_day[:10].replace("-", "")}
    distinct(found)
    for first in ("20261121", "20261122", "20261124"):
        assert f"{first}00000001" in found


def test_an_original_whose_clock_is_behind_begins_the_day_before_again_and_idgen_stops(business, tmp_path, monkeypatch):
    business.create()
    with ExitStack() as stack:
        with monkeypatch.context() as patch:
            Clock(tmp_path / "right", "2026-11-22 00:00:00").patch(patch)
            ours = stack.enter_context(business.asked(step=CACHE))
        with monkeypatch.context() as patch:
            Clock(tmp_path / "behind", "2026-11-21 23:59:59").patch(patch)
            behind = stack.enter_context(original(business))
        ours.ids(CACHE)
        assert behind.issue(1) == [2026112100000001]
        assert business.latest() == f"20261121{CACHE:08}"
        found, failure = ours.draw(1)
        assert not found
        assert failure.startswith("STORE_REGRESSED")


def test_what_originals_began_again_and_drew_past_a_generator_is_not_noticed(business, tmp_path, monkeypatch):
    """As docs/stores.md says: nothing in the row tells."""
    business.create()
    with ExitStack() as stack:
        with monkeypatch.context() as patch:
            clock = Clock(tmp_path / "clock", "2026-11-22 00:00:00").patch(patch)
            ours = stack.enter_context(business.asked(step=CACHE))
            other = stack.enter_context(original(business))
        assert ours.ids(CACHE)[0] & 0xFFFF == 1
        clock.set("2026-11-21 23:59:59")
        other.issue(CACHE)
        clock.set("2026-11-22 00:00:00")
        assert other.issue(CACHE)[0] == 2026112200000001  # the original's second time
        assert text_of(ours.ids(1)[0]) == f"20261122{CACHE + 1:08}"


def test_a_process_of_idgen_that_is_killed_loses_numbers_and_shares_none(business):
    business.create()
    found = []
    with original(business) as other:
        for _ in range(5):
            with business.asked(step=CACHE) as process:
                found += [text_of(number) for number in process.ids(30)]
                found += [str(number) for number in other.issue(70)]
                process.process.kill()
    distinct(found)
