#!/usr/bin/env python3
"""A small shop: customers order, orders live in the shard of their customer, and URLs show hidden order numbers.

    shop.py serve PORT         POST /orders?customer=42 makes an order, GET /orders/HIDDEN shows it
    shop.py move FROM TO       copies rows of nodes in cut-over between two shards, until told to stop
    shop.py load SECONDS PORT...   orders and reads at these servers; fails if a read does not find its order
    shop.py count              orders in each shard

All in the folder with shop.toml, routes.toml and ids.key. SHARDS says where the shards are: `sqlite:{name}.db`, the
default, or `mysql://user:password@host:port/{name}`.
"""

from __future__ import annotations

import http.server
import json
import os
import random
import signal
import sqlite3
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import idgen

TABLE = (
    "CREATE TABLE IF NOT EXISTS test_order (order_id BIGINT PRIMARY KEY, customer BIGINT NOT NULL, item VARCHAR(40))"
)


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
            connection: Any = sqlite3.connect(url.removeprefix("sqlite:"), timeout=30, isolation_level=None)
        else:
            import pymysql

            parts = urllib.parse.urlsplit(url)
            connection = pymysql.connect(
                host=parts.hostname,
                port=parts.port or 3306,
                user=urllib.parse.unquote(parts.username or ""),
                password=urllib.parse.unquote(parts.password or ""),
                database=parts.path[1:],
                autocommit=True,
            )
        connection.cursor().execute(TABLE)
        return connection

    def run(self, shard: str, statement: str, *values: object) -> list[tuple[Any, ...]]:
        cursor = self.connection(shard).cursor()
        cursor.execute(statement if self.is_sqlite else statement.replace("?", "%s"), values)
        return list(cursor.fetchall())

    def insert(self, shard: str, *row: object) -> None:
        ignore = "OR IGNORE" if self.is_sqlite else "IGNORE"
        self.run(shard, f"INSERT {ignore} INTO test_order (order_id, customer, item) VALUES (?, ?, ?)", *row)


class Shop:
    """Orders by their plain ids; hidden ids are made and turned back at the edge."""

    def __init__(self) -> None:
        self.orders = idgen.open("shop.toml", "orders")
        self.cipher = idgen.IdCipher.open("shop.toml", "orders")
        self.router = idgen.Router.open("routes.toml", layout=self.orders.layout)
        self.shards = Shards()

    def order(self, customer: int, item: str) -> str:
        id = self.orders.next_for(customer)
        self.shards.insert(self.router.route(id).shard, id, customer, item)
        return idgen.format_id(self.cipher.hide(id), "base62")

    def find(self, hidden: str) -> dict[str, Any] | None:
        id = self.cipher.reveal(idgen.parse_id(hidden, "base62"))
        route = self.router.route(id)
        # Before the row: while nodes are in cut-over it may be in either shard, and be copied between the two looks.
        for shard in (route.shard, route.second, route.shard):
            if shard is None:
                break
            for customer, item in self.shards.run(
                shard, "SELECT customer, item FROM test_order WHERE order_id = ?", id
            ):
                return {"order": hidden, "customer": customer, "item": item, "shard": shard}
        return None


class Handler(http.server.BaseHTTPRequestHandler):
    shop: Shop
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        self.answer(201, {"order": self.shop.order(int(query["customer"][0]), "a book")})

    def do_GET(self) -> None:
        try:
            found = self.shop.find(self.path.removeprefix("/orders/"))
        except idgen.Error as error:  # no id at all, or not one of ours
            self.answer(400, {"error": str(error)})
        else:
            self.answer(200 if found else 404, found or {"error": "no such order"})

    def answer(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *values: object) -> None:
        pass


@contextmanager
def until_told_to_stop() -> Iterator[threading.Event]:
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    yield stop


def serve(port: int) -> None:
    Handler.shop = Shop()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"the shop is open: http://127.0.0.1:{server.server_port}/orders", flush=True)
    with until_told_to_stop() as stop:
        stop.wait()
    server.shutdown()
    Handler.shop.orders.close()


def move(source: str, target: str) -> None:
    """Moving rows is the team's own work: here, all rows that are on their way, again and again."""
    router = idgen.Router.open("routes.toml", layout="business64")
    shards = Shards()
    seen: set[int] = set()
    with until_told_to_stop() as stop:
        while True:
            for shard, other in ((source, target), (target, source)):
                for row in shards.run(shard, "SELECT order_id, customer, item FROM test_order"):
                    route = router.route(row[0])
                    # Into the shard where it is looked for first, from the other one.
                    if route.second == shard and route.shard == other and (row[0], other) not in seen:
                        shards.insert(other, *row)
                        seen.add((row[0], other))  # type: ignore[arg-type]
            if stop.wait(0.2):
                break
    print(f"{len(seen)} rows copied between {source} and {target}")


def load(seconds: float, ports: list[int]) -> None:
    end = time.monotonic() + seconds
    counts = {"ordered": 0, "read": 0}
    lost: list[str] = []
    lock = threading.Lock()

    def call(method: str, port: int, path: str) -> Any:
        request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def customer_of_the_shop(place: int) -> None:
        choice = random.Random(place)
        mine: dict[str, int] = {}
        while time.monotonic() < end:
            customer = choice.randrange(10_000)
            hidden = call("POST", choice.choice(ports), f"/orders?customer={customer}")["order"]
            mine[hidden] = customer
            for hidden in choice.sample(sorted(mine), min(3, len(mine))):
                try:
                    found = call("GET", choice.choice(ports), f"/orders/{hidden}")
                    if found["customer"] != mine[hidden]:
                        lost.append(f"{hidden}: of customer {found['customer']}, not {mine[hidden]}")
                except urllib.error.HTTPError as error:
                    lost.append(f"{hidden}: {error.code} {error.read().decode()}")
                with lock:
                    counts["read"] += 1
            with lock:
                counts["ordered"] += 1

    threads = [threading.Thread(target=customer_of_the_shop, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"{counts['ordered']} orders, {counts['read']} reads, {len(lost)} of them did not find their order")
    for line in lost[:5]:
        print(line)
    sys.exit(1 if lost or counts["ordered"] == 0 else 0)


def count() -> None:
    router = idgen.Router.open("routes.toml", layout="business64")
    shards = Shards()
    by_node: dict[int, int] = {}
    for shard in router.shards:
        rows = shards.run(shard, "SELECT order_id FROM test_order")
        print(f"{shard}: {len(rows)} orders", file=sys.stderr)
        for (id,) in rows:
            node = router.route(id).node
            by_node[node] = by_node.get(node, 0) + 1
    print("node,load")
    for node, orders in sorted(by_node.items()):
        print(f"{node},{orders}")


if __name__ == "__main__":
    command, *arguments = sys.argv[1:] or [""]
    if command == "serve":
        serve(int(arguments[0]))
    elif command == "move":
        move(*arguments)
    elif command == "load":
        load(float(arguments[0]), [int(port) for port in arguments[1:]])
    elif command == "count":
        count()
    else:
        sys.exit(__doc__)
