"""Whole columns of ids: decoded by shifts and masks on numpy arrays, or hidden and revealed by the core."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ._core import IdCipher, Layout

_INT64_MAX = 2**63 - 1


def _as_uint64(ids: Any, layout: Layout, what: str = "decode_array") -> npt.NDArray[np.uint64]:
    import numpy as np

    array = ids if isinstance(ids, np.ndarray) else None
    if array is None and hasattr(ids, "__array__"):  # pandas, polars, xarray
        array = np.asarray(ids)
    if array is None:
        try:
            array = np.asarray(memoryview(ids))
        except TypeError:
            items = list(ids)
            for item in items:
                if isinstance(item, bool) or not hasattr(item, "__index__"):
                    raise TypeError(f"{what} needs integers, not {type(item).__name__} ({item!r})") from None
            try:
                array = np.array(items, dtype=np.uint64)
            except OverflowError:
                outside = next(item for item in items if not 0 <= item < 2**64)
                layout.decode(outside)  # raises: the same error as for one id
                raise
    if array.dtype.kind not in "iu":
        raise TypeError(
            f"{what} needs an array of integers, not of {array.dtype}; "
            "ids above 2^53 - 1 do not survive a conversion from float"
        )
    if array.dtype.kind == "i" and array.size:
        if layout.is_unsigned and array.dtype.itemsize == 8:
            # What fill() wrote into an int64 buffer, or a signed database column: the same 64 bits.
            return array.astype(np.int64, copy=False).view(np.uint64)
        lowest = int(array.min())
        if lowest < 0:
            layout.decode(lowest)  # raises: the same error as for one id
    return array.astype(np.uint64, copy=False)


def apply_cipher(cipher: IdCipher, ids: Any, reveals: bool) -> npt.NDArray[Any]:
    """See IdCipher.hide_array and reveal_array."""
    what, alone = ("reveal_array", "reveal") if reveals else ("hide_array", "hide")
    try:
        import numpy as np
    except ImportError as error:
        raise ImportError(f"{what} needs numpy: install idgen[numpy], or use {alone}() on each id") from error

    layout = cipher.layout
    if layout.bits > 64:
        raise TypeError(f"{what}: no numpy array holds ids of {layout.bits} bits; use {alone}() on each id")
    array = _as_uint64(ids, layout, what)
    result = np.array(array, dtype=np.uint64, order="C")  # a copy: the caller keeps what it has
    cipher._apply(result.reshape(-1), reveals)
    return result if layout.is_unsigned else result.view(np.int64)


def decode_array(layout: Layout, ids: Any) -> dict[str, npt.NDArray[Any]]:
    """The columns of ``ids``; see Layout.decode_array."""
    try:
        import numpy as np
    except ImportError as error:
        raise ImportError("decode_array needs numpy: install idgen[numpy], or use decode() on each id") from error

    array = _as_uint64(ids, layout)
    bits = layout.bits
    if bits > 64:
        layout.decode(0)  # raises: 64 bits do not hold this layout
    if bits < 64 and array.size:
        highest = int(array.max())
        if highest >> bits:
            layout.decode(highest)  # raises: bits outside the layout
    columns: dict[str, npt.NDArray[Any]] = {}
    for field in layout.fields:
        mask = np.uint64((1 << field.bits) - 1)
        values = (array >> np.uint64(field.shift)) & mask
        if field.name == "fixed" and "=" in layout.text:
            wrong = values != np.uint64(layout.decode(layout.encode()).fixed)
            if wrong.any():
                layout.decode(int(array[wrong][0]))  # raises: the same error as for one id
        signed_or_not = values if field.bits == 64 else values.astype(np.int64)
        if field.name == "time":
            columns["time"] = _unix_ms(values, layout).view("datetime64[ms]")
            columns["ticks"] = signed_or_not
        else:
            columns[field.name] = signed_or_not
    return columns


def _unix_ms(ticks: npt.NDArray[np.uint64], layout: Layout) -> npt.NDArray[np.int64]:
    import numpy as np

    info = layout.info()
    last_whole_tick = (_INT64_MAX - info.epoch_unix_ms) // info.tick_ms
    beyond = ticks > np.uint64(min(last_whole_tick, 2**64 - 1))
    inside = np.where(beyond, np.uint64(0), ticks).astype(np.int64)
    unix_ms: npt.NDArray[np.int64] = np.int64(info.epoch_unix_ms) + inside * np.int64(info.tick_ms)
    unix_ms[beyond] = _INT64_MAX  # saturates as the core does
    return unix_ms
