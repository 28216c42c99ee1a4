"""The golden vectors: what every language must agree on."""

from __future__ import annotations

import itertools
import uuid
from datetime import datetime, timedelta, timezone
from typing import Any

import idgen
import pytest
from conftest import ManualClock, settings_of, vectors

FIELDS = ("time", "datacenter", "worker", "process", "shard", "sequence", "gene", "version", "segment", "fixed")
ENCODINGS = ("decimal", "hex", "crockford", "base58", "base62")
INT64_MAX = 2**63 - 1
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
YEAR_10000 = 253402300800000  # Unix ms; no datetime holds it


def test_presets_are_the_known_ones_in_their_order_with_the_facts_of_their_rows() -> None:
    rows = vectors("presets.tsv")
    assert idgen.Layout.presets() == tuple(row[0] for row in rows)
    for name, text, *numbers in rows:
        info = idgen.Layout(name).info()
        last = INT64_MAX if info.last_unix_ms is None else info.last_unix_ms
        assert (info.preset, info.text) == (name, text)
        found = (info.epoch_unix_ms, info.bits, info.ids_per_tick, info.workers, last)
        assert (*found, info.is_unsigned, info.is_js_safe, info.tick_ms) == tuple(map(int, numbers)), name


@pytest.mark.parametrize("is_wide", [False, True])
def test_every_id_of_the_vectors_decodes_and_encodes(is_wide: bool) -> None:
    for layout_text, epoch, id_text, unix_ms, *values in vectors("layouts_wide.tsv" if is_wide else "layouts.tsv"):
        layout = idgen.Layout(layout_text, epoch)
        id = int(id_text).to_bytes(16, "big") if is_wide else int(id_text)
        expected = {
            "ticks" if name == "time" else name: int(value)
            for name, value in zip(FIELDS, values, strict=True)
            if value != "-"
        }
        parts = layout.decode(id)
        assert dict(parts.fields) == expected, (layout_text, id_text)
        if "ticks" in expected:
            assert parts.unix_ms == int(unix_ms), (layout_text, id_text)
        assert layout.encode(**expected) == id, (layout_text, id_text)  # type: ignore[arg-type]


def test_an_id_of_the_wrong_length_is_refused() -> None:
    wide, narrow = idgen.Layout("business128"), idgen.Layout("business64")
    with pytest.raises(idgen.UnsupportedError):
        wide.decode(0)
    for layout, id in ((wide, bytes(8)), (narrow, bytes(16)), (narrow, b""), (wide, bytes(15)), (wide, bytes(1000))):
        with pytest.raises(idgen.InvalidValueError):
            layout.decode(id)
    assert narrow.decode(bytes(8)).fields == narrow.decode(0).fields


def owner_of(kind: str, owner: str) -> int | str | bytes:
    return int(owner) if kind == "integer" else bytes.fromhex(owner) if kind == "bytes" else owner


def test_every_owner_of_the_vectors_has_its_genes() -> None:
    by_time = idgen.Layout("order")
    for kind, text, mod4, *hashed in vectors("genes.tsv"):
        owner = owner_of(kind, text)
        for bits, gene in zip((4, 16, 23, 63), hashed, strict=True):
            assert idgen.Layout(f"gene:{bits} segment:{127 - bits}").gene(owner) == int(gene), (text, bits)
            assert bits != 4 or by_time.gene(owner, "hash") == int(gene)
        if mod4 != "-":
            assert by_time.gene(owner) == int(mod4)
            continue
        with pytest.raises(idgen.InvalidValueError):
            by_time.gene(owner)


def next_ids(of: idgen.Generator, owner: int | str | bytes, count: int, calls: str, way: str) -> list[int | bytes]:
    """So many, or as many as there are before a refusal, which is raised with them."""
    if way == "for each owner":
        owners = [owner] * count
        return [*(of.next_for_each(owners) if calls == "narrow" else of.next_wide_for_each(owners))]
    if way == "for one owner" and calls == "narrow":
        return [*of.next_batch_for(owner, count)]
    ids: list[int | bytes] = []
    try:
        for _ in range(count):
            ids.append(of.next_for(owner) if calls == "narrow" else of.next_wide_for(owner))
    except idgen.Error as refusal:
        refusal.ids = ids  # type: ignore[assignment]
        raise
    return ids


def as_written(id: int | bytes) -> str:
    return str(id) if isinstance(id, int) else str(int.from_bytes(id, "big")) if len(id) == 8 else id.hex()


