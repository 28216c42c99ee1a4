"""Jobs: commands of the project that test something or build what others test; how they run beside one another."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from results import FORMATS, Result

ROOT = Path(__file__).resolve().parents[2]
LOGS = ROOT / "build" / "log"
CORES = os.cpu_count() or 2
# A command that prints nothing for so long waits for what will not come. Tests of Python, Java and Go have deadlines of
# their own, which end earlier, and let the others go on; GoogleTest has none.
SILENCE_S = {"gtest": 200}
OTHERS_SILENCE_S = 400


@dataclass
class Job:
    name: str  # PART/WHAT
    command: list[str]
    format: str
    needs: list[str] = field(default_factory=list)  # names of jobs
    cores: float = 1.0  # how much of the machine it takes; all: nothing runs beside it
    seconds: float = 10.0  # about how long: the longest begins first
    env: dict[str, str] = field(default_factory=dict)
    report: Path = Path()  # what its runner writes, if its format reads that
    again: Callable[[list[Result]], list[str]] | None = None  # the command that runs these tests alone
    then: Callable[[Job], list[Result]] | None = None  # what is checked when it is over
    targets: list[str] = field(default_factory=list)  # what of build/tests it needs; none: all of it

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
        self.patience = patience
        log.parent.mkdir(parents=True, exist_ok=True)
        self.file = log.open("wb")
        self.began = self.last_word = time.monotonic()
        self.size = 0
        self.stuck = ""
        self.process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, **job.env},
            stdin=subprocess.DEVNULL,
            stdout=self.file,
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
        elif now - self.last_word > SILENCE_S.get(self.job.format, OTHERS_SILENCE_S) * self.patience:
            said = subprocess.run(
                ["scripts/stuck", str(self.process.pid)], cwd=ROOT, capture_output=True, text=True, check=False
            )
            self.stuck = f"It said nothing for {now - self.last_word:.0f} s and was ended.\n{said.stdout}"
            self.end()
        return False

    def end(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def results(self) -> list[Result]:
        """And nothing that it started goes on."""
        self.file.close()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        text = self.log.read_text(errors="replace")
        found = list(FORMATS[self.job.format](text, report=self.job.report))
        status = self.process.returncode
        if self.job.then and status == 0:
            found += self.job.then(self.job)
        if self.stuck:
            found.append(Result(f"{self.job.name} hangs", "failed", self.stuck + text[-3000:]))
        elif status != 0 and not any(result.status == "failed" for result in found):
            how = f"by signal {-status} (CRASHED)" if status < 0 else f"with status {status}"
            found.append(Result(self.job.name, "failed", f"ended {how}:\n{text[-6000:]}"))
        elif status == 0 and not found and self.job.format != "build":
            found.append(Result(self.job.name, "failed", f"ran no test:\n{text[-2000:]}"))
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
            for job in sorted(waiting, key=lambda job: -job.seconds):
                used = sum(each.job.cores for each in running)
                if not running or used + job.cores <= CORES + 0.01:
                    job.state = "runs"
                    running.append(Running(job, job.command, job.log, patience))
                elif job.format == "build":
                    break  # it waits for the whole machine, which it would never get
            time.sleep(0.05)
    finally:
        for each in running:
            each.end()


def run_again(job: Job, failed: list[Result], number: int, patience: float) -> list[Result]:
    """What these tests of the job say when they run alone."""
    command = job.again(failed) if job.again else job.command
    log = job.log.with_suffix(f".again-{number}.log")
    running = Running(job, command, log, patience)
    try:
        while not running.is_over():
            time.sleep(0.05)
    finally:
        running.end()
    results = running.results()
    return [result for result in results if result.status == "failed"]


def say(text: str = "") -> None:
    print(text)
    sys.stdout.flush()
