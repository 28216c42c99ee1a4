"""What a call costs from Python, Java and Go: runs their own benchmarks and reads the figures."""

from __future__ import annotations

import json
import os
import re
import statistics
import sys
from pathlib import Path
from typing import Any

from figures import Figure, median, ratio, spread
from parts_core import CAP_GOAL, NotMeasured, Samples, Setting, run

ROOT = Path(__file__).resolve().parents[1]
CAP_NS = 1e6 / 4096


# ------------------------------------------------------------------------------------------------------ Python


def measure_python(setting: Setting) -> Samples:
    out = setting.samples / "python-rows.json"
    core = setting.build / "lib" / "libidgen_static.a"
    program = ROOT / "python" / "bench" / "bench_idgen.py"
    run(sys.executable, program, "--core", core, "--rounds", str(max(7, setting.rounds // 2)), "--json", out)
    return {"rows": json.loads(out.read_text())}


def figures_python(samples: Samples) -> list[Figure]:
    figures = []
    for row in samples["rows"]:
        share = "share of the cap" in row["name"]
        value = row["ratio"] * 100 if share else row["ratio"]
        goal = None if row["goal"] is None else CAP_GOAL if share else row["goal"]
        absolute = re.search(r"\b[nm]s\b", row["name"])
        unit = "%" if share else absolute[0] if absolute else "x"
        figures.append(Figure(f"Python {row['name']}", value, unit, goal, share, row["meaning"]))
    return figures


# -------------------------------------------------------------------------------------------------------- Java


def measure_java(setting: Setting) -> Samples:
    out = setting.samples / "java-rows.json"
    environment = {**os.environ, "IDGEN_BUILD_DIR": str(setting.build)}
    run(ROOT / "java" / "jmh" / "run", "2" if setting.quick else "7", out, env=environment)
    return {"rows": json.loads(out.read_text())}


def figures_java(samples: Samples) -> list[Figure]:
    figures = []
    for row in samples["rows"]:
        unit = row["unit"]
        goal = re.fullmatch(r"([<>])= ([\d.]+)", row["goal"])
        least = goal is not None and goal[1] == ">"
        figures.append(Figure(f"Java {row['name']}", row["value"], unit, float(goal[2]) if goal else None, least))
    return figures


# ---------------------------------------------------------------------------------------------------------- Go

GO_LINE = re.compile(r"^Benchmark(\w+?)(?:-\d+)?\s+\d+\s+(.*)$", re.MULTILINE)
GO_CALLS = (
    "EmptyCall$|AtomicAdd$|NextSnowflake$|NextSegment$|Fill1024Segment$|BlocksSegment$|"
    "NextForString$|NextForInt$|FillForEach1024Int$|Route$|RouteBatch1024$|Hide$|HideAll1024$"
)


def measure_go(setting: Setting) -> Samples:
    """One process per round, with the core's own cost measured in between: go test -count would run all rounds in a
    row."""
    program = setting.samples / "go.test"
    run("go", "test", "-c", "-o", program, "./go", cwd=ROOT)
    names: dict[str, dict[str, list[float]]] = {}
    core: dict[str, list[float]] = {"segment next": [], "snowflake next": []}
    for i in range(7):
        measured = [("200ms", GO_CALLS)]
        if i < (1 if setting.quick else 7):
            measured.append(("1x", "ShareOfTheCap"))
        for time, pattern in measured:
            output = run(program, "-test.run", "^$", "-test.bench", pattern, "-test.benchtime", time, cwd=ROOT / "go")
            for name, columns in GO_LINE.findall(output):
                words = columns.split()
                for value, unit in zip(words[::2], words[1::2], strict=True):
                    names.setdefault(name, {}).setdefault(unit, []).append(float(value))
        ns: dict[str, list[float]] = json.loads(run(setting.program, "speed", "3"))["ns"]
        for name, values in core.items():
            values.append(statistics.median(ns[name]))
    if "EmptyCall" not in names:
        raise NotMeasured("go/bench_test.go printed no BenchmarkEmptyCall")
    return {"benchmarks": names, "core": core}


def figures_go(samples: Samples) -> list[Figure]:
    of: dict[str, dict[str, list[float]]] = samples["benchmarks"]
    core: dict[str, list[float]] = samples["core"]
    empty = of["EmptyCall"]["ns/op"]
    figures = []
    for kind, benchmark in (("segment", "NextSegment"), ("snowflake", "NextSnowflake")):
        calls = of[benchmark]["ns/op"]
        rounds = zip(calls, core[f"{kind} next"], empty, strict=True)
        share = statistics.median((call - own) / floor for call, own, floor in rounds)
        detail = f"({median(calls):.1f} - {median(core[f'{kind} next']):.1f}) ns / {median(empty):.1f} ns"
        figures.append(Figure(f"Go {kind} Next less the core, by an empty cgo call", share, "x", 1.3, detail=detail))
        allocations: Any = max(of[benchmark]["allocs/op"])
        figures.append(Figure(f"Go {kind} Next, allocations", allocations, "", 0))
    calls, additions = of["NextSegment"]["ns/op"], of["AtomicAdd"]["ns/op"]
    share = statistics.median(call / addition for call, addition in zip(calls, additions, strict=True))
    detail = f"{median(calls):.1f} ns / {median(additions):.1f} ns"
    figures.append(Figure("Go segment Next, by an atomic addition", share, "x", detail=detail))
    figures.append(Figure("Go segment Fill of 1024, an id", median(of["Fill1024Segment"]["ns/id"]), "ns", 1.0))
    blocks = median(of["BlocksSegment"]["ns/op"])
    figures.append(
        Figure("Go segment Blocks.Next, an id", blocks, "ns", detail="counts in Go, a call of the core a block")
    )
    for benchmark, label in (
        ("NextForString", "NextFor of 16 bytes"),
        ("NextForInt", "NextFor of an integer"),
        ("Route", "Route of an id"),
        ("Hide", "Hide of an id"),
    ):
        if benchmark in of:  # hidden ids need their module
            calls = of[benchmark]["ns/op"]
            share = statistics.median(call / floor for call, floor in zip(calls, empty, strict=True))
            detail = f"{median(calls):.1f} ns / {median(empty):.1f} ns, the core's work included"
            figures.append(Figure(f"Go {label}, by an empty cgo call", share, "x", detail=detail))
    for benchmark, label in (
        ("FillForEach1024Int", "FillForEach of 1024 integers"),
        ("RouteBatch1024", "RouteBatch of 1024"),
        ("HideAll1024", "HideAll of 1024"),
    ):
        if benchmark in of:
            figures.append(Figure(f"Go {label}, an id", median(of[benchmark]["ns/id"]), "ns"))
    for name, label in (("ShareOfTheCap", "Next"), ("ShareOfTheCapByFill", "Fill of 1024")):
        if name in of:
            share = median(of[name]["%-of-cap"])
            figures.append(Figure(f"Go {label}: share of 4096 ids/ms", share, "%", CAP_GOAL, True))
    return figures


# ------------------------------------------------------------------------------- standard ids, beside other libraries

PEERS = ROOT / "bench" / "peers"
PEERS_OF = {
    "Python": ("object()", ("uuid", "uuid-utils", "uuid-utils, compat", "python-ulid")),
    "Go": (
        "clock + atomic",
        ("google/uuid", "google/uuid, its pool", "oklog/ulid", "oklog/ulid, its default", "rs/xid"),
    ),
}
# Of ids of 8 bytes: the floor, its goal on one thread, and what is no peer, since it reads no clock or is ours.
CONTESTS: dict[str, dict[str, tuple[str | None, float | None, tuple[str, ...]]]] = {
    "Java": {
        "counter": ("AtomicLong", 1.45, ()),
        "snowflake": ("clock + compare-and-set", None, ()),
        "burst": (None, None, ("MyBatis-Plus",)),
        "batch": (None, None, ()),
    },
    "Newer Java": {"counter": ("AtomicLong", 1.3, ()), "snowflake": ("clock + compare-and-set", None, ())},
    "Go": {
        "counter": ("atomic.Int64", 1.4, ("idgen, Blocks(1000)",)),
        "snowflake": ("time.Now + compare-and-swap", None, ("time.Since + compare-and-swap",)),
        "burst": (None, None, ()),
        "batch": (None, None, ()),
    },
    "Python": {
        "counter": ("itertools.count", None, ()),
        "snowflake": (None, None, ()),
        "batch": (None, None, ()),
    },
}


def measure_peers(setting: Setting) -> Samples:
    rounds = "3" if setting.quick else "9"
    packages, program = setting.samples / "peers-packages", setting.samples / "peers"
    run(
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--upgrade",
        "--target",
        packages,
        "-r",
        PEERS / "requirements.txt",
    )
    run("go", "build", "-o", program, ".", cwd=PEERS / "go")
    python = run(sys.executable, PEERS / "ids.py", rounds, env={**os.environ, "PYTHONPATH": str(packages)})
    java = PEERS / "java"
    run("mvn", "-q", "-B", "-f", java / "pom.xml", "package")
    classes = f"{java}/target/classes:{ROOT}/java/target/idgen-0.1.0.jar:{java}/target/lib/*"
    library = f"-Didgen.library={setting.build}/lib/libidgen.so"
    samples = {"Python": json.loads(python), "Go": json.loads(run(program, rounds))}
    for language, words in (("Java", ["java"]), ("Newer Java", newer_java())):
        if words:
            ns: dict[str, list[float]] = {}
            for contest in CONTESTS[language]:
                ns |= json.loads(run(*words, library, "-cp", classes, "dev.idgen.peers.Peers", contest, rounds))["ns"]
            samples[language] = {"ns": ns}
    return samples


def newer_java() -> list[str | Path]:
    """The newest one from 22 on that is installed, where words are read by their address; [] if there is none."""
    found = []
    for release in Path("/usr/lib/jvm").glob("*/release"):
        version = re.search(r'JAVA_VERSION="(\d+)', release.read_text())
        if version and int(version[1]) >= 22:
            found.append((int(version[1]), release.parent / "bin" / "java"))
    return [max(found)[1], "--enable-native-access=ALL-UNNAMED"] if found else []


def figures_peers(samples: Samples) -> list[Figure]:
    figures = []
    for language, (floor, libraries) in PEERS_OF.items():
        ns: dict[str, list[float]] = samples[language]["ns"]
        for kind in ("uuid4", "uuid7", "ulid", "object_id"):
            ours = ns[f"idgen {kind}"]
            detail = f"{ratio(ours, ns[floor]):.2f} x {floor} ({median(ns[floor]):.1f} ns); {spread(ours)}"
            figures.append(Figure(f"{language} {kind}, idgen", median(ours), "ns", detail=detail))
            for library in libraries:
                if theirs := ns.get(f"{library} {kind}"):
                    detail = f"{ratio(theirs, ours):.2f} x idgen's; {spread(theirs)}"
                    figures.append(Figure(f"{language} {kind}, {library}", median(theirs), "ns", detail=detail))
    for language, contests in CONTESTS.items():
        if language not in samples:
            continue
        ns = samples[language]["ns"]
        for contest, (bare, goal, others) in contests.items():
            for threads in (1, 2):
                alone = goal if threads == 1 else None
                figures += figures_contest(language, contest, threads, ns, bare, alone, others)
    return figures


def figures_contest(
    language: str,
    contest: str,
    threads: int,
    ns: dict[str, list[float]],
    floor: str | None,
    goal: float | None,
    others: tuple[str, ...],
) -> list[Figure]:
    begin = f"{contest} {threads} "
    found = {name.removeprefix(begin): values for name, values in ns.items() if name.startswith(begin)}
    name = f"{language} {contest}, {threads} thread{'s' if threads > 1 else ''}"
    ours = found.get("idgen")
    figures = []
    if ours and floor is not None:
        detail = f"{median(ours):.1f} of {median(found[floor]):.1f} ns; {spread(ours)}"
        figures.append(
            Figure(f"{name}: idgen, relative to {floor}", ratio(ours, found[floor]), "x", goal, detail=detail)
        )
    peers = {peer: values for peer, values in found.items() if peer not in {"idgen", floor, *others}}
    if ours and peers:
        fastest = min(peers, key=lambda peer: median(peers[peer]))
        figures.append(
            Figure(f"{name}: idgen, relative to the fastest peer, {fastest}", ratio(ours, peers[fastest]), "x", 1.0)
        )
    for subject, values in found.items():
        detail = f"lowest {min(values):.1f}; {spread(values)}"
        figures.append(Figure(f"{name}: {subject}", median(values), "ns", detail=detail))
    return figures
