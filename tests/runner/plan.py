"""Which parts a change needs (tests/parts.tsv), and which of the rest are this submission's turn."""

from __future__ import annotations

import subprocess
from fnmatch import fnmatchcase
from pathlib import Path

from jobs import ROOT, Job
from parts import PARTS, REST

TABLE = ROOT / "tests/parts.tsv"
# The commit whose submission was accepted last; everything after it is new. Its changes count the submissions.
ACCEPTED = ROOT / "tests/accepted"
SLICES = 8
FILES = ("modules", "recipes", "newest")  # whose jobs are files of tests, with turns of their own


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


def by_change(paths: list[str], jobs: list[Job]) -> dict[str, list[str]]:
    """Names of parts and jobs, each with the paths that need it. A file of tests needs every job that runs it."""
    needed: dict[str, list[str]] = {}
    for path in paths:
        row = row_of(path)
        running = [job.name for job in jobs if path in job.command and job.part in REST]
        for name in [*(wanted(row[2], path) if row else REST), *running]:
            needed.setdefault(name, []).append(path)
    return needed


def turn() -> int:
    """0 outside of a repository, such as an unpacked archive."""
    try:
        return int(git("rev-list", "--count", "HEAD", "--", str(ACCEPTED.relative_to(ROOT)))) % SLICES
    except (OSError, subprocess.CalledProcessError):
        return 0


def unit_of(job: Job) -> str:
    """Files of tests have turns of their own; what is built for one job of another part serves all of its jobs."""
    return job.name if job.part in FILES else job.part


def slices(jobs: list[Job]) -> dict[str, int]:
    """The slice of each unit of the rest: the longest first, each into the one that takes the least time so far."""
    cost: dict[str, float] = {}
    for job in jobs:
        if job.part in REST:
            unit = unit_of(job)
            cost[unit] = cost.get(unit, PARTS[job.part].build_s) + job.seconds * job.cores
    totals = [0.0] * SLICES
    found = {}
    for unit in sorted(cost, key=lambda unit: (-cost[unit], unit)):
        found[unit] = min(range(SLICES), key=lambda number: totals[number])
        totals[found[unit]] += cost[unit]
    return found


def matches(job: Job, name: str) -> bool:
    """cpp: the whole part; cpp/store: what begins so."""
    return job.part == name or job.name == name or ("/" in name and job.name.startswith(name))
