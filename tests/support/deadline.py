"""A deadline for each test: a conftest.py imports the hook, and a test that hangs fails after three minutes.

Whatever the main thread waits for is interrupted by an exception, so the tests after it still run. A main thread that
does not return to Python, for instance one inside a call of the library that never ends, ends the process a minute
later, with the stack of every thread.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import threading

import pytest
from patience import patience

SECONDS = 180
# SIGALRM and its timer belong to the tests.
SIGNAL = signal.SIGUSR2


class Hangs(Exception):
    pass


def interrupt(*_: object) -> None:
    raise Hangs(f"the test is not over after {patience(SECONDS):.0f} s")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item):
    signal.signal(SIGNAL, interrupt)
    main = os.getpid(), threading.main_thread().ident

    def over() -> None:
        faulthandler.dump_traceback(file=sys.__stderr__)
        if os.getpid() == main[0]:
            signal.pthread_kill(main[1], SIGNAL)

    watch = threading.Timer(patience(SECONDS), over)
    watch.daemon = True
    watch.start()
    faulthandler.dump_traceback_later(patience(SECONDS + 60), exit=True, file=sys.__stderr__)
    try:
        return (yield)
    finally:
        watch.cancel()
        faulthandler.cancel_dump_traceback_later()
