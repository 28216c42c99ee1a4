"""Four processes, in C, Python, Java and Go, draw ids at full speed from one idgen.toml and one SQLite file.

Run by `make demo`; by hand:  scripts/demo [--seconds S] [--limit N]

Each process gets TOML WORKER SECONDS LIMIT DIRECTORY NAME... and does for each NAME in turn:
  - open that table of the TOML file, with its own worker number, and print `ready NAME`
  - wait for a line on standard input, so that all four begin together
  - draw one id a call, for SECONDS or until LIMIT ids, into DIRECTORY/LANGUAGE.NAME.ids (raw, 64 bits, little-endian),
    printing `count N` ten times a second and `done N NANOSECONDS` at the end
Then it decodes each id that it reads, by the first table, and prints `decoded UNIX_MS WORKER SEQUENCE`.

Then two more processes play two machines: each has a folder of its own, no file in common, and leases its worker from
one Redis if there is one here (from the SQLite file if not).

The exit status is 1 if an id was issued twice, if two languages decode an id differently, or if a process failed.
"""

from __future__ import annotations

import argparse
import contextlib
import mmap
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[2]
HERE = ROOT / "examples" / "demo"
LANGUAGES = ("C", "Python", "Java", "Go")
NAMES = ("events", "orders")
KIND = {"events": "snowflake", "orders": "segment"}
CAP_PER_SECOND = 4096 * 1000  # of a snowflake id with 12 bits of sequence per millisecond


# ---------------------------------------------------------------------------------------- the process in Python


def draw(generator, seconds: float, limit: int, path: Path) -> None:
    """Draws one id per call, straight into the mapped file."""
    with path.open("wb+") as file:
        file.truncate(limit * 8)
        with mmap.mmap(file.fileno(), limit * 8) as mapped, memoryview(mapped) as raw, raw.cast("Q") as ids:
            next_id = generator.next
            begin = now = report = time.perf_counter_ns()
            count = 0
            while count < limit and now - begin < seconds * 1e9:
                end = min(limit, count + 4096)
                for i in range(count, end):
                    ids[i] = next_id()
                count = end
                now = time.perf_counter_ns()
                if now >= report:
                    print("count", count, flush=True)
                    report = now + 100_000_000
        file.truncate(count * 8)
    print("done", count, now - begin, flush=True)


def child(toml: str, worker: str, seconds: str, limit: str, directory: str, *names: str) -> None:
    import idgen

    first = None
    for name in names:
        generator = idgen.open(toml, name, worker=int(worker))
        print("ready", name, flush=True)
        if not sys.stdin.readline():
            raise SystemExit("demo.py: standard input closed too early")
        draw(generator, float(seconds), int(limit), Path(directory) / f"Python.{name}.ids")
        generator.close()
        first = first or generator  # decoding works on a closed generator
    for line in sys.stdin:
        parts = first.decode(int(line))
        print("decoded", parts.unix_ms, parts.worker, parts.sequence, flush=True)


# ------------------------------------------------------------------------------------------------ preparations


def fail(message: str) -> NoReturn:
    raise SystemExit(f"demo: {message}")


