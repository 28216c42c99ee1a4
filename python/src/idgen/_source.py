"""The type of whatever ids are drawn from, for code that is given its generator."""

from __future__ import annotations

from array import array
from typing import Protocol, SupportsIndex, runtime_checkable


@runtime_checkable
class IdSource(Protocol):
    """What ids are drawn from: a ``Generator``, what ``idgen.lazy`` makes, or a generator of ``idgen.testing``.

    A type for parameters and attributes, so that a program can be given any of these. It has what most programs use;
    ids with an owner are drawn from a ``Generator``. All methods do what those of ``Generator`` do.
    """

    def next(self) -> int:
        """One id. May block, up to wait_max."""

    def next_text(self) -> str:
        """One id as text. May block as next does."""

    def next_list(self, n: SupportsIndex, /) -> list[int]:
        """n ids in a list. May block as next does."""

    def next_batch(self, n: SupportsIndex, /) -> array[int]:
        """n ids in an array.array. May block as next does."""

    def close(self) -> None:
        """Gives unused ids back. Idempotent. May block."""


IdSource.__module__ = "idgen"
