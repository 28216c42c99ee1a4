"""Customers of the services in examples/, and the account of what they were told. Works in the current folder.

    customers.py ask PORT             exit status 0 if a service answers there
    customers.py order PORT PORT...   orders from one or the other without a pause, until SIGTERM
    customers.py check LOG... < ROWS  ROWS: id, tab, customer of each row of the table; LOG: what the services wrote

Each attempt to order has a name of its own, so every row can be told from every other. Before it is sent, the name is
a line in the file `tried`. An order that was confirmed is a line in `placed`, and is read back; one that was not is a
line in `failed`, and is tried again under another name.
"""

import http.client
import json
import random
import signal
import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

CUSTOMERS = 8
PAUSE_SECONDS = 0.05  # after a failure
TIMEOUT_SECONDS = 30


def request(port, method, path, body=None):
    """Status and answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_SECONDS)
    try:
        headers = {"Content-Type": "application/json", "Connection": "close"}
        connection.request(method, path, body and json.dumps(body), headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


class Book:
    """The files, to which all customers write."""

    def __init__(self):
        self.lock = threading.Lock()

    def write(self, name, *words):
        with self.lock, Path(name).open("a") as file:
            file.write("\t".join(map(str, words)) + "\n")


class Customers:
    def __init__(self, ports):
        self.ports = ports
        self.book = Book()
        self.home = threading.Event()
        self.wrong = []

    def order(self, customer):
        number = attempt = 0
        while not self.home.is_set():
            if self.place(f"customer {customer}, order {number}, attempt {attempt}"):
                number, attempt = number + 1, 0
            else:
                attempt += 1
                self.home.wait(PAUSE_SECONDS)

    def place(self, name):
        self.book.write("tried", name)
        try:
            status, answer = request(random.choice(self.ports), "POST", "/orders", {"customer": name})
            if status != 201:
                raise OSError(f"{status} {answer}")
            order = json.loads(answer)
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.book.write("failed", name, " ".join(str(error).split()))
            return False
        self.book.write("placed", order["id"], name)
        self.read_back(order["id"], name)
        return True

    def read_back(self, number, name):
        try:
            status, answer = request(random.choice(self.ports), "GET", f"/orders/{number}")
        except (OSError, http.client.HTTPException):
            return  # it is looked for in the table later
        if status == 404 or (status == 200 and order_of(answer) != {"id": number, "customer": name}):
            self.wrong.append(f"order {number} of {name} was confirmed, but reading it gave {status} {answer!r}")

    def all_order(self):
        """Until SIGTERM, which the caller has blocked. What was wrong."""
        with ThreadPoolExecutor(CUSTOMERS) as threads:
            running = [threads.submit(self.order, number) for number in range(CUSTOMERS)]
            signal.sigwait({signal.SIGTERM})
            self.home.set()
            for one in running:
                one.result()
        return self.wrong


def order_of(answer):
    try:
        return json.loads(answer)
    except ValueError:
        return None


def lines(name):
    path = Path(name)
    return [line.split("\t") for line in path.read_text().splitlines()] if path.exists() else []


def check(rows, logs):
    """What is wrong. Prints the account if nothing is."""
    tried = {name for (name,) in lines("tried")}
    placed = [(int(number), name) for number, name in lines("placed")]
    failed = {name for name, _ in lines("failed")}
    table = dict(rows)
    wrong = [f"order {number} is in the table twice" for number in sorted(repeated(number for number, _ in rows))]
    wrong += [f"the order of {name} is in the table twice" for name in sorted(repeated(name for _, name in rows))]
    wrong += [f"order {number} was confirmed twice" for number in sorted(repeated(number for number, _ in placed))]
    wrong += [f"nobody placed the order of {name}" for name in sorted({*table.values()} - tried)]
    for number, name in placed:
        if table.get(number) != name:
            wrong.append(f"order {number} of {name} was confirmed, but the table has {table.get(number)}")
    for log in logs:
        text = Path(log).read_text(errors="replace")
        wrong += [f"{log}: {line}" for line in text.splitlines() if "duplicate" in line.lower()]
    if not wrong:
        print(f"{len(table)} orders in the table, all {len(placed)} that were confirmed among them; no id twice;")
        print(f"{len(failed)} attempts failed, and {len(table) - len(placed)} of these are in the table all the same")
    return wrong


def repeated(found):
    return {what for what, count in Counter(found).items() if count > 1}


def main(verb, *arguments):
    if verb == "ask":
        request(int(arguments[0]), "GET", "/orders/0")
        return []
    if verb == "order":
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})  # all_order waits for it
        return Customers([int(port) for port in arguments]).all_order()
    rows = [line.rstrip("\n").split("\t", 1) for line in sys.stdin]
    return check([(int(number), name) for number, name in rows], arguments)


if __name__ == "__main__":
    try:
        found = main(*sys.argv[1:])
    except OSError as error:
        found = [str(error)]
    for line in found:
        print(line, file=sys.stderr)
    sys.exit(bool(found))