def run(*command: str | Path, **environment: str | Path) -> str:
    done = subprocess.run(
        [str(word) for word in command],
        cwd=ROOT,
        env=os.environ | {name: str(value) for name, value in environment.items()},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        fail(f"`{' '.join(map(str, command))}` failed:\n{done.stderr or done.stdout}")
    return done.stdout


def fresh(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def prepare(build: Path) -> dict[str, list[str]]:
    """Builds the four programs from the build tree `build`, and returns how to start each language's process."""
    lib = build / "lib"
    headers = ROOT / "capi" / "include"
    run("cc", "-O2", "-std=gnu11", "-Wall", f"-I{headers}", HERE / "demo.c", "-o", build / "demo-c",
        f"-L{lib}", "-lidgen", f"-Wl,-rpath,{lib}")  # fmt: skip
    run("c++", "-O2", "-std=c++20", "-Wall", HERE / "count_duplicates.cpp", "-o", build / "count_duplicates")

    package = fresh(build / "python") / "idgen"
    shutil.copytree(ROOT / "python" / "src" / "idgen", package, ignore=shutil.ignore_patterns("__pycache__"))
    for module in (build / "bindings" / "python").glob("_core*.so"):
        shutil.copy(module, package)

    classes = fresh(build / "classes")
    sources = [
        *(ROOT / "java" / "src" / "main" / "java").rglob("*.java"),
        *(build / "java" / "generated").rglob("*.java"),
    ]
    run("javac", "-d", classes, *sources, HERE / "Demo.java")

    # Go compiles the library from source unless it is told of an installed one: that would take a minute more.
    packages = fresh(build / "pkgconfig")
    (packages / "idgen.pc").write_text(
        f"Name: idgen\nDescription: the library of the demo\nVersion: 0\nCflags: -I{headers}\n"
        f"Libs: -L{lib} -lidgen -Wl,-rpath,{lib}\n"
    )
    run("go", "build", "-tags", "idgen_system", "-o", build / "demo-go", "./examples/demo/go", PKG_CONFIG_PATH=packages)
    return {
        "C": [str(build / "demo-c")],
        "Python": [sys.executable, str(HERE / "demo.py"), "--child"],
        "Java": ["java", f"-Djava.library.path={lib}", "-cp", str(classes), "Demo"],
        "Go": [str(build / "demo-go")],
    }


# ------------------------------------------------------------------------------------------------- the processes


@dataclass
class Process:
    language: str
    popen: subprocess.Popen[str]
    count: int = 0
    said: dict[str, list[str]] = field(default_factory=dict)  # words that nobody has read yet
    done: dict[str, tuple[int, int]] = field(default_factory=dict)  # name -> ids, ns


def start(language: str, command: list[str], arguments: list[str], heard: queue.Queue) -> Process:
    popen = subprocess.Popen(
        [*command, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, cwd=ROOT
    )
    process = Process(language, popen)

    def listen() -> None:
        for line in popen.stdout or ():
            heard.put((process, line.split()))
        heard.put((process, []))  # it has ended

    threading.Thread(target=listen, daemon=True).start()
    return process


def listen_for(word: str, processes: list[Process], heard: queue.Queue, seconds: float, show=None) -> list[list[str]]:
    """Waits until each process has printed `word`. Fails if one ends before, or if that takes longer than `seconds`.

    A process may be one word ahead of the others (`ready` for the next kind): the word is kept for the next call.
    """
    deadline = time.monotonic() + seconds
    while silent := [p.language for p in processes if word not in p.said]:
        try:
            process, words = heard.get(timeout=0.1)
        except queue.Empty:
            if time.monotonic() > deadline:
                fail(f"{', '.join(silent)} did not say '{word}' within {seconds:.0f} s")
        else:
            if not words:
                fail(f"the {process.language} process ended too early, with status {process.popen.wait()}")
            if words[0] in ("count", "done"):
                process.count = int(words[1])
            if words[0] != "count":
                process.said[words[0]] = words[1:]
        if show:
            show()
    return [p.said.pop(word) for p in processes]


def tell(processes: list[Process], line: str) -> None:
    for process in processes:
        assert process.popen.stdin
        process.popen.stdin.write(line + "\n")
        process.popen.stdin.flush()


class Live:
    """The counts while they grow: redrawn in place on a terminal, one line per second elsewhere."""

    def __init__(self, title: str, processes: list[Process], limit: int) -> None:
        self.title, self.processes, self.limit = title, processes, limit
        self.redraw = sys.stdout.isatty()
        self.drawn = False
        self.due = 0.0 if self.redraw else time.monotonic() + 1
        for process in processes:
            process.count = 0

    def __call__(self, last: bool = False) -> None:
        now = time.monotonic()
        if now < self.due and not last:
            return
        self.due = now + (0.1 if self.redraw else 1.0)
        if not self.redraw:
            counts = "  ".join(f"{p.language} {grouped(p.count)}" for p in self.processes)
            print(f"  {self.title}: {counts}", flush=True)
            return
        if self.drawn:
            print(f"\033[{len(self.processes)}A", end="")
        for process in self.processes:
            bar = "█" * round(40 * process.count / self.limit)
            print(f"\r  {process.language:7}{grouped(process.count):>12}  {bar}\033[K")
        self.drawn = True


def grouped(number: int) -> str:
    return f"{number:,}".replace(",", " ")


CREATE = "import idgen, sys; idgen.segment_create(store='sqlite:ids.db', tag='orders', directory=sys.argv[1])"


def race(
    commands: dict[str, list[str]], directory: Path, seconds: float, limit: int
) -> tuple[list[Process], int, list]:
    """Runs the four through both kinds; returns them, an id, and how each of them decoded it."""
    toml = directory / "idgen.toml"
    shutil.copy(HERE / "idgen.toml", toml)
    run(sys.executable, "-c", CREATE, toml.parent)

    heard: queue.Queue = queue.Queue()
    processes: list[Process] = []
    try:
        for worker, language in enumerate(LANGUAGES, start=1):
            arguments = [str(toml), str(worker), str(seconds), str(limit), str(directory), *NAMES]
            processes.append(start(language, commands[language], arguments, heard))
        for name in NAMES:
            listen_for("ready", processes, heard, 60)
            print(f"\n{name}: {KIND[name]} ids, four processes at once" if sys.stdout.isatty() else f"\n{name}:")
            live = Live(f"{KIND[name]} ids", processes, limit)
            tell(processes, "go")
            for process, words in zip(processes, listen_for("done", processes, heard, seconds + 60, live), strict=True):
                process.done[name] = int(words[0]), int(words[1])
            live(last=True)
        with (directory / "C.events.ids").open("rb") as file:
            file.seek(-8, os.SEEK_END)
            one_id = int.from_bytes(file.read(8), "little")
        tell(processes, str(one_id))
        decoded = listen_for("decoded", processes, heard, 30)
        for process in processes:
            assert process.popen.stdin
            process.popen.stdin.close()
            if process.popen.wait(timeout=30) != 0:
                fail(f"the {process.language} process failed with status {process.popen.returncode}")
        return processes, one_id, decoded
    finally:
        for process in processes:
            if process.popen.poll() is None:
                process.popen.kill()


# ---------------------------------------------------------------------------------------------------- two machines

MACHINE = """
import pathlib, sys, idgen
store, modules, count = sys.argv[1:]
with idgen.Generator(kind="snowflake", worker="auto", store=store, module_path=modules, store_create=True) as generator:
    ids = generator.next_batch(int(count))
    pathlib.Path("machine.ids").write_bytes(ids.tobytes())
    print(generator.decode(int(ids[0])).worker, flush=True)
    sys.stdin.readline()  # stays alive, and so does its lease, until both have drawn
"""


@contextlib.contextmanager
def shared_store(build: Path, directory: Path) -> Iterator[tuple[str, str]]:
    """The URL of a store that two machines share, and what to call it."""
    if not (build / "lib" / "libidgen_redis.so").exists() or shutil.which("redis-server") is None:
        yield f"sqlite:{directory / 'machines.db'}", "one SQLite file (no Redis here)"
        return
    sys.path.insert(0, str(ROOT / "tests" / "servers"))
    import servers

    with servers.Redis() as redis:
        yield redis.url(), "one Redis"


def machines(build: Path, directory: Path, count: int = 1_000_000) -> bool:
    folders = [fresh(directory / name) for name in ("machine-a", "machine-b")]
    with shared_store(build, directory) as (url, name):
        command = [sys.executable, "-c", MACHINE, url, str(build / "lib"), str(count)]
        running = [
            subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            for folder in folders
        ]
        workers = [process.stdout.readline().strip() if process.stdout else "" for process in running]
        for process in running:
            process.communicate("\n", timeout=60)
        if any(process.returncode for process in running):
            fail("a machine's process failed")
    total, duplicates = duplicates_in(build, [folder / "machine.ids" for folder in folders])
    print(
        f"\ntwo machines, no file in common, no number typed: workers {' and '.join(workers)}, leased from {name};\n"
        f"duplicates among their {grouped(total)} ids: {duplicates}"
    )
    return duplicates == 0 and total == 2 * count and len(set(workers)) == 2


# ------------------------------------------------------------------------------------------------------ the report


def duplicates_in(build: Path, files: list[Path]) -> tuple[int, int]:
    total, duplicates = run(build / "count_duplicates", *files).split()
    return int(total), int(duplicates)


def report(build: Path, processes: list[Process], directory: Path, one_id: int, decoded: list[list[str]]) -> bool:
    rule = f"{'─' * 10}┼{'─' * 11}┼{'─' * 14}┼{'─' * 14}┼{'─' * 14}"
    print(f"\n{'language':10}│ {'kind':10}│{'ids':>13} │{'ids/s':>13} │{'of the cap':>12}\n{rule}")
    for name in NAMES:
        for process in processes:
            count, ns = process.done[name]
            rate = count / (ns / 1e9)
            share = f"{100 * rate / CAP_PER_SECOND:.1f} %" if name == "events" else "no cap"
            print(
                f"{process.language:10}│ {KIND[name]:10}│{grouped(count):>13} │{grouped(round(rate)):>13} │{share:>12}"
            )
        print(rule)
    begin = time.monotonic()
    files = [directory / f"{p.language}.{name}.ids" for name in NAMES for p in processes]
    total, duplicates = duplicates_in(build, files)
    drawn = sum(count for p in processes for count, _ in p.done.values())
    print(
        f"duplicates among all {grouped(total)} ids: {duplicates}  "
        f"(every id compared, {time.monotonic() - begin:.1f} s)"
    )
    if total != drawn:
        print(f"but the processes say that they drew {grouped(drawn)}: some ids were not checked")

    print(f"\nthe id {one_id}, decoded by each:")
    answers = dict(zip(LANGUAGES, decoded, strict=True))
    for who, (unix_ms, worker, sequence) in answers.items():
        print(f"  {who:8} unix_ms {unix_ms}  worker {worker}  sequence {sequence}")
    equal = len({tuple(answer) for answer in answers.values()}) == 1
    print("  all equal" if equal else "  NOT EQUAL")
    return duplicates == 0 and total == drawn and equal


def main() -> int:
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:])
        return 0
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=float, default=4, help="how long each kind is drawn (default: 4)")
    parser.add_argument(
        "--limit", type=int, default=25_000_000, help="most ids of a kind and process (default: 25000000)"
    )
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "demo", help="build tree (default: build/demo)")
    options = parser.parse_args()
    build = options.build.resolve()

    print("  compiling the four programs ...", flush=True)
    commands = prepare(build)
    os.environ["PYTHONPATH"] = str(build / "python")
    with tempfile.TemporaryDirectory(prefix="run-", dir=build) as name:
        directory = Path(name)
        needed = options.limit * 8 * len(LANGUAGES) * len(NAMES)
        free = shutil.disk_usage(directory).free
        limit = options.limit if free > needed * 1.2 else int(options.limit * free / (needed * 1.2))
        if limit < options.limit:
            print(f"The disk has room for {grouped(limit)} ids of a kind and process only.")
        begin = time.monotonic()
        processes, one_id, decoded = race(commands, directory, options.seconds, limit)
        good = report(build, processes, directory, one_id, decoded)
        good = machines(build, directory) and good
        print(f"\n{'No id was issued twice' if good else 'FAILED'}, {time.monotonic() - begin:.0f} s")
    return 0 if good else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
