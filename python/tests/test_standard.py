"""UUIDs, ULIDs and ObjectIds."""

from __future__ import annotations

import os
import pickle
import threading
import time
import uuid
from datetime import datetime, timezone
from typing import TYPE_CHECKING, cast

import idgen
import pytest
from conftest import distinct

if TYPE_CHECKING:
    from collections.abc import Callable

    from idgen._core import _MadeStandard

MAKERS: dict[str, Callable[[], object]] = {
    "uuid4": idgen.uuid4,
    "uuid7": idgen.uuid7,
    "ulid": idgen.ulid,
    "object_id": idgen.object_id,
}


def in_child(work: Callable[[], str]) -> str:
    """What work() returns, a str, in a forked child."""
    end, other = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(other, work().encode())
        os._exit(0)
    os.close(other)
    with os.fdopen(end, "rb") as pipe:
        text = pipe.read().decode()
    assert os.waitpid(child, 0)[1] == 0
    return text


@pytest.mark.parametrize("version", [4, 7])
def test_a_uuid_is_what_the_constructor_would_have_made(version: int) -> None:
    made = idgen.uuid4() if version == 4 else idgen.uuid7()
    assert type(made) is uuid.UUID
    assert (made.version, made.variant, made.is_safe) == (version, uuid.RFC_4122, uuid.SafeUUID.unknown)
    again = uuid.UUID(str(made))
    assert made == again
    assert hash(made) == hash(again)
    assert pickle.loads(pickle.dumps(made)) == made
    with pytest.raises(TypeError):
        made.int = 5  # type: ignore[misc]


@pytest.mark.parametrize("name", ["uuid7", "ulid", "object_id"])
def test_it_holds_the_time_at_which_it_was_made(name: str) -> None:
    tick = 1000 if name == "object_id" else 1
    before = int(time.time() * 1000) // tick * tick
    parts = idgen.decode_standard(str(MAKERS[name]()))
    assert parts.standard == name
    assert parts.unix_ms is not None
    assert before <= parts.unix_ms <= time.time() * 1000 + 1
    assert parts.time == datetime.fromtimestamp(parts.unix_ms / 1000, timezone.utc)


@pytest.mark.parametrize("name", ["uuid7", "ulid", "object_id"])
def test_they_rise_one_by_one_and_in_batches(name: str) -> None:
    one_by_one = [idgen.parse_standard(str(MAKERS[name]())) for _ in range(10_000)]
    assert one_by_one == sorted(one_by_one)
    size = 12 if name == "object_id" else 16
    batch = idgen.standard_ids(cast("_MadeStandard", name), 10_000)
    ids = [batch[at : at + size] for at in range(0, len(batch), size)]
    assert ids == sorted(ids)
    assert ids[0] > one_by_one[-1]
    assert distinct(ids) == distinct(one_by_one) == 10_000


@pytest.mark.parametrize("name", MAKERS)
def test_threads_make_none_twice(name: str) -> None:
    made: list[list[object]] = [[] for _ in range(4)]
    threads = [
        threading.Thread(target=lambda ids=ids: ids.extend(MAKERS[name]() for _ in range(20_000))) for ids in made
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert distinct(*made) == 80_000


@pytest.mark.parametrize("name", MAKERS)
def test_a_forked_child_makes_none_of_its_parents(name: str) -> None:
    def work() -> str:
        return " ".join(str(MAKERS[name]()) for _ in range(500))

    MAKERS[name]()  # the parent's randomness is at hand
    ids = [id for _ in range(4) for id in in_child(work).split()]
    ids += work().split()
    assert len({*ids}) == 2500
    if name == "object_id":
        assert len({idgen.decode_standard(id).process for id in ids}) == 5


def test_a_uuid_of_any_kind_is_decoded() -> None:
    began = time.time() * 1000
    made = uuid.uuid1()
    parts = idgen.decode_standard(made)
    assert (parts.standard, parts.version, parts.process, parts.counter) == ("uuid", 1, None, None)
    assert parts.unix_ms is not None
    assert began - 10_000 < parts.unix_ms < time.time() * 1000 + 10_000
    assert idgen.decode_standard(made.bytes) == idgen.decode_standard(str(made)) == parts
    assert idgen.decode_standard(uuid.UUID(int=0)).time is None


def test_bytes_are_a_uuid_or_an_object_id_by_their_length_and_a_ulid_if_that_is_said() -> None:
    # Not one made here: the random bits of one ULID in 32 read as a UUID of version 4 or 7.
    raw = bytes.fromhex("017f22e279b00cc398c4dc0c0c07398f")
    assert idgen.decode_standard(raw).standard == "uuid"
    parts = idgen.decode_standard(raw, "ulid")
    assert (parts.standard, parts.version) == ("ulid", None)
    assert idgen.parse_standard(idgen.format_standard(raw, "ulid")) == raw
    raw = idgen.standard_ids("object_id", 1)
    assert idgen.format_standard(raw) == raw.hex()
    assert idgen.decode_standard(raw).standard == "object_id"


def test_mistakes_are_refused_with_what_is_allowed() -> None:
    with pytest.raises(idgen.ArgumentError, match="no standard is named 'uuid5'; there are uuid, uuid4, uuid7, ulid"):
        idgen.standard_ids("uuid5", 1)  # type: ignore[arg-type]
    with pytest.raises(idgen.ArgumentError, match="Versions 4 and 7 are made"):
        idgen.standard_ids("uuid", 1)  # type: ignore[arg-type]
    with pytest.raises(idgen.ArgumentError, match="n is -1"):
        idgen.standard_ids("uuid7", -1)
    with pytest.raises(idgen.InvalidValueError, match="uuid has 16 bytes; these are 15"):
        idgen.decode_standard(bytes(15))
    with pytest.raises(idgen.InvalidValueError, match="object_id has 12 bytes; these are 16"):
        idgen.format_standard(bytes(16), "object_id")
    with pytest.raises(TypeError, match=r"a uuid\.UUID, a str or bytes, not int"):
        idgen.decode_standard(5)  # type: ignore[arg-type]
    with pytest.raises(idgen.TextError, match="it has 3 characters"):
        idgen.parse_standard("abc")
    with pytest.raises(TypeError, match="standard is a str, not int"):
        idgen.decode_standard(bytes(16), 5)  # type: ignore[arg-type]
    with pytest.raises(UnicodeEncodeError):
        idgen.decode_standard("\ud800")
    for n in (1 << 60, (1 << 60) + 1, 1 << 62):  # 16 times as many bytes are more than there are, or wrap
        with pytest.raises(MemoryError):
            idgen.standard_ids("uuid7", n)
    with pytest.raises(TypeError):
        idgen.uuid7(5)  # type: ignore[call-arg]
    assert idgen.standard_ids("uuid7", 0) == b""
