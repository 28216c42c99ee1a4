"""Measures, and writes build/bench/report.md with its plots.

    bench/run [--quick] [PART...]

Each part leaves its samples in build/bench/samples/PART.json. The report uses all samples that exist, and says why the
other parts have none. The exit status is 1 if a requested part could not be measured. A missed goal is printed, but is
not an error.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import machine
import parts_core as core
import parts_languages as languages
import parts_stores as stores
import svg
from figures import Figure
from parts_core import NotMeasured, Samples, Setting


@dataclass(frozen=True)
class Part:
    name: str
    title: str
    command: str
    measure: Callable[[Setting], Samples]
    figures: Callable[[Samples], list[Figure]]
    plots: Callable[[Samples], dict[str, str]] = lambda _: {}
    note: str = ""


PARTS = (
    Part(
        "speed",
        "One call in C, beside its floors",
        "idgen-bench speed ROUNDS",
        core.measure_speed,
        core.figures_speed,
        note="CPU time of the calling thread, memory store, 22 bits of sequence (24 for batches), so that neither a "
        "disk nor the format's cap is measured. Ratios are taken within a round.",
    ),
    Part(
        "instructions",
        "Instructions of one call",
        "valgrind --tool=callgrind idgen-bench count SUBJECT TIMES",
        core.measure_instructions,
        core.figures_instructions,
        note="The same on a busy machine as on a quiet one.",
    ),
    Part(
        "cap",
        "41/10/12 at the cap, in C",
        "idgen-bench cap ROUNDS",
        core.measure_cap,
        core.figures_cap,
        note="4096 ids per millisecond is what the format allows, not what the code can do.",
    ),
    Part(
        "threads",
        "Threads",
        "idgen-bench threads ROUNDS",
        core.measure_threads,
        core.figures_threads,
        core.plots_threads,
    ),
    Part(
        "routes",
        "Shards of ids",
        "idgen-bench routes ROUNDS",
        core.measure_routes,
        core.figures_routes,
        note="A ring of 2^16 nodes and 64 shards. The floor reads an array with an entry for each node. The map is "
        "what a ceiling entry costs in a balanced tree.",
    ),
    Part(
        "owners",
        "Ids that have an owner",
        "idgen-bench owners ROUNDS",
        core.measure_owners,
        core.figures_owners,
        note="Owners of 16 bytes, hashed twice: XXH64 is half of the hash. Threads that work for shards of their own "
        "have counters of their own; threads that work for any owner meet on all of them, unless order = relaxed.",
    ),
    Part(
        "refill",
        "Refills behind the caller's back, at 5 M ids/s",
        "idgen-bench refill FOLDER SECONDS",
        core.measure_refill,
        core.figures_refill,
        core.plots_refill,
        note="One thread, paced; segments of 1 000 000 where nothing else is said and windows of 1 s, warm. Every call "
        "is timed (a reading of the clock is in each figure). A bare fetch_add, paced and timed in the same way, shows "
        "what the machine itself does to a call.",
    ),
    Part(
        "footprint",
        "Creating, and memory",
        "idgen-bench footprint FOLDER ROUNDS",
        core.measure_footprint,
        core.figures_footprint,
    ),
    Part(
        "stores",
        "A warm segment by its store, and rest",
        "idgen-bench stores ROUNDS SECONDS MODULES NAME=URL...",
        stores.measure_stores,
        stores.figures_stores,
        note="One call of idgen_next on one thread, segments of 1 000 000 000 from servers that were started for it.",
    ),
    Part(
        "leases",
        "Leased workers",
        "idgen-bench leases SECONDS MODULES NAME=URL...",
        stores.measure_leases,
        stores.figures_leases,
        note="worker = auto, window = worker_lease = 1 s, so that it is renewed three times a second; 5 M ids/s from "
        "one thread, each call timed.",
    ),
    Part(
        "hidden",
        "Hidden ids, in C",
        "idgen-bench hidden ROUNDS",
        core.measure_hidden,
        core.figures_hidden,
        note="The floor is 100 AES rounds of the processor, which FF1 cannot do without: in a row, as for one id, or "
        "for eight ids side by side.",
    ),
    Part(
        "standard",
        "UUIDs, ULIDs and ObjectIds, texts of ids, and serials, in C",
        "idgen-bench standard ROUNDS",
        core.measure_standard,
        core.figures_standard,
    ),
    Part("library", "The library", "strip, readelf -d", core.measure_library, core.figures_library),
    Part(
        "python",
        "Python",
        "python python/bench/bench_idgen.py --core LIBRARY",
        languages.measure_python,
        languages.figures_python,
    ),
    Part("java", "Java", "java/jmh/run ROUNDS", languages.measure_java, languages.figures_java),
    Part("go", "Go", "go test -bench . ./go, a round a process", languages.measure_go, languages.figures_go),
    Part(
        "peers",
        "Beside other libraries",
        "bench/peers/ids.py ROUNDS, bench/peers/go ROUNDS, bench/peers/java ROUNDS",
        languages.measure_peers,
        languages.figures_peers,
        note="One process a language, in which all take turns. What uuid-utils and python-ulid make is of their own "
        "types, but for uuid-utils, compat: that makes uuid.UUID, as idgen does. With its pool, google/uuid gives "
        "random bits of one read to several ids. Python's own uuid has uuid7 from 3.14 on. Java's UUIDs are in "
        "the part java. What others give up: CosId's segments are counted in memory here; MyBatis-Plus reads no clock "
        "but a time that a thread refreshes, so it may run ahead, or repeat after a restart; hutool, CosId, yitter, "
        "Agrona, tsid-creator and bwmarrin keep nothing of the time they have used, so a restart after a clock was set "
        "back repeats ids, and nothing here keeps a second process from the same worker.",
    ),
)


CALM_SECONDS = 150  # longer than the load average needs to forget; after that the figures are marked


def measure(part: Part, setting: Setting) -> bool:
    print(f"  measuring {part.name} ... ", end="", flush=True)
    if not setting.quick:
        machine.wait_until_quiet(CALM_SECONDS)
    before = machine.describe()
    try:
        samples, reason = part.measure(setting), None
    except (NotMeasured, OSError, ValueError) as error:
        samples, reason = {}, str(error)
    content = {"machine": before, "samples": samples, "not_measured": reason}
    (setting.samples / f"{part.name}.json").write_text(json.dumps(content, indent=1) + "\n")
    print("done" if reason is None else f"not measured: {reason}", flush=True)
    return reason is None


def table(figures: list[Figure]) -> list[str]:
    rows = ["| figure | value | goal | | made of |", "|---|--:|--:|---|---|"]
    rows += [f"| {f.name} | {f.value_text} | {f.goal_text} | {f.verdict} | {f.detail} |" for f in figures]
    return rows


def busy(taken_on: dict[str, Any]) -> str:
    return f"The machine was busy: load average {taken_on['load']:.1f} on {taken_on['cores']} cores."


def section(part: Part, out: Path, content: dict[str, Any]) -> tuple[list[str], list[Figure]]:
    text = [f"## {part.title}", "", f"`{part.command}`", ""]
    if part.note:
        text += [part.note, ""]
    if content["not_measured"] is not None:
        return [*text, f"**Not measured:** {content['not_measured']}", ""], []
    samples, taken_on = content["samples"], content["machine"]
    if machine.load_per_core(taken_on) > machine.BUSY:
        text += [f"> {busy(taken_on)} Not to be quoted.", ""]
    figures = part.figures(samples)
    text += [*table(figures), ""]
    for name, plot in part.plots(samples).items():
        (out / f"{name}.svg").write_text(plot)
        text += [f"![{part.title}]({name}.svg)", ""]
    return text, figures


def assemble(setting: Setting) -> Path:
    out = setting.samples.parent
    sections: list[str] = []
    with_goals: list[Figure] = []
    missing: list[str] = []
    taken_on: dict[str, Any] = {}
    for part in PARTS:
        path = setting.samples / f"{part.name}.json"
        content: dict[str, Any] = {"not_measured": f"`bench/run {part.name}` was not run"}
        if path.exists():
            content = json.loads(path.read_text())
            taken_on = taken_on or content["machine"]
        text, figures = section(part, out, content)
        sections += text
        with_goals += [figure for figure in figures if figure.goal is not None]
        if content["not_measured"] is not None:
            missing.append(part.name)

    missed = [figure for figure in with_goals if not figure.met]
    head = ["# What idgen costs", ""]
    head += [f"- {key}: {value}" for key, value in taken_on.items()]
    if taken_on and machine.load_per_core(taken_on) > machine.BUSY:
        head += ["", f"> **{busy(taken_on)}** Do not quote these figures."]
    head += ["", f"{len(with_goals) - len(missed)} of {len(with_goals)} goals met, {len(missed)} missed."]
    if missing:
        head += [f"Parts without figures: {', '.join(missing)}."]
    head += [
        "",
        "`docs/performance.md` says how to read it. x: a ratio to the floor that is named, of the same run.",
        "",
    ]
    if with_goals:
        (out / "goals.svg").write_text(svg.bars("Share of its goal that each figure takes", with_goals))
        head += ["![goals](goals.svg)", ""]
    if missed:
        head += ["## Missed", "", *table(missed), ""]
    report = out / "report.md"
    report.write_text("\n".join(head + sections))
    return report


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = [part.name for part in PARTS]
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(names)}; all if none is named")
    parser.add_argument("--build", type=Path, default=Path(__file__).resolve().parents[1] / "build")
    parser.add_argument("--quick", action="store_true", help="fewer rounds: to see that it runs, not to quote")
    parser.add_argument("--only-report", action="store_true", help="measure nothing, use the existing samples")
    arguments = parser.parse_args()
    if unknown := set(arguments.parts) - set(names):
        parser.error(f"there is no part {', '.join(sorted(unknown))}; there are: {', '.join(names)}")
    samples = arguments.build / "bench" / "samples"
    samples.mkdir(parents=True, exist_ok=True)
    setting = Setting(arguments.build, samples, arguments.quick)

    wanted = [] if arguments.only_report else [p for p in PARTS if not arguments.parts or p.name in arguments.parts]
    results = [measure(part, setting) for part in wanted]
    print(f"  {assemble(setting)}")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
