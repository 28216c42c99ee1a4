#!/usr/bin/env python3
"""Writes the golden vectors and the table of presets in docs/layouts.md: a slow, obvious second opinion on the core.

It shares nothing with the core: ids are strings of '0' and '1' that are joined and cut, digits come from repeated
division of Python's own integers, instants from datetime. Nothing here is fast, and nothing should become so.

    python3 tests/vectors/reference.py            writes the files
    python3 tests/vectors/reference.py --check    exits with 1, naming them, if files differ from what would be written
"""

from __future__ import annotations

import argparse
import random
import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path

HERE = Path(__file__).resolve().parent
INT64_MAX = 2**63 - 1
UINT64_MAX = 2**64 - 1
FIELDS = ["time", "datacenter", "worker", "process", "shard", "sequence", "gene", "version", "segment", "fixed"]
NODE_FIELDS = {"datacenter", "worker", "process", "shard"}
EPOCH_2025 = 1735689600000

# name, fields, epoch. Order, bits and epochs are those of docs/layouts.md.
PRESETS = [
    ("default", "time:41ms worker:10 sequence:12", EPOCH_2025),
    ("twitter", "time:41ms datacenter:5 worker:5 sequence:12", 1288834974657),
    ("leaf", "time:41ms worker:10 sequence:12", 1288834974657),
    ("cosid", "time:41ms worker:10 sequence:12", 1577203200000),
    ("datacenter", "time:41ms datacenter:5 worker:5 sequence:12", 1420041600000),
    ("js53", "time:32s worker:8 sequence:12", EPOCH_2025),
    ("order", "time:41ms worker:6 sequence:12 gene:4", EPOCH_2025),
    ("uid-generator", "time:28s worker:22 sequence:13", 1463673600000),
    ("sonyflake", "time:39x10ms sequence:8 worker:16", 1409529600000),
    ("discord", "unsigned time:42ms worker:5 process:5 sequence:12", 1420070400000),
    ("instagram", "unsigned time:41ms shard:13 sequence:10", 1314220021721),
    ("mastodon", "unsigned time:48ms sequence:16", 0),
    ("business64", "gene:16 version:5 segment:42", 0),
    ("business128", "gene:23 version:20 segment:84", 0),
]

# Layouts in full: the other business splits, other ticks, all fields in both orders, and the ends of what is allowed.
LAYOUTS_IN_FULL = [
    ("gene:14 version:7 segment:42", 0),
    ("gene:15 version:6 segment:42", 0),
    ("segment:63", 0),
    ("segment:1", 0),
    ("unsigned segment:64", 0),
    ("time:31s worker:9 sequence:22", EPOCH_2025),
    ("time:40x4ms shard:11 sequence:12", -62135596800000),
    ("time:20x60000ms worker:10 sequence:20", 0),
    ("time:15x86400000ms sequence:48", 0),
    ("time:62ms sequence:1", EPOCH_2025),
    ("unsigned time:63ms sequence:1", 0),
    ("time:36s datacenter:2 worker:3 process:4 shard:5 sequence:6 gene:3 version:2 segment:1 fixed:1", 1),
    ("fixed:1 version:2 gene:3 sequence:6 shard:5 process:4 worker:3 datacenter:2 time:36", 1),
]

WIDE_LAYOUTS = [
    ("business128", 0),
    ("segment:127", 0),
    ("time:48ms worker:32 sequence:47", 0),
    ("gene:63 version:63 sequence:1", 0),
]


# ------------------------------------------------------------------------------------------------ layouts


def fields_of(layout: str) -> tuple[list[tuple[str, int]], int]:
    """[(field, bits)] from the top and the tick in ms, 0 without time."""
    for name, text, _ in PRESETS:
        if layout == name:
            layout = text
    fields, tick = [], 0
    for word in layout.split():
        if word == "unsigned":
            continue
        field, size = word.split(":")
        if field == "time":
            if size.endswith("ms") and "x" in size:
                size, length = size[:-2].split("x")
                tick = int(length)
            elif size.endswith("ms"):
                size, tick = size[:-2], 1
            elif size.endswith("s"):
                size, tick = size[:-1], 1000
            else:
                tick = 1
        fields.append((field, int(size)))
    bits = sum(width for _, width in fields)
    assert bits == 64 if layout.startswith("unsigned ") else bits <= 63 or bits == 127, (layout, bits)
    return fields, tick


