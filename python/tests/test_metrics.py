"""idgen.metrics: the Prometheus text format, read by a parser that accepts nothing else."""

from __future__ import annotations

import math
import os
import re
import socket
from pathlib import Path
from typing import Any

import idgen
import pytest

Labels = tuple[tuple[str, str], ...]
Samples = dict[tuple[str, Labels], float]
PROCESS = ("process", f"{os.getpid()}@{socket.gethostname()}")

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(,|\Z)')
ESCAPES = {"\\\\": "\\", '\\"': '"', "\\n": "\n"}


def parsed_labels(text: str) -> Labels:
    labels, at = [], 0
    while at < len(text):
        label = LABEL.match(text, at)
        assert label, text
        labels.append((label[1], re.sub(r"\\.", lambda escape: ESCAPES[escape[0]], label[2])))
        at = label.end()
    return tuple(labels)


def parsed(text: str) -> Samples:
    """Every sample. Fails on a misplaced line, a duplicate, or a counter without _total."""
    samples: Samples = {}
    described: set[str] = set()
    current = kind = ""
    assert text == "" or text.endswith("\n")
    lines = iter(text.splitlines())
    for line in lines:
        if help_line := re.fullmatch(rf"# HELP ({NAME}) \S.*", line):
            current = help_line[1]
            assert current not in described
            described.add(current)
            type_line = re.fullmatch(rf"# TYPE ({NAME}) (counter|gauge)", next(lines))
            assert type_line
            assert type_line[1] == current
            kind = type_line[2]
            assert (kind == "counter") == current.endswith("_total")
            continue
        sample = re.fullmatch(rf"({NAME}){{(.*)}} (\+Inf|[0-9.e+-]+)", line)
        assert sample, line
        assert sample[1] == current
        key = (current, parsed_labels(sample[2]))
        assert key not in samples, "Prometheus refuses a scrape with the same sample twice"
        samples[key] = float(sample[3])
        assert kind == "gauge" or 0 <= samples[key] < math.inf
    return samples


def test_metrics_are_the_stats_of_each_generator(memory_store: str) -> None:
    with (
        idgen.Generator(kind="segment", name="orders", store=memory_store, store_create=True) as orders,
        idgen.Generator(worker=1, name="events", namespace="shop", store=memory_store) as events,
    ):
        orders.next_batch(30)
        events.next()
        samples = parsed(idgen.metrics([orders, events]))
        stats = orders.stats()
        of_orders = (("name", "orders"), ("namespace", "default"), ("kind", "segment"), PROCESS)
        of_events = (("name", "events"), ("namespace", "shop"), ("kind", "snowflake"), PROCESS)
        assert samples["idgen_issued_total", of_orders] == stats.issued == 30
        assert samples["idgen_granted_total", of_orders] >= 30
        assert samples["idgen_stock", of_orders] > 0
        assert samples["idgen_handles", of_orders] == 1
        assert samples["idgen_granted_seconds_total", of_events] >= 10
        assert 0 < samples["idgen_stock_seconds", of_events] < 60
        assert samples["idgen_issued_total", of_events] == events.stats().issued_ids == 1
        assert ("idgen_granted_seconds_total", of_orders) not in samples


def test_a_name_of_any_characters_is_one_label(memory_store: str) -> None:
    name = 'a "b" \\ c\nd, caf\u00e9={}'
    with idgen.Generator(kind="segment", name=name, tag="t", store=memory_store, store_create=True) as generator:
        samples = parsed(idgen.metrics([generator]))
    assert {labels[0] for _, labels in samples} == {("name", name)}


def test_generators_of_one_worker_or_one_name_are_one_sample(memory_store: str) -> None:
    def open_one(**properties: Any) -> idgen.Generator:
        return idgen.Generator(store=memory_store, store_create=True, **properties)

    with open_one(worker=1) as a, open_one(worker=1) as b:
        samples = parsed(idgen.metrics([a, b]))
        assert [value for (name, _), value in samples.items() if name == "idgen_handles"] == [2]
    with open_one(kind="segment", tag="x") as c, open_one(kind="segment", tag="y") as d:
        c.next_batch(10)
        d.next_batch(5)
        samples = parsed(idgen.metrics([c, d]))
        assert [value for (name, _), value in samples.items() if name == "idgen_issued_total"] == [15]


def test_a_closed_generator_is_still_reported(segment: idgen.Generator) -> None:
    segment.next_batch(10)
    segment.close()
    samples = parsed(idgen.metrics([segment]))
    labels = (("name", "idgen"), ("namespace", "default"), ("kind", "segment"), PROCESS)
    assert samples["idgen_issued_total", labels] == 10, "what was given back is not issued"
    assert samples["idgen_handles", labels] == 0


def test_metrics_take_any_iterable_of_generators_and_nothing_else(segment: idgen.Generator) -> None:
    assert idgen.metrics([]) == ""
    assert parsed(idgen.metrics(generator for generator in (segment,)))
    bad: Any
    for bad in (None, segment.next, [None], ["orders"]):
        with pytest.raises(TypeError):
            idgen.metrics(bad)
    with pytest.raises(idgen.HandleError):
        idgen.metrics([segment, idgen.Generator.__new__(idgen.Generator)])


def test_a_generator_that_is_stopped_says_why_and_what_failed_last(tmp_path: Path) -> None:
    store = f"sqlite:{tmp_path}/ids.db"
    with idgen.Generator(kind="segment", name="orders", store=store, store_create=True, segment_step=10) as orders:
        stats = orders.stats()
        assert (stats.stopped, stats.last_failure, stats.last_error, stats.last_failure_unix_ms) == (
            *("OK", None, None, None),
        )
        assert stats.layout_left == stats.tag_left == 2**63 - 1 - 10
        idgen.segment_advance(2**63 - 1, name="orders", store=store)
        with pytest.raises(idgen.ExhaustedError) as caught:
            orders.next_batch(100)
        assert caught.value.ids is not None
        assert len(caught.value.ids) == 10
        stats = orders.stats()
        assert stats.stopped == stats.last_failure == "EXHAUSTED"
        assert stats.last_error is not None
        assert stats.last_error in str(caught.value)
        assert stats.last_failure_unix_ms is not None
        assert stats.last_failure_unix_ms > 1_700_000_000_000
        assert stats.layout_left == 0
        stopped = [labels for name, labels in parsed(idgen.metrics([orders])) if name == "idgen_stopped"]
        assert [dict(labels)["status"] for labels in stopped] == ["EXHAUSTED"]
    assert orders.stats().stopped == "CLOSED"


def test_the_process_is_a_label_of_its_own_in_a_child(segment: idgen.Generator) -> None:
    def processes() -> set[str]:
        return {dict(labels)["process"] for _, labels in parsed(idgen.metrics([segment]))}

    assert processes() == {PROCESS[1]}
    reader, writer = os.pipe()
    if (child := os.fork()) == 0:
        os.write(writer, " ".join(processes()).encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(writer)
    with os.fdopen(reader) as text:
        assert text.read() == f"{child}@{socket.gethostname()}"
