"""Workers on stores of the program's own: rows that it keeps, by hand or in a database."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from pathlib import Path
from typing import Any

import idgen
import pytest
from conftest import expect, in_child
from idgen.sql import SqlStore

MINE = "0123456789abcdef" * 2


class Table:
    """The rows of one namespace in memory."""

    def __init__(self) -> None:
        self.rows: dict[int, idgen.WorkerRow] = {}
        self.format = ""
        self.lock = threading.Lock()

    def namespace_format(self, namespace: str, format: str, /) -> str:
        with self.lock:
            self.format = self.format or format
            return self.format

    def worker_read(self, namespace: str, worker: int, /) -> idgen.WorkerRow:
        with self.lock:
            now = time.time_ns() // 1_000_000
            row = self.rows.get(worker)
            if row is None:
                return idgen.WorkerRow(worker, 0, "", 0, 0, 0, now, "")
            # lease_left_ms holds when the lease ends
            return row._replace(lease_left_ms=row.lease_left_ms - now, store_now_ms=now)

    def worker_list(self, namespace: str, /) -> list[idgen.WorkerRow]:
        return [self.worker_read(namespace, worker) for worker in sorted(self.rows)]

    def worker_replace(self, namespace: str, change: idgen.WorkerChange, /) -> bool:
        with self.lock:
            now = time.time_ns() // 1_000_000
            row = self.rows.get(change.worker)
            found = (row.fence, row.owner, row.hw_ms) if row else (0, "", 0)
            if found != (change.seen_fence, change.seen_owner, change.seen_hw_ms):
                return False
            if change.owner and change.now_ms - now > change.max_lead_ms:
                return False
            ahead = change.now_ms - now if change.owner or not row else row.clock_ahead_ms
            self.rows[change.worker] = idgen.WorkerRow(
                change.worker, change.fence, change.owner, change.hw_ms, now + change.lease_ms, ahead, 0, change.holder
            )
            return True


def events(store: Any, worker: int | str = 7, **properties: Any) -> idgen.Generator:
    return idgen.Generator(worker=worker, namespace="shop", store=store, **{"worker_wait": 0, **properties})


@pytest.fixture(params=["by hand", "SQLite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    if request.param == "by hand":
        return Table()
    store = SqlStore(lambda: sqlite3.connect(tmp_path / "app.db"))
    store.create_tables()
    store.create_tables()  # they are there already
    return store


def test_a_worker_has_one_owner_at_a_time_and_is_given_back(store: Any) -> None:
    with events(store) as first:
        id = first.next()
        assert first.decode(id).worker == 7
        (row,) = store.worker_list("shop")
        assert (row.worker, row.fence) == (7, 1)
        assert row.is_live
        assert row.hw_ms > first.decode(id).unix_ms
        assert abs(row.clock_ahead_ms) < 10_000
        with pytest.raises(idgen.WorkerBusyError, match=rf"worker 7 of .* is owned by process {os.getpid()} on "):
            events(store)
        assert "its windows never overlap" in first.describe()
    (row,) = store.worker_list("shop")
    assert not row.is_live
    assert row.holder.startswith(f"process {os.getpid()} on ")
    with events(store) as second:
        assert second.next() > id
    assert store.worker_list("shop")[0].fence == 2


def test_a_worker_that_is_auto_is_leased_and_a_namespace_keeps_its_first_format(store: Any) -> None:
    with events(store, "auto") as first, events(store, "auto") as second:
        leased = {generator.decode(generator.next()).worker for generator in (first, second)}
        assert leased == {row.worker for row in store.worker_list("shop")}
        assert len(leased) == 2
        assert in_child(lambda: expect(idgen.ForkedError, first.next)) == "ForkedError"
    with pytest.raises(idgen.FormatMismatchError, match="time:41ms worker:10 sequence:12"):
        events(store, layout="time:41ms worker:8 sequence:14")


@pytest.mark.parametrize(
    ("method", "result", "text"),
    [
        ("worker_read", None, "worker_read returned None; it must be of the type WorkerRow"),
        ("worker_read", (7, 0, "", 0, 0, 0, 0, ""), "it must be of the type WorkerRow"),
        ("worker_read", idgen.WorkerRow(7, "1", "", 0, 0, 0, 0, ""), "fence returned '1'"),  # type: ignore[arg-type]
        ("worker_read", idgen.WorkerRow(7, 2**80, "", 0, 0, 0, 0, ""), ""),
        ("namespace_format", None, "namespace_format returned None"),
        ("worker_replace", 1, "worker_replace returned 1"),
        ("worker_replace", None, "worker_replace returned None"),
    ],
)
def test_what_cannot_be_is_refused(method: str, result: Any, text: str) -> None:
    table = Table()
    setattr(table, method, lambda *_: result)
    with pytest.raises((idgen.HostError, idgen.StoreDamagedError)) as raised:
        events(table, wait_max=0)
    assert text in str(raised.value)


def test_what_a_store_raises_is_the_cause() -> None:
    def away(*_: Any) -> Any:
        raise failure

    failure = LookupError("away")
    for method, worker in (("namespace_format", 7), ("worker_read", 7), ("worker_replace", 7), ("worker_list", "auto")):
        table = Table()
        setattr(table, method, away)
        with pytest.raises(idgen.HostError, match="LookupError: away") as raised:
            events(table, worker, wait_max=0)
        assert raised.value.__cause__ is failure


def test_a_text_that_is_longer_than_the_core_keeps_is_cut_at_a_character() -> None:
    table = Table()
    table.rows[7] = idgen.WorkerRow(7, 1, MINE, 0, 2**62, 0, 0, "ü" * 200)
    with pytest.raises(idgen.WorkerBusyError, match=r"is owned by ü{63};"):
        events(table)
