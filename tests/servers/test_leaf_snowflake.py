"""worker_source = zookeeper: the numbers of Leaf's snowflake mode, beside its own processes: no number twice at once,
no id twice, whatever is killed, off or down."""

import itertools
import json
import os

import idgen
import pytest
from clients import at, wait_until
from originals import LeafSnowflake
from proxy import Proxy
from worker_sources import (
    HOUR_MS,
    SHORT,
    ascending,
    distinct,
    draw_once,
    drawing,
    expire,
    generator,
    joined,
    now_ms,
    numbers,
)

from servers import HOST, ZooKeeper


@pytest.fixture
def zookeeper(started):
    return started("zookeeper")


def address(port):
    return f"10.0.0.1:{port}"


@pytest.fixture
def leaf(zookeeper, windows, tmp_path):
    def at(port, **others):
        found = {**windows(zookeeper), "worker_source": "zookeeper", "worker_address": address(port), **SHORT}
        return {**found, **others}

    return at


def one(folder, namespace, settings):
    return drawing(folder, namespace, 1, **settings)


def nodes(zookeeper, namespace):
    """{address: number}, as Leaf reads them."""
    parts = [name.split("-") for name in zookeeper.children(f"/snowflake/{namespace}/forever")]
    assert all(len(part) == 2 and len(part[1]) == 10 for part in parts), parts
    return {part[0]: int(part[1]) for part in parts}


def report(zookeeper, namespace, port):
    number = nodes(zookeeper, namespace)[address(port)]
    return json.loads(zookeeper.get(f"/snowflake/{namespace}/forever/{address(port)}-{number:010}"))


def test_leafs_own_processes_run_beside_ours_which_report_every_three_seconds_too(zookeeper, leaf, namespace, tmp_path):
    with LeafSnowflake(zookeeper, namespace, address(1), tmp_path / "cache1") as first:
        theirs = [first.issue(500)]
        with (
            one(tmp_path, namespace, leaf(2)) as (ours,),
            one(tmp_path, namespace, leaf(3)) as (another,),
            LeafSnowflake(zookeeper, namespace, address(4), tmp_path / "cache4") as later,
        ):
            theirs.append(later.issue(500))
            for process in (ours, another):
                process.goes_on(process.size())
            stamps = {port: [] for port in (1, 2, 3, 4)}

            def have_reported():
                for port, seen in stamps.items():
                    stamp = report(zookeeper, namespace, port)["timestamp"]
                    if stamp not in seen:
                        seen.append(stamp)
                return min(map(len, stamps.values())) >= 3

            wait_until(have_reported, what="two reports of everybody")
            for port in (2, 3):
                between = [after - before for before, after in itertools.pairwise(stamps[port])]
                assert min(between[1:]) >= 2_900, between  # after that of the start
                assert 2 * len(stamps[port]) > len(stamps[1]), "about as many as Leaf's own"
            theirs[0] += first.issue(500)
            for process in (ours, another):
                process.goes_on(process.size()).stop()
                assert process.failures() == []
    found = [numbers(ids) for ids in (*theirs, ours.ids(), another.ids())]
    assert all(len(each) == 1 for each in found)
    assert set.union(*found) == {0, 1, 2, 3}
    distinct(*theirs, ours.ids(), another.ids())
    assert nodes(zookeeper, namespace) == {
        address(port): min(each) for port, each in zip((1, 4, 2, 3), found, strict=True)
    }
    said = report(zookeeper, namespace, 2)
    assert (said["ip"], said["port"]) == ("10.0.0.1", "2")
    assert abs(said["timestamp"] - now_ms()) < 60_000


def test_an_address_goes_from_leaf_to_idgen_and_back(zookeeper, leaf, namespace, tmp_path):
    cache = tmp_path / "workerID.properties"
    with LeafSnowflake(zookeeper, namespace, address(1), tmp_path / "other"):
        pass
    drawn = []
    for _ in range(2):
        with LeafSnowflake(zookeeper, namespace, address(7), cache) as original:
            drawn.append(original.issue(300))
        with one(tmp_path, namespace, leaf(7, worker_cache=cache)) as (process,):
            process.goes_on().stop()
            drawn.append(process.ids())
    assert numbers(joined(drawn)) == {1}
    distinct(*drawn)
    assert "workerID=1" in cache.read_text()


def test_a_process_that_was_killed_has_its_number_again_and_ids_above(zookeeper, leaf, namespace, tmp_path):
    drawn = []
    for _ in range(3):
        with one(tmp_path, namespace, leaf(1)) as (process,):
            process.goes_on().kill()
            drawn.append(process.ids())
            expire(zookeeper, leaf(1), namespace, 0)
    assert numbers(joined(drawn)) == {0}
    ascending(*drawn)


