"""Ctrl-C, and threads that still wait when the interpreter ends."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest
from conftest import run_python

WAITING = """
import array, sys, idgen

class Clock:
    ns = 1_767_225_600_000_000_000
    def __call__(self): return self.ns

clock = Clock()
generator = idgen.Generator(worker=1, store="memory", clock=clock, on_clock_back="wait", wait_max="60s")
last = generator.next_batch(1)[0]  # imports numpy: a signal that meets the import instead makes Python exit by it
clock.ns -= 1_000_000_000
print("waiting", flush=True)
try:
    %s
except KeyboardInterrupt:
    clock.ns += 2_000_000_000
    assert generator.next() > last
    print("interrupted", flush=True)
"""


@pytest.mark.parametrize(
    "call",
    [
        "generator.next()",
        "next(generator)",
        "generator.next_batch(3)",
        "generator.next_batch(5000)",
        "generator.fill(array.array('q', [0] * 100))",
    ],
)
def test_ctrl_c_ends_a_wait_at_once_and_the_generator_goes_on(call: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", WAITING % call], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "waiting\n"
    time.sleep(0.2)  # so that the signal meets the wait and not the way to it; both must end well
    start = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (out, process.returncode) == ("interrupted\n", 0), err
    assert time.monotonic() - start < 5, "not at once: wait_max is 60 s"


def test_a_signal_handler_that_does_not_raise_lets_the_wait_go_on() -> None:
    result = run_python("""
import signal, idgen

class Clock:
    ns = 1_767_225_600_000_000_000
    def __call__(self): return self.ns

clock = Clock()
generator = idgen.Generator(worker=1, store="memory", clock=clock, on_clock_back="wait", wait_max="60s")
last = generator.next()
clock.ns -= 1_000_000_000

def repair(number, frame):
    clock.ns += 2_000_000_000

signal.signal(signal.SIGALRM, repair)
signal.setitimer(signal.ITIMER_REAL, 0.1)
assert generator.next() > last
print("went on")
""")
    assert result.stdout == "went on\n", result.stderr


def test_daemon_threads_that_wait_do_not_crash_the_end_of_the_interpreter() -> None:
    result = run_python("""
import threading, idgen

class Clock:
    ns = 1_767_225_600_000_000_000
    def __call__(self): return self.ns

clock = Clock()
generator = idgen.Generator(worker=1, store="memory", clock=clock, on_clock_back="wait", wait_max="60s")
generator.next()
clock.ns -= 1_000_000_000
for _ in range(4):
    threading.Thread(target=generator.next, daemon=True).start()
while generator.stats().handles != 1: pass
print("the end")
""")
    assert (result.returncode, result.stdout) == (0, "the end\n"), result.stderr


@pytest.mark.parametrize("where", ["clock", "log"])
def test_a_daemon_thread_that_never_leaves_a_callback_does_not_keep_the_process(where: str) -> None:
    start = time.monotonic()
    result = run_python(f"""
import threading, idgen
inside = threading.Event()

def stay(*_):
    inside.set()
    threading.Event().wait()

class Clock:
    ns = 1_767_225_600_000_000_000
    def __call__(self): return self.ns
    def sleep_ns(self, ns):
        if {where == "clock"}: stay()

clock = Clock()
log = stay if {where == "log"} else None
policy = "wait" if {where == "clock"} else "continue"
generator = idgen.Generator(worker=1, store="memory", clock=clock, log=log, on_clock_back=policy, wait_max="60s")
generator.next()
clock.ns -= 1_000_000_000
threading.Thread(target=generator.next_batch, args=(100,), daemon=True).start()
assert inside.wait(10)
print("the end")
""")
    assert (result.returncode, result.stdout) == (0, "the end\n"), result.stderr
    assert time.monotonic() - start < 30


def test_ctrl_c_inside_a_clock_written_in_python_is_not_lost() -> None:
    result = run_python("""
import signal, time, idgen
interrupt = False
def clock():
    if interrupt:
        signal.raise_signal(signal.SIGINT)
        time.sleep(0)
    return time.time_ns()
generator = idgen.Generator(worker=1, store="memory", clock=clock)
interrupt = True
try:
    for _ in range(1000):
        generator.next()
except KeyboardInterrupt:
    interrupt = False
    generator.next()
    print("interrupted")
""")
    assert result.stdout == "interrupted\n", result.stderr
