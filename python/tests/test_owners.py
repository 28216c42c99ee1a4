"""Ids that have an owner: owners as Python has them. Which ids they get is in the vectors, tests/vectors/owners.tsv."""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Iterator

import idgen
import numpy as np
import pytest
from conftest import distinct, in_threads


@pytest.fixture
def orders(memory_store: str) -> Iterator[idgen.Generator]:
    with idgen.Generator(kind="business", tag="orders", store=memory_store, store_create=True) as generator:
        yield generator


def test_owners_of_several_types_and_any_size_may_be_mixed(orders: idgen.Generator, memory_store: str) -> None:
    huge = 10**40
    owners: list[int | str | bytes] = [1, 2, "acme", b"raw", 2**63 - 1, -(2**63) - 1, huge, np.int64(1820), "3"]
    genes = [orders.layout.gene(owner) for owner in owners]
    assert [orders.decode(orders.next_for(owner)).gene for owner in owners] == genes
    assert orders.layout.gene(huge) == orders.layout.gene(str(huge))
    ids = orders.next_for_each(owners)
    assert isinstance(ids, array)
    assert [orders.decode(id).gene for id in ids] == genes
    numbers = orders.next_for_each(np.arange(5000))
    assert [orders.decode(id).gene for id in numbers] == [orders.layout.gene(n) for n in range(5000)]
    assert distinct(ids, numbers, orders.next_batch_for("acme", 5000)) == 10_009
    assert orders.next_for_each(iter([])) == array("q")
    with idgen.Generator(
        kind="business", layout="business128", store=f"{memory_store} wide", store_create=True
    ) as wide:
        ids_of_bytes = wide.next_wide_for_each(owners)
        assert [wide.decode(id).gene for id in ids_of_bytes] == [wide.layout.gene(owner) for owner in owners]


def test_what_is_no_owner_is_refused(orders: idgen.Generator) -> None:
    for nothing in (None, 1.5, True, [1]):
        with pytest.raises(TypeError, match="an owner is an int, a str or bytes"):
            orders.next_for(nothing)  # type: ignore[arg-type]
    for several in ("acme", [1, None]):
        with pytest.raises(TypeError):
            orders.next_for_each(several)  # type: ignore[arg-type]


def test_threads_never_get_an_id_twice(orders: idgen.Generator) -> None:
    places = itertools.count()

    def draw(mine: list[int]) -> None:
        place = next(places)
        for n in range(5000):
            mine.append(orders.next_for(n % 100 if place % 2 else f"{place}-{n % 7}"))

    assert distinct(*in_threads(4, draw)) == 20_000
