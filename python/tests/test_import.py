"""What ``import idgen`` loads, and the names that load later. Each test looks at an interpreter that has just begun."""

from __future__ import annotations

import ast
import pickle
from typing import Any

import idgen
import pytest
from conftest import run_python

LAZY = {"Block", "Field", "LayoutInfo", "LazyGenerator", "Parts", "Properties", "Property", "SegmentInfo", "SegmentRow"}
LAZY |= {"AboveStore", "Stats", "Status", "Store", "WorkerStore", "lazy", "sql"}
LAZY |= {"WorkerChange", "WorkerInfo", "WorkerRow"}
LAZY |= {"IdSource", "testing"}
# Each of these costs as much as all that an import of idgen loads, or more.
HEAVY = {
    "argparse",
    "asyncio",
    "concurrent.futures",
    "contextlib",
    "dataclasses",
    "enum",
    "inspect",
    "logging",
    "numpy",
    "re",
}
HEAVY |= {"threading", "typing", "typing_extensions", "idgen.sql", "idgen.testing"}


def printed(code: str) -> Any:
    """What a program prints, a Python literal."""
    result = run_python(code)
    assert result.returncode == 0, result.stderr
    return ast.literal_eval(result.stdout)


def loaded_by(code: str) -> set[str]:
    """The modules that `code` loads. An empty interpreter has some, and tools that look on may bring others."""
    found: set[str] = printed(f"import sys\nbefore = {{*sys.modules}}\n{code}\nprint({{*sys.modules}} - before)")
    return found


def test_an_import_loads_the_core_and_the_errors_of_idgen_and_none_that_an_empty_interpreter_lacks() -> None:
    allowed = {"__future__", "atexit", "idgen", "idgen._core", "idgen._error", "idgen._errors", "idgen._failures"}
    assert loaded_by("import idgen") - allowed == set()


def test_a_program_that_makes_and_decodes_ids_loads_nothing_heavy_either() -> None:
    program = """
import idgen
with idgen.Generator(worker=1, store="memory", window="10s") as generator:
    for n in (0, 10, 5000):
        generator.next_batch(n)
    generator.fill(memoryview(bytearray(8 * 10)).cast("q"))
    generator.decode(generator.next()).time
try:
    idgen.Layout("no layout")
except idgen.LayoutError:
    pass
"""
    assert loaded_by(program) & HEAVY == set()


def test_names_that_load_later_are_listed_before_they_are_loaded() -> None:
    listed = printed("import idgen; names = dir(idgen); print((names, [*vars(idgen)]))")
    assert set(listed[0]) >= LAZY
    assert LAZY & set(listed[1]) == set()
    assert len(listed[0]) == len(set(listed[0]))


@pytest.mark.parametrize("name", sorted(LAZY))
def test_a_name_that_loads_later_is_there_however_it_is_asked_for(name: str) -> None:
    by_import = f"from idgen import {name}; import idgen; print({name} is idgen.{name} is vars(idgen)['{name}'])"
    assert printed(by_import) is True
    assert printed(f"import idgen; print(hasattr(idgen, '{name}'))") is True


def test_a_name_that_is_none_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'idgen' has no attribute 'Genrator'"):
        idgen.Genrator  # type: ignore[attr-defined] # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'Genrator' from 'idgen'"):
        from idgen import Genrator  # type: ignore[attr-defined] # noqa: F401


def test_a_star_import_gives_all_of_its_names_and_no_other() -> None:
    found = printed("from idgen import *\nprint({name for name in dir() if not name.startswith('__')})")
    assert found == set(idgen.__all__)


def test_values_have_public_types_also_where_nobody_has_asked_for_these() -> None:
    found = printed("""
import idgen
layout = idgen.Layout()
values = [layout.fields[0], layout.info(), layout.decode(1), idgen.properties()[0], idgen.statuses()[0]]
with idgen.Generator(worker=1, store="memory") as generator:
    values += [generator.stats(), generator.next_block(1)]
print([(type(value).__module__, type(value).__name__) for value in values])
""")
    names = ("Field", "LayoutInfo", "Parts", "Property", "Status", "Stats", "Block")
    assert found == [("idgen", name) for name in names]


def test_values_are_unpickled_where_nobody_has_asked_for_their_types() -> None:
    layout = idgen.Layout()
    values = (layout.decode(1), layout.fields, layout.info(), idgen.Block(1, 2, 3))
    found = run_python(f"import pickle; print(pickle.loads({pickle.dumps(values)!r}))")
    assert found.stdout == f"{values}\n", found.stderr
