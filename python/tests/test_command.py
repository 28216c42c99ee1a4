"""python -m idgen."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import idgen
import pytest


def command(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "idgen", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        input=stdin,
    )


def output(*arguments: str, stdin: str = "") -> str:
    result = command(*arguments, stdin=stdin)
    assert (result.returncode, result.stderr) == (0, ""), result
    return result.stdout


def test_version_is_that_of_the_package() -> None:
    assert output("--version") == f"idgen {idgen.__version__}\n"


def test_next_prints_one_id_a_line() -> None:
    lines = output("next", "--store", "memory", "--worker", "5", "-n", "5000").split()
    ids = [int(line) for line in lines]
    assert len(set(ids)) == 5000
    assert ids == sorted(ids)
    assert idgen.Layout().decode(ids[0]).worker == 5


def test_next_formats_and_takes_any_property(tmp_path: Path) -> None:
    store = f"sqlite:{tmp_path / 'ids.db'}"
    options = ["--kind", "segment", "--tag", "t", "--store", store, "--set", "store_create=true", "--format", "base62"]
    assert output("next", *options, "-n", "2") == "00000000001\n00000000002\n"


def test_next_reads_a_file_and_needs_no_name_if_it_has_one_table(tmp_path: Path) -> None:
    path = tmp_path / "idgen.toml"
    path.write_text('[one]\nkind = "segment"\nstore = "memory"\nstore_create = true\n')
    assert output("next", "--config", str(path)) == "1\n"
    path.write_text('[one]\nstore = "memory"\n[two]\nstore = "memory"\n')
    result = command("next", "--config", str(path))
    assert result.returncode == 2
    assert "one, two" in result.stderr


def test_decode_gives_aligned_lines_or_json_objects_named_as_in_the_layout() -> None:
    text = output("decode", "--layout", "twitter", "1541815603606036480", "--json")
    assert json.loads(text) == {
        "id": "1541815603606036480",
        "layout": "twitter",
        "time": "2022-06-28T16:07:40.105Z",
        "unix_ms": 1656432460105,
        "datacenter": 11,
        "worker": 26,
        "sequence": 0,
    }
    assert "worker      26\n" in output("decode", "--layout", "twitter", "1541815603606036480")
    two = output("decode", "--json", "-", stdin="1 0x2\n")
    assert [json.loads(line)["id"] for line in two.splitlines()] == ["1", "2"]


def test_layout_tells_one_or_lists_all() -> None:
    facts = json.loads(output("layout", "default", "--json"))
    assert (facts["layout"], facts["ids_per_tick"], facts["workers"]) == ("default", 4096, 1024)
    names = [json.loads(line)["layout"] for line in output("layout", "--json").splitlines()]
    assert tuple(names) == idgen.Layout.presets()
    assert "js_safe         yes\n" in output("layout", "js53")


def test_properties_lists_the_table() -> None:
    rows = [json.loads(line) for line in output("properties", "--json").splitlines()]
    assert [row["name"] for row in rows] == [row.name for row in idgen.properties()]
    assert "segment.step" in output("properties")


@pytest.mark.parametrize(
    ("arguments", "status", "text"),
    [
        (["next", "--set", "wroker=1"], 1, "UNKNOWN_KEY"),
        (["next", "--set", "worker"], 2, "KEY=VALUE"),
        (["next", "-n", "-1", "--store", "memory"], 2, "-n"),
        (["decode", "12x"], 1, "TEXT"),
        (["decode", "0xzz"], 1, "TEXT"),
        (["decode", "9223372036854775808"], 1, "VALUE"),
        (["layout", "time:99ms"], 1, "LAYOUT"),
        (["layout", "--epoch", "0"], 2, "--epoch needs a LAYOUT"),
        (["nonsense"], 2, "nonsense"),
        ([], 2, "COMMAND"),
    ],
)
def test_errors_are_a_line_on_stderr_and_an_exit_status(arguments: list[str], status: int, text: str) -> None:
    result = command(*arguments)
    assert result.returncode == status
    assert text in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


def test_an_error_that_is_worth_a_retry_has_its_own_exit_status(file_store: str) -> None:
    with idgen.Generator(worker=1, store=file_store):
        result = command("next", "--worker", "1", "--store", file_store)
    assert (result.returncode, "WORKER_BUSY" in result.stderr) == (75, True)


def test_help_is_there_for_every_command() -> None:
    for name in ("next", "decode", "layout", "properties"):
        assert "exit status" in output(name, "--help") or name == "properties"


def test_a_reader_that_goes_away_is_no_error() -> None:
    shell = f"{sys.executable} -m idgen next --store memory --worker 1 -n 200000 | head -n 1"
    result = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, timeout=60)
    assert result.stdout.strip().isdigit()
    assert "Traceback" not in result.stderr
    assert "Error" not in result.stderr
