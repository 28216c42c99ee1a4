"""Closing a generator on a store that does not take back the unused rest."""

from __future__ import annotations

import logging

import idgen
import pytest


class LosesTheRest:
    """A store that grants, but takes nothing back."""

    def __init__(self) -> None:
        self.max_id = 0

    def segment_take(self, namespace: str, tag: str, count: int, /) -> int:
        self.max_id += count
        return self.max_id - count + 1

    def segment_return(self, namespace: str, tag: str, last: int, unused: int, /) -> None:
        raise ConnectionError("connection reset by peer")


class Lines:
    """A log that keeps its warnings."""

    def __init__(self) -> None:
        self.warnings: list[str] = []

    def __call__(self, level: int, message: str) -> None:
        if level == logging.WARNING:
            self.warnings.append(message)


def on(store: LosesTheRest, log: Lines | None = None) -> idgen.Generator:
    return idgen.Generator(kind="segment", tag="orders", segment_step=10, segment_runway=0, store=store, log=log)


def test_finished_work_is_no_failure_when_the_store_does_not_take_the_rest_back() -> None:
    log, store = Lines(), LosesTheRest()
    with on(store, log) as orders:
        assert orders.next() == 1
    assert orders.closed
    assert any("connection reset by peer" in warning for warning in log.warnings), log.warnings
    with on(store) as again:
        assert again.next() > 10, "what could not be given back is a gap"


def test_close_itself_is_no_failure_either_and_closing_again_does_nothing() -> None:
    orders = on(LosesTheRest())
    orders.next()
    orders.close()
    orders.close()
    with pytest.raises(idgen.ClosedError):
        orders.next()


def test_the_exception_of_the_body_is_the_one_that_is_seen() -> None:
    def work() -> None:
        with on(LosesTheRest()) as orders:
            orders.next()
            raise ValueError("the work failed")

    with pytest.raises(ValueError, match="the work failed") as caught:
        work()
    assert caught.value.__context__ is None
