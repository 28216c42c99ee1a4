"""No store may grant a number twice, whatever breaks. On real servers, which are broken one by one."""

import functools
import random
import re
import signal
import time
from array import array

import idgen
import pytest
from clients import (
    MODULES,
    Asked,
    ascending,
    clients,
    create,
    distinct,
    draw,
    ids_of,
    new_tag,
    patience,
    segment,
    show,
    start_drawing,
    wait_until,
)
from proxy import Proxy
from rotation import one_of
from schemas import made

import servers

SECOND = {"store_timeout": "1s", "wait_max": "1s"}  # for commands that must fail, after both have passed
PATIENT = {"wait_max": f"{patience(60):.0f}s"}  # for draws that must succeed


def draw_within_a_second(client, count):
    """As client.draw(), which waits for wait_max: for a draw that must fail."""
    client.ask(f"{count} 1")
    client.count = count
    return client.answer()


def numbers(process):
    out, err = process.communicate(timeout=60)
    return [int(line) for line in out.split()], err


def test_several_processes_draw_all_numbers_and_each_of_them_once(shared, tag):
    step, grants, processes = 25, 40, 8
    drawing = [
        start_drawing(shared.url(), tag, step * grants, step=step, prefetch=1, wait_max="60s") for _ in range(processes)
    ]
    drawn = []
    for process in drawing:
        ids, failure = numbers(process)
        assert process.returncode == 0, failure
        drawn += ascending(ids)
    # Whole segments, each requested when the one before is used up: nothing is left over.
    assert sorted(distinct(drawn)) == list(range(1, processes * grants * step + 1))
    found = show(shared.url(), tag)
    assert (found["max_id"], found["grants"]) == (processes * grants * step, processes * grants)


def test_processes_that_are_killed_while_others_draw_leave_gaps_and_no_duplicates(shared, tag, tmp_path):
    choice = random.Random(7)
    with clients(tmp_path, 4, shared.url(), tag, step=10, wait_max="60s") as all_of_them:
        drawing = list(all_of_them)
        for _ in range(10):
            victim = drawing.pop(choice.randrange(len(drawing)))
            victim.goes_on(victim.size())
            victim.kill()
            with clients(tmp_path, 1, shared.url(), tag, step=10, wait_max="60s") as fresh:
                all_of_them += fresh
                drawing += fresh
                fresh.clear()  # they end with the others
        for client in drawing:
            client.stop()
        ids = ids_of(all_of_them)
    assert len(all_of_them) == 14
    assert all(client.ids() for client in all_of_them)
    assert max(ids) <= show(shared.url(), tag)["max_id"]


def test_a_server_that_is_killed_under_load_and_started_again_grants_no_number_twice(shared, tag, tmp_path):
    with clients(tmp_path, 4, shared.url(), tag, step=10, wait_max="60s") as all_of_them:
        for _ in range(2):
            shared.kill()
            written = [client.size() for client in all_of_them]
            shared.start()
            if not shared.remembers:
                break
            for client, size in zip(all_of_them, written, strict=True):
                client.goes_on(size)
        if not shared.remembers:
            for client in all_of_them:
                assert client.process.wait(60) == 1
                assert client.failures()[-1].startswith("STORE_REGRESSED")
            highest = max(number for client in all_of_them for number in client.ids())
            done = segment(shared.url(), tag, "advance", "--to", str(highest))
            assert done.returncode == 0, done.stderr
            with clients(tmp_path, 2, shared.url(), tag, step=10) as fresh:
                for client in fresh:
                    client.stop()
                    assert client.ids()[0] > highest
                all_of_them += fresh
        else:
            for client in all_of_them:
                client.stop()
        ids_of(all_of_them)


def test_connections_that_are_cut_again_and_again_lose_numbers_and_issue_none_twice(shared, proxy, tag, tmp_path):
    with clients(tmp_path, 3, shared.url(proxy.port), tag, step=10, wait_max="60s") as all_of_them:
        for _ in range(15):
            written = [client.size() for client in all_of_them]
            for client, size in zip(all_of_them, written, strict=True):
                client.goes_on(size)
            proxy.cut()
        for client in all_of_them:
            client.goes_on(client.size())
            client.stop()
        ids = ids_of(all_of_them)
    assert max(ids) <= show(shared.url(), tag)["max_id"]


