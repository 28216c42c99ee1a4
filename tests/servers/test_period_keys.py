"""segment.schema = incr: serials from one key a day in Redis, alone and beside programs that count in it by INCR."""

from contextlib import ExitStack
from datetime import UTC, datetime, timedelta

import originals
import pytest
from clients import IDGEN, MODULES, command, new_tag, run
from serials import Clock, Series, day, distinct, on_one_day, text_of
from test_bad_input import refused
from test_redis_forgets import WithoutLog

PATTERN = "{yyyyMMdd}{00000000}"
SO = "SO{yyyyMMdd}{000000}"
DAY = 86_400


class Keys(Series):
    """A tag, and the keys of its days."""

    SCHEMA, PATTERN = "incr", PATTERN

    def __init__(self, server):
        self.server = server
        super().__init__(server.url(), new_tag())

    def key(self, date):
        return f"{self.tag}:{date}"

    def counter(self, date):
        return self.server.cli("GET", self.key(date)).strip()

    def set(self, date, number):
        self.server.cli("SET", self.key(date), str(number))

    def begin(self, date):
        """As if nobody had drawn yet."""
        self.server.cli("DEL", self.key(date))
        self.server.cli("HSET", self.row, "date", "", "number", "0")

    def ttl(self, date):
        return int(self.server.cli("TTL", self.key(date)))

    @property
    def row(self):
        return f"idgen.serial:{self.tag}"


@pytest.fixture
def series(started):
    return Keys(started("redis"))


# --- alone


def test_a_day_begins_with_1_in_a_key_of_its_own_and_what_was_not_used_is_given_back(series):
    series.create()

    def begins(today):
        series.begin(today)
        assert series.next(2) == [f"{today}00000001", f"{today}00000002"]
        assert series.counter(today) == "2"
        assert series.next() == [f"{today}00000003"]

    on_one_day(begins)


def test_a_key_that_others_have_counted_in_is_gone_on_with(series):
    series.create()

    def above(today):
        series.set(today, 417)
        assert series.next() == [f"{today}00000418"]
        assert series.counter(today) == "418"

    on_one_day(above)


@pytest.mark.parametrize(
    ("pattern", "size", "seconds"),
    [
        ("{yyyyMMddHH}{0000}", 10, 3 * 3600),
        (PATTERN, 8, 3 * DAY),
        ("{yyMM}-{0000}", 6, 93 * DAY),
        ("{yyyy}{000000}", 4, 3 * 366 * DAY),
    ],
    ids=["hour", "day", "month", "year"],
)
def test_the_key_has_the_period_in_its_name_and_lives_for_three_of_them(series, pattern, size, seconds):
    series.create(pattern=pattern)
    series.next(pattern=pattern)
    (key,) = series.server.cli("KEYS", f"{series.tag}:*").split()
    date = key.removeprefix(series.tag + ":")
    assert len(date) == size
    assert date[:4] in {day()[:4], day(-1)[:4], day(1)[:4]}
    assert seconds + DAY - 60 <= series.ttl(date) <= seconds + DAY


def test_a_life_is_made_longer_but_never_shorter_and_one_without_an_end_is_kept(series):
    series.create()

    def lives(today):
        series.set(today, 10_000)
        series.next()
        assert series.ttl(today) == -1
        series.server.cli("EXPIRE", series.key(today), "60")
        series.next()
        assert series.ttl(today) > 3 * DAY - 60
        series.server.cli("EXPIRE", series.key(today), str(9 * DAY))
        series.next()
        assert series.ttl(today) > 9 * DAY - 60

    on_one_day(lives)


def test_another_days_number_begins_with_1(series):
    series.create()

    def first(today):
        series.server.cli("DEL", series.key(today))
        series.server.cli("HSET", series.row, "date", day(-1), "number", "500")
        assert series.next() == [f"{today}00000001"]

    on_one_day(first)


def test_a_day_to_come_means_that_a_clock_is_wrong(series):
    series.create()
    series.done("segment", "advance", "--force", "--above", f"{day(2)}00000005")
    series.refused("CLOCK_BACK", series.tag, f"{day(2)}00000005")
    assert series.counter(day(2)) == "5"


