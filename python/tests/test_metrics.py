"""idgen.metrics, and the stats that it is made of."""

from __future__ import annotations

import os
import re
import socket
from typing import Any

import idgen
import pytest
from conftest import in_child, settings_of, vectors

PROCESS = f"{os.getpid()}@{socket.gethostname()}"


def test_the_text_has_the_samples_of_the_vectors(memory_store: str) -> None:
    generators, wanted = [], {}
    for row, what, value in vectors("metrics.tsv"):
        if row == "sample":
            wanted[what.replace("PROCESS", PROCESS)] = value
            continue
        properties: Any = {"store": memory_store, "store_create": True, **settings_of(what)}
        generators.append(idgen.Generator(**properties))
        generators[-1].next_batch(int(value))
        if row == "closed":
            generators[-1].close()
    text = idgen.metrics([*generators, generators[0]])
    samples = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    for sample, value in wanted.items():
        if value.endswith("+"):
            assert float(samples[sample]) >= float(value[:-1]), sample
        else:
            assert samples.get(sample, "-") == value, sample


def test_metrics_take_any_iterable_of_generators_and_nothing_else(segment: idgen.Generator) -> None:
    assert idgen.metrics([]) == ""
    assert idgen.metrics(generator for generator in (segment,))
    bad: Any
    for bad in (None, segment.next, [None], ["orders"]):
        with pytest.raises(TypeError):
            idgen.metrics(bad)
    with pytest.raises(idgen.HandleError):
        idgen.metrics([segment, idgen.Generator.__new__(idgen.Generator)])


def test_a_generator_that_is_stopped_says_why_and_what_failed_last(file_store: str) -> None:
    with idgen.Generator(kind="segment", tag="t", store=file_store, segment_step=10) as orders:
        stats = orders.stats()
        assert (stats.stopped, stats.last_failure, stats.last_error) == ("OK", None, None)
        assert stats.last_failure_unix_ms is None
        assert stats.layout_left == stats.tag_left == 2**63 - 1 - 10
        idgen.segment_advance(2**63 - 1, tag="t", store=file_store)
        with pytest.raises(idgen.ExhaustedError) as caught:
            orders.next_batch(100)
        stats = orders.stats()
        assert stats.stopped == stats.last_failure == "EXHAUSTED"
        assert stats.last_error is not None
        assert stats.last_error in str(caught.value)
        assert stats.last_failure_unix_ms is not None
        assert stats.last_failure_unix_ms > 1_700_000_000_000
        assert stats.layout_left == 0
        assert re.findall(r'idgen_stopped{.*status="(.*)"} 1\n', idgen.metrics([orders])) == ["EXHAUSTED"]
    assert orders.stats().stopped == "CLOSED"


def test_the_process_is_a_label_of_its_own_in_a_child(segment: idgen.Generator) -> None:
    def processes() -> set[str]:
        return set(re.findall('process="(.*?)"', idgen.metrics([segment])))

    assert processes() == {PROCESS}
    child, label = in_child(lambda: f"{os.getpid()} {' '.join(processes())}").split(" ")
    assert label == f"{child}@{socket.gethostname()}"
