"""What a warm segment costs with each store, on servers started in the same way as the tests'."""

from __future__ import annotations

import json
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from figures import Figure, median, spread
from parts_core import NotMeasured, Samples, Setting, run

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests" / "servers"))


def measure_stores(setting: Setting) -> Samples:
    import servers

    with ExitStack() as ends:
        folder = ends.enter_context(tempfile.TemporaryDirectory(dir=setting.samples))
        urls = [f"sqlite=sqlite:{folder}/ids.db"]
        for name, kind in servers.KINDS.items():
            try:
                urls.append(f"{name}={ends.enter_context(kind()).url()}")
            except FileNotFoundError as missing:
                raise NotMeasured(f"{missing}; `scripts/setup servers` installs the servers") from missing
        modules = setting.build / "lib" / "idgen" / "modules"
        command = [setting.program, "stores", str(setting.rounds), "3" if setting.quick else "10", modules, *urls]
        return dict(json.loads(run(*command)))


def figures_stores(samples: Samples) -> list[Figure]:
    ns = samples["ns"]
    memory = median(ns["memory"])
    figures = []
    for name, values in ns.items():
        if name in ("memory", "fetch_add"):
            continue
        ratios = [a / b for a, b in zip(values, ns["memory"], strict=True)]
        detail = f"{spread(values)}; {1e3 / median(values):.0f} M ids/s on one thread; memory beside it {memory:.2f} ns"
        figures.append(Figure(f"warm segment of {name}, by one of memory", median(ratios), "x", 1.1, detail=detail))
    slowest = max(median(values) for name, values in ns.items() if name != "fetch_add")
    figures.append(Figure("ids per second on one thread, the slowest store", 1e3 / slowest, "M/s", 10, True))
    figures.append(
        Figure(
            "CPU at rest",
            samples["cpu_at_rest"] * 100,
            "%",
            0.1,
            detail=f"of one core, {samples['generators']:.0f} generators open, one a store, nothing asked",
        )
    )
    return figures