def test_a_grant_whose_answer_is_lost_after_the_commit_is_burned(shared, proxy, tag):
    with Asked(shared.url(proxy.port), tag, step=10, prefetch=1) as client:
        assert client.ids(10) == list(range(1, 11))
        for n in range(1, 4):
            proxy.lose_answer(shared.grant)
            before = show(shared.url(), tag)["max_id"]
            assert client.ids(10) == list(range(before + 11, before + 21))
            assert proxy.lost.is_set()
            assert show(shared.url(), tag)["grants"] == 1 + 2 * n


@pytest.mark.parametrize(
    ("statement", "burned"),
    [("START TRANSACTION", 0), ("SELECT max_id", 0), ("UPDATE idgen_segment", 0), ("COMMIT", 10)],
)
def test_of_a_grant_in_several_statements_only_a_lost_commit_burns_numbers(started, statement, burned):
    mysql = started("mysql")
    tag = create(mysql.url(), new_tag())
    with Proxy(mysql.port) as proxy:
        url = mysql.url(proxy.port, statements="transaction")
        with Asked(url, tag, step=10, prefetch=1) as client:
            assert client.ids(10) == list(range(1, 11))
            for lose in (proxy.lose_answer, proxy.lose_request):
                before = show(mysql.url(), tag)["max_id"]
                lose(statement.encode())
                gap = burned if lose == proxy.lose_answer else 0
                assert client.ids(10) == list(range(before + gap + 1, before + gap + 11))
                assert proxy.lost.is_set()


def test_a_request_that_is_lost_on_its_way_burns_nothing(shared, proxy, tag):
    with Asked(shared.url(proxy.port), tag, step=10, prefetch=1) as client:
        assert client.ids(10) == list(range(1, 11))
        proxy.lose_request(shared.grant)
        assert client.ids(10) == list(range(11, 21))
        assert proxy.lost.is_set()
        assert show(shared.url(), tag)["grants"] == 2


@pytest.mark.parametrize("kind", ["etcd", "zookeeper"])
def test_a_give_back_that_is_sent_twice_takes_nothing_from_others(started, kind):
    server = started(kind)
    tag = create(server.url(), new_tag())
    seven = {"step": 7, "prefetch": 1}
    with Proxy(server.port) as proxy:
        with Asked(server.url(proxy.port), tag, step=10, prefetch=1) as client:
            assert client.ids(3) == [1, 2, 3]
            others = []
            # It is done, but its answer is lost. Before it is sent again (by libcurl, or by our module), somebody
            # else draws up to the same number.
            proxy.before_cut = lambda: others.extend(draw(server.url(), tag, 7, **seven).stdout.split())
            proxy.lose_answer(server.grant)
        assert others == ["4", "5", "6", "7", "8", "9", "10"]
        assert draw(server.url(), tag, **seven).stdout == "11\n"


def test_an_answer_that_comes_too_late_is_burned(shared, proxy, tag):
    with Asked(shared.url(proxy.port), tag, step=10, prefetch=1, store_timeout="1s", **PATIENT) as client:
        first = client.ids(9)  # one is left, so no other segment is asked for yet
        assert first == list(range(first[0], first[0] + 9))
        last = show(shared.url(), tag)["max_id"]
        ended = proxy.ended
        proxy.delay = 3600
        client.ask(10)
        wait_until(lambda: show(shared.url(), tag)["max_id"] > last, what="the commit")
        wait_until(lambda: proxy.ended > ended, what="the client gives the connection up")
        proxy.delay = 0
        ids, failure = client.answer()
        assert not failure, failure
        assert ids[0] == first[-1] + 1 == last
        assert ids[1] > last + 10


