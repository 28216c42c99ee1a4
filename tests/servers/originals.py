"""The originals whose tables idgen draws from, as a team runs them: partners for tests in which both run at once.

In this process, Leaf(server).issue(tag, count) or Tinyid(server).issue(biz_type, count): the ids, in the order of
issue. As separate processes, all used in the same way:

    with rewritten("leaf", server, tag) as process:      or cosid(jar, server, name)
        process.issue(count)                             the ids; or ask(count), and later answer()

Snowflakes, whose workers' numbers are in the originals' rows:

    with uid_generator(jar, server) as process:      or cosid_machine(jar, server, instance, namespace)
    with LeafSnowflake(server, name, address, cache) as process:

CosId is the real cosid-core, in the Java program in cosid/: on Redis over the real cosid-spring-redis, on MariaDB with
the statements and the transactions of cosid-jdbc rewritten. uid-generator is the real one too. Leaf, tinyid and
key_producer, which are not on Maven Central, are rewritten, with their statements, transactions and arithmetic. One
thing differs: in segment mode Leaf and tinyid load the next segment on a thread. Here the caller does it, so that the
numbers drawn are known exactly.

    originals.py leaf|tinyid|key_producer|incr SERVER PORT TAG    for each number N on standard input: N ids, in lines
"""

import contextlib
import os
import socket
import subprocess
import sys
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace

import psycopg
import pymysql

import servers

JAVA = ("java", "-Xmx128m", "-XX:TieredStopAtLevel=1")


def connect(server):
    place = {"host": servers.HOST, "port": server.port, "user": "app", "password": servers.PASSWORD}
    if server.name == "postgres":  # the server's default, also in a test that changes it for idgen
        return psycopg.connect(dbname="ids", options=r"-c default_transaction_isolation=read\ committed", **place)
    return pymysql.connect(database="ids", **place)


@contextlib.contextmanager
def rolled_back_on_error(connection):
    """What was not committed, that is."""
    try:
        yield
    except BaseException:
        connection.rollback()
        raise


class Original:
    def issue(self, tag, count):
        return [self.next_id(tag) for _ in range(count)]


class Leaf(Original):
    """Leaf's segment mode: rows of leaf_alloc. A segment is max_id - step up to, but without, max_id.

    The row's step applies to the first two segments. After that each is twice as large as the one before if that lasted
    less than a quarter of an hour, half as large if it lasted more than half an hour, but never smaller than the row's
    step.
    """

    MAX_STEP = 1_000_000
    SEGMENT_SECONDS = 15 * 60

    def __init__(self, server, clock=time.time):
        self.connection = connect(server)
        self.clock = clock
        self.buffers = {}

    def next_id(self, tag):
        buffer = self.buffers.get(tag)
        if buffer is None:
            buffer = LeafBuffer(tag)
            buffer.current = self.load(buffer)
            self.buffers[tag] = buffer
        while True:
            segment = buffer.current
            if buffer.next is None and segment.max - segment.value < 0.9 * segment.step:
                buffer.next = self.load(buffer)
            value = segment.value
            segment.value += 1
            if value < segment.max:
                return value
            buffer.current, buffer.next = buffer.next, None

    def load(self, buffer):
        step = None if buffer.loaded_at is None else self.next_step(buffer)
        max_id, buffer.min_step = self.draw(buffer.tag, step)
        buffer.step = step or buffer.min_step
        if buffer.current is not None:
            buffer.loaded_at = self.clock()
        return LeafSegment(max_id - buffer.step, max_id, buffer.step)

    def next_step(self, buffer):
        lasted = self.clock() - buffer.loaded_at
        if lasted < self.SEGMENT_SECONDS:
            return buffer.step if buffer.step * 2 > self.MAX_STEP else buffer.step * 2
        if lasted < self.SEGMENT_SECONDS * 2:
            return buffer.step
        return buffer.step // 2 if buffer.step // 2 >= buffer.min_step else buffer.step

    def draw(self, tag, step=None):
        """max_id and step of the row, in one transaction at the server's isolation."""
        with rolled_back_on_error(self.connection), self.connection.cursor() as cursor:
            if step is None:
                cursor.execute("UPDATE leaf_alloc SET max_id = max_id + step WHERE biz_tag = %s", (tag,))
            else:
                cursor.execute("UPDATE leaf_alloc SET max_id = max_id + %s WHERE biz_tag = %s", (step, tag))
            cursor.execute("SELECT biz_tag, max_id, step FROM leaf_alloc WHERE biz_tag = %s", (tag,))
            row = cursor.fetchone()
            if row is None:
                raise KeyError(tag)
            self.connection.commit()
        return row[1], row[2]


