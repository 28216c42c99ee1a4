"""The golden vectors: what every language must agree on."""

from __future__ import annotations

import idgen
import pytest
from conftest import vectors

FIELDS = ("time", "datacenter", "worker", "process", "shard", "sequence", "gene", "version", "segment", "fixed")
ENCODINGS = ("decimal", "hex", "crockford", "base58", "base62")
INT64_MAX = 2**63 - 1


def test_presets_are_the_known_ones_in_their_order() -> None:
    rows = vectors("presets.tsv")
    assert idgen.Layout.presets() == tuple(row[0] for row in rows)


@pytest.mark.parametrize("row", vectors("presets.tsv"), ids=lambda row: row[0])
def test_a_preset_has_the_facts_of_its_row(row: list[str]) -> None:
    name, text, epoch, bits, ids_per_tick, workers, last, is_unsigned, is_js_safe, tick_ms = row
    info = idgen.Layout(name).info()
    assert info.preset == name
    assert info.text == text
    assert info.epoch_unix_ms == int(epoch)
    assert info.bits == int(bits)
    assert info.ids_per_tick == int(ids_per_tick)
    assert info.workers == int(workers)
    assert (INT64_MAX if info.last_unix_ms is None else info.last_unix_ms) == int(last)
    assert info.is_unsigned == (is_unsigned == "1")
    assert info.is_js_safe == (is_js_safe == "1")
    assert info.tick_ms == int(tick_ms)


def test_every_id_of_the_vectors_decodes_and_encodes() -> None:
    rows = vectors("layouts.tsv")
    for layout_text, epoch, id_text, unix_ms, *values in rows:
        layout = idgen.Layout(layout_text, epoch)
        expected = {
            "ticks" if name == "time" else name: int(value)
            for name, value in zip(FIELDS, values, strict=True)
            if value != "-"
        }
        parts = layout.decode(int(id_text))
        assert dict(parts.fields) == expected, (layout_text, id_text)
        if "ticks" in expected:
            assert parts.unix_ms == int(unix_ms), (layout_text, id_text)
        assert layout.encode(**expected) == int(id_text), (layout_text, id_text)  # type: ignore[arg-type]


def test_a_wide_layout_is_refused_by_decode_with_unsupported() -> None:
    for layout_text, epoch, *_ in vectors("layouts_wide.tsv"):
        layout = idgen.Layout(layout_text, epoch)
        with pytest.raises(idgen.UnsupportedError):
            layout.decode(0)
        with pytest.raises(idgen.UnsupportedError):
            layout.encode()


def test_every_text_form_of_the_vectors_formats_and_parses() -> None:
    for id_text, *texts in vectors("encodings.tsv"):
        for encoding, text in zip(ENCODINGS, texts, strict=True):
            assert idgen.format_id(int(id_text), encoding) == text  # type: ignore[arg-type]
            assert idgen.parse_id(text, encoding) == int(id_text)  # type: ignore[arg-type]


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
            idgen.parse_id(text, encoding)  # type: ignore[arg-type]
        assert (caught.value.name, str(caught.value)) == (status, message), text
