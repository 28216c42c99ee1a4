"""Ids that have an owner: owners as Python has them. Which ids they get is in the vectors, tests/vectors/owners.tsv."""

from __future__ import annotations

import itertools
from array import array
from pathlib import Path

import idgen
import numpy as np
import pytest
from conftest import distinct, in_threads


def business(path: Path, **properties: object) -> idgen.Generator:
    settings = {"kind": "business", "tag": "orders", "store": f"sqlite:{path}/ids.db", "store_create": True}
    return idgen.Generator(**{**settings, **properties})  # type: ignore[arg-type]


def test_an_int_of_any_size_is_the_owner_that_its_text_is(tmp_path: Path) -> None:
    with business(tmp_path) as orders:
        for number in (2**63 - 1, 2**64, -(2**63) - 1, 10**40, np.int64(1820)):
            gene = orders.layout.gene(str(number))
            assert orders.layout.gene(number) == gene
            assert orders.decode(orders.next_for(number)).gene == gene


def test_owners_of_several_types_may_be_mixed(tmp_path: Path) -> None:
    owners: list[int | str | bytes] = [1, 2, "acme", b"raw", 10**30, 3]
    with business(tmp_path) as orders:
        ids = orders.next_for_each(owners)
        assert isinstance(ids, array)
        assert [orders.decode(id).gene for id in ids] == [orders.layout.gene(owner) for owner in owners]
        numbers = orders.next_for_each(np.arange(5000))
        assert [orders.decode(id).gene for id in numbers] == [orders.layout.gene(n) for n in range(5000)]
        assert distinct(ids, numbers, orders.next_batch_for("acme", 5000)) == 10_006
        assert orders.next_for_each(iter([])) == array("q")
    with business(tmp_path, layout="business128", tag="wide") as orders:
        wide = orders.next_wide_for_each(owners)
        assert [orders.decode(id).gene for id in wide] == [orders.layout.gene(owner) for owner in owners]


def test_what_is_no_owner_is_refused(tmp_path: Path) -> None:
    with business(tmp_path) as orders:
        for nothing in (None, 1.5, True, [1]):
            with pytest.raises(TypeError, match="an owner is an int, a str or bytes"):
                orders.next_for(nothing)  # type: ignore[arg-type]
        for several in ("acme", [1, None]):
            with pytest.raises(TypeError):
                orders.next_for_each(several)  # type: ignore[arg-type]


def test_a_batch_that_meets_a_bad_owner_keeps_what_it_has(tmp_path: Path) -> None:
    with business(tmp_path) as orders, pytest.raises(idgen.InvalidValueError) as caught:
        orders.next_for_each(["a", "b", "", "c"])
    assert caught.value.ids is not None
    assert len(caught.value.ids) == 2


def test_threads_never_get_an_id_twice(tmp_path: Path) -> None:
    places = itertools.count()
    with business(tmp_path, segment_step=1000) as orders:

        def draw(mine: list[int]) -> None:
            place = next(places)
            for n in range(5000):
                mine.append(orders.next_for(n % 100 if place % 2 else f"{place}-{n % 7}"))

        assert distinct(*in_threads(4, draw)) == 20_000
