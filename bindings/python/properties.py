#!/usr/bin/env python3
"""Writes python/src/idgen/_properties.py, the typed keywords, from the core's own table of properties:

build/bin/idgen properties --json | bindings/python/properties.py > python/src/idgen/_properties.py
"""

import json
import sys
import textwrap

HEAD = '''"""The keywords of a configuration with their types: what editors complete and type checkers check.

Made by bindings/python/properties.py from the core's table of properties. Do not edit.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Literal, SupportsIndex, TypedDict

from ._store import Store, WorkerStore
from .sql import SqlStore


class Properties(TypedDict, total=False):
    """What ``Generator`` and the functions that take a configuration accept. None leaves the default.

    A program that makes its settings itself can say that they are checked: ``settings: idgen.Properties = {...}``.
    """
'''

# What no table of text can hold: in Python these are objects.
CALLBACKS = '''
    clock: Callable[[], int] | None
    """For tests: returns ns since 1970-01-01 UTC. If it has a method sleep_ns(ns), waiting uses that."""

    log: Callable[[int, str], object] | None
    """Is told what an operator wants to know, with the levels of logging: ``logging.getLogger("idgen").log``."""

    keys: Callable[[], Iterable[tuple[int, bytes] | tuple[int, bytes, bool]]] | None
    """In place of cipher_key: returns (version, key) or (version, key, retired) for each key version of hidden ids."""


Properties.__module__ = "idgen"
'''

TYPES = {
    "boolean": "bool | str",
    "integer": "SupportsIndex | str",
    "number": "float | str",
    "duration": "timedelta | SupportsIndex | str",
    "instant": "datetime | SupportsIndex | str",
    "text": "str",
}


def annotation(row: dict[str, str]) -> str:
    if row["type"] == "choice":
        return f"Literal[{', '.join(json.dumps(word) for word in row['range'].split(' | '))}]"
    if row["range"] == "a folder":
        return "str | os.PathLike[str]"
    if row["name"] == "store":
        return "str | Store | WorkerStore | SqlStore"
    return TYPES[row["type"]]


def member(row: dict[str, str]) -> str:
    facts = [row["range"] or row["type"]] + ([f"default {row['default']}"] if row["default"] else [])
    about = f'"""{row["name"]} ({"; ".join(facts)}). {row["help"]}"""'.replace("\\", r"\\")
    lines = textwrap.wrap(about, 120, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)
    return f"\n    {row['name'].replace('.', '_')}: {annotation(row)} | None\n" + "\n".join(lines) + "\n"


rows = [json.loads(line) for line in sys.stdin]
sys.stdout.write(HEAD + "".join(map(member, rows)) + CALLBACKS)