def test_a_start_while_zookeeper_is_down_has_the_number_of_the_last_one(namespace, tmp_path):
    with ZooKeeper() as server:
        settings = {
            "store": f"sqlite:{tmp_path}/ids.db",
            "worker_url": server.url(),
            "worker_source": "zookeeper",
            "worker_address": address(1),
            "worker_cache": tmp_path / "cache",
            "store_timeout": "2s",
            **SHORT,
        }
        assert draw_once(namespace=namespace, **{**settings, "worker_address": address(0)}).returncode == 0
        (tmp_path / "cache").unlink()
        with one(tmp_path, namespace, settings) as (before,):
            before.goes_on().kill()
        server.kill()
        with one(tmp_path, namespace, settings) as (process,):
            process.goes_on()
            uncached = {**settings, "worker_address": address(2), "wait_max": "100ms"}
            del uncached["worker_cache"]
            failed = draw_once(namespace=namespace, **uncached)
            assert "STORE_UNAVAILABLE" in failed.stderr
            server.start()
            begun = now_ms()
            wait_until(lambda: report(server, namespace, 1)["timestamp"] > begun, what="it reports again")
            process.goes_on(process.size()).stop()
        assert process.failures() == []
        assert numbers(before.ids() + process.ids()) == {1}
        distinct(before.ids(), process.ids())


def test_a_clock_that_went_back_an_hour_is_refused_with_the_milliseconds(zookeeper, leaf, namespace):
    settings = leaf(1, wait_max="0ms")
    assert draw_once(namespace=namespace, **settings).returncode == 0
    done = draw_once(settings.pop("store"), namespace, *at("-1h"), **settings)
    assert done.returncode != 0
    assert "CLOCK_BACK" in done.stderr
    assert f"'{address(1)}' was reported in use at" in done.stderr
    (milliseconds,) = [int(word) for word in done.stderr.split() if word.isdigit() and len(word) == 7][:1]
    assert HOUR_MS - 60_000 < milliseconds <= HOUR_MS


@pytest.mark.parametrize(("hours", "status", "words"), [(1, "CLOCK_LEAP", "ahead of"), (-1, "CLOCK_BACK", "behind")])
def test_a_clock_off_the_others_mean_is_refused_and_makes_no_node(
    zookeeper, leaf, namespace, tmp_path, hours, status, words
):
    with (
        LeafSnowflake(zookeeper, namespace, address(1), tmp_path / "cache") as original,
        one(tmp_path, namespace, leaf(2)) as (ours,),
    ):
        original.issue(1)
        ours.goes_on()
        settings = leaf(3, wait_max="0ms")
        done = draw_once(settings.pop("store"), namespace, *at(f"{hours:+d}h"), **settings)
        assert done.returncode != 0, done.stdout
        assert status in done.stderr
        assert f"ms {words} the mean of those that the 2 other processes" in done.stderr
        ours.stop()
    assert set(nodes(zookeeper, namespace)) == {address(1), address(2)}


def test_a_forked_child_is_refused_because_the_address_is_its_parents(leaf, namespace):
    with generator(namespace, leaf(1)) as parent:
        parent.next()
        child = os.fork()
        if child == 0:
            try:
                parent.next()
            except idgen.ForkedError as error:
                os._exit(0 if "worker_address is the parent's" in str(error) else 1)
            os._exit(2)
        assert os.waitpid(child, 0)[1] == 0
        parent.next()


def test_two_processes_with_one_address_are_told_so(zookeeper, leaf, namespace, tmp_path):
    settings = leaf(1)
    with one(tmp_path, namespace, settings) as (first,):
        first.goes_on()
        second = draw_once(namespace=namespace, **{**settings, "worker_wait": "0ms"})
        assert "WORKER_BUSY" in second.stderr
        assert f"process {first.process.pid}" in second.stderr
        first.goes_on(first.size())
        assert first.failures() == []
        elsewhere = {**settings, "store": f"sqlite:{tmp_path}/elsewhere.db", "worker_url": zookeeper.url()}
        with one(tmp_path, namespace, elsewhere) as (other,):  # no window keeps these two apart
            wait_until(lambda: first.process.poll() is not None, what="the first one is told")
            assert first.failures()[-1].startswith("VALUE"), first.failures()
            assert "another process reports under it too" in first.failures()[-1]
            other.kill()


def test_a_node_that_was_deleted_is_followed_by_another_number(zookeeper, leaf, namespace, tmp_path):
    with one(tmp_path, namespace, leaf(1)) as (process,):
        process.goes_on()
        zookeeper.delete(f"/snowflake/{namespace}/forever/{address(1)}-0000000000")
        wait_until(lambda: len(numbers(process.ids())) == 2, what="another number")
        process.goes_on(process.size()).stop()
        distinct(process.ids())
    assert nodes(zookeeper, namespace)[address(1)] == max(numbers(process.ids()))


def test_connections_to_zookeeper_are_cut_and_reports_go_on(zookeeper, namespace, tmp_path):
    with Proxy(zookeeper.port) as proxy:
        settings = {
            "worker_url": f"zookeeper://{HOST}:{proxy.port}",
            "worker_source": "zookeeper",
            "worker_address": address(1),
            **SHORT,
        }
        with drawing(tmp_path, namespace, 1, f"sqlite:{tmp_path}/ids.db", **settings) as (process,):
            process.goes_on()
            for _ in range(2):
                proxy.cut()
                begun = now_ms()
                wait_until(
                    lambda begun=begun: report(zookeeper, namespace, 1)["timestamp"] > begun, what="it reports again"
                )
            process.goes_on(process.size()).stop()
            assert process.failures() == []
