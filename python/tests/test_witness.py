"""`witness` in a process that goes on: idle times, and files that cannot be written. tests/cli/test_witness.py has the
processes that start after a restore."""

from __future__ import annotations

import resource
import shutil
import subprocess
import sys
from pathlib import Path

import idgen
import pytest
from conftest import in_child
from patience import wait_until

DRAWS_AND_DIES = """
import idgen, os, signal, sys
generator = idgen.Generator(**eval(sys.argv[1]))
print(*generator.next_list(900), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def settings(tmp_path: Path) -> dict[str, str | int]:
    (tmp_path / "seen").mkdir()
    store = f"sqlite:{tmp_path}/ids.db"
    idgen.segment_create(store=store, tag="orders")
    step: dict[str, str | int] = {"segment_step": 1000, "segment_prefetch": 1, "segment_runway": "0ms"}
    return {"kind": "segment", "tag": "orders", "store": store, "witness": f"{tmp_path}/seen", **step}


def idle(settings: dict[str, str | int], at: int) -> None:
    """Until a generator has given back what it held, and the tag stands there."""
    store = str(settings["store"])
    wait_until(lambda: idgen.segment_show(store=store, tag="orders").max_id == at, what="it is given back")


def backup(folder: Path) -> None:
    shutil.copy(folder / "ids.db", folder / "backup.db")


def restore(folder: Path) -> None:
    """As on a server: nothing but the witness notices."""
    shutil.copy(folder / "backup.db", folder / "ids.db")
    (folder / "ids.db-lock").unlink()


def test_a_generator_that_was_idle_notices_what_its_host_drew_before_a_restore(
    settings: dict[str, str | int], tmp_path: Path
) -> None:
    with idgen.Generator(**settings, segment_max_age="50ms") as generator:  # type: ignore[arg-type]
        assert generator.next() == 1
        idle(settings, 2)
        backup(tmp_path)
        other = subprocess.run(
            [sys.executable, "-c", DRAWS_AND_DIES, repr(settings)], capture_output=True, text=True, check=False
        )
        drawn = [int(id) for id in other.stdout.split()]
        assert drawn == [*range(3, 903)], other.stderr
        restore(tmp_path)
        with pytest.raises(idgen.StoreRegressedError, match="this host has had numbers up to 1002"):
            generator.next()


def test_what_is_drawn_after_an_idle_time_is_remembered(settings: dict[str, str | int], tmp_path: Path) -> None:
    kept: list[idgen.Generator] = []  # so the child gives nothing back

    def draw() -> str:
        kept.append(idgen.Generator(**settings, segment_max_age="50ms"))  # type: ignore[arg-type]
        kept[0].next_list(10)
        idle(settings, 11)
        backup(tmp_path)
        return str(len(kept[0].next_list(500)))

    assert in_child(draw) == "500"
    restore(tmp_path)
    with (
        pytest.raises(idgen.StoreRegressedError, match="this host has had numbers up to"),
        idgen.Generator(**settings) as generator,  # type: ignore[arg-type]
    ):
        generator.next()


def test_too_many_open_files_are_waited_for(settings: dict[str, str | int]) -> None:
    with idgen.Generator(**{**settings, "segment_step": 1, "wait_max": "1s"}) as generator:  # type: ignore[arg-type]
        assert generator.next() == 1
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
        try:
            with pytest.raises(idgen.StoreUnavailableError, match=r"witness: the file .*Too many open files"):
                generator.next_list(10)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert generator.next() > 1


def test_relative_paths_mean_the_same_files_after_the_program_has_gone_to_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("witness", "elsewhere/witness"):
        (tmp_path / folder).mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    with idgen.Generator(
        kind="segment", tag="t", store="sqlite:ids.db", store_create=True, witness="witness", segment_step=10
    ) as orders:
        first = orders.next()
        monkeypatch.chdir(tmp_path / "elsewhere")
        assert int(in_child(lambda: str(orders.next()))) > first
    assert len(list(tmp_path.glob("witness/idgen-witness-*"))) == 1
    assert list(tmp_path.glob("elsewhere/**/idgen-*")) == []


def test_a_file_that_cannot_be_written_costs_no_numbers(settings: dict[str, str | int], tmp_path: Path) -> None:
    settings = {**settings, "segment_step": 10}
    with idgen.Generator(**settings) as generator:  # type: ignore[arg-type]
        first = generator.next_batch(20)
        (tmp_path / "seen").rename(tmp_path / "gone")  # the generator may be writing there: that grant is a gap
        for _ in range(20):
            with pytest.raises(idgen.StoreMissingError, match="witness"):
                generator.next_batch(10_000)
    (tmp_path / "seen").mkdir()
    with idgen.Generator(**settings) as generator:  # type: ignore[arg-type]
        assert max(first) < generator.next() <= 100, "each attempt has given back what it was granted"
