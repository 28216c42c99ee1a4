"""worker_source = cosid: CosId's machine ids, beside its own processes: no number twice at once, no id twice, whatever
is killed, stopped or down."""

import os
import signal
import time

import idgen
import pytest
from clients import at, new_tag, other_clock, patience, wait_until
from originals import EPOCH_MS, cosid_machine
from test_workers import LAYOUT, LONG_S
from worker_sources import (
    HOUR_MS,
    SHORT,
    ascending,
    distinct,
    draw_once,
    drawing,
    expire,
    fork_and_draw,
    generator,
    joined,
    now_ms,
    numbers,
    settle,
)

TWO = "time:41ms worker:1 sequence:2"
# A process that has not reported for so long counts as dead.
GUARD_MS = round(patience(7_000))
# In the name of an instance that nobody is (cosid_left_behind).
LEFT_BEHIND = "~"
COSID = {"worker_source": "cosid", "worker_guard": f"{GUARD_MS}ms", **SHORT}


@pytest.fixture(params=["mysql", "postgres", "redis"])
def cosids(request, started):
    return started(request.param)


@pytest.fixture
def cosid(cosids, windows):
    return settle({**windows(cosids), **COSID})


class Machines:
    """CosId's rows or keys of a namespace, as an operator reads them."""

    def __init__(self, server, namespace):
        self.server, self.namespace = server, namespace

    def holders(self):
        """{machine id: (instance, its latest report)}, of those that somebody has."""
        if self.server.name == "redis":
            words = self.server.cli("HGETALL", f"cosid:{{{self.namespace}}}:itc_idx").split()
            pairs = zip(words[::2], words[1::2], strict=True)
            rows = [(*(int(word) for word in state.split("|")), who) for who, state in pairs]
            found = {number: (who, stamp) for number, stamp, who in rows}
        else:
            found = {number: (who, stamp) for number, who, stamp in self.rows() if who}
        # One that was claimed while another process's window still held it is left behind, until it counts as dead.
        return {number: (who, stamp) for number, (who, stamp) in found.items() if LEFT_BEHIND not in who}

    def given_back(self):
        """{machine id: up to when it was used}."""
        if self.server.name == "redis":
            words = self.server.cli("HGETALL", f"cosid:{{{self.namespace}}}:revert").split()
            return {int(number): int(stamp) for number, stamp in zip(words[::2], words[1::2], strict=True)}
        return {number: stamp for number, who, stamp in self.rows() if not who}

    def rows(self):
        text = self.server.sql(
            "SELECT CONCAT_WS('|', machine_id, instance_id, last_timestamp) FROM cosid_machine"
            f" WHERE namespace = '{self.namespace}'"
        )
        for line in text.split("\n"):
            if line:
                number, who, stamp = line.split("|")
                yield int(number), who, int(stamp)

    def put(self, number, instance, stamp):
        """As CosId leaves it."""
        if self.server.name == "redis":
            if instance:
                self.server.cli("HSET", f"cosid:{{{self.namespace}}}:itc_idx", instance, f"{number}|{stamp}")
            else:
                self.server.cli("HSET", f"cosid:{{{self.namespace}}}:revert", str(number), str(stamp))
            self.server.cli("SET", f"cosid:{{{self.namespace}}}:adder", str(number))
            return
        self.server.sql(
            "INSERT INTO cosid_machine (name, namespace, machine_id, last_timestamp, instance_id, distribute_time,"
            f" revert_time) VALUES ('{self.namespace}.{number:08}', '{self.namespace}', {number}, {stamp},"
            f" '{instance}', 0, 0)"
        )

    def take(self, number, instance):
        """By somebody who takes its owner for dead."""
        now = int(time.time() * 1000)
        if self.server.name == "redis":
            (before,) = [who for held, (who, _) in self.holders().items() if held == number]
            self.server.cli("HDEL", f"cosid:{{{self.namespace}}}:itc_idx", before)
            self.server.cli("HSET", f"cosid:{{{self.namespace}}}:itc_idx", instance, f"{number}|{now}")
            return
        self.server.sql(
            f"UPDATE cosid_machine SET instance_id = '{instance}', last_timestamp = {now}"
            f" WHERE name = '{self.namespace}.{number:08}'"
        )

    def forget(self, number):
        """Its owner counts as dead from now on: its latest report is set back."""
        who, _ = self.holders()[number]
        stamp = now_ms() - HOUR_MS - GUARD_MS
        if self.server.name == "redis":
            self.server.cli("HSET", f"cosid:{{{self.namespace}}}:itc_idx", who, f"{number}|{stamp}")
        else:
            self.server.sql(
                f"UPDATE cosid_machine SET last_timestamp = {stamp} WHERE name = '{self.namespace}.{number:08}'"
            )


