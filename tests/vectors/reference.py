#!/usr/bin/env python3
"""Writes the golden vectors and the table of presets in docs/layouts.md: a slow, obvious second opinion on the core.

It shares nothing with the core: ids are strings of '0' and '1' that are joined and cut, digits come from repeated
division of Python's own integers, instants from datetime. Nothing here is fast, and nothing should become so.

    python3 tests/vectors/reference.py            writes the files
    python3 tests/vectors/reference.py --check    exits with 1, naming them, if files differ from what would be written
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import uuid
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import hidden

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
    ("fixed:3=5 time:41ms worker:7 sequence:12", EPOCH_2025),
    ("unsigned time:41ms worker:10 fixed:4=0 sequence:9", 0),
]

WIDE_LAYOUTS = [
    ("business128", 0),
    ("segment:127", 0),
    ("time:48ms worker:32 sequence:47", 0),
    ("gene:63 version:63 sequence:1", 0),
    ("time:48ms worker:15 fixed:63=9223372036854775807 sequence:1", 0),
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
        fields.append((field, int(size.split("=")[0])))
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


def interesting(layout: str, rng: random.Random) -> list[dict[str, int]]:
    """All fields 0, all at their largest, each alone at its largest, each alone at 1, and a few at random. The field
    `fixed` has the layout's value, if that has one."""
    fields, _ = fields_of(layout)
    sets = [{f: 0 for f, _ in fields}, {f: 2**w - 1 for f, w in fields}]
    for field, width in fields:
        sets.append({f: (2**width - 1 if f == field else 0) for f, _ in fields})
        sets.append({f: (1 if f == field else 0) for f, _ in fields})
    for _ in range(6):
        sets.append({f: rng.randrange(2**w) for f, w in fields})
    unique: list[dict[str, int]] = []
    constant = re.search(r"fixed:\d+=(\d+)", layout)
    for values in sets:
        if constant:
            values["fixed"] = int(constant[1])
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
            rows += [layout_row(name, epoch, values) for values in interesting(text, rng)]
    for text, epoch in LAYOUTS_IN_FULL:
        rows += [layout_row(text, epoch, values) for values in interesting(text, rng)]
    return rows


def layouts_wide_tsv() -> list[list[str]]:
    rng = random.Random(127)
    return [layout_row(layout, epoch, values) for layout, epoch in WIDE_LAYOUTS for values in interesting(layout, rng)]


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


def encodings_wide_tsv() -> list[list[str]]:
    """Ids of 16 bytes, whose texts are longer than those of 8, whatever their value."""
    rng = random.Random(128)
    ids = {0, 1, 2**63, 2**64 - 1, 2**64, 2**127 - 1, 2**127, 2**128 - 1}
    ids |= {rng.getrandbits(bits) for bits in range(8, 129, 5)}
    rows = []
    for number in sorted(ids):
        crockford = in_base(number, DIGITS + without(UPPER, "ILOU"), 26)
        base58 = in_base(number, without(DIGITS, "0") + without(UPPER, "IO") + without(LOWER, "l"), 22)
        base62 = in_base(number, DIGITS + UPPER + LOWER, 22)
        hexadecimal = format(number, "x").rjust(32, "0")
        rows.append([hexadecimal, str(number).rjust(39, "0"), hexadecimal, crockford, base58, base62])
    for column in range(1, 6):
        texts = [row[column].encode("ascii") for row in rows]
        assert texts == sorted(texts), "text order is number order"
    return rows