def glue(fields: list[tuple[str, int]], values: dict[str, int]) -> int:
    bits = ""
    for field, width in fields:
        text = bin(values[field])[2:].rjust(width, "0")
        assert len(text) == width
        bits += text
    return int(bits, 2)


def cut(fields: list[tuple[str, int]], number: int) -> dict[str, int]:
    bits = bin(number)[2:].rjust(sum(width for _, width in fields), "0")
    values = {}
    for field, width in fields:
        values[field], bits = int(bits[:width], 2), bits[width:]
    assert bits == ""
    return values


def layout_row(layout: str, epoch: int, values: dict[str, int]) -> list[str]:
    fields, tick = fields_of(layout)
    number = glue(fields, values)
    assert cut(fields, number) == values
    unix_ms = str(min(epoch + values["time"] * tick, INT64_MAX)) if "time" in values else "-"
    return [layout, str(epoch), str(number), unix_ms] + [str(values[f]) if f in values else "-" for f in FIELDS]


def interesting(fields: list[tuple[str, int]], rng: random.Random) -> list[dict[str, int]]:
    """All fields 0, all at their largest, each alone at its largest, each alone at 1, and a few at random."""
    sets = [{f: 0 for f, _ in fields}, {f: 2**w - 1 for f, w in fields}]
    for field, width in fields:
        sets.append({f: (2**width - 1 if f == field else 0) for f, _ in fields})
        sets.append({f: (1 if f == field else 0) for f, _ in fields})
    for _ in range(6):
        sets.append({f: rng.randrange(2**w) for f, w in fields})
    unique: list[dict[str, int]] = []
    for values in sets:
        if values not in unique:
            unique.append(values)
    return unique


def known_values() -> list[list[str]]:
    """Ids published elsewhere: if one of these comes out differently, the reference is wrong."""
    snowflake = "time:41ms worker:10 sequence:12"
    order = "time:41ms worker:6 sequence:12 gene:4"
    known = [
        (snowflake, 0, {"time": 1572057648000, "worker": 0, "sequence": 0}, 6593687681236992000),
        (snowflake, 1569859200000, {"time": 2198448000, "worker": 0, "sequence": 0}, 9220959240192000),
        (order, 0, {"time": 1572070381000, "worker": 1, "sequence": 0, "gene": 1820 % 16}, 6593741087309889548),
        (order, 0, {"time": 1572070381000, "worker": 1, "sequence": 0, "gene": 5177331 % 16}, 6593741087309889539),
        # The worked example of Discord's developer documentation.
        ("discord", 1420070400000, {"time": 41944705796, "worker": 1, "process": 0, "sequence": 7}, 175928847299117063),
        # The worked example of Wikipedia's article on snowflake ids: a post of 2022-06-28T16:07:40.105Z.
        (
            "twitter",
            1288834974657,
            {"time": 367597485448, "datacenter": 11, "worker": 26, "sequence": 0},
            1541815603606036480,
        ),
    ]
    rows = []
    for layout, epoch, values, number in known:
        row = layout_row(layout, epoch, values)
        assert row[2] == str(number), (layout, row[2], number)
        rows.append(row)
    return rows


def layouts_tsv() -> list[list[str]]:
    rng = random.Random(20261121)
    rows = known_values()
    for name, text, epoch in PRESETS:
        if sum(width for _, width in fields_of(text)[0]) <= 64:
            rows += [layout_row(name, epoch, values) for values in interesting(fields_of(text)[0], rng)]
    for text, epoch in LAYOUTS_IN_FULL:
        rows += [layout_row(text, epoch, values) for values in interesting(fields_of(text)[0], rng)]
    return rows


def layouts_wide_tsv() -> list[list[str]]:
    rng = random.Random(127)
    return [
        layout_row(layout, epoch, values)
        for layout, epoch in WIDE_LAYOUTS
        for values in interesting(fields_of(layout)[0], rng)
    ]


