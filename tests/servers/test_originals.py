"""The partners of originals.py, alone. The tests with idgen beside them mean something only if they are right."""

from concurrent.futures import ThreadPoolExecutor

import originals
import pytest
from clients import new_tag
from originals import Conflict, Leaf, LeafBuffer, Tinyid, cosid, leaf, tinyid

EACH = 1000
MINUTES = 60


@pytest.fixture
def mariadb(started):
    return started("mysql")


def issue_at_once(*processes):
    """All ids, none of them twice, rising in each process."""
    drawn = [process.issue(1) for process in processes]  # both are up before either continues
    for process in processes:
        process.ask(EACH - 1)
    for ids, process in zip(drawn, processes, strict=True):
        ids += process.answer()
        assert len(ids) == EACH
        assert ids == sorted(ids)
    found = [number for ids in drawn for number in ids]
    assert len(set(found)) == len(found)
    return set(found)


def test_two_leafs_issue_no_id_twice_and_the_row_ends_where_leaf_says(mariadb):
    tag = Leaf.create(mariadb, new_tag(), step=10)
    with leaf(mariadb, tag) as one, leaf(mariadb, tag) as other:
        found = issue_at_once(one, other)
    drawn_by_each = 10 + 10 + 20 + 40 + 80 + 160 + 320 + 640 + 1280  # the last one ahead of need
    assert Leaf.max_id(mariadb, tag) == 1 + 2 * drawn_by_each
    assert min(found) == 1
    assert max(found) < 1 + 2 * drawn_by_each


def test_many_leafs_at_once_issue_no_id_twice(mariadb):
    tag = Leaf.create(mariadb, new_tag(), step=10)
    with ThreadPoolExecutor(8) as threads:
        drawn = list(threads.map(lambda _: Leaf(mariadb).issue(tag, 13), range(40)))
    found = [number for ids in drawn for number in ids]
    assert len(set(found)) == 40 * 13
    assert Leaf.max_id(mariadb, tag) == 1 + 40 * (10 + 10 + 20)


def test_a_leaf_segment_begins_with_max_id_and_ends_before_the_new_one(mariadb):
    tag = Leaf.create(mariadb, new_tag(), step=10, max_id=100)
    original = Leaf(mariadb)
    assert original.issue(tag, 2) == [100, 101]
    assert Leaf.max_id(mariadb, tag) == 110
    assert original.issue(tag, 23) == list(range(102, 125))


def test_leafs_step_follows_how_long_a_segment_lasted(mariadb):
    tag = Leaf.create(mariadb, new_tag(), step=10)
    now = 0
    original = Leaf(mariadb, clock=lambda: now)
    steps = []
    before = 1
    for minutes, to_the_next_load in ((0, 1), (0, 2), (0, 10), (20, 11), (40, 20), (40, 19)):
        now += minutes * MINUTES
        original.issue(tag, to_the_next_load)
        steps.append(Leaf.max_id(mariadb, tag) - before)
        before += steps[-1]
    assert steps == [10, 10, 20, 20, 10, 10]


def test_leafs_step_stays_when_twice_of_it_is_more_than_a_million(mariadb):
    original = Leaf(mariadb, clock=lambda: 0)
    assert original.next_step(LeafBuffer("", step=500_000, loaded_at=0)) == 1_000_000
    assert original.next_step(LeafBuffer("", step=500_001, loaded_at=0)) == 500_001


