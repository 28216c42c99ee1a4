"""The log of grants (segment.grant_log): each is written with its grant or not at all, whatever breaks."""

import itertools
import json
import random

import pytest
from clients import (
    IDGEN,
    Asked,
    clients,
    create,
    draw,
    ids_of,
    new_tag,
    patience,
    run,
    segment,
    show,
    start_drawing,
)
from proxy import Proxy
from test_faults import PATIENT
from test_rights import Sql

import servers

LOG = {"segment.grant_log": "100000"}
MARK = {"mysql": b"INSERT INTO idgen_grant", "postgres": b"INSERT INTO idgen_grant"}


@pytest.fixture(params=["mysql", "postgres"])
def server(request, started):
    found = started(request.param)
    made = run([IDGEN, "store", "create", "--store", found.url(), "--set", "segment.grant_log=1"])
    assert made.returncode == 0, made.stderr
    return found


@pytest.fixture
def tag(server):
    return create(server.url(), new_tag())


def log_of(server, tag):
    """grant, first, last, holder of each."""
    rows = server.sql(f"SELECT grant_no, first_id, last_id, holder FROM idgen_grant WHERE tag = '{tag}'").splitlines()
    split = [row.replace("|", "\t").split("\t") for row in rows]
    return sorted((int(grant), int(first), int(last), holder) for grant, first, last, holder in split)


def check_against(server, tag, all_of_them):
    """Every id that was drawn is of the one grant in the log that says so, and no two grants share a number."""
    log = log_of(server, tag)
    found = show(server.url(), tag)
    assert [grant for grant, *_ in log] == list(range(1, found["grants"] + 1))
    assert log[-1][2] <= found["max_id"]
    for (_, _, last, _), (_, first, _, _) in itertools.pairwise(log):
        assert last < first
    holders = {number: holder for _, first, last, holder in log for number in range(first, last + 1)}
    for client in all_of_them:
        for id in client.ids():
            assert holders[id].startswith(f"process {client.process.pid} on "), id
    return log


def explain(server, tag, id):
    done = run([IDGEN, "explain", "--store", server.url(), "--tag", tag, "--json", str(id)])
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_id_of_processes_that_are_killed_is_explained_by_who_drew_it(server, tag, tmp_path):
    choice = random.Random(3)
    with clients(tmp_path, 3, server.url(), tag, step=10, wait_max="60s", **LOG) as all_of_them:
        for client in choice.sample(all_of_them, 2):
            client.goes_on(client.size())
            client.kill()
        for client in all_of_them:
            if client.process.poll() is None:
                client.goes_on(client.size())
                client.stop()
        ids = ids_of(all_of_them)
        log = check_against(server, tag, all_of_them)
    found = explain(server, tag, min(ids))
    assert (int(found["grant"]), int(found["first"])) == log[0][:2]


def test_a_grant_whose_answer_is_lost_is_in_the_log_and_used_by_nobody(server, tag):
    with Proxy(server.port) as proxy:
        lossy = {"tls": "off"}
        with Asked(server.url(proxy.port, **lossy), tag, step=10, prefetch=1, **PATIENT, **LOG) as asked:
            first = asked.ids(10)
            proxy.lose_answer(b"COMMIT" if server.name == "mysql" else MARK[server.name])
            later = asked.ids(20)
            pid = asked.process.pid
    assert min(later) > max(first) + 10, "the lost grant was burned"
    log = log_of(server, tag)
    assert [row[0] for row in log] == list(range(1, len(log) + 1))
    lost = [row for row in log if not set(range(row[1], row[2] + 1)) & {*first, *later}]
    assert len(lost) >= 1
    assert all(row[3].startswith(f"process {pid} on ") for row in log)


@pytest.mark.parametrize("settings", [LOG, {}], ids=["logged", "plain"])
def test_a_host_that_is_gone_in_the_middle_of_a_grant_does_not_keep_the_tag_locked(started, settings):
    if servers.GENERATION == "mysql" and not settings:
        pytest.skip("as with a log, and each takes a minute")
    server = started("mysql")  # elsewhere a grant is one statement
    tag = create(server.url(), new_tag())
    in_transactions = {"statements": "transaction"}
    with Proxy(server.port) as proxy:
        proxy.vanish_after(b"FOR UPDATE")
        url = server.url(proxy.port, tls="off", **in_transactions)
        with start_drawing(url, tag, 1, store_timeout="1s", **PATIENT, **settings) as gone:
            try:
                assert proxy.lost.wait(patience(60))
            finally:
                gone.kill()
        # MySQL ends an idle transaction with its connection, after a minute.
        patient = {**PATIENT, "wait_max": f"{round(patience(120))}s"}
        with start_drawing(server.url(**in_transactions), tag, 3, **patient, **settings) as next_one:
            _, said = next_one.communicate(timeout=patience(150))
            assert next_one.returncode == 0, said


def test_a_tag_that_was_made_again_is_not_explained_by_its_predecessor(server, tag):
    for _ in range(5):
        draw(server.url(), tag, 10, step=10, **LOG)
    server.sql(f"DELETE FROM idgen_segment WHERE tag = '{tag}'")
    segment(server.url(), tag, "create")
    pid = 0
    with Asked(server.url(), tag, step=100, prefetch=1, **LOG) as asked:
        assert asked.ids(60)[-1] == 60
        pid = asked.process.pid
        assert explain(server, tag, 45)["holder"].startswith(f"process {pid} on ")