def presets_tsv() -> list[list[str]]:
    rows = []
    for name, text, epoch in PRESETS:
        fields, tick = fields_of(text)
        width = dict(fields)
        bits = sum(width.values())
        workers = 1
        for field in NODE_FIELDS & width.keys():
            workers *= 2 ** width[field]
        per_tick = min(2 ** width.get("sequence", width.get("segment", 0)), UINT64_MAX)
        last = min(epoch + 2 ** width["time"] * tick - 1, INT64_MAX) if "time" in width else INT64_MAX
        row = [name, text, epoch, bits, per_tick, workers, last, int("unsigned" in text), int(bits <= 53), tick]
        rows.append([str(column) for column in row])
    return rows


# -------------------------------------------------------------------------------------------------- texts

DIGITS = "0123456789"
UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LOWER = UPPER.lower()


def without(letters: str, dropped: str) -> str:
    return "".join(letter for letter in letters if letter not in dropped)


def in_base(number: int, alphabet: str, width: int) -> str:
    text = ""
    while number:
        number, digit = divmod(number, len(alphabet))
        text = alphabet[digit] + text
    return text.rjust(width, alphabet[0])


def encodings_tsv() -> list[list[str]]:
    rng = random.Random(62)
    ids = {0, 1, 9, 10, 15, 16, 31, 32, 57, 58, 61, 62, 175928847299117063, 1541815603606036480, 6593741087309889548}
    for bits in range(4, 65, 4):
        ids |= {2**bits - 1, 2 ** (bits - 1)}
    for base in (10, 32, 58, 62):
        for power in range(1, 20):
            if base**power <= UINT64_MAX:
                ids |= {base**power - 1, base**power}
    ids |= {2**53 - 1, 2**53, 2**63 - 1, 2**63, UINT64_MAX - 1, UINT64_MAX}
    ids |= {rng.getrandbits(bits) for bits in range(8, 65) for _ in range(2)}
    rows = []
    for number in sorted(ids):
        crockford = in_base(number, DIGITS + without(UPPER, "ILOU"), 13)
        base58 = in_base(number, without(DIGITS, "0") + without(UPPER, "IO") + without(LOWER, "l"), 11)
        base62 = in_base(number, DIGITS + UPPER + LOWER, 11)
        rows.append([str(number), str(number), format(number, "x").rjust(16, "0"), crockford, base58, base62])
    for column in range(2, 6):
        texts = [row[column].encode("ascii") for row in rows]
        assert texts == sorted(texts), "text order is number order"
    return rows


UNIX_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)

INSTANTS = [
    "2026-11-21T07:36:36.123Z",
    "2025-01-01T00:00:00Z",
    "2025-01-01t00:00:00z",
    "2025-01-01 00:00:00Z",
    "1970-01-01T00:00:00Z",
    "1969-12-31T23:59:59.999Z",
    "1969-12-31T23:59:59.9999Z",
    "2010-11-04T01:42:54.657Z",
    "2022-06-28T16:07:40.105Z",
    "2024-02-29T23:59:59Z",
    "2000-02-29T12:00:00+12:00",
    "1900-02-28T23:59:59.5-00:30",
    "2025-01-01T08:00:00+08:00",
    "2024-12-31T19:00:00-05:00",
    "2024-12-31T23:59:59.999999999-23:59",
    "2025-01-01T00:00:00.1Z",
    "2025-01-01T00:00:00.12Z",
    "2025-01-01T00:00:00.0009Z",
    "2025-01-01T05:30:00.250+05:30",
    "2025-01-01T00:00:00-00:00",
    "0001-01-02T00:00:00Z",
    "9999-12-30T23:59:59.999Z",
]
UNIX_MS = [0, 1, -1, 999, -1000, 1735689600000, 1288834974657, -62135596800000, 253402300799999, 253402300799998]
# Python has no year 0, so its first and last moment are written here.
YEAR_ZERO = [
    ("0000-01-01T00:00:00Z", -62167219200000, "0000-01-01T00:00:00.000Z"),
    ("0000-12-31T23:59:59.999Z", -62135596800001, "0000-12-31T23:59:59.999Z"),
]


def canonical(unix_ms: int) -> str:
    moment = UNIX_EPOCH + timedelta(milliseconds=unix_ms)
    return moment.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def to_unix_ms(text: str) -> int:
    text = text.upper()
    if text.endswith("Z"):
        text = text[:-1] + "+00:00"
    clock, offset = text[:-6], text[-6:]
    clock, _, fraction = clock.partition(".")
    moment = datetime.fromisoformat(clock + offset)
    ms = int((fraction + "000")[:3])
    return (moment - UNIX_EPOCH) // timedelta(milliseconds=1) + ms


