"""Processes that draw ids, and what tests ask about them."""

import contextlib
import ctypes
import itertools
import json
import operator
import os
import signal
import subprocess
import sys
import uuid
from pathlib import Path

import hosts
import tally
from patience import patience, repeating, wait_until  # noqa: F401, for the tests

BUILD = Path(os.environ.get("IDGEN_BUILD_DIR", Path(__file__).resolve().parents[2] / "build"))
MODULES = BUILD / "lib" / "idgen" / "modules"
IDGEN = BUILD / "bin" / "idgen"
SECONDS = patience(60)
CAN_BE_RETRIED = 75  # what a program that draws ends with if it cannot open
TESTS_OWN = (signal.SIGINT, signal.SIGKILL, signal.SIGTERM)


class Duplicate(AssertionError):
    """An id twice, or out of order. No slow machine excuses it: scripts/test does not repeat a test that says so."""


class Crashed(AssertionError):
    """A process that a signal ended which no test sends. As Duplicate."""


def distinct(ids):
    """The set of these ids, none of which may occur twice."""
    ids = list(ids)
    found = set(ids)
    if len(found) != len(ids):
        raise Duplicate(f"DUPLICATE: {len(ids) - len(found)} of {len(ids)} ids twice")
    return found


def ascending(ids):
    """The same ids, each of which must be above the one before it."""
    ids = list(ids)
    if not all(map(operator.lt, ids, itertools.islice(ids, 1, None))):  # there may be 10^8
        before, after = next(pair for pair in itertools.pairwise(ids) if pair[0] >= pair[1])
        raise Duplicate(f"DUPLICATE or out of order: {after} after {before}")
    return ids


def checked(process):
    """The process, which may have ended, but not by a crash."""
    ended = process.returncode or 0
    if ended < 0 and -ended not in TESTS_OWN:
        raise Crashed(f"CRASHED: {process.args} by {signal.Signals(-ended).name}")
    return process


def new_tag():
    return "t" + uuid.uuid4().hex[:12]


NAMES = {
    "schema": "segment.schema",
    "step": "segment.step",
    "prefetch": "segment.prefetch",
    "runway": "segment.runway",
    "module_path": "module.path",
    "autocommit": "pool.autocommit",
    "broken": "pool.broken",
}


def settings(properties, **defaults):
    """step=10 is segment.step. Every grant is one step, unless a runway is given."""
    found = {"segment.runway": "0", **defaults, **{NAMES.get(key, key): value for key, value in properties.items()}}
    return [f"{key}={value}" for key, value in found.items()]


def native_settings(properties):
    return settings(properties, **{"module.path": MODULES})


def command(url, tag, *arguments, **properties):
    sets = [word for pair in native_settings(properties) for word in ("--set", pair)]
    return [IDGEN, *arguments, "--store", url, "--tag", tag, *sets]


def run(arguments, **options):
    options = {"timeout": SECONDS, **options}
    return checked(subprocess.run(arguments, capture_output=True, text=True, check=False, **options))


def draw(url, tag, count=1, **properties):
    """idgen next; the finished process."""
    return run(command(url, tag, "next", "--kind", "segment", "-n", str(count), **properties))