@pytest.mark.parametrize(("delta", "remainder"), [(1, 0), (3, 2)])
def test_two_tinyids_issue_no_id_twice_and_the_row_ends_where_tinyid_says(mariadb, delta, remainder):
    step = 10 * delta
    biz_type = Tinyid.create(mariadb, new_tag(), step, delta=delta, remainder=remainder)
    with tinyid(mariadb, biz_type) as one, tinyid(mariadb, biz_type) as other:
        found = issue_at_once(one, other)
    grants = 2 * (EACH // 10 + 1)  # one of each ahead of need
    assert Tinyid.row(mariadb, biz_type) == (1 + grants * step, 1 + grants)
    assert min(found) == 2
    assert max(found) <= 1 + grants * step
    assert all(number % delta == remainder for number in found)


@pytest.mark.parametrize(("delta", "remainder", "first"), [(1, 0, 101), (3, 0, 102), (3, 1, 103), (7, 2, 107)])
def test_a_tinyid_segment_begins_above_max_id_and_ends_with_the_new_one(mariadb, delta, remainder, first):
    biz_type = Tinyid.create(mariadb, new_tag(), step=10, begin_id=100, delta=delta, remainder=remainder)
    original = Tinyid(mariadb)
    assert original.issue(biz_type, 50) == list(range(first, first + 50 * delta, delta))


def others_are_faster(monkeypatch, original, other, biz_type, times):
    """Each time after the original has read the row, until that has happened so often."""
    read = original.read
    left = times

    def read_and_lose(tag):
        nonlocal left
        row = read(tag)
        if left:
            left -= 1
            other.draw(biz_type)
        return row

    monkeypatch.setattr(original, "read", read_and_lose)


def test_a_tinyid_that_others_outrun_twice_draws_what_comes_after_theirs(mariadb, monkeypatch):
    biz_type = Tinyid.create(mariadb, new_tag(), step=10)
    original = Tinyid(mariadb)
    others_are_faster(monkeypatch, original, Tinyid(mariadb), biz_type, 2)
    assert original.next_id(biz_type) == 22
    assert Tinyid.row(mariadb, biz_type) == (31, 4)


def test_a_tinyid_that_others_outrun_three_times_says_conflict_and_has_drawn_nothing(mariadb, monkeypatch):
    biz_type = Tinyid.create(mariadb, new_tag(), step=10)
    original = Tinyid(mariadb)
    others_are_faster(monkeypatch, original, Tinyid(mariadb), biz_type, 3)
    with pytest.raises(Conflict):
        original.next_id(biz_type)
    assert Tinyid.row(mariadb, biz_type) == (31, 4)
    assert original.issue(biz_type, 1) == [32]


@pytest.mark.parametrize("original", [Leaf, Tinyid])
def test_a_tag_without_a_row_is_an_error(mariadb, original):
    original.create_table(mariadb)
    with pytest.raises(KeyError):
        original(mariadb).issue(new_tag(), 1)


def last_max_id(server, name):
    if server.name == "redis":
        return int(server.cli("GET", f"cosid:{{cosid.{name}}}.adder"))
    return int(server.sql(f"SELECT last_max_id FROM cosid WHERE name = 'cosid.{name}'"))


@pytest.fixture(params=["mysql", "redis"])
def cosids_server(request, started):
    return started(request.param)


def test_two_cosids_issue_no_id_twice_and_the_counter_ends_where_cosid_says(cosids_server, cosid_jar):
    name = new_tag()
    with cosid(cosid_jar, cosids_server, name) as one, cosid(cosid_jar, cosids_server, name) as other:
        found = issue_at_once(one, other)
    assert found == set(range(1, 2 * EACH + 1))
    assert last_max_id(cosids_server, name) == 2 * EACH


def test_two_chains_of_cosid_issue_no_id_twice_and_draw_whole_steps(cosids_server, cosid_jar):
    name = new_tag()
    chains = [cosid(cosid_jar, cosids_server, name, step=7, kind="chain") for _ in range(2)]
    with chains[0], chains[1]:
        found = issue_at_once(*chains)
    assert min(found) == 1
    assert max(found) <= last_max_id(cosids_server, name)  # its own thread decides how far ahead it draws
    assert last_max_id(cosids_server, name) % 7 == 0


def test_a_cosid_segment_begins_above_the_offset_and_the_next_process_above_the_counter(cosids_server, cosid_jar):
    name = new_tag()
    with cosid(cosid_jar, cosids_server, name, offset=500, step=10) as process:
        assert process.issue(13) == list(range(501, 514))
    assert last_max_id(cosids_server, name) == 520
    with cosid(cosid_jar, cosids_server, name, offset=500, step=10) as process:
        assert process.issue(2) == [521, 522]


def test_a_process_that_ended_is_an_error(mariadb):
    original = originals.Process(["true"])
    with pytest.raises((RuntimeError, BrokenPipeError)):
        original.issue(1)
