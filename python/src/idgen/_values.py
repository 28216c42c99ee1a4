"""How Python values become the text form that the core's property table takes."""

from __future__ import annotations

import os
from datetime import datetime, timedelta, timezone

from ._errors import ArgumentError, InvalidValueError

TYPE_CHECKING = False  # as in __init__.py
if TYPE_CHECKING:
    from typing import SupportsIndex

    PropertyValue = str | bool | int | float | datetime | timedelta | os.PathLike[str] | SupportsIndex | None

UNIX_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MILLISECOND = timedelta(milliseconds=1)
_ACCEPTED = "str, bool, int, float, datetime, timedelta, path or None"


def invalid_value(message: str) -> InvalidValueError:
    """For a value that has no text form, and so never reaches the core."""
    return InvalidValueError(message, 5, "VALUE")


def invalid_argument(message: str) -> ArgumentError:
    """For text that cannot be given to the core at all."""
    return ArgumentError(message, 1, "ARGUMENT")


def _checked_zone(keyword: str, moment: datetime) -> datetime:
    if moment.utcoffset() is None:
        raise invalid_value(f"{keyword}: {moment!r} has no time zone; use datetime(..., tzinfo=timezone.utc)")
    return moment


def _whole_ms(keyword: str, value: datetime | timedelta, duration: timedelta) -> int:
    milliseconds, rest = divmod(duration, _MILLISECOND)
    if rest:  # silent rounding would change an epoch
        raise invalid_value(f"{keyword}: {value!r} is not a whole number of milliseconds; round it first")
    return milliseconds


def moment_unix_ms(moment: datetime) -> int:
    """Milliseconds since 1970-01-01 UTC, rounded down. Raises InvalidValueError for a datetime without a time zone."""
    if not isinstance(moment, datetime):
        raise TypeError(f"needs a datetime, not {type(moment).__name__}")
    return (_checked_zone("time", moment) - UNIX_EPOCH) // _MILLISECOND


def to_text(keyword: str, value: PropertyValue) -> str:
    """The text form of a property's value: "true", "42", "2.5", "1735689600000" (datetime), "250ms" (timedelta)."""
    if isinstance(value, bool):  # before int: bool is an int
        return "true" if value else "false"
    if isinstance(value, str):
        text = value
    elif isinstance(value, int):
        return str(int(value))
    elif isinstance(value, float):
        return repr(float(value))
    elif isinstance(value, datetime):
        return str(_whole_ms(keyword, value, _checked_zone(keyword, value) - UNIX_EPOCH))
    elif isinstance(value, timedelta):
        return f"{_whole_ms(keyword, value, value)}ms"
    elif isinstance(value, os.PathLike):
        text = os.fspath(value)
        if not isinstance(text, str):
            raise TypeError(f"{keyword}: the path {value!r} is bytes; use a str path")
    elif index := getattr(value, "__index__", None):  # such as numpy.int64
        return str(index())
    else:
        raise TypeError(f"{keyword}: a value of type {type(value).__name__} is not a property's value; use {_ACCEPTED}")
    if "\0" in text:
        raise invalid_argument(f"{keyword}: {value!r} has a NUL character, which no property may hold")
    return text
