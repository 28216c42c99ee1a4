"""examples/invoices, word for word."""

import os
import re
import subprocess

import pytest
from clients import BUILD, patience
from hosts import ROOT


def on_sqlite(_):
    return {}


def on_mariadb(started):
    server = started("mysql")
    server.sql("CREATE DATABASE IF NOT EXISTS invoices; CREATE USER biller IDENTIFIED BY 'paper'", database="")
    server.sql("GRANT ALL ON invoices.* TO biller", database="")
    url = f"mysql://biller:paper@127.0.0.1:{server.port}/invoices"
    return {"DATABASE": url, "STORE": url}


@pytest.mark.parametrize("where", [on_sqlite, on_mariadb])
def test_four_processes_number_their_invoices_and_a_slip_is_noticed(where, started, tmp_path):
    done = subprocess.run(
        ["sh", ROOT / "examples" / "invoices" / "run.sh"],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{BUILD / 'bin'}:{os.environ['PATH']}", **where(started)},
        capture_output=True,
        text=True,
        check=False,
        timeout=patience(170),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"\d{4}: 400 invoices, from 417 to \d+, none twice", done.stdout), done.stdout
    assert "would be" in done.stderr  # the check of the number with a slip
