"""What each worker issued when, and how much per stretch of time."""

from __future__ import annotations

from dataclasses import dataclass, field

import duckdb
import numpy as np
import numpy.typing as npt

from .order import Order
from .space import Space

STRETCHES = 240
SHOWN = 6  # workers whose rates are kept apart
_MOST = 1024
Counts = npt.NDArray[np.int64]


@dataclass
class Worker:
    node: int
    ids: int  # different ones
    duplicated: int
    first: int  # ticks
    last: int
    ticks: int  # with at least one id
    full_ticks: int  # with as many as the layout has room for
    peak: int  # ids in one tick
    peak_tick: int
    longest_gap: int  # in ticks, without an id


@dataclass
class Rates:
    first_tick: int
    ticks_per_stretch: float
    shown: list[tuple[int, Counts]] = field(default_factory=list)  # by node, the largest first
    others: Counts = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    all: Counts = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    duplicated: Counts = field(default_factory=lambda: np.zeros(0, dtype=np.int64))


def of_workers(
    connection: duckdb.DuckDBPyConnection,
    space: Space,
    order: Order,
    duplicated: dict[int, tuple[int, int]],
    passes: int,
) -> tuple[list[Worker], Rates]:
    """The workers by node (of very many those with the most ids), and the rates."""
    key, shift = space.key_sql(), space.tick_shift
    node = f"(t >> {space.node_shift - shift})" if space.has_nodes else "0::UBIGINT"
    tick = f"(t & {(1 << space.node_shift - shift) - 1}::UBIGINT)"
    connection.execute("CREATE TABLE ticks (node UBIGINT, tick UBIGINT, n BIGINT)")
    for part in range(passes):
        connection.execute(
            f"INSERT INTO ticks SELECT {node}, {tick}, n FROM (SELECT t, sum(n)::BIGINT AS n FROM "
            f"(SELECT {key} >> {shift} AS t, 1 AS n FROM ids WHERE id IS NOT NULL UNION ALL "
            f"SELECT key >> {shift}, 1 - copies FROM twice) WHERE hash(t) % {passes} = {part} GROUP BY t)"
        )
    rows = connection.execute(
        "SELECT node, sum(n)::BIGINT AS total, min(tick), max(tick), count(*), "
        f"count(*) FILTER (n >= {space.ids_per_tick}), max(n), min(tick) FILTER (n = most), coalesce(max(gap), 0) FROM "
        "(SELECT *, max(n) OVER (PARTITION BY node) AS most, tick - lag(tick) OVER (PARTITION BY node ORDER BY tick) "
        f"AS gap FROM ticks) GROUP BY node ORDER BY total DESC, node LIMIT {_MOST}"
    ).fetchall()
    workers = [
        Worker(n, total, duplicated.get(n, (0, 0))[0], first, last, ticks, full, peak, peak_tick, gap)
        for n, total, first, last, ticks, full, peak, peak_tick, gap in rows
    ]
    return sorted(workers, key=lambda w: w.node), _rates(connection, space, order, workers)


def _rates(connection: duckdb.DuckDBPyConnection, space: Space, order: Order, workers: list[Worker]) -> Rates:
    first, last = order.first_likely, order.last_likely
    ticks = max(last - first + 1, 1)
    count = min(ticks, STRETCHES)
    rates = Rates(first, ticks / count)
    shown = [worker.node for worker in workers[:SHOWN]]
    stretch = f"least(((tick - {first}::UBIGINT) / {rates.ticks_per_stretch!r})::DOUBLE, {count - 1})"
    stretch = f"floor({stretch})::BIGINT"
    within = f"tick BETWEEN {first} AND {last}"
    which = f"CASE WHEN node IN ({', '.join(map(str, shown))}) THEN node END"
    table: dict[int | None, Counts] = {}
    rows = connection.execute(
        f"SELECT {which} AS w, {stretch} AS s, sum(n)::BIGINT FROM ticks WHERE {within} GROUP BY ALL"
    ).fetchall()
    for worker, at, n in rows:
        table.setdefault(worker, np.zeros(count, dtype=np.int64))[at] += n
    zero = np.zeros(count, dtype=np.int64)
    rates.shown = [(worker, table.get(worker, zero)) for worker in shown]
    rates.others = table.get(None, zero)
    rates.all = sum((counts for _, counts in rates.shown), rates.others)
    rates.duplicated = zero.copy()
    key_tick = f"((key >> {space.tick_shift}) & {(1 << space.node_shift - space.tick_shift) - 1}::UBIGINT)"
    rows = connection.execute(
        f"SELECT {stretch} AS s, count(*) FROM (SELECT {key_tick} AS tick FROM twice) WHERE {within} GROUP BY ALL"
    ).fetchall()
    for at, n in rows:
        rates.duplicated[at] += n
    return rates
