"""Tables of routes, routers, and the golden vectors of both."""

from __future__ import annotations

import copy
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

import idgen
import numpy as np
import pytest
from conftest import REPOSITORY, vectors
from patience import repeating, wait_until

VECTORS = REPOSITORY / "tests" / "vectors"
ORDER = "time:41ms worker:6 sequence:12 gene:4"


def table(version: int = 1, **changes: object) -> idgen.RouteTable:
    data: dict[str, object] = {"bits": 4, "shards": ["db0", "db1"], "ranges": [(7, "db0"), (15, "db1")]}
    return idgen.RouteTable(version, **(data | changes))  # type: ignore[arg-type]


def test_every_row_of_the_vectors_is_what_the_slow_reference_says() -> None:
    routers = {
        name: idgen.Router.open(VECTORS / name, layout=layout, wide_layout="business128", reload_seconds=0)
        for name, layout in (("routes_ring16.toml", "business64"), ("routes_ring4.toml", "order"))
    }
    ids: dict[str, list[tuple[int, str, str]]] = {}
    rows = vectors("routes.tsv")
    assert len(rows) > 400
    for name, kind, value, node, shard, second, state in rows:
        router = routers[name]
        if kind == "id":
            route = router.route(int(value))
            ids.setdefault(name, []).append((int(value), shard, second))
        elif kind == "wide":
            route = router.route(bytes.fromhex(value))
        elif kind == "node":
            route = router.route_node(int(value))
            first, other = router.route_nodes([int(value)])
            assert router.shards[first[0]] == shard
            assert (None if other[0] == idgen.NO_SHARD else router.shards[other[0]]) == route.second
        else:
            value = value.replace("␀", "\0")
            route = router.route_owner(value)
            assert router.route_owner(value.encode()) == route
            if value.isdigit() and value[0] != "0":
                assert router.route_owner(int(value)) == route
        wanted = (shard, None if second == "-" else second, state, int(node), router.version)
        assert route == wanted, (name, kind, value)
    for name, wanted_ids in ids.items():
        router = routers[name]
        names = {idgen.NO_SHARD: "-"} | dict(enumerate(router.shards))
        for shards, seconds in (
            router.route_batch([id for id, _, _ in wanted_ids]),
            router.route_batch(array("q", [id for id, _, _ in wanted_ids])),
            router.route_array(np.array([id for id, _, _ in wanted_ids], dtype=np.int64)),
        ):
            assert [names[shard] for shard in shards] == [shard for _, shard, _ in wanted_ids]
            assert [names[shard] for shard in seconds] == [second for _, _, second in wanted_ids]


def test_a_table_is_what_it_was_made_of(tmp_path: Path) -> None:
    made = table(7, moves=[(0, 3, "db1", 5000)])
    assert (made.version, made.bits, made.shards) == (7, 4, ("db0", "db1"))
    assert made.ranges == ((7, "db0"), (15, "db1"))
    assert made.moves == ((0, 3, "db1", 5000),)
    path = tmp_path / "routes.toml"
    made.write(path, 0)
    assert idgen.RouteTable.read(path) == made
    assert hash(idgen.RouteTable.read(path)) == hash(made)
    assert path.read_text() == str(made)
    assert made != table(8)
    assert made != 7
    assert repr(made) == "<idgen.RouteTable version 7, 2^4 nodes, 2 shards>"


def test_mistakes_in_a_table_are_named() -> None:
    for wrong, error, says in (
        ({"ranges": [(15, "db9")]}, idgen.InvalidValueError, "'db9' is not one of the table's shards"),
        ({"ranges": [(15,)]}, TypeError, "a range is"),
        ({"moves": [(0, 3)]}, TypeError, "a move is"),
        ({"shards": [1]}, TypeError, "name is a str"),
        ({"shards": ["a\0b"]}, idgen.InvalidValueError, "NUL"),
        ({"ranges": [(2**32, "db0")]}, idgen.InvalidValueError, "too large"),
    ):
        with pytest.raises(error, match=says):
            table(**wrong)


