"""UUIDs, ULIDs and ObjectIds."""

from __future__ import annotations

import pickle
import uuid
from typing import TYPE_CHECKING, cast

import idgen
import pytest
from conftest import distinct, in_threads

if TYPE_CHECKING:
    from collections.abc import Callable

    from idgen._core import _MadeStandard

MAKERS: dict[str, Callable[[], object]] = {
    "uuid4": idgen.uuid4,
    "uuid7": idgen.uuid7,
    "ulid": idgen.ulid,
    "object_id": idgen.object_id,
}


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


@pytest.mark.parametrize("name", MAKERS)
def test_each_is_made_one_by_one_and_in_batches(name: str) -> None:
    size = 12 if name == "object_id" else 16
    standard = cast("_MadeStandard", name)
    texts = [str(MAKERS[name]())]
    batch = idgen.standard_ids(standard, 3)
    texts += [idgen.format_standard(batch[at : at + size], standard) for at in range(0, 3 * size, size)]
    texts.append(str(MAKERS[name]()))
    assert [idgen.decode_standard(text).standard for text in texts] == [name] * 5
    assert distinct(texts) == 5
    assert name == "uuid4" or texts == sorted(texts)


@pytest.mark.parametrize("name", MAKERS)
def test_threads_make_none_twice(name: str) -> None:
    def make(mine: list[object]) -> None:
        mine.extend(MAKERS[name]() for _ in range(20_000))

    assert distinct(*in_threads(4, make)) == 80_000


def test_bytes_are_a_uuid_or_an_object_id_by_their_length_and_a_ulid_if_that_is_said() -> None:
    # Not one made here: the random bits of one ULID in 32 read as a UUID of version 4 or 7.
    raw = bytes.fromhex("017f22e279b00cc398c4dc0c0c07398f")
    assert idgen.decode_standard(raw).standard == "uuid"
    parts = idgen.decode_standard(raw, "ulid")
    assert (parts.standard, parts.version) == ("ulid", None)
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