def test_no_more_is_taken_than_the_pattern_holds(series):
    pattern = "{yyyyMMdd}{00}"
    series.create(pattern=pattern)

    def all_of_them(today):
        series.begin(today)
        with series.asked(pattern=pattern, step=1000) as process:
            assert [text_of(number, 2) for number in process.ids(99)] == [f"{today}{n:02}" for n in range(1, 100)]
            failure = process.draw(1)[1]
            assert failure.startswith("EXHAUSTED")
            assert series.key(today) in failure
        assert series.counter(today) == "99"

    on_one_day(all_of_them)


def test_it_goes_on_above_what_a_person_names_and_is_shown(series):
    series.create()

    def above(today):
        series.begin(today)
        shown = series.done("segment", "advance", "--above", f"{today}00000417")
        assert f"serial      {today}00000417" in shown
        assert series.counter(today) == "417"
        assert series.ttl(today) > 3 * DAY - 60
        assert series.next() == [f"{today}00000418"]
        # At or below where it is, the next number is passed: what somebody holds is not given back any more.
        assert f"serial      {today}00000419" in series.done("segment", "advance", "--above", f"{today}00000001")
        assert f"serial      {today}00000420" in series.done("segment", "advance", "--above", f"{day(-1)}00000900")
        assert series.next() == [f"{today}00000421"]
        assert f"serial      {today}00000421" in series.done("segment", "show")

    on_one_day(above)


def test_a_tags_own_step_is_used(series):
    series.create()
    series.done("segment", "set-step", "--step", "7")
    with series.asked(step=1000) as process:
        process.ids(1)
        (key,) = series.server.cli("KEYS", f"{series.tag}:*").split()
        assert int(series.server.cli("GET", key)) == 7


def run_by_hand(series, printed):
    replid = series.server.cli("INFO", "replication").split("master_replid:")[1].split()[0]
    for line in printed.replace("MASTER_REPLID", replid).splitlines():
        if not line.startswith("#"):
            series.server.cli(*[word.strip('"') for word in line.split()])


def test_create_prints_what_it_would_run_and_a_person_may_run_that(series):
    printed = series.done("segment", "create", "--print")
    run_by_hand(series, printed)
    assert series.next(2)[-1].endswith("00000002")
    series.refused("TAG_EXISTS", series.tag, words=("segment", "create"))
    before = series.server.cli("HGETALL", series.row)
    run_by_hand(series, printed)  # by mistake: nothing begins again
    assert series.server.cli("HGETALL", series.row) == before


def test_a_series_goes_on_in_idgens_own_counter_when_the_others_are_gone(series):
    series.create()

    def moved(today):
        series.set(today, 417)
        assert series.next() == [f"{today}00000418"]
        assert series.goes_on_in_idgens_own() == [f"{today}00000419"]

    on_one_day(moved)


def test_all_series_are_listed(series):
    series.create()
    series.next()
    assert text_of(series.listed()[series.tag]).endswith("00000001")


def test_what_is_promised_and_what_not_is_described(series, tmp_path):
    series.create()
    config = tmp_path / "idgen.toml"
    config.write_text(
        f'[orders]\nkind = "serial"\nstore = "{series.url}"\ntag = "{series.tag}"\npattern = "{PATTERN}"\n'
        f'segment.schema = "incr"\nmodule.path = "{MODULES}"\n'
    )
    done = run([IDGEN, "doctor", "--config", config])
    assert done.returncode == 0, done.stdout + done.stderr
    described = done.stdout
    assert "TAG:DATE" in described
    assert "a program that counts in an expired key" in described


# --- what goes wrong


