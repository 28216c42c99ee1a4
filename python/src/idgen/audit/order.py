"""What the order of the dumps says, in one pass over the ids: where they step back, for each worker and in all, which
times they have, on which shards they fall, and whether they were rounded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import duckdb
import numpy as np
import numpy.typing as npt

from .ordered import PIECE, SAMPLE
from .reading import Source
from .shards import Shards
from .space import Array, Space, U

KEPT = 8  # steps back of a worker, the largest
POINTS = 1024  # of the picture's course
_DAY_MS = 86_400_000
_EXACT = 1 << 53  # above it a floating-point number has no place for every integer


def pieces(connection: duckdb.DuckDBPyConnection, begin: int, end: int) -> Iterator[tuple[Array, Array]]:
    """The ids and their places in the table."""
    for at in range(begin, end, PIECE):
        upto = min(at + PIECE, end)
        rows = connection.execute(f"SELECT id FROM ids WHERE rowid >= {at} AND rowid < {upto}").fetchnumpy()["id"]
        places = np.arange(at, upto, dtype=U)
        if isinstance(rows, np.ma.MaskedArray):
            is_id = ~np.ma.getmaskarray(rows)
            yield np.asarray(rows.data[is_id], dtype=U), places[is_id]
        else:
            yield np.asarray(rows, dtype=U), places


def sample_of(connection: duckdb.DuckDBPyConnection, space: Space) -> Array:
    """The keys of some ids, from all parts of the table."""
    sql = f"SELECT id FROM (SELECT id FROM ids WHERE id IS NOT NULL) USING SAMPLE reservoir({SAMPLE} ROWS)"
    return space.keys_of(np.asarray(connection.execute(sql).fetchnumpy()["id"], dtype=U))


@dataclass
class Step:
    """An id that is smaller than an earlier one."""

    place: int
    from_key: int
    to_key: int
    is_first_of_dump: bool = False


@dataclass
class Steps:
    count: int = 0
    largest: list[Step] = field(default_factory=list)


class Rounding:
    """Whether ids have lost their last digits or bits: evidence of one dump."""

    def __init__(self) -> None:
        self.ids = 0  # above 2^53
        self.tens = [0] * 7  # that are multiples of 10^k
        self.exact = 0  # that a double holds exactly
        self.odd = 0  # of them, those that use the last bit that a double has for them

    def add(self, ids: Array) -> None:
        big = ids[ids > U(_EXACT)]
        if big.size == 0:
            return
        was, self.ids = self.ids, self.ids + big.size
        for k in range(1, 7):
            if self.tens[k] < 0.9 * was:
                break
            self.tens[k] += int(np.count_nonzero(big % U(10**k) == 0))
        if self.exact >= 0.9 * was:
            bits = np.frexp(big.astype(np.longdouble))[1].astype(np.int64)
            low = np.maximum(bits - 53, 0).astype(U)
            is_exact = big & ((U(1) << low) - U(1)) == 0
            self.exact += int(np.count_nonzero(is_exact))
            self.odd += int(np.count_nonzero(is_exact & (big >> low & U(1) == 1)))

    def found(self, different: int, floats: float) -> str:
        """A sentence, or nothing."""
        if self.ids == 0:
            return ""
        if floats > 0.5:
            return "its ids are written as floating-point numbers, which are exact only up to 2^53"
        zeros = max((k for k in range(1, 7) if self.tens[k] >= 0.95 * self.ids), default=0)
        if zeros and zeros * different >= 6:
            kept = "15 digits, as a spreadsheet does" if zeros >= 3 else "about 17 digits, as JavaScript does"
            end = "0" * zeros
            return f"{_share(self.tens[zeros], self.ids)} of its ids above 2^53 end in {end}: something kept {kept}"
        if self.exact >= 0.95 * self.ids and different >= 4 and 0.1 * self.ids <= self.odd <= 0.9 * self.ids:
            return (
                f"{_share(self.exact, self.ids)} of its ids above 2^53 are numbers that a double holds exactly, with "
                "53 bits, as of JavaScript or a column of floats"
            )
        return ""


def _share(part: int, whole: int) -> str:
    return "all" if part == whole else f"{100 * part / whole:.1f} %"


class Order:
    def __init__(self, space: Space, total: int, now_tick: int, shards: Shards):
        self.space, self.now_tick, self.shards, self.total = space, now_tick, shards, max(total, 1)
        self.ids = 0
        self.overall = Steps()
        self.workers: dict[int, Steps] = {}  # of those that step back
        self.steps_back = 0
        # By node, in order: how many ids, the last one's key, the dump of it, the size of the smallest kept step.
        self.nodes = np.empty(0, dtype=U)
        self.counts = np.empty(0, dtype=U)
        self._last = np.empty(0, dtype=U)
        self._dump = np.empty(0, dtype=np.int64)
        self._least_kept = np.empty(0, dtype=np.int64)
        self._last_id = self._last_key = 0
        self.earliest, self.latest = (1 << 64) - 1, 0
        self._first_likely, self._last_likely = (1 << 64) - 1, 0
        self.in_future = self.in_first_day = 0
        self._first_day = max(_DAY_MS // space.tick_ms, 1) if space.has_time else 0
        self.low = np.full(POINTS, (1 << 64) - 1, dtype=U)
        self.high = np.zeros(POINTS, dtype=U)
        self.roundings: list[Rounding] = []

    @property
    def first_likely(self) -> int:
        return self._first_likely if self._first_likely <= self._last_likely else self.earliest

    @property
    def last_likely(self) -> int:
        return self._last_likely if self._first_likely <= self._last_likely else self.latest

    def look(self, connection: duckdb.DuckDBPyConnection, source: Source, number: int) -> None:
        self.roundings.append(Rounding())
        for ids, places in pieces(connection, source.begin, source.end):
            if ids.size == 0:
                continue
            keys = self.space.keys_of(ids)
            self._workers(keys, places, number)
            self._overall(ids, keys, places)
            if self.space.has_time:
                self._ticks(keys)
            self._course(keys, places)
            self.shards.add(ids)
            self.roundings[-1].add(ids)
            self.ids += ids.size

    def _workers(self, keys: Array, places: Array, dump: int) -> None:
        nodes = self.space.nodes_of(keys)
        if self.space.has_nodes:
            width: npt.DTypeLike = np.uint16 if self.space.node_bits <= 16 else np.uint64
            by_node = np.argsort(nodes.astype(width), kind="stable")
            nodes, keys, places = nodes[by_node], keys[by_node], places[by_node]
        starts = np.concatenate(([0], np.nonzero(nodes[1:] != nodes[:-1])[0] + 1))
        here = nodes[starts]
        self._make_known(here)
        at = np.searchsorted(self.nodes, here)
        before = np.empty_like(keys)
        before[1:] = keys[:-1]
        before[starts] = np.where(self._dump[at] >= 0, self._last[at], U(0))
        back = np.nonzero(keys < before)[0]
        if back.size:
            self._keep(at, starts, back, before, keys, places, dump)
        ends = np.concatenate((starts[1:], [keys.size])) - 1
        self.counts[at] += (ends - starts + 1).astype(U)
        self._last[at] = keys[ends]
        self._dump[at] = dump

    def _make_known(self, nodes: Array) -> None:
        new = np.setdiff1d(nodes, self.nodes, assume_unique=True)
        if new.size == 0:
            return
        at = np.searchsorted(self.nodes, new)
        self.nodes = np.insert(self.nodes, at, new)
        self.counts = np.insert(self.counts, at, 0)
        self._last = np.insert(self._last, at, 0)
        self._dump = np.insert(self._dump, at, -1)
        self._least_kept = np.insert(self._least_kept, at, -1)

    def _keep(self, at, starts, back, before, keys, places, dump) -> None:  # type: ignore[no-untyped-def]
        self.steps_back += back.size
        group = np.searchsorted(starts, back, side="right") - 1
        who = at[group]
        sizes = (before[back] - keys[back]) >> U(self.space.tick_shift)
        for index, count in zip(*np.unique(who, return_counts=True), strict=True):
            self.workers.setdefault(int(self.nodes[index]), Steps()).count += int(count)
        is_new = (starts[group] == back) & (self._dump[who] != dump)
        large = np.nonzero(sizes.astype(np.int64) > self._least_kept[who])[0]
        # The largest of a worker come first, and the earlier one of two that are as large.
        large = large[np.lexsort((-sizes[large].astype(np.int64), who[large]))]
        firsts = np.concatenate(([0], np.nonzero(np.diff(who[large]))[0] + 1)) if large.size else np.empty(0, np.int64)
        rank = np.arange(large.size) - np.repeat(firsts, np.diff(np.append(firsts, large.size)))
        for i in large[rank < KEPT]:
            row = back[i]
            step = Step(int(places[row]), int(before[row]), int(keys[row]), bool(is_new[i]))
            steps = self.workers[int(self.nodes[who[i]])].largest
            steps.append(step)
            steps.sort(key=lambda s: (-self.space.size_of(s.from_key, s.to_key), s.place))
            if len(steps) > KEPT:
                steps.pop()
            if len(steps) == KEPT:
                least = self.space.size_of(steps[-1].from_key, steps[-1].to_key)
                self._least_kept[who[i]] = least if self.space.has_time else min(least, (1 << 63) - 1)

    def _overall(self, ids: Array, keys: Array, places: Array) -> None:
        """From id to id, of all workers: with a time, ids of all workers rise together."""
        values = ids if self.space.has_time else keys
        before = np.concatenate((np.array([self._last_id], dtype=U), values[:-1]))
        back = np.nonzero(values < before)[0]
        if back.size:
            self.overall.count += back.size
            from_keys = np.where(back == 0, U(self._last_key), keys[np.maximum(back, 1) - 1])
            if self.space.has_time:
                sizes = self.space.ticks_of(from_keys).astype(np.int64) - self.space.ticks_of(keys[back]).astype(
                    np.int64
                )
            else:
                sizes = ((from_keys - keys[back]) >> U(1)).astype(np.int64)
            i = int(np.argmax(sizes))
            step = Step(int(places[back[i]]), int(from_keys[i]), int(keys[back[i]]))
            best = self.overall.largest
            size = self.space.size_of(step.from_key, step.to_key)
            if not best or size > self.space.size_of(best[0].from_key, best[0].to_key):
                self.overall.largest = [step]
        self._last_id, self._last_key = int(values[-1]), int(keys[-1])

    def _ticks(self, keys: Array) -> None:
        ticks = self.space.ticks_of(keys)
        self.earliest, self.latest = min(self.earliest, int(ticks.min())), max(self.latest, int(ticks.max()))
        is_late, is_early = ticks > U(self.now_tick), ticks < U(self._first_day)
        self.in_future += int(np.count_nonzero(is_late))
        self.in_first_day += int(np.count_nonzero(is_early))
        likely = ticks[~(is_late | is_early)]
        if likely.size:
            self._first_likely = min(self._first_likely, int(likely.min()))
            self._last_likely = max(self._last_likely, int(likely.max()))

    def _course(self, keys: Array, places: Array) -> None:
        values = self.space.places_of(keys)
        points = (places.astype(np.float64) * (POINTS / self.total)).astype(np.int64)
        starts = np.concatenate(([0], np.nonzero(np.diff(points))[0] + 1))
        at = points[starts]
        self.low[at] = np.minimum(self.low[at], np.minimum.reduceat(values, starts))
        self.high[at] = np.maximum(self.high[at], np.maximum.reduceat(values, starts))
