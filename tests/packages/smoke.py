"""What a user does with the wheel in an empty environment: smoke.py FOLDER, where it may write."""

import os
import sqlite3
import sys

import idgen

folder = os.path.abspath(sys.argv[1])
store = f"sqlite:{folder}/ids.db"

with idgen.Generator(kind="segment", tag="orders", store="memory", store_create=True) as orders:
    assert [orders.next(), orders.next()] == [1, 2]
with idgen.Generator(worker=7, store="memory", store_create=True) as events:
    assert events.decode(events.next()).worker == 7
assert idgen.Layout("twitter").decode(1541815603606036480).worker == 26

with open(f"{folder}/idgen.toml", "w") as file:
    file.write(f"""
        [orders]
        kind = "segment"
        store = "{store}"
        [events]
        worker = "auto"
        store = "{store}"
    """)
idgen.store_create(store=store)
idgen.segment_create(store=store, tag="orders")
with idgen.open(f"{folder}/idgen.toml", "orders") as orders, idgen.open(f"{folder}/idgen.toml", "events") as events:
    orders.next(), events.next()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, f"{orders.next()} {events.next()}".encode())
        os._exit(0)
    own = [orders.next(), events.next()]
    foreign = os.read(read, 100).split()
    assert os.waitpid(child, 0)[1] == 0
    assert len(foreign) == 2, "the child draws an id from each"
    assert not {*map(int, foreign)} & {*own}, "parent and child never have the same id"
    with sqlite3.connect(f"{folder}/ids.db") as other:  # Python's SQLite, beside the one inside
        assert other.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] > 0
    other.close()
    assert orders.next() > own[0]

said = "nothing"
try:
    idgen.Generator(kind="segment", tag="orders", store="redis://localhost")
except idgen.Error as error:
    said = str(error)
assert "libidgen_redis.so" in said, f"a store over a network needs a module, and the wheel has none; it said: {said}"
print(f"idgen {idgen.__version__} on Python {sys.version.split()[0]}")
