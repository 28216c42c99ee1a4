"""Which parts a change needs (tests/parts.tsv), which of the rest are this submission's turn, and what waits for the
next submission because it would take CI too long."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from jobs import ROOT, Job
from parts import BUILD_S, REST

TABLE = ROOT / "tests/parts.tsv"
# The commit whose submission was accepted last, and the units that its changes needed and that wait, one per line.
# Everything after the commit is new. The changes of the file count the submissions.
ACCEPTED = ROOT / "tests/accepted"
SLICES = 8
FILES = ("modules", "recipes", "newest", "programs", "packages")  # whose jobs have turns of their own
# Core seconds for what CI runs besides `make test`: half an hour on the two cores that the jobs' seconds were measured
# on. What does not fit waits, and is among the first that the next submission runs.
BUDGET_S = 2400
# The same where only documents have changed. The turn waits too.
DOCUMENTS_S = 300


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def table() -> list[tuple[str, list[str], list[str]]]:
    """(glob, what `make check` runs, what CI runs besides `make test`) of each row."""
    rows = []
    for line in TABLE.read_text().splitlines():
        if line and not line.startswith("#"):
            glob, quick, more = line.split("\t")
            rows.append((glob, quick.split(), more.split()))
    return rows


def row_of(path: str) -> tuple[str, list[str], list[str]] | None:
    """The first row whose glob matches; * matches / too."""
    return next((row for row in table() if fnmatchcase(path, row[0])), None)


def wanted(names: list[str], path: str) -> list[str]:
    """Names of a row for a path: modules/{file} is the path's own file of tests, if it is still there."""
    stem = Path(path).stem.removeprefix("test_")
    is_there = (ROOT / path).exists()
    return [name.replace("{file}", stem) for name in names if name != "-" and (is_there or "{file}" not in name)]


def changed_since(base: str) -> list[str]:
    return git("diff", "--name-only", "--no-renames", base, "HEAD").split("\n")[:-1]


def changed_here() -> list[str]:
    """What the working tree has that HEAD has not."""
    untracked = git("ls-files", "--others", "--exclude-standard").split("\n")[:-1]
    return git("diff", "--name-only", "--no-renames", "HEAD").split("\n")[:-1] + untracked


def base() -> str | None:
    """The accepted commit, if HEAD grew from it."""
    try:
        commit = ACCEPTED.read_text().split()[0]
        git("merge-base", "--is-ancestor", commit, "HEAD")
    except (OSError, IndexError, subprocess.CalledProcessError):
        return None
    return commit


def waiting() -> list[str]:
    """The units that an earlier submission left to the next one, those that wait longest first."""
    return ACCEPTED.read_text().split()[1:]


def accept(left: list[str]) -> None:
    """Writes that HEAD was accepted, and what its changes still need."""
    ACCEPTED.write_text("\n".join([git("rev-parse", "HEAD").strip(), *left]) + "\n")


def by_change(paths: list[str], jobs: list[Job]) -> dict[str, list[str]]:
    """Names of units, each with the paths that need it: first those with changed tests, then those that most paths
    need, and those that as many need as their row names them. A file of tests needs every job that runs it."""
    needed: dict[str, dict[str, None]] = {}
    changed = set()
    rest = [job for job in jobs if job.part in REST]
    for path in paths:
        row = row_of(path)
        running = [job for job in rest if path in job.command]
        changed |= {unit_of(job) for job in running if job.part != "newest"}
        named = [job for name in (wanted(row[2], path) if row else REST) for job in rest if matches(job, name)]
        for job in [*named, *running]:
            needed.setdefault(unit_of(job), {})[path] = None
    return {
        unit: list(because)
        for unit, because in sorted(needed.items(), key=lambda item: (item[0] not in changed, -len(item[1])))
    }


def turn() -> int:
    """0 outside of a repository, such as an unpacked archive."""
    try:
        return int(git("rev-list", "--count", "HEAD", "--", str(ACCEPTED.relative_to(ROOT)))) % SLICES
    except (OSError, subprocess.CalledProcessError):
        return 0


def unit_of(job: Job) -> str:
    """What is built for one job of a part without turns of its jobs' own serves all of its jobs."""
    return job.name if job.part in FILES else job.part


def cost_of(jobs: list[Job], built: set[str]) -> float:
    """In core seconds, with the builds that are not among those that are built anyway."""
    builds = {name for job in jobs for name in job.needs} - built
    return sum(job.seconds * min(job.cores, 2) for job in jobs) + sum(BUILD_S.get(name, 0) for name in builds)


def units_of(jobs: list[Job]) -> dict[str, list[Job]]:
    units: dict[str, list[Job]] = {}
    for job in jobs:
        if job.part in REST:
            units.setdefault(unit_of(job), []).append(job)
    return units


def slices(jobs: list[Job]) -> dict[str, int]:
    """The slice of each unit of the rest: the longest first, each into the one that takes the least time so far."""
    cost = {unit: cost_of(own, {"build/hosts"}) for unit, own in units_of(jobs).items()}
    totals = [0.0] * SLICES
    found = {}
    for unit in sorted(cost, key=lambda unit: (-cost[unit], unit)):
        found[unit] = min(range(SLICES), key=lambda number: totals[number])
        totals[found[unit]] += cost[unit]
    return found


@dataclass
class Choice:
    """What CI runs of the rest, by unit."""

    due: list[str]  # by turn
    taken: list[str]  # of what earlier submissions left, and of what changes need
    left: list[str]  # what is due or needed and waits for the next submission
    cost_s: float


def are_documents(paths: list[str]) -> bool:
    return all(path.endswith(".md") or ROOT / path == ACCEPTED for path in paths)


def choose(jobs: list[Job], needed: list[str], number: int, *, is_code: bool = True) -> Choice:
    """As much as the budget allows of the slice of that number and of what is needed, in that order; of documents, in
    the other order."""
    units = units_of(jobs)
    own = [unit for unit, slice_ in slices(jobs).items() if slice_ == number]
    found = Choice([], [], [], 0.0)
    built: set[str] = set()
    for unit in dict.fromkeys([*own, *needed] if is_code else [*needed, *own]):
        if unit not in units:
            continue
        cost_s = found.cost_s + cost_of(units[unit], built)
        if cost_s > (BUDGET_S if is_code else DOCUMENTS_S):
            found.left.append(unit)
            continue
        (found.due if unit in own else found.taken).append(unit)
        found.cost_s = cost_s
        built.update(name for job in units[unit] for name in job.needs)
    return found


def matches(job: Job, name: str) -> bool:
    """cpp: the whole part; cpp/store: what begins so."""
    return job.part == name or job.name == name or ("/" in name and job.name.startswith(name))
