"""How evenly ids fall on shards, and whether chance alone would do so."""

from __future__ import annotations

import math
from argparse import Namespace
from typing import NamedTuple

import numpy as np

from .. import Router, RouteTable
from .failure import UsageError
from .space import Array, Space, U


class Evenness(NamedTuple):
    chi_squared: float
    degrees: int  # of freedom
    p: float  # how often chance alone gives a chi-squared at least as large
    fullest: float  # relative to what it should have
    emptiest: float
    is_enough: bool  # ids, for p to mean something: five for each shard

    def sentence(self) -> str:
        if self.degrees == 0:
            return "there is only one shard"
        if not self.is_enough:
            return "too few ids to say: fewer than five for a shard"
        if self.p > 0.999:
            return "more even than chance would make it"
        if self.p >= 0.001:
            return "as even as chance would make it"
        if self.fullest < 1.1 and self.emptiest > 0.9:
            return "not by chance, but no shard is off by a tenth: harmless"
        return "uneven, and not by chance"


def chance_of(chi_squared: float, degrees: int) -> float:
    """P(X >= chi_squared): the regularized upper incomplete gamma function Q(degrees / 2, chi_squared / 2), by its
    power series (DLMF 8.7.1) or its continued fraction (DLMF 8.9.2)."""
    if degrees == 0 or chi_squared <= 0:
        return 1.0
    a, x = degrees / 2, chi_squared / 2
    scale = math.exp(a * math.log(x) - x - math.lgamma(a))
    if x < a + 1:
        term = total = 1 / a
        n = 1
        while term > total * 1e-15:
            term *= x / (a + n)
            total += term
            n += 1
        return min(max(1 - total * scale, 0.0), 1.0)
    tiny = 1e-290
    b = x + 1 - a
    c, d = 1 / tiny, 1 / b
    value = d
    for n in range(1, 100_000):
        numerator = n * (a - n)
        b += 2
        d = 1 / (b + numerator * d or tiny)
        c = b + numerator / c or tiny
        value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return min(max(value * scale, 0.0), 1.0)


def evenness_of(counts: list[int], weights: list[float]) -> Evenness:
    total, weight = sum(counts), sum(weights)
    expected = [total * w / weight for w in weights]
    chi_squared = sum((count - e) ** 2 / e for count, e in zip(counts, expected, strict=True))
    ratios = [count / e for count, e in zip(counts, expected, strict=True)]
    degrees = len(counts) - 1
    p = chance_of(chi_squared, degrees)
    return Evenness(chi_squared, degrees, p, max(ratios), min(ratios), min(expected) >= 5)


class Shards:
    def __init__(self, options: Namespace, space: Space):
        self.title, self.names, self._weights = "", [""][:0], [0.0][:0]
        self._modulus, self._router = 0, None
        if options.shards:
            self._modulus = options.shards
            self.title = f"id mod {options.shards}"
            self.names = [str(i) for i in range(options.shards)]
            self._weights = [1.0] * options.shards
        elif options.routes:
            if space.layout is None:
                raise UsageError("--routes needs the layout that has the gene: --layout or --config")
            table = RouteTable.read(options.routes)
            self._router = Router(table, space.layout)
            self.title, self.names = options.routes, list(table.shards)
            self._weights = _loads(table)
        self._counts = np.zeros(len(self.names), dtype=np.int64)

    def add(self, ids: Array) -> None:
        if self._modulus:
            self._counts += np.bincount((ids % U(self._modulus)).astype(np.int64), minlength=self._modulus)
        elif self._router:
            self._counts += np.bincount(self._router.route_array(ids)[0].astype(np.int64), minlength=len(self.names))

    def result(self) -> tuple[Evenness, dict[str, int]] | None:
        """Without the shards that have no node, of which nothing is expected."""
        rows = [
            (name, int(count), weight)
            for name, count, weight in zip(self.names, self._counts, self._weights, strict=True)
            if weight > 0
        ]
        if not rows:
            return None
        return evenness_of([row[1] for row in rows], [row[2] for row in rows]), {row[0]: row[1] for row in rows}


def _loads(table: RouteTable) -> list[float]:
    """How many nodes of the ring each shard has; of nodes in cut-over, the share that has moved."""
    loads = dict.fromkeys(table.shards, 0.0)
    begin = 0
    for upto, shard in table.ranges:
        loads[shard] += upto + 1 - begin
        begin = upto + 1
    for first, last, to, share in table.moves:
        begin = 0
        for upto, shard in table.ranges:
            both = min(last, upto) - max(first, begin) + 1
            if both > 0:
                loads[shard] -= both * share / 10_000
                loads[to] += both * share / 10_000
            begin = upto + 1
    return list(loads.values())
