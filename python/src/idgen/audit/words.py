"""Numbers, times and lines as people read them, in the ways of the `idgen` command."""

from __future__ import annotations

import math
import textwrap
from datetime import datetime, timedelta, timezone


def one_line(text: str) -> str:
    return "".join(c if c.isprintable() else "\\n" if c == "\n" else f"\\x{ord(c):02x}" for c in text)


def grouped(number: int) -> str:
    return f"{number:,}".replace(",", " ")


def counted(number: int, what: str) -> str:
    return f"{grouped(number)} {what}" + ("" if number == 1 else "s")


def times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, grouped(number) + " times")


def wrapped(text: str, indent: int, width: int) -> str:
    space = " " * indent
    return textwrap.fill(
        text, width, initial_indent=space, subsequent_indent=space, break_long_words=False, break_on_hyphens=False
    )


def approximate(number: float) -> str:
    for size, unit, name in (
        (1e18, 1e18, "quintillion"),
        (1e15, 1e15, "quadrillion"),
        (1e12, 1e12, "trillion"),
        (1e9, 1e9, "billion"),
        (1e7, 1e6, "million"),
    ):
        if number >= size:
            return f"{number / unit:.3g} {name}"
    return f"{number:.1f}" if number < 1000 and number != math.floor(number) else grouped(round(number))


def instant(unix_ms: int) -> str:
    try:
        moment = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(milliseconds=unix_ms)
    except OverflowError:
        return "before the year 1" if unix_ms < 0 else "after the year 9999"
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def span_of_ms(ms: int) -> str:
    if ms < 10_000:
        return f"{grouped(ms)} ms"
    for limit, unit, name in ((600_000, 1000, "s"), (36_000_000, 60_000, "min"), (864_000_000, 3_600_000, "h")):
        if ms < limit:
            return f"{ms / unit:.1f} {name}"
    return f"{ms / 86_400_000:.1f} days"
