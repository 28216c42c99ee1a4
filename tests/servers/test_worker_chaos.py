"""Every worker source on its real server, while everything goes wrong at once: processes are killed and started again,
stopped for longer than their leases, their clocks set by an hour, the server killed, the network cut.

IDGEN_CHAOS=PROCESSES,SECONDS: how much of it, six events for each process in at least so many seconds. Otherwise as
much as a test of every day can afford, and with IDGEN_TEST_FULL=1 more.
"""

import contextlib
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import idgen
import pytest
from clients import IDGEN, Client, at, drawing_py, ids_of, new_tag, other_clock, patience, run, wait_until
from proxy import Proxy
from test_workers import properties

DEFAULT = "12,8" if os.environ.get("IDGEN_TEST_FULL") == "1" else "6,2"
PROCESSES, SECONDS = (int(word) for word in os.environ.get("IDGEN_CHAOS", DEFAULT).split(","))
STUCK = Path(__file__).resolve().parents[2] / "scripts" / "stuck"
LAYOUT = "time:41ms worker:10 sequence:4"
# Each process reserves twice in a window: more of them on one machine, and those on a slow one, reserve for longer, so
# that it can keep up.
WINDOW = round(patience(max(500, 80 * PROCESSES)))
SHORT = {
    "window": f"{WINDOW}ms",
    "max_ahead": f"{2 * WINDOW}ms",
    "worker_lease": f"{2 * WINDOW}ms",
    "wait_max": f"{4 * WINDOW}ms",
    "worker_wait": f"{20 * WINDOW}ms",
}
COSID = {"worker_source": "cosid", "worker_guard": f"{8 * WINDOW}ms"}
UID = {"worker_source": "uid_generator"}
CASES = {
    "sqlite": ("sqlite", {}),
    "mysql": ("mysql", {}),
    "postgres": ("postgres", {}),
    "redis": ("redis", {}),
    "etcd": ("etcd", {}),
    "zookeeper": ("zookeeper", {}),
    "slots": ("sqlite", {"worker_source": "slot"}),
    "cosid-mysql": ("mysql", COSID),
    "cosid-postgres": ("postgres", COSID),
    "cosid-redis": ("redis", COSID),
    "uid_generator-mysql": ("mysql", UID),
    "uid_generator-postgres": ("postgres", UID),
    "leaf": ("zookeeper", {"worker_source": "zookeeper"}),
}


def settings_for(case, url, namespace, folder, place):
    found = {**SHORT, **CASES[case][1], "layout": LAYOUT, "store_timeout": f"{8 * WINDOW}ms"}
    if found.get("worker_source") == "slot":
        found["worker_slots"] = str(folder)
    if found.get("worker_source") == "zookeeper":
        found["worker_address"] = f"10.0.0.{place}:80"
    return properties(url, namespace, "auto", **found)


def next_id(settings, *prefix):
    """idgen next, in the environment that the prefix makes; the finished process."""
    return run([*prefix, IDGEN, "next", *(word for pair in settings for word in ("--set", pair))])


def none_is_of_the_future(ids):
    """By this machine's clock, which is right, and the server's: a process whose clock is ahead reserves no time."""
    latest = idgen.Layout(LAYOUT).decode(max(ids)).unix_ms
    ahead = latest - time.time() * 1000
    assert ahead <= 3 * WINDOW, f"an id of {ahead:.0f} ms ahead"  # max_ahead, and the window that begins there


class Restless(Client):
    """A process that draws, with a clock that can be set while it runs."""

    def __init__(self, folder, place, settings):
        self.path = Path(folder) / new_tag()
        self.clock = Path(folder) / f"clock-{place}"
        self.is_stopped = False
        if not self.clock.exists():
            self.set_clock(0)
        clock = other_clock(FAKETIME_TIMESTAMP_FILE=str(self.clock), FAKETIME_CACHE_DURATION="1")
        with self.path.open("wb") as out:
            self.process = subprocess.Popen(
                [*drawing_py(3), *settings],
                stdout=out,
                # Many on one machine would otherwise leave nobody the time to start.
                env={**os.environ, **clock, "PAUSE": "0.005" if PROCESSES > 16 else "0"},
            )

    def set_clock(self, hours):
        fresh = self.clock.with_suffix(".new")
        fresh.write_text(f"{hours:+d}h\n")
        fresh.replace(self.clock)

    def has_drawn_after(self, size):
        with self.path.open("rb") as out:
            out.seek(size)
            return any(line[:1].isdigit() for line in out.read().split(b"\n")[1:])

    def said_last(self):
        with self.path.open("rb") as out:
            out.seek(max(0, self.size() - 400))
            return b"".join(out.read().split(b"\n")[-2:-1]).decode()

    def toggle(self):
        self.process.send_signal(signal.SIGCONT if self.is_stopped else signal.SIGSTOP)
        self.is_stopped = not self.is_stopped


