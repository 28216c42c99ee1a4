"""Unique, ordered 64-bit ids, made inside your process.

    >>> import idgen
    >>> orders = idgen.Generator(worker=1, store="memory")
    >>> id = orders.next()
    >>> orders.decode(id).worker
    1

Every id is a number drawn from a reservation that a store has committed to this generator alone. That, and not a clock,
is why no id is issued twice. Python, Java, Go and C share one core, so configuration, decoding and errors are the same.
"""

from __future__ import annotations

import atexit
import os
from _thread import RLock

from . import _core, _failures as _failures
from ._core import (
    NO_SHARD as NO_SHARD,
    Generator,
    IdCipher,
    Layout,
    Router,
    RouteTable,
    TextPattern,
    config_names,
    decode_standard,
    format_id,
    format_standard,
    metrics as metrics,
    object_id,
    open as open,
    parse_id,
    parse_standard,
    parse_wide_id,
    properties as properties,
    quiesce,
    reset,
    segment_advance,
    segment_create,
    segment_list,
    segment_max_of,
    segment_retire,
    segment_set_step,
    segment_show,
    segment_statements,
    standard_ids,
    statuses as statuses,
    store_create,
    ulid,
    uuid4 as uuid4,
    uuid7 as uuid7,
)
from ._errors import (
    ArgumentError as ArgumentError,
    CancelledError as CancelledError,
    ClockBackError,
    ClockBeforeEpochError,
    ClockError,
    ClockLeapError,
    ClosedError,
    ConfigError,
    ConfigFileError,
    Error as Error,
    ExhaustedError,
    ForkedError,
    FormatMismatchError,
    HandleError,
    HostError,
    InternalError as InternalError,
    InvalidBufferError,
    InvalidValueError,
    LayoutError,
    LifetimeError,
    NoMemoryError,
    OverloadedError,
    StaleError,
    StateError,
    StoreDamagedError,
    StoreError,
    StoreFullError,
    StoreMissingError,
    StorePermissionError,
    StoreRegressedError,
    StoreUnavailableError,
    StoreUnsafeError,
    StoreVersionError,
    TagExistsError,
    TagUnknownError,
    TextError,
    UnknownKeyError,
    UnsupportedError,
    WorkerBusyError,
    WouldBlockError,
)

# Modules that calls load when they first need them are imported under a lock, for which a fork waits. A child would
# otherwise wait without end for a module that a thread of its parent was importing.
_imports = RLock()


def _import(module: str) -> ModuleType:
    with _imports:
        from importlib import import_module

        return import_module(module)


class _UrlDrivers:
    """What the core asks for the stores mysql:// and postgres:// where their modules are absent. Loads nothing yet."""

    def __getattr__(self, name: str) -> object:
        return getattr(_import("idgen._url_drivers"), name)


_core._set_sql_driver(_UrlDrivers())

# What is below loads when it is first asked for: an import of idgen costs all programs alike, and to load typing alone
# costs more than all that is above. For type checkers, who take TYPE_CHECKING for true, these are plain imports.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

    from . import sql as sql, testing as testing
    from ._lazy import LazyGenerator, lazy as lazy
    from ._parts import Parts
    from ._properties import Properties
    from ._source import IdSource
    from ._store import AboveStore as AboveStore, Store as Store, WorkerStore as WorkerStore
    from ._types import (
        Block,
        Field as Field,
        LayoutInfo,
        Property,
        Route,
        RouteMove,
        RouteRange,
        RouterStats,
        SegmentInfo,
        SegmentRow,
        StandardParts,
        Stats as Stats,
        Status,
        TextParts,
        WorkerChange as WorkerChange,
        WorkerInfo as WorkerInfo,
        WorkerRow as WorkerRow,
    )
else:
    _MODULE_OF = {
        "Parts": "_parts",
        "IdSource": "_source",
        "Properties": "_properties",
        **dict.fromkeys(("LazyGenerator", "lazy"), "_lazy"),
        **dict.fromkeys(("AboveStore", "Store", "WorkerStore"), "_store"),
        **dict.fromkeys(
            (
                *("Block", "Field", "LayoutInfo", "Property", "SegmentInfo", "SegmentRow", "Stats", "Status"),
                *("Route", "RouteMove", "RouteRange", "RouterStats", "StandardParts", "TextParts"),
                *("WorkerChange", "WorkerInfo", "WorkerRow"),
            ),
            "_types",
        ),
    }

    def __getattr__(name):
        if name in ("sql", "testing"):
            return _import("idgen." + name)  # which makes it an attribute of this module
        if name not in _MODULE_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(_import("idgen." + _MODULE_OF[name]), name)
        return value

    def __dir__():
        return sorted({*globals(), *_MODULE_OF, "sql", "testing"})


__version__ = _core.version()

# What `from idgen import *` gives. Left out are names that Python or its standard library has too (`open`, `Error`) and
# words that a program uses for its own things (`metrics`): they are idgen.open, idgen.Error and idgen.metrics. Above,
# `open as open` tells type checkers that these are public all the same.
__all__ = [
    "Block",
    "ClockBackError",
    "ClockBeforeEpochError",
    "ClockError",
    "ClockLeapError",
    "ClosedError",
    "ConfigError",
    "ConfigFileError",
    "ExhaustedError",
    "ForkedError",
    "FormatMismatchError",
    "Generator",
    "HandleError",
    "HostError",
    "IdCipher",
    "IdSource",
    "InvalidBufferError",
    "InvalidValueError",
    "Layout",
    "LayoutError",
    "LayoutInfo",
    "LazyGenerator",
    "LifetimeError",
    "NoMemoryError",
    "OverloadedError",
    "Parts",
    "Properties",
    "Property",
    "Route",
    "RouteMove",
    "RouteRange",
    "RouteTable",
    "Router",
    "RouterStats",
    "SegmentInfo",
    "SegmentRow",
    "StaleError",
    "StandardParts",
    "StateError",
    "Status",
    "StoreDamagedError",
    "StoreError",
    "StoreFullError",
    "StoreMissingError",
    "StorePermissionError",
    "StoreRegressedError",
    "StoreUnavailableError",
    "StoreUnsafeError",
    "StoreVersionError",
    "TagExistsError",
    "TagUnknownError",
    "TextError",
    "TextParts",
    "TextPattern",
    "UnknownKeyError",
    "UnsupportedError",
    "WorkerBusyError",
    "WouldBlockError",
    "config_names",
    "decode_standard",
    "format_id",
    "format_standard",
    "object_id",
    "parse_id",
    "parse_standard",
    "parse_wide_id",
    "quiesce",
    "reset",
    "segment_advance",
    "segment_create",
    "segment_list",
    "segment_max_of",
    "segment_retire",
    "segment_set_step",
    "segment_show",
    "segment_statements",
    "standard_ids",
    "store_create",
    "ulid",
]

# Threads of the core, and daemon threads that wait in it, must not come back into an interpreter that is going.
atexit.register(_core._detach)

os.register_at_fork(
    before=_imports.acquire,
    after_in_parent=_imports.release,
    after_in_child=_imports._at_fork_reinit,  # type: ignore[attr-defined]
)
os.register_at_fork(after_in_child=_core._forget_other_threads)
