"""What the core costs a user of the C ABI: samples of idgen-bench, and the figures computed from them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import svg
from figures import Figure, median, number, ratio, spread

Samples = dict[str, Any]
CAP_GOAL = 99.9
ALLOWED_LIBRARIES = {
    "libc.so.6",
    "libstdc++.so.6",
    "libgcc_s.so.1",
    "libm.so.6",
    "libsqlite3.so.0",
    "ld-linux-x86-64.so.2",
}


@dataclass(frozen=True)
class Setting:
    build: Path
    samples: Path
    quick: bool

    @property
    def rounds(self) -> int:
        return 7 if self.quick else 25

    @property
    def program(self) -> str:
        return str(self.build / "bin" / "idgen-bench")


class NotMeasured(Exception):
    """Why a part gives no figures here."""


def run(*command: str | Path, **more: Any) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **more)
    if done.returncode != 0:
        end = (done.stderr or done.stdout).strip()[-600:]
        raise NotMeasured(f"`{' '.join(str(word) for word in command)}` failed with {done.returncode}: {end}")
    return str(done.stdout)


def in_folder(setting: Setting, *arguments: str) -> Samples:
    """Runs a command of idgen-bench on files below the build tree, so on a real disk, not in memory."""
    with tempfile.TemporaryDirectory(dir=setting.samples) as folder:
        words = [folder if word == "FOLDER" else word for word in arguments]
        samples: Samples = json.loads(run(setting.program, *words))
        return samples


# ------------------------------------------------------------------------------------------------------- speed


def measure_speed(setting: Setting) -> Samples:
    samples: Samples = json.loads(run(setting.program, "speed", str(setting.rounds)))
    return samples


def figures_speed(samples: Samples) -> list[Figure]:
    ns: dict[str, list[float]] = samples["ns"]

    def against(name: str, subject: str, floor: str, goal: float | None) -> Figure:
        detail = f"{median(ns[subject]):.2f} ns / {median(ns[floor]):.2f} ns"
        return Figure(name, ratio(ns[subject], ns[floor]), "x", goal, detail=detail)

    def an_id(name: str, subject: str) -> Figure:
        detail = f"{ratio(ns[subject], ns['storing 8 bytes']):.2f} x storing 8 bytes; {spread(ns[subject])}"
        return Figure(name, median(ns[subject]), "ns", 0.5, detail=detail)

    pair = "clock + compare-and-set"
    return [
        against("segment next / fetch_add", "segment next", "fetch_add", 1.3),
        against("segment next / fetch_add behind a call", "segment next", "fetch_add behind a call", None),
        against("segment try_next / fetch_add", "segment try_next", "fetch_add", None),
        against("segment next, relaxed / fetch_add", "segment next, relaxed", "fetch_add", None),
        against("snowflake next / (clock + CAS)", "snowflake next", pair, 1.2),
        against("snowflake try_next / (clock + CAS)", "snowflake try_next", pair, None),
        against("snowflake next, relaxed / (clock + CAS)", "snowflake next, relaxed", pair, None),
        against("a bare time-ordered counter / (clock + CAS)", "time-ordered counter", pair, None),
        an_id("segment batch of 1024, an id", "segment batch"),
        an_id("snowflake batch of 1024, an id", "snowflake batch"),
        Figure("calls of these that waited", samples["waits"], "", 0, detail="CPU time would hide them"),
    ]


# ------------------------------------------------------------------------------------------------- hidden ids


def measure_hidden(setting: Setting) -> Samples:
    if not (setting.build / "lib/idgen/modules/libidgen_cipher.so").exists():
        raise NotMeasured("the module of hidden ids was not built (Debian: libssl-dev)")
    samples: Samples = json.loads(run(setting.program, "hidden", str(setting.rounds)))
    if "AES rounds in a row" not in samples["ns"]:
        raise NotMeasured("this processor has no AES instructions, which the goals are for")
    return samples


def figures_hidden(samples: Samples) -> list[Figure]:
    ns: dict[str, list[float]] = samples["ns"]

    def figure(subject: str, floor: str, goal: float) -> Figure:
        detail = f"{ratio(ns[subject], ns[floor]):.2f} x {floor} ({median(ns[floor]):.1f} ns); {spread(ns[subject])}"
        return Figure(subject, median(ns[subject]), "ns", goal, detail=detail)

    alone = [figure(f"{name} bits", "AES rounds in a row", 200) for name in ("hide, 42", "reveal, 42", "hide, 63")]
    many = [figure(f"batch, {bits} bits", "AES rounds side by side", 40) for bits in (42, 63, 84)]
    return alone + many


# ------------------------------------------------------------------------------------------------ standard ids


def measure_standard(setting: Setting) -> Samples:
    samples: Samples = json.loads(run(setting.program, "standard", str(setting.rounds)))
    return samples


def figures_standard(samples: Samples) -> list[Figure]:
    ns: dict[str, list[float]] = samples["ns"]
    floor = "clock + compare-and-set"

    def figure(subject: str, goal: float | None) -> Figure:
        detail = f"{ratio(ns[subject], ns[floor]):.2f} x {floor} ({median(ns[floor]):.1f} ns); {spread(ns[subject])}"
        return Figure(subject, median(ns[subject]), "ns", goal, detail=detail)

    names = ("uuid4", "uuid7", "ulid", "object_id")
    texts = [
        Figure(f"text, {name}", median(ns[f"text, {name}"]), "ns", goal, detail=spread(ns[f"text, {name}"]))
        for name, goal in (("base62", 15), ("crockford", None), ("uuid7", None), ("ulid", None))
    ]
    alone = [figure(name, 30 if name == "uuid7" else None) for name in names]
    alone += [figure("serial", 100), figure("serial, with a check", 100), figure("next_text by a pattern", None)]
    return alone + [figure(f"batch, {name}", None) for name in names] + texts


# ------------------------------------------------------------------------------------------------ instructions

COUNTED = (
    "fetch_add",
    "clock + compare-and-set",
    "segment next",
    "segment try_next",
    "segment next, relaxed",
    "snowflake next",
    "snowflake try_next",
    "snowflake next, relaxed",
    "segment batch",
    "snowflake batch",
)


def measure_instructions(setting: Setting) -> Samples:
    if shutil.which("valgrind") is None:
        raise NotMeasured("valgrind is not installed; install it to have instructions counted")

    def collected(subject: str, times: int) -> int:
        command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", setting.program]
        done = subprocess.run([*command, "count", subject, str(times)], capture_output=True, text=True, check=True)
        found = re.search(r"Collected : (\d+)", done.stderr)
        if found is None:
            raise NotMeasured("callgrind printed no count")
        return int(found[1])

    # The difference of two runs: what a program does before and after its loop cancels out.
    return {subject: (collected(subject, 11_000) - collected(subject, 1_000)) / 10_000 for subject in COUNTED}


def figures_instructions(samples: Samples) -> list[Figure]:
    return [
        Figure(
            f"{name}, its loop included",
            count / (1024 if name.endswith("batch") else 1),
            "instructions",
            detail="an id; the kernel's clock page is not counted" if name.startswith(("snowflake", "clock")) else "",
        )
        for name, count in samples.items()
    ]


# ----------------------------------------------------------------------------------------------------- threads


def measure_threads(setting: Setting) -> Samples:
    samples: Samples = json.loads(run(setting.program, "threads", "7" if setting.quick else "9"))
    return samples


def figures_threads(samples: Samples) -> list[Figure]:
    rates: dict[str, dict[str, list[float]]] = samples["ids_per_second"]
    most = list(rates["fetch_add"])[-1]
    within_cores = [n for n in rates["fetch_add"] if int(n) <= samples["cores"]][-1]

    def strict(kind: str, floor: str) -> Figure:
        mine, theirs = rates[f"{kind} strict"][most], rates[floor][most]
        detail = f"{median(mine) / 1e6:.1f} M ids/s / {median(theirs) / 1e6:.1f} M"
        return Figure(f"{most} threads, {kind} strict / shared {floor}", ratio(mine, theirs), "x", 1.0, True, detail)

    def relaxed(kind: str) -> Figure:
        one, many = rates[f"{kind} relaxed"]["1"], rates[f"{kind} relaxed"][within_cores]
        share = ratio(many, one) / int(within_cores)
        detail = f"{median(many) / 1e6:.1f} M ids/s / ({within_cores} x {median(one) / 1e6:.1f} M)"
        return Figure(f"{within_cores} threads, {kind} relaxed / threads x one", share, "x", 0.9, True, detail)

    return [
        strict("segment", "fetch_add"),
        strict("snowflake", "time-ordered counter"),
        relaxed("segment"),
        relaxed("snowflake"),
    ]


def plots_threads(samples: Samples) -> dict[str, str]:
    rates: dict[str, dict[str, list[float]]] = samples["ids_per_second"]
    series = {name: [median(rounds) / 1e6 for rounds in by_size.values()] for name, by_size in rates.items()}
    sizes = list(rates["fetch_add"])
    title = f"Threads on one generator, {samples['cores']} cores"
    return {"threads": svg.lines(title, sizes, series, "M ids/s")}


# ------------------------------------------------------------------------------------------------------ owners


def measure_routes(setting: Setting) -> Samples:
    samples: Samples = json.loads(run(setting.program, "routes", str(setting.rounds)))
    return samples


def figures_routes(samples: Samples) -> list[Figure]:
    ns: dict[str, list[float]] = samples["ns"]
    figures = []
    for name, floor in (
        ("id, 64 ranges", "array behind a call"),
        ("id, 4096 ranges", "array behind a call"),
        ("node, 64 ranges", "array behind a call"),
        ("owner of 16 bytes", "XXH64 of 16 bytes"),
        ("batch, 64 ranges", "array in a loop"),
        ("batch, 4096 ranges", "array in a loop"),
        ("map, 64 ranges", "array behind a call"),
    ):
        each = f"{median(ns[name]):.2f} ns / {median(ns[floor]):.2f} ns"
        figures.append(Figure(f"{name} / ({floor})", ratio(ns[name], ns[floor]), "x", detail=each))
    figures.append(Figure("one lookup by id, 64 ranges", median(ns["id, 64 ranges"]), "ns", 10))
    return figures


def measure_owners(setting: Setting) -> Samples:
    samples: Samples = json.loads(run(setting.program, "owners", str(setting.rounds)))
    return samples


def figures_owners(samples: Samples) -> list[Figure]:
    ns: dict[str, list[float]] = samples["ns"]
    threads = int(samples["threads"])
    floor = "XXH64 + compare-and-set"
    figures = []
    for name in (
        "next_for, 16 bytes",
        "next_for_int",
        "batch, one owner",
        "batch, an owner each",
        "batch, an integer each",
    ):
        each = f"{median(ns[name]):.2f} ns / {median(ns[floor]):.2f} ns"
        figures.append(Figure(f"{name} / ({floor})", ratio(ns[name], ns[floor]), "x", detail=each))
    rate = 1e3 / median(ns["next_for, 16 bytes"])
    figures.append(Figure("ids per second for owners of 16 bytes, one thread", rate, "M", 20, True))
    for name, many in samples["many"].items():
        one = samples["one"][name]
        detail = f"{median(many) / 1e6:.1f} M ids/s / ({threads} x {median(one) / 1e6:.1f} M)"
        share = ratio(many, one) / threads
        if name == "nothing shared":
            figures.append(Figure(f"{threads} threads with {name} / threads x one", share, "x", detail=detail))
            continue
        goal = 0.9 if name == "owners of its own" else None
        figures.append(Figure(f"{threads} threads, each for {name} / threads x one", share, "x", goal, True, detail))
    return figures


# --------------------------------------------------------------------------------------------------------- cap


def measure_cap(setting: Setting) -> Samples:
    samples: Samples = json.loads(run(setting.program, "cap", "3" if setting.quick else "7"))
    return samples


def figures_cap(samples: Samples) -> list[Figure]:
    figures = []
    for where, beside in (("quiet", ""), ("crowded", ", beside two busy processes a processor")):
        found = samples[where]
        share = {name: [100 * value for value in rows["share_of_cap"]] for name, rows in found.items()}
        cpu = {name: 100 * median(rows["cpu_share"]) for name, rows in found.items()}
        waiters = (
            ("asleep", "sleeps until the tick"),
            ("early", "wakes up 150 us before it"),
            ("awake", "never sleeps"),
        )
        for name, how in waiters:
            detail = f"the machine itself: {cpu[name]:.0f} % of a core; rounds: {spread(share[name])}"
            figures.append(
                Figure(f"ticks that a thread sees that {how}{beside}", median(share[name]), "%", detail=detail)
            )
        for call in ("next", "batch"):
            # On a crowded machine: of what a thread gets that never sleeps.
            goal = CAP_GOAL if where == "quiet" else 0.99 * median(share["awake"])
            detail = (
                f"{cpu[call]:.0f} % of a core, {median(found[call]['cpu_ns_per_id']):.1f} ns an id; "
                f"rounds: {spread(share[call])}"
            )
            figures.append(
                Figure(f"C {call}{beside}: share of 4096 ids/ms", median(share[call]), "%", goal, True, detail)
            )
    return figures


# ------------------------------------------------------------------------------------------------------ refill


def measure_refill(setting: Setting) -> Samples:
    return in_folder(setting, "refill", "FOLDER", "3" if setting.quick else "10")


def figures_refill(samples: Samples) -> list[Figure]:
    figures = []
    floor = samples["fetch_add"]
    for name, row in samples.items():
        rate = f"{row['ids_per_second'] / 1e6:.2f} M ids/s"
        if "store_waits" in row:
            detail = f"{rate}, {number(row['refills'])} refills, the slowest in {row['refill_ms_max']:.1f} ms"
            figures.append(Figure(f"{name}: calls that waited for the store", row["store_waits"], "", 0, detail=detail))
        for key, label in (("p50", "p50"), ("p999", "p99.9"), ("p9999", "p99.99"), ("max", "max")):
            beside = "" if row is floor else f"fetch_add, paced and timed alike: {number(floor[key])} ns"
            figures.append(Figure(f"{name}: {label}", row[key], "ns", detail=beside or f"{rate}; the machine itself"))
    return figures


def plots_refill(samples: Samples) -> dict[str, str]:
    keys = ("p50", "p99", "p999", "p9999", "max")
    series = {name: [row[key] for key in keys] for name, row in samples.items()}
    labels = ("p50", "p99", "p99.9", "p99.99", "max")
    return {"refill": svg.lines("One call at 5 M ids/s, during refills", labels, series, "ns", True)}


# --------------------------------------------------------------------------------------------------- footprint


def measure_footprint(setting: Setting) -> Samples:
    return in_folder(setting, "footprint", "FOLDER", str(setting.rounds))


def figures_footprint(samples: Samples) -> list[Figure]:
    figures = []
    floor = samples["create_ms"]["write and fsync"]
    for name, ms in samples["create_ms"].items():
        if ms is floor:
            continue
        detail = f"{spread(ms)}; 4 KiB written and synced beside it: {median(floor):.2f} ms"
        figures.append(Figure(f"create, {name}", median(ms), "ms", 5.0, detail=detail))
    for name, size in samples["bytes"].items():
        figures.append(
            Figure(f"memory of a generator, {name}", size / 1024, "KiB", 64, detail="private memory of many")
        )
    return figures


# ----------------------------------------------------------------------------------------------------- library


def measure_library(setting: Setting) -> Samples:
    library = setting.build / "lib" / "libidgen.so"
    with tempfile.TemporaryDirectory() as folder:
        stripped = Path(folder) / "libidgen.so"
        run("strip", "-o", stripped, library)
        size = os.path.getsize(stripped)
    needed = re.findall(r"\(NEEDED\).*\[(.+)\]", run("readelf", "-dW", library))
    return {"bytes": size, "needed": needed}


def figures_library(samples: Samples) -> list[Figure]:
    foreign = sorted(set(samples["needed"]) - ALLOWED_LIBRARIES)
    return [
        Figure("libidgen.so, stripped", samples["bytes"] / 1e6, "MB", 0.8),
        Figure(
            "libraries needed beyond libc, libstdc++, libgcc, libm and SQLite",
            len(foreign),
            "",
            0,
            detail="needed: " + ", ".join(samples["needed"]),
        ),
    ]
