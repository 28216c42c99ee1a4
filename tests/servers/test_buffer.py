"""Redis in front of a database: store = "buffer". Redis may forget anything at any time, and no id is issued twice.

D1 to D6 are the ways in which such a buffer makes duplicates if Redis makes numbers of its own. See docs/stores.md.
"""

import contextlib
import os
import re
import time

import pytest
from clients import BUILD, Asked, Generator, clients, distinct, draw, ids_of, native_settings, new_tag, run, segment
from patience import patience, wait_until
from proxy import Proxy
from test_faults import draw_within_a_second

import servers

FORGETFUL = ("--appendonly", "no", "--save", "", "--repl-diskless-sync-delay", "0", "--maxmemory-policy", "allkeys-lru")
STEP = 10
STOCK = 5 * STEP  # what the first grant leaves in Redis
# Who is away refuses, which is known at once: no test but one waits for a timeout.
LONG = f"{patience(60):.0f}s"
PATIENT = {"buffer.pause": "200ms", "buffer.timeout": LONG, "store_timeout": LONG, "wait_max": LONG}


class Forgetful(servers.Redis):
    """A Redis that keeps only what it is told to dump, and may throw everything away."""

    options = FORGETFUL

    def entries(self, tag):
        found = re.findall(r"(\d+):(\d+)", self.cli("HGET", f"idgen-buffer:default:{tag}", "entries"))
        return [(int(first), int(count)) for first, count in found]

    def stock(self, tag):
        return sum(count for _, count in self.entries(tag))


class Buffer:
    """A Redis and a database, each behind a proxy, and processes that draw through both."""

    def __init__(self, redis, database, folder):
        self.redis, self.database, self.folder = redis, database, folder
        self.to_redis, self.to_database = Proxy(redis.port), Proxy(database.port)
        self.tag = new_tag()
        done = self.segment("create")
        assert done.returncode == 0, done.stderr

    def properties(self, **others):
        found = {
            "buffer.redis": self.redis.url(self.to_redis.port),
            "buffer.database": self.database.url(self.to_database.port),
            "buffer.runway": "0",
            "step": STEP,
            "prefetch": 1,
            **PATIENT,
        }
        return {**found, **others}

    def asked(self, **others):
        return Asked("buffer", self.tag, **self.properties(**others))

    def clients(self, count, **others):
        return clients(self.folder, count, "buffer", self.tag, **self.properties(**others))

    def draw(self, count=1, **others):
        return draw("buffer", self.tag, count, **self.properties(**others))

    def segment(self, verb, *arguments):
        return segment("buffer", self.tag, verb, *arguments, **self.properties())

    def max_id(self):
        return int(re.search(r'"max_id": *"?(\d+)', self.segment("show", "--json").stdout).group(1))

    def database_goes_back_to(self, number):
        self.database.set_counter(self.tag, number)

    def close(self):
        self.to_redis.close()
        self.to_database.close()


@pytest.fixture
def redis():
    with Forgetful() as server:
        yield server


@pytest.fixture
def buffer(redis, started, tmp_path):
    with contextlib.closing(Buffer(redis, started("mysql"), tmp_path)) as made:
        yield made


def test_ids_come_out_of_redis_in_one_request_a_grant(buffer):
    with buffer.asked() as client:
        assert client.ids(STEP) == list(range(1, STEP + 1))
        assert buffer.redis.entries(buffer.tag) == [(STEP + 1, STOCK)]
        redis, database = buffer.to_redis.round_trips, buffer.to_database.round_trips
        assert client.ids(STEP) == list(range(STEP + 1, 2 * STEP + 1))
        assert buffer.to_redis.round_trips == redis + 1
        assert buffer.to_database.round_trips == database


def test_with_a_stock_the_database_is_asked_once_for_many_grants(buffer):
    with buffer.asked(**{"buffer.runway": "1h", "buffer.stock_max": 2000}) as client:
        client.ids(STEP)
        # As if that was ten seconds ago: then Redis takes a rate.
        buffer.redis.cli("HINCRBY", f"idgen-buffer:default:{buffer.tag}", "since", "-10")
        client.ids(2 * STEP)
        wait_until(lambda: buffer.redis.stock(buffer.tag) > 1000, what="a stock for an hour")
        redis, database = buffer.to_redis.round_trips, buffer.to_database.round_trips
        client.ids(30 * STEP)
        assert buffer.to_redis.round_trips == redis + 30
        assert buffer.to_database.round_trips == database


