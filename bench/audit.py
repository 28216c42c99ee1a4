"""Measures `idgen audit` on binary dumps: bench/audit.py [--ids N] [--memory SIZE] [--folder FOLDER]. Not a part of
bench/run, because 10^9 ids take 8 GB, twice, and minutes.

Two dumps: snowflakes of 64 workers in the order of time, as a table has them, and random numbers, the worst there is to
sort. For each: ids per second, the most memory, and the ratio to a floor: reading the file with nothing done.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing

ROOT = Path(__file__).resolve().parents[1]
PIECE = 1 << 22
DAY_200 = 200 * 86_400_000 << 22  # in the layout default
Ids = np.typing.NDArray[np.uint64]


def snowflakes(first: int, count: int) -> Ids:
    """64 workers that issue 32 ids per ms each, in turns."""
    at = np.arange(first, first + count, dtype=np.uint64)
    worker, drawn = at & np.uint64(63), at >> np.uint64(6)
    tick, sequence = drawn >> np.uint64(5), drawn & np.uint64(31)
    ids: Ids = np.uint64(DAY_200) + (tick << np.uint64(22) | worker << np.uint64(12) | sequence)
    return ids


def random_numbers(first: int, count: int) -> Ids:
    numbers: Ids = np.random.default_rng(first).integers(0, 1 << 63, count, dtype=np.uint64)
    return numbers


def write(path: Path, ids: int, make: Callable[[int, int], Ids]) -> None:
    with path.open("wb") as file:
        for first in range(0, ids, PIECE):
            make(first, min(PIECE, ids - first)).astype("<u8").tofile(file)


def pieces(path: Path) -> Iterator[int]:
    buffer = bytearray(1 << 20)
    with path.open("rb", buffering=0) as file:
        while size := file.readinto(buffer):
            yield size


def read_only(path: Path) -> float:
    begin = time.perf_counter()
    sum(pieces(path))
    return time.perf_counter() - begin


# A process's peak begins with that of the one that starts it, and this one has arrays: a small one starts it.
SMALL = "import resource, subprocess, sys; status = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL); \
usage = resource.getrusage(resource.RUSAGE_CHILDREN); \
print(usage.ru_maxrss, usage.ru_utime + usage.ru_stime); sys.exit(status)"


def audit(path: Path, arguments: list[str]) -> tuple[float, int, float]:
    """Seconds, peak memory in MB, CPU seconds."""
    tool = Path(os.environ.get("IDGEN_BUILD_DIR", ROOT / "build")) / "bin" / "idgen"
    begin = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-S", "-c", SMALL, str(tool), "audit", str(path), *arguments],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    seconds = time.perf_counter() - begin
    peak, cpu = done.stdout.split()
    return seconds, int(peak) * 1024 // 10**6, float(cpu)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ids", type=lambda text: int(float(text)), default=10**8)
    parser.add_argument("--memory", default="1G")
    parser.add_argument("--folder", default=None, help="where the dump and temporary files go")
    options = parser.parse_args()
    dumps: dict[str, tuple[Callable[[int, int], Ids], list[str]]] = {
        "snowflakes, in order": (snowflakes, ["--layout", "default"]),
        "random numbers": (random_numbers, []),
    }
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        needed = 2 * 8 * options.ids
        if (free := shutil.disk_usage(folder).free) < needed:
            sys.exit(f"{folder} has {free / 1e9:.0f} GB free, and {needed / 1e9:.0f} are needed")
        path = Path(folder) / "ids.bin"
        for name, (make, arguments) in dumps.items():
            write(path, options.ids, make)
            floor = read_only(path)
            floor = min(floor, read_only(path))
            extra = ["--memory", options.memory, "--tmp", folder]
            seconds, peak, cpu = audit(path, [*arguments, *extra])
            print(
                f"{name}: {options.ids / seconds / 1e6:.1f} M ids/s ({seconds:.1f} s; {cpu:.1f} s of CPU), "
                f"at most {peak} MB; reading alone {options.ids / floor / 1e6:.0f} M ids/s, "
                f"ratio {seconds / floor:.1f}; load {os.getloadavg()[0]:.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
