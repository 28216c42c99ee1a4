"""From a failure of the core to an exception. Loaded with idgen, because nothing can be loaded when Python ends."""

from __future__ import annotations

from ._errors import CLASS_BY_NAME, Error


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
