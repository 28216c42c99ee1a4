"""Every mistake gives a status and a message that says what to do, and loses no id."""

from __future__ import annotations

import array
import os
import sqlite3
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import idgen
import numpy as np
import pytest
from conftest import ManualClock, run_python

UNTYPED: Any = idgen.Generator  # for arguments that a type checker would refuse


def error_of(call: Callable[[], object]) -> idgen.Error:
    with pytest.raises(idgen.Error) as caught:
        call()
    assert caught.value.status != 0
    assert str(caught.value)
    return caught.value


def test_an_unknown_keyword_names_the_nearest_property() -> None:
    error = error_of(lambda: UNTYPED(segment_stp=5, store="memory"))
    assert isinstance(error, idgen.UnknownKeyError)
    assert isinstance(error, ValueError)
    assert "segment.step" in str(error)


def test_an_unknown_keyword_is_reported_before_its_value_is_looked_at() -> None:
    assert error_of(lambda: UNTYPED(wroker=object())).name == "UNKNOWN_KEY"


def test_a_value_out_of_range_names_the_range() -> None:
    error = error_of(lambda: idgen.Generator(kind="segment", segment_step=0, store="memory"))
    assert isinstance(error, idgen.InvalidValueError)
    assert "segment.step" in str(error)
    step = next(row for row in idgen.properties() if row.name == "segment.step")
    assert step.range in str(error)


def test_a_choice_that_does_not_exist_names_the_choices() -> None:
    error = error_of(lambda: UNTYPED(on_clock_back="panic", store="memory"))
    assert all(choice in str(error) for choice in ("wait", "continue", "fail"))


def test_a_layout_that_does_not_add_up_is_refused() -> None:
    error = error_of(lambda: idgen.Generator(layout="time:60ms worker:10 sequence:12", worker=1, store="memory"))
    assert isinstance(error, idgen.LayoutError)


def test_an_epoch_in_the_future_is_refused() -> None:
    epoch = (datetime.now(timezone.utc) + timedelta(days=2)).replace(microsecond=0)
    assert isinstance(error_of(lambda: UNTYPED(epoch=epoch, worker=1, store="memory")), idgen.LifetimeError)


def test_a_layout_past_its_lifetime_is_refused() -> None:
    error = error_of(lambda: idgen.Generator(layout="uid-generator", worker=1, store="memory"))
    assert isinstance(error, idgen.LifetimeError)


def test_a_worker_too_large_for_its_field_is_refused() -> None:
    error = error_of(lambda: idgen.Generator(worker=1024, store="memory"))
    assert error.name == "VALUE"
    assert "1023" in str(error)


def test_the_same_worker_with_another_configuration_is_busy(memory_store: str) -> None:
    with idgen.Generator(worker=1, store=memory_store, on_overflow="wait"):
        error = error_of(lambda: idgen.Generator(worker=1, store=memory_store, on_overflow="borrow"))
    assert isinstance(error, idgen.WorkerBusyError)
    assert isinstance(error, idgen.StateError)
    assert error.retryable


def test_a_missing_store_is_not_made_by_accident(tmp_path: Path) -> None:
    path = tmp_path / "missing.db"
    error = error_of(lambda: idgen.Generator(worker=1, store=f"sqlite:{path}"))
    assert isinstance(error, idgen.StoreMissingError)
    assert isinstance(error, idgen.StoreError)
    assert not path.exists()


def test_a_file_that_is_no_database_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "ids.db"
    path.write_bytes(b"This is not a database. " * 1000)
    assert isinstance(error_of(lambda: UNTYPED(worker=1, store=f"sqlite:{path}")), idgen.StoreDamagedError)
    assert path.read_bytes().startswith(b"This is not")


def test_a_database_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE invoices (id INTEGER)")
    connection.close()
    error = error_of(lambda: idgen.Generator(worker=1, store=f"sqlite:{path}"))
    assert isinstance(error, idgen.StoreError)


