"""The exceptions of idgen: one class per status of the C ABI, in families.

The text of an exception is the core's own, so that a message found in a log is the same in C, Java, Go and Python.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in __init__.py
if TYPE_CHECKING:
    from array import array


class Error(Exception):
    """Base class of all exceptions that idgen raises on purpose.

    Attributes:
        status: number of the status; never changes (``IDGEN_E_*`` in ``idgen.h``).
        name: its name without the prefix, such as ``"CLOCK_BACK"``.
        retryable: True if the same call can succeed later without a change by anybody.
        retry_after: seconds after which a retry can first succeed; None if unknown, or if retrying cannot help.
        written: for ``fill``, ``next_batch`` and ``next_list``: how many ids were drawn before the failure. They are
            the caller's.
        ids: for ``next_batch`` and ``next_list``: these ids, an array.array; else None.
    """

    status: int
    name: str
    retryable: bool
    retry_after: float | None
    written: int
    ids: array[int] | None
    _ends_waits = False  # from a store: the caller may hold what the store waits for, so it must not wait any longer

    def __init__(
        self,
        message: str,
        status: int = 0,
        name: str = "UNKNOWN",
        retryable: bool = False,
        retry_after: float | None = None,
        written: int = 0,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.name = name
        self.retryable = retryable
        self.retry_after = retry_after
        self.written = written
        self.ids = None


class ConfigError(Error, ValueError):
    """The call or the configuration is wrong (status 1 to 19). Retrying cannot help."""


class ArgumentError(ConfigError):
    """An invalid argument."""


class HandleError(ConfigError):
    """The generator was never initialised, or is of another type."""


class InvalidBufferError(ConfigError, BufferError):
    """``fill`` needs a writable, contiguous buffer of 8-byte integers. No id was drawn."""


class UnknownKeyError(ConfigError):
    """No property has this name; the message names the nearest one."""


class InvalidValueError(ConfigError):
    """A value is not of its property's type or out of its range, or another layout made the id."""


class LayoutError(ConfigError):
    """The layout does not parse or does not add up."""


class LifetimeError(ConfigError):
    """The epoch is in the future, the layout's time is over, or fewer years are left than ``lifetime_min``."""


class ConfigFileError(ConfigError):
    """The TOML file is missing, unreadable or malformed, or has no such table."""


class TextError(ConfigError):
    """The text is not an id in this encoding; the message has the position."""


class UnsupportedError(ConfigError):
    """Known, but not for this kind of generator, layout or build."""


class StateError(Error, RuntimeError):
    """The state of the generator forbids the call (status 20 to 39)."""


class ClosedError(StateError):
    """``close`` was called on this generator."""


class ForkedError(StateError):
    """This process is a forked child, which cannot reacquire what its parent holds."""


class WouldBlockError(StateError):
    """No id without waiting. Never raised by this package: ``try_next`` returns None instead."""


class WorkerBusyError(StateError):
    """Another live generator owns this worker; the message says which process."""


class ExhaustedError(StateError):
    """The layout has no ids left: its time or its segment field is used up."""


class CancelledError(StateError):
    """The caller ended the wait."""


class OverloadedError(StateError):
    """Waited ``wait_max`` for the next tick of the clock."""


class StaleError(StateError):
    """A table of routes: another version is in force than the caller expected. Start again from that one."""


class ClockError(Error):
    """The clock is wrong (status 40 to 59)."""


class ClockBackError(ClockError):
    """The clock is behind the ids already issued, by more than the policy allows."""


class ClockBeforeEpochError(ClockError):
    """The clock is before the layout's epoch."""


class ClockLeapError(ClockError):
    """The clock has leapt far ahead, and nothing is reserved there until it stays there."""


class StoreError(Error):
    """The store did not grant a reservation (status 60 to 79)."""


class StoreUnavailableError(StoreError):
    """Busy, unreachable or too slow, and nothing reserved is left."""


class StoreMissingError(StoreError):
    """The store does not exist, and ``store_create=True`` was not given."""


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
    """The store granted numbers that it had granted before: it lost a commit. Issuing stops."""


class FormatMismatchError(StoreError):
    """The namespace is in use with another layout or epoch."""


class StoreUnsafeError(StoreError):
    """A setting or a file system of the store can lose a commit."""


class NoMemoryError(Error, MemoryError):
    """Out of memory."""


class InternalError(Error):
    """A defect in idgen: please report the message."""


class HostError(Error):
    """A status of a host's own store, passed through (1000 and above)."""


# By the core's name of the status; a test compares this table with the core's list of statuses.
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


def from_core(
    message: str, status: int, name: str, retryable: bool, retry_after_ns: int, written: int, cause: int = 0
) -> Error:
    """The exception for a status of the core. Called by the extension module only."""
    retry_after = retry_after_ns / 1e9 if retry_after_ns else None
    exception = CLASS_BY_NAME.get(name, Error)(message, status, name, retryable, retry_after, written)
    if cause:
        from . import _import

        exception.__cause__ = _import("idgen._store").cause_of(cause)
    return exception


def invalid_value(message: str) -> InvalidValueError:
    """For a value that has no text form, and so never reaches the core."""
    return InvalidValueError(message, 5, "VALUE")


def invalid_argument(message: str) -> ArgumentError:
    """For text that cannot be given to the core at all."""
    return ArgumentError(message, 1, "ARGUMENT")


def waited_too_long(kind: str, message: str) -> Error:
    """For a task whose wait_max is over while others got the ids: what the core would say to a thread."""
    if kind == "segment":
        return StoreUnavailableError(message, 60, "STORE_UNAVAILABLE", True)
    return OverloadedError(message, 26, "OVERLOADED", True)