def instants_tsv() -> list[list[str]]:
    rows = [[text, str(to_unix_ms(text)), canonical(to_unix_ms(text))] for text in INSTANTS]
    rows += [[str(ms), str(ms), canonical(ms)] for ms in UNIX_MS]
    rows += [[text, str(ms), canonical_text] for text, ms, canonical_text in YEAR_ZERO]
    rng = random.Random(3339)
    for _ in range(40):
        ms = rng.randrange(-62135596800000, 253402300800000)
        rows.append([canonical(ms), str(ms), canonical(ms)])
    return rows


# -------------------------------------------------------------------------------------------------- files

DOCUMENT = HERE.parent.parent / "docs" / "layouts.md"
TABLE_BEGIN = "<!-- presets: written by tests/vectors/reference.py; do not edit -->\n"
TABLE_END = "<!-- end of presets -->\n"


def grouped(number: float) -> str:
    return f"{number:,.0f}".replace(",", " ")


def preset_table() -> str:
    lines = ["| Preset | Fields | Epoch | Last id | Ids/s | Generators | JS-safe |", "|---|---|---|---|---:|---:|---|"]
    for name, text, epoch in PRESETS:
        fields, tick = fields_of(text)
        width = dict(fields)
        generators = 1
        for field in NODE_FIELDS & width.keys():
            generators *= 2 ** width[field]
        first, last, rate = "", "", ""
        if tick:
            end = epoch + 2 ** width["time"] * tick - 1
            first, rate = canonical(epoch), grouped(2 ** width["sequence"] * 1000 / tick)
            last = "after 9999" if end > 253402300799999 else canonical(end)[:10]
        safe = "yes" if sum(width.values()) <= 53 else ""
        lines.append(f"| `{name}` | `{text}` | {first} | {last} | {rate} | {grouped(generators)} | {safe} |")
    return "".join(line + "\n" for line in lines)


def document() -> str:
    """docs/layouts.md with the correct table of presets."""
    before, _, rest = DOCUMENT.read_text(encoding="utf-8").partition(TABLE_BEGIN)
    _, _, after = rest.partition(TABLE_END)
    if not (before and after):
        raise ValueError("docs/layouts.md has lost the marks of its table")
    return before + TABLE_BEGIN + preset_table() + TABLE_END + after


LAYOUT_COLUMNS = ["layout", "epoch_unix_ms", "id", "unix_ms", *FIELDS]
FILES = {
    "presets.tsv": (
        [
            "name",
            "text",
            "epoch_unix_ms",
            "bits",
            "ids_per_tick",
            "workers",
            "last_unix_ms",
            "is_unsigned",
            "is_js_safe",
            "tick_ms",
        ],
        presets_tsv,
    ),
    "layouts.tsv": (LAYOUT_COLUMNS, layouts_tsv),
    "layouts_wide.tsv": (LAYOUT_COLUMNS, layouts_wide_tsv),
    "encodings.tsv": (["id", "decimal", "hex", "crockford", "base58", "base62"], encodings_tsv),
    "instants.tsv": (["text", "unix_ms", "canonical"], instants_tsv),
}


def content(columns: list[str], rows: list[list[str]]) -> str:
    assert rows
    assert all(len(row) == len(columns) for row in rows)
    assert not any("\t" in column or "\n" in column for row in rows for column in row)
    lines = ["# Written by tests/vectors/reference.py; do not edit. Columns:", "# " + "\t".join(columns)]
    return "".join(line + "\n" for line in lines + ["\t".join(row) for row in rows])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a file is stale")
    check = parser.parse_args().check
    stale = []
    wanted_files = {HERE / name: content(columns, rows()) for name, (columns, rows) in FILES.items()}
    wanted_files[DOCUMENT] = document()
    for path, wanted in wanted_files.items():
        if check:
            if not path.exists() or path.read_text(encoding="utf-8") != wanted:
                stale.append(path.name)
        else:
            path.write_text(wanted, encoding="utf-8")
        print(f"{path.name}: {wanted.count(chr(10))} lines{', STALE' if path.name in stale else ''}")
    if stale:
        print(f"stale: {', '.join(stale)}; run python3 tests/vectors/reference.py", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