@pytest.mark.parametrize("how", ["DEL", "EXPIRE"])
def test_a_day_whose_key_has_gone_does_not_begin_again(series, how):
    series.create()

    def gone(today):
        series.begin(today)
        assert series.next(5)[-1] == f"{today}00000005"
        series.server.cli(how, series.key(today), *(["0"] if how == "EXPIRE" else []))
        for _ in range(2):
            series.refused("STORE_REGRESSED", series.key(today), "has gone", "stood at 5", "segment advance")
        assert series.counter(today) == ""
        series.done("segment", "advance", "--above", f"{today}00000003")
        assert series.next() == [f"{today}00000007"]

    on_one_day(gone)


def test_a_key_that_was_begun_again_is_noticed(series):
    series.create()

    def lowered(today):
        series.begin(today)
        series.next(5)
        series.server.cli("DEL", series.key(today))
        series.server.cli("INCR", series.key(today))
        series.refused("STORE_REGRESSED", series.key(today), "stands at 1", "stood at 5", "segment advance")
        assert series.counter(today) == "1"

    on_one_day(lowered)


def test_what_is_given_back_to_a_key_that_was_lowered_does_not_hide_that(series):
    """The key stands just where a holder's numbers end, but others had more."""
    series.create()

    def lowered(today):
        series.begin(today)
        with series.asked(step=10) as holder:
            holder.ids(5)
            with series.asked(step=10) as other:
                other.ids(10)
            series.server.cli("DEL", series.key(today))
            for _ in range(10):
                series.server.cli("INCR", series.key(today))
        assert series.counter(today) == "10"
        series.refused("STORE_REGRESSED", "stands at 10", "stood at 20")

    on_one_day(lowered)


def test_a_row_that_was_lost_is_made_and_raised_and_what_somebody_holds_is_not_given_back(series):
    series.create()

    def lost(today):
        series.begin(today)
        with series.asked(step=10) as holder:
            holder.ids(5)
            series.server.cli("DEL", series.row)
            series.create()
            shown = series.done("segment", "advance", "--above", f"{today}00000010")
            assert f"serial      {today}00000011" in shown
        assert series.next() == [f"{today}00000012"]

    on_one_day(lost)


@pytest.mark.parametrize("command", [("next",), ("segment", "advance", "--above")])
def test_the_key_of_a_day_to_come_lives_until_that_day_is_over(series, tmp_path, command):
    series.create()
    series.clock = Clock(tmp_path / "clock", f"{datetime.now(UTC) + timedelta(days=10):%Y-%m-%d} 12:00:00")
    series.done(*command, *([] if command == ("next",) else [f"{day(10)}00000005"]))
    assert 13 * DAY < series.ttl(day(10)) <= 15 * DAY


@pytest.mark.parametrize("right", ["-ttl", "-expire", "resetkeys ~idgen*"])
def test_a_right_that_is_missing_is_said_and_burns_nothing(series, right):
    """A failure halfway would raise the key with every retry."""
    series.create()

    def refused_by_the_server(today):
        series.begin(today)
        series.next()
        name = f"u{series.tag}"
        rules = ("on", ">pw", "~*", "&*", "+@all", *right.split())
        series.server.cli("ACL", "SETUSER", name, *rules)
        series.server.cli("EXPIRE", series.key(today), "60")
        as_user = Keys(series.server)
        as_user.tag, as_user.url = series.tag, series.url.replace(":s3cr3t%2F%25@", f"{name}:pw@")
        as_user.refused("STORE_PERMISSION", "user executing the script")
        assert int(series.counter(today)) <= (1 if right != "-expire" else 2)

    on_one_day(refused_by_the_server)


def test_a_statistic_that_somebody_has_broken_stops_nothing(series):
    series.create()
    series.server.cli("HSET", series.row, "grants", "x")
    assert series.next()[0].endswith("1")
    assert series.server.cli("HGET", series.row, "grants").strip() == "1"


def test_a_running_generator_stops_when_its_key_goes(series):
    series.create()
    with series.asked(step=5) as process:
        process.ids(5)
        (key,) = series.server.cli("KEYS", f"{series.tag}:*").split()
        series.server.cli("DEL", key)
        assert process.draw(1)[1].startswith("STORE_REGRESSED")


