"""The exceptions of idgen: one class per status of the C ABI, in families.

Made by scripts/statuses from core/include/idgen/statuses.def. Do not edit.
"""

from __future__ import annotations

from ._error import Error as Error


class ConfigError(Error, ValueError):
    """The call or the configuration is wrong (status 1 to 19). Retrying cannot help."""


class ArgumentError(ConfigError):
    """An invalid argument."""


class HandleError(ConfigError):
    """The generator was never initialised, or is of another type."""


class InvalidBufferError(ConfigError, BufferError):
    """``fill`` needs a writable, contiguous buffer of 8-byte integers. No id was drawn."""


class UnknownKeyError(ConfigError):
    """No property has this name; the message names the nearest."""


class InvalidValueError(ConfigError):
    """A value is not of its property's type or out of its range, or another layout made the id."""


class LayoutError(ConfigError):
    """The layout does not parse or does not add up."""


class LifetimeError(ConfigError):
    """Epoch in the future, time field already over, or fewer years left than lifetime_min."""


class ConfigFileError(ConfigError):
    """The TOML or key file is missing, unreadable or malformed, or has no such table."""


class TextError(ConfigError):
    """Text that is not an id in this encoding; the message has the position."""


class UnsupportedError(ConfigError):
    """Known, but not for this kind of generator, layout or build."""


class StateError(Error, RuntimeError):
    """The state of the generator forbids the call (status 20 to 39)."""


class ClosedError(StateError):
    """``close`` was called on this generator."""


class ForkedError(StateError):
    """This is a child process, which cannot reacquire what its parent holds."""


class WouldBlockError(StateError):
    """No id without waiting. Never raised by this package: ``try_next`` returns None instead."""


class WorkerBusyError(StateError):
    """Another live generator owns this worker; the message says which process."""


class ExhaustedError(StateError):
    """The layout has no ids left: its time or its segment field is used up."""


class CancelledError(StateError):
    """The caller ended the wait."""


class OverloadedError(StateError):
    """Waited wait_max for the next tick of the clock."""


class StaleError(StateError):
    """A table of routes: another version is in force than the caller expected."""


class ClockError(Error):
    """The clock is wrong (status 40 to 59)."""


class ClockBackError(ClockError):
    """The clock is behind the last id, by more than the policy allows."""


class ClockBeforeEpochError(ClockError):
    """The clock is before the layout's epoch."""


class ClockLeapError(ClockError):
    """The clock leapt far ahead; nothing is reserved until it stays so."""


class StoreError(Error):
    """The store did not do what was asked (status 60 to 79)."""


class StoreUnavailableError(StoreError):
    """The store is busy, unreachable or slow; nothing reserved is left."""


class StoreMissingError(StoreError):
    """The store does not exist, and store_create is off."""


class StorePermissionError(StoreError):
    """The store is not readable or not writable."""


class StoreFullError(StoreError):
    """No space is left on the store's device."""


class StoreDamagedError(StoreError):
    """Not a database, not one of idgen, or corrupt."""


class StoreVersionError(StoreError):
    """The store was made by another version of idgen; the message says what to do."""


class TagUnknownError(StoreError):
    """The segment tag was not created."""


class TagExistsError(StoreError):
    """The segment tag already exists."""


class StoreRegressedError(StoreError):
    """The store granted numbers again: it lost a commit. Issuing has stopped."""


class FormatMismatchError(StoreError):
    """The namespace is in use with another layout, epoch, stride, pattern or key."""


class StoreUnsafeError(StoreError):
    """A setting or file system of the store can lose a commit."""


class NoMemoryError(Error, MemoryError):
    """Out of memory."""


class InternalError(Error):
    """A defect in idgen: please report the message."""


class HostError(Error):
    """This and above: the statuses of a host's own store."""


# By the core's name of the status.
CLASS_BY_NAME: dict[str, type[Error]] = {
    "ARGUMENT": ArgumentError,
    "HANDLE": HandleError,
    "BUFFER": InvalidBufferError,
    "UNKNOWN_KEY": UnknownKeyError,
    "VALUE": InvalidValueError,
    "LAYOUT": LayoutError,
    "LIFETIME": LifetimeError,
    "CONFIG_FILE": ConfigFileError,
    "TEXT": TextError,
    "UNSUPPORTED": UnsupportedError,
    "CLOSED": ClosedError,
    "FORKED": ForkedError,
    "WOULD_BLOCK": WouldBlockError,
    "WORKER_BUSY": WorkerBusyError,
    "EXHAUSTED": ExhaustedError,
    "CANCELLED": CancelledError,
    "OVERLOADED": OverloadedError,
    "STALE": StaleError,
    "CLOCK_BACK": ClockBackError,
    "CLOCK_BEFORE_EPOCH": ClockBeforeEpochError,
    "CLOCK_LEAP": ClockLeapError,
    "STORE_UNAVAILABLE": StoreUnavailableError,
    "STORE_MISSING": StoreMissingError,
    "STORE_PERMISSION": StorePermissionError,
    "STORE_FULL": StoreFullError,
    "STORE_DAMAGED": StoreDamagedError,
    "STORE_VERSION": StoreVersionError,
    "TAG_UNKNOWN": TagUnknownError,
    "TAG_EXISTS": TagExistsError,
    "STORE_REGRESSED": StoreRegressedError,
    "FORMAT_MISMATCH": FormatMismatchError,
    "STORE_UNSAFE": StoreUnsafeError,
    "NO_MEMORY": NoMemoryError,
    "INTERNAL": InternalError,
    "HOST": HostError,
}

# Users meet these names as idgen.X, in tracebacks and in pickles too.
for _kind in (Error, ConfigError, StateError, ClockError, StoreError, *CLASS_BY_NAME.values()):
    _kind.__module__ = "idgen"