def test_a_store_without_permission_says_so() -> None:
    # In a separate process, which becomes another user first, because root may read any file.
    code = """
import os, pathlib, sys, tempfile, idgen
with tempfile.TemporaryDirectory() as folder:
    os.chmod(folder, 0o755)
    path = pathlib.Path(folder, "ids.db")
    idgen.Generator(worker=1, store=f"sqlite:{path}", store_create=True).close()
    path.chmod(0)
    child = os.fork()
    if child == 0:
        if os.geteuid() == 0:
            os.setuid(65534)
        try:
            idgen.Generator(worker=1, store=f"sqlite:{path}")
        except idgen.StorePermissionError as error:
            os._exit(0 if str(path) in str(error) else 2)
        except idgen.Error as error:
            print(error.name, error, flush=True)
        os._exit(1)
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    result = run_python(code)
    assert result.returncode == 0, result.stdout + result.stderr


def test_a_tag_that_was_not_created_is_unknown(tmp_path: Path) -> None:
    store = f"sqlite:{tmp_path / 'ids.db'}"
    idgen.segment_create(store=store, tag="orders")
    error = error_of(lambda: idgen.Generator(kind="segment", tag="odrers", store=store))
    assert isinstance(error, idgen.TagUnknownError)
    assert isinstance(error_of(lambda: idgen.segment_create(store=store, tag="orders")), idgen.TagExistsError)


def test_another_layout_in_the_same_namespace_is_refused(tmp_path: Path) -> None:
    store = f"sqlite:{tmp_path / 'ids.db'}"
    idgen.Generator(worker=1, store=store, store_create=True).close()
    error = error_of(lambda: idgen.Generator(worker=1, layout="time:41ms worker:8 sequence:14", store=store))
    assert isinstance(error, idgen.FormatMismatchError)


def test_a_toml_file_that_is_missing_malformed_or_lacks_the_table_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "missing.toml"
    error = error_of(lambda: idgen.open(missing, "orders"))
    assert isinstance(error, idgen.ConfigFileError)
    assert str(missing) in str(error)
    path = tmp_path / "idgen.toml"
    path.write_text("[orders\n")
    assert error_of(lambda: idgen.open(path, "orders")).name == "CONFIG_FILE"
    path.write_text('[orders]\nstore = "memory"\n')
    assert "odrers" in str(error_of(lambda: idgen.open(path, "odrers")))
    path.write_text("[orders]\nwroker = 1\n")
    assert error_of(lambda: idgen.open(path, "orders")).name == "UNKNOWN_KEY"


@pytest.mark.parametrize("set_back_ms", [1, 1_000, 3_600_000])
def test_a_clock_set_back_fails_with_the_milliseconds(
    memory_store: str, manual_clock: ManualClock, set_back_ms: int
) -> None:
    with idgen.Generator(worker=1, store=memory_store, clock=manual_clock, on_clock_back="fail") as generator:
        last = generator.next()
        manual_clock.advance_ms(-set_back_ms)
        error = error_of(generator.next)
        assert isinstance(error, idgen.ClockBackError)
        assert isinstance(error, idgen.ClockError)
        assert error.retryable
        manual_clock.advance_ms(set_back_ms)
        assert generator.next() > last


@pytest.mark.parametrize("set_back_ms", [1, 1_000, 3_600_000])
def test_a_clock_set_back_goes_on_without_a_duplicate(
    memory_store: str, manual_clock: ManualClock, set_back_ms: int
) -> None:
    with idgen.Generator(worker=1, store=memory_store, clock=manual_clock, on_clock_back="continue") as generator:
        ids = generator.next_batch(100).tolist()
        manual_clock.advance_ms(-set_back_ms)
        ids += generator.next_batch(100).tolist()
        assert ids == sorted(set(ids))
        assert generator.stats().clock_back_events >= 1


def test_a_clock_before_the_epoch_is_refused(memory_store: str) -> None:
    clock = ManualClock(unix_ms=946_684_800_000)  # the year 2000
    error = error_of(lambda: idgen.Generator(worker=1, store=memory_store, clock=clock))
    assert isinstance(error, idgen.ClockBeforeEpochError | idgen.LifetimeError)


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        (b"12345678", "read-only"),
        (bytearray(8), "format 'B', 1 bytes each"),
        (array.array("i", [0, 0]), "format 'i', 4 bytes each"),
        (array.array("d", [0.0]), "format 'd', 8 bytes each"),
        (np.zeros(4, dtype=">i8"), "format '>"),
        (np.zeros(4, dtype=np.float64), "format 'd'"),
        (np.zeros(4, dtype="datetime64[ms]"), "memory"),
        (np.zeros(8, dtype=np.int64)[::2], "not contiguous"),
        (memoryview(array.array("q", [0])).toreadonly(), "read-only"),
        ([0, 0], "list is not a buffer"),
        (None, "NoneType is not a buffer"),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, str) else "",
)
def test_a_buffer_of_the_wrong_kind_is_refused_before_an_id_is_drawn(
    segment: idgen.Generator, target: Any, reason: str
) -> None:
    error = error_of(lambda: segment.fill(target))
    assert isinstance(error, idgen.InvalidBufferError)
    assert reason in str(error)
    assert segment.next() == 1


@pytest.mark.parametrize("n", [-1, 2**60, 2**80])
def test_a_batch_of_impossible_size_is_refused(segment: idgen.Generator, n: int) -> None:
    assert isinstance(error_of(lambda: segment.next_batch(n)), idgen.ArgumentError)
    assert segment.next() == 1


def test_a_batch_larger_than_memory_is_a_memory_error(segment: idgen.Generator) -> None:
    with pytest.raises(MemoryError):
        segment.next_batch(2**59)
    assert segment.next() == 1


@pytest.mark.parametrize("n", [1.5, "3", None])
def test_a_batch_size_that_is_no_integer_is_a_type_error(segment: idgen.Generator, n: Any) -> None:
    with pytest.raises(TypeError):
        segment.next_batch(n)
    assert segment.next() == 1


@pytest.mark.parametrize("id", [-1, 2**64, 2**100])
def test_an_id_that_no_layout_has_is_refused(snowflake: idgen.Generator, id: int) -> None:
    error = error_of(lambda: snowflake.decode(id))
    assert isinstance(error, idgen.InvalidValueError)
    assert "0 to 18446744073709551615" in str(error)


def test_an_id_with_bits_outside_the_layout_is_refused(snowflake: idgen.Generator) -> None:
    assert error_of(lambda: snowflake.decode(2**63)).name == "VALUE"


@pytest.mark.parametrize("id", [1.0, "1", None])
def test_an_id_that_is_no_integer_is_a_type_error(snowflake: idgen.Generator, id: Any) -> None:
    with pytest.raises(TypeError):
        snowflake.decode(id)


def test_an_object_without_init_gives_the_cores_error_for_a_null_handle() -> None:
    bare: Any = idgen.Generator.__new__(idgen.Generator)
    calls: list[Callable[[], object]] = [
        bare.next,
        bare.try_next,
        lambda: next(bare),
        lambda: bare.next_batch(2),
        lambda: bare.next_batch(5000),
        lambda: bare.fill(array.array("q", [0])),
        lambda: bare.next_block(1),
        bare.next_async,
        lambda: bare.__aiter__(),
        lambda: bare.decode(1),
        lambda: bare.decode_array([1]),
        bare.describe,
        bare.stats,
        bare.close,
        bare.__enter__,
        lambda: bare.layout,
        lambda: bare.name,
        lambda: bare.kind,
        lambda: bare.closed,
    ]
    for call in calls:
        error = error_of(call)
        assert isinstance(error, idgen.HandleError)
        assert "NULL" in str(error)
    assert repr(bare) == "<idgen.Generator, not initialised>"


def test_a_method_on_an_object_of_another_type_is_a_type_error() -> None:
    layout: Any = idgen.Layout()
    methods: list[Any] = [idgen.Generator.next, idgen.Generator.describe, idgen.Generator.close, idgen.Generator.stats]
    for method in methods:
        for wrong in (42, None, layout):
            with pytest.raises(TypeError):
                method(wrong)


def test_a_layout_without_init_is_a_type_error() -> None:
    bare: Any = idgen.Layout.__new__(idgen.Layout)
    with pytest.raises(TypeError):
        bare.decode(1)


def test_an_unknown_encoding_names_the_known_ones() -> None:
    encoding: Any = "base61"
    error = error_of(lambda: idgen.format_id(1, encoding))
    assert "decimal, hex, crockford, base58, base62" in str(error)


def test_a_nul_character_is_never_cut_off_in_silence(tmp_path: Path) -> None:
    assert error_of(lambda: idgen.Generator(store="memory:a\0b", worker=1)).name == "ARGUMENT"
    assert error_of(lambda: idgen.Layout("default\0")).name == "ARGUMENT"
    assert error_of(lambda: idgen.Layout("default", "2025\0")).name == "ARGUMENT"
    assert error_of(lambda: idgen.open(str(tmp_path / "a\0b"), "orders")).name == "ARGUMENT"
    assert error_of(lambda: idgen.open(tmp_path / "idgen.toml", "a\0b")).name == "ARGUMENT"
    assert error_of(lambda: UNTYPED(**{"work\0er": 1})).name == "ARGUMENT"
    # Not a C string: this function takes a length, and the error has the position.
    assert error_of(lambda: idgen.parse_id("12\0", "decimal")).name == "TEXT"


def test_text_that_is_no_unicode_is_refused_with_a_status() -> None:
    assert error_of(lambda: idgen.Generator(store="memory:\ud800", worker=1)).name == "VALUE"
    assert error_of(lambda: UNTYPED(**{"\ud800": 1})).name == "VALUE"
    assert error_of(lambda: UNTYPED(**{"work\udcffer": 1})).name == "UNKNOWN_KEY"
    nonsense: Any = {"\udcff": 1}
    assert error_of(lambda: idgen.Layout().encode(**nonsense)).name == "ARGUMENT"


def test_paths_that_are_not_utf8_work_as_everywhere_in_python(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    idgen.Generator(worker=1, store=f"sqlite:{folder / 'one.db'}", store_create=True).close()
    assert (folder / "one.db").exists()
    with idgen.Generator(worker=1, store="sqlite:two.db", directory=folder, store_create=True) as generator:
        assert generator.describe()
    assert (folder / "two.db").exists()
    toml = folder / "idgen.toml"
    toml.write_text('[orders]\nstore = "sqlite:three.db"\nstore_create = true\nworker = 1\n')
    idgen.open(toml, "orders").close()
    assert (folder / "three.db").exists()
    with idgen.Generator(worker=1, store="memory", name="caf\udce9") as generator:
        assert generator.name == "caf\udce9"
        assert "caf" in repr(generator)