# RFC 9562, appendices A and B, and its two special values; what the makers of ULID and ObjectId give as examples; the
# ends of what each can hold.
STANDARD_UUIDS = [
    "C232AB00-9414-11EC-B3C8-9F6BDECED846",  # 1
    "000003e8-cbb9-21ea-b201-00045a86c8a1",  # 2, DCE
    "5df41881-3aed-3515-88a7-2f4a814cf09e",  # 3
    "919108f7-52d1-4320-9bac-f847db4148a8",  # 4
    "2ed6657d-e927-568b-95e1-2665a8aea6a2",  # 5
    "1EC9414C-232A-6B00-B3C8-9F6BDECED846",  # 6
    "017F22E2-79B0-7CC3-98C4-DC0C0C07398F",  # 7
    "2489E9AD-2EE2-8E00-8EC9-32D5F69181C0",  # 8
    "5c146b14-3c52-8afd-938a-375d0df1fbf6",  # 8
    "00000000-0000-0000-0000-000000000000",
    "ffffffff-ffff-ffff-ffff-ffffffffffff",
    "00000000-0000-1000-8000-000000000000",
    "ffffffff-ffff-7fff-bfff-ffffffffffff",
    "00000000-0000-7000-8000-000000000000",
    "ffffffff-ffff-6fff-bfff-ffffffffffff",
    "017f22e2-79b0-7cc3-d8c4-dc0c0c07398f",  # Microsoft's variant
    "017f22e2-79b0-7cc3-18c4-dc0c0c07398f",  # Apollo's
    "017F22E279B07CC398C4DC0C0C07398F",
]
STANDARD_ULIDS = ["01ARZ3NDEKTSV4RRFFQ69G5FAV", "01BX5ZZKBKACTAV9WEVGEMMVRZ", "01bx5zzkbkactav9wevgemmvs0"]
STANDARD_ULIDS += ["0" * 26, "7" + "Z" * 25, "O1ARZ3NDEKTSV4RRFFQ69G5FAV"]
STANDARD_OBJECT_IDS = ["507f1f77bcf86cd799439011", "507F191E810C19729DE860EA", "000000000000000000000000"]
STANDARD_OBJECT_IDS += ["7fffffff0000000000000000", "800000000000000000000000", "ffffffffffffffffffffffff"]


# ------------------------------------------------------------------------------------------------ patterns

ALPHABETS = {
    "decimal": DIGITS,
    "hex": DIGITS + "abcdef",
    "crockford": DIGITS + without(UPPER, "ILOU"),
    "base58": without(DIGITS + UPPER + LOWER, "0OIl"),
    "base62": DIGITS + UPPER + LOWER,
}
WIDTHS = {"decimal": (1, 39), "hex": (16, 32), "crockford": (13, 26), "base58": (11, 22), "base62": (11, 22)}
DATES = {"yyyy": "%Y", "yy": "%y", "MM": "%m", "dd": "%d", "DDD": "%j", "HH": "%H", "mm": "%M", "ss": "%S"}


