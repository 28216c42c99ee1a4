"""Draws ids over idgen.sql.SqlStore and a pool of one connection. Its twins are HostDrawing.java and host_go/.

    host_drawing.py URL BATCH KEY=VALUE...

As drawing.py, but for BATCH above 0 it draws until it is killed. URL is that of the native store, or the word native:
then the native store is used, which the key store names. BATCH can also be statements or max_of: then it prints the
result of segment_statements or segment_max_of, and draws nothing. Or it is the name of a scene below. Of the keys,
table and column are for max_of, pool.autocommit=false makes the pool's connections need a commit, pool.broken=TEXT
makes the pool fail with that text; all others are properties of idgen.
"""

import sys
import threading
import time
import urllib.parse

import idgen
import psycopg
import pymysql


class Pool:
    """One connection: a store that does not return it gets no other."""

    def __init__(self, url, autocommit, broken):
        self.url = urllib.parse.urlsplit(url)
        self.autocommit = autocommit
        self.broken = broken
        self.connection = None
        self.free = threading.Semaphore()

    def take(self):
        if self.broken:
            raise RuntimeError(self.broken)
        if not self.free.acquire(timeout=60):
            raise TimeoutError("the pool's one connection was not given back")
        try:
            if self.connection is None:
                self.connection = self.connect()
            return self.connection
        except BaseException:
            self.free.release()
            raise

    def put(self, connection):
        lost = connection.closed if isinstance(connection, psycopg.Connection) else not connection.open
        self.connection = None if lost else connection
        self.free.release()

    def connect(self):
        options = {
            "host": self.url.hostname,
            "port": self.url.port,
            "user": self.url.username,
            "password": urllib.parse.unquote(self.url.password),
            "autocommit": self.autocommit,
            "connect_timeout": 5,
        }
        if self.url.scheme == "mysql":
            return pymysql.connect(database="ids", ssl_disabled=True, read_timeout=5, write_timeout=5, **options)
        return psycopg.connect(dbname="ids", tcp_user_timeout=5000, **options)


def write(words):
    print(" ".join(words), flush=True)


def failure(error):
    return f"!{error.name} {error}".replace("\n", " ")


def draw(generator, count):
    """The failure, if there was one."""
    try:
        write(str(number) for number in generator.next_batch(count))
    except idgen.Error as error:
        write([*(str(number) for number in error.ids), failure(error)])
        return error
    return None


def told(what, properties):
    try:
        if what == "statements":
            return idgen.segment_statements(**properties)
        return f"{idgen.segment_max_of(**properties)}\n"
    except idgen.Error as error:
        return failure(error) + "\n"


def attempt(call, show=str):
    try:
        write([show(call())])
    except idgen.Error as error:
        write([failure(error)])


def tags(store, pool, tag, properties):
    """Makes, shows and lists tags through the store."""
    attempt(lambda: store.segment_create("default", tag))
    attempt(lambda: store.segment_create("default", tag))
    attempt(lambda: store.segment_show("default", tag), lambda info: f"{info.max_id} {info.grants}")
    attempt(lambda: store.segment_advance("default", tag, 1000), lambda info: str(info.max_id))
    attempt(lambda: store.segment_advance("default", tag, 10), lambda info: str(info.max_id))
    attempt(lambda: [row.max_id for row in store.segment_list() if row.tag == tag], lambda found: str(found[0]))
    attempt(lambda: store.segment_show("nobody", tag))


def inside(store, pool, tag, properties):
    """The pool lends the connection of a transaction, which has made a row and is committed afterwards."""
    connection = pool.take()
    with connection.cursor() as cursor:
        cursor.execute("BEGIN" if pool.autocommit else "SELECT 1")
        cursor.execute("INSERT INTO idgen_segment(ns, tag, max_id) VALUES('theirs', %s, 7)", (tag,))
    lending = idgen.sql.SqlStore(lambda: connection, release=lambda _: None)
    attempt(lambda: idgen.Generator(store=lending, **properties))
    connection.commit()


def emptied(store, pool, tag, properties):
    """The caller that draws ids holds the pool's only connection."""
    with idgen.Generator(store=store, **properties) as generator:
        connection = pool.take()
        began = time.monotonic()
        draw(generator, 1000)
        write([str(round(1000 * (time.monotonic() - began)))])
        pool.put(connection)
        while draw(generator, 10):
            pass


def cause(store, pool, tag, properties):
    try:
        idgen.Generator(store=store, **properties)
    except idgen.Error as error:
        write([type(error.__cause__).__name__])


def tables(store, pool, tag, properties):
    attempt(store.create_tables)
    attempt(store.create_tables)  # they are there already


def workers(store, pool, tag, properties):
    """The rows of the namespace."""
    attempt(lambda: len(store.worker_list(properties["namespace"])))
    for row in store.worker_list(properties["namespace"]):
        write([str(row.worker), str(row.fence), str(row.hw_ms), str(row.is_live).lower(), row.holder])


SCENES = (tags, inside, emptied, cause, tables, workers)


def main(url, batch, *pairs):
    properties = dict(pair.split("=", 1) for pair in pairs)
    pool = Pool(url, properties.pop("pool.autocommit", "true") == "true", properties.pop("pool.broken", ""))
    if url != "native":
        patience = {} if batch == "emptied" else {"pool_timeout": 30.0}  # however busy the machine is
        properties["store"] = idgen.sql.SqlStore(pool.take, release=pool.put, **patience)
    if batch in ("statements", "max_of"):
        print(told(batch, {key.replace(".", "_"): value for key, value in properties.items()}), end="")
        return
    for scene in SCENES:
        if scene.__name__ == batch:
            store = properties.pop("store")
            keywords = {key.replace(".", "_"): value for key, value in properties.items()}
            scene(store, pool, properties.get("tag"), keywords)
            return
    try:
        generator = idgen.Generator(**{key.replace(".", "_"): value for key, value in properties.items()})
    except idgen.Error as error:
        write([failure(error)])
        sys.exit(75 if error.retryable else 1)
    if int(batch) == 0:
        for line in sys.stdin:
            draw(generator, int(line))
        generator.close()
        return
    while True:
        error = draw(generator, int(batch))
        if error and not error.retryable:
            sys.exit(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
