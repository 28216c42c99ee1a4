"""Fixtures: real servers, started once for all tests of a session. See servers.py."""

import pytest
import servers
from proxy import Proxy


@pytest.fixture(scope="session")
def started():
    """started(kind): the server of that kind that all tests share."""
    running = {}

    def start(kind):
        if kind not in running:
            running[kind] = servers.KINDS[kind]()
        return running[kind]

    yield start
    for server in running.values():
        server.close()


@pytest.fixture(params=servers.KINDS)
def shared(request, started):
    """A server of each kind, which the test leaves running and as it is but for its own tags."""
    return started(request.param)


@pytest.fixture
def proxy(shared):
    with Proxy(shared.port) as made:
        yield made
