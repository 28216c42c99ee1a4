#!/usr/bin/env python3
"""A small shop: buyers order books, orders live in the shard of their buyer, and URLs show hidden order numbers.

    shop.py create SHARD...  the table of the orders
    shop.py serve PORT       POST /orders?buyer_uid=42 makes an order, POST /orders/NUMBER adds a book to it,
                             GET /orders/NUMBER shows it

In the folder with shop.toml, routes.toml and ids.key. SHARDS says where the shards are: `sqlite:{name}.db`, the
default, or `mysql://user:password@host:port/{name}`.
"""

from __future__ import annotations

import http.server
import json
import os
import signal
import sqlite3
import sys
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import idgen

TABLE = """CREATE TABLE IF NOT EXISTS test_order (
  order_id BIGINT PRIMARY KEY,
  order_no VARCHAR(13) NOT NULL,
  buyer_uid BIGINT NOT NULL,
  books INT NOT NULL,
  version BIGINT NOT NULL,
  moved_to VARCHAR(128)
)"""


class Row(NamedTuple):
    """An order as one shard has it."""

    shard: str  # the rest are the columns
    order_id: int  # its gene is that of buyer_uid
    order_no: str  # its hidden form as text, which customers see
    buyer_uid: int
    books: int  # what customers change
    version: int  # starts at 1; each change, and each move, makes it 1 higher
    moved_to: str | None = None  # None: the order is here. Else it has left for this shard, and is not changed here


COLUMNS = Row._fields[1:]


class Shards:
    """Where the orders are. One connection per thread and shard."""

    def __init__(self) -> None:
        self.url = os.environ.get("SHARDS", "sqlite:{name}.db")
        self.is_sqlite = self.url.startswith("sqlite:")
        self.open = threading.local()

    def connection(self, shard: str) -> Any:
        mine = self.open.__dict__
        if shard not in mine:
            mine[shard] = self._connect(shard)
        return mine[shard]

    def _connect(self, shard: str) -> Any:
        url = self.url.replace("{name}", shard)
        if self.is_sqlite:
            return sqlite3.connect(url.removeprefix("sqlite:"), timeout=30, isolation_level=None)
        import pymysql

        parts = urllib.parse.urlsplit(url)
        return pymysql.connect(
            host=parts.hostname,
            port=parts.port or 3306,
            user=urllib.parse.unquote(parts.username or ""),
            password=urllib.parse.unquote(parts.password or ""),
            database=parts.path[1:],
            autocommit=True,
        )

    def run(self, shard: str, statement: str, *values: object) -> Any:
        """One statement, committed by itself. Its cursor."""
        cursor = self.connection(shard).cursor()
        cursor.execute(statement if self.is_sqlite else statement.replace("?", "%s"), values)
        return cursor

    def rows(self, shard: str, where: str, *values: object) -> list[Row]:
        found = self.run(shard, f"SELECT {', '.join(COLUMNS)} FROM test_order WHERE {where}", *values)
        return [Row(shard, *columns) for columns in found]

    def insert(self, row: Row, or_ignore: bool = False) -> None:
        ignore = ("OR IGNORE" if self.is_sqlite else "IGNORE") if or_ignore else ""
        marks = ", ".join("?" for _ in COLUMNS)
        self.run(row.shard, f"INSERT {ignore} INTO test_order ({', '.join(COLUMNS)}) VALUES ({marks})", *row[1:])


@contextmanager
def until_told_to_stop() -> Iterator[threading.Event]:
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    yield stop


class Shop:
    """Orders by their numbers. These are hidden ids, made and turned back here."""

    def __init__(self) -> None:
        self.orders = idgen.open("shop.toml", "orders")
        self.cipher = idgen.IdCipher.open("shop.toml", "orders")
        self.router = idgen.Router.open("routes.toml", layout=self.orders.layout)
        self.shards = Shards()

    def order(self, buyer_uid: int) -> Row:
        id = self.orders.next_for(buyer_uid)
        order_no = idgen.format_id(self.cipher.hide(id), "crockford")
        while True:
            row = Row(self.router.route(id).shard, id, order_no, buyer_uid, books=1, version=1)
            self.shards.insert(row)
            if self.router.route(id).shard == row.shard:
                return row
            # The table has changed, and the mover may have looked here for the last time. No customer knows the order
            # yet, so take it back, unless the mover has moved it.
            take_back = "DELETE FROM test_order WHERE order_id = ? AND version = 1"
            if self.shards.run(row.shard, take_back, id).rowcount == 0:
                return row

    def find(self, order_no: str) -> Row | None:
        """The order where it is or, while it is moved, what it left behind."""
        id = self.cipher.reveal(idgen.parse_id(order_no, "crockford"))
        route = self.router.route(id)
        newest = None
        places = [route.shard] if route.second is None else [route.shard, route.second]
        for shard in places:
            for row in self.shards.rows(shard, "order_id = ?", id):
                if row.moved_to is None:
                    return row
                if row.moved_to not in places:  # the table of this process is old
                    places.append(row.moved_to)
                if newest is None or row.version > newest.version:
                    newest = row
        return newest

    def add(self, order_no: str) -> Row | None:
        """One more book. If the version is no longer the one that was read, look again: maybe the order has moved."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            row = self.find(order_no)
            if row is None:
                return None
            if row.moved_to is None:
                change = "UPDATE test_order SET books = ?, version = version + 1 WHERE order_id = ? AND version = ?"
                if self.shards.run(row.shard, change, row.books + 1, row.order_id, row.version).rowcount == 1:
                    return row._replace(books=row.books + 1, version=row.version + 1)
            time.sleep(0.01)
        raise TimeoutError(f"order {order_no} has left its shard and not arrived in another; does the mover run?")


class Handler(http.server.BaseHTTPRequestHandler):
    shop: Shop
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        url = urllib.parse.urlsplit(self.path)
        if url.path == "/orders":
            row = self.shop.order(int(urllib.parse.parse_qs(url.query)["buyer_uid"][0]))
            self.answer(201, self.shown(row))
        else:
            self.answer_with(self.shop.add)

    def do_GET(self) -> None:
        if self.path == "/version":
            self.answer(200, {"version": self.shop.router.version})
        else:
            self.answer_with(self.shop.find)

    def answer_with(self, look_up: Callable[[str], Row | None]) -> None:
        try:
            row = look_up(self.path.removeprefix("/orders/"))
        except idgen.Error as error:  # no id at all, or not one of ours
            self.answer(400, {"error": str(error)})
        except TimeoutError as error:
            self.answer(503, {"error": str(error)})
        else:
            self.answer(200 if row else 404, self.shown(row) if row else {"error": "no such order"})

    def shown(self, row: Row) -> dict[str, Any]:
        return {name: getattr(row, name) for name in ("order_no", "buyer_uid", "books", "version")}

    def answer(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *values: object) -> None:
        pass


def serve(port: int) -> None:
    Handler.shop = Shop()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with until_told_to_stop() as stop:
        print(f"the shop is open at port {server.server_port}", flush=True)
        stop.wait()
    server.shutdown()
    Handler.shop.orders.close()


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["create", *names]:
            for name in names:
                Shards().run(name, TABLE)
        case ["serve", port]:
            serve(int(port))
        case _:
            sys.exit(__doc__)