def luhn(digits: list[int], base: int) -> list[int]:
    """Hans Peter Luhn's, mod N: every second digit from the right is doubled, and its two digits added."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        total += sum(divmod(digit * 2, base)) if place % 2 == 0 else digit
    return [-total % base]


def mod11_10(digits: list[int]) -> list[int]:
    """ISO/IEC 7064, MOD 11,10: the check digit makes the last sum 1 mod 10."""

    def last_sum(of: list[int]) -> int:
        product, total = 10, 0
        for digit in of:
            total = (digit + product) % 10 or 10
            product = total * 2 % 11
        return total % 10

    return next([check] for check in range(10) if last_sum([*digits, check]) == 1)


def mod97_10(digits: list[int]) -> list[int]:
    """ISO/IEC 7064, MOD 97-10: two digits that make the number 1 mod 97."""
    number = int("".join(map(str, digits))) * 100
    return next([check // 10, check % 10] for check in range(2, 99) if (number + check) % 97 == 1)


def by_pattern(pattern: str, number: int, is_wide: bool, when: datetime) -> str:
    """What the pattern writes; `when` by the clocks of the zone."""
    pieces = re.split(r"({{|}}|{[^}]*})", pattern)
    encoding = next((name for name in ALPHABETS if any(piece.startswith("{" + name) for piece in pieces)), "decimal")
    alphabet = ALPHABETS[encoding]
    texts: list[str | None] = []
    digits: list[int] = []
    check = "luhn"
    for piece in pieces:
        if piece in ("{{", "}}") or not piece.startswith("{"):
            texts.append(piece[:1] if piece in ("{{", "}}") else piece)
        elif piece.startswith("{check"):
            texts.append(None)
            check = piece[1:-1].partition(":")[2] or check
        elif piece.startswith(("{" + encoding, "{0")):
            width = piece[1:-1].removeprefix(encoding).strip(":+")
            in_zeros = piece.startswith("{0")
            wanted = WIDTHS[encoding][is_wide] if not width else len(width) if in_zeros else int(width)
            text = in_base(number, alphabet, wanted)
            assert len(text) == wanted or not width or piece.endswith("+}")
            texts.append(text)
            digits += [alphabet.index(letter) for letter in text]
        else:
            for part in re.findall(r"(y+|M+|d+|D+|H+|m+|s+|.)", piece[1:-1]):
                text = when.strftime(DATES[part]) if part in DATES else part
                texts.append(text)
                digits += [int(letter) for letter in text] if part in DATES else []
    checks = {"luhn": lambda: luhn(digits, len(alphabet)), "mod11_10": lambda: mod11_10(digits)}
    checks["mod97_10"] = lambda: mod97_10(digits)
    return "".join("".join(alphabet[value] for value in checks[check]()) if text is None else text for text in texts)


# pattern, offset of the zone in minutes, layout: "" for any id
PATTERNS = [
    ("ORD-{base62:11}-{check}", 0, ""),
    ("{decimal}", 0, ""),
    ("{hex}", 0, ""),
    ("{crockford}-{check}", 0, ""),
    ("{base58}{check}", 0, ""),
    ("{base62}", 0, ""),
    ("№ {decimal:20}{check}", 0, ""),
    ("{{{decimal}}}{check:mod11_10}", 0, ""),
    ("{check:mod97_10}/{decimal:39}", 0, ""),
    ("A{0000+}B", 0, ""),
    ("{hex:3+}.{check}", 0, ""),
    ("{yyyyMMdd}-{base62:11}", 0, "twitter"),
    ("{yyyyMMdd}-{base62:11}-{check}", 480, "twitter"),
    ("{yyDDD}{HH}{decimal:20}{check:mod11_10}", -210, "default"),
    ("{yyyy-MM-dd HH:mm:ss} {crockford}", 345, "mastodon"),
    ("{dd}/{hex}", 840, "js53"),
]


def patterns_tsv() -> list[list[str]]:
    rng = random.Random(7064)
    rows = []
    for pattern, offset, layout in PATTERNS:
        zone = "UTC" if offset == 0 else f"{'+-'[offset < 0]}{abs(offset) // 60:02}:{abs(offset) % 60:02}"
        local = timezone(timedelta(minutes=offset))
        if layout:
            fields, tick = fields_of(layout)
            epoch = next(epoch for name, _, epoch in PRESETS if name == layout)
            for _ in range(12):
                values = {field: rng.randrange(2**width) for field, width in fields}
                values["time"] = rng.randrange(min(2 ** dict(fields)["time"], 2**32 * 1000 // tick))
                when = datetime.fromtimestamp((epoch + values["time"] * tick) // 1000, local)
                number = glue(fields, values)
                rows.append([pattern, zone, layout, "8", str(number), by_pattern(pattern, number, False, when)])
            continue
        some = [0, 1, 9, 10, 61, 62, 99, 2**32, 2**53 - 1, 2**53, 2**63 - 1, 2**63, UINT64_MAX]
        some += [rng.getrandbits(rng.randrange(1, 65)) for _ in range(12)]
        ids = [(number, False) for number in some]
        if ":11" not in pattern and ":20" not in pattern:
            ids += [(2**64 + rng.getrandbits(rng.randrange(65, 128)), True) for _ in range(8)]
        for number, is_wide in ids:
            text = by_pattern(pattern, number, is_wide, datetime(1970, 1, 1, tzinfo=timezone.utc))
            rows.append([pattern, zone, layout, "16" if is_wide else "8", str(number), text])
    return rows


def standard_uuid(text: str) -> list[str]:
    """Python's own module says what a UUID is."""
    value = uuid.UUID(text)
    is_rfc = value.variant == uuid.RFC_4122
    version = value.bytes[6] >> 4
    hundred_ns = {
        1: (value.time_hi_version & 0xFFF) << 48 | value.time_mid << 32 | value.time_low,
        6: value.time_low << 28 | value.time_mid << 12 | (value.time_hi_version & 0xFFF),
    }
    ms = ""
    if is_rfc and version == 7:
        ms = str(value.int >> 80)
    elif is_rfc and version in hundred_ns:
        since = timedelta(days=(datetime(1970, 1, 1) - datetime(1582, 10, 15)).days) // timedelta(microseconds=1) * 10
        ms = str((hundred_ns[version] - since) // 10_000)
    name = {4: "uuid4", 7: "uuid7"}.get(version, "uuid") if is_rfc else "uuid"
    return [text, name, str(version), "yes" if is_rfc else "no", ms, "", "", str(value), value.hex]


def standard_tsv() -> list[list[str]]:
    rng = random.Random(9562)
    rows = [standard_uuid(text) for text in STANDARD_UUIDS]
    rows += [standard_uuid(str(uuid.UUID(int=rng.getrandbits(128)))) for _ in range(40)]
    rows += [standard_uuid(str(uuid.UUID(int=rng.getrandbits(128), version=version))) for version in (1, 4) * 10]
    alphabet = DIGITS + without(UPPER, "ILOU")
    for text in STANDARD_ULIDS + [in_base(rng.getrandbits(128), alphabet, 26) for _ in range(20)]:
        number = 0
        for letter in text.upper().replace("O", "0").replace("I", "1").replace("L", "1"):
            number = number * 32 + alphabet.index(letter)
        rows.append([text, "ulid", "0", "yes", str(number >> 80), "", "", in_base(number, alphabet, 26)])
        rows[-1].append(format(number, "032x"))
    for text in STANDARD_OBJECT_IDS + [format(rng.getrandbits(96), "024x") for _ in range(20)]:
        raw = bytes.fromhex(text)
        process, counter = int.from_bytes(raw[4:9], "big"), int.from_bytes(raw[9:], "big")
        ms = int.from_bytes(raw[:4], "big") * 1000
        rows.append([text, "object_id", "0", "yes", str(ms), str(process), str(counter), text.lower(), text.lower()])
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


# ------------------------------------------------------------------------------------------------- genes


def wrap(number: int) -> int:
    return number % 2**64


def turn_left(number: int, by: int) -> int:
    bits = format(number, "064b")
    return int(bits[by:] + bits[:by], 2)


def word(data: bytes) -> int:
    return int.from_bytes(data, "little")


XX = [0, 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5]


def xxh64(data: bytes) -> int:
    """By the xxHash specification, seed 0."""

    def one(lane: int, value: int) -> int:
        return wrap(turn_left(wrap(lane + value * XX[2]), 31) * XX[1])

    rest = data
    if len(data) < 32:
        total = XX[5]
    else:
        lanes = [wrap(XX[1] + XX[2]), XX[2], 0, wrap(-XX[1])]
        while len(rest) >= 32:
            lanes = [one(lane, word(rest[8 * i : 8 * i + 8])) for i, lane in enumerate(lanes)]
            rest = rest[32:]
        total = wrap(sum(turn_left(lane, by) for lane, by in zip(lanes, [1, 7, 12, 18], strict=True)))
        for lane in lanes:
            total = wrap((total ^ one(0, lane)) * XX[1] + XX[4])
    total = wrap(total + len(data))
    while len(rest) >= 8:
        total = wrap(turn_left(total ^ one(0, word(rest[:8])), 27) * XX[1] + XX[4])
        rest = rest[8:]
    if len(rest) >= 4:
        total = wrap(turn_left(total ^ wrap(word(rest[:4]) * XX[1]), 23) * XX[2] + XX[3])
        rest = rest[4:]
    for byte in rest:
        total = wrap(turn_left(total ^ wrap(byte * XX[5]), 11) * XX[1])
    total = wrap((total ^ (total >> 33)) * XX[2])
    total = wrap((total ^ (total >> 29)) * XX[3])
    return total ^ (total >> 32)


def murmur64a(data: bytes) -> int:
    """MurmurHash64A by its published source, seed 0."""
    factor = 0xC6A4A7935BD1E995
    total = wrap(len(data) * factor)
    rest = data
    while len(rest) >= 8:
        value = wrap(word(rest[:8]) * factor)
        value = wrap((value ^ (value >> 47)) * factor)
        total = wrap((total ^ value) * factor)
        rest = rest[8:]
    if rest:
        total = wrap((total ^ word(rest)) * factor)
    total = wrap((total ^ (total >> 47)) * factor)
    return total ^ (total >> 47)


def hashed(kind: str, owner: str) -> int:
    data = bytes.fromhex(owner) if kind == "bytes" else owner.encode()
    return xxh64(data) ^ murmur64a(data)


def owner_row(kind: str, owner: str) -> list[str]:
    gene = hashed(kind, owner)
    is_number = kind != "bytes" and owner.isascii() and owner.isdigit() and str(int(owner)) == owner
    low = str(int(owner) % 16) if is_number and int(owner) < 2**64 else "-"
    return [kind, owner, low] + [str(gene % 2**bits) for bits in (4, 16, 23, 63)]


def genes_tsv() -> list[list[str]]:
    # Published: the empty text and "abc" in the tests of xxHash's own libraries.
    assert xxh64(b"") == 0xEF46DB3751D8E999
    assert xxh64(b"abc") == 0x44BC2CF5AD770999
    rng = random.Random(7)
    integers = [0, 1, 7, 10, 42, 1820, 5177331, 2**31, 2**53, 2**63 - 1, -1, -42, -(2**63)]
    integers += [rng.randrange(-(2**63), 2**63) for _ in range(20)]
    texts = ["42", "042", "+42", " 42", "-42", "-0", "18446744073709551615", "18446744073709551616", "a", "abc"]
    texts += ["customer-1820", "Zürich", "客户", "8f14e45f-ceea-467f-ab12-0c4f5d3c1a77", "x" * 31, "x" * 32, "x" * 33]
    rows = [owner_row("integer", str(number)) for number in integers] + [owner_row("text", text) for text in texts]
    for size in [*range(1, 41), 63, 64, 65, 100]:
        rows.append(owner_row("bytes", rng.randbytes(size).hex()))
    rows.append(owner_row("bytes", "00"))
    return rows


# ------------------------------------------------------------------------------------------------ owners

OWNERS = [("integer", str(number)) for number in (0, 42, -1, 2**63 - 1, -(2**63))]
OWNERS += [("text", "acme"), ("text", "Zürich"), ("text", "?"), ("text", "😀"), ("text", "x" * 2000)]
OWNERS += [("bytes", "00"), ("bytes", "61006200ff")]
OWNERS_CLOCK = 1767225600000  # where their clock stands: 2026-01-01T00:00:00Z
LAST_SEGMENT = 2**42 - 1  # of business64


def business_ids(layout: str, kind: str, owner: str, segments: range) -> list[str]:
    fields, _ = fields_of(layout)
    gene = hashed(kind, owner) % 2 ** dict(fields)["gene"]
    ids = [glue(fields, {"gene": gene, "version": 0, "segment": segment}) for segment in segments]
    return [f"{id:032x}" if sum(width for _, width in fields) == 127 else str(id) for id in ids]


def order_ids(gene: int) -> list[str]:
    fields, _ = fields_of("order")
    values = {"time": OWNERS_CLOCK - EPOCH_2025, "worker": 5, "gene": gene}
    return [str(glue(fields, {**values, "sequence": sequence})) for sequence in range(3)]


def owners_tsv() -> list[list[str]]:
    rows = []

    def add(properties: str, used: int, calls: str, owner: tuple[str, str], ids: list[str], why: str = "") -> None:
        """Where there is a refusal, three ids more than there are are wanted."""
        status, _, message = why.partition(" ")
        wanted = len(ids) + (3 if why else 0)
        rows.append([properties, str(used), calls, *owner, str(wanted), ",".join(ids), status, message])

    texts = {name: text for name, text, _ in PRESETS}
    acme = ("text", "acme")
    business = "kind=business; counters=1"
    for owner in OWNERS:
        add(business, 0, "both", owner, business_ids("business64", *owner, range(1, 4)))
    for layout in ("gene:14 version:7 segment:42", "gene:15 version:6 segment:42", "gene:4 segment:59"):
        add(f"{business}; layout={layout}", 0, "both", acme, business_ids(layout, *acme, range(1, 4)))
    layout = "segment:42 version:5 gene:16"
    add(f"{business}; layout={layout}", 0, "both", acme, business_ids(layout, *acme, range(1, 4)))
    wide_layout = f"{business}; layout=business128"
    add(wide_layout, 0, "wide", acme, business_ids("business128", *acme, range(1, 4)))
    why = f"business tag 'orders': layout '{texts['business128']}' makes ids of 16 bytes; call next_wide_for"
    add(wide_layout, 0, "narrow", acme, [], f"UNSUPPORTED {why}")

    narrow = business_ids("business64", *acme, range(LAST_SEGMENT - 2, LAST_SEGMENT + 1))
    wide = business_ids("business128", *acme, range(LAST_SEGMENT + 1, LAST_SEGMENT + 4))
    why = f"EXHAUSTED tag 'orders': all ids up to {LAST_SEGMENT} are used up, the last that the "
    why += "layout's segment field holds. Set on_full = widen to go on with ids of 16 bytes, or use another tag"
    add(business, LAST_SEGMENT - 3, "both", acme, narrow, why)
    add(business, LAST_SEGMENT, "both", acme, [], why)
    widening = f"{business}; on_full=widen"
    add(widening, LAST_SEGMENT - 3, "wide", acme, narrow + wide)
    add(widening, LAST_SEGMENT, "wide", acme, wide)
    why = (
        f"EXHAUSTED business tag 'orders': the numbers that 8 bytes hold are used up (layout '{texts['business64']}'), "
    )
    why += "and on_full = widen goes on with ids of 16 bytes; call next_wide_for"
    add(widening, LAST_SEGMENT - 3, "narrow", acme, narrow, why)

    order = "layout=order; worker=5; sequence_start=zero"
    for owner in [("integer", "1820"), ("integer", "16"), ("integer", str(2**63 - 1)), ("text", str(2**64 - 1))]:
        add(order, 0, "both", owner, order_ids(int(owner[1]) % 16))
    add(f"{order}; gene=hash", 0, "both", acme, order_ids(hashed(*acme) % 16))
    for owner in [acme, ("integer", "-1"), ("text", str(2**64))]:
        why = f"VALUE the owner '{owner[1]}' is no integer from 0 to {2**64 - 1} in decimal, and gene = mod takes the "
        add(order, 0, "both", owner, [], why + "low bits of one; set gene = hash for other owners")

    why = "VALUE the owner is empty; an id with a gene needs one: an integer, or at least one byte"
    for properties in (business, order):
        add(properties, 0, "both", ("text", ""), [], why)
    why = "has no gene, so its ids have no owner; call next, or choose a layout with one"
    add("kind=segment", 0, "both", acme, [], f"UNSUPPORTED segment tag 'orders': layout 'segment:63' {why}")
    why = f"UNSUPPORTED worker 5 of namespace 'default': layout '{texts['default']}' {why}"
    add("worker=5", 0, "both", acme, [], why)
    return rows


def hidden_tsv() -> list[list[str]]:
    return hidden.rows(fields_of)


# -------------------------------------------------------------------------------------------------- files

DOCUMENT = HERE.parent.parent / "docs" / "layouts.md"
TABLE_BEGIN = "<!-- presets: written by tests/vectors/reference.py; do not edit -->\n"
TABLE_END = "<!-- end of presets -->\n"


# -------------------------------------------------------------------------------------------------------------- routes

# What a ring's nodes belong to, node by node, and what is in cut-over: first, last, shard, hundredths of a percent.
RINGS: dict[str, dict[str, Any]] = {
    "routes_ring16.toml": {
        "version": 7,
        "bits": 16,
        "shards": ["db0", "db1", "db2", "spare"],
        "ranges": [(16383, "db0"), (16384, "db1"), (40000, "db2"), (40001, "db0"), (65535, "db1")],
        "moves": [(0, 1023, "db1", 3500), (16384, 16384, "spare", 1), (40002, 65535, "db2", 9999)],
        "layout": "gene:16 version:5 segment:42",
        "wide": "gene:23 version:20 segment:84",
        "rule": "hash",
    },
    "routes_ring4.toml": {
        "version": 9007199254740993,
        "bits": 4,
        "shards": ["a", "b"],
        "ranges": [(7, "a"), (15, "b")],
        "moves": [(3, 5, "b", 5000), (6, 7, "b", 10000), (8, 8, "a", 0)],
        "layout": "time:41ms worker:6 sequence:12 gene:4",
        "wide": "gene:23 version:20 segment:84",
        "rule": "mod",
    },
}


def ring_toml(ring: dict[str, Any]) -> str:
    lines = [f"version = {ring['version']}", f"bits = {ring['bits']}", f"shards = {json.dumps(ring['shards'])}"]
    for first, last, to, share in ring["moves"]:
        lines += ["", "[[move]]", f'nodes = "{first}-{last}"', f'to = "{to}"', f'share = "{share / 100:.2f}%"']
    for upto, shard in ring["ranges"]:
        lines += ["", "[[range]]", f"upto = {upto}", f'shard = "{shard}"']
    return "\n".join(lines) + "\n"


def route(ring: dict[str, Any], node: int, rest: int | None) -> list[str]:
    """Columns from node on. rest: the id without its gene; None: no id."""
    owner = next(shard for upto, shard in ring["ranges"] if upto >= node)
    for first, last, to, share in ring["moves"]:
        if not first <= node <= last:
            continue
        if rest is None:
            return [str(node), owner, to, "id_decides"]
        if rest % 1024 * 10000 < share * 1024:
            return [str(node), to, owner, "new_first"]
        return [str(node), owner, to, "old_first"]
    return [str(node), owner, "-", "settled"]


def id_row(name: str, layout: str, number: int) -> list[str]:
    ring = RINGS[name]
    fields, _ = fields_of(layout)
    width = sum(bits for _, bits in fields)
    binary = f"{number:0{width}b}"
    rest, gene, at = "", "", 0
    for field, bits in fields:
        part = binary[at : at + bits]
        at += bits
        if field == "gene":
            gene = part
        else:
            rest += part
    node = int(gene, 2) % 2 ** ring["bits"]
    kind, value = ("wide", f"{number:032x}") if width > 64 else ("id", str(number))
    return [name, kind, value, *route(ring, node, int(rest, 2))]


def routes_tsv() -> list[list[str]]:
    rng = random.Random(10)
    rows = []
    for name, ring in RINGS.items():
        nodes = 2 ** ring["bits"]
        edges = {0, nodes - 1} | {upto + d for upto, _ in ring["ranges"] for d in (0, 1)}
        edges |= {node + d for first, last, _, _ in ring["moves"] for node in (first, last) for d in (-1, 0, 1)}
        asked = sorted(node for node in edges if 0 <= node < nodes)
        rows += [[name, "node", str(node), *route(ring, node, None)] for node in asked]
        for layout in (ring["layout"], ring["wide"]):
            fields, _ = fields_of(layout)
            for node in asked:
                for low in (0, 1, 358, 359, 511, 512, 1022, 1023):
                    values = {field: rng.randrange(2**bits) for field, bits in fields}
                    lowest = next(field for field, _ in reversed(fields) if field != "gene")
                    values[lowest] = values[lowest] >> 10 << 10 | low
                    gene_bits = dict(fields)["gene"]
                    values["gene"] = rng.randrange(2**gene_bits) >> ring["bits"] << ring["bits"] | node
                    rows.append(id_row(name, layout, glue(fields, values)))
        numbers = ["0", "7", "1820", "5177331", "18446744073709551615"]
        for owner in [*numbers, "ada", "grüße", "00000000-0000-4000", "ada\0", "\0ada", "\0"]:
            if ring["rule"] == "mod":
                if not owner.isdigit():
                    continue
                node = int(owner) % nodes
            else:
                data = owner.encode()
                node = (xxh64(data) ^ murmur64a(data)) % nodes
            rows.append([name, "owner", owner.replace("\0", "␀"), *route(ring, node, None)])
    return rows


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
        first, last, rate, side_by_side = "", "", "", "any"
        if "sequence" in width:
            side_by_side = grouped(generators)
        if tick:
            end = epoch + 2 ** width["time"] * tick - 1
            first, rate = canonical(epoch), grouped(2 ** width["sequence"] * 1000 / tick)
            last = "after 9999" if end > 253402300799999 else canonical(end)[:10]
        safe = "yes" if sum(width.values()) <= 53 else ""
        lines.append(f"| `{name}` | `{text}` | {first} | {last} | {rate} | {side_by_side} | {safe} |")
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
    "encodings_wide.tsv": (["bytes", "decimal", "hex", "crockford", "base58", "base62"], encodings_wide_tsv),
    "standard.tsv": (
        ["text", "standard", "version", "is_rfc", "unix_ms", "process", "counter", "canonical", "bytes"],
        standard_tsv,
    ),
    "patterns.tsv": (["pattern", "zone", "layout", "bytes", "id", "text"], patterns_tsv),
    "instants.tsv": (["text", "unix_ms", "canonical"], instants_tsv),
    "routes.tsv": (["table", "kind", "value", "node", "shard", "second", "state"], routes_tsv),
    "genes.tsv": (["kind", "owner", "mod4", "hash4", "hash16", "hash23", "hash63"], genes_tsv),
    "owners.tsv": (["properties", "used", "calls", "kind", "owner", "count", "ids", "status", "message"], owners_tsv),
    "hidden.tsv": (["mode", "namespace", "layout", "version", "id", "hidden"], hidden_tsv),
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
    wanted_files |= {HERE / name: ring_toml(ring) for name, ring in RINGS.items()}
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
