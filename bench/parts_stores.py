"""What a warm segment costs with each store, and what leasing a worker costs, on servers started in the same way as the
tests'."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from figures import Figure, median, spread
from parts_core import NotMeasured, Samples, Setting, run

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests" / "servers"))


@contextmanager
def every_store(setting: Setting) -> Iterator[list[str]]:
    """NAME=URL of one store of each kind."""
    import servers

    with ExitStack() as ends:
        folder = ends.enter_context(tempfile.TemporaryDirectory(dir=setting.samples))
        urls = [f"sqlite=sqlite:{folder}/ids.db"]
        for name, kind in servers.KINDS.items():
            try:
                urls.append(f"{name}={ends.enter_context(kind()).url()}")
            except FileNotFoundError as missing:
                raise NotMeasured(f"{missing}; `scripts/setup servers` installs the servers") from missing
        yield urls


def measure_stores(setting: Setting) -> Samples:
    modules = setting.build / "lib" / "idgen" / "modules"
    with every_store(setting) as urls:
        command = [setting.program, "stores", str(setting.rounds), "3" if setting.quick else "10", modules, *urls]
        return dict(json.loads(run(*command)))


def measure_leases(setting: Setting) -> Samples:
    modules = setting.build / "lib" / "idgen" / "modules"
    with every_store(setting) as urls:
        return dict(json.loads(run(setting.program, "leases", "3" if setting.quick else "20", modules, *urls)))


def figures_leases(samples: Samples) -> list[Figure]:
    figures = []
    for name, row in samples.items():
        figures.append(Figure(f"create with a leased worker, {name}", median(row["create_ms"]), "ms", 20,
                              detail=spread(row["create_ms"])))  # fmt: skip
        for key, label in (("p50", "p50"), ("p9999", "p99.99")):
            renewed, still = row["renewed"][key], row["never renewed"][key]
            detail = f"{renewed:.0f} ns; in turns with a worker that is not renewed {still:.0f} ns"
            detail += f"; {row['renewals']:.0f} renewals" if key == "p9999" else ""
            figures.append(
                Figure(f"{label} of a call while it is renewed, {name}", renewed / still, "x", detail=detail)
            )
    return figures


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
