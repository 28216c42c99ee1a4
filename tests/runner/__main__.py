"""scripts/test and scripts/ci: see --help."""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import plan
from jobs import LOGS, ROOT, Job, Result, run, run_again, say
from parts import PARTS, REST, USUAL, builds
from results import FORMATS

FLAKY = ROOT / "tests/flaky.tsv"
AGAIN = 3  # how often a failed test is run again, alone
TOOLS_OWN = ("hsperfdata_", "pytest-of-")  # folders that the JVM and pytest keep; numbers are pytest's too
TOO_MANY = 20  # failures are no accident, and none is run again

began = time.monotonic()


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/test",
        description="Runs the tests, as many side by side as the machine has cores for. Without arguments: what"
        " `make test` runs, which tells a user that all works and a developer what a change broke.",
        epilog="PART is one of: "
        + ", ".join(PARTS)
        + ". PART/WHAT is one of its jobs, or what their names begin with: cpp/store, modules/workers.",
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help="run only these")
    parser.add_argument("--all", action="store_true", help="run everything")
    parser.add_argument("--ci", action="store_true", help="run what `make test` runs, an eighth of the rest, and as"
                        " much as fits of what the changes since the commit in tests/accepted need")  # fmt: skip
    parser.add_argument("--check", action="store_true", help="run what the changes of the working tree need first")
    parser.add_argument("--plan", action="store_true", help="say what would run, and run nothing")
    parser.add_argument("--accept", action="store_true", help="with --ci: run nothing; write into tests/accepted that"
                        " HEAD was accepted, and what its changes needed and did not fit")  # fmt: skip
    parser.add_argument("--list", action="store_true", help="list the parts")
    parser.add_argument("--changed", nargs="*", metavar="PATH", help="with --ci or --check: as if these had changed")
    options = parser.parse_args()
    if options.accept and (not options.ci or options.changed is not None):
        parser.error("--accept goes with --ci, and not with --changed")
    return options


def jobs_of(parts: list[str]) -> list[Job]:
    """CMake says which tests there are, so its trees come first."""
    for preset in ["release", *(part for part in ("asan", "tsan") if part in parts)]:
        log = LOGS / f"configure-{preset}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("wb") as out:
            done = subprocess.run(["cmake", "--preset", preset], cwd=ROOT, stdout=out, stderr=out, check=False)
        if done.returncode:
            sys.exit(f"cmake --preset {preset} failed:\n{log.read_text(errors='replace')[-4000:]}")
    jobs = [job for part in parts for job in PARTS[part].jobs(part)]
    for job in jobs:
        job.setup = PARTS[job.part].setup
    return jobs


def choose(options: argparse.Namespace) -> tuple[list[Job], list[str]]:
    """The jobs, without the builds that they need, and the lines of the plan."""
    paths = options.changed
    rows = []
    if options.check:
        paths = plan.changed_here() if paths is None else paths
        rows = sorted(
            {name for path in paths for row in [plan.row_of(path)] if row for name in plan.wanted(row[1], path)}
        )
    names = rows if options.check else options.parts or USUAL
    if unknown := {name.split("/")[0] for name in names} - set(PARTS):
        sys.exit(f"there is no part '{min(unknown)}'; there are: {', '.join(PARTS)}")
    parts = {name.split("/")[0] for name in names}
    jobs = jobs_of([part for part in PARTS if options.all or options.ci or part in parts])

    def of(names: list[str]) -> list[Job]:
        for name in names:
            if not any(plan.matches(job, name) for job in jobs):
                sys.exit(f"there is no part or job '{name}'; scripts/test --help lists them")
        return [job for job in jobs if any(plan.matches(job, name) for name in names)]

    if options.all:
        return jobs, ["Everything: " + " ".join(PARTS)]
    if options.check:
        return of(names), [f"{len(paths)} paths have changed here: {' '.join(names) or 'nothing to run'}"]
    if not options.ci:
        return of(names), []
    return choose_ci(options, jobs)


