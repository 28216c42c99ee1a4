"""The samples of README.md, docs/python.md and docs/testing.md, run word for word.

Each ```python block runs in its own folder and process, by pytest if it has tests. The folder is empty but for the
store that the page's block with `store_create(` makes. A block that follows a ```toml block finds it there as
idgen.toml. ```console blocks are commands after `$ ` and what they print; `...` stands for anything.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import REPOSITORY, run_python

PAGES = [REPOSITORY / "python" / "README.md", REPOSITORY / "docs" / "python.md", REPOSITORY / "docs" / "testing.md"]
WITHOUT_STORE = {"testing.md"}
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path, language: str) -> list[tuple[str, str, str]]:
    """(name, the toml block before it, text) of each block of a language."""
    found, toml = [], ""
    text = page.read_text(encoding="utf-8")
    for match in BLOCK.finditer(text):
        if match[1] == "toml":
            toml = match[2]
        if match[1] == language:
            line = text.count("\n", 0, match.start()) + 1
            found.append((f"{page.name}:{line}", toml, match[2]))
    return found


def all_blocks(language: str) -> list[tuple[str, str, str]]:
    found = [block for page in PAGES for block in blocks(page, language)]
    assert found, f"no {language} blocks"
    return found


def run_in(folder: Path, name: str, code: str) -> None:
    result = run_python(f"import os; os.chdir({str(folder)!r})\n" + code)
    assert (result.returncode, result.stderr) == (0, ""), f"{name}\n{result.stderr}"


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """By the page's name a folder in which its store has been made, twice: that changes nothing."""
    folders = {}
    for page in PAGES:
        folders[page.name] = tmp_path_factory.mktemp(page.stem)
        setup = [block for block in blocks(page, "python") if "store_create(" in block[2]]
        assert setup or page.name in WITHOUT_STORE, f"{page} makes no store"
        for name, _, code in setup + setup:
            run_in(folders[page.name], name, code)
    return folders


@pytest.mark.parametrize(
    ("name", "toml", "code"), all_blocks("python"), ids=lambda value: value if ".md:" in value else ""
)
def test_a_python_sample_runs(name: str, toml: str, code: str, tmp_path: Path, stores: dict[str, Path]) -> None:
    shutil.copytree(stores[name.partition(":")[0]], tmp_path, dirs_exist_ok=True)
    (tmp_path / "idgen.toml").write_text(toml)
    if "\ndef test_" in code:
        run_tests(tmp_path, name, code)
    else:
        run_in(tmp_path, name, code)


def run_tests(folder: Path, name: str, code: str) -> None:
    (folder / "test_sample.py").write_text(code)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_sample.py"]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
    passed = f"{code.count(chr(10) + 'def test_')} passed"
    assert passed in result.stdout, f"{name}\n{result.stdout}{result.stderr}"


@pytest.mark.parametrize(
    ("name", "toml", "text"), all_blocks("console"), ids=lambda value: value if ".md:" in value else ""
)
def test_a_console_sample_prints_what_it_says(name: str, toml: str, text: str, tmp_path: Path) -> None:
    (tmp_path / "idgen.toml").write_text(toml)
    commands = re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]
    for command in commands:
        line, _, expected = command.partition("\n")
        if line.startswith("pip "):
            continue  # tests/consumers installs the wheel; here it is installed already
        assert line.startswith("python -m idgen "), name
        result = subprocess.run(
            [sys.executable, *shlex.split(line)[1:]], cwd=tmp_path, capture_output=True, text=True, timeout=60
        )
        assert (result.returncode, result.stderr) == (0, ""), name
        pattern = re.escape(expected).replace(r"\.\.\.", ".*")
        assert re.fullmatch(pattern, result.stdout), f"{name}: {result.stdout}"
