"""Draws ids over idgen.sql.SqlStore and a pool of one connection. Its twins are HostDrawing.java and host_go/.

    host_drawing.py URL BATCH KEY=VALUE...

As drawing.py, but for BATCH above 0 it draws until it is killed. URL is that of the native store, or the word native:
then the native store is used, which the key store names. BATCH can be statements or max_of, too: then it prints what
segment_statements or segment_max_of gives, and draws nothing. Of the keys, table and column are for max_of,
pool.autocommit=false makes the pool's connections need a commit, pool.broken=TEXT makes the pool fail with that text;
all others are properties of idgen.
"""

import sys
import threading
import urllib.parse

import idgen
import psycopg
import pymysql


class Pool:
    """One connection: a store that does not give it back gets no other."""

    def __init__(self, url, autocommit, broken):
        self.url = urllib.parse.urlsplit(url)
        self.autocommit = autocommit
        self.broken = broken
        self.connection = None
        self.free = threading.Semaphore()

    def take(self):
        if self.broken:
            raise RuntimeError(self.broken)
        if not self.free.acquire(timeout=10):
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
            return pymysql.connect(database="ids", read_timeout=5, write_timeout=5, **options)
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


def main(url, batch, *pairs):
    properties = dict(pair.split("=", 1) for pair in pairs)
    pool = Pool(url, properties.pop("pool.autocommit", "true") == "true", properties.pop("pool.broken", ""))
    if url != "native":
        properties["store"] = idgen.sql.SqlStore(pool.take, release=pool.put)
    if batch in ("statements", "max_of"):
        print(told(batch, {key.replace(".", "_"): value for key, value in properties.items()}), end="")
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
