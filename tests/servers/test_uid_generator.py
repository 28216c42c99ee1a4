"""worker_source = uid_generator: numbers of rows in WORKER_NODE, beside Baidu's own processes: no number twice at
once, no id twice, whatever is killed or down."""

import pytest
from clients import at
from originals import uid_generator
from worker_sources import (
    SHORT,
    ascending,
    distinct,
    draw_once,
    drawing,
    fork_and_draw,
    generator,
    numbers,
    worker_of,
)

BAIDU = "time:31s worker:22 sequence:10"
FEW = "time:41ms worker:3 sequence:2"


@pytest.fixture(params=["mysql", "postgres"])
def database(request, started):
    return started(request.param)


@pytest.fixture
def uid(database, windows):
    """The settings; the table is not made yet."""
    database.sql("DROP TABLE IF EXISTS WORKER_NODE")
    return {**windows(database), "worker_source": "uid_generator", **SHORT}


@pytest.fixture
def shared_uid(database):
    """The same with windows that several machines share: only there a number that a row has is used again."""
    database.sql("DROP TABLE IF EXISTS WORKER_NODE")
    return {"store": database.url(), "worker_source": "uid_generator", **SHORT}


def rows_of_starts(database):
    return int(database.sql("SELECT COUNT(*) FROM WORKER_NODE"))


def next_row(database, number):
    """As where a server's ids jump."""
    if database.name == "mysql":
        database.sql(f"ALTER TABLE WORKER_NODE AUTO_INCREMENT = {number}")
    else:
        # Of two processes that made the table at once, one may have got worker_node_id_seq1.
        database.sql(f"SELECT setval(pg_get_serial_sequence('worker_node', 'id'), {number}, false)")


def original_row(database, number):
    """Of a process of the original that may still run."""
    database.sql(
        "INSERT INTO WORKER_NODE (ID, HOST_NAME, PORT, TYPE, LAUNCH_DATE, MODIFIED, CREATED)"
        f" VALUES ({number}, '10.0.0.9', '1732281600000-4711', 2, CURRENT_DATE, NOW(), NOW())"
    )


def test_each_start_has_the_id_of_a_row_of_its_own(database, uid, namespace, tmp_path):
    leased = set()
    for round_ in range(1, 4):
        with drawing(tmp_path, namespace, 2, **uid) as processes:
            for process in processes:
                process.goes_on().stop()
            found = [numbers(process.ids()) for process in processes]
            distinct(*(process.ids() for process in processes))
        assert all(len(each) == 1 for each in found)
        leased |= set.union(*found)
        assert leased == set(range(1, 2 * round_ + 1))
        assert rows_of_starts(database) == 2 * round_
    row = database.sql("SELECT PORT FROM WORKER_NODE WHERE ID = 1")
    assert "-idgen-" in row


def test_uid_generators_own_processes_run_beside_ours(started, windows, namespace, tmp_path, cosid_jar):
    mariadb = started("mysql")
    mariadb.sql("DROP TABLE IF EXISTS WORKER_NODE")
    settings = {**windows(mariadb), "worker_source": "uid_generator", "layout": BAIDU, **SHORT}
    # Ticks of a second: a window is at least two of them.
    settings.update(window="2s", max_ahead="5s")
    assert draw_once(namespace=namespace, **settings).returncode == 0  # makes the table
    with (
        uid_generator(cosid_jar, mariadb) as one,
        drawing(tmp_path, namespace, 2, **settings) as ours,
        uid_generator(cosid_jar, mariadb) as other,
    ):
        theirs = [one.issue(1000), other.issue(1000)]
        ours[0].goes_on().kill()
        with drawing(tmp_path, namespace, 1, **settings) as again:
            theirs[0] += one.issue(1000)
            for process in (ours[1], *again):
                process.goes_on(process.size()).stop()
            drawn = [process.ids() for process in (*ours, *again)]
    distinct(*theirs, *drawn)
    found = [numbers(ids, BAIDU) for ids in (*theirs, *drawn)]
    assert all(len(each) == 1 for each in found)
    assert set.union(*found) == {2, 3, 4, 5, 6}
    assert rows_of_starts(mariadb) == 6


def test_an_id_beyond_the_field_is_wrapped_onto_a_number_that_nobody_alive_has(database, uid, namespace, tmp_path):
    uid["layout"] = FEW
    with drawing(tmp_path, namespace, 2, **uid) as first:  # rows 1 and 2
        next_row(database, 30_001)  # 30 001 = 1, modulo 8
        original_row(database, 5)
        with drawing(tmp_path, namespace, 3, **uid) as second:
            for process in (*first, *second):
                process.goes_on(process.size()).stop()
            found = [numbers(process.ids(), FEW) for process in second]
            distinct(*(process.ids() for process in (*first, *second)))
    assert set.union(*found).isdisjoint({1, 2, 5}), "they are the live processes', and the original's row's"
    assert len(set.union(*found)) == 3


def test_a_wrapped_number_of_a_process_that_was_killed_continues_above_its_windows(
    database, shared_uid, namespace, tmp_path
):
    uid = shared_uid
    uid.update(layout=FEW, window="5s", max_ahead="6s")
    with drawing(tmp_path, namespace, 1, **uid) as (first,):
        first.goes_on().kill()
        assert numbers(first.ids(), FEW) == {1}
        database.expire(namespace, 1)
        next_row(database, 9)
        with drawing(tmp_path, namespace, 1, **uid) as (second,):
            second.goes_on().stop()
            assert numbers(second.ids(), FEW) == {1}
            ascending(first.ids(), second.ids())


def test_a_wrapped_number_whose_time_is_ahead_of_a_clock_that_went_back_an_hour_is_left_for_another(
    database, shared_uid, namespace
):
    uid = shared_uid
    uid["layout"] = FEW
    first = draw_once(namespace=namespace, **uid)
    assert worker_of(first.stdout, FEW) == 1
    next_row(database, 9)  # 9 = 1, modulo 8
    done = draw_once(uid.pop("store"), namespace, *at("-1h"), **uid, wait_max="0ms")
    assert done.returncode == 0, done.stderr
    assert worker_of(done.stdout, FEW) == 2


def test_a_forked_child_has_a_row_of_its_own(database, uid, namespace):
    with generator(namespace, uid) as parent:
        drawn, found = fork_and_draw(parent)
    assert len(found) == 3
    distinct(drawn)
    assert rows_of_starts(database) == 3


def test_a_start_waits_for_a_database_that_is_down(started, namespace, tmp_path):
    mariadb = started("mysql")
    mariadb.sql("DROP TABLE IF EXISTS WORKER_NODE")
    settings = {"worker_url": mariadb.url(), "worker_source": "uid_generator", **SHORT}
    store = f"sqlite:{tmp_path}/ids.db"
    mariadb.kill()
    try:
        done = draw_once(store, namespace, wait_max="200ms", store_timeout="1s", **settings)
        assert done.returncode != 0
        assert "STORE_UNAVAILABLE" in done.stderr
    finally:
        mariadb.start()
    assert draw_once(store, namespace, **settings).returncode == 0
