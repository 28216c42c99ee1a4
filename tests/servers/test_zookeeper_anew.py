"""A node that is deleted and recreated begins its versions at 0. Processes that drew from the old one leave it
alone."""

import json
import signal
from pathlib import Path

import pytest
from clients import Asked, create, draw, ids_of, new_tag, segment, show, wait_until
from test_workers import SHORT, working

import servers


@pytest.fixture
def zookeeper(started):
    return started("zookeeper")


def make_anew(zookeeper, tag, number):
    zookeeper.delete(f"/idgen/segment/default/{tag}")
    zookeeper.create(f"/idgen/segment/default/{tag}", servers.record(number))


def test_a_process_of_the_old_node_does_not_write_its_counter_over_the_new_one(
    zookeeper,
):
    tag = create(zookeeper.url(), new_tag())
    with Asked(zookeeper.url(), tag, step=10, prefetch=1) as client:
        assert client.ids(20) == list(range(1, 21))  # it knows the node at version 2
        make_anew(zookeeper, tag, 1000)
        for _ in range(2):
            zookeeper.set_counter(tag, 1000)  # which is at version 2 as well
        assert client.ids(10) == list(range(1001, 1011))
    assert show(zookeeper.url(), tag)["max_id"] == 1010


def test_many_processes_draw_while_the_node_is_made_anew_and_no_counter_goes_back(
    zookeeper,
):
    tag = create(zookeeper.url(), new_tag())
    one, two = (Asked(zookeeper.url(), tag, step=10, prefetch=1) for _ in range(2))
    with one, two:
        drawn = []
        for n in range(1, 4):
            drawn += one.ids(10) + two.ids(10) + one.ids(10)
            make_anew(zookeeper, tag, 1000 * n)
        drawn += one.ids(10) + two.ids(10)
    assert len(set(drawn)) == len(drawn)
    assert max(drawn) <= show(zookeeper.url(), tag)["max_id"]


def test_a_fence_that_somebody_takes_away_is_put_up_again(zookeeper):
    tag = create(zookeeper.url(), new_tag())
    with Asked(zookeeper.url(), tag, step=10, prefetch=1) as client:
        assert client.ids(10) == list(range(1, 11))
        (fence,) = zookeeper.children(f"/idgen/segment/default/{tag}")
        assert fence.startswith("made-by-")
        zookeeper.delete(f"/idgen/segment/default/{tag}/{fence}")
        assert client.ids(10) == list(range(11, 21))


def test_looking_at_a_tag_changes_nothing(zookeeper):
    tag = create(zookeeper.url(), new_tag())
    for _ in range(2):
        show(zookeeper.url(), tag)
        assert zookeeper.children(f"/idgen/segment/default/{tag}") == []
    draw(zookeeper.url(), tag)
    assert "made-by-" in zookeeper.children(f"/idgen/segment/default/{tag}")[0]
    listed = segment(zookeeper.url(), tag, "show").stdout
    assert "made-by" not in listed


def sessions(zookeeper):
    return zookeeper.four_letters("dump").split("ephemeral nodes dump")[0].count("0x")


def test_what_is_left_is_given_back_although_the_session_ended_while_nobody_spoke():
    with servers.ZooKeeper() as zookeeper:
        tag = create(zookeeper.url(), new_tag())
        with Asked(zookeeper.url(), tag, step=1000, store_timeout="2s") as client:
            assert client.ids(3) == [1, 2, 3]
            threads = Path(f"/proc/{client.process.pid}/task")
            known = len(list(threads.iterdir()))
            client.process.send_signal(servers.signal.SIGSTOP)
            try:
                wait_until(lambda: sessions(zookeeper) == 0, what="the server ends the session")
            finally:
                client.process.send_signal(servers.signal.SIGCONT)
            wait_until(lambda: len(list(threads.iterdir())) < known, what="the client library's thread learns of it")
        assert draw(zookeeper.url(), tag).stdout == "4\n"


def test_a_process_of_the_old_node_does_not_write_over_a_worker_of_another_owner(zookeeper, tmp_path):
    namespace = new_tag()
    path = f"/idgen/worker/{namespace}/7"
    with working(tmp_path, zookeeper.url(), namespace, [7], **SHORT, wait_max="1s") as (old,):
        old.process.send_signal(signal.SIGSTOP)
        version = zookeeper.version(path)
        hw = json.loads(zookeeper.get(path))["hw"]
        row = f'{{"fence":9,"owner":"{"ab" * 16}","hw":{hw + 5000},"holder":"process 1 on elsewhere"}}'
        zookeeper.delete(path)
        zookeeper.create(path, row)
        for _ in range(version):
            zookeeper.set(path, row)
        old.process.send_signal(signal.SIGCONT)
        # It acquires the worker anew, above what the other owner reserved: its own row would have fence 1.
        found = wait_until(lambda: worker_at(zookeeper, path, after=row), what="the old owner goes on")
        assert found["fence"] == 10
        assert found["hw"] > hw + 5000
        old.stop()
        ids_of([old])


def worker_at(zookeeper, path, after):
    text = zookeeper.get(path)
    return json.loads(text) if text != after else None