@dataclass
class LeafSegment:
    value: int
    max: int
    step: int


@dataclass
class LeafBuffer:
    tag: str
    current: LeafSegment | None = None
    next: LeafSegment | None = None
    step: int = 0
    min_step: int = 0
    loaded_at: float | None = None  # of the second segment and those after it


class Conflict(Exception):
    """Others were faster, three times in a row: "get next segmentId conflict"."""


class Tinyid:
    """tinyid's server and client in one: rows of tiny_id_info. A segment is what lies above the old max_id, up to and
    with the new one, and has the row's remainder when divided by delta.

    A caller who gets an error from tinyid asks again, and so does issue(); conflicts counts how often others won.
    """

    RETRIES = 3
    LOADING_PERCENT = 20

    def __init__(self, server):
        self.connection = connect(server)
        with self.connection.cursor() as cursor:
            cursor.execute("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
        self.buffers = {}
        self.conflicts = 0

    def issue(self, biz_type, count):
        ids = []
        while len(ids) < count:
            try:
                ids.append(self.next_id(biz_type))
            except Conflict:
                self.conflicts += 1
        return ids

    def next_id(self, biz_type):
        buffer = self.buffers.setdefault(biz_type, TinyidBuffer())
        while True:
            if buffer.current is not None:
                number = buffer.current.next_id()
                if number <= buffer.current.max:
                    if number >= buffer.current.loading and buffer.next is None:
                        self.load_next(biz_type, buffer)
                    return number
            buffer.current, buffer.next = buffer.next or self.draw(biz_type), None

    def load_next(self, biz_type, buffer):
        """Ahead of need, so a failure concerns nobody: the next id tries again."""
        try:
            buffer.next = self.draw(biz_type)
        except Conflict:
            self.conflicts += 1

    def draw(self, biz_type):
        """Reads the row and replaces what it has read, all tries in one transaction."""
        with rolled_back_on_error(self.connection):
            for _ in range(self.RETRIES):
                number, old, step, delta, remainder, version = self.read(biz_type)
                if self.replace(number, old + step, old, version, biz_type):
                    self.connection.commit()
                    loading = old + step * self.LOADING_PERCENT // 100
                    return TinyidSegment(old, old + step, loading, delta, remainder)
            raise Conflict(biz_type)

    def read(self, biz_type):
        with self.connection.cursor() as cursor:
            cursor.execute(
                "select id, biz_type, begin_id, max_id, step, delta, remainder, create_time, update_time, version"
                " from tiny_id_info where biz_type = %s",
                (biz_type,),
            )
            row = cursor.fetchone()
        if row is None:
            raise KeyError(biz_type)
        return row[0], row[3], row[4] or 0, row[5], row[6], row[9]

    def replace(self, number, new, old, version, biz_type):
        with self.connection.cursor() as cursor:
            return cursor.execute(
                "update tiny_id_info set max_id= %s, update_time=now(), version=version+1"
                " where id=%s and max_id=%s and version=%s and biz_type=%s",
                (new, number, old, version, biz_type),
            )


@dataclass
class TinyidSegment:
    current: int
    max: int
    loading: int
    delta: int
    remainder: int
    aligned: bool = False

    def next_id(self):
        if not self.aligned:
            self.align()
        self.current += self.delta
        return self.current

    def align(self):
        """One step below the first number that has the remainder."""
        if self.current % self.delta != self.remainder:
            for _ in range(self.delta + 1):
                self.current += 1
                if self.current % self.delta == self.remainder:
                    self.current -= self.delta
                    break
            else:
                return
        self.aligned = True


@dataclass
class TinyidBuffer:
    current: TinyidSegment | None = None
    next: TinyidSegment | None = None


class KeyProducer(Original):
    """Rows of key_producer with DATEFMT yyyyMMdd and NOFMT 00000000. A segment is what lies above the old MAXSERIALNO,
    up to and with the new one. Where its code is not published, it does what is right: a new day ends a segment.
    """

    CACHE = 50
    TRIES = 2
    DATE_FORMAT, NUMBER_FORMAT = "yyyyMMdd", "00000000"
    KEYS = "TABLENAME = %s AND COLUMNNAME = %s AND DATEFMT = %s AND NOFMT = %s"

    def __init__(self, server):
        self.connection = connect(server)
        self.day, self.number, self.end = "", 0, 0

    def next_id(self, name):
        today = time.strftime("%Y%m%d", time.gmtime())
        if today != self.day or self.number == self.end:
            self.day, self.number = today, self.draw(*name.split("."), today)
            self.end = self.number + self.CACHE
        self.number += 1
        return f"{self.day}{self.number:08}"

    def draw(self, table, column, today):
        """The old number. In one transaction, that of the second try begins where the first one gave up."""
        keys = (table, column, self.DATE_FORMAT, self.NUMBER_FORMAT)
        with rolled_back_on_error(self.connection):
            for _ in range(self.TRIES):
                with self.connection.cursor() as cursor:
                    old = self.read(cursor, keys)
                    start = self.start(cursor, keys, old, today)
                    new = f"{today}{start + self.CACHE:08}"
                    update = f"UPDATE key_producer SET MaxSerialNo = %s WHERE {self.KEYS} AND MaxSerialNo = %s"
                    cursor.execute(update, (new, *keys, old))
                    changed = cursor.rowcount
                self.connection.commit()
                if changed == 1:
                    return start
            raise Conflict(table)

    def read(self, cursor, keys):
        cursor.execute(f"SELECT MaxSerialNo FROM key_producer WHERE {self.KEYS} FOR UPDATE", keys)
        row = cursor.fetchone()
        if row:
            return row[0]
        columns = "TABLENAME, COLUMNNAME, DATEFMT, NOFMT, MAXSERIALNO"
        cursor.execute(f"INSERT INTO key_producer ({columns}) VALUES (%s, %s, %s, %s, 'INIT')", keys)
        return "INIT"

    def start(self, cursor, keys, old, today):
        if old == "INIT":
            cursor.execute(f"UPDATE key_producer SET MaxSerialNo = MaxSerialNo WHERE {self.KEYS}", keys)
            cursor.execute(f"SELECT MAX({keys[1]}) FROM {keys[0]} WHERE {keys[1]} LIKE %s", (today + "%",))
            old = cursor.fetchone()[0] or ""
        return int(old[len(today) :]) if old.startswith(today) else 0


class Process:
    """Issues as many ids as requested."""

    def __init__(self, command, **environment):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment}
        )

    def issue(self, count):
        self.ask(count)
        return self.answer()

    def ask(self, count):
        """Does not wait, so that several processes can work at once."""
        self.count = count
        self.process.stdin.write(f"{count}\n")
        self.process.stdin.flush()

    def answer(self):
        return [int(self.process.stdout.readline() or self.ended()) for _ in range(self.count)]

    def ended(self):
        raise RuntimeError(f"{self.process.args} ended with exit status {self.process.wait()}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        try:
            self.process.wait(servers.START_SECONDS)
        finally:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()


class Incr(Original):
    """A program that numbers its orders by INCR on one key a day, TAG:DATE, which expires."""

    SECONDS = 2 * 86_400  # after its first number

    def __init__(self, server):
        self.server = server
        self.run("AUTH", servers.PASSWORD)

    def next_id(self, tag):
        today = time.strftime("%Y%m%d", time.gmtime())
        key = f"{tag}:{today}"
        number = int(self.run("INCR", key))
        if number == 1:
            self.run("EXPIRE", key, str(self.SECONDS))
        return f"{today}{number:08}"

    @cached_property
    def stream(self):
        return socket.create_connection((servers.HOST, self.server.port)).makefile("rwb")

    def run(self, *words):
        """A command whose answer is one line."""
        self.stream.write(f"*{len(words)}\r\n".encode())
        for word in words:
            self.stream.write(f"${len(word)}\r\n{word}\r\n".encode())
        self.stream.flush()
        answer = self.stream.readline().decode().strip()
        assert answer[0] in ":+", answer
        return answer[1:]


def rewritten(kind, server, tag, **environment):
    """leaf, tinyid, incr, or key_producer, whose tag is TABLE.COLUMN."""
    return Process([sys.executable, __file__, kind, server.name, str(server.port), tag], **environment)


def java(program, server, *arguments):
    """Of a program for a MariaDB or a Redis."""
    place = f"{servers.HOST}:{server.port}"
    url = f"redis://{place}" if server.name == "redis" else f"jdbc:mariadb://{place}/ids?maxPoolSize=2"
    command = [*JAVA, *program, url, *map(str, arguments)]
    return Process(command, COSID_USER="app", COSID_PASSWORD=servers.PASSWORD)


def cosid(jar, server, name, namespace="cosid", offset=0, step=10, kind="segment"):
    """The row or key of NAMESPACE.NAME; CosId makes it if it is not there.

    kind "segment" (SegmentId) draws a step when it needs one; "chain" (SegmentChainId) draws several at a time, ahead.
    """
    return java(("-jar", jar), server, namespace, name, offset, step, kind)


EPOCH_MS = 1735689600000  # 2025-01-01
EPOCH_DAY = "2025-01-01"


def cosid_machine(jar, server, instance, namespace, bits=10, guard_ms=300_000):
    """A CosId process with a machine id in cosid_machine or in Redis, which reports five times in each guard."""
    program = ("-cp", jar, "dev.idgen.tests.CosIdMachine")
    return java(program, server, namespace, instance, bits, guard_ms, EPOCH_MS)


def uid_generator(jar, server, time_bits=31, worker_bits=22, sequence_bits=10):
    """Baidu's own classes, with a row in WORKER_NODE."""
    program = ("-cp", jar, "dev.idgen.tests.BaiduUid")
    return java(program, server, time_bits, worker_bits, sequence_bits, EPOCH_DAY)


class LeafSnowflake(Process):
    """Leaf's snowflake mode, with a node in ZooKeeper: the program in leaf/."""

    def __init__(self, server, name, address, cache):
        ip, port = address.split(":")
        program = Path(__file__).with_name("leaf") / "LeafSnowflake.java"
        super().__init__(
            [
                *(*JAVA, "-cp", servers.JARS, program),
                *(f"{servers.HOST}:{server.port}", name, ip, port, str(cache), str(EPOCH_MS)),
            ]
        )
        self.worker = int(self.process.stdout.readline() or self.ended())


def main():
    kind, server, port, tag = sys.argv[1:]
    original = {"leaf": Leaf, "tinyid": Tinyid, "key_producer": KeyProducer, "incr": Incr}[kind](
        SimpleNamespace(name=server, port=int(port))
    )
    for line in sys.stdin:
        print(*original.issue(tag, int(line)), sep="\n", flush=True)


if __name__ == "__main__":
    main()
