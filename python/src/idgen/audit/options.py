"""The options, read from options.tsv. `idgen audit` is built from the same file: its help, man page and completion."""

from __future__ import annotations

import argparse
import sys
from importlib.resources import files
from typing import NoReturn

from .. import __version__
from .failure import UsageError

SMALLEST_MEMORY = 512 << 20
MOST_SHARDS = 65_536


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(message)


def _rows() -> list[list[str]]:
    text = (files(__package__) / "options.tsv").read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines()]


def parser() -> argparse.ArgumentParser:
    rows = _rows()
    words = {
        kind: [row[1] if len(row) > 1 else "" for row in rows if row[0] == kind] for kind in ("details", "example")
    }
    epilog = "\n".join([*words["details"], "", "Examples:", *(f"  {text}" for text in words["example"])])
    out = _Parser(
        prog="idgen-audit",
        usage="idgen-audit " + next(row[1] for row in rows if row[0] == "usage"),
        description=next(row[1] for row in rows if row[0] == "summary"),
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    out.add_argument("--version", action="version", version=f"idgen {__version__}")
    for row in rows:
        if row[0] != "option":
            continue
        name, placeholder, kind, values, _, help = row[1:]
        help = help.replace("%", "%%")
        if kind == "file*":
            out.add_argument("files", nargs="+", metavar=name, help=help)
        elif kind == "flag":
            out.add_argument(name, action="store_true", help=help)
        elif kind == "one_of":
            out.add_argument(
                name, choices=values.split(), metavar=placeholder, help=f"{', '.join(values.split())}. {help}"
            )
        elif kind == "number":
            out.add_argument(name, type=int, metavar=placeholder, help=help)
        else:
            out.add_argument(name, metavar=placeholder, help=help)
    return out


def parse_memory(text: str) -> int:
    number, unit = text.rstrip("KMG"), text[-1:]
    scale = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(unit, 1)
    if number.isascii() and number.isdigit() and len(text) - len(number) <= 1 and len(number) <= 12:
        size = int(number) * scale
        if SMALLEST_MEMORY <= size <= 1 << 44:
            return size
    raise UsageError(f"--memory is '{text}', and must be a size of at least 512M, such as 1G or 2G")


def parse(words: list[str] | None) -> argparse.Namespace:
    words = sys.argv[1:] if words is None else words
    if "--" in words:  # argparse loses what follows it
        end = words.index("--")
        words = [*words[:end], *(f"./{word}" if word[:1] == "-" and word != "-" else word for word in words[end + 1 :])]
    options = parser().parse_intermixed_args(words)
    options.memory = parse_memory(options.memory or "1G")
    if options.shards is not None:
        if options.routes is not None:
            raise UsageError("--shards and --routes exclude each other")
        if not 1 <= options.shards <= MOST_SHARDS:
            raise UsageError(f"--shards is {options.shards}, and may be 1 to {MOST_SHARDS}")
    if options.config is not None and (options.layout is not None or options.epoch is not None):
        raise UsageError("--config names the layout: leave --layout and --epoch out")
    if options.name is not None and options.config is None:
        raise UsageError("--name needs --config")
    if options.epoch is not None and options.layout is None:
        raise UsageError("--epoch needs a --layout to go with")
    if options.files.count("-") > 1:
        raise UsageError("standard input can be read only once")
    for name in ("delimiter", "quote"):
        text = getattr(options, name)
        if text is not None and text != "none":
            text = {"\\t": "\t", "tab": "\t"}.get(text, text)
            if len(text.encode()) != 1:
                raise UsageError(f"--{name} is '{text}', and must be one character")
            setattr(options, name, text)
    if options.delimiter == "none":
        raise UsageError("--delimiter is 'none', and must be one character")
    return options
