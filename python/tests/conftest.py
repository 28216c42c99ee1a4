"""What the tests share: separate stores, a clock that stands still, and the golden vectors."""

from __future__ import annotations

import gc
import importlib
import itertools
import os
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import idgen
import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tests" / "support"))

from patience import patience, wait_until  # noqa: E402

pytest_runtest_protocol = importlib.import_module("deadline").pytest_runtest_protocol

# A shell starts background jobs with Ctrl-C ignored, and ignored signals are inherited: not by the programs under test.
signal.signal(signal.SIGINT, signal.default_int_handler)

_numbers = itertools.count()


@pytest.fixture
def memory_store() -> str:
    """A store of this process that no other test uses."""
    return f"memory:test{next(_numbers)}"


@pytest.fixture
def file_store(tmp_path: Path) -> str:
    """A store in a file, which has the tag `t`."""
    store = f"sqlite:{tmp_path / 'ids.db'}"
    idgen.segment_create(store=store, tag="t")
    return store


@pytest.fixture
def snowflake(memory_store: str) -> Iterator[idgen.Generator]:
    with idgen.Generator(worker=7, store=memory_store) as generator:
        yield generator


@pytest.fixture
def segment(memory_store: str) -> Iterator[idgen.Generator]:
    with idgen.Generator(kind="segment", tag="orders", store=memory_store, store_create=True) as generator:
        yield generator


class ManualClock:
    """Time that moves only when a test says so."""

    def __init__(self, unix_ms: int = 1_767_225_600_000) -> None:  # 2026-01-01
        self.ns = unix_ms * 1_000_000

    def __call__(self) -> int:
        return self.ns

    def advance_ms(self, ms: int) -> None:
        self.ns += ms * 1_000_000


@pytest.fixture
def manual_clock() -> ManualClock:
    return ManualClock()


def vectors(name: str) -> list[list[str]]:
    """The rows of tests/vectors/NAME, as its README describes them."""
    path = REPOSITORY / "tests" / "vectors" / name
    lines = path.read_text(encoding="utf-8").split("\n")
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    assert rows, f"{path} has no rows"
    return rows


def settings_of(properties: str) -> dict[str, Any]:
    """Properties as the vectors write them."""
    return dict(part.split("=", 1) for part in properties.split("; ") if part)


def distinct(*lists: Iterable[Any]) -> int:
    """How many ids there are in all of the lists, of which none may be there twice."""
    ids = [id for each in lists for id in each]
    assert len(set(ids)) == len(ids), f"DUPLICATE: {len(ids)} ids, {len(set(ids))} different"
    return len(ids)


def in_threads(
    count: int, body: Callable[[list[Any]], object], meanwhile: Callable[[], object] = lambda: None
) -> list[list[Any]]:
    """What so many threads have put into their lists. Each must end."""
    lists: list[list[Any]] = [[] for _ in range(count)]
    threads = [threading.Thread(target=body, args=(mine,)) for mine in lists]
    for thread in threads:
        thread.start()
    meanwhile()
    for thread in threads:
        thread.join(timeout=patience(60))
        assert not thread.is_alive(), "a thread has not ended"
    return lists


def in_child(body: Callable[[], str]) -> str:
    """What `body` returns in a forked child."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            os.write(writer, body().encode())
        except BaseException as error:
            os.write(writer, f"raised {type(error).__name__}: {error}".encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as stream:
        answer = stream.read()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    return answer


def expect(error_type: type[idgen.Error], call: Callable[[], object]) -> str:
    try:
        return f"no error: {call()}"
    except error_type as error:
        return type(error).__name__


def wait_until_forgotten(reference: weakref.ref[Any]) -> None:
    def is_gone() -> bool:
        gc.collect()
        return reference() is None

    wait_until(is_gone, what="it is forgotten")


def run_python(code: str, *arguments: str, timeout: float = 120) -> subprocess.CompletedProcess[str]:
    """A separate Python, for what must not happen in the test's process."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code, *arguments],
        capture_output=True,
        text=True,
        timeout=patience(timeout),
        env={**os.environ, "PYTHONFAULTHANDLER": "1"},
    )
