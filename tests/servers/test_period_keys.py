"""segment.schema = incr: serials from one key a day in Redis. What they share with other schemas is in
test_schemas.py."""

import pytest
from clients import IDGEN, MODULES, run
from schemas import CREATE, Incr, made
from serials import Clock, distinct, text_of
from test_bad_input import refused
from test_redis_forgets import WithoutLog

DAY = 86_400


@pytest.fixture
def series(started, tmp_path):
    return made("redis incr", started, tmp_path).create()


# --- alone


@pytest.mark.parametrize(
    ("pattern", "size", "seconds"),
    [
        ("{yyyyMMddHH}{0000}", 10, 3 * 3600),
        (Incr.pattern, 8, 3 * DAY),
        ("{yyMM}-{0000}", 6, 93 * DAY),
        ("{yyyy}{000000}", 4, 3 * 366 * DAY),
    ],
    ids=["hour", "day", "month", "year"],
)
def test_the_key_has_the_period_in_its_name_and_lives_for_three_of_them(series, pattern, size, seconds):
    series.next(pattern=pattern)
    (key,) = series.keys()
    date = key.removeprefix(series.tag + ":")
    assert len(date) == size
    assert date[:4] == series.today[:4]
    assert seconds + DAY - 60 <= series.ttl(date) <= seconds + DAY


def test_a_life_is_made_longer_but_never_shorter_and_one_without_an_end_is_kept(series):
    series.set_highest(10_000)
    series.next()
    assert series.ttl() == -1
    for seconds, least in ((60, 3 * DAY - 60), (9 * DAY, 9 * DAY - 60)):
        series.server.cli("EXPIRE", series.day_key(), str(seconds))
        series.next()
        assert series.ttl() > least


def test_at_or_below_where_it_is_an_advance_passes_one_number(series):
    series.advance(417)
    assert series.counter() == "417"
    assert series.ttl() > 3 * DAY - 60
    assert series.ids(1) == [418]
    # What another process holds is not given back any more.
    assert f"serial      {series.text(419)}" in series.advance(1)
    yesterday = ("segment", "advance", "--above", f"{series.clock.day(-1)}00000900")
    assert f"serial      {series.text(420)}" in series.done(*yesterday)
    assert series.ids(1) == [421]


@pytest.mark.parametrize("form", ["{}:{}:{}:{}", "{}:{}-{}-{}", "{}-{}{}{}", "{}_{}_{}_{}", "{}{}{}{}", "{}:{}/{}/{}"])
@pytest.mark.parametrize("year", ["yyyy", "yy"])
def test_a_key_with_the_date_in_another_form_is_not_passed_over(series, form, year):
    series = series.another()
    assert f"it begins above the number in the key {series.tag}:yyyyMMdd" in series.done(*CREATE)
    today = series.today
    other = form.format(series.tag, today[:4] if year == "yyyy" else today[2:4], today[4:6], today[6:])
    series.server.cli("SET", other, "41")
    series.refused("FORMAT_MISMATCH", f"counts in the key '{series.day_key()}', which is not there, and '{other}' is")
    assert series.server.cli("EXISTS", series.day_key()).strip() == "0"
    series.advance(41)
    assert series.ids(1) == [42]


def run_by_hand(series, printed):
    replid = series.server.cli("INFO", "replication").split("master_replid:")[1].split()[0]
    for line in printed.replace("MASTER_REPLID", replid).splitlines():
        if not line.startswith("#"):
            series.server.cli(*[word.strip('"') for word in line.split()])


def test_create_prints_what_it_would_run_and_a_person_may_run_that(series):
    series = series.another()
    printed = series.done(*CREATE, "--print")
    run_by_hand(series, printed)
    assert series.ids(2) == [1, 2]
    series.refused("TAG_EXISTS", series.tag, words=CREATE)
    before = series.server.cli("HGETALL", series.row)
    run_by_hand(series, printed)  # by mistake: nothing begins again
    assert series.server.cli("HGETALL", series.row) == before


