"""What all exceptions of idgen have. The classes for the statuses are in _errors.py.

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
        retryable: True if the same call can succeed later although nothing was changed.
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
