"""A program with a timer: a profiler, a heartbeat. Each of its signals ends the call in which a thread waits for a
socket, and must not begin the wait anew."""

import signal
import socket

import idgen
import pytest
from clients import MODULES

SERVERS = {
    "etcd": "etcd://{}",
    "mysql": "mysql://app@{}/shop",
    "postgres": "postgres://app@{}/shop",
    "redis": "redis://{}",
    "redis-tls": "redis://{}?tls=require",
    "zookeeper": "zookeeper://{}",
}


@pytest.fixture
def timer():
    """Ticks every five milliseconds, in the main thread."""
    ticks = []
    before = signal.signal(signal.SIGALRM, lambda *_: ticks.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)
    yield ticks
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("server", SERVERS)
def test_a_silent_server_is_given_up_although_signals_come_all_the_time(server, timer):
    # Waits of the core are in slices; the calls of the store are what a signal interrupts.
    with socket.create_server(("127.0.0.1", 0), backlog=100) as silent:
        url = SERVERS[server].format(f"127.0.0.1:{silent.getsockname()[1]}")
        with pytest.raises(idgen.StoreUnavailableError, match=server.partition("-")[0]):
            idgen.Generator(
                kind="segment", tag="orders", store=url, store_timeout="500ms", wait_max="1s",
                **{"module.path": str(MODULES)},
            )  # fmt: skip
        assert timer