class Chaos:
    def __init__(self, folder, server, proxy, settings_of, count, choice):
        self.folder, self.server, self.proxy, self.settings_of, self.choice = folder, server, proxy, settings_of, choice
        self.all_of_them = []
        self.running = [self.start(place) for place in range(count)]
        self.counts = dict.fromkeys(["kill", "stop", "clock", "restart", "server", "network"], 0)

    def start(self, place):
        self.all_of_them.append(Restless(self.folder, place, self.settings_of(place)))
        return self.all_of_them[-1]

    def someone(self):
        return self.choice.choice(self.running)

    def happen(self):
        for place, process in enumerate(self.running):
            if process.process.poll() is not None:
                self.running[place] = self.start(place)
                self.counts["restart"] += 1
        what = self.choice.choices(["kill", "stop", "clock", "server", "network"], [6, 8, 6, 1, 4])[0]
        if what in ("server", "network") and self.server is None:
            return
        self.counts[what] += 1
        if what == "kill":
            self.someone().kill()
        elif what == "stop":
            self.someone().toggle()
        elif what == "clock":
            self.someone().set_clock(self.choice.choice([-1, 0, 1]))
        elif what == "server":
            self.server.restart()
        else:
            self.proxy.cut()

    def calm(self):
        """Nothing more happens: everybody draws again, with a clock that is right."""
        for place, process in enumerate(self.running):
            process.set_clock(0)
            if process.is_stopped:
                process.toggle()
            if process.process.poll() is not None:
                self.running[place] = self.start(place)
        before = [process.size() for process in self.running]
        silent = set(range(len(self.running)))
        last_words = {place: [] for place in silent}  # of each process that has ended

        def all_draw():
            for place in sorted(silent):
                process = self.running[place]
                # A file has no clock: an hour ahead for ten seconds is believed there, and refused once it is set
                # right, because a generator's ids rise. The next process leases another number.
                if self.server is None and process.said_last().startswith("!CLOCK_BACK"):
                    process.kill()
                if process.process.poll() is not None:
                    last_words[place].append(process.said_last())
                    self.running[place] = self.start(place)
                    before[place] = 0
                elif process.has_drawn_after(before[place]):
                    silent.remove(place)
            return not silent

        try:
            wait_until(all_draw, what="every process draws again")
        except AssertionError as error:
            said = [[*last_words[place], self.running[place].said_last()] for place in silent]
            for place in silent:
                subprocess.run([STUCK, str(self.running[place].process.pid)], check=False)
                self.all_of_them.remove(self.running[place])  # it was ended here, and has not crashed
            raise AssertionError(f"{error}; {len(silent)} of {len(self.running)} do not: {said}") from None

    def close(self):
        for process in self.all_of_them:
            process.close()


@pytest.mark.parametrize("case", CASES)
def test_no_id_comes_twice_whatever_happens(case, started, tmp_path):
    kind, _ = CASES[case]
    server = None if kind == "sqlite" else started(kind)
    namespace = new_tag()
    with contextlib.ExitStack() as stack:
        proxy = stack.enter_context(Proxy(server.port)) if server else None

        url = server.url(proxy.port) if server else f"sqlite:{tmp_path}/ids.db"

        def settings_of(place):
            return settings_for(case, url, namespace, tmp_path, place)

        # A Redis that is new grants no time for its first seconds.
        wait_until(lambda: next_id(settings_of(0)).returncode == 0, what="the first id")
        chaos = Chaos(tmp_path, server, proxy, settings_of, PROCESSES, random.Random(case))
        stack.callback(chaos.close)
        for process in chaos.running:
            process.goes_on()
        for _ in range(6 * PROCESSES):
            chaos.happen()
            time.sleep(chaos.choice.random() * SECONDS / 3 / PROCESSES)
        chaos.calm()
        chaos.close()
        drawn = ids_of(chaos.all_of_them)
        if server:
            none_is_of_the_future(drawn)
        happened = ", ".join(f"{count} {what}" for what, count in chaos.counts.items())
        print(f"{case}: {len(drawn)} ids of {len(chaos.all_of_them)} processes; {happened}")


def test_a_clock_that_is_ahead_is_refused_although_the_answer_that_tells_the_time_was_lost(started, tmp_path):
    """ZooKeeper tells its time only with what is written."""
    server = started("zookeeper")
    with Proxy(server.port) as proxy:
        settings = [*settings_for("zookeeper", server.url(proxy.port), new_tag(), tmp_path, 0), "worker=7"]
        proxy.lose_answer(b"/live-")
        failed = next_id(settings, *at("+1h"))
        assert proxy.lost.is_set()
        assert "CLOCK_LEAP" in failed.stderr
        done = next_id(settings)
        assert done.returncode == 0, done.stderr
        none_is_of_the_future([int(done.stdout)])
