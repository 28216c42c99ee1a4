"""What tests wait with: for a condition, never for a time, and on a slow machine longer.

The runner (scripts/test) measures once per run how slow the machine is, and sets IDGEN_PATIENCE to that factor.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

T = TypeVar("T")

PATIENCE = float(os.environ.get("IDGEN_PATIENCE", "1"))


def patience(seconds: float) -> float:
    """This many seconds on the reference machine: for deadlines, and for settings that must not expire."""
    return seconds * PATIENCE


def wait_until(condition: Callable[[], T], seconds: float = 60, what: str = "") -> T:
    """condition() once it is true."""
    deadline = time.monotonic() + patience(seconds)
    while not (found := condition()):
        assert time.monotonic() < deadline, f"waited {patience(seconds):.0f} s in vain{': ' + what if what else ''}"
        time.sleep(0.01)
    return found


@contextlib.contextmanager
def repeating(work: Callable[[], object], threads: int = 1) -> Iterator[None]:
    """Threads that repeat the work until the block ends, even if it fails: Python does not end before they do."""
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
