"""The exceptions: one class per status, typed families, and they can be sent between processes."""

from __future__ import annotations

import array
import copy
import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import idgen
import pytest
from idgen import _errors, _failures

FAMILIES = (
    (range(1, 20), idgen.ConfigError),
    (range(20, 40), idgen.StateError),
    (range(40, 60), idgen.ClockError),
    (range(60, 80), idgen.StoreError),
)


def test_every_status_of_the_core_has_a_public_class_of_its_own_in_its_family() -> None:
    statuses = [row for row in idgen.statuses() if row.status != 0]
    assert len(statuses) > 25
    for row in statuses:
        cls = _errors.CLASS_BY_NAME[row.name]
        for numbers, family in FAMILIES:
            assert issubclass(cls, family) == (row.status in numbers), row
    assert len(set(_errors.CLASS_BY_NAME.values())) == len(_errors.CLASS_BY_NAME)
    assert _errors.CLASS_BY_NAME.keys() - {"HOST"} == {row.name for row in statuses} - {"HOST"}
    for cls in _errors.CLASS_BY_NAME.values():
        assert getattr(idgen, cls.__name__) is cls
        assert cls.__module__ == "idgen"


def test_an_error_has_the_cores_status_name_and_retryability() -> None:
    with pytest.raises(idgen.UnknownKeyError) as caught:
        idgen.Generator(nonsense=1)  # type: ignore[call-arg]
    row = next(row for row in idgen.statuses() if row.name == "UNKNOWN_KEY")
    error = caught.value
    assert isinstance(error, ValueError)
    assert (error.status, error.name, error.retryable) == (row.status, row.name, row.retryable)
    assert (error.retry_after, error.written) == (None, 0)


def test_retry_after_is_in_seconds() -> None:
    assert _failures.from_core("later", 40, "CLOCK_BACK", True, 2_500_000_000, 0).retry_after == 2.5
    assert _failures.from_core("never", 40, "CLOCK_BACK", True, 0, 0).retry_after is None


def test_a_status_of_a_newer_core_is_still_an_error() -> None:
    error = _failures.from_core("what is this", 99, "FROM_THE_FUTURE", False, 0, 0)
    assert type(error) is idgen.Error
    assert error.name == "FROM_THE_FUTURE"


@pytest.mark.parametrize("cls", set(_errors.CLASS_BY_NAME.values()), ids=lambda cls: cls.__name__)
def test_every_class_keeps_everything_when_it_is_pickled_and_copied(cls: type[idgen.Error]) -> None:
    error = cls("why", 7, "NAME", True, 0.5, 3)
    error.ids = array.array("q", [7, 8])
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert type(twin) is cls
        assert (str(twin), vars(twin)) == ("why", vars(error))
        assert (twin.retry_after, twin.written, twin.ids) == (0.5, 3, array.array("q", [7, 8]))


def draw_too_many_elsewhere() -> None:
    # 2 ms of ids, and a clock that stands still: the third tick never comes.
    generator = idgen.Generator(worker=1, store="memory", clock=lambda: 1_767_225_600_000_000_000, wait_max="50ms")
    generator.next_batch(100_000)


def test_an_error_of_another_process_arrives_as_it_was_with_the_ids_that_were_drawn() -> None:
    with (
        ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool,
        pytest.raises(idgen.OverloadedError, match="wait_max") as caught,
    ):
        pool.submit(draw_too_many_elsewhere).result(timeout=60)
    assert caught.value.written > 0
    assert caught.value.ids is not None
    assert len(caught.value.ids) == caught.value.written
