#!/usr/bin/env python3
"""The customers of the shop, and what they would find out.

customers.py load PORT...   order, add books and look at these servers, until told to stop; into journal.csv goes
                            what the servers acknowledged
customers.py check          fails unless each order is in its shard, once, with every change of the journal
customers.py wait PORT...   until these servers have the table of routes.toml
customers.py count          orders in each shard, and of each node
"""

from __future__ import annotations

import csv
import json
import os
import random
import sys
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import idgen
from shop import Row, Shards, until_told_to_stop


def call(method: str, port: int, path: str) -> Any:
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", method=method)
    with urllib.request.urlopen(request, timeout=120) as answer:
        return json.load(answer)


def load(ports: list[int]) -> None:
    known = {order_no: max(told) for order_no, told in read_journal().items()}
    counts = {"orders": 0, "changes": 0, "reads": 0}
    lost: list[str] = []
    lock = threading.Lock()

    def ask(what: str, method: str, path: str) -> None:
        before = known.get(path.removeprefix("/orders/"))
        try:
            answer = call(method, random.choice(ports), path)
        except urllib.error.HTTPError as error:
            lost.append(f"{method} {path}: {error.code} {error.read().decode()}")
            return
        order_no, *now = (answer[name] for name in ("order_no", "version", "books", "buyer_uid"))
        with lock:
            counts[what] += 1
            if before and (now[0] < before[0] or now[1] < before[1]):
                lost.append(f"{method} {path}: {answer}, after version {before[0]} with {before[1]} books")
            if what != "reads":
                writer.writerow([order_no, *now])
                known[order_no] = max(tuple(now), known.get(order_no, (0,)))

    def customer() -> None:
        while not stop.is_set():
            ask("orders", "POST", f"/orders?buyer_uid={random.randrange(10_000)}")
            with lock:
                some = random.choices(list(known), k=3)  # any customer may change any order
            for order_no in some:
                ask("changes", "POST", f"/orders/{order_no}")
                ask("reads", "GET", f"/orders/{order_no}")

    with until_told_to_stop() as stop, open("journal.csv", "a") as journal, ThreadPoolExecutor(4) as threads:
        writer = csv.writer(journal)
        customers = [threads.submit(customer) for _ in range(4)]
        print("the customers are here", flush=True)
        for each in customers:
            each.result()
    print(", ".join(f"{count} {what}" for what, count in counts.items()) + f", {len(lost)} of them wrong")
    for line in lost[:5]:
        print(line)
    sys.exit(1 if lost or 0 in counts.values() else 0)


def read_journal() -> dict[str, list[tuple[int, ...]]]:
    """What customers were told: version, books and buyer after each change, by order number."""
    journal: dict[str, list[tuple[int, ...]]] = {}
    if os.path.exists("journal.csv"):
        with open("journal.csv") as lines:
            for order_no, *told in csv.reader(lines):
                journal.setdefault(order_no, []).append(tuple(map(int, told)))
    return journal


def check() -> None:
    router = idgen.Router.open("routes.toml", layout="business64")
    shards = Shards()
    orders: dict[str, list[Row]] = {}
    wrong = []
    for shard in router.shards:
        for row in shards.rows(shard, "moved_to IS NULL"):
            orders.setdefault(row.order_no, []).append(row)
            route = router.route(row.order_id)
            if route.shard != shard or route.node != router.route_owner(row.buyer_uid).node:
                wrong.append(f"{row} is not in the shard of its buyer")
    journal = read_journal()
    for order_no, told in journal.items():
        told.sort()
        version, books, buyer_uid = told[-1]
        rows = orders.get(order_no, [])
        if [change[1] for change in told] != list(range(1, len(told) + 1)):
            wrong.append(f"{order_no} does not have one book more after each change: {told}")
        elif len(rows) != 1:
            wrong.append(f"{order_no} is not in one shard: {rows}")
        elif (rows[0].books, rows[0].buyer_uid) != (books, buyer_uid) or rows[0].version < version:
            wrong.append(f"{rows[0]} is not as its last change left it: {told[-1]}")
    print(f"{len(journal)} orders, {sum(map(len, journal.values()))} versions in the journal, {len(wrong)} wrong")
    for line in wrong[:5]:
        print(line)
    sys.exit(1 if wrong or not journal else 0)


def wait(ports: list[int]) -> None:
    version = idgen.RouteTable.read("routes.toml").version
    for port in ports:
        while call("GET", port, "/version")["version"] < version:
            time.sleep(0.1)


def count() -> None:
    router = idgen.Router.open("routes.toml", layout="business64")
    shards = Shards()
    by_node: dict[int, int] = {}
    for shard in router.shards:
        rows = shards.rows(shard, "moved_to IS NULL")
        print(f"{shard}: {len(rows)} orders", file=sys.stderr)
        for row in rows:
            node = router.route(row.order_id).node
            by_node[node] = by_node.get(node, 0) + 1
    print("node,load")
    for node, orders in sorted(by_node.items()):
        print(f"{node},{orders}")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["load", *ports]:
            load([int(port) for port in ports])
        case ["check"]:
            check()
        case ["wait", *ports]:
            wait([int(port) for port in ports])
        case ["count"]:
            count()
        case _:
            sys.exit(__doc__)
