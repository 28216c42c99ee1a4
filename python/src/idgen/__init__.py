"""Unique, ordered 64-bit ids, made inside the process that needs them.

    >>> import idgen
    >>> orders = idgen.Generator(worker=1, store="memory")
    >>> id = orders.next()
    >>> orders.decode(id).worker
    1

Every id is a number drawn from a reservation that a store has committed to this generator alone. That, and not a clock,
is why no id is issued twice. Python, Java, Go and C share one core: the same configuration, decoding and errors.
"""

from __future__ import annotations

import atexit
import os

from . import _core, sql
from ._core import (
    Generator,
    Layout,
    config_names,
    format_id,
    metrics,
    parse_id,
    properties,
    segment_advance,
    segment_create,
    segment_list,
    segment_max_of,
    segment_set_step,
    segment_show,
    segment_statements,
    statuses,
)
from ._core import open_generator as open
from ._errors import (
    ArgumentError,
    CancelledError,
    ClockBackError,
    ClockBeforeEpochError,
    ClockError,
    ClockLeapError,
    ClosedError,
    ConfigError,
    ConfigFileError,
    Error,
    ExhaustedError,
    ForkedError,
    FormatMismatchError,
    HandleError,
    HostError,
    InternalError,
    InvalidBufferError,
    InvalidValueError,
    LayoutError,
    LifetimeError,
    NoMemoryError,
    OverloadedError,
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
from ._store import Store
from ._types import Block, Field, LayoutInfo, Parts, Property, SegmentInfo, SegmentRow, Stats, Status

__version__ = _core.version()

__all__ = [
    "ArgumentError",
    "Block",
    "CancelledError",
    "ClockBackError",
    "ClockBeforeEpochError",
    "ClockError",
    "ClockLeapError",
    "ClosedError",
    "ConfigError",
    "ConfigFileError",
    "Error",
    "ExhaustedError",
    "Field",
    "ForkedError",
    "FormatMismatchError",
    "Generator",
    "HandleError",
    "HostError",
    "InternalError",
    "InvalidBufferError",
    "InvalidValueError",
    "Layout",
    "LayoutError",
    "LayoutInfo",
    "LifetimeError",
    "NoMemoryError",
    "OverloadedError",
    "Parts",
    "Property",
    "SegmentInfo",
    "SegmentRow",
    "StateError",
    "Stats",
    "Status",
    "Store",
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
    "UnknownKeyError",
    "UnsupportedError",
    "WorkerBusyError",
    "WouldBlockError",
    "__version__",
    "config_names",
    "format_id",
    "metrics",
    "open",
    "parse_id",
    "properties",
    "segment_advance",
    "segment_create",
    "segment_list",
    "segment_max_of",
    "segment_set_step",
    "segment_show",
    "segment_statements",
    "sql",
    "statuses",
]

# Threads of the core, and daemon threads that wait in it, must not come back into an interpreter that is going.
atexit.register(_core._detach)
os.register_at_fork(after_in_child=_core._forget_other_threads)

# Users meet these names as idgen.X, in tracebacks and in pickles too.
for _name in __all__:
    if isinstance(globals()[_name], type):
        globals()[_name].__module__ = __name__
del _name