def test_a_swap_needs_the_version_in_force() -> None:
    router = idgen.Router(table(1))
    router.swap(table(2, shards=["new", "db1"], ranges=[(15, "new")]), 1)
    with pytest.raises(idgen.StaleError, match="version 1 was to be replaced, and version 2 is in force"):
        router.swap(table(3), 1)
    assert (router.version, router.bits, router.shards) == (2, 4, ("db0", "db1", "new"))
    assert router.route_node(3).shard == "new"
    assert router.table.shards == ("new", "db1")
    assert router.stats().swaps == 1


def test_a_file_that_is_wrong_leaves_the_table_in_force(tmp_path: Path) -> None:
    path = tmp_path / "routes.toml"
    table(1).write(path, 0)
    router = idgen.Router.open(path, reload_seconds=0)
    path.write_text(str(table(2))[:60])
    with pytest.raises(idgen.ConfigFileError):
        router.reload()
    stats = router.stats()
    assert (stats.version, stats.failures, stats.last_status) == (1, 1, "CONFIG_FILE")
    assert stats.last_error is not None
    assert str(path) in stats.last_error
    assert stats.last_failure_unix_ms is not None
    path.write_text(str(table(2)))
    router.reload()
    assert (router.stats().version, router.stats().last_error) == (2, None)


def test_a_router_takes_a_new_file_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "routes.toml"
    table(1).write(path, 0)
    router = idgen.Router.open(str(path), reload_seconds=0.01)
    table(2).write(path, 1)
    wait_until(lambda: router.version == 2, what="the router reads the new file")


def test_bad_arguments_are_refused(tmp_path: Path) -> None:
    untyped: Any = idgen.Router
    router = untyped(table(1), layout="order")
    refused: list[tuple[Callable[..., object], tuple[object, ...], type[Exception], str]] = [
        (router.route, (-1,), idgen.InvalidValueError, "out of range"),
        (router.route, (b"123",), idgen.InvalidValueError, "8 or 16"),
        (router.route, (1.5,), TypeError, "float"),
        (router.route_node, (2**32,), idgen.InvalidValueError, "too large"),
        (router.route_batch, ([1, 2**63],), idgen.InvalidValueError, r"ids\[1\]: "),
        (router.route_batch, ([1, -1],), idgen.InvalidValueError, r"\[1\]: -1 is out of range"),
        (router.route_batch, ([1.5],), TypeError, "integers"),
        (router.route_array, (np.array([1.5]),), TypeError, "float64"),
        (router.route_array, (np.array([-1], dtype=np.int32),), idgen.InvalidValueError, "out of range"),
        (router.reload, (), idgen.UnsupportedError, "from data"),
        (copy.copy, (router,), TypeError, "pickle"),
        (untyped, (table(1), None, None, "x"), idgen.ArgumentError, "gene is 'x'"),
        (untyped, (table(1), "nonsense"), idgen.LayoutError, "nonsense"),
        (untyped.open, (tmp_path / "routes.toml",), idgen.ConfigFileError, r"routes\.toml"),
        (untyped.open, ("routes.toml", None, None, "auto", -1), idgen.ArgumentError, "reload_seconds"),
    ]
    for call, arguments, error, says in refused:
        with pytest.raises(error, match=says):
            call(*arguments)


def test_arrays_of_any_shape_and_size_are_routed() -> None:
    router = idgen.Router(table(1), layout="order")
    ids = np.arange(48, dtype=np.int64).reshape(4, 12)
    shards, seconds = router.route_array(ids)
    assert shards.shape == seconds.shape == (4, 12)
    assert shards.dtype == np.uint32
    assert (shards == (ids % 16 > 7)).all()
    assert (router.route_array(ids[::2, ::3])[0] == (ids[::2, ::3] % 16 > 7)).all()
    assert (router.route_array(ids.astype(np.int32))[0] == shards).all()
    assert router.route_array([])[0].size == 0
    assert router.route_batch([])[0].tolist() == []
    assert (seconds == idgen.NO_SHARD).all()


def test_lookups_from_threads_while_tables_change() -> None:
    router = idgen.Router(table(1), layout="order")
    wrong: list[object] = []

    def look() -> None:
        shards, _ = router.route_batch([5, 21, 37])
        if len(set(shards)) != 1:
            wrong.append(shards)

    with repeating(look, threads=3):
        for version in range(2, 300):
            owner = "db0" if version % 2 else "db1"
            router.swap(table(version, ranges=[(15, owner)]), version - 1)
    assert wrong == []
