"""Workers on real servers: one owner at a time, windows that never overlap, whatever breaks."""

import contextlib
import functools
import json
import os
import random
import signal
import subprocess
from pathlib import Path

import idgen
import pytest
from clients import (
    IDGEN,
    MODULES,
    SECONDS,
    Client,
    ascending,
    at,
    distinct,
    drawing_py,
    ids_of,
    new_tag,
    patience,
    run,
    wait_until,
)
from proxy import Proxy

LAYOUT = "time:41ms worker:10 sequence:2"
SHORT = {"window": "1s", "max_ahead": "30s"}
LONG_S = round(patience(60))
# Nobody loses a worker for being slow: tests end leases with expire(). In ZooKeeper the session is the lease.
PATIENT = {"worker_lease": f"{LONG_S}s", "wait_max": f"{LONG_S}s", "store_timeout": f"{LONG_S}s"}


def properties(url, namespace, worker, **others):
    found = {"kind": "snowflake", "store": url, "namespace": namespace, "worker": worker, "store_create": "true"}
    found["layout"] = LAYOUT  # at most 4000 ids per second: files stay small
    return [f"{key}={value}" for key, value in {**found, **PATIENT, "module.path": MODULES, **others}.items()]


class Worker(Client):
    """A process that draws snowflake ids of one worker until it is told to stop or killed."""

    def __init__(self, folder, url, namespace, worker, batch=50, prefix=(), **others):
        self.path = Path(folder) / new_tag()
        self.program = [*prefix, *drawing_py(batch), *properties(url, namespace, worker, **others)]
        self.start()


@contextlib.contextmanager
def working(folder, url, namespace, numbers, **others):
    all_of_them = [Worker(folder, url, namespace, number, **others) for number in numbers]
    try:
        for worker in all_of_them:
            worker.begins()
        yield all_of_them
    finally:
        for worker in all_of_them:
            worker.close()


def command(url, namespace, worker, *words, **others):
    sets = [word for pair in properties(url, namespace, worker, **others) for word in ("--set", pair)]
    return run([IDGEN, *words, *sets])