def test_the_stock_never_passes_its_limit(buffer):
    with buffer.asked(**{"buffer.runway": "7d", "buffer.stock_max": 200}) as client:
        for _ in range(50):
            client.ids(3 * STEP)
            assert buffer.redis.stock(buffer.tag) <= 200


def test_several_processes_draw_every_number_once(buffer):
    with buffer.clients(6, batch=50) as drawing:
        for client in drawing:
            client.goes_on(2000)
        for client in drawing:
            client.stop()
        found = ids_of(drawing)
    assert len(found) > 1000
    held = {number for first, count in buffer.redis.entries(buffer.tag) for number in range(first, first + count)}
    assert not held & found, "DUPLICATE: it would be taken again"
    assert max(found) <= buffer.max_id()


def test_d1_redis_forgets_what_it_has_handed_out(buffer):
    """A restart from an old dump, which still has the numbers that were taken since."""
    with buffer.asked() as client:
        client.ids(STEP)
        buffer.redis.cli("SAVE")
        old = buffer.redis.entries(buffer.tag)
        taken = client.ids(3 * STEP)
        buffer.redis.restart()
        assert buffer.redis.entries(buffer.tag) == old  # it has forgotten
        client.ids(20 * STEP)
        with buffer.asked() as another:
            distinct(another.ids(20 * STEP) + client.drawn)
    assert old[0][0] in taken


@pytest.mark.parametrize("command", [["FLUSHALL"], ["DEL"]], ids=["flushed", "evicted"])
def test_d1_redis_throws_the_queue_away(buffer, command):
    with buffer.asked() as client, buffer.asked() as another:
        for _ in range(5):
            client.ids(2 * STEP)
            another.ids(STEP)
            buffer.redis.cli(*command, *([f"idgen-buffer:default:{buffer.tag}"] if command == ["DEL"] else []))
        client.ids(2 * STEP)
        distinct(another.drawn + client.drawn)


def test_d2_a_load_that_is_late_or_repeated_is_refused(buffer):
    """The same request as the load, as the network may deliver it again: it puts nothing into the queue."""
    key = f"idgen-buffer:default:{buffer.tag}"
    with buffer.asked() as client:
        client.ids(STEP)
        label = buffer.redis.cli("HGET", key, "life").strip()
        assert repeat(buffer, label, STEP + 1, STOCK) == "0"  # while it is in the queue
        client.ids(5 * STEP)
        assert repeat(buffer, label, STEP + 1, STOCK) == "0"  # when it has been taken
        buffer.redis.cli("DEL", key)
        client.ids(STEP)
        assert repeat(buffer, label, STEP + 1, STOCK) == "0"  # when Redis has forgotten
        assert repeat(buffer, label, 1_000_000, STOCK) == "0"  # and new numbers under an old label
        label = buffer.redis.cli("HGET", key, "life").strip()
        assert repeat(buffer, label, 1_000_000, STOCK) == "1"  # the test would see one that is accepted


def repeat(buffer, label, first, count):
    """Sends a load, as queue_scripts.hpp has it; "1" if it was accepted."""
    header = servers.Path(__file__).resolve().parents[2] / "modules" / "redis" / "queue_scripts.hpp"
    prelude, _, load, _ = re.findall(r'R"\((.*?)\)"', header.read_text(), re.DOTALL)
    key = f"idgen-buffer:default:{buffer.tag}"
    answer = buffer.redis.cli("EVAL", prelude + load, "1", key, label, str(first), str(count), "100000000", "")
    return answer.split()[1]


def test_d2_an_answer_to_a_load_that_is_lost_burns_numbers_at_most(buffer):
    with buffer.asked() as client, buffer.asked() as another:
        for lose in (buffer.to_redis.lose_answer, buffer.to_redis.lose_request):
            for _ in range(3):
                lose(b"EVALSHA")
                client.ids(6 * STEP)
                another.ids(6 * STEP)
        distinct(another.drawn + client.drawn)


