#!/usr/bin/env python3
"""Invoices with numbers that people read out: INV-2026-000417-3. The last digit is a check.

    invoices.py bill COUNT PROCESSES   writes that many invoices, in so many processes at once
    invoices.py find NUMBER            shows an invoice; a slip in the number is said to be one
    invoices.py check                  every number came once, and each year's are counted from 1

In the folder with invoices.toml. DATABASE says where the invoices are: `sqlite:invoices.db`, the default, or
`mysql://user:password@host:port/name`; STORE, where the numbers come from, if not from the file's store.
"""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
import sys
import urllib.parse
from typing import Any

import idgen

CONFIG = "invoices.toml"
OVERRIDES: Any = {"store": os.environ["STORE"]} if "STORE" in os.environ else {}
TABLE = """CREATE TABLE IF NOT EXISTS invoice (
    number VARCHAR(40) PRIMARY KEY, purchase VARCHAR(40) NOT NULL UNIQUE, customer BIGINT NOT NULL)"""


def connect() -> tuple[Any, str]:
    """A connection, and how it marks a parameter."""
    url = os.environ.get("DATABASE", "sqlite:invoices.db")
    if url.startswith("sqlite:"):
        return sqlite3.connect(url.removeprefix("sqlite:"), timeout=60, isolation_level=None), "?"
    import pymysql

    parts = urllib.parse.urlsplit(url)
    return pymysql.connect(
        host=parts.hostname,
        port=parts.port or 3306,
        user=parts.username,
        password=parts.password or "",
        database=parts.path.strip("/"),
        autocommit=True,
    ), "%s"


def bill(count: int) -> None:
    connection, mark = connect()
    with (
        idgen.open(CONFIG, "invoices", **OVERRIDES) as invoices,
        idgen.open(CONFIG, "orders", **OVERRIDES) as orders,
    ):
        for customer in range(count):
            connection.cursor().execute(
                f"INSERT INTO invoice VALUES ({mark}, {mark}, {mark})",  # no user's text
                (invoices.next_text(), orders.next_text(), customer),
            )


def find(number: str) -> None:
    # The pattern says what is wrong with a number before the database is asked for it.
    try:
        parts = idgen.TextPattern.open(CONFIG, "invoices").parse(number)
    except idgen.Error as error:
        sys.exit(str(error))
    connection, mark = connect()
    cursor = connection.cursor()
    cursor.execute(f"SELECT purchase, customer FROM invoice WHERE number = {mark}", (number,))
    found = cursor.fetchone()
    if found is None:
        sys.exit(f"{number}: a right number, and no invoice has it")
    print(f"{number}: number {parts.number} of {parts.year}, for the order {found[0]} of customer {found[1]}")


def check() -> None:
    connection, _ = connect()
    cursor = connection.cursor()
    cursor.execute("SELECT number, purchase FROM invoice")
    rows = cursor.fetchall()
    pattern = idgen.TextPattern.open(CONFIG, "invoices")
    parts = [pattern.parse(number) for number, _ in rows]
    assert len({part.id for part in parts}) == len({order for _, order in rows}) == len(rows), "a number came twice"
    for year in sorted({part.year for part in parts}):
        numbers = [part.number for part in parts if part.year == year]
        print(f"{year}: {len(numbers)} invoices, from {min(numbers)} to {max(numbers)}, none twice")


def main() -> None:
    match sys.argv[1:]:
        case ["bill", count, processes]:
            connect()[0].cursor().execute(TABLE)
            # Not forked: a generator is opened in the process that uses it.
            context = multiprocessing.get_context("spawn")
            workers = [context.Process(target=bill, args=[int(count) // int(processes)]) for _ in range(int(processes))]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
                if worker.exitcode != 0:
                    sys.exit("an invoice could not be written")
        case ["find", number]:
            find(number)
        case ["check"]:
            check()
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
