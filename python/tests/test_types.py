"""The types that users see: mypy --strict on package and tests, and stubs that match the compiled module."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import idgen

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parent


def mypy(*arguments: str, folder: Path = PACKAGE) -> None:
    result = subprocess.run([sys.executable, "-m", *arguments], cwd=folder, capture_output=True, text=True, timeout=600)
    assert result.returncode == 0, result.stdout + result.stderr


def test_package_and_tests_are_strictly_typed(tmp_path: Path) -> None:
    mypy("mypy", "--strict", "--cache-dir", str(tmp_path), "src/idgen", "tests")


def test_the_stubs_of_the_compiled_module_match_it(tmp_path: Path) -> None:
    # pybind11 gives its classes a metaclass, which is of no concern to a user; members are compared all the same.
    metaclass = tmp_path / "allowed"
    metaclass.write_text("".join(f"idgen._core.{name}\n" for name in ("CancelToken", "Generator", "Layout")))
    # From another folder, so that the installed package is looked at.
    mypy("mypy.stubtest", "--ignore-disjoint-bases", "--allowlist", str(metaclass), "idgen._core", folder=tmp_path)


def test_the_package_says_that_it_is_typed() -> None:
    assert idgen.__file__ is not None
    assert Path(idgen.__file__).with_name("py.typed").exists()


def test_a_user_who_makes_a_mistake_is_told_by_the_type_checker(tmp_path: Path) -> None:
    script = tmp_path / "wrong.py"
    script.write_text('import idgen\nid: str = idgen.Generator(worker=1).next()\nidgen.format_id(1, "base61")\n')
    result = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(script)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert "wrong.py:2: error: Incompatible types in assignment" in result.stdout
    assert "wrong.py:3: error: Argument 2" in result.stdout
