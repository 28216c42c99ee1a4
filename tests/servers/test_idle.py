"""A connection that is cut while idle costs no number and no error. SQL databases: test_daily_life.py."""

import pytest
from clients import Asked, create, draw, new_tag, show, wait_until
from proxy import Proxy

KINDS = ["redis", "etcd", "zookeeper"]


@pytest.fixture(params=KINDS)
def server(request, started):
    return started(request.param)


def cut_while_idle(proxy):
    wait_until(lambda: proxy.connections, what="a connection")
    ended = proxy.ended
    proxy.cut()
    wait_until(lambda: proxy.ended > ended, what="its end")


def test_what_is_left_is_given_back_although_the_connection_was_cut_while_nobody_spoke(
    server,
):
    tag = create(server.url(), new_tag())
    with Proxy(server.port) as proxy:
        with Asked(server.url(proxy.port), tag, step=1000) as client:
            assert client.ids(3) == [1, 2, 3]
            cut_while_idle(proxy)
        assert draw(server.url(), tag).stdout == "4\n"


def test_what_is_left_is_given_back_although_its_request_is_the_first_to_notice_the_cut(started):
    zookeeper = started("zookeeper")
    tag = create(zookeeper.url(), new_tag())
    with Proxy(zookeeper.port) as proxy:
        with Asked(zookeeper.url(proxy.port), tag, step=1000) as client:
            assert client.ids(3) == [1, 2, 3]
            proxy.lose_request(zookeeper.grant)
        assert proxy.lost.is_set()
        assert draw(zookeeper.url(), tag).stdout == "4\n"


def test_no_number_is_lost_by_connections_that_are_cut_between_refills(server):
    tag = create(server.url(), new_tag())
    with (
        Proxy(server.port) as proxy,
        Asked(server.url(proxy.port), tag, step=10, prefetch=1) as client,
    ):
        for n in range(4):
            assert client.ids(10) == list(range(10 * n + 1, 10 * n + 11))
            cut_while_idle(proxy)
    assert show(server.url(), tag)["grants"] == 4


def test_a_redis_that_ends_idle_connections_by_itself_is_asked_on_a_new_one(started):
    redis = started("redis")
    tag = create(redis.url(), new_tag())
    with Asked(redis.url(), tag, step=1000) as client:
        assert client.ids(3) == [1, 2, 3]
        assert int(redis.cli("CLIENT", "KILL", "TYPE", "normal")) > 0
    assert draw(redis.url(), tag).stdout == "4\n"
