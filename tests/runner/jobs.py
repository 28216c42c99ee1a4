"""Jobs: commands of the project that test something or build what others test; how several run at once."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from results import FORMATS, Format, Result

ROOT = Path(__file__).resolve().parents[2]
LOGS = ROOT / "build" / "log" / "jobs"
CORES = len(os.sched_getaffinity(0))
LONGEST_S = 2700  # a job that takes longer does not end


@dataclass
class Job:
    name: str  # PART/WHAT
    command: list[str]
    format: str
    needs: list[str] = field(default_factory=list)  # names of jobs
    cores: float = 1.0  # how much of the machine it takes; all: nothing runs beside it
    seconds: float = 10.0  # about how long: the longest begins first
    env: dict[str, str] = field(default_factory=dict)
    report: Path = Path("/nonexistent")  # what its test runner writes, if its format reads that
    again: Callable[[list[Result]], list[str]] | None = None  # the command that runs these tests alone
    then: Callable[[Job], list[Result]] | None = None  # what is checked when all of it has passed
    can_run_again: bool = True  # False: what fails cannot depend on time
    setup: str = ""  # what scripts/setup must have installed
    targets: list[str] = field(default_factory=list)  # what of build/tests it needs; none: all of it
    comes_later: bool = False  # than what `make test` runs
    one_at_a_time: bool = False  # of its part
    silence_s: float = 0  # how long it may print nothing, where that is not its format's

    results: list[Result] = field(default_factory=list)
    took: float = 0.0
    state: str = "waits"  # runs, done, not run

    @property
    def part(self) -> str:
        return self.name.split("/")[0]

    @property
    def log(self) -> Path:
        return LOGS / f"{self.name.replace('/', '-')}.log"

    @property
    def failed(self) -> list[Result]:
        return [result for result in self.results if result.status == "failed"]


class Running:
    """One job's process, with all that it starts."""

    def __init__(self, job: Job, command: list[str], log: Path, patience: float):
        self.job = job
        self.log = log
        self.limit_s = (job.silence_s or FORMATS[job.format].silence_s) * patience
        self.longest_s = LONGEST_S * patience
        log.parent.mkdir(parents=True, exist_ok=True)
        if job.report.is_file():
            job.report.unlink()  # not to be taken for this run's
        self.began = self.last_word = time.monotonic()
        self.size = 0
        self.stuck = ""
        environment = {**os.environ, **job.env}
        # A tool ends one hung test before the runner ends them all.
        words = {"{TMPDIR}": environment.get("TMPDIR", "/tmp"), "{TEST_SECONDS}": str(round(0.7 * self.limit_s))}
        with log.open("wb") as file:
            self.process = subprocess.Popen(
                [re.sub("{[A-Z_]+}", lambda found: words.get(found[0], found[0]), word) for word in command],
                cwd=ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def is_over(self) -> bool:
        if self.process.poll() is not None:
            return True
        size = self.log.stat().st_size
        now = time.monotonic()
        if size != self.size:
            self.size, self.last_word = size, now
        if now - self.last_word > self.limit_s or now - self.began > self.longest_s:
            said = subprocess.run(
                ["scripts/stuck", str(self.process.pid)], cwd=ROOT, capture_output=True, text=True, check=False
            )
            self.stuck = f"no output for {now - self.last_word:.0f} s, {now - self.began:.0f} s in all; terminated\n"
            self.stuck += said.stdout
            self.end()
        return False

    def signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def end(self) -> None:
        """Servers that tests have started are stopped by what started them, if it is given the time."""
        self.signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(15)
        self.signal(signal.SIGKILL)
        self.process.wait()

    def results(self) -> list[Result]:
        """And nothing that it started goes on."""
        self.signal(signal.SIGKILL)
        text = self.log.read_text(errors="replace")
        kind: Format = FORMATS[self.job.format]
        name, status = self.job.name, self.process.returncode
        try:
            found = list(kind.parse(text, self.job.report))
        except Exception as error:  # an unexpected report fails this job alone
            found = [Result(name, "failed", f"CRASHED: its output is not understood: {error!r}\n{text[-3000:]}")]
        if self.stuck:
            found.append(Result(f"{name} does not end", "failed", f"CRASHED: {self.stuck}{text[-3000:]}"))
        elif status not in kind.statuses:
            how = f"by signal {-status}" if status < 0 else f"with status {status}"
            mark = "" if kind.statuses == (0,) else "CRASHED: "
            found.append(Result(name, "failed", f"{mark}it ended {how}:\n{text[-6000:]}"))
        elif status != 0 and not any(result.status == "failed" for result in found):
            found.append(Result(name, "failed", f"CRASHED: it failed without naming a test:\n{text[-6000:]}"))
        elif self.job.format != "build" and all(result.status == "skipped" for result in found):
            found.append(Result(name, "failed", f"no test passed:\n{text[-2000:]}"))
        return found


def ready(job: Job, jobs: dict[str, Job]) -> bool:
    return all(jobs[name].state == "done" for name in job.needs)


def run(all_jobs: list[Job], told: Callable[[Job], None], patience: float) -> None:
    """Runs the jobs side by side, as many as the machine has cores for, the longest first. One that fails stops only
    those that need it."""
    jobs = {job.name: job for job in all_jobs}
    running: list[Running] = []
    try:
        while True:
            for each in [each for each in running if each.is_over()]:
                running.remove(each)
                job = each.job
                job.results = each.results()
                if job.then and not job.failed:
                    job.results += job.then(job)
                job.took = time.monotonic() - each.began
                job.state = "failed" if job.format == "build" and job.failed else "done"
                told(job)
            for job in jobs.values():
                if job.state == "waits" and any(jobs[name].state in ("failed", "not run") for name in job.needs):
                    job.state = "not run"
                    told(job)
            waiting = [job for job in jobs.values() if job.state == "waits" and ready(job, jobs)]
            if not waiting and not running:
                return
            for job in sorted(waiting, key=lambda job: (job.comes_later, -job.seconds)):
                if job.one_at_a_time and any(each.job.part == job.part for each in running):
                    continue
                used = sum(each.job.cores for each in running)
                if not running or used + job.cores <= CORES + 0.01:
                    job.state = "runs"
                    try:
                        running.append(Running(job, job.command, job.log, patience))
                    except OSError as error:
                        job.state, job.results = "failed", [Result(job.name, "failed", f"CRASHED: {error}")]
                        told(job)
                elif job.format == "build":
                    break  # it waits for the whole machine, which it would never get
            time.sleep(0.05)
    finally:
        for each in running:
            each.end()


def run_again(job: Job, failed: list[Result], number: int, patience: float) -> set[str]:
    """The names of those that pass when they run alone, in a run that ends well."""
    log = job.log.with_suffix(f".again-{number}.log")
    running = Running(job, job.again(failed), log, patience)
    try:
        while not running.is_over():
            time.sleep(0.05)
    finally:
        running.end()
    results = running.results()
    is_bad = running.process.returncode != 0 or any(result.status == "failed" for result in results)
    return set() if is_bad else {result.name for result in results if result.status == "passed"}


def say(text: str = "") -> None:
    print(text)
    sys.stdout.flush()