@pytest.fixture
def machines(cosids, namespace):
    return Machines(cosids, namespace)


def test_processes_have_machine_ids_of_cosids_and_give_them_back(cosid, machines, namespace, tmp_path):
    with drawing(tmp_path, namespace, 4, **cosid) as processes:
        for process in processes:
            process.goes_on()
        held = machines.holders()
        assert set(held) == {0, 1, 2, 3}
        assert all(str(process.process.pid) in " ".join(who for who, _ in held.values()) for process in processes)
        wait_until(
            lambda: all(machines.holders()[number][1] > stamp for number, (_, stamp) in held.items()), what="reports"
        )
        for process in processes:
            process.stop()
        distinct(*(process.ids() for process in processes))
        layout = idgen.Layout(LAYOUT, epoch=str(EPOCH_MS))
        last = {min(numbers(p.ids())): layout.decode(max(p.ids())).unix_ms for p in processes}
    assert machines.holders() == {}
    back = machines.given_back()
    assert set(back) == {0, 1, 2, 3}
    assert all(back[number] >= last[number] for number in back), "who has it next begins above its ids"


def test_cosids_own_processes_run_beside_ours(started, windows, namespace, tmp_path, cosid_jar, real):
    server = started(real)
    settings = settle({**windows(server), **COSID})
    with (
        cosid_machine(cosid_jar, server, "10.0.0.1:1", namespace, guard_ms=GUARD_MS) as one,
        drawing(tmp_path, namespace, 2, **settings) as ours,
        cosid_machine(cosid_jar, server, "10.0.0.1:2", namespace, guard_ms=GUARD_MS) as other,
    ):
        theirs = [one.issue(1000), other.issue(1000)]
        for process in ours:
            process.goes_on(process.size())
        machines = Machines(server, namespace)
        held = {number: stamp for number, (_, stamp) in machines.holders().items()}
        assert len(held) == 4
        # Whoever did not report would be taken for dead.
        while any(machines.holders()[number][1] < stamp + 1.2 * GUARD_MS for number, stamp in held.items()):
            theirs[0] += one.issue(100)
            with cosid_machine(cosid_jar, server, new_tag(), namespace, guard_ms=GUARD_MS) as brief:
                theirs.append(brief.issue(100))
            theirs[1] += other.issue(100)
        for process in ours:
            assert process.failures() == []
            process.goes_on(process.size()).stop()
        drawn = [process.ids() for process in ours]
    distinct(*theirs, *drawn)
    lasting = [numbers(ids) for ids in (theirs[0], theirs[1], *drawn)]
    assert all(len(each) == 1 for each in lasting), "nobody has lost its number"
    assert len(set.union(*lasting)) == 4
    for brief in theirs[2:]:
        assert numbers(brief).isdisjoint(set.union(*lasting))


@pytest.fixture(params=["mysql", "redis"])
def real(request):
    """Servers on which CosId itself runs in these tests."""
    return request.param


def test_a_number_of_ours_that_was_killed_goes_to_cosid_after_the_guard_and_back(
    started, windows, namespace, tmp_path, cosid_jar, real
):
    server = started(real)
    # However slowly a process starts, the guard is over only when the test says so.
    settings = {**settle({**windows(server), **COSID, "layout": TWO}), "worker_guard": "1h"}
    machines = Machines(server, namespace)
    with drawing(tmp_path, namespace, 2, **settings) as (killed, lives):
        killed.goes_on().kill()
        (number,) = numbers(killed.ids(), TWO)
        with pytest.raises((RuntimeError, BrokenPipeError)):  # both are in use, or may be
            cosid_machine(cosid_jar, server, "early", namespace, bits=1, guard_ms=HOUR_MS).issue(1)
        machines.forget(number)
        with cosid_machine(cosid_jar, server, "late", namespace, bits=1, guard_ms=HOUR_MS) as cosid_:
            theirs = cosid_.issue(100)
            assert numbers(theirs, TWO) == {number}
            refused = draw_once(namespace=namespace, **settings, worker_wait="0ms")
            assert "WORKER_BUSY" in refused.stderr
            assert "all 2 machine ids" in refused.stderr
            cosid_.process.kill()  # without giving it back
        machines.forget(number)
        expire(server, settings, namespace, number)
        with drawing(tmp_path, namespace, 1, **settings) as (heir,):
            heir.goes_on().stop()
            assert numbers(heir.ids(), TWO) == {number}
        lives.goes_on(lives.size()).stop()
        assert lives.failures() == []
        distinct(killed.ids(), theirs, heir.ids(), lives.ids())
        ascending(killed.ids(), theirs, heir.ids())


