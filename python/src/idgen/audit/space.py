"""How ids are compared: as keys, in which worker comes before time and time before sequence. Keys in order then are one
worker after the other, each in the order in which it issued. Without a layout an id is its own key."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from .. import Field, Layout
from .failure import UsageError

Array = npt.NDArray[np.uint64]
U = np.uint64
_NODES = ("datacenter", "worker", "process", "shard")
_RISING = ("segment", "sequence")


class _Move(NamedTuple):
    field: Field
    to: int  # the shift in the key


def _rank(field: Field) -> int:
    return 0 if field.name in _NODES else 1 if field.name == "time" else 2 if field.name in _RISING else 3


class Space:
    def __init__(self, layout: Layout | None = None):
        self.layout = layout
        self.moves: list[_Move] = []
        self.title, self.epoch_unix_ms, self.tick_ms, self.ids_per_tick = "", 0, 0, 0
        self.node_bits, self.node_shift, self.tick_shift = 0, 64, 0
        self.outside, self.constant = 0, 0
        self.sequence: Field | None = None
        if layout is None:
            return
        info = layout.info()
        if info.bits > 64:
            raise UsageError(f"ids of 16 bytes cannot be audited: {info.preset or info.text} has {info.bits} bits")
        self.title = info.preset or info.text
        self.epoch_unix_ms, self.tick_ms, self.ids_per_tick = info.epoch_unix_ms, info.tick_ms, info.ids_per_tick
        self.outside = (1 << 64) - (1 << info.bits)
        left = info.bits
        for field in sorted(layout.fields, key=_rank):
            left -= field.bits
            self.moves.append(_Move(field, left))
            if field.name in _NODES:
                self.node_bits += field.bits
                self.node_shift = left
            elif field.name == "time":
                self.tick_shift = left
            elif field.name == "sequence":
                self.sequence = field
            elif field.name == "fixed" and "=" in info.text:
                self.outside |= ((1 << field.bits) - 1) << field.shift
                self.constant = int(layout.encode())
        if self.node_bits == 0:
            self.node_shift = info.bits

    @property
    def has_time(self) -> bool:
        return self.tick_ms > 0

    @property
    def has_nodes(self) -> bool:
        return self.node_bits > 0

    def key_sql(self, id: str = "id") -> str:
        if not self.moves:
            return id
        return "(" + " + ".join(
            f"(({id} >> {move.field.shift}) & {(1 << move.field.bits) - 1}) * {1 << move.to}::UBIGINT"
            for move in self.moves
        ) + ")"  # fmt: skip

    def inside_sql(self, id: str = "id") -> str:
        return f"(({id} & {self.outside}::UBIGINT) = {self.constant}::UBIGINT)" if self.outside else "true"

    def keys_of(self, ids: Array) -> Array:
        if not self.moves:
            return ids
        keys = np.zeros_like(ids)
        for field, to in self.moves:
            keys |= (ids >> U(field.shift) & U((1 << field.bits) - 1)) << U(to)
        return keys

    def id_of(self, key: int) -> int:
        if not self.moves:
            return key
        id = self.constant
        for field, to in self.moves:
            id |= (key >> to & (1 << field.bits) - 1) << field.shift
        return id

    def key_of(self, id: int) -> int:
        return int(self.keys_of(np.array([id], dtype=U))[0])

    def nodes_of(self, keys: Array) -> Array:
        return keys >> U(self.node_shift) if self.has_nodes else np.zeros_like(keys)

    def places_of(self, keys: Array) -> Array:
        """What rises from id to id of one worker."""
        return keys & U((1 << self.node_shift) - 1) if self.has_nodes else keys

    def ticks_of(self, keys: Array) -> Array:
        ticks: Array = self.places_of(keys) >> U(self.tick_shift)
        return ticks

    def place_of(self, key: int) -> int:
        return key & (1 << self.node_shift) - 1 if self.has_nodes else key

    def tick_of(self, key: int) -> int:
        return self.place_of(key) >> self.tick_shift

    def sequence_of(self, key: int) -> int:
        assert self.sequence
        return self.id_of(key) >> self.sequence.shift & (1 << self.sequence.bits) - 1

    def unix_ms_of(self, tick: int) -> int:
        return self.epoch_unix_ms + tick * self.tick_ms

    def tick_at(self, unix_ms: int) -> int:
        """The tick that holds this instant; 0 before the epoch."""
        return max(unix_ms - self.epoch_unix_ms, 0) // self.tick_ms if self.has_time else 0

    def size_of(self, from_key: int, to_key: int) -> int:
        """How far a step back reaches: in ticks if there is a time, else in numbers."""
        if self.has_time:
            return self.tick_of(from_key) - self.tick_of(to_key)
        return self.place_of(from_key) - self.place_of(to_key)

    def name_of(self, node: int) -> str:
        """ "datacenter 1 worker 3"; "" if the layout names no worker."""
        nodes = [move for move in self.moves if move.field.name in _NODES]
        return " ".join(
            f"{field.name} {node >> (to - self.node_shift) & (1 << field.bits) - 1}" for field, to in nodes
        )  # fmt: skip