def test_a_clock_set_back_to_a_day_whose_key_has_expired_prints_nothing_of_it(series, tmp_path):
    series.create()
    series.clock = Clock(tmp_path / "clock", "2026-11-21 12:00:00")
    assert series.next(3)[-1] == "2026112100000003"
    series.clock.set("2026-11-25 12:00:00")
    assert series.next() == ["2026112500000001"]
    series.server.cli("DEL", series.key("20261121"))  # it has expired
    series.clock.set("2026-11-21 12:00:00")
    series.refused("CLOCK_BACK", "2026112500000001")
    assert series.counter("20261121") == ""
    series.clock.set("2026-11-25 12:00:01")
    assert series.next() == ["2026112500000002"]


def test_after_a_restart_from_an_older_dump_nothing_is_granted_until_the_tag_is_raised():
    with WithoutLog() as server:
        series = Keys(server).create()

        def forgotten(today):
            series.begin(today)
            series.next(3)
            server.cli("SAVE")
            assert series.next(4)[-1] == f"{today}00000007"
            server.restart()
            assert series.counter(today) == "3"
            for words in (("next",), ("segment", "create"), ("segment", "create", "--if-missing")):
                series.refused("STORE_REGRESSED", "another life of the server", "idgen segment advance", words=words)
            series.done("segment", "advance", "--above", f"{today}00000007")
            assert series.next() == [f"{today}00000008"]

        on_one_day(forgotten)


@pytest.mark.parametrize("text", ["ten", "-5", "1099511627776", "99999999999999999999", "007", "1.5", ""])
def test_a_key_that_is_no_number_of_a_serial_is_damage_and_is_left_alone(series, text):
    series.create()

    def damaged(today):
        series.set(today, text)
        series.refused("STORE_DAMAGED", series.key(today), f'"{text}"')
        assert series.counter(today) == text

    on_one_day(damaged)
    series.server.cli("DEL", series.row)


def test_a_key_of_another_type_is_damage(series):
    series.create()

    def damaged(today):
        series.server.cli("LPUSH", series.key(today), "a")
        series.refused("STORE_DAMAGED", series.key(today), "below 2^40")

    on_one_day(damaged)
    series.server.cli("DEL", series.row)


@pytest.mark.parametrize(
    ("field", "value"),
    [("date", "2026-11-2"), ("date", "20261399"), ("number", "x"), ("number", "-1"), ("step", "many")],
)
def test_a_row_that_was_written_by_hand_and_wrong_is_damage(series, field, value):
    series.create()
    series.next()
    series.server.cli("HSET", series.row, field, value)
    series.refused("STORE_DAMAGED", value)
    before = series.server.cli("HGETALL", series.row)
    done = series.command("segment", "advance", "--force", "--above", f"{day(1)}00000900")
    if field != "step":
        refused(done, "STORE_DAMAGED", value)
        assert series.server.cli("HGETALL", series.row) == before
    series.server.cli("DEL", series.row)


def test_another_pattern_of_the_tag_is_refused(series):
    series.create()
    series.next()
    series.refused("FORMAT_MISMATCH", "{yyyy}", pattern="{yyyy}{00000000}")
    series.refused("FORMAT_MISMATCH", pattern=SO)
    assert len(series.next(pattern="{yyyyMMdd}{0000000000}")[0]) == 18


@pytest.mark.parametrize("pattern", ["C{00000}", "{dd}{000}", "{yyyyMMddHHmm}{000}"])
def test_a_pattern_without_a_date_or_with_one_that_comes_again_is_refused(series, pattern):
    for words in (("segment", "create"), ("segment", "create", "--print"), ("next",)):
        series.refused("VALUE", pattern, words=words, pattern=pattern)


def test_a_number_without_a_period_is_nothing_to_advance_to(series):
    series.create()
    series.refused("VALUE", "417", "--above", words=("segment", "advance", "--to", "417"))


def test_a_namespace_and_another_kind_are_refused(series):
    series.create()
    series.refused("VALUE", "no namespace", namespace="shop")
    series.refused("VALUE", "kind = serial", kind="segment", pattern="")


