"""What the tests share: separate stores, a clock that stands still, and the golden vectors."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import idgen
import pytest

# A shell starts background jobs with Ctrl-C ignored, and ignored signals are inherited: not by the programs under test.
signal.signal(signal.SIGINT, signal.default_int_handler)

REPOSITORY = Path(__file__).resolve().parents[2]
_numbers = itertools.count()


@pytest.fixture
def memory_store() -> str:
    """A store of this process that no other test uses."""
    return f"memory:test{next(_numbers)}"


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


class SleepingClock(ManualClock):
    """A clock on which a wait takes no real time."""

    def __init__(self, unix_ms: int = 1_767_225_600_000) -> None:
        super().__init__(unix_ms)
        self.slept_ns = 0

    def sleep_ns(self, ns: int) -> None:
        self.slept_ns += ns
        self.ns += ns


@pytest.fixture
def manual_clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def sleeping_clock() -> SleepingClock:
    return SleepingClock()


def vectors(name: str) -> list[list[str]]:
    """The rows of tests/vectors/NAME, as its README describes them."""
    path = REPOSITORY / "tests" / "vectors" / name
    lines = path.read_text(encoding="utf-8").split("\n")
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    assert rows, f"{path} has no rows"
    return rows


@contextmanager
def repeating(work: Callable[[], object], threads: int = 1) -> Iterator[None]:
    """Threads that do the work again and again until the block ends, also when it fails: Python does not end before
    they do.
    """
    is_over = threading.Event()

    def repeat() -> None:
        while not is_over.is_set():
            work()

    workers = [threading.Thread(target=repeat) for _ in range(threads)]
    for worker in workers:
        worker.start()
    try:
        yield
    finally:
        is_over.set()
        for worker in workers:
            worker.join()


def run_python(code: str, *arguments: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
    """A separate Python, for what must not happen in the test's process."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code, *arguments],
        capture_output=True,
        text=True,
        timeout=timeout,
        env={**os.environ, "PYTHONFAULTHANDLER": "1"},
    )
