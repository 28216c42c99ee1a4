"""The partners of originals.py, alone. The tests with idgen beside them mean something only if they are right."""

import contextlib
from concurrent.futures import ThreadPoolExecutor

import originals
import pytest
import schemas
from clients import distinct, new_tag
from originals import Conflict, Leaf, LeafBuffer, Tinyid

EACH = 1000
MINUTES = 60


@pytest.fixture
def leaf(started):
    """A new tag. Its first row has max_id = 1."""
    return schemas.Leaf(started("mysql")).create(step=10)


@pytest.fixture
def tinyid(started):
    return schemas.Tinyid(started("mysql")).create(step=10)


@pytest.fixture(params=["mysql cosid", "redis cosid"])
def cosid(request, started, tmp_path):
    """CosId makes the row itself."""
    return schemas.made(request.param, started, tmp_path)


def issue_at_once(*processes):
    """All ids of these processes, none of them twice, rising in each."""
    with contextlib.ExitStack() as stack:
        for process in processes:
            stack.enter_context(process)
        drawn = [process.issue(1) for process in processes]  # all are up before any continues
        for process in processes:
            process.ask(EACH - 1)
        for ids, process in zip(drawn, processes, strict=True):
            ids += process.answer()
            assert len(ids) == EACH
            assert ids == sorted(ids)
    return distinct(number for ids in drawn for number in ids)


def test_two_leafs_issue_no_id_twice_and_the_row_ends_where_leaf_says(leaf):
    found = issue_at_once(leaf.original(), leaf.original())
    drawn_by_each = 10 + 10 + 20 + 40 + 80 + 160 + 320 + 640 + 1280  # the last one ahead of need
    assert leaf.highest() == 2 * drawn_by_each
    assert min(found) == 1
    assert max(found) <= 2 * drawn_by_each


def test_many_leafs_at_once_issue_no_id_twice(leaf):
    with ThreadPoolExecutor(8) as threads:
        drawn = list(threads.map(lambda _: Leaf(leaf.server).issue(leaf.tag, 13), range(40)))
    assert len(distinct(number for ids in drawn for number in ids)) == 40 * 13
    assert leaf.highest() == 40 * (10 + 10 + 20)


def test_a_leaf_segment_begins_with_max_id_and_ends_before_the_new_one(leaf):
    leaf.set(max_id=100)
    original = Leaf(leaf.server)
    assert original.issue(leaf.tag, 2) == [100, 101]
    assert leaf.counter() == "110"
    assert original.issue(leaf.tag, 23) == list(range(102, 125))


def test_leafs_step_follows_how_long_a_segment_lasted(leaf):
    now = 0
    original = Leaf(leaf.server, clock=lambda: now)
    steps = []
    for minutes, to_the_next_load in ((0, 1), (0, 2), (0, 10), (20, 11), (40, 20), (40, 19)):
        now += minutes * MINUTES
        before = leaf.highest()
        original.issue(leaf.tag, to_the_next_load)
        steps.append(leaf.highest() - before)
    assert steps == [10, 10, 20, 20, 10, 10]


def test_leafs_step_stays_when_twice_of_it_is_more_than_a_million(leaf):
    original = Leaf(leaf.server, clock=lambda: 0)
    assert original.next_step(LeafBuffer("", step=500_000, loaded_at=0)) == 1_000_000
    assert original.next_step(LeafBuffer("", step=500_001, loaded_at=0)) == 500_001


def max_id_and_version(tinyid):
    return tinyid.select("max_id, version").split()


@pytest.mark.parametrize(("delta", "remainder"), [(1, 0), (3, 2)])
def test_two_tinyids_issue_no_id_twice_and_the_row_ends_where_tinyid_says(tinyid, delta, remainder):
    step = 10 * delta
    tinyid.set(max_id=1, version=1, step=step, delta=delta, remainder=remainder)
    found = issue_at_once(tinyid.original(), tinyid.original())
    grants = 2 * (EACH // 10 + 1)  # one of each ahead of need
    assert max_id_and_version(tinyid) == [str(1 + grants * step), str(1 + grants)]
    assert min(found) == 2
    assert max(found) <= 1 + grants * step
    assert all(number % delta == remainder for number in found)


@pytest.mark.parametrize(("delta", "remainder", "first"), [(1, 0, 101), (3, 0, 102), (3, 1, 103), (7, 2, 107)])
def test_a_tinyid_segment_begins_above_max_id_and_ends_with_the_new_one(tinyid, delta, remainder, first):
    tinyid.set(max_id=100, delta=delta, remainder=remainder)
    assert Tinyid(tinyid.server).issue(tinyid.tag, 50) == list(range(first, first + 50 * delta, delta))


@pytest.fixture
def outrun(tinyid, monkeypatch):
    """outrun(times): a tinyid, and others that draw after it has read the row, until that has happened so often."""
    tinyid.set(max_id=1, version=1)
    original, other = Tinyid(tinyid.server), Tinyid(tinyid.server)

    def outrun(times):
        read, left = original.read, [tinyid.tag] * times

        def read_and_lose(tag):
            row = read(tag)
            if left:
                other.draw(left.pop())
            return row

        monkeypatch.setattr(original, "read", read_and_lose)
        return original

    return outrun


def test_a_tinyid_that_others_outrun_twice_draws_what_comes_after_theirs(tinyid, outrun):
    assert outrun(2).next_id(tinyid.tag) == 22
    assert max_id_and_version(tinyid) == ["31", "4"]


def test_a_tinyid_that_others_outrun_three_times_says_conflict_and_has_drawn_nothing(tinyid, outrun):
    original = outrun(3)
    with pytest.raises(Conflict):
        original.next_id(tinyid.tag)
    assert max_id_and_version(tinyid) == ["31", "4"]
    assert original.issue(tinyid.tag, 1) == [32]


@pytest.mark.parametrize("original", [Leaf, Tinyid])
def test_a_tag_without_a_row_is_an_error(leaf, tinyid, original):
    with pytest.raises(KeyError):
        original(leaf.server).issue(new_tag(), 1)


def test_two_cosids_issue_no_id_twice_and_the_counter_ends_where_cosid_says(cosid, cosid_jar):
    found = issue_at_once(*(cosid.original(cosid_jar, step=10) for _ in range(2)))
    assert found == set(range(1, 2 * EACH + 1))
    assert cosid.highest() == 2 * EACH


def test_two_chains_of_cosid_issue_no_id_twice_and_draw_whole_steps(cosid, cosid_jar):
    found = issue_at_once(*(cosid.original(cosid_jar, step=7, kind="chain") for _ in range(2)))
    assert min(found) == 1
    assert max(found) <= cosid.highest()  # its own thread decides how far ahead it draws
    assert cosid.highest() % 7 == 0


def test_a_cosid_segment_begins_above_the_offset_and_the_next_process_above_the_counter(cosid, cosid_jar):
    with cosid.original(cosid_jar, offset=500, step=10) as process:
        assert process.issue(13) == list(range(501, 514))
    assert cosid.highest() == 520
    with cosid.original(cosid_jar, offset=500, step=10) as process:
        assert process.issue(2) == [521, 522]


def test_a_process_that_ended_is_an_error():
    original = originals.Process(["true"])
    with pytest.raises((RuntimeError, BrokenPipeError)):
        original.issue(1)