def test_d3_one_process_does_not_see_redis_while_others_do(buffer):
    with Proxy(buffer.redis.port) as apart:
        cut_off = {"buffer.redis": buffer.redis.url(apart.port)}
        with buffer.asked() as client, buffer.asked(**cut_off) as lonely:
            client.ids(2 * STEP)
            lonely.ids(2 * STEP)
            apart.refuse()
            for _ in range(10):
                client.ids(3 * STEP)
                lonely.ids(3 * STEP)
            trips = apart.round_trips
            apart.allow()
            wait_until(lambda: lonely.ids(STEP) and apart.round_trips > trips, what="it sees Redis again")
            for _ in range(10):
                client.ids(3 * STEP)
                lonely.ids(3 * STEP)
            distinct(lonely.drawn + client.drawn)


def test_d4_the_database_comes_back_and_somebody_draws_before_anyone_has_compared(buffer):
    with buffer.asked() as client:
        client.ids(STEP)
        buffer.to_database.refuse()
        client.ids(STOCK)
        buffer.to_database.allow()
        # Past the buffer, from the table itself.
        past = [int(line) for line in draw(buffer.database.url(), buffer.tag, 20, step=STEP).stdout.split()]
        wait_until(lambda: client.draw(20)[0], what="the database is asked again")
        client.ids(STEP)
        distinct(past + client.drawn)


def test_d5_redis_fails_over_while_the_database_is_away(buffer):
    with Forgetful() as replica, Proxy(buffer.redis.port) as replication:
        replica.follow(replication.port)
        with buffer.asked() as client, buffer.asked() as another:
            client.ids(STEP)
            another.ids(STEP)
            wait_until(lambda: buffer.redis.stock(buffer.tag) >= 4 * STEP)
            old = buffer.redis.entries(buffer.tag)
            wait_until(lambda: replica.entries(buffer.tag) == old, what="the replica follows")
            buffer.to_database.refuse()
            replication.refuse()  # from now on it lags
            taken = client.ids(2 * STEP)
            buffer.redis.kill()
            replica.lead()
            assert replica.entries(buffer.tag) == old  # what was taken since is still there
            assert any(first in taken for first, _ in old)
            buffer.to_redis.target = replica.port
            buffer.to_redis.cut()
            ids, failure = draw_within_a_second(client, 1)
            assert not ids  # the stock is dropped, and nothing makes numbers
            assert failure.startswith("STORE_UNAVAILABLE")
            buffer.to_database.allow()
            wait_until(lambda: client.draw(1)[0], what="both are back")
            client.ids(10 * STEP)
            wait_until(lambda: another.draw(1)[0])
            another.ids(10 * STEP)
            distinct(another.drawn + client.drawn)


def test_d6_the_database_goes_back_behind_what_redis_knows(buffer):
    with buffer.asked() as client, buffer.asked() as another:
        client.ids(2 * STEP)
        another.ids(1)
        buffer.database_goes_back_to(15)
        failure = wait_until(lambda: client.draw(STEP)[1], what="it is noticed")
        assert failure.startswith("STORE_REGRESSED")
        assert another.draw(3 * STEP)[1].startswith("STORE_REGRESSED")  # all stop once their own reserve is used up
        done = buffer.draw()
        assert done.returncode == 1
        assert "idgen segment advance" in done.stderr
        done = buffer.segment("advance", "--to", "1000")
        assert done.returncode == 0, done.stderr
        for asked in (client, another):
            assert wait_until(lambda asked=asked: asked.draw(1)[0])[0] > 1000
            asked.ids(5 * STEP)
        distinct(another.drawn + client.drawn)


def test_numbers_of_another_database_behind_the_same_redis_are_not_taken(buffer, started):
    other = started("postgres").url()
    assert segment(other, buffer.tag, "create").returncode == 0

    def refused(**others):
        done = buffer.draw(2 * STEP, **others)
        assert done.returncode == 1
        assert done.stdout == ""
        assert "STORE_REGRESSED" in done.stderr
        assert "another database" in done.stderr

    with buffer.asked() as here:
        here.ids(STEP)
        assert buffer.redis.entries(buffer.tag) == [(STEP + 1, STOCK)]
        refused(**{"buffer.database": other})
    # The other way round: its counter is above ours, and its numbers are in the queue.
    assert segment(other, buffer.tag, "advance", "--to", "1000").returncode == 0
    assert buffer.segment("advance", "--to", "100").returncode == 0
    with buffer.asked(**{"buffer.database": other}) as there:
        there.ids(STEP)
        assert buffer.redis.stock(buffer.tag) > 0
        refused()


