"""Batches of routes: what a user hands over becomes one array, and the shards come back as two."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    import numpy.typing as npt

    from ._core import Router

_UNSIGNED_32 = next(code for code in "IL" if array(code).itemsize == 4)


def _as_array(values: Any, itemsize: int, codes: str) -> Any:
    """A contiguous buffer of integers of this size; what is one already is not copied."""
    try:
        view = memoryview(values)
    except TypeError:
        view = None
    if view is not None:
        if view.itemsize == itemsize and view.format in codes and view.c_contiguous:
            return view
        values = view.tolist()
    items = list(values)
    for item in items:
        if isinstance(item, bool) or not hasattr(item, "__index__"):
            raise TypeError(f"ids and nodes are integers, not {type(item).__name__} ({item!r})")
    try:
        return array("Q" if itemsize == 8 else _UNSIGNED_32, items)
    except OverflowError as error:
        from ._errors import InvalidValueError

        at = next(i for i, item in enumerate(items) if not 0 <= item < 256**itemsize)
        raise InvalidValueError(
            f"[{at}]: {items[at]} is out of range; allowed: 0 to {256**itemsize - 1}", 5, "VALUE", False
        ) from error


def _two_arrays(router: Router, values: Any, are_nodes: bool) -> tuple[array[int], array[int]]:
    source = _as_array(values, 4, "IL") if are_nodes else _as_array(values, 8, "qQlLnN")
    shards = array(_UNSIGNED_32, [0]) * len(source)
    seconds = array(_UNSIGNED_32, [0]) * len(source)
    router._route_into(source, shards, seconds, are_nodes)
    return shards, seconds


def route_batch(router: Router, ids: Iterable[int]) -> tuple[array[int], array[int]]:
    """See Router.route_batch."""
    return _two_arrays(router, ids, False)


def route_nodes(router: Router, nodes: Iterable[int]) -> tuple[array[int], array[int]]:
    """See Router.route_nodes."""
    return _two_arrays(router, nodes, True)


def route_array(router: Router, ids: Any) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    """See Router.route_array."""
    try:
        import numpy as np
    except ImportError as error:
        raise ImportError("route_array needs numpy: install idgen[numpy], or use route_batch()") from error

    column = np.asarray(ids)
    if column.size == 0:
        column = column.astype(np.uint64)
    if column.dtype.kind not in "iu":
        raise TypeError(
            f"route_array needs an array of integers, not of {column.dtype}; "
            "ids above 2^53 - 1 do not survive a conversion from float"
        )
    if column.dtype.itemsize != 8 or not column.flags.c_contiguous or not column.dtype.isnative:
        if column.dtype.kind == "i" and column.size and int(column.min()) < 0:
            router.route(int(column.min()))  # raises: the same error as for one id
        column = np.ascontiguousarray(column, dtype=np.uint64)
    shards = np.empty(column.shape, dtype=np.uint32)
    seconds = np.empty(column.shape, dtype=np.uint32)
    router._route_into(column, shards, seconds, False)
    return shards, seconds