def test_a_series_that_is_not_there_is_not_made_by_drawing_unless_that_is_wanted(series):
    series.refused("TAG_UNKNOWN", series.tag, "idgen segment create")
    assert series.next(store_create="true")[0].endswith("00000001")


def test_a_series_that_was_there_is_not_made_again(series):
    series.create()
    series.next()
    series.server.cli("DEL", series.row)
    series.refused("TAG_UNKNOWN", "it was there before", store_create="true")


@pytest.mark.parametrize("store", ["sqlite:ids.db", "memory", "postgres://127.0.0.1:1/x", "mysql://127.0.0.1:1/x"])
def test_other_stores_name_the_one_that_has_it(store):
    done = run(command(store, "orders", "next", kind="serial", schema="incr", pattern=PATTERN))
    refused(done, "UNSUPPORTED", "incr", "redis")


# --- beside programs that count by INCR

EACH = 12_000


def test_both_draw_from_one_key_and_no_number_comes_twice(series):
    series.create()

    def drawn(today):
        series.begin(today)
        with ExitStack() as stack:
            theirs = [stack.enter_context(originals.incr(series.server, series.tag)) for _ in range(2)]
            ours = [stack.enter_context(series.asked(step=50)) for _ in range(3)]
            for process in (*theirs, *ours):
                process.ask(EACH)
            found = [str(number) for process in theirs for number in process.answer()]
            for process in ours:
                ids, failure = process.answer()
                assert not failure
                found += [text_of(number) for number in ids]
            assert series.counter(today) == str(5 * EACH)
        distinct(found)
        assert sorted(found) == [f"{today}{n:08}" for n in range(1, 5 * EACH + 1)]

    on_one_day(drawn)


def test_both_go_over_midnight_and_no_number_comes_twice(series, tmp_path, monkeypatch):
    series.create()
    with ExitStack() as stack:
        with monkeypatch.context() as patch:
            clock = Clock(tmp_path / "clock", "2026-11-21 23:59:59").patch(patch)
            theirs = [stack.enter_context(originals.incr(series.server, series.tag)) for _ in range(2)]
            ours = [stack.enter_context(series.asked(step=50)) for _ in range(2)]
        found = []
        for now in ("2026-11-21 23:59:59", "2026-11-22 00:00:00", "2026-11-22 23:59:59", "2026-11-24 00:00:00"):
            clock.set(now)
            for _ in range(5):
                for process in (*theirs, *ours):
                    process.ask(220)
                drawn = [str(number) for process in theirs for number in process.answer()]
                for process in ours:
                    ids, failure = process.answer()
                    assert not failure
                    drawn += [text_of(number) for number in ids]
                found += drawn
            assert {text[:8] for text in drawn} == {now[:10].replace("-", "")}
    distinct(found)
    for date in ("20261121", "20261122", "20261124"):
        assert f"{date}00000001" in found


def test_a_program_whose_clock_is_behind_goes_on_with_the_day_before_and_nothing_comes_twice(
    series, tmp_path, monkeypatch
):
    series.create()
    with ExitStack() as stack:
        with monkeypatch.context() as patch:
            clock = Clock(tmp_path / "right", "2026-11-21 23:59:59").patch(patch)
            ours = stack.enter_context(series.asked(step=50))
        with monkeypatch.context() as patch:
            Clock(tmp_path / "behind", "2026-11-21 23:59:58").patch(patch)
            behind = stack.enter_context(originals.incr(series.server, series.tag))
        found = [text_of(number) for number in ours.ids(70)]
        clock.set("2026-11-22 00:00:00")
        for _ in range(3):
            found += [str(number) for number in behind.issue(20)]
            found += [text_of(number) for number in ours.ids(70)]
    distinct(found)
    assert {text[:8] for text in found} == {"20261121", "20261122"}


def test_a_process_that_is_killed_loses_what_it_held_and_nothing_comes_twice(series, tmp_path):
    series.create()
    found = []
    for _ in range(20):
        with series.asked(step=50) as process:
            found += [text_of(number) for number in process.ids(75)]
            process.process.kill()
    found += series.next(10)
    distinct(found)
