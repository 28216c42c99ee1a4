"""Ids from an installed wheel, in an environment that holds nothing else."""

import idgen

with idgen.Generator(kind="snowflake", worker=7, store="sqlite:ids.db", store_create=True) as events:
    ids = [events.next() for _ in range(10_000)]
    assert ids == sorted(set(ids)), "snowflake ids are distinct and ascending"
    assert events.decode(ids[0]).worker == 7
with idgen.Generator(kind="segment", tag="orders", store="sqlite:ids.db", store_create=True) as orders:
    assert list(orders.next_batch(1000)) == list(range(1, 1001)), "a new segment tag begins at 1"
print(ids[0], idgen.__version__)