def test_after_a_failover_to_a_replica_that_lags_nothing_comes_out_twice(buffer):
    with Forgetful() as replica, Proxy(buffer.redis.port) as replication, buffer.clients(3, batch=5) as drawing:
        replica.follow(replication.port)
        wait_until(lambda: replica.entries(buffer.tag), what="the replica follows")
        replication.refuse()
        for client in drawing:
            client.goes_on(client.size() + 500)
        wait_until(lambda: replica.entries(buffer.tag) != buffer.redis.entries(buffer.tag), what="it lags")
        written = [client.size() for client in drawing]
        buffer.redis.kill()
        replica.lead()
        buffer.to_redis.target = replica.port
        buffer.to_redis.cut()
        for client, size in zip(drawing, written, strict=True):
            client.goes_on(size + 500)
        wait_until(lambda: replica.stock(buffer.tag), what="the new master has a stock")
        for client in drawing:
            client.stop()
        ids_of(drawing)


@pytest.mark.parametrize("kind", ["mysql", "postgres"])
def test_under_load_redis_and_the_database_come_and_go(redis, started, tmp_path, kind):
    with (
        contextlib.closing(Buffer(redis, started(kind), tmp_path)) as buffer,
        buffer.clients(4, batch=7) as drawing,
    ):
        for _ in range(3):
            for away, back in (
                (buffer.to_redis.refuse, buffer.to_redis.allow),
                (buffer.to_database.refuse, buffer.to_database.allow),
                (buffer.to_redis.cut, lambda: None),
                (buffer.redis.restart, lambda: None),
                (lambda: buffer.redis.cli("FLUSHALL"), lambda: None),
            ):
                away()
                time.sleep(0.3)
                back()
                written = [client.size() for client in drawing]
                for client, size in zip(drawing, written, strict=True):
                    client.goes_on(size)
        drawing[0].kill()
        for client in drawing[1:]:
            client.stop()
        found = ids_of(drawing)
        assert max(found) <= buffer.max_id()


def test_parent_and_children_draw_different_ids(buffer):
    generator = Generator(store="buffer", tag=buffer.tag, **buffer.properties())
    found = generator.ids(15 * STEP)
    for _ in range(3):
        here, there = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.write(there, "\n".join(map(str, generator.ids(15 * STEP))).encode())
            finally:
                os._exit(0)
        os.close(there)
        with os.fdopen(here) as report:
            found += [int(line) for line in report]
        assert os.waitpid(child, 0)[1] == 0
        found += generator.ids(15 * STEP)
    assert len(distinct(found)) == 7 * 15 * STEP


def test_without_redis_the_database_grants(buffer):
    with buffer.asked() as client:
        client.ids(STEP)
        buffer.to_redis.refuse()
        assert client.ids(5 * STEP)[0] > STEP + STOCK
        assert buffer.draw(3).returncode == 0  # a process that begins now, too
        trips = buffer.to_redis.round_trips
        buffer.to_redis.allow()
        wait_until(lambda: client.ids(STEP) and buffer.to_redis.round_trips > trips, what="Redis is asked again")


def test_without_the_database_ids_go_on_from_the_stock(buffer):
    with buffer.asked() as client:
        client.ids(STEP)
        buffer.to_database.refuse()
        assert client.ids(2 * STEP) == list(range(STEP + 1, 3 * STEP + 1))
        done = buffer.draw(STEP)  # a process that begins now
        assert [int(line) for line in done.stdout.split()] == list(range(3 * STEP + 1, 4 * STEP + 1)), done.stderr
        assert client.ids(2 * STEP) == list(range(4 * STEP + 1, 6 * STEP + 1))
        assert draw_within_a_second(client, 1)[1].startswith("STORE_UNAVAILABLE")
        buffer.to_database.allow()
        wait_until(lambda: client.draw(1)[0], what="the database is asked again")


