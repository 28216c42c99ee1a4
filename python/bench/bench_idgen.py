"""What a call from Python costs, as ratios to a floor measured in the same run.

    python bench/bench_idgen.py [--core libidgen_static.a] [--rounds 9] [--json FILE]

The floor is a method of a C type (floor.c, compiled here), without an argument or with one. With --core the core's own
cost is measured by a C++ program linked to that archive, and Python's share is reported separately. Rounds are
interleaved; the median is reported. Costs are CPU time of the calling thread, so that a busy machine does not distort
them; the share of the cap is wall time, and only meaningful on an idle machine. The cost of an import is CPU time of
processes that only import, less that of processes that do nothing.
"""

from __future__ import annotations

import argparse
import array
import importlib.machinery
import importlib.util
import itertools
import json
import resource
import shlex
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import idgen
import numpy as np

HERE = Path(__file__).resolve().parent
BATCH = 1024
OWNER = b"customer-0012345"


def compile_floor(folder: Path) -> Any:
    path = folder / ("floor" + importlib.machinery.EXTENSION_SUFFIXES[0])
    compiler = shlex.split(sysconfig.get_config_var("CC") or "cc")
    include = sysconfig.get_paths()["include"]
    flags = ["-O2", "-fPIC", "-shared", "-I", include]
    subprocess.run([*compiler, *flags, str(HERE / "floor.c"), "-o", str(path)], check=True)
    spec = importlib.util.spec_from_file_location("floor", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def core_costs(archive: Path, folder: Path) -> dict[str, float]:
    """ns of idgen_try_next in C++, by kind."""
    program = folder / "core_cost"
    include = HERE.parent.parent / "capi" / "include"
    command = ["c++", "-std=c++20", "-O2", f"-I{include}", str(HERE / "core_cost.cpp"), str(archive)]
    subprocess.run([*command, "-lsqlite3", "-lpthread", "-o", str(program)], check=True)
    lines = subprocess.run([program], check=True, capture_output=True, text=True).stdout.split("\n")
    return {name: float(ns) for name, ns in (line.split() for line in lines if line)}


def calls(function: Callable[[], Any], n: int, now: Callable[[], int] = time.thread_time_ns) -> float:
    """ns per call, the loop included; the loop is the same for every subject."""
    repeat = itertools.repeat(None, n)
    start = now()
    for _ in repeat:
        function()
    return (now() - start) / n


def calls_with(function: Callable[[Any], Any], argument: object, n: int) -> float:
    """ns per call with one argument; the loop is C code, and the same for every subject."""
    results = map(function, itertools.repeat(argument, n))
    start = time.thread_time_ns()
    deque(results, maxlen=0)
    return (time.thread_time_ns() - start) / n


def iteration(iterator: Any, n: int) -> float:
    start = time.thread_time_ns()
    deque(itertools.islice(iterator, n), maxlen=0)
    return (time.thread_time_ns() - start) / n


def empty_loop(n: int) -> float:
    start = time.thread_time_ns()
    for _ in itertools.repeat(None, n):
        pass
    return (time.thread_time_ns() - start) / n


def process_ms(code: str) -> float:
    """CPU time of an interpreter that runs `code`, from its start to its end."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e3


def import_ms(rounds: int) -> tuple[float, float]:
    """An empty interpreter, and what an import of idgen adds to it."""
    process_ms("import idgen")  # from now on all files are in memory
    samples = [(process_ms("pass"), process_ms("import idgen")) for _ in range(rounds)]
    return statistics.median(empty for empty, _ in samples), statistics.median(full - empty for empty, full in samples)


def ring() -> idgen.RouteTable:
    """64 ranges, each of a shard of its own."""
    shards = [f"db{n}" for n in range(64)]
    return idgen.RouteTable(1, bits=16, shards=shards, ranges=[(1024 * n + 1023, f"db{n}") for n in range(64)])


def cipher_for_bench() -> idgen.IdCipher | None:
    """None where the module of hidden ids was not built."""
    try:
        return idgen.IdCipher(layout="business64", store="memory:bench", keys=lambda: [(1, bytes(32))])
    except idgen.Error as error:
        print(f"hidden ids are not measured: {error}", file=sys.stderr)
        return None


def measure(floor: Any, rounds: int) -> dict[str, float]:
    floor_object = floor.Floor()
    # 2^33 ids per tick: neither sequence nor segment ends during the measurement, so that no call waits.
    snowflake = idgen.Generator(layout="time:27s worker:3 sequence:33", worker=1, store="memory:bench")
    segment = idgen.Generator(kind="segment", tag="bench", store="memory:bench", store_create=True, segment_step=10**8)
    at_the_cap = idgen.Generator(worker=1, namespace="cap", store="memory:bench")
    buffer = array.array("q", bytes(8 * BATCH))
    business = idgen.Generator(
        kind="business", tag="orders", store="memory:bench", store_create=True, segment_step=10**8
    )
    router = idgen.Router(ring(), layout="business64")
    id = business.next_for(OWNER)
    ids = np.array(business.next_batch_for(OWNER, BATCH))
    owners = np.arange(10**15, 10**15 + BATCH)

    subjects: dict[str, Callable[[], float]] = {
        "empty loop": lambda: empty_loop(300_000),
        "floor: METH_NOARGS": lambda: calls(floor_object.next, 300_000),
        "floor: tp_iternext": lambda: iteration(floor_object, 300_000),
        "segment next()": lambda: calls(segment.next, 300_000),
        "segment iteration": lambda: iteration(segment, 300_000),
        "segment fill(1024), an id": lambda: calls(lambda: segment.fill(buffer), 2_000) / BATCH,
        "segment next_batch(1024), an id": lambda: calls(lambda: segment.next_batch(BATCH), 2_000) / BATCH,
        "snowflake next()": lambda: calls(snowflake.next, 300_000),
        "snowflake iteration": lambda: iteration(snowflake, 300_000),
        "snowflake fill(1024), an id": lambda: calls(lambda: snowflake.fill(buffer), 2_000) / BATCH,
        "snowflake next_batch(1024), an id": lambda: calls(lambda: snowflake.next_batch(BATCH), 2_000) / BATCH,
        "floor: METH_O": lambda: calls_with(floor_object.take, OWNER, 300_000),
        "business next_for(bytes of 16)": lambda: calls_with(business.next_for, OWNER, 300_000),
        "business next_for(int)": lambda: calls_with(business.next_for, 10**15, 300_000),
        "business next_batch_for(owner, 1024), an id": lambda: (
            calls(lambda: business.next_batch_for(OWNER, BATCH), 2_000) / BATCH
        ),
        "business next_for_each(1024 ints), an id": lambda: calls(lambda: business.next_for_each(owners), 500) / BATCH,
        "router.route(id)": lambda: calls_with(router.route, id, 300_000),
        "router.route_array(1024 ids), an id": lambda: calls_with(router.route_array, ids, 2_000) / BATCH,
        "cap: 41/10/12 next()": lambda: calls(at_the_cap.next, 1_000_000, time.perf_counter_ns),
        "cap: 41/10/12 fill(1024), an id": lambda: (
            calls(lambda: at_the_cap.fill(buffer), 1_000, time.perf_counter_ns) / BATCH
        ),
    }
    if cipher := cipher_for_bench():
        subjects["cipher.hide(id)"] = lambda: calls_with(cipher.hide, id, 100_000)
        subjects["cipher.hide_array(1024 ids), an id"] = lambda: calls_with(cipher.hide_array, ids, 500) / BATCH
    samples: dict[str, list[float]] = {name: [] for name in subjects}
    for _ in range(rounds):
        for name, run in subjects.items():
            samples[name].append(run())
    for generator in (snowflake, segment, business, at_the_cap):
        generator.close()
    return {name: statistics.median(values) for name, values in samples.items()}


def report(ns: dict[str, float], core: dict[str, float], imports: tuple[float, float]) -> list[dict[str, Any]]:
    loop = ns["empty loop"]
    floor = ns["floor: METH_NOARGS"] - loop
    iteration_floor = ns["floor: tp_iternext"]
    cap = 1e6 / 4096
    rows: list[dict[str, Any]] = []

    def row(name: str, value: float, goal: float | None, meaning: str) -> None:
        rows.append({"name": name, "ratio": round(value, 3), "goal": goal, "meaning": meaning})

    for kind in ("segment", "snowflake"):
        if kind in core:
            row(
                f"{kind} next() / (1.3 floor + core)",
                (ns[f"{kind} next()"] - loop) / (1.3 * floor + core[kind]),
                1.0,
                f"{ns[f'{kind} next()'] - loop:.1f} ns / (1.3 x {floor:.1f} + {core[kind]:.1f} ns)",
            )
        row(
            f"{kind} next() / floor",
            (ns[f"{kind} next()"] - loop) / floor,
            None,
            f"{ns[f'{kind} next()'] - loop:.1f} ns / {floor:.1f} ns, the core's work included",
        )
        row(
            f"{kind} iteration / floor",
            ns[f"{kind} iteration"] / iteration_floor,
            None,
            f"{ns[f'{kind} iteration']:.1f} ns / {iteration_floor:.1f} ns, the core's work included",
        )
        for call in ("fill(1024)", "next_batch(1024)"):
            row(f"{kind} {call}, ns an id", ns[f"{kind} {call}, an id"], 1.0, "absolute")
    floor = ns["floor: METH_O"]
    for name in ("business next_for(bytes of 16)", "business next_for(int)", "router.route(id)", "cipher.hide(id)"):
        if name in ns:
            meaning = f"{ns[name]:.1f} ns / {floor:.1f} ns, the core's work included"
            row(f"{name} / a method with an argument", ns[name] / floor, None, meaning)
    for name in ns:
        if name.endswith(", an id") and name.startswith(("business", "router", "cipher")):
            row(f"{name.removesuffix(', an id')}, ns an id", ns[name], None, "absolute")
    for call in ("next()", "fill(1024), an id"):
        share = cap / ns[f"cap: 41/10/12 {call}"]
        row(f"41/10/12 {call}: share of the cap", share, 0.999, f"the format allows one id in {cap:.1f} ns")
    empty, added = imports
    row("import idgen, ms over an interpreter", added, 15.0, f"an interpreter that does nothing: {empty:.1f} ms")
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--core", type=Path, help="libidgen_static.a, to measure the core's own cost")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", type=Path, help="write the rows there too")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        core = core_costs(arguments.core, folder) if arguments.core else {}
        rows = report(measure(compile_floor(folder), arguments.rounds), core, import_ms(arguments.rounds))
    print(
        f"Python {sys.version.split()[0]}, idgen {idgen.__version__}, median of {arguments.rounds} interleaved rounds\n"
    )
    for row in rows:
        goal = "" if row["goal"] is None else f"goal {row['goal']}"
        print(f"{row['name']:<40} {row['ratio']:>8} {goal:<11} {row['meaning']}")
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