def test_what_a_generator_gives_back_is_not_its_own_any_more(server, tag):
    ids = [int(id) for id in draw(server.url(), tag, 3, step=10, **{**LOG, "segment.prefetch": "1"}).stdout.split()]
    assert ids == [1, 2, 3]
    assert [(first, last) for _, first, last, _ in log_of(server, tag) if first <= last] == [(1, 3)]
    draw(server.url(), tag, 5)  # by a process without a log
    assert explain(server, tag, 4)["grant"] is None
    assert explain(server, tag, 3)["last"] == 3


def test_no_more_than_the_latest_are_kept(server, tag):
    for _ in range(7):
        draw(server.url(), tag, 10, step=10, **{"segment.grant_log": "3"})
    grants = show(server.url(), tag)["grants"]
    assert grants > 3
    assert [row[0] for row in log_of(server, tag)] == [grants - 2, grants - 1, grants]


def test_without_its_table_nothing_is_granted_and_the_message_says_how_to_make_it(server, tag):
    with server.without("idgen_grant"):
        refused = draw(server.url(), tag, 1, **LOG)
        assert refused.returncode == 1
        assert "STORE_MISSING" in refused.stderr
        assert "idgen_grant" in refused.stderr
        assert "idgen store create" in refused.stderr
        assert show(server.url(), tag) == {"max_id": 0, "grants": 0}
        out = run([IDGEN, "explain", "--store", server.url(), "--tag", tag, "1"])
        assert out.returncode == 0, out.stderr
        draw(server.url(), tag, 1)
        out = run([IDGEN, "explain", "--store", server.url(), "--tag", tag, "1"])
        assert "to whom is not known" in out.stdout
    assert draw(server.url(), tag, 1, **LOG).returncode == 0


def test_three_rights_on_the_table_are_enough(server):
    role = Sql(server)
    role.change("GRANT", "SELECT, UPDATE", "idgen_segment")
    role.change("GRANT", "SELECT, INSERT, UPDATE", "idgen_grant")
    done = draw(role.url, role.tag, 3, step=10, **LOG)
    assert done.returncode == 0, done.stderr
    assert [(first, last) for _, first, last, _ in log_of(server, role.tag) if first <= last] == [(1, 3)]


def test_create_prints_the_table_if_the_log_is_on(server):
    for log, count in (("0", 0), ("5", 1)):
        done = segment(server.url(), new_tag(), "create", "--print", **{"segment.grant_log": log})
        assert done.stdout.count("CREATE TABLE IF NOT EXISTS idgen_grant") == count


def test_a_grant_with_its_log_is_one_statement_in_postgres(started):
    server = started("postgres")
    run([IDGEN, "store", "create", "--store", server.url(), "--set", "segment.grant_log=1"])
    tag = create(server.url(), new_tag())
    with Proxy(server.port) as proxy, Asked(
        server.url(proxy.port, tls="off"), tag, step=10, prefetch=1, **LOG
    ) as asked:  # fmt: skip
        asked.ids(1)
        before = proxy.round_trips
        asked.ids(30)
        assert proxy.round_trips - before == 3


def test_the_rows_of_others_remember_none(server):
    tag, leaf = new_tag(), {"segment.schema": "leaf"}
    assert segment(server.url(), tag, "create", **leaf).returncode == 0
    draw(server.url(), tag, 1, **leaf)
    out = run([IDGEN, "explain", "--store", server.url(), "--tag", tag, "--set", "segment.schema=leaf", "1"])
    assert out.returncode == 0, out.stderr
    assert "the rows of leaf_alloc remember no grants" in out.stdout


def test_what_another_process_of_the_host_was_granted_is_not_issued_after_a_restore_under_way(started, tmp_path):
    server = started("postgres")
    tag = create(server.url(), new_tag())
    settings = {"step": 10, "prefetch": 1, "witness": str(tmp_path)}
    with Asked(server.url(), tag, **settings) as one:
        assert one.ids(1) == [1]
        with Asked(server.url(), tag, **settings) as other:
            assert other.ids(1) == [11]
            other.process.kill()  # so that it gives nothing back
        server.sql(f"UPDATE idgen_segment SET max_id = 10 WHERE tag = '{tag}'")
        ids, refused = one.draw(20)
        assert ids == list(range(2, 11))
        assert "STORE_REGRESSED" in refused


def test_a_generator_whose_own_numbers_may_be_granted_again_stops_at_once(started, tmp_path):
    server = started("postgres")
    tag = create(server.url(), new_tag())
    with Asked(server.url(), tag, step=100, witness=str(tmp_path)) as one:
        assert one.ids(10) == list(range(1, 11))
        server.sql(f"UPDATE idgen_segment SET max_id = 0 WHERE tag = '{tag}'")
        _, refused = one.draw(10_000)
        assert "STORE_REGRESSED" in refused
        assert "Issuing has stopped" in refused
        segment(server.url(), tag, "advance", "--to", "100000")
        assert "Issuing has stopped" in one.draw(1)[1]