def test_a_number_that_was_given_back_is_the_next_ones_at_once_and_above(cosid, machines, namespace, tmp_path):
    drawn = []
    for _ in range(3):
        with drawing(tmp_path, namespace, 1, **cosid) as (process,):
            process.goes_on().stop()
            drawn.append(process.ids())
        assert numbers(drawn[-1]) == {0}
    ascending(*drawn)
    assert set(machines.given_back()) == {0}


def test_a_process_that_was_stopped_for_longer_than_the_guard_goes_on_with_another_number(
    cosids, machines, namespace, tmp_path
):
    settings = settle({"store": cosids.url(), **COSID, "layout": TWO})
    with drawing(tmp_path, namespace, 2, **settings) as (paused, other):
        (lost,) = numbers(paused.goes_on().ids(), TWO)
        other.goes_on()
        (others,) = numbers(other.ids(), TWO)
        os.kill(paused.process.pid, signal.SIGSTOP)
        machines.forget(lost)
        expire(cosids, settings, namespace, lost)
        with drawing(tmp_path, namespace, 1, **settings) as (heir,):
            assert numbers(heir.ids(), TWO) == {lost}
            other.kill()
            machines.forget(others)
            expire(cosids, settings, namespace, others)
            os.kill(paused.process.pid, signal.SIGCONT)
            wait_until(lambda: numbers(paused.ids(), TWO) == {0, 1}, what="another number")
            for process in (paused, heir):
                process.goes_on(process.size()).stop()
            assert numbers(heir.ids(), TWO) == {lost}
        distinct(paused.ids(), heir.ids(), other.ids())


def test_a_number_that_cosid_has_taken_away_is_not_used_any_more(cosid, machines, namespace, tmp_path):
    with drawing(tmp_path, namespace, 1, **cosid) as (process,):
        process.goes_on()
        machines.take(0, "10.0.0.9:1")
        wait_until(lambda: numbers(process.ids()) == {0, 1}, what="another number")
        process.goes_on(process.size()).stop()
        assert machines.holders()[0][0] == "10.0.0.9:1"
    with drawing(tmp_path, namespace, 1, **cosid, on_worker_lost="fail") as (process,):
        process.goes_on()
        (mine,) = numbers(process.ids())
        machines.take(mine, "10.0.0.9:2")
        wait_until(process.failures, what="the loss")
        assert process.failures()[0].startswith("WORKER_BUSY")
        assert numbers(process.ids()) == {mine}


def test_an_address_has_its_number_again_after_kill_9(cosids, cosid, machines, namespace, tmp_path):
    here = {**cosid, "worker_address": "10.0.0.1:8080"}
    drawn = []
    for _ in range(3):
        with drawing(tmp_path, namespace, 1, **here) as (process,):
            process.goes_on().kill()
            drawn.append(process.ids())
            expire(cosids, here, namespace, 0)
    distinct(*drawn)
    assert {who for who, _ in machines.holders().values()} >= {"10.0.0.1:8080"}
    if cosid["store"].startswith("sqlite"):
        assert numbers(joined(drawn)) == {0}


def test_a_clock_that_is_an_hour_off_has_no_number(cosid, machines, namespace):
    store = cosid.pop("store")
    back = draw_once(store, namespace, *at("-1h"), **cosid, wait_max="0ms")
    assert back.returncode != 0
    assert "CLOCK_BACK" in back.stderr
    assert "ms behind the server's" in back.stderr
    ahead = draw_once(store, namespace, *at("+1h"), **cosid, wait_max="0ms")
    assert ahead.returncode != 0
    assert "CLOCK_LEAP" in ahead.stderr
    assert "ms ahead of the server's" in ahead.stderr
    assert machines.holders() == {}


def test_a_number_that_was_used_ahead_of_the_clock_is_left_while_there_is_another(cosid, machines, namespace):
    machines.put(0, "", now_ms() + HOUR_MS)
    done = draw_once(namespace=namespace, **cosid, layout=TWO)
    assert done.returncode == 0, done.stderr
    assert numbers([int(done.stdout)], TWO) == {1}
    assert machines.given_back()[0] > now_ms() + HOUR_MS - 60_000


