"""The types that users see: mypy --strict on package and tests, and stubs that match the compiled module."""

from __future__ import annotations

import ast
import asyncio
import builtins
import concurrent.futures
import copy
import csv
import ctypes
import dataclasses
import io
import keyword
import os
import pstats
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import get_type_hints

import idgen
import pytest
from patience import patience

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parent


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What mypy knows of the standard library after its first run."""
    return tmp_path_factory.mktemp("mypy")


def mypy(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=folder,
        env={**os.environ, "MYPYPATH": str(PACKAGE.parent / "tests" / "support")},
        capture_output=True,
        text=True,
        timeout=patience(120),
    )


def test_package_and_tests_are_strictly_typed(cache: Path) -> None:
    result = mypy("mypy", "--strict", "--cache-dir", str(cache), "src/idgen", "tests", folder=PACKAGE)
    assert result.returncode == 0, result.stdout + result.stderr


def test_the_stubs_of_the_compiled_module_match_it(tmp_path: Path) -> None:
    # pybind11 gives its classes a metaclass, which does not concern users; members are compared all the same.
    metaclass = tmp_path / "allowed"
    ours = ("CancelToken", "Generator", "IdCipher", "Layout", "RouteTable", "Router", "TextPattern")
    metaclass.write_text("".join(f"idgen._core.{name}\n" for name in ours))
    # From another folder, so that the installed package is checked.
    result = mypy(
        "mypy.stubtest", "--ignore-disjoint-bases", "--allowlist", str(metaclass), "idgen._core", folder=tmp_path
    )
    assert result.returncode == 0, result.stdout + result.stderr


def test_the_package_says_that_it_is_typed() -> None:
    assert idgen.__file__ is not None
    assert Path(idgen.__file__).with_name("py.typed").exists()


def checked(code: str, folder: Path, cache: Path) -> str:
    """What mypy --strict says of a user's program."""
    script = folder / "user.py"
    script.write_text(code)
    return mypy("mypy", "--strict", "--cache-dir", str(cache), str(script), folder=folder).stdout


def test_a_user_who_makes_a_mistake_is_told_by_the_type_checker(tmp_path: Path, cache: Path) -> None:
    mistakes = """import idgen; from array import array
id: str = idgen.Generator(worker=1).next()
idgen.format_id(1, "base61")
idgen.Generator(segment_stpe=1000)
idgen.Generator(worker=1.5)
idgen.Generator(order="relaxd")
idgen.open("idgen.toml", "orders", store_create=1.0)
idgen.segment_show(tga="orders")
idgen.Propertys
source: idgen.IdSource = array("q")
"""
    found = checked(mistakes, tmp_path, cache)
    assert "user.py:2: error: Incompatible types in assignment" in found
    assert "user.py:3: error: Argument 2" in found
    assert 'user.py:4: error: Unexpected keyword argument "segment_stpe"' in found
    assert 'user.py:5: error: Argument "worker"' in found
    assert 'user.py:6: error: Argument "order"' in found
    assert 'user.py:7: error: Argument "store_create"' in found
    assert 'user.py:8: error: Unexpected keyword argument "tga"' in found
    assert 'user.py:9: error: Module has no attribute "Propertys"' in found
    assert "user.py:10: error: Incompatible types in assignment" in found


def test_every_kind_of_value_that_a_property_takes_passes_the_type_checker(tmp_path: Path, cache: Path) -> None:
    found = checked(
        """import logging
from array import array
from datetime import datetime, timedelta, timezone
from pathlib import Path
import idgen
from idgen import *

class InMemory:
    def segment_take(self, namespace: str, tag: str, count: int, /) -> int: return 1
    def segment_return(self, namespace: str, tag: str, last: int, unused: int, /) -> None: ...

settings: idgen.Properties = {"kind": "segment", "segment_step": "1000", "directory": Path("."), "tag": None}
generator: Generator = idgen.open(
    Path("idgen.toml"), "orders", epoch=datetime.now(timezone.utc), wait_max=timedelta(seconds=1), window="10s",
    segment_prefetch=0.1, worker=1, store_create=True, log=logging.getLogger("idgen").log, store=InMemory(), name=None,
)
batch: array[int] = generator.next_batch(10)
others: idgen.Properties = {**settings, "tag": "others"}
generator = Generator(**others)
try:
    idgen.store_create(**settings)
    idgen.segment_create(**settings)
except (idgen.Error, idgen.CancelledError) as error:
    ids: array[int] | None = error.ids
print(idgen.metrics([generator]), idgen.properties(), idgen.statuses())
print(idgen.sql, idgen.Store, idgen.Stats, idgen.Field)
""",
        tmp_path,
        cache,
    )
    assert found.startswith("Success"), found


def test_the_typed_keywords_are_those_of_the_table_of_properties() -> None:
    keywords = {row.keyword for row in idgen.properties()}
    assert set(get_type_hints(idgen.Properties)) == keywords | {"clock", "keys", "log"}


def test_a_star_import_shadows_neither_a_builtin_nor_a_name_of_the_standard_library() -> None:
    taken = set(dir(builtins)) | set(keyword.kwlist) | set(sys.stdlib_module_names)
    for module in (ast, asyncio, concurrent.futures, copy, csv, ctypes, dataclasses, io, os, pstats, shutil, sqlite3):
        taken |= set(vars(module))
    assert taken & set(idgen.__all__) == set()
    common_words = {"lazy", "metrics", "next", "open", "properties", "sql", "statuses"}
    assert common_words & set(idgen.__all__) == set()


def test_every_public_name_is_in_the_star_import_or_an_attribute() -> None:
    assert all(hasattr(idgen, name) for name in idgen.__all__)
    left_out = {"ArgumentError", "CancelledError", "Error", "Field", "InternalError", "Stats", "Store"}
    for name in left_out:
        assert getattr(idgen, name).__module__ == "idgen"
