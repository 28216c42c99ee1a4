"""examples/orders: a shard is split, taken back and split again while a shop in Python and one in Java are open."""

import importlib
import os
import re
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import idgen
import pytest
from clients import BUILD, IDGEN, patience
from hosts import NATIVE_LIBRARY, ROOT, class_path
from rotation import one_of

EXAMPLE = ROOT / "examples" / "orders"
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
def test_every_change_survives_while_a_shard_is_split_and_taken_back_and_split_again(shards, started, tmp_path):
    environment = {
        **os.environ,
        "PATH": f"{BUILD / 'bin'}:{os.environ['PATH']}",
        "CLASSPATH": class_path(),
        "JAVA_OPTS": f"-Xmx256m {NATIVE_LIBRARY}",
        **shards(started),
    }
    done = subprocess.run(
        ["sh", EXAMPLE / "run.sh"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=patience(170),
    )  # fmt: skip
    logs = [path.read_text()[-2000:] for path in (tmp_path / "shop").glob("*.log")]
    assert done.returncode == 0, "\n".join([done.stdout, done.stderr[-2000:], *logs])
    assert len(re.findall(r"[1-9]\d* orders, [1-9]\d* changes, [1-9]\d* reads, 0 of them wrong", done.stdout)) == 4
    assert len(re.findall(r"[1-9]\d* orders, [1-9]\d* versions in the journal, 0 wrong", done.stdout)) == 3
    assert len(re.findall(r"[1-9]\d* orders moved, none left to move", done.stdout)) == 3
    counts = dict(re.findall(r"^(db\d): (\d+) orders$", done.stderr, re.MULTILINE))
    assert counts.keys() == set(SHARDS)
    assert int(counts["db2"]) > 0
    assert "<svg" in (tmp_path / "shop" / "load.svg").read_text()


class Story:
    """The parts of the example in one process, so that a test can say what happens in which order."""

    def __init__(self, folder, monkeypatch, file="", rule="", without=""):
        shutil.copytree(EXAMPLE, folder, dirs_exist_ok=True)
        if file:
            source = (folder / file).read_text()
            assert source.count(rule) == 1, rule
            (folder / file).write_text(source.replace(rule, without))
        monkeypatch.chdir(folder)
        monkeypatch.delenv("SHARDS", raising=False)
        for command in ("segment create --config shop.toml --name orders", "key new ids.key"):
            subprocess.run([IDGEN, *command.split()], check=True, capture_output=True)
        self.version = 0
        self.share(0)
        monkeypatch.syspath_prepend(folder)
        for name in ("shop", "mover", "customers"):
            monkeypatch.setitem(sys.modules, name, None)  # which is undone when the test ends
            del sys.modules[name]
            setattr(self, name, importlib.import_module(name))
        self.buyers = self.shop.Shop()
        for name in ("db0", "db1"):
            self.buyers.shards.run(name, self.shop.TABLE)

    def share(self, percent):
        """All nodes are db0's, and this share of each has moved to db1."""
        self.version += 1
        moves = [(0, 65535, "db1", percent * 100)]
        idgen.RouteTable(self.version, 16, ["db0", "db1"], [(65535, "db0")], moves).write(
            "routes.toml", self.version - 1
        )
        if self.version > 1:
            self.buyers.router.reload()

    def new_mover(self):
        return self.mover.Mover("db0", "db1")

    def acknowledged(self, row):
        with open("journal.csv", "a") as journal:
            print(row.order_no, row.version, row.books, row.buyer_uid, sep=",", file=journal)
        return row

    def order(self):
        return self.acknowledged(self.buyers.order(42)).order_no

    def add(self, order_no):
        return self.acknowledged(self.buyers.add(order_no))

    def is_right(self):
        with pytest.raises(SystemExit) as done:
            self.customers.check()
        return done.value.code == 0


def a_change_comes_between_the_movers_look_and_its_move(story):
    order = story.order()
    story.share(100)
    mover = story.new_mover()
    leave = mover.leave

    def leave_late(row, shard):
        mover.leave = leave
        story.add(order)
        return leave(row, shard)

    mover.leave = leave_late
    while mover.sweep():
        pass


def a_mover_that_stood_still_wakes_up_after_another_has_done_its_work(story):
    order = story.order()
    story.share(100)
    mover = story.new_mover()
    (row,) = mover.shards.rows("db0", "moved_to IS NULL")
    left = mover.leave(row, "db1")
    story.new_mover()
    story.add(order)
    mover.arrive(left)


def it_wakes_up_after_the_way_back(story):
    order = story.order()
    story.share(100)
    mover = story.new_mover()
    (row,) = mover.shards.rows("db0", "moved_to IS NULL")
    left = mover.leave(row, "db1")
    story.share(0)
    while story.new_mover().sweep():
        pass
    mover.arrive(left)
    story.add(order)
    while story.new_mover().sweep():
        pass


def an_order_is_placed_by_a_table_that_is_replaced_meanwhile(story):
    insert = story.buyers.shards.insert

    def insert_late(row):
        story.buyers.shards.insert = insert
        story.share(100)
        assert story.new_mover().sweep() == 0  # the last one
        insert(row)

    story.buyers.shards.insert = insert_late
    story.order()


def a_mover_is_killed_while_an_order_is_moved(story):
    order = story.order()
    story.share(100)
    mover = story.new_mover()
    (row,) = mover.shards.rows("db0", "moved_to IS NULL")
    assert mover.leave(row, "db1")
    assert story.buyers.find(order).books == 1
    story.new_mover()


WORST = [
    (
        a_change_comes_between_the_movers_look_and_its_move,
        "mover.py",
        "version = version + 1 WHERE order_id = ? AND version = ?",
        "version = version + 1 WHERE order_id = ? AND ? > 0",
    ),
    (
        a_mover_that_stood_still_wakes_up_after_another_has_done_its_work,
        "mover.py",
        "WHERE order_id = ? AND version < ?",
        "WHERE order_id = ? AND ? > 0",
    ),
    (
        it_wakes_up_after_the_way_back,
        "mover.py",
        "WHERE order_id = ? AND version < ?",
        "WHERE order_id = ? AND ? > 0",
    ),
    (
        an_order_is_placed_by_a_table_that_is_replaced_meanwhile,
        "shop.py",
        "if self.router.route(id).shard == row.shard:",
        "if True:",
    ),
    (
        a_mover_is_killed_while_an_order_is_moved,
        "mover.py",
        "                self.arrive(left)\n\n",
        "                pass\n\n",
    ),
]


@pytest.mark.parametrize("events", [worst[0] for worst in WORST])
def test_a_mover_and_customers_lose_no_change_in_the_worst_order_of_events(events, tmp_path, monkeypatch):
    story = Story(tmp_path, monkeypatch)
    events(story)
    assert story.is_right()


@pytest.mark.parametrize(("events", "file", "rule", "without"), WORST)
def test_without_one_of_the_rules_the_check_of_the_example_fails(events, file, rule, without, tmp_path, monkeypatch):
    story = Story(tmp_path, monkeypatch, file, rule, without)
    events(story)
    assert not story.is_right()


def test_a_change_of_an_order_that_has_left_waits_until_it_has_arrived(tmp_path, monkeypatch):
    story = Story(tmp_path, monkeypatch)
    order = story.order()
    story.share(100)
    mover = story.new_mover()
    (row,) = mover.shards.rows("db0", "moved_to IS NULL")
    left = mover.leave(row, "db1")
    looked = threading.Event()
    find = story.buyers.find
    story.buyers.find = lambda order_no: (find(order_no), looked.set())[0]
    with ThreadPoolExecutor() as threads:
        added = threads.submit(story.add, order)
        assert looked.wait(patience(30))
        mover.arrive(left)
        assert added.result().books == 2
    assert story.is_right()


@pytest.mark.parametrize("percent", [0, 100])
def test_a_customer_finds_and_changes_an_order_by_a_table_of_long_ago(percent, tmp_path, monkeypatch):
    story = Story(tmp_path, monkeypatch)
    story.share(100 - percent)
    order = story.order()
    stale = story.shop.Shop()
    stale.router = idgen.Router(
        idgen.RouteTable(1, 16, ["db0", "db1"], [(65535, f"db{(100 - percent) // 100}")]), layout="business64"
    )
    story.share(percent)
    story.new_mover().sweep()
    story.add(order)
    assert stale.find(order).books == 2
    assert story.acknowledged(stale.add(order)).books == 3
    assert story.is_right()


def test_what_orders_left_behind_is_deleted_and_an_order_that_has_not_arrived_is_not(tmp_path, monkeypatch):
    story = Story(tmp_path, monkeypatch)
    orders = [story.order(), story.order()]
    story.share(100)
    mover = story.new_mover()
    mover.leave(mover.shards.rows("db0", "moved_to IS NULL")[0], "db1")
    mover.sweep()
    story.mover.forget()
    assert mover.shards.rows("db0", "1 = 1") == []
    assert {row.order_no for row in mover.shards.rows("db1", "1 = 1")} == set(orders)
    assert story.is_right()
