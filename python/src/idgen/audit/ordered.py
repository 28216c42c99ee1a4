"""All keys in order, in memory that does not grow with their number: they are spread over files by ranges, and each
range is sorted."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import numpy.typing as npt

from .failure import Unreadable
from .space import Array, U

PIECE = 1 << 20  # keys that are read together
SAMPLE = 1 << 16  # keys by which the ranges are chosen
_MOST_FILES = 256
Copies = npt.NDArray[np.int64]


def in_order(
    pieces: Iterator[Array], sample: Array, count: int, folder: Path, room: int
) -> Iterator[tuple[Array, Copies]]:
    """Each key of `pieces` once, in order, and how many copies it has. `sample` holds some of the `count` keys, `room`
    is how many are sorted at once."""
    if count <= room:
        if count:
            keys = np.concatenate(list(pieces))
            keys.sort()
            yield _counted(keys)
        return
    ends = _ends(np.sort(sample), min(_MOST_FILES, 2 * count // room + 2))
    try:
        folder.mkdir()
        paths = [folder / str(i) for i in range(ends.size + 1)]
        _spread(pieces, ends, paths)
    except OSError as error:
        raise Unreadable(f"cannot write temporary files in {folder.parent}: {error.strerror}") from None
    least = 0
    for path, end in itertools.zip_longest(paths, ends.tolist()):
        size = path.stat().st_size // 8
        if least == end and size:
            yield np.array([end], dtype=U), np.array([size], dtype=np.int64)
        elif size:
            some = np.array(np.memmap(path, dtype=U)[:: -(-size // SAMPLE)])
            yield from in_order(_read(path), some, size, folder / f"{path.name}.parts", room)
        path.unlink()
        least = (end or 0) + 1
    folder.rmdir()


def _ends(sample: Array, parts: int) -> Array:
    """The last key of each range but the last one. A key that is found again and again has a range of its own."""
    ends = sample[np.linspace(0, sample.size - 1, parts + 1).astype(np.intp)[1:-1]]
    again = ends[1:][ends[1:] == ends[:-1]]
    return np.unique(np.concatenate((ends, again[again > 0] - U(1))))


def _spread(pieces: Iterator[Array], ends: Array, paths: list[Path]) -> None:
    with ExitStack() as stack:
        files = [stack.enter_context(path.open("wb", buffering=0)) for path in paths]
        for piece in pieces:
            keys = np.sort(piece)
            cuts = np.searchsorted(keys, ends, side="right").tolist()
            for file, (begin, end) in zip(files, itertools.pairwise((0, *cuts, keys.size)), strict=True):
                if begin < end:
                    keys[begin:end].tofile(file)


def _read(path: Path) -> Iterator[Array]:
    with path.open("rb") as file:
        while (keys := np.fromfile(file, dtype=U, count=PIECE)).size:
            yield keys


def _counted(keys: Array) -> tuple[Array, Copies]:
    starts = starts_of(keys)
    return keys[starts], np.diff(starts, append=keys.size)


def starts_of(values: npt.NDArray[np.generic]) -> npt.NDArray[np.intp]:
    """Where runs of equal values begin."""
    return np.flatnonzero(np.concatenate(([values.size > 0], values[1:] != values[:-1])))
