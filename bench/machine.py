"""The machine that the figures come from."""

from __future__ import annotations

import os
import platform
import subprocess
import time
from pathlib import Path
from typing import Any

BUSY = 0.5  # load average per core above which figures must not be quoted


def cpu_model() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def first_line(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return "not installed"
    return (done.stdout or done.stderr).strip().split("\n")[0]


def describe() -> dict[str, Any]:
    return {
        "cpu": cpu_model(),
        "cores": os.cpu_count() or 1,
        "load": os.getloadavg()[0],
        "kernel": f"{platform.system()} {platform.release()}",
        "clock source": Path("/sys/devices/system/clocksource/clocksource0/current_clocksource").read_text().strip(),
        "compiler": first_line("c++", "--version"),
        "Python": platform.python_version(),
        "Java": first_line("javac", "-version"),
        "Go": first_line("go", "version"),
    }


def wait_until_quiet(seconds: float) -> None:
    """Waits until the load average has forgotten the build and the previous part."""
    deadline = time.monotonic() + seconds
    while os.getloadavg()[0] > BUSY * (os.cpu_count() or 1) and time.monotonic() < deadline:
        time.sleep(2)


def load_per_core(machine: dict[str, Any]) -> float:
    return float(machine["load"]) / int(machine["cores"])
