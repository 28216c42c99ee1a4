"""Processes that draw ids, and what tests ask about them."""

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path

import hosts
import tally

BUILD = Path(os.environ.get("IDGEN_BUILD_DIR", Path(__file__).resolve().parents[2] / "build"))
MODULES = BUILD / "lib" / "idgen" / "modules"
IDGEN = BUILD / "bin" / "idgen"
SECONDS = 60
CAN_BE_RETRIED = 75  # what a program that draws ends with if it cannot open


def wait_until(condition, seconds=SECONDS, what=""):
    """condition() once it is true."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, f"waited {seconds} s in vain{': ' + what if what else ''}"
        time.sleep(0.01)
    return found


@contextlib.contextmanager
def repeating(work, threads):
    """Threads that do the work again and again until the block ends, also when it fails: Python does not end before
    they do."""
    is_over = threading.Event()

    def repeat():
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
    return subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=SECONDS, **options)


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


def program(url, tag, batch, properties, language=None, native=False):
    """drawing.py or, for a language, the program that draws from its own store or from the native one."""
    if language and native:
        settled = [f"store={url}", *native_settings(properties)]
        return [*hosts.command(language), "native", str(batch), "kind=segment", f"tag={tag}", *settled]
    if language:
        return [*hosts.command(language), url, str(batch), "kind=segment", f"tag={tag}", *settings(properties)]
    library = BUILD / "lib" / "libidgen.so"
    return [
        *(sys.executable, Path(__file__).with_name("drawing.py"), library, str(batch)),
        *("kind=segment", f"store={url}", f"tag={tag}", *native_settings(properties)),
    ]


class Client:
    """A process that keeps drawing until it is told to stop, or killed."""

    def __init__(self, folder, url, tag, batch=25, language=None, native=False, **properties):
        self.path = Path(folder) / uuid.uuid4().hex
        self.program = program(url, tag, batch, properties, language, native)
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
        assert self.size() > beyond, self.path.read_text()[-1000:]
        return self

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.terminate()
        assert self.process.wait(SECONDS) == 0, self.path.read_text()[-1000:]

    def close(self):
        if self.process.poll() is None:
            self.kill()


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
    found = [number for client in all_of_them for number in client.ids()]
    distinct = set(found)
    tally.add(len(found), len(found) - len(distinct))
    assert len(distinct) == len(found), f"{len(found) - len(distinct)} of {len(found)} ids twice"
    for client in all_of_them:
        own = client.ids()
        assert own == sorted(own)
    return distinct


class Asked:
    """A process that draws as many ids as requested."""

    def __init__(self, url, tag, language=None, **properties):
        self.program = program(url, tag, 0, properties, language)
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
            raise EOFError("the process has ended")
        text, _, failure = line.partition("!")
        ids = [int(word) for word in text.split()]
        self.drawn += ids
        tally.add(len(ids), len(self.drawn) - len(set(self.drawn)))
        assert len(set(self.drawn)) == len(self.drawn)
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
        self.process.stdin.close()
        try:
            self.process.wait(20)
        finally:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()