def choose_ci(options: argparse.Namespace, jobs: list[Job]) -> tuple[list[Job], list[str]]:
    said = ["Always: " + " ".join(USUAL)]
    base = plan.base()
    earlier = plan.waiting() if base and options.changed is None else []
    paths = options.changed
    if paths is not None:
        since = "as if these paths had changed"
    elif base:
        paths = plan.changed_since(base)
        since = f"the changes since {base[:9]}"
    else:
        since = "tests/accepted names no ancestor of HEAD"
    everything = {unit: ["everything"] for unit in plan.units_of(jobs)}
    needed = everything if paths is None else plan.by_change(paths, jobs)
    turn = plan.turn()
    is_code = paths is None or not plan.are_documents(paths)
    # What earlier submissions left comes first, but the changes of documents are to be tested at once.
    rest = plan.choose(jobs, [*earlier, *needed] if is_code else [*needed, *earlier], turn, is_code=is_code)
    said.append(f"By turn, slice {turn} of 0 to {plan.SLICES - 1}: {' '.join(rest.due)}")
    said.append(f"By change ({since}):")
    for unit in rest.taken:
        because = needed.get(unit, [])
        words = because[0] + (f" and {len(because) - 1} more" if len(because) > 1 else "") if because else ""
        said.append(f"  {unit}: {words}{' left by an earlier submission' if unit in earlier else ''}")
    said.append(f"Left to the next submission: {' '.join(rest.left) or 'nothing'}")
    chosen = {*rest.due, *rest.taken}
    others = Counter(unit.split("/")[0] for unit in plan.units_of(jobs) if unit not in chosen and unit not in rest.left)
    said.append("Not run, neither needed nor by turn: "
                + " ".join(f"{part} ({count} jobs)" if part in plan.FILES else part
                           for part, count in others.items()))  # fmt: skip
    said.append(f"Besides `make test`, about {rest.cost_s / 60:.0f} core minutes.")
    if options.accept:
        plan.accept(rest.left)
        said.append("Wrote tests/accepted; commit it before anything else.")
    for job in jobs:
        if job.part == "modules" and job.name in rest.due:
            job.env["IDGEN_TEST_SLICE"] = "all"  # cases too that otherwise take turns
    return [job for job in jobs if job.part in USUAL or plan.unit_of(job) in chosen], said


def with_needs(chosen: list[Job]) -> list[Job]:
    """Adds the builds that they need, and narrows these to the wanted test programs."""
    known = builds()
    needed: dict[str, Job] = {}

    def add(names: list[str]) -> None:
        for name in names:
            if name not in needed:
                needed[name] = known[name]
                add(known[name].needs)

    for job in sorted(chosen, key=lambda job: job.part in REST):
        before = set(needed)
        add(job.needs)
        job.comes_later = job.part in REST
        for name in set(needed) - before:
            needed[name].comes_later = job.comes_later
    for name in ("build/first", "build/tests"):
        users = [job for job in [*chosen, *needed.values()] if name in job.needs]
        if name in needed and all(job.targets for job in users):
            needed[name].command = [
                "ninja",
                "-C",
                "build",
                *sorted({target for job in users for target in job.targets}),
            ]
    return [*needed.values(), *chosen]


def measured_patience() -> float:
    """How much longer this machine takes than the reference for what tests wait for: processes that start, and a disk
    that writes. Between 1 and 20."""
    if given := os.environ.get("IDGEN_PATIENCE"):
        if not re.fullmatch(r"\d+(\.\d+)?", given) or not 1 <= float(given) <= 100:
            sys.exit(f"IDGEN_PATIENCE is '{given}'; a number from 1 to 100 is allowed, or none, and it is measured")
        return float(given)
    start = time.monotonic()
    for _ in range(5):
        subprocess.run([sys.executable, "-c", "import json, socket, subprocess"], check=True)
    with tempfile.TemporaryFile() as file:
        for _ in range(50):
            file.write(b"x")
            file.flush()
            os.fsync(file.fileno())
    reference_s = 0.35  # two cores of an AMD EPYC, nothing else running
    return round(min(20.0, max(1.0, (time.monotonic() - start) / reference_s)), 1)


