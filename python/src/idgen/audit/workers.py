"""What each worker issued when, and how much per stretch of time."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from .order import Order
from .ordered import Copies, starts_of
from .space import Array, Space, U

STRETCHES = 240
SHOWN = 6  # workers whose rates are kept apart
_MOST = 1024
Counts = npt.NDArray[np.int64]


@dataclass
class Worker:
    node: int
    first: int  # ticks
    last: int = 0
    ids: int = 0  # different ones
    duplicated: int = 0
    ticks: int = 0  # with at least one id
    full_ticks: int = 0  # with as many as the layout has room for
    peak: int = 0  # ids in one tick
    peak_tick: int = 0
    longest_gap: int = 0  # in ticks, without an id


@dataclass
class Rates:
    first_tick: int
    ticks_per_stretch: float
    shown: list[tuple[int, Counts]] = field(default_factory=list)  # by node, the largest first
    others: Counts = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    all: Counts = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    duplicated: Counts = field(default_factory=lambda: np.zeros(0, dtype=np.int64))


class Workers:
    """The workers by node (of very many those with the most rows), and the rates, from keys in order."""

    def __init__(self, space: Space, order: Order):
        self.space = space
        most = np.lexsort((order.nodes, -order.counts.astype(np.int64)))[:_MOST]
        self._kept = order.nodes[most]
        self.found: list[Worker] = []
        first, last = order.first_likely, order.last_likely
        self._last_likely = last
        ticks = max(last - first + 1, 1)
        self._zero = np.zeros(min(ticks, STRETCHES), dtype=np.int64)
        self.rates = Rates(first, ticks / self._zero.size, all=self._zero.copy(), duplicated=self._zero.copy())
        self.rates.shown = [(int(node), self._zero.copy()) for node in order.nodes[most[:SHOWN]]]
        # The last tick so far, of which more ids may come, and the one before it.
        self._open: tuple[Array, Counts] = np.empty(0, dtype=U), np.empty(0, dtype=np.int64)
        self._before = self._open[0]

    def add(self, keys: Array, copies: Copies) -> None:
        """Different keys, which are above those before."""
        shift = U(self.space.tick_shift)
        self.rates.duplicated += self._per_stretch(self.space.ticks_of(keys[copies > 1]))
        ticks = keys >> shift  # with the node above them
        starts = starts_of(ticks)
        ticks = np.append(self._open[0], ticks[starts])
        counts = np.append(self._open[1], np.diff(starts, append=keys.size))
        if ticks.size > 1 and ticks[0] == ticks[1]:
            counts[1] += counts[0]
            ticks, counts = ticks[1:], counts[1:]
        self._open = ticks[-1:], counts[-1:]
        self._close(ticks[:-1], counts[:-1])

    def end(self) -> None:
        self._close(*self._open)
        self.rates.others = self.rates.all - sum((counts for _, counts in self.rates.shown), self._zero)

    def _close(self, closed: Array, counts: Counts) -> None:
        if closed.size == 0:
            return
        keys = closed << U(self.space.tick_shift)
        nodes, ticks = self.space.nodes_of(keys), self.space.ticks_of(keys)
        gaps = np.zeros(closed.size, dtype=np.int64)
        gaps[1:] = np.where(nodes[1:] == nodes[:-1], (closed[1:] - closed[:-1]).astype(np.int64), 0)
        starts = starts_of(nodes)
        if self.found and self._before.size and self.found[-1].node == nodes[0]:
            gaps[0] = int(closed[0] - self._before[0])
        self._before = closed[-1:]
        self.rates.all += self._per_stretch(ticks, counts)
        ends = np.append(starts[1:], nodes.size)
        kept = np.isin(nodes[starts], self._kept)
        for begin, end in zip(starts[kept], ends[kept], strict=True):
            self._add(int(nodes[begin]), ticks[begin:end], counts[begin:end], int(gaps[begin:end].max()))

    def _add(self, node: int, ticks: Array, counts: Counts, gap: int) -> None:
        for shown, per_stretch in self.rates.shown:
            if shown == node:
                per_stretch += self._per_stretch(ticks, counts)
        if not self.found or self.found[-1].node != node:
            self.found.append(Worker(node, first=int(ticks[0])))
        worker = self.found[-1]
        worker.ids += int(counts.sum())
        worker.last = int(ticks[-1])
        worker.ticks += ticks.size
        worker.full_ticks += int(np.count_nonzero(counts >= self.space.ids_per_tick))
        worker.longest_gap = max(worker.longest_gap, gap)
        peak = int(counts.argmax())
        if counts[peak] > worker.peak:
            worker.peak, worker.peak_tick = int(counts[peak]), int(ticks[peak])

    def _per_stretch(self, ticks: Array, counts: Counts | None = None) -> Counts:
        first = self.rates.first_tick
        is_likely = (ticks >= U(first)) & (ticks <= U(self._last_likely))
        at = ((ticks[is_likely] - U(first)).astype(np.float64) / self.rates.ticks_per_stretch).astype(np.int64)
        weights = None if counts is None else counts[is_likely]
        found = np.bincount(np.minimum(at, self._zero.size - 1), weights, minlength=self._zero.size)
        return found.astype(np.int64)