def test_what_is_promised_and_what_not_is_described(series, tmp_path):
    config = tmp_path / "idgen.toml"
    config.write_text(
        f'[orders]\nkind = "serial"\nstore = "{series.url}"\ntag = "{series.tag}"\npattern = "{series.pattern}"\n'
        f'segment.schema = "incr"\nmodule.path = "{MODULES}"\n'
    )
    done = run([IDGEN, "doctor", "--config", config])
    assert done.returncode == 0, done.stdout + done.stderr
    assert "TAG:DATE" in done.stdout
    assert "a program that counts in an expired key" in done.stdout


# --- what goes wrong


@pytest.mark.parametrize("how", ["DEL", "EXPIRE"])
def test_a_day_whose_key_has_gone_does_not_begin_again(series, how):
    assert series.ids(5)[-1] == 5
    series.server.cli(how, series.day_key(), *(["0"] if how == "EXPIRE" else []))
    for _ in range(2):
        series.refused("STORE_REGRESSED", series.day_key(), "has gone", "stood at 5", "segment advance")
    assert series.counter() == ""
    series.advance(3)
    assert series.ids(1) == [7]


def test_a_key_that_was_begun_again_is_noticed(series):
    series.ids(5)
    series.server.cli("DEL", series.day_key())
    series.server.cli("INCR", series.day_key())
    series.refused("STORE_REGRESSED", series.day_key(), "stands at 1", "stood at 5", "segment advance")
    assert series.counter() == "1"


def test_what_is_given_back_to_a_key_that_was_lowered_does_not_hide_that(series):
    """The key stands just where a holder's numbers end, but others had more."""
    with series.asked(step=10) as holder:
        holder.ids(5)
        with series.asked(step=10) as other:
            other.ids(10)
        series.set_counter(10)
    assert series.counter() == "10"
    series.refused("STORE_REGRESSED", "stands at 10", "stood at 20")


def test_a_row_that_was_lost_is_made_and_raised_and_what_somebody_holds_is_not_given_back(series):
    with series.asked(step=10) as holder:
        holder.ids(5)
        series.server.cli("DEL", series.row)
        series.create()
        assert f"serial      {series.text(11)}" in series.advance(10)
    assert series.ids(1) == [12]


@pytest.mark.parametrize("command", ["next", "advance"])
def test_the_key_of_a_day_to_come_lives_until_that_day_is_over(series, command):
    series.clock.set(f"{series.clock.time(days=10):%Y-%m-%d} 12:00:00")
    series.advance(5) if command == "advance" else series.next()
    assert 13 * DAY < series.ttl() <= 15 * DAY


@pytest.mark.parametrize("right", ["-ttl", "-expire", "resetkeys ~idgen*"])
def test_a_right_that_is_missing_is_said_and_burns_nothing(series, right):
    """A failure halfway would raise the key with every retry."""
    series.next()
    name = f"u{series.tag}"
    series.server.cli("ACL", "SETUSER", name, "on", ">pw", "~*", "&*", "+@all", *right.split())
    series.server.cli("EXPIRE", series.day_key(), "60")
    series.url = series.url.replace(":s3cr3t%2F%25@", f"{name}:pw@")
    series.refused("STORE_PERMISSION", "user executing the script")
    assert series.highest() <= (1 if right != "-expire" else 2)


def test_a_statistic_that_somebody_has_broken_stops_nothing(series):
    series.server.cli("HSET", series.row, "grants", "x")
    assert series.ids(1) == [1]
    assert series.server.cli("HGET", series.row, "grants").strip() == "1"


def test_a_running_generator_stops_when_its_key_goes(series):
    with series.asked(step=5) as process:
        process.ids(5)
        (key,) = series.keys()
        series.server.cli("DEL", key)
        assert process.draw(1)[1].startswith("STORE_REGRESSED")


