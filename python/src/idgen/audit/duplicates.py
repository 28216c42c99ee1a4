"""Which ids came more than once, exactly, in which runs, and where copies of some of them stand."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import duckdb
import numpy as np

from .order import pieces
from .ordered import Copies, starts_of
from .reading import Source
from .space import Array, Space, U

SAMPLES = 33  # ids of an incident whose copies are looked up
_MOST = 1024  # incidents that are kept apart
_POSTS = 1 << 20  # duplicated ids that are looked at one by one; of more, some
_COPIES = 4  # of an id that are looked up
# An incident ends where this many times as many ids came once as between its duplicates on average.
_FAR = 20
_NEAR = 50  # never before as many ids


@dataclass
class Incident:
    """Duplicated ids of one worker, near one another."""

    node: int
    first: int  # keys
    last: int
    ids: int = 0  # that came more than once
    extra: int = 0  # copies beyond the first of each
    most_copies: int = 0
    single: int = 0  # ids between the first and the last that came once
    single_same: int = 0  # of them and of those around, those with the sequence of the duplicate above them
    before: int = 0  # ids of the worker below the first, and above the last
    after: int = 0
    begins_in_tick: bool = False  # ids just below the first came once, in the same tick; without a time: before it
    samples: list[int] = field(default_factory=list)  # some of its keys, in order

    @property
    def density(self) -> float:
        return self.ids / (self.ids + self.single)


@dataclass
class Copy:
    place: int  # in the table of ids
    dump: int
    before: int | None  # the ids around it
    after: int | None
    rest: str = ""  # the other columns
    process: str = ""
    time: str = ""


def joined(a: Incident, b: Incident) -> Incident:
    """Both as one; `a` is below."""
    between = b.before - a.before - a.single - a.ids
    samples = a.samples + b.samples
    return Incident(
        a.node, a.first, b.last, a.ids + b.ids, a.extra + b.extra, max(a.most_copies, b.most_copies),
        a.single + b.single + between, a.single_same + b.single_same, a.before, b.after, a.begins_in_tick,
        [samples[i] for i in _spread(len(samples))],
    )  # fmt: skip


def _spread(count: int) -> list[int]:
    if count <= SAMPLES:
        return list(range(count))
    return [round(i * (count - 1) / (SAMPLES - 1)) for i in range(SAMPLES)]


class Duplicates:
    def __init__(self, connection: duckdb.DuckDBPyConnection, space: Space):
        self.connection, self.space = connection, space
        self.incidents: list[Incident] = []
        self.copies: dict[int, list[Copy]] = {}  # by key
        self.ids = self.extra = 0
        self.by_node: dict[int, tuple[int, int]] = {}  # how many ids came more than once, and their extra copies
        self._posts = _Posts(space)

    def add(self, keys: Array, copies: Copies) -> None:
        """Different keys, which are above those before."""
        is_twice = copies > 1
        keys, copies = keys[is_twice], copies[is_twice]
        if keys.size == 0:
            return
        nodes = self.space.nodes_of(keys)
        starts = starts_of(nodes)
        ids, extra = np.diff(starts, append=nodes.size), np.add.reduceat(copies - 1, starts)
        for node, some, more in zip(nodes[starts].tolist(), ids.tolist(), extra.tolist(), strict=True):
            its_ids, its_extra = self.by_node.get(node, (0, 0))
            self.by_node[node] = its_ids + some, its_extra + more
        self.ids += keys.size
        self.extra += int(extra.sum())
        self._posts.add(keys, copies)

    def find_incidents(self, total: int, different: Callable[[int], int]) -> None:
        """`different`: how many different ids a worker has."""
        if self.ids == 0:
            return
        self._posts.count_between(self.connection, total)
        self.incidents = list(self._posts.incidents(different))
        while len(self.incidents) > _MOST:
            fewer = _join_nearest(self.incidents)
            if len(fewer) == len(self.incidents):  # each of another worker: the largest say most
                fewer = sorted(sorted(fewer, key=lambda i: -i.ids)[:_MOST], key=lambda i: i.first)
            self.incidents = fewer
        self._see_beginnings()

    def _see_beginnings(self) -> None:
        if not self.space.has_time:
            return
        keys = np.array([incident.first for incident in self.incidents], dtype=U)
        starts = {"first": keys, "tick": keys >> U(self.space.tick_shift)}
        self.connection.register("starts", starts)
        key, shift = self.space.key_sql(), self.space.tick_shift
        rows = self.connection.execute(
            f"SELECT first, max(key) FROM (SELECT {key} AS key FROM ids WHERE id IS NOT NULL) JOIN starts ON "
            f"key >> {shift} = tick WHERE key < first GROUP BY first"
        ).fetchall()
        self.connection.unregister("starts")
        below = {int(first): int(key) for first, key in rows}
        for incident in self.incidents:
            incident.begins_in_tick = incident.begins_in_tick and incident.first in below

    def find_copies(self, sources: list[Source]) -> None:
        keys = sorted({key for incident in self.incidents for key in incident.samples})
        if not keys:
            return
        ids = np.array([self.space.id_of(key) for key in keys], dtype=U)
        self.connection.execute("CREATE TABLE samples (id UBIGINT)")
        self.connection.register("piece", {"id": ids})
        self.connection.execute("INSERT INTO samples SELECT id FROM piece")
        self.connection.unregister("piece")
        self.connection.execute(
            "CREATE TABLE copies AS SELECT rowid AS place, id FROM (SELECT ids.rowid, ids.id FROM ids "
            "SEMI JOIN samples ON ids.id = samples.id) QUALIFY row_number() OVER (PARTITION BY id ORDER BY rowid) <= "
            f"{_COPIES}"
        )
        around = dict(
            self.connection.execute(
                "SELECT rowid, id FROM ids SEMI JOIN (SELECT place - 1 AS p FROM copies UNION SELECT place + 1 FROM "
                "copies) ON rowid = p"
            ).fetchall()
        )
        key_of = dict(zip(ids.tolist(), keys, strict=True))
        at: dict[tuple[int, int], list[Copy]] = {}  # by dump and id
        for place, id in self.connection.execute("SELECT place, id FROM copies ORDER BY place").fetchall():
            dump = next(i for i, source in enumerate(sources) if place < source.end)
            copy = Copy(place, dump, around.get(place - 1), around.get(place + 1))
            self.copies.setdefault(key_of[id], []).append(copy)
            at.setdefault((dump, id), []).append(copy)
        for number, source in enumerate(sources):
            if source.columns:
                self._add_columns(source, number, at)

    def _add_columns(self, source: Source, number: int, at: dict[tuple[int, int], list[Copy]]) -> None:
        rest = " || chr(10) || ".join(f"coalesce(left({column}, 200), '')" for column in source.columns)
        rows = self.connection.execute(
            f"SELECT * FROM (SELECT {source.id} AS i, {rest}, left({source.process}::VARCHAR, 200), "
            f"left({source.time}::VARCHAR, 200), row_number() OVER () AS n FROM {source.relation}) "
            f"SEMI JOIN samples ON i = samples.id QUALIFY row_number() OVER (PARTITION BY i ORDER BY n) <= {_COPIES} "
            "ORDER BY n"
        )
        seen: dict[int, int] = {}
        while batch := rows.fetchmany(10_000):
            for id, text, process, time, _ in batch:
                copies, index = at.get((number, id), []), seen.get(id, 0)
                seen[id] = index + 1
                if index < len(copies):
                    copies[index].rest, copies[index].process, copies[index].time = text, process or "", time or ""


class _Posts:
    """Duplicated keys in order; if there are very many, each stands for those from the one before it on. In front of
    a worker's first stands a post of no ids, at the least key that the worker can have."""

    def __init__(self, space: Space):
        self.space = space
        self._each = 1  # ids of a post
        self.least = self.keys = np.empty(0, dtype=U)
        self.ids = self.rows = self.most = np.empty(0, dtype=np.int64)

    def add(self, keys: Array, copies: Copies) -> None:
        self.least, self.keys = np.append(self.least, keys), np.append(self.keys, keys)
        self.ids = np.append(self.ids, np.ones(keys.size, dtype=np.int64))
        self.rows, self.most = np.append(self.rows, copies), np.append(self.most, copies)
        workers = starts_of(self.space.nodes_of(self.keys)).size  # each has a post at least
        self._join()
        while self.keys.size > _POSTS + workers:
            self._each *= 2
            self._join()

    def _join(self) -> None:
        """Neighbours of one worker, up to `_each` ids."""
        nodes = self.space.nodes_of(self.keys)
        before = np.cumsum(self.ids) - self.ids
        firsts = starts_of(nodes)
        in_node = before - np.repeat(before[firsts], np.diff(firsts, append=nodes.size))
        starts = np.union1d(starts_of(in_node // self._each), firsts)
        ends = np.append(starts[1:], nodes.size) - 1
        self.least, self.keys = self.least[starts], self.keys[ends]
        self.ids, self.rows = np.add.reduceat(self.ids, starts), np.add.reduceat(self.rows, starts)
        self.most = np.maximum.reduceat(self.most, starts)

    def _put_lowest(self) -> None:
        nodes = self.space.nodes_of(self.keys)
        at = starts_of(nodes)
        lowest = nodes[at] << U(self.space.node_shift) if self.space.has_nodes else np.zeros(1, dtype=U)
        is_free = self.least[at] > lowest
        at, lowest = at[is_free], lowest[is_free]
        self.keys, self.least = np.insert(self.keys, at, lowest), np.insert(self.least, at, lowest)
        self.ids, self.rows = np.insert(self.ids, at, 0), np.insert(self.rows, at, 0)
        self.most = np.insert(self.most, at, 0)
        self.singles = np.zeros(self.keys.size + 1, dtype=np.int64)
        self.same = np.zeros(self.keys.size + 1, dtype=np.int64)

    def count_between(self, connection: duckdb.DuckDBPyConnection, total: int) -> None:
        """Ids that came once between one post and the next, and how many of them have the next one's sequence."""
        self._put_lowest()
        field = self.space.sequence
        shift = U(field.shift) if field else U(0)
        mask = U((1 << field.bits) - 1) if field else U(0)
        of_post = np.zeros(self.keys.size + 1, dtype=U)
        if field:
            ids = np.array([self.space.id_of(int(key)) for key in self.keys], dtype=U)
            of_post[:-1] = ids >> shift & mask
        for ids, _ in pieces(connection, 0, total):
            keys = self.space.keys_of(ids)
            at = np.searchsorted(self.keys, keys)
            inside = np.minimum(at, self.keys.size - 1)
            at += (at < self.keys.size) & (self.keys[inside] == keys) & (self.ids[inside] == 0)
            self.singles += np.bincount(at, minlength=self.singles.size)
            if field:
                has_same = (ids >> shift & mask) == of_post[at]
                self.same += np.bincount(at[has_same], minlength=self.same.size)
        self.singles[:-1] -= self.rows
        if field:
            self.same[:-1] = np.minimum(np.maximum(self.same[:-1] - self.rows, 0), self.singles[:-1])

    def incidents(self, different: Callable[[int], int]) -> Iterator[Incident]:
        nodes = self.space.nodes_of(self.keys).tolist()
        rows = zip(
            nodes, self.least.tolist(), self.keys.tolist(), self.ids.tolist(), self.rows.tolist(), self.most.tolist(),
            self.singles.tolist(), self.same.tolist(), strict=False,
        )  # fmt: skip
        now: Incident | None = None
        node, before = -1, 0
        for its_node, least, key, ids, count, most, singles, same in rows:
            if its_node != node:
                if now:
                    yield self._ended(now, different)
                now, node, before, singles = None, its_node, 0, 0  # those before it are of other workers
            before += singles
            if ids == 0:
                continue
            if now and singles > max(_NEAR, _FAR * (now.single // now.ids + 1)):
                yield self._ended(now, different)
                now = None
            if now is None:
                now = Incident(node, least, key, before=before, begins_in_tick=singles > 0)
            else:
                now.single += singles
                now.single_same += same
            now.last = key
            now.ids += ids
            now.extra += count - ids
            now.most_copies = max(now.most_copies, most)
            now.samples.append(key)
            before += ids
        if now:
            yield self._ended(now, different)

    @staticmethod
    def _ended(incident: Incident, different: Callable[[int], int]) -> Incident:
        incident.after = different(incident.node) - incident.before - incident.single - incident.ids
        incident.samples = [incident.samples[i] for i in _spread(len(incident.samples))]
        return incident


def _join_nearest(incidents: list[Incident]) -> list[Incident]:
    def between(a: Incident, b: Incident) -> int:
        return b.before - a.before - a.single - a.ids if a.node == b.node else 1 << 64

    gaps = sorted(between(a, b) for a, b in itertools.pairwise(incidents))
    limit = gaps[len(incidents) - _MOST - 1]
    out: list[Incident] = []
    for incident in incidents:
        if out and out[-1].node == incident.node and between(out[-1], incident) <= limit:
            out[-1] = joined(out[-1], incident)
        else:
            out.append(incident)
    return out
