"""Ids that have an owner: the gene in an id says in which shard it lives."""

from __future__ import annotations

import threading
from array import array
from collections.abc import Callable
from pathlib import Path

import idgen
import numpy as np
import pytest
from conftest import distinct


def business(path: Path, **properties: object) -> idgen.Generator:
    settings = {"kind": "business", "tag": "orders", "store": f"sqlite:{path}/ids.db", "store_create": True}
    return idgen.Generator(**{**settings, **properties})  # type: ignore[arg-type]


def test_an_id_has_its_owners_gene(tmp_path: Path) -> None:
    with business(tmp_path) as orders:
        for owner in (42, -7, 10**30, "acme", "Zürich", b"\x00\xff", np.int64(1820)):
            id = orders.next_for(owner)
            parts = orders.decode(id)
            assert parts.gene == orders.layout.gene(owner)
            assert parts.version == 0


def test_an_int_is_the_owner_that_its_text_is(tmp_path: Path) -> None:
    with business(tmp_path) as orders:
        for number in (0, 42, -42, 2**63 - 1, -(2**63), 2**64, 10**40):
            genes = {orders.decode(orders.next_for(owner)).gene for owner in (number, str(number), b"%d" % number)}
            assert len(genes) == 1, number


def test_ids_of_one_owner_rise_and_none_comes_twice(tmp_path: Path) -> None:
    with business(tmp_path, counters=4) as orders:
        batch = orders.next_batch_for("acme", 5000)
        assert isinstance(batch, array)
        assert list(batch) == sorted(batch)
        each = orders.next_for_each([f"customer-{n % 10}" for n in range(5000)])
        numbers = orders.next_for_each(np.arange(5000))
        assert distinct(batch, each, numbers) == 15_000
        assert [orders.decode(id).gene for id in numbers] == [orders.layout.gene(n) for n in range(5000)]


def test_owners_of_several_types_may_be_mixed(tmp_path: Path) -> None:
    with business(tmp_path) as orders:
        owners: list[int | str | bytes] = [1, 2, "acme", b"raw", 10**30, 3]
        ids = orders.next_for_each(owners)
        assert [orders.decode(id).gene for id in ids] == [orders.layout.gene(owner) for owner in owners]
        assert orders.next_for_each(iter([])) == array("q")


def test_what_is_no_owner_is_refused(tmp_path: Path) -> None:
    with business(tmp_path) as orders:
        for nothing in (None, 1.5, True, [1]):
            with pytest.raises(TypeError, match="an owner is an int, a str or bytes"):
                orders.next_for(nothing)  # type: ignore[arg-type]
        for empty in ("", b""):
            with pytest.raises(idgen.InvalidValueError, match="the owner is empty"):
                orders.next_for(empty)
        with pytest.raises(TypeError):
            orders.next_for_each("acme")
        with pytest.raises(TypeError):
            orders.next_for_each([1, None])  # type: ignore[list-item]


def test_a_batch_that_meets_a_bad_owner_keeps_what_it_has(tmp_path: Path) -> None:
    with business(tmp_path) as orders, pytest.raises(idgen.InvalidValueError) as caught:
        orders.next_for_each(["a", "b", "", "c"])
    assert caught.value.ids is not None
    assert len(caught.value.ids) == 2


def test_calls_without_an_owner_are_refused(tmp_path: Path) -> None:
    calls: tuple[Callable[[], object], ...]
    with business(tmp_path) as orders:
        calls = (orders.next, orders.try_next, lambda: orders.next_batch(3), lambda: orders.next_block(3))
        for call in calls:
            with pytest.raises(idgen.UnsupportedError, match="has a gene, which comes from an id's owner"):
                call()
    with idgen.Generator(worker=1, store="memory") as plain:
        calls = (lambda: plain.next_for(1), lambda: plain.next_batch_for(1, 2), lambda: plain.next_wide_for(1))
        for refused in calls:
            with pytest.raises(idgen.UnsupportedError, match="has no gene"):
                refused()


def test_ids_widen_where_the_segment_field_ends(tmp_path: Path) -> None:
    store = {"store": f"sqlite:{tmp_path}/ids.db", "store_create": True, "tag": "orders"}
    idgen.segment_create(**store)  # type: ignore[arg-type]
    idgen.segment_advance(2**42 - 51, **store)  # type: ignore[arg-type]
    with business(tmp_path, counters=1, on_full="widen") as orders:
        ids = [orders.next_wide_for("acme") for _ in range(100)]
        assert [len(id) for id in ids] == [8] * 50 + [16] * 50
        parts = [orders.decode(id) for id in ids]
        assert [part.segment for part in parts] == list(range(2**42 - 50, 2**42 + 50))
        assert len({part.gene % 2**16 for part in parts}) == 1, "so the shard stays the same"
        with pytest.raises(idgen.ExhaustedError, match="next_wide_for"):
            orders.next_for("acme")
    with pytest.raises(idgen.ExhaustedError):
        business(tmp_path)


def test_ids_of_sixteen_bytes(tmp_path: Path) -> None:
    with business(tmp_path, layout="business128") as orders:
        ids = orders.next_wide_for_each([*range(500), "acme"])
        assert distinct(ids) == 501
        assert all(len(id) == 16 for id in ids)
        assert orders.decode(ids[-1]).gene == orders.layout.gene("acme")
        assert idgen.parse_wide_id(idgen.format_id(ids[0], "base62"), "base62") == ids[0]
        with pytest.raises(idgen.UnsupportedError, match="16 bytes"):
            orders.next_for("acme")


def test_snowflakes_of_the_layout_order_end_with_the_low_bits_of_their_owner() -> None:
    with idgen.Generator(layout="order", worker=3, store="memory:order") as orders:
        for owner in (1820, "5177331", 16):
            assert orders.next_for(owner) % 16 == int(owner) % 16
        with pytest.raises(idgen.InvalidValueError, match="no integer"):
            orders.next_for("acme")
        assert orders.decode(orders.next_for(1820)).worker == 3


def test_threads_never_get_an_id_twice(tmp_path: Path) -> None:
    drawn: list[list[int]] = [[] for _ in range(4)]
    with business(tmp_path, segment_step=1000) as orders:

        def draw(place: int) -> None:
            for n in range(5000):
                drawn[place].append(orders.next_for(n % 100 if place % 2 else f"{place}-{n % 7}"))

        threads = [threading.Thread(target=draw, args=(place,)) for place in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert distinct(*drawn) == 20_000
