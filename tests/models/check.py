"""Checks the models with Spin: python tests/models/check.py [RUN]. See docs/models.md.

Each line of runs.txt is a run: what must come of it, the model, what is defined, and perhaps how it is searched. Prints
a line for each, with the number of states explored, and ends with 1 if one of them came out otherwise.
"""

import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).parent
BUILD = pathlib.Path("build/models")
MEMORY_MB = 3000
DEPTH = 1_000_000
RESULTS = ("holds", "fails", "reaches")


class Run:
    def __init__(self, line: str) -> None:
        self.expected, self.model, *self.defines = line.split()
        if self.expected not in RESULTS:
            raise SystemExit(f"runs.txt: {line}: expected one of {', '.join(RESULTS)}")
        self.is_breadth_first = "breadth-first" in self.defines
        self.defines = [name for name in self.defines if name != "breadth-first"]
        self.name = " ".join([self.expected, self.model, *self.defines])
        self.result = ""
        self.seconds = 0.0

    def check(self) -> bool:
        folder = BUILD / re.sub(r"\W+", "-", self.name)
        folder.mkdir(parents=True, exist_ok=True)
        defines = [f"-D{name}" for name in self.defines]
        if self.expected == "fails":
            defines.append("-DFAULT")  # some checks would find it earlier than a number that is issued twice does
        self.call(folder, "spin", "-a", *defines, str(HERE.resolve() / f"{self.model}.pml"))
        search = "-DBFS" if self.is_breadth_first else "-DCOLLAPSE"
        self.call(folder, "cc", "-O2", "-w", "-DSAFETY", search, f"-DMEMLIM={MEMORY_MB}", "-o", "pan", "pan.c")
        start = time.monotonic()
        output = self.call(folder, "./pan", "-n", f"-m{DEPTH}")
        self.seconds = time.monotonic() - start
        (folder / "output").write_text(output)
        states = re.search(r"(\d+) states, stored", output)
        errors = re.search(r"errors: (\d+)", output)
        complete = not re.search(r"Search not completed|max search depth too small|memory limit", output)
        violated = re.search(r"assertion violated|invalid end state", output) if errors and errors[1] != "0" else None
        count = f"{int(states[1]):,}".replace(",", " ") if states else "no"
        if violated:
            self.result = f"{violated[0]} after {count} states"
            return self.expected != "holds" and violated[0] == "assertion violated"
        self.result = f"{count} states, nothing found" + ("" if complete else ", NOT COMPLETE")
        return self.expected == "holds" and complete and states is not None

    @staticmethod
    def call(folder: pathlib.Path, *command: str) -> str:
        done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0 and command[0] != "./pan":
            raise SystemExit(f"{' '.join(command)} in {folder}:\n{done.stdout}")
        return done.stdout


def runs_of(table: pathlib.Path, wanted: str) -> list[Run]:
    lines = [line.split("#")[0].strip() for line in table.read_text().splitlines()]
    return [run for run in map(Run, filter(None, lines)) if wanted in run.name]


def main() -> int:
    runs = runs_of(HERE / "runs.txt", " ".join(sys.argv[1:]))
    if not runs:
        print("no such run; see tests/models/runs.txt")
        return 1
    surprises = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for run, as_expected in zip(runs, pool.map(Run.check, runs), strict=True):
            surprises += not as_expected
            print(f"{'ok' if as_expected else 'not ok'} - {run.name}: {run.result}, {run.seconds:.1f} s", flush=True)
    return 1 if surprises else 0


if __name__ == "__main__":
    sys.exit(main())