def test_if_all_numbers_were_used_ahead_of_the_clock_it_is_refused_with_the_milliseconds(cosid, machines, namespace):
    for number in (0, 1):
        machines.put(number, "", now_ms() + HOUR_MS + number)
    done = draw_once(namespace=namespace, **cosid, wait_max="0ms", layout=TWO)
    assert done.returncode != 0, done.stdout
    assert "CLOCK_BACK" in done.stderr
    assert "machine id 0 of namespace" in done.stderr
    assert machines.given_back()[0] > now_ms() + HOUR_MS - 60_000


def test_a_process_whose_clock_leaps_reports_nothing_of_the_future(cosid, machines, namespace, tmp_path):
    """Otherwise nobody could use its number until then."""
    clock = tmp_path / "clock"
    clock.write_text("+0h\n")
    moved = other_clock(FAKETIME_TIMESTAMP_FILE=str(clock), FAKETIME_CACHE_DURATION="1")
    prefix = ["env", *(f"{name}={value}" for name, value in moved.items())]
    with drawing(tmp_path, namespace, 1, prefix=prefix, **cosid, wait_max="2s") as (process,):
        process.goes_on()
        clock.with_suffix(".new").write_text("+1h\n")
        clock.with_suffix(".new").replace(clock)
        wait_until(process.failures, what="it notices")
        reports_end = time.monotonic() + GUARD_MS / 2000  # two are due
        while time.monotonic() < reports_end:
            assert all(stamp < now_ms() + HOUR_MS / 2 for _, stamp in machines.holders().values())
            time.sleep(0.1)
        process.kill()
    done = draw_once(namespace=namespace, **cosid)
    assert done.returncode == 0, done.stderr


def test_a_forked_child_has_a_machine_id_of_its_own(cosid, machines, namespace):
    for address in ({}, {"worker_address": "10.0.0.1:8080"}):
        with generator(namespace, {**cosid, **address}) as parent:
            drawn, found = fork_and_draw(parent)
            assert len(found) > 1
            distinct(drawn)
    assert machines.holders() == {}


def test_an_outage_of_cosids_server_shorter_than_the_guard_is_not_noticed(started, namespace, tmp_path, cosids):
    settings = {"worker_url": cosids.url(), "worker_source": "cosid", "worker_guard": f"{LONG_S}s", **SHORT}
    settings |= {"store_timeout": "1s"}
    layout = idgen.Layout(LAYOUT, epoch=str(EPOCH_MS))
    with drawing(tmp_path, namespace, 2, f"sqlite:{tmp_path}/ids.db", **settings) as processes:
        cosids.kill()
        try:
            down = now_ms()
            for process in processes:
                wait_until(lambda process=process: layout.decode(process.ids()[-1]).unix_ms > down + 2000, what="ids")
                assert process.failures() == []
        finally:
            cosids.start()
        for process in processes:
            process.goes_on(process.size()).stop()
        distinct(*(process.ids() for process in processes))


def test_an_outage_of_cosids_server_longer_than_the_guard_ends_issuing_until_it_is_back(namespace, tmp_path, cosids):
    settings = {"worker_url": cosids.url(), "worker_source": "cosid", "worker_guard": f"{GUARD_MS}ms", **SHORT}
    with drawing(
        tmp_path, namespace, 1, f"sqlite:{tmp_path}/ids.db", **settings, store_timeout="1s", wait_max="1s"
    ) as (process,):
        cosids.kill()
        try:
            told = wait_until(
                lambda: [text for text in process.failures() if "not reported for too long" in text],
                what="the guard has passed",
            )
            assert told[0].startswith("STORE_UNAVAILABLE")
            drawn = len(process.ids())
        finally:
            cosids.start()
        wait_until(lambda: len(process.ids()) > drawn + 100, what="ids come again")
        process.stop()
        distinct(process.ids())


def test_a_redis_that_has_forgotten_its_machine_ids_costs_the_number_and_no_id_comes_twice(
    started, namespace, tmp_path
):
    redis = started("redis")
    settings = {"worker_url": redis.url(), "worker_source": "cosid", "worker_guard": f"{GUARD_MS}ms", **SHORT}
    with drawing(tmp_path, namespace, 3, f"sqlite:{tmp_path}/ids.db", **settings) as processes:
        for process in processes:
            process.goes_on()
        redis.cli("DEL", *(f"cosid:{{{namespace}}}:{key}" for key in ("itc_idx", "revert", "adder")))
        machines = Machines(redis, namespace)
        wait_until(lambda: len(machines.holders()) == 3, what="all have a number again")
        for process in processes:
            process.goes_on(process.size()).stop()
        distinct(*(process.ids() for process in processes))
