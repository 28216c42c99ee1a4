"""Each script of examples/, word for word, on a server of its kind."""

import os
import subprocess

import pytest
from clients import BUILD, IDGEN, patience
from hosts import ROOT

from servers import KINDS

EXAMPLES = ROOT / "examples"


def run(name, url):
    environment = {**os.environ, "PATH": f"{BUILD / 'bin'}:{os.environ['PATH']}"}
    return subprocess.run(
        ["sh", EXAMPLES / f"{name}.sh", url],
        capture_output=True,
        text=True,
        check=False,
        timeout=patience(120),
        env=environment,
    )


def test_there_is_one_for_each_kind_of_store():
    assert {path.stem for path in EXAMPLES.glob("*.sh")} == {*KINDS, "sqlite", "tour"}


def check(done):
    assert done.returncode == 0, done.stdout + done.stderr
    assert "200000 ids, 0 issued twice" in done.stdout
    assert done.stdout.splitlines()[-1] == "100000001"


def test_the_tour_of_a_server_runs(shared):
    assert IDGEN.exists()
    check(run(shared.name, shared.url()))


def test_the_tour_of_a_file_runs(tmp_path):
    check(run("sqlite", f"sqlite:{tmp_path}/ids.db"))


@pytest.mark.parametrize("name", [*KINDS, "sqlite"])
def test_an_example_without_a_url_says_how_it_is_called(name):
    done = run(name, "")
    assert done.returncode != 0
    assert "usage" in done.stderr