def start_drawing(url, tag, count, **properties):
    return subprocess.Popen(
        command(url, tag, "next", "--kind", "segment", "-n", str(count), **properties),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def segment(url, tag, verb, *arguments, **properties):
    """idgen segment; the finished process."""
    return run(command(url, tag, "segment", verb, *arguments, **properties))


def create(url, tag):
    done = segment(url, tag, "create")
    assert done.returncode == 0, done.stderr
    return tag


def show(url, tag):
    done = segment(url, tag, "show", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    return {key: int(found[key]) for key in ("max_id", "grants")}


def drawing_py(batch):
    """The program drawing.py, whose properties follow."""
    return [sys.executable, Path(__file__).with_name("drawing.py"), BUILD / "lib" / "libidgen.so", str(batch)]


def program(url, tag, batch, properties, language=None, native=False):
    """drawing.py or, for a language, the program that draws from its own store or from the native one."""
    if language and native:
        settled = [f"store={url}", *native_settings(properties)]
        return [*hosts.command(language), "native", str(batch), "kind=segment", f"tag={tag}", *settled]
    if language:
        return [*hosts.command(language), url, str(batch), "kind=segment", f"tag={tag}", *settings(properties)]
    return [*drawing_py(batch), "kind=segment", f"store={url}", f"tag={tag}", *native_settings(properties)]


def other_clock(**environment):
    """The environment of a process whose clock alone libfaketime moves.

    By its variant with a lock: without, two threads that read a new offset at once may leave the old one in force until
    the file changes again.
    """
    (fake,) = Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1")
    return {"LD_PRELOAD": str(fake), "DONT_FAKE_MONOTONIC": "1", **environment}


def at(offset):
    """The words before a command that runs at another time."""
    return ["env", *(f"{name}={value}" for name, value in other_clock(FAKETIME=offset).items())]


class Generator:
    """One of segments in this process, by the C interface."""

    def __init__(self, **properties):
        self.library = ctypes.CDLL(BUILD / "lib" / "libidgen.so")
        self.pointer, config = ctypes.c_void_p(), ctypes.c_void_p()
        assert self.library.idgen_config_create(ctypes.byref(config), None) == 0
        for pair in native_settings({"kind": "segment", **properties}):
            key, value = pair.split("=", 1)
            assert self.library.idgen_config_set(config, key.encode(), value.encode(), None) == 0
        assert self.library.idgen_create(config, ctypes.byref(self.pointer), None) == 0

    def call(self, name, *arguments):
        assert getattr(self.library, f"idgen_{name}")(self.pointer, *arguments, None) == 0

    def ids(self, count):
        ids, written = (ctypes.c_uint64 * count)(), ctypes.c_size_t()
        self.call("next_batch", ids, ctypes.c_size_t(count), ctypes.byref(written))
        assert written.value == count
        return list(ids)


class Client:
    """A process that keeps drawing until it is told to stop, or killed."""

    def __init__(self, folder, url, tag, batch=25, language=None, native=False, prefix=(), **properties):
        self.path = Path(folder) / uuid.uuid4().hex
        self.program = [*prefix, *program(url, tag, batch, properties, language, native)]
        self.start()

    def start(self):
        with self.path.open("wb") as out:
            self.process = subprocess.Popen(self.program, stdout=out)

    def lines(self):
        """Those that are whole."""
        return [line.split(" ") for line in self.path.read_text().split("\n")[:-1]]

    def ids(self):
        found = []
        for line in self.lines():
            for word in line:
                if word.startswith("!"):
                    break
                found.append(int(word))
        return found

    def failures(self):
        return [" ".join(line)[" ".join(line).index("!") + 1 :] for line in self.lines() if "!" in " ".join(line)]

    def size(self):
        return self.path.stat().st_size

    def begins(self):
        """Waits for its first ids. One that could not open, because its first connection took longer than its wait_max,
        is started again: a machine may be slow."""

        def has_begun():
            if self.process.poll() is None:
                return self.ids()
            if self.process.poll() != CAN_BE_RETRIED or "!STORE_UNAVAILABLE" not in self.path.read_text():
                return True
            self.start()
            return False

        wait_until(has_begun, what="a client begins")
        return self.goes_on()

    def goes_on(self, beyond=0):
        """Waits until it has written more than beyond bytes."""
        wait_until(lambda: self.size() > beyond or self.process.poll() is not None, what="a client goes on")
        checked(self.process)
        assert self.size() > beyond, self.path.read_text()[-1000:]
        return self

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.terminate()
        self.process.wait(SECONDS)
        assert checked(self.process).returncode == 0, self.path.read_text()[-1000:]

    def close(self):
        if self.process.poll() is None:
            self.kill()
        checked(self.process)


@contextlib.contextmanager
def clients(folder, count, url, tag, **properties):
    """A list of clients, each of which has begun; the test may add to it."""
    all_of_them = [Client(folder, url, tag, **properties) for _ in range(count)]
    try:
        for client in all_of_them:
            client.begins()
        yield all_of_them
    finally:
        for client in all_of_them:
            client.close()


def ids_of(all_of_them):
    """All ids drawn by these clients, which were stopped or killed before; checks that none occurs twice."""
    found = [client.ids() for client in all_of_them]
    for own in found:
        ascending(own)
    every = set().union(*found)
    count = sum(map(len, found))
    tally.add(count, count - len(every))
    return every if len(every) == count else distinct(itertools.chain(*found))


class Asked:
    """A process that draws as many ids as requested."""

    def __init__(self, url, tag, language=None, prefix=(), **properties):
        self.program = [*prefix, *program(url, tag, 0, properties, language)]
        self.start()
        self.drawn = []

    def start(self):
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen(self.program, text=True, **pipes)

    def draw(self, count):
        """The ids, and "" or STATUS and message."""
        self.ask(count)
        return self.answer()

    def ask(self, count):
        self.count = count
        self.process.stdin.write(f"{count}\n")
        self.process.stdin.flush()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            self.process.wait(SECONDS)
            raise EOFError(f"the process has ended with {checked(self.process).returncode}")
        text, _, failure = line.partition("!")
        ids = [int(word) for word in text.split()]
        self.drawn += ids
        tally.add(len(ids), len(self.drawn) - len(set(self.drawn)))
        distinct(self.drawn)
        assert failure or len(ids) == self.count
        return ids, failure.strip()

    def ids(self, count):
        ids, failure = self.draw(count)
        assert not failure, failure
        return ids

    def first_ids(self, count):
        """As ids(), but at last: a new process may need longer for its first connection than its wait_max.

        One that could not even open has ended, and is started again.
        """

        def drawn():
            try:
                ids, failure = self.draw(count)
            except (BrokenPipeError, EOFError):
                self.start_again()
                return None
            return None if failure else ids

        return wait_until(drawn)

    def start_again(self):
        assert self.process.wait(SECONDS) == CAN_BE_RETRIED
        with contextlib.suppress(BrokenPipeError):  # by what it was asked, which nobody has read
            self.process.stdin.close()
        self.process.stdout.close()
        self.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(BrokenPipeError):  # by what it was asked and has not read
            self.process.stdin.close()
        try:
            self.process.wait(SECONDS)
            checked(self.process)
        finally:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()