def memory_disk(name: str) -> str | None:
    """A folder in memory, if this machine has one that holds 2 GB and runs programs."""
    shared = Path("/dev/shm")
    if not shared.is_dir() or shutil.disk_usage(shared).free < 2 << 30 or os.statvfs(shared).f_flag & os.ST_NOEXEC:
        return None
    return tempfile.mkdtemp(prefix=name, dir=shared)


def remove(folder: str) -> None:
    """A job that was ended may have left images of containers mounted there."""
    mounted = [line.split()[1] for line in Path("/proc/self/mounts").read_text().splitlines()]
    for place in sorted((place for place in mounted if place.startswith(f"{folder}/")), reverse=True):
        subprocess.run(["umount", "--lazy", place], check=False)
    shutil.rmtree(folder, ignore_errors=True)


def shared_memory() -> set[Path]:
    """What outlives the processes of libfaketime and PostgreSQL that tests kill."""
    return {path for path in Path("/dev/shm").glob("*") if re.search("faketime|PostgreSQL", path.name)}


def forget(shared: set[Path]) -> None:
    """Removes those that no process uses."""
    used = ""
    for maps in Path("/proc").glob("[0-9]*/maps"):
        with contextlib.suppress(OSError):
            used += maps.read_text(errors="replace")
    for path in shared:
        if str(path) not in used:
            path.unlink(missing_ok=True)


def told(job: Job) -> None:
    counts = Counter(result.status for result in job.results)
    at = f"[{time.monotonic() - began:5.0f} s]"
    if job.state == "not run":
        say(f"{at} {job.name:36} not run: what it needs has failed")
        return
    words = ", ".join(f"{counts[status]} {status}" for status in ("passed", "failed", "skipped") if counts[status])
    say(f"{at} {job.name:36} {words or job.state:28} {job.took:6.1f} s")
    for result in job.failed[:5]:
        say(f"          failed: {result.name}")


def rerun(jobs: list[Job], patience: float) -> list[tuple[Job, Result]]:
    """Runs failed tests again, alone. Those that pass every time are flaky: no longer among the results."""
    failed = [(job, result) for job in jobs for result in job.failed]
    doubtful = [
        (job, result)
        for job, result in failed
        if job.again and job.can_run_again and FORMATS[job.format].can_run_again and not result.is_final
    ]
    if len(failed) > TOO_MANY:
        say(f"\n{len(failed)} tests failed, too many to be flaky; none is run again.")
        return []
    flaky = []
    for job, result in doubtful:
        say(f"\n== Again, alone, {AGAIN} times: {job.part}: {result.name}")
        if all(result.name in run_again(job, [result], number, patience) for number in range(1, AGAIN + 1)):
            job.results.remove(result)
            flaky.append((job, result))
    return flaky


def note_flaky(flaky: list[tuple[Job, Result]]) -> None:
    commit = plan.git("rev-parse", "--short", "HEAD").strip()
    with FLAKY.open("a") as file:
        for job, result in flaky:
            file.write(f"{job.part}: {result.name}\t{commit}\tunknown\n")