def test_without_both_the_error_is_worth_a_retry_and_then_it_goes_on(buffer):
    with buffer.asked() as client:
        client.ids(STEP)
        buffer.to_database.refuse()
        buffer.to_redis.refuse()
        ids, failure = draw_within_a_second(client, 1)
        assert not ids
        assert failure.startswith("STORE_UNAVAILABLE")
        assert buffer.draw(wait_max="1ms").returncode == 75  # retryable
        buffer.to_database.allow()
        buffer.to_redis.allow()
        wait_until(lambda: client.draw(1)[0], what="both are back")
        client.ids(10 * STEP)


def test_a_redis_that_does_not_answer_is_left_alone_after_three_times(buffer):
    with buffer.asked(**{"buffer.pause": "1h", "buffer.timeout": "300ms"}) as client:
        client.ids(STEP)
        buffer.to_redis.stall()
        client.ids(3 * STEP)
        asked = buffer.to_redis.accepted  # a connection that was not answered is not used again
        client.ids(20 * STEP)
        assert buffer.to_redis.accepted == asked
        buffer.to_redis.go_on()


def test_below_the_target_of_an_advance_nothing_comes_out(buffer):
    with buffer.asked() as client:
        client.ids(STEP)
        assert buffer.segment("advance", "--to", "5000").returncode == 0
        assert client.ids(1)[0] == 5001
    buffer.to_redis.refuse()
    done = buffer.segment("advance", "--to", "6000")
    assert done.returncode == 75
    assert "Do this again" in done.stderr


def test_a_tables_ids_and_what_makes_a_tag_are_those_of_the_database(buffer):
    table = new_tag()
    buffer.database.sql(f"CREATE TABLE {table} (id bigint); INSERT INTO {table} VALUES (5000)")
    done = buffer.segment("import", "--from-table", table, "--from-column", "id")
    assert done.returncode == 0, done.stderr
    assert buffer.max_id() == 5000
    assert "CREATE TABLE IF NOT EXISTS idgen_segment" in buffer.segment("create", "--print").stdout


def test_numbers_near_the_end_of_all_are_exact(buffer):
    # Rounded as Redis's Lua rounds, to multiples of 1024, the segments would be one and the same, or beyond the grants.
    begin = 2**63 - 1_234_567
    buffer.database_goes_back_to(begin - 1)
    with buffer.asked() as client:
        drawn = client.ids(20 * STEP)
    assert drawn[:STEP] == list(range(begin, begin + STEP))
    assert sorted(set(drawn)) == drawn
    assert drawn[-1] <= buffer.max_id() < begin + 20 * 1024


def test_bad_input_is_refused(buffer):
    for others, said in (
        ({"buffer.redis": ""}, "buffer.redis"),
        ({"buffer.redis": "mysql://app:secret@db/ids"}, "allowed: redis://HOST"),
        ({"buffer.database": ""}, "buffer.database"),
        ({"buffer.database": "memory"}, "buffer.database"),
        ({"buffer.database": "buffer"}, "buffer.database"),
        ({"buffer.database": "oracle://x"}, "no store of that kind"),
    ):
        done = buffer.draw(**others)
        assert done.returncode == 2 or done.returncode == 1
        assert said in done.stderr
        assert "secret" not in done.stderr


@pytest.mark.parametrize(
    ("side", "said"),
    [("redis", "Redis does not answer"), ("database", "the database does not answer")],
)
def test_doctor_warns_of_the_side_that_is_down_and_takes_one_number(buffer, tmp_path, side, said):
    assert buffer.draw(STEP).returncode == 0  # a stock is left
    file = tmp_path / "idgen.toml"
    file.write_text(f'[orders]\nkind = "segment"\nstore = "buffer"\ntag = "{buffer.tag}"\n')
    properties = {key: value for key, value in buffer.properties().items() if key != "step"}
    sets = [word for pair in native_settings(properties) for word in ("--set", pair)]

    def doctor():
        done = run([BUILD / "bin" / "idgen", "doctor", "--config", file, *sets])
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()[0]

    stock = buffer.redis.stock(buffer.tag)
    assert doctor().startswith("ok ")
    assert buffer.redis.stock(buffer.tag) == stock - 1
    down = buffer.to_redis if side == "redis" else buffer.to_database
    down.refuse()
    first = doctor()
    assert first.startswith("warn "), first
    assert said in first
