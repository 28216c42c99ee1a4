"""UUIDs, ULIDs and ObjectIds."""

from __future__ import annotations

import pickle
import uuid
from typing import TYPE_CHECKING, Any, cast

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


def test_a_uuid_is_what_the_constructor_would_have_made() -> None:
    for version, made in ((4, idgen.uuid4()), (7, idgen.uuid7())):
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
    assert name == "uuid4" or texts == sorted(texts)
    assert distinct(*in_threads(4, lambda mine: mine.extend(MAKERS[name]() for _ in range(20_000)))) == 80_000


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
    untyped: Any = idgen
    refused: list[tuple[Callable[..., object], tuple[object, ...], type[Exception], str | None]] = [
        (untyped.standard_ids, ("uuid5", 1), idgen.ArgumentError, "named 'uuid5'; there are uuid, uuid4, uuid7, ulid"),
        (untyped.standard_ids, ("uuid", 1), idgen.ArgumentError, "Versions 4 and 7 are made"),
        (untyped.standard_ids, ("uuid7", -1), idgen.ArgumentError, "n is -1"),
        # 16 times as many bytes are more than there are, or wrap.
        *((untyped.standard_ids, ("uuid7", n), MemoryError, None) for n in (1 << 60, (1 << 60) + 1, 1 << 62)),
        (untyped.decode_standard, (bytes(15),), idgen.InvalidValueError, "uuid has 16 bytes; these are 15"),
        (untyped.format_standard, (bytes(16), "object_id"), idgen.InvalidValueError, "12 bytes; these are 16"),
        (untyped.decode_standard, (5,), TypeError, r"a uuid\.UUID, a str or bytes, not int"),
        (untyped.decode_standard, (bytes(16), 5), TypeError, "standard is a str, not int"),
        (untyped.decode_standard, ("\ud800",), UnicodeEncodeError, None),
        (untyped.uuid7, (5,), TypeError, None),
    ]
    for call, arguments, error, says in refused:
        with pytest.raises(error, match=says):
            call(*arguments)
    assert idgen.standard_ids("uuid7", 0) == b""
