"""Measures `idgen-audit`: bench/audit.py [--ids N] [--memory SIZE] [--folder FOLDER] [--only WORDS]. Not a part of
bench/run, because 10^9 ids take up to 20 GB, twice, and minutes.

Two dumps, each as CSV and as Parquet: snowflakes of 64 workers in the order of time, as a table has them, and random
numbers. For each: seconds, ids per second, the most memory, and the most space for temporary files.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import duckdb

DAY_200 = 200 * 86_400_000 << 22  # in the layout default
# 64 workers that issue 32 ids per ms each, in turns.
SNOWFLAKES = f"{DAY_200} + ((range // 2048) << 22) + ((range & 63) << 12) + ((range >> 6) & 31)"
RANDOM = "hash(range) >> 1"
DUMPS = {
    "snowflakes, CSV": (SNOWFLAKES, "csv", ["--layout", "default"]),
    "snowflakes, Parquet": (SNOWFLAKES, "parquet", ["--layout", "default"]),
    "random, CSV": (RANDOM, "csv", []),
    "random, Parquet": (RANDOM, "parquet", []),
}
# A process's peak begins with that of the one that starts it, and this one has DuckDB: a small one starts it.
SMALL = "import resource, subprocess, sys; status = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL); \
usage = resource.getrusage(resource.RUSAGE_CHILDREN); \
print(usage.ru_maxrss, usage.ru_utime + usage.ru_stime); sys.exit(status)"


def size_of(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size
        except FileNotFoundError:  # removed meanwhile
            continue
    return total


def audit(path: Path, arguments: list[str], temporary: Path) -> tuple[float, int, float, int]:
    """Seconds, peak memory in MB, CPU seconds, peak of the temporary files in MB."""
    temporary.mkdir()
    most, done = [0], threading.Event()

    def watch() -> None:
        while not done.wait(0.5):
            most[0] = max(most[0], size_of(temporary))

    watcher = threading.Thread(target=watch)
    watcher.start()
    begin = time.perf_counter()
    tool = [sys.executable, "-m", "idgen.audit", str(path), "--tmp", str(temporary), *arguments]
    ended = subprocess.run([sys.executable, "-S", "-c", SMALL, *tool], stdout=subprocess.PIPE, text=True, check=True)
    seconds = time.perf_counter() - begin
    done.set()
    watcher.join()
    temporary.rmdir()
    peak, cpu = ended.stdout.split()
    return seconds, int(peak) * 1024 // 10**6, float(cpu), most[0] // 10**6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ids", type=lambda text: int(float(text)), default=10**8)
    parser.add_argument("--memory", default="2G")
    parser.add_argument("--folder", default=None, help="where the dump and temporary files go")
    parser.add_argument("--only", default="", help="the dumps whose names hold these words")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        needed = 45 * options.ids
        if (free := shutil.disk_usage(folder).free) < needed:
            sys.exit(f"{folder} has {free / 1e9:.0f} GB free, and {needed / 1e9:.0f} are needed")
        for name, (id, ending, arguments) in DUMPS.items():
            if options.only not in name:
                continue
            path = Path(folder) / f"ids.{ending}"
            query = f"COPY (SELECT ({id})::UBIGINT AS id FROM range({options.ids})) TO '{path}'"
            with duckdb.connect(config={"memory_limit": "1GB", "temp_directory": folder}) as connection:
                connection.execute(query)
            size = path.stat().st_size // 10**6
            seconds, peak, cpu, temporary = audit(
                path, [*arguments, "--memory", options.memory], Path(folder) / "temporary"
            )
            path.unlink()
            print(
                f"{name} ({size} MB): {options.ids / seconds / 1e6:.2f} M ids/s ({seconds:.1f} s; {cpu:.1f} s of CPU), "
                f"at most {peak} MB of memory and {temporary} MB of temporary files; load {os.getloadavg()[0]:.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