def test_a_clock_set_back_to_a_day_whose_key_has_expired_prints_nothing_of_it(series):
    series.clock.set("2026-11-21 12:00:00")
    assert series.next(3)[-1] == "2026112100000003"
    series.clock.set("2026-11-25 12:00:00")
    assert series.next() == ["2026112500000001"]
    series.server.cli("DEL", series.day_key("20261121"))  # it has expired
    series.clock.set("2026-11-21 12:00:00")
    series.refused("CLOCK_BACK", "2026112500000001")
    assert series.counter("20261121") == ""
    series.clock.set("2026-11-25 12:00:01")
    assert series.next() == ["2026112500000002"]


def test_after_a_restart_from_an_older_dump_nothing_is_granted_until_the_tag_is_raised(tmp_path):
    with WithoutLog() as server:
        series = Incr(server).stand_still(tmp_path).create()
        series.next(3)
        server.cli("SAVE")
        assert series.ids(4)[-1] == 7
        server.restart()
        assert series.counter() == "3"
        for words in (("next",), CREATE, (*CREATE, "--if-missing")):
            series.refused("STORE_REGRESSED", "another life of the server", "idgen segment advance", words=words)
        series.advance(7)
        assert series.ids(1) == [8]


def test_a_key_of_another_type_is_damage(series):
    series.server.cli("LPUSH", series.day_key(), "a")
    series.refused("STORE_DAMAGED", series.day_key(), "below 2^40")
    series.remove()


@pytest.mark.parametrize(
    ("field", "value"),
    [("date", "2026-11-2"), ("date", "20261399"), ("number", "x"), ("number", "-1"), ("step", "many")],
)
def test_a_row_that_was_written_by_hand_and_wrong_is_damage(series, field, value):
    series.next()
    series.server.cli("HSET", series.row, field, value)
    series.refused("STORE_DAMAGED", value)
    listed = series.list()
    assert (listed.returncode, value in listed.stderr) == (1, True)
    before = series.server.cli("HGETALL", series.row)
    done = series.command("segment", "advance", "--force", "--above", f"{series.clock.day(1)}00000900")
    if field != "step":
        refused(done, "STORE_DAMAGED", value)
        assert series.server.cli("HGETALL", series.row) == before
    series.remove()


def test_another_pattern_of_the_tag_is_refused(series):
    series.next()
    series.refused("FORMAT_MISMATCH", "{yyyy}", pattern="{yyyy}{00000000}")
    series.refused("FORMAT_MISMATCH", pattern="SO{yyyyMMdd}{000000}")
    assert len(series.next(pattern="{yyyyMMdd}{0000000000}")[0]) == 18


@pytest.mark.parametrize("pattern", ["C{00000}", "{dd}{000}", "{yyyyMMddHHmm}{000}"])
def test_a_pattern_without_a_date_or_with_one_that_comes_again_is_refused(series, pattern):
    for words in (CREATE, (*CREATE, "--print"), ("next",)):
        series.refused("VALUE", pattern, words=words, pattern=pattern)


def test_a_number_without_a_period_is_nothing_to_advance_to(series):
    series.refused("VALUE", "417", "--above", words=("segment", "advance", "--to", "417"))


def test_a_series_that_was_there_is_not_made_again(series):
    series.next()
    series.server.cli("DEL", series.row)
    series.refused("TAG_UNKNOWN", "it was there before", store_create="true")


def test_a_program_whose_clock_is_behind_goes_on_with_the_day_before_and_nothing_comes_twice(series, tmp_path):
    series.clock.set("2026-11-21 23:59:59")
    behind = Clock(tmp_path / "behind", "2026-11-21 23:59:58")
    with series.asked(step=50) as ours, series.original(clock=behind) as theirs:
        found = [text_of(number) for number in ours.ids(70)]
        series.clock.set("2026-11-22 00:00:00")
        for _ in range(3):
            found += map(str, theirs.issue(20))
            found += [text_of(number) for number in ours.ids(70)]
    distinct(found)
    assert {text[:8] for text in found} == {"20261121", "20261122"}
