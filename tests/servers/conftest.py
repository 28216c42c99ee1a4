"""Fixtures: real servers, started once for all tests of a session. See servers.py."""

import os
import re
import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import clients
import hosts
import pytest
import tally
from deadline import pytest_runtest_protocol  # noqa: F401, a hook
from proxy import Proxy
from rotation import one_of

import servers


def pytest_configure():
    """A session that is ended ends its servers too, as after Ctrl-C."""
    session = os.getpid()

    def end(*_):
        if os.getpid() != session:
            os._exit(143)  # a child that a test has forked
        pytest.exit("ended by SIGTERM", 143)

    signal.signal(signal.SIGTERM, end)


def pytest_collection_modifyitems(config, items):
    """Of newer servers: a case of those alone that are as they are installed is one of the part `modules`."""
    installed = servers.NOT_NEWER.get(servers.GENERATION, set())
    kinds = {item: set(servers.KINDS) & set(re.split(r"[][-]", item.name)) for item in items}
    unneeded = [item for item in items if kinds[item] and kinds[item] <= installed]
    config.hook.pytest_deselected(items=unneeded)
    items[:] = [item for item in items if item not in unneeded]


def pytest_runtest_setup(item):
    if servers.WHY_NONE:
        pytest.skip(servers.WHY_NONE)
    tally.begin(item)


def pytest_terminal_summary(terminalreporter):
    for line in tally.table():
        terminalreporter.write_line(line)


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
    """A server of each kind, which the test leaves running, and changes only its own tags."""
    return started(request.param)


@pytest.fixture(params=hosts.LANGUAGES)
def language(request):
    return request.param


@pytest.fixture(params=one_of(hosts.LANGUAGES))
def a_language(request):
    """For what the library decides and no language has a part in: one of them in each run."""
    return request.param


@pytest.fixture
def tag(shared):
    return clients.create(shared.url(), clients.new_tag())


@pytest.fixture
def namespace():
    return clients.new_tag()


@pytest.fixture
def proxy(shared):
    with Proxy(shared.port) as made:
        yield made


@pytest.fixture(scope="session")
def cosid_jar():
    return hosts.cosid_jar()


@pytest.fixture(params=["on the server", "in a local file"])
def windows(request, tmp_path):
    """windows(server): where windows are, and where the numbers come from."""

    def of(server, **parameters):
        url = server.url(**parameters)
        if request.param == "on the server":
            return {"store": url}
        return {"store": f"sqlite:{tmp_path}/ids.db", "worker_url": url}

    return of