def test_every_call_that_takes_an_owner_makes_the_ids_and_the_refusals_of_the_vectors() -> None:
    stores = itertools.count()
    for properties, used, which, kind, text, count, ids, status, message in vectors("owners.tsv"):
        owner = owner_of(kind, text)
        forms = {owner, text, text.encode()} if kind != "bytes" else {owner}
        ways = ("one by one", "for one owner", "for each owner")
        calls = ("narrow", "wide") if which == "both" else (which,)
        for form, call, way in itertools.product(forms, calls, ways):
            store: dict[str, Any] = {"store": f"memory:owners{next(stores)}", "store_create": True, "tag": "orders"}
            if used != "0":
                idgen.segment_create(**store)
                idgen.segment_advance(int(used), **store)
            settings = settings_of(properties) | store
            found, why = [], ("", "")
            try:
                with idgen.Generator(**settings, clock=ManualClock()) as generator:
                    found = next_ids(generator, form, int(count), call, way)
                    layouts = {16: idgen.Layout("business128"), 8: generator.layout}
                    for id in found:
                        layout = layouts[len(id) if isinstance(id, bytes) else 8]
                        assert generator.decode(id).fields == layout.decode(id).fields, (properties, id)
            except idgen.Error as refusal:
                found, why = [*(refusal.ids or [])], (refusal.name, str(refusal))
            assert (",".join(map(as_written, found)), *why) == (ids, status, message), (properties, form, call, way)


def test_every_text_form_of_the_vectors_formats_and_parses() -> None:
    for id_text, *texts in vectors("encodings.tsv"):
        for encoding, text in zip(ENCODINGS, texts, strict=True):
            assert idgen.format_id(int(id_text), encoding) == text  # type: ignore[arg-type]
            assert idgen.parse_id(text, encoding) == int(id_text)  # type: ignore[arg-type]
            assert idgen.parse_wide_id(text, encoding) == int(id_text).to_bytes(8, "big")  # type: ignore[arg-type]
    for hexadecimal, *texts in vectors("encodings_wide.tsv"):
        id = bytes.fromhex(hexadecimal)
        for encoding, text in zip(ENCODINGS, texts, strict=True):
            assert idgen.format_id(id, encoding) == text  # type: ignore[arg-type]
            assert idgen.parse_wide_id(text, encoding) == id  # type: ignore[arg-type]


def test_every_instant_of_the_vectors_is_the_same_moment_as_an_epoch() -> None:
    for text, unix_ms, _canonical in vectors("instants.tsv"):
        assert idgen.Layout("time:41ms worker:10 sequence:12", text).epoch_unix_ms == int(unix_ms), text


def test_every_bad_layout_of_the_vectors_gives_its_status_and_message() -> None:
    for layout, epoch, status, message in vectors("bad_layouts.tsv"):
        with pytest.raises(idgen.ConfigError) as caught:
            idgen.Layout(layout, epoch or None)
        assert (caught.value.name, str(caught.value)) == (status, message), layout


def test_every_bad_text_of_the_vectors_gives_its_status_and_message() -> None:
    for encoding, text, status, message in vectors("bad_texts.tsv"):
        with pytest.raises(idgen.TextError) as caught:
            idgen.parse_standard(text) if encoding == "standard" else idgen.parse_id(text, encoding)  # type: ignore
        assert (caught.value.name, str(caught.value)) == (status, message), text


def test_every_text_of_the_vectors_is_written_and_read_back() -> None:
    for text_pattern, zone, layout, size, id_text, text in vectors("patterns.tsv"):
        known = idgen.Layout(layout) if layout else None
        pattern = idgen.TextPattern(text_pattern, zone=zone, layout=known)
        id = int(id_text).to_bytes(int(size), "big")
        assert pattern.format(id) == text, text_pattern
        parts = pattern.parse(text)
        assert parts.id == (int(id_text) if size == "8" else id), text
        assert parts.number == int(id_text), text
        if size == "8":
            assert pattern.format(int(id_text)) == text, text_pattern


def test_every_bad_pattern_of_the_vectors_gives_its_status_and_message() -> None:
    for pattern, layout, id, text, status, message in vectors("bad_patterns.tsv"):
        known = idgen.Layout(layout) if layout else None
        with pytest.raises(idgen.Error) as caught:
            (
                idgen.TextPattern(pattern, layout=known).parse(text)
                if id == "-"
                else idgen.TextPattern(pattern, layout=known).format(int(id))
            )
        assert (caught.value.name, str(caught.value)) == (status, message), (pattern, id, text)


def test_standard_ids_are_read_taken_apart_and_written_as_the_reference_does() -> None:
    for text, standard, version, is_rfc, unix_ms, process, counter, canonical, raw in vectors("standard.tsv"):
        assert idgen.parse_standard(text).hex() == raw, text
        assert idgen.format_standard(text) == canonical, text
        assert idgen.format_standard(bytes.fromhex(raw), standard) == canonical, text  # type: ignore[arg-type]
        parts = idgen.decode_standard(text)
        assert parts.standard == standard, text
        assert parts.version == (int(version) if standard.startswith("uuid") else None), text
        assert parts.is_rfc == (is_rfc == "yes"), text
        assert parts.unix_ms == (int(unix_ms) if unix_ms else None), text
        if not unix_ms or int(unix_ms) < YEAR_10000:
            assert parts.time == (EPOCH + timedelta(milliseconds=int(unix_ms)) if unix_ms else None), text
        if standard.startswith("uuid"):
            assert idgen.decode_standard(uuid.UUID(text)) == idgen.decode_standard(bytes.fromhex(raw)) == parts, text
        else:
            assert idgen.decode_standard(bytes.fromhex(raw), standard) == parts, text  # type: ignore[arg-type]
        assert parts.process == (int(process) if process else None), text
        assert parts.counter == (int(counter) if counter else None), text
