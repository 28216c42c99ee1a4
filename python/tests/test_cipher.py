"""Hidden ids: the same as in every other language, ints and arrays, keys from a file and from the program."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import idgen
import numpy as np
import pytest
from conftest import REPOSITORY, in_child, vectors
from patience import repeating

FIRST = "1 2B7E151628AED2A6ABF7158809CF4F3C\n"
SECOND = "2 000102030405060708090a0b0c0d0e0f\n"

Hiding = Callable[..., idgen.IdCipher]


def modules() -> str:
    """Beside the installed package, or in the build tree."""
    beside = Path(idgen.__file__).parent / "modules"
    return str(beside if (beside / "libidgen_cipher.so").exists() else REPOSITORY / "build/lib/idgen/modules")


def write_keys(path: Path, text: str, mode: int = 0o600) -> None:
    path.touch(0o600)
    path.chmod(0o600)
    path.write_text(text)
    path.chmod(mode)


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    path = tmp_path / "keys"
    write_keys(path, FIRST)
    return path


@pytest.fixture
def hiding(keys: Path, request: pytest.FixtureRequest) -> Hiding:
    def make(**more: object) -> idgen.IdCipher:
        properties = {
            "layout": "business64",
            "namespace": request.node.name[:100],
            "store": "memory",
            "module_path": modules(),
            "cipher_key": f"file:{keys}",
            **more,
        }
        return idgen.IdCipher(**properties)

    return make


def test_hidden_ids_are_those_of_the_vectors(hiding: Hiding, keys: Path) -> None:
    write_keys(keys, (REPOSITORY / "tests/vectors/hidden.keys").read_text())
    for mode, namespace, layout, version, id_text, hidden_text in vectors("hidden.tsv"):
        cipher = hiding(
            cipher_mode=mode, namespace=namespace, layout=layout, cipher_version=version, store="memory:vectors"
        )
        assert cipher.hide(int(id_text)) == int(hidden_text), (mode, layout, id_text)
        assert cipher.reveal(int(hidden_text)) == int(id_text), (mode, layout, id_text)


def test_ids_are_hidden_by_their_length(hiding: Hiding) -> None:
    cipher = hiding(on_full="widen")
    ids = [bytes(7) + b"\x08", bytes(15) + b"\x10"]
    hidden = cipher.hide_each(ids)
    assert [len(form) for form in hidden] == [8, 16]
    assert cipher.reveal_each(hidden) == ids
    assert [cipher.hide(id) for id in ids] == hidden
    assert [cipher.reveal(form) for form in hidden] == ids
    assert cipher.hide_each([]) == []
    # The same forms as those of a cipher for one of the lengths.
    assert hiding().hide(8).to_bytes(8, "big") == hidden[0]
    assert hiding(layout="business128").hide(16).to_bytes(16, "big") == hidden[1]
    assert "ids of 16 bytes, which follow those of 8" in cipher.describe()


def test_an_array_gives_what_one_by_one_gives_and_is_left_as_it_was(hiding: Hiding) -> None:
    cipher = hiding()
    ids = np.arange(1000, dtype=np.int64).reshape(10, 100)
    before = ids.copy()
    hidden = cipher.hide_array(ids)
    assert hidden.dtype == np.int64
    assert hidden.shape == ids.shape
    assert hidden[3, 7] == cipher.hide(307)
    assert (ids == before).all()
    assert (cipher.reveal_array(hidden) == ids).all()
    assert (cipher.hide_array(ids[:, ::3]) == hidden[:, ::3]).all()
    assert (cipher.hide_array(list(range(5))) == hidden[0, :5]).all()
    assert (cipher.hide_array(ids.astype(np.uint32)) == hidden).all()
    assert cipher.hide_array([]).size == 0
    read_only = ids.copy()
    read_only.setflags(write=False)
    assert (cipher.hide_array(read_only) == hidden).all()


def test_an_array_of_an_unsigned_layout_has_all_64_bits(hiding: Hiding) -> None:
    cipher = hiding(layout="mastodon")
    ids = np.array([0, 2**63, 2**64 - 1], dtype=np.uint64)
    hidden = cipher.hide_array(ids)
    assert hidden.dtype == np.uint64
    assert [cipher.hide(int(id)) for id in ids] == hidden.tolist()
    assert (cipher.reveal_array(hidden.view(np.int64)) == ids).all()


def test_what_is_no_id_of_the_layout_is_refused(hiding: Hiding) -> None:
    narrow, wide = hiding(), hiding(layout="business128", namespace="wide")
    plain = bytes(7) + b"\x05"
    for cipher, outside in (*((narrow, id) for id in (-1, 2**63, 2**64)), *((wide, id) for id in (-1, 2**127, 2**128))):
        with pytest.raises(idgen.InvalidValueError):
            cipher.hide(outside)
    refused: list[tuple[Callable[[Any], object], object, type[Exception], str | None]] = [
        (narrow.hide, "5", TypeError, None),
        (narrow.hide, bytes(8) + plain, idgen.InvalidValueError, "16 bytes, but those of layout .* have 8"),
        (narrow.hide, plain[1:], idgen.InvalidValueError, "this one's size is 7"),
        (narrow.hide_each, [plain, narrow.hide(plain)], idgen.InvalidValueError, "number 2 of 2, is hidden already"),
        (narrow.hide_each, [plain, 5], TypeError, "item 1 is of the type int; use hide_array"),
        (narrow.hide_array, np.array([1.5]), TypeError, "hide_array needs an array of integers"),
        (narrow.hide_array, [1, narrow.hide(1), 2], idgen.InvalidValueError, "number 2 of 3"),
        (narrow.hide_array, [-1], idgen.InvalidValueError, None),
        (wide.reveal_each, [plain], idgen.InvalidValueError, "8 bytes, but those of layout .* have 16"),
        (wide.reveal_array, [1], TypeError, "127 bits; use reveal"),
    ]
    for call, given, error, says in refused:
        with pytest.raises(error, match=says):
            call(given)


def test_check_describes_and_never_shows_a_key(keys: Path) -> None:
    text = idgen.IdCipher.check(
        layout="business64", store="memory:check", module_path=modules(), cipher_key=f"file:{keys}"
    )
    assert "key version 1: hides and reveals, check value " in text
    assert "2B7E" not in text


def test_a_cipher_of_a_file_s_table_finds_its_keys_beside_the_file(keys: Path) -> None:
    toml = keys.parent / "idgen.toml"
    toml.write_text(
        f'[orders]\nlayout = "business64"\nstore = "memory:toml"\n[orders.cipher]\nkey = "file:{keys.name}"\n'
    )
    cipher = idgen.IdCipher.open(toml, "orders", module_path=modules())
    assert cipher.layout.preset == "business64"
    assert cipher.layout.decode(cipher.hide(5)).version == 1
    write_keys(keys, FIRST + SECOND)
    cipher.reload()
    assert cipher.layout.decode(cipher.hide(5)).version == 2
    assert "key version 2: hides and reveals" in cipher.describe()


def test_keys_of_the_program_are_read_again_while_other_threads_hide(hiding: Hiding) -> None:
    rows: list[tuple[int, bytes] | tuple[int, bytes, bool]] = [(1, bytes(range(32)))]
    cipher = hiding(keys=lambda: list(rows))
    wrong: list[object] = []

    def work() -> None:
        try:
            if (revealed := cipher.reveal(cipher.hide(77))) != 77:
                wrong.append(revealed)
        except BaseException as error:
            wrong.append(error)

    with repeating(work, threads=3):
        for version in range(2, 12):
            rows.append((version, bytes([version]) * 16))
            cipher.reload()
    assert wrong == []
    assert cipher.layout.decode(cipher.hide(5)).version == 11
    rows[-1] = (11, rows[-1][1], True)
    cipher.reload()
    assert cipher.layout.decode(cipher.hide(5)).version == 10


def test_what_keys_raises_is_what_the_call_raises(hiding: Hiding) -> None:
    class SealedError(Exception):
        pass

    def keys() -> object:
        if isinstance(answer, BaseException):
            raise answer
        return answer

    answer: object = [(1, bytes(32))]
    cipher = hiding(keys=keys)
    answer = SealedError("the vault is sealed")
    with pytest.raises(SealedError) as caught:
        cipher.reload()
    assert caught.value is answer
    for wrong, error in (
        ([(1, bytes(15))], idgen.ConfigFileError),
        ([(2**40, bytes(32))], idgen.ConfigFileError),
        ([(1, "text")], TypeError),
        ([1], TypeError),
        ([(1,)], TypeError),
        (None, TypeError),
    ):
        answer = wrong
        with pytest.raises(error):
            cipher.reload()
    with pytest.raises(TypeError, match="keys: needs a callable"):
        hiding(keys=[(1, bytes(32))])
    assert cipher.hide(5) >> 42 == 1


def test_a_cipher_says_what_it_is_but_not_to_another_process_and_works_in_a_child(hiding: Hiding) -> None:
    cipher = hiding(namespace="shop")
    assert repr(cipher) == "<idgen.IdCipher of namespace 'shop', gene:16 version:5 segment:42>"
    with pytest.raises(TypeError, match="it holds keys"):
        pickle.dumps(cipher)
    hidden = cipher.hide(99)
    assert in_child(lambda: f"{cipher.hide(99)} {cipher.reveal(hidden)}") == f"{hidden} 99"


class Formats:
    """A store of the program's own that keeps rows of workers, and is asked for a namespace's format only."""

    def __init__(self) -> None:
        self.formats: dict[str, str] = {}

    def namespace_format(self, namespace: str, format: str, /) -> str:
        return self.formats.setdefault(namespace, format) if format else self.formats.get(namespace, "")

    worker_read: Any = NotImplemented
    worker_list: Any = NotImplemented
    worker_replace: Any = NotImplemented


def test_a_store_of_the_program_keeps_the_check_values_too(hiding: Hiding) -> None:
    store = Formats()
    hidden = hiding(store=store, namespace="shop").hide(5)
    assert list(store.formats) == ["hidden ids of shop, 42 bits, key 1"]
    assert hiding(store=store, namespace="shop").reveal(hidden) == 5


class Segments:
    """A store of the program's own without rows of workers."""

    def segment_take(self, namespace: str, tag: str, count: int, /) -> int:
        return 1


def test_a_store_of_the_program_without_rows_of_workers_is_refused(hiding: Hiding) -> None:
    with pytest.raises(idgen.UnsupportedError, match="namespace_format, which the check of keys"):
        hiding(store=Segments())
