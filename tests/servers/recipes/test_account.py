"""The account at the end of each service's story is worth what it notices."""

import subprocess

import pytest
from services import EXAMPLES


def account(folder, placed, rows, log=""):
    (folder / "tried").write_text("".join(f"{name}\n" for name in "abcdef"))
    (folder / "placed").write_text("".join(f"{number}\t{name}\n" for number, name in placed))
    (folder / "failed").write_text("f\tthe database is down\n")
    (folder / "log").write_text(log)
    return subprocess.run(
        ["python3", EXAMPLES / "services" / "customers.py", "check", "log"], cwd=folder,
        input="".join(f"{number}\t{name}\n" for number, name in rows), capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_an_account_without_a_fault_says_what_there_is(tmp_path):
    done = account(tmp_path, [(1, "a"), (2, "b")], [(1, "a"), (2, "b"), (3, "f")])
    assert (done.returncode, done.stderr) == (0, "")
    assert "3 orders in the table, all 2 that were confirmed" in done.stdout


@pytest.mark.parametrize(
    ("placed", "rows", "log", "wrong"),
    [
        ([(1, "a"), (1, "b")], [(1, "a")], "", "order 1 was confirmed twice"),
        ([(1, "a"), (2, "b")], [(1, "a")], "", "order 2 of b was confirmed, but the table has None"),
        ([(1, "a")], [(1, "a"), (1, "b")], "", "order 1 is in the table twice"),
        ([(1, "a")], [(1, "a"), (2, "a")], "", "the order of a is in the table twice"),
        ([(1, "a")], [(1, "a"), (2, "x")], "", "nobody placed the order of x"),
        ([(1, "a")], [(1, "b")], "", "order 1 of a was confirmed, but the table has b"),
        ([(1, "a")], [(1, "a")], "ERROR: duplicate key value violates", "log: ERROR: duplicate key"),
        ([(1, "a")], [(1, "a")], "Duplicate entry '7' for key 'PRIMARY'", "log: Duplicate entry '7'"),
    ],
)
def test_an_account_with_a_fault_names_it(tmp_path, placed, rows, log, wrong):
    done = account(tmp_path, placed, rows, log)
    assert done.returncode == 1
    assert wrong in done.stderr