def draw_steadily(generator, count):
    """A million ids per second, if the machine is fast enough; how many there were."""
    batch = array("Q", bytes(8 * 1000))
    due = began = time.monotonic()
    for _ in range(count // 1000):
        due += 0.001
        time.sleep(max(0, due - time.monotonic()))
        generator.fill(batch)
    return count / (time.monotonic() - began)


@pytest.mark.parametrize("shared", one_of(servers.KINDS), indirect=True)
def test_nobody_waits_at_a_million_ids_a_second_while_the_server_is_away_for_the_runway(shared, tag):
    runway = 2

    def has_stock():
        rate = draw_steadily(generator, 200_000)
        stats = generator.stats()
        return stats.rate > 0.9 * rate and stats.stock_seconds > runway

    def has_more():
        found = generator.stats()
        if found.remaining > 1000:  # enough, perhaps, for nothing to be asked for yet
            draw_steadily(generator, 1000)
        return found.granted > after.granted

    more = {"segment.runway": f"{runway}s", "module.path": str(MODULES)}
    with idgen.Generator(kind="segment", store=shared.url(), tag=tag, **more) as generator:
        wait_until(has_stock)
        count = int(generator.stats().rate) * runway // 1000 * 1000
        wait_until(lambda: generator.stats().granted == show(shared.url(), tag)["max_id"], what="no grant on its way")
        before = generator.stats()
        shared.pause()
        try:
            draw_steadily(generator, count)
            after = generator.stats()
        finally:
            shared.go_on()
        assert after.granted == before.granted, "the server was away"
        assert after.issued == before.issued + count
        wait_until(has_more, what="the server is back")
        draw_steadily(generator, 1000)
        assert generator.stats().store_waits == before.store_waits


@pytest.mark.parametrize("way", ["refused", "swallowed", "stopped"])
def test_without_the_server_ids_go_on_while_stock_lasts_and_afterwards_when_it_is_back(shared, proxy, tag, way):
    away, back = {
        "refused": (proxy.refuse, proxy.allow),
        "swallowed": (proxy.stall, proxy.go_on),
        "stopped": (shared.pause, shared.go_on),
    }[way]
    # A draw that waited for the store's own time would not be over before the test's deadline.
    with Asked(shared.url(proxy.port), tag, step=100, prefetch=0.5, store_timeout="10m", **PATIENT) as client:
        stock = client.ids(101)  # the second segment has come
        assert show(shared.url(), tag)["grants"] == 2
        away()
        try:
            stock += client.ids(98)  # the rest of it, less one id
            assert stock == list(range(1, 200))
            ids, failure = draw_within_a_second(client, 2)
        finally:
            back()
        assert ids == [200]
        assert failure.startswith("STORE_UNAVAILABLE")
        last = wait_until(lambda: client.draw(1)[0], what="issuing goes on")
        assert last[0] > 200


def test_the_command_without_the_server_says_that_it_is_worth_another_try(shared, proxy, tag):
    proxy.refuse()
    done = draw(shared.url(proxy.port), tag, **SECOND)
    assert done.returncode == 75
    assert done.stderr.startswith("idgen: error: STORE_UNAVAILABLE")
    assert str(proxy.port) in done.stderr
    proxy.allow()
    proxy.stall()
    done = draw(shared.url(proxy.port), tag, **SECOND)
    assert done.returncode == 75
    assert done.stderr.startswith("idgen: error: STORE_UNAVAILABLE")
    proxy.go_on()
    done = draw(shared.url(proxy.port), tag, **PATIENT)
    assert (done.returncode, done.stdout) == (0, "1\n")


def test_a_counter_that_was_set_back_by_hand_stops_who_has_drawn_from_it(shared, tag):
    with Asked(shared.url(), tag, step=10, prefetch=1) as client:
        assert client.ids(30) == list(range(1, 31))
        shared.set_counter(tag, 5)
        ids, failure = client.draw(20)
        assert failure.startswith("STORE_REGRESSED")
        assert not ids
        assert tag in failure
        shared.set_counter(tag, 1000)  # too late: what it holds may be another's
        assert client.draw(1)[0] == []


def test_a_grant_is_one_round_trip(shared, proxy, tag):
    with Asked(shared.url(proxy.port), tag, step=1, prefetch=1) as client:
        client.ids(1)
        for grants in (50, 200):
            trips, before = proxy.round_trips, show(shared.url(), tag)["grants"]
            client.ids(grants)
            assert show(shared.url(), tag)["grants"] - before == grants
            assert proxy.round_trips - trips == grants


def test_a_step_that_changes_under_load_makes_no_duplicate(shared, tag, tmp_path):
    with clients(tmp_path, 3, shared.url(), tag, step=10, wait_max="60s") as all_of_them:
        for step in (1, 500, 0, 25):
            written = [client.size() for client in all_of_them]
            done = segment(shared.url(), tag, "set-step", "--step", str(step))
            assert done.returncode == 0, done.stderr
            for client, size in zip(all_of_them, written, strict=True):
                client.goes_on(size)
        for client in all_of_them:
            client.stop()
        ids = ids_of(all_of_them)
    assert max(ids) <= show(shared.url(), tag)["max_id"]


@pytest.mark.parametrize("schema", ["idgen", "key_producer"])
@pytest.mark.parametrize("told", ["warning", "error"])  # the server warns, or the role suppresses the warning
def test_a_commit_that_waited_in_vain_for_the_standby_is_not_used(told, schema, tmp_path):
    with servers.Postgres() as postgres:
        postgres.sql(f"ALTER ROLE app SET client_min_messages = {told}")
        if schema == "idgen":
            asked = functools.partial(Asked, postgres.url(), create(postgres.url(), new_tag()), prefetch=1)
        else:
            asked = made(f"postgres {schema}", lambda _: postgres, tmp_path).create().asked
        with asked(step=10, store_timeout="5s") as client:
            before = client.ids(10)
            postgres.sql("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
            postgres.sql("SELECT pg_reload_conf()")
            wait_until(lambda: "nobody" in postgres.sql("SHOW synchronous_standby_names"))
            client.ask(10)
            waiting = "FROM pg_stat_activity WHERE application_name = 'idgen' AND wait_event = 'SyncRep'"
            first = wait_until(lambda: postgres.sql(f"SELECT pid, query_start {waiting}"))
            postgres.sql(f"SELECT pg_cancel_backend(pid) {waiting}")
            # What still waits when no standby is wanted any more is committed. So the next one has to wait first.
            wait_until(lambda: postgres.sql(f"SELECT pid, query_start {waiting}") not in ("", first))
            postgres.sql("ALTER SYSTEM RESET synchronous_standby_names")
            postgres.sql("SELECT pg_reload_conf()")
            ids = client.answer()[0]
            assert ids == list(range(ids[0], ids[0] + 10))
            assert ids[0] > before[-1] + 10  # what was canceled is burned, and what has waited for store_timeout


def test_postgres_that_recovers_from_a_crash_is_unavailable_and_no_standby():
    with servers.Postgres() as server:
        tag = create(server.url(), new_tag())
        outcomes = set()

        def is_seen():
            server.signal_children(signal.SIGKILL)
            outcomes.update(segment(server.url(), tag, "show").returncode for _ in range(10))
            return 75 in outcomes  # retryable

        wait_until(is_seen)
        assert outcomes <= {0, 75}


def test_a_zookeeper_session_that_has_expired_is_replaced(started):
    zookeeper = started("zookeeper")
    tag = create(zookeeper.url(), new_tag())

    def sessions():
        return {line.split()[0] for line in zookeeper.four_letters("dump").splitlines() if line.startswith("\t0x")}

    others = sessions()
    with (
        Proxy(zookeeper.port) as proxy,
        Asked(zookeeper.url(proxy.port), tag, step=10, prefetch=1, store_timeout="2s", **PATIENT) as client,
    ):
        client.ids(10)
        (own,) = sessions() - others
        proxy.refuse()
        wait_until(lambda: own not in sessions(), what="the session expires")
        proxy.allow()
        client.ids(10)  # issuing goes on


REQUESTS = {
    "mysql": lambda server: int(server.sql("SHOW GLOBAL STATUS LIKE 'Questions'").split()[1]),
    "redis": lambda server: sum(  # not those inside a script
        int(calls) for calls in re.findall(r"cmdstat_(?:eval|script).*?calls=(\d+)", server.cli("INFO", "commandstats"))
    ),
    "etcd": lambda server: sum(
        int(line.split()[-1])
        for line in server.get("/metrics").splitlines()
        if line.startswith("grpc_server_handled_total") and "etcdserverpb.KV" in line
    ),
    "zookeeper": lambda server: int(field(server.four_letters("srvr"), "Received:")),
}


def field(text, name):
    return next(line for line in text.splitlines() if line.startswith(name)).split(":")[1].strip()


@pytest.mark.parametrize("kind", REQUESTS)
def test_the_server_counts_one_request_a_grant(kind, started):
    server, requests = started(kind), REQUESTS[kind]
    tag = create(server.url(), new_tag())
    with Proxy(server.port) as proxy, Asked(server.url(proxy.port), tag, step=1, prefetch=1, **PATIENT) as client:

        def counted():
            client.ids(1)
            pings = proxy.pings
            counts = [requests(server) for _ in range(2)]
            asking = counts[1] - counts[0]  # what it costs to ask
            client.ids(200)
            found = requests(server) - counts[1] - asking
            return found if proxy.pings == pings else None  # the server counts a ping, too

        assert wait_until(counted) == 200
