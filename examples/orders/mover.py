#!/usr/bin/env python3
"""Moves the orders of the shop while customers change them. idgen says where each one belongs; the rest is here.

mover.py move A B   brings orders to their place between two shards, in either direction, until told to stop
mover.py forget     deletes what orders left behind in other shards when they moved
"""

from __future__ import annotations

import sys

import idgen
from shop import COLUMNS, Row, Shards, until_told_to_stop


class Mover:
    """Brings orders to the shard where they are looked for first: the new one while the share rises, the old one while
    it falls. An order leaves, then it arrives, so it can never be changed in two shards."""

    def __init__(self, *names: str) -> None:
        self.names = names
        self.shards = Shards()
        self.router = idgen.Router.open("routes.toml", layout="business64")
        self.moved = 0
        for name in names:  # what a mover that was killed has not finished
            for left in self.shards.rows(name, "moved_to IS NOT NULL"):
                self.arrive(left)

    def sweep(self) -> int:
        """Moves the orders that are not in their place, and says how many there were."""
        rows = [row for name in self.names for row in self.shards.rows(name, "moved_to IS NULL")]
        strays = [(row, shard) for row in rows if (shard := self.router.route(row.order_id).shard) != row.shard]
        for row, shard in strays:
            left = self.leave(row, shard)
            if left is not None:  # else it was changed since it was read: the next sweep moves it
                self.arrive(left)
                self.moved += 1
        return len(strays)

    def leave(self, row: Row, shard: str) -> Row | None:
        """After this the order cannot be changed here, whatever table of routes a process has."""
        leave = "UPDATE test_order SET moved_to = ?, version = version + 1 WHERE order_id = ? AND version = ?"
        if self.shards.run(row.shard, leave, shard, row.order_id, row.version).rowcount == 0:
            return None
        return row._replace(moved_to=shard, version=row.version + 1)

    def arrive(self, left: Row) -> None:
        """Writes over lower versions only, so any number of movers may do this, late, and again."""
        assert left.moved_to
        row = left._replace(shard=left.moved_to, moved_to=None)
        self.shards.insert(row, or_ignore=True)
        arrive = f"UPDATE test_order SET {' = ?, '.join(COLUMNS)} = ? WHERE order_id = ? AND version < ?"
        self.shards.run(row.shard, arrive, *row[1:], row.order_id, row.version)


def move(*shards: str) -> None:
    mover = Mover(*shards)
    with until_told_to_stop() as stop:
        print(f"moving orders between {' and '.join(shards)}", flush=True)
        while not stop.wait(0.2):
            mover.sweep()
        mover.router.reload()
        while mover.sweep():
            pass
    print(f"{mover.moved} orders moved, none left to move")


def forget() -> None:
    """When every process has the table of --finish and no mover runs; and before the next cut-over begins."""
    names = idgen.RouteTable.read("routes.toml").shards
    shards = Mover(*names).shards  # what has left has now arrived
    for name in names:
        shards.run(name, "DELETE FROM test_order WHERE moved_to IS NOT NULL")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["move", *shards]:
            move(*shards)
        case ["forget"]:
            forget()
        case _:
            sys.exit(__doc__)
