"""examples/orders, word for word: a shard is split while a shop in Python and one in Java are open."""

import os
import re
import subprocess

import pytest
from clients import BUILD, patience
from hosts import NATIVE_LIBRARY, ROOT, class_path
from rotation import one_of

SHARDS = ["db0", "db1", "db2"]


def on_sqlite(_):
    return {}


def on_mariadb(started):
    server = started("mysql")
    server.sql("CREATE USER shop IDENTIFIED BY 'books'", database="")
    for name in SHARDS:
        server.sql(f"CREATE DATABASE {name}; GRANT ALL ON {name}.* TO shop", database="")
    where = f"127.0.0.1:{server.port}/{{name}}"
    return {
        "SHARDS": f"mysql://shop:books@{where}",
        "JDBC_SHARDS": f"jdbc:mariadb://{where}?user=shop&password=books",
    }


@pytest.mark.parametrize("shards", one_of([on_sqlite, on_mariadb]))
def test_every_order_is_found_while_a_shard_is_split_and_taken_back_in_between(shards, started, tmp_path):
    environment = {
        **os.environ,
        "PATH": f"{BUILD / 'bin'}:{os.environ['PATH']}",
        "CLASSPATH": class_path(),
        "JAVA_OPTS": f"-Xmx256m {NATIVE_LIBRARY}",
        **shards(started),
    }
    done = subprocess.run(
        ["sh", ROOT / "examples/orders/run.sh", "14"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=patience(170),
    )  # fmt: skip
    logs = [path.read_text()[-2000:] for path in (tmp_path / "shop").glob("*.log")]
    assert done.returncode == 0, "\n".join([done.stdout, done.stderr[-2000:], *logs])
    loads = re.findall(r"(\d+) orders, (\d+) reads, (\d+) of them did not find their order", done.stdout)
    assert len(loads) == 3, done.stdout
    for ordered, read, lost in loads:
        assert int(ordered) > 0
        assert int(read) > 0
        assert lost == "0"
    moved = re.search(r"(\d+) rows copied between db1 and db2", done.stdout)
    assert moved, done.stdout
    assert int(moved[1]) > 0
    counts = dict(re.findall(r"^(db\d): (\d+) orders$", done.stderr, re.MULTILINE))
    assert counts.keys() == set(SHARDS)
    assert int(counts["db2"]) > 0
    assert "<svg" in (tmp_path / "shop" / "load.svg").read_text()
