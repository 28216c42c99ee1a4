"""Ctrl-C, and threads that still wait when the interpreter ends."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest
from conftest import run_python
from patience import patience

SET_BACK = """
import array, signal, threading, idgen

class Clock:
    ns = 1_767_225_600_000_000_000
    def __call__(self): return self.ns

clock = Clock()
generator = idgen.Generator(worker=1, store="memory", clock=clock, on_clock_back="wait", wait_max="1h")
last = generator.next()
clock.ns -= 1_000_000_000
"""

WAITING = (
    SET_BACK
    + """
print("waiting", flush=True)
try:
    %s
except KeyboardInterrupt:
    clock.ns += 2_000_000_000
    assert generator.next() > last
    print("interrupted", flush=True)
"""
)


def interrupted(program: str) -> str:
    """What a program prints that is sent Ctrl-C when it has said that it is waiting. It must end well, and at once: it
    would wait for ten minutes and more."""
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "waiting\n"
    time.sleep(0.2)  # so that the signal meets the wait and not the way to it; both must end well
    process.send_signal(signal.SIGINT)
    try:
        out, err = process.communicate(timeout=patience(60))
    finally:
        process.kill()
    assert process.returncode == 0, err
    return out


@pytest.mark.parametrize(
    "call",
    [
        "generator.next()",
        "next(generator)",
        "generator.next_text()",
        "generator.next_batch(3)",
        "generator.next_batch(5000)",
        "generator.fill(array.array('q', [0] * 100))",
        "generator.next_block(3)",
    ],
)
def test_ctrl_c_ends_a_wait_at_once_and_the_generator_goes_on(call: str) -> None:
    assert interrupted(WAITING % call) == "interrupted\n"


HANGING_STORE = """
import threading, idgen

class Store:
    def __init__(self, hangs_in):
        self.hangs_in, self.max_id = hangs_in, 0

    def hang(self, where):
        if where == self.hangs_in:
            print("waiting", flush=True)
            threading.Event().wait()

    def segment_take(self, namespace, tag, count):
        self.hang("take")
        self.max_id += count
        return self.max_id - count + 1

    def segment_return(self, namespace, tag, last, unused):
        self.hang("return")
        self.max_id = last - unused

store = Store(%r)
settings = dict(kind="segment", tag="t", store=store, wait_max="1h", store_timeout="10m", segment_step=10)
"""


def test_ctrl_c_ends_the_wait_of_a_new_generator_for_its_store() -> None:
    program = """
try:
    idgen.Generator(**settings)
except KeyboardInterrupt:
    store.hangs_in = None
    print("interrupted, then", idgen.Generator(**settings).next() > 0)
"""
    assert interrupted(HANGING_STORE % "take" + program) == "interrupted, then True\n"


@pytest.mark.parametrize("close", ["generator.close()", "with generator: generator.next()"])
def test_ctrl_c_ends_the_wait_of_close_and_the_generator_is_closed(close: str) -> None:
    program = f"""
generator = idgen.Generator(**settings)
try:
    {close}
except KeyboardInterrupt:
    try:
        generator.next()
    except idgen.ClosedError:
        print("interrupted and closed, what is left is a gap:", store.max_id % 10 == 0)
"""
    assert interrupted(HANGING_STORE % "return" + program) == "interrupted and closed, what is left is a gap: True\n"


def test_a_signal_handler_that_does_not_raise_lets_the_wait_go_on() -> None:
    result = run_python(
        SET_BACK
        + """
def repair(number, frame):
    clock.ns += 2_000_000_000

signal.signal(signal.SIGALRM, repair)
signal.setitimer(signal.ITIMER_REAL, 0.1)
assert generator.next() > last
print("went on")
"""
    )
    assert result.stdout == "went on\n", result.stderr


def test_daemon_threads_that_wait_do_not_crash_the_end_of_the_interpreter() -> None:
    result = run_python(
        SET_BACK
        + """
for _ in range(4):
    threading.Thread(target=generator.next, daemon=True).start()
while generator.stats().handles != 1: pass
print("the end")
"""
    )
    assert (result.returncode, result.stdout) == (0, "the end\n"), result.stderr


@pytest.mark.parametrize("where", ["clock", "log"])
def test_a_daemon_thread_that_never_leaves_a_callback_does_not_keep_the_process(where: str) -> None:
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
generator = idgen.Generator(worker=1, store="memory", clock=clock, log=log, on_clock_back=policy, wait_max="1h")
generator.next()
clock.ns -= 1_000_000_000
threading.Thread(target=generator.next_batch, args=(100,), daemon=True).start()
assert inside.wait(60)
print("the end")
""")
    assert (result.returncode, result.stdout) == (0, "the end\n"), result.stderr


def test_a_store_that_answers_while_the_interpreter_goes_does_not_crash_its_end() -> None:
    result = run_python("""
import os, sys, threading, time, idgen
wakes, wake = os.pipe()
inside = threading.Event()

class Store:
    first = 1
    def segment_take(self, namespace, tag, count, above=0):
        if self.first > 1:
            inside.set()
            os.read(wakes, 1)
        self.first += count
        return self.first - count

class Last:
    def __del__(self, wake=wake, write=os.write, sleep=time.sleep):
        write(wake, b"x")
        sleep(1)  # without the GIL, which the store asks for now

sys.last = Last()  # what this module has outlives the interpreter, because the thread uses it
generator = idgen.Generator(kind="segment", tag="orders", segment_step=10, store=Store(), wait_max="1h")

def draw():
    while True:
        generator.next()

threading.Thread(target=draw, daemon=True).start()
assert inside.wait(60)
print("the end")
""")
    assert (result.returncode, result.stdout) == (0, "the end\n"), result.stderr


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
