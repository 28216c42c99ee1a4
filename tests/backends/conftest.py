"""Fixtures: real servers, started once for all tests of a session. See servers.py."""

import os
from pathlib import Path

import pytest
import servers

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("IDGEN_BUILD_DIR", ROOT / "build"))
MODULES = BUILD / "lib" / "idgen" / "backends"


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
    """A server of each kind, which the test leaves as it is but for its own tags."""
    return started(request.param)


@pytest.fixture(params=servers.KINDS)
def own(request):
    """A server of each kind for this test alone, which may do with it what it likes."""
    with servers.KINDS[request.param]() as server:
        yield server