def shown(url, namespace, worker):
    done = command(url, namespace, worker, "worker", "show", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_store_is_made_without_a_tag_and_workers_need_no_more(shared, namespace):
    made = run([IDGEN, "store", "create", "--store", shared.url(), "--set", f"module.path={MODULES}"])
    assert made.returncode == 0, made.stderr
    done = command(shared.url(), namespace, 7, "next", "-n", "2", store_create="false")
    assert done.returncode == 0, done.stderr
    assert len(distinct(done.stdout.split())) == 2


def test_a_worker_of_a_process_that_was_killed_is_released_before_its_lease_ends(shared, namespace, tmp_path):
    long = {"worker_lease": "1h"}
    with working(tmp_path, shared.url(), namespace, [7], **long) as (first,):
        first.goes_on().kill()
        held = shown(shared.url(), namespace, 7)
        assert held["live"], "nobody knows yet"
        refused = command(shared.url(), namespace, 7, "worker", "release", "--yes", **long)
        assert "WORKER_BUSY" in refused.stderr
        unsure = command(shared.url(), namespace, 7, "worker", "release", "--force", **long)
        assert "No id comes twice" in unsure.stderr
        assert shown(shared.url(), namespace, 7)["fence"] == held["fence"]
        done = command(shared.url(), namespace, 7, "worker", "release", "--force", "--yes", **long)
        assert done.returncode == 0, done.stderr
        assert not shown(shared.url(), namespace, 7)["live"]
        with working(tmp_path, shared.url(), namespace, [7], **long, worker_wait="0ms") as (second,):
            second.goes_on().stop()
        ascending([max(first.ids()), min(second.ids())])
        ids_of([first, second])


def test_a_worker_released_by_force_is_taken_from_an_owner_that_lives_and_no_id_comes_twice(
    shared, namespace, tmp_path
):
    with working(tmp_path, shared.url(), namespace, [7], **SHORT) as (first,):
        second = Worker(tmp_path, shared.url(), namespace, 7, **SHORT, worker_wait="1h")

        def taken():
            row = shown(shared.url(), namespace, 7)
            if row["live"] and f"process {first.process.pid} on " in row["holder"]:
                done = command(shared.url(), namespace, 7, "worker", "release", "--force", "--yes", **SHORT)
                assert done.returncode in (0, 75), done.stderr  # 75: it has just acquired it again
            return second.ids()

        with contextlib.closing(second):
            wait_until(taken, what="the second one takes the worker")
            second.goes_on(second.size()).stop()
        first.kill()
        ids_of([first, second])


def test_a_second_owner_is_refused_and_told_who_has_the_worker(shared, namespace, tmp_path):
    with working(tmp_path, shared.url(), namespace, [7]) as (first,):
        second = Worker(tmp_path, shared.url(), namespace, 7, worker_wait="0ms")
        assert second.process.wait(SECONDS) != 0
        (failure,) = second.failures()
        assert failure.startswith("WORKER_BUSY worker 7 of namespace"), failure
        assert f"is owned by process {first.process.pid} on " in failure
        assert shown(shared.url(), namespace, 7)["live"]
        first.stop()
        assert not shown(shared.url(), namespace, 7)["live"]
        with working(tmp_path, shared.url(), namespace, [7], worker_wait="0ms") as (third,):
            third.stop()
        ids_of([first, third])


def test_the_worker_of_a_process_that_was_killed_is_taken_when_its_lease_has_ended(shared, namespace, tmp_path):
    short = {**SHORT, "worker_lease": "1s", "store_timeout": "4s", "worker_wait": f"{LONG_S}s"}
    with working(tmp_path, shared.url(), namespace, [7], **short) as (first,):
        first.kill()
        with working(tmp_path, shared.url(), namespace, [7], **short) as (second,):
            second.stop()
            ascending([max(first.ids()), min(second.ids())])
            ids_of([first, second])


def test_a_process_that_is_being_replaced_is_waited_for(shared, namespace, tmp_path):
    with (
        Proxy(shared.port) as one,
        Proxy(shared.port) as two,
        working(tmp_path, shared.url(one.port), namespace, [7]) as (first,),
    ):
        needed = one.round_trips  # and more
        second = Worker(tmp_path, shared.url(two.port), namespace, 7, worker_wait="1h")
        with contextlib.closing(second):
            wait_until(lambda: two.round_trips >= needed, what="the second one has been refused")
            assert second.size() == 0
            first.stop()
            second.goes_on().stop()
            ascending([max(first.ids()), min(second.ids())])
            ids_of([first, second])


def test_an_owner_that_draws_nothing_stays_the_owner(shared, namespace, tmp_path):
    store = shared.url()
    with subprocess.Popen(
        [*drawing_py(0), *properties(store, namespace, 7, window="500ms")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as idle:
        idle.stdin.write("1\n")
        idle.stdin.flush()
        first = int(idle.stdout.readline())
        before = int(shown(store, namespace, 7)["hw_unix_ms"])
        # A new Redis begins 17 s ahead of its clock, from where a renewal adds little.
        two_windows = 1000 if shared.remembers else 0
        wait_until(lambda: int(shown(store, namespace, 7)["hw_unix_ms"]) > before + two_windows, what="renewals")
        shared.expire(namespace, 7)
        wait_until(lambda: shown(store, namespace, 7)["live"], what="a renewal of the lease")
        assert shown(store, namespace, 7)["fence"] in (1, "1")
        idle.stdin.write("1\n")
        idle.stdin.flush()
        assert int(idle.stdout.readline()) > first
        idle.stdin.close()
        assert idle.wait(20) == 0


def test_workers_that_are_killed_and_started_again_issue_no_id_twice(shared, namespace, tmp_path):
    choice = random.Random(3)
    with working(tmp_path, shared.url(), namespace, range(4), **SHORT) as all_of_them:
        drawing = dict(enumerate(all_of_them))
        for _ in range(6):
            number = choice.randrange(4)
            drawing[number].goes_on(drawing[number].size())
            drawing[number].kill()
            shared.expire(namespace, number)
            drawing[number] = Worker(tmp_path, shared.url(), namespace, number, **SHORT)
            all_of_them.append(drawing[number])
        for worker in drawing.values():
            worker.goes_on().stop()
        ids_of(all_of_them)


def test_an_owner_that_was_stopped_for_longer_than_its_lease_draws_late_ids_and_none_twice(shared, namespace, tmp_path):
    with working(tmp_path, shared.url(), namespace, [7], **SHORT, wait_max="1s") as (first,):
        first.process.send_signal(signal.SIGSTOP)
        shared.expire(namespace, 7)
        with working(tmp_path, shared.url(), namespace, [7], **SHORT) as (second,):
            size = first.size()
            first.process.send_signal(signal.SIGCONT)
            second.goes_on(second.size())
            # It uses up what it has reserved, and is then told that the worker is somebody else's.
            wait_until(lambda: first.process.poll() is not None or first.size() > size, what="the stopped one goes on")
            wait_until(lambda: any("WORKER_BUSY" in text for text in first.failures()), what="the stopped one is told")
            second.stop()
            first.kill()
            ids_of([first, second])


def test_a_server_that_is_killed_for_less_than_half_a_window_is_not_noticed(shared, namespace, tmp_path):
    window = f"{LONG_S}s" if shared.remembers else "13s"  # the most that Redis grants
    with working(tmp_path, shared.url(), namespace, range(3), window=window, max_ahead=f"{LONG_S}s") as all_of_them:
        shared.kill()
        written = [worker.size() for worker in all_of_them]
        shared.start()
        for worker, size in zip(all_of_them, written, strict=True):
            worker.goes_on(size).stop()
            assert worker.failures() == []
        ids_of(all_of_them)


def test_a_server_that_is_down_for_longer_is_an_error_to_retry_and_needs_no_restart(shared, namespace, tmp_path):
    short = {**SHORT, "wait_max": "1s", "store_timeout": "1s"}
    with working(tmp_path, shared.url(), namespace, range(2), **short) as all_of_them:
        shared.kill()
        for worker in all_of_them:
            wait_until(worker.failures, what="the outage shows")
            assert worker.failures()[0].startswith("STORE_UNAVAILABLE"), worker.failures()[0]
        shared.start()
        for worker in all_of_them:
            worker.goes_on(worker.size())
            known = len(worker.ids())
            wait_until(lambda known=known, worker=worker: len(worker.ids()) > known, what="ids come again")
            worker.stop()
        ids_of(all_of_them)


def test_connections_that_are_cut_again_and_again_issue_no_id_twice(shared, proxy, namespace, tmp_path):
    url = shared.url(proxy.port)
    with working(tmp_path, url, namespace, range(3), window="200ms") as all_of_them:
        for _ in range(15):
            written = [worker.size() for worker in all_of_them]
            for worker, size in zip(all_of_them, written, strict=True):
                worker.goes_on(size)
            proxy.cut()
        for worker in all_of_them:
            worker.goes_on(worker.size()).stop()
        ids_of(all_of_them)


@pytest.mark.parametrize("hours", [-1, 1])
def test_a_clock_that_is_an_hour_off_reserves_nothing_ahead(shared, namespace, tmp_path, hours):
    sets = [word for pair in properties(shared.url(), namespace, 7, wait_max="0ms") for word in ("--set", pair)]
    done = run([*at(f"{hours:+d}h"), IDGEN, "next", "-n", "3", *sets])
    if hours > 0:
        assert done.returncode != 0
        assert "CLOCK_LEAP" in done.stderr
        assert "ahead of the store's" in done.stderr
    else:
        if not shared.remembers:
            assert "CLOCK_BACK" in done.stderr  # nothing is granted of the time before the server began
            return
        assert done.returncode == 0, done.stderr  # ids of an hour ago, which are nobody else's
    with working(tmp_path, shared.url(), namespace, [7]) as (right,):
        right.stop()
        if hours < 0:
            assert not set(right.ids()) & {int(line) for line in done.stdout.split()}
        ids_of([right])


def workers_of(client, layout=LAYOUT):
    decoder = idgen.Layout(layout)
    return {decoder.decode(number).worker for number in client.ids()}


def test_leased_workers_of_processes_that_are_killed_are_used_again_and_no_id_twice(shared, namespace, tmp_path):
    choice = random.Random(5)
    few = {**SHORT, "layout": "time:41ms worker:3 sequence:2"}
    with working(tmp_path, shared.url(), namespace, ["auto"] * 6, **few) as all_of_them:
        drawing = list(all_of_them)
        for _ in range(8):
            victim = drawing.pop(choice.randrange(len(drawing)))
            victim.goes_on(victim.size())
            victim.kill()
            (worker,) = workers_of(victim, few["layout"])
            shared.expire(namespace, worker)
            drawing.append(Worker(tmp_path, shared.url(), namespace, "auto", **few))
            all_of_them.append(drawing[-1])
        for client in drawing:
            client.goes_on().stop()
        ids_of(all_of_them)


def test_a_process_that_lost_its_leased_worker_goes_on_with_another(shared, namespace, tmp_path):
    two = {**SHORT, "layout": "time:41ms worker:1 sequence:2"}
    workers = functools.partial(workers_of, layout=two["layout"])
    with working(tmp_path, shared.url(), namespace, ["auto"] * 2, **two) as (paused, other):
        (lost,) = workers(paused.goes_on())
        os.kill(paused.process.pid, signal.SIGSTOP)
        shared.expire(namespace, lost)
        with working(tmp_path, shared.url(), namespace, ["auto"], **two) as (third,):
            assert workers(third) == {lost}
            other.kill()
            shared.expire(namespace, *workers(other))
            os.kill(paused.process.pid, signal.SIGCONT)
            wait_until(lambda: workers(paused) == {0, 1}, what="the other worker")
            paused.goes_on(paused.size()).stop()
            third.goes_on(third.size()).stop()
            assert workers(third) == {lost}
        ids_of([paused, other, third])


def test_no_free_worker_is_an_error_that_says_who_has_them(shared, namespace, tmp_path):
    two = {"layout": "time:41ms worker:1 sequence:2", "worker_wait": "0ms"}
    with working(tmp_path, shared.url(), namespace, ["auto"] * 2, **two) as all_of_them:
        third = Worker(tmp_path, shared.url(), namespace, "auto", **two)
        assert third.process.wait(SECONDS) != 0
        (failure,) = third.failures()
        assert failure.startswith("WORKER_BUSY no worker of namespace"), failure
        assert "of 2, 2 have a live owner (process " in failure
        all_of_them[0].stop()
        with working(tmp_path, shared.url(), namespace, ["auto"], **two) as (fourth,):
            fourth.stop()
        ids_of([*all_of_them, fourth])


def fork_and_draw(parent, children, count):
    """The ids of a generator, then of its children one after the other, then its own again: so many of each."""
    drawn = [parent.next() for _ in range(count)]
    for _ in range(children):
        here, there = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(there, "\n".join(str(parent.next()) for _ in range(count)).encode())
            parent.close()
            os._exit(0)
        os.close(there)
        with os.fdopen(here) as report:
            drawn += [int(line) for line in report]
        assert os.waitpid(child, 0)[1] == 0
    return drawn + [parent.next() for _ in range(count)]


def test_a_forked_child_leases_a_worker_of_its_own(shared, namespace):
    with idgen.Generator(
        kind="snowflake", worker="auto", namespace=namespace, store=shared.url(), store_create=True
    ) as generator:
        drawn = fork_and_draw(generator, children=3, count=100)
        assert len(distinct(drawn)) == 500
        assert len({generator.decode(number).worker for number in drawn}) > 1