def summary(jobs: list[Job], flaky: list[tuple[Job, Result]], temporary: list[str]) -> int:
    tested = [job for job in jobs if job.format != "build"]
    say("\n== What ran")
    for part in [*dict.fromkeys(job.part for job in tested)]:
        own = [job for job in tested if job.part == part]
        counts = Counter(result.status for job in own for result in job.results)
        counts["flaky"] = sum(job.part == part for job, _ in flaky)
        counts["not run"] = sum(job.state == "not run" for job in own)
        words = ", ".join(
            f"{counts[word]} {word}" for word in ("failed", "flaky", "skipped", "not run") if counts[word]
        )
        say(f"{part:12} {counts['passed']:5} passed{', ' + words if words else '':32} "
            f"{sum(job.took for job in own):5.0f} s   {PARTS[part].title}")  # fmt: skip
    built = ", ".join(f"{job.name.split('/')[1]} {job.took:.0f} s" for job in jobs if job.format == "build")
    say(f"builds: {built}")
    slowest = sorted(((result.seconds, f"{job.part}: {result.name}") for job in tested for result in job.results),
                     reverse=True)[:10]  # fmt: skip
    say("\n== The longest tests")
    for seconds, name in slowest:
        say(f"{seconds:7.1f} s  {name}")
    failed = [(job, result) for job in jobs for result in job.failed]
    if failed:
        say("\n== Failed")
    for job, result in failed[:40]:
        say(f"\n{job.part}: {result.name}   ({os.path.relpath(job.log, ROOT)})")
        say("    " + "\n    ".join(result.text.strip().splitlines()[-25:]))
    if temporary:
        say("\nLeft behind in the temporary folder, and removed: " + " ".join(temporary[:20]))
    if flaky:
        say("\n== Flaky: failed once, then passed three times alone. Find the cause; it is noted in tests/flaky.tsv")
        for job, result in flaky:
            say(f"flaky: {job.part}: {result.name}   ({os.path.relpath(job.log, ROOT)})")
            say("    " + "\n    ".join(result.text.strip().splitlines()[-10:]))
    counts = Counter(result.status for job in tested for result in job.results)
    bad = len(failed) + sum(job.state == "not run" for job in tested)
    skipped = f", {counts['skipped']} skipped" if counts["skipped"] else ""
    say(f"\n{time.monotonic() - began:.0f} s in all\n\n{counts['passed']} passed, {bad} failed{skipped}")
    return 1 if bad else 0


def main() -> int:
    options = arguments()
    if options.list:
        for name, part in PARTS.items():
            say(f"{name:12} {part.title}")
        return 0
    chosen, said = choose(options)
    if said:
        say("== Plan\n" + "\n".join(said))
    if options.plan or options.accept or not chosen:
        return 0
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(130))
    for purpose in dict.fromkeys(job.setup for job in chosen if job.setup):
        if subprocess.run(["scripts/setup", purpose], cwd=ROOT, check=False).returncode:
            return 1
    patience = measured_patience()
    on_disk = tempfile.mkdtemp(prefix="idgen-")
    folder = memory_disk("idgen-") or on_disk
    for each in {folder, on_disk}:
        os.chmod(each, 0o1777)  # servers run as another user
    os.environ |= {"TMPDIR": folder, "IDGEN_PATIENCE": str(patience)}
    # As scripts/lib.sh has it. A Python that pyenv has started finds pyenv's own programs first.
    os.environ["PATH"] = f"{ROOT / 'build/venv/bin'}:{os.environ['PATH']}"
    for job in chosen:
        if job.part == "recipes":
            job.env["TMPDIR"] = on_disk  # images of containers do not fit into memory
    os.environ.setdefault("IDGEN_TEST_SLICE", str(plan.turn()))  # which store a test uses that uses one in each run
    if options.all:
        os.environ["IDGEN_TEST_FULL"] = "1"  # and the long form of tests that have a short one
    say(f"\n== Run: {len(chosen)} jobs; temporary files in {folder}; patience {patience}")
    jobs = with_needs(chosen)
    flaky: list[tuple[Job, Result]] = []
    left: list[str] = []
    shared = shared_memory()
    try:
        run(jobs, told, patience)
        flaky = rerun(jobs, patience)
        left = sorted(
            path.name
            for each in {folder, on_disk}
            for path in Path(each).iterdir()
            if not (path.name.startswith(TOOLS_OWN) or path.name.isdigit())
        )
    finally:
        for each in {folder, on_disk}:
            remove(each)
        forget(shared_memory() - shared)
    if flaky:
        note_flaky(flaky)
    return summary(jobs, flaky, left)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("\nInterrupted. Finished builds are kept.")
