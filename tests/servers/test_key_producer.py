"""segment.schema = key_producer: what only its rows have. What they share with other schemas is in test_schemas.py."""

import originals
import pytest
from clients import new_tag
from schemas import CREATE, made
from serials import Clock, text_of
from test_bad_input import refused

SO = "SO{yyyyMMdd}{000000}"
CACHE = originals.KeyProducer.CACHE


@pytest.fixture(params=["mysql key_producer", "mysql transaction key_producer"])
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
    assert row.select("DATEFMT, NOFMT").split() == ["'INV-'yyyyMMdd", "0000"]
    row.set(DATEFMT="\"'INV'-yyyyMMdd\"")
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
    row.create(pattern="none of these {yy}{0}", columns={"DATEFMT": f'"{date}"', "NOFMT": f"'{number}'"})
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
    row.server.sql(
        "INSERT INTO key_producer (TABLENAME, COLUMNNAME, MAXSERIALNO, DATEFMT, NOFMT) VALUES"
        f" ('{row.business.upper()}', 'NUMBER', 'INIT', \"'INV'-yyyyMMdd\", '0000')"
    )
    row.refused("FORMAT_MISMATCH", "another row")


def test_a_row_that_nobody_has_drawn_from_is_neither_advanced_nor_imported(row):
    row.create().insert(f"{row.today}00000417")
    row.refused("UNSUPPORTED", "INIT", words=("segment", "advance", "--above", f"{row.clock.day(-1)}00000900"))
    source = ("--from-schema", "key_producer", "--from-tag", row.tag)
    row.refused("UNSUPPORTED", "INIT", words=("segment", "import", *source), tag=new_tag(), schema="idgen")
    assert row.counter() == "INIT"
    assert row.ids(1) == [418]


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
