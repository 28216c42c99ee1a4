"""`idgen-audit` in this process: every format and dialect is read or refused by name, the two commonest causes are
named, and the numbers are those of a plain count. tests/cli/test_audit.py has the command from end to end."""

from __future__ import annotations

import bz2
import gzip
import io
import itertools
import json
import lzma
import random
import zipfile
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

duckdb = pytest.importorskip("duckdb")
np = pytest.importorskip("numpy")

from idgen import Layout, format_id  # noqa: E402
from idgen.audit import command, duplicates, main  # noqa: E402
from idgen.audit.ordered import in_order  # noqa: E402
from idgen.audit.space import Space  # noqa: E402

CLEAN, FAILURE, USAGE, DUPLICATES = 0, 1, 2, 3
BIG = 1278735254782615552


class Audit:
    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]):
        self.folder, self.capsys = folder, capsys

    def write(self, name: str, content: str | bytes) -> str:
        path = self.folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path)

    def run(self, *words: object) -> tuple[int, str, str]:
        status = main([*map(str, words), "--tmp", str(self.folder)])
        captured = self.capsys.readouterr()
        assert not list(self.folder.glob("idgen-audit-*"))
        return status, captured.out, captured.err

    def records(self, *words: object, status: int = DUPLICATES) -> list[dict[str, Any]]:
        ended, out, err = self.run(*words, "--json")
        assert ended == status, (words, out, err)
        return [json.loads(line) for line in out.splitlines()]

    def counts(self, *words: object, status: int = DUPLICATES) -> tuple[int, int]:
        summary = self.records(*words, status=status)[0]
        return summary["ids"], summary["duplicated"]

    def refused(self, *words: object, status: int = FAILURE) -> str:
        ended, out, err = self.run(*words)
        assert (ended, out) == (status, ""), (words, out, err)
        assert err.startswith("idgen: error: ")
        return err


@pytest.fixture
def audit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Audit:
    return Audit(tmp_path, capsys)


LINES = "".join(f"{id}\n" for id in (*range(1000, 1200), 1007))


# ---- formats


@pytest.mark.parametrize("open_it", [gzip.compress, bz2.compress, lzma.compress])
def test_text_is_read_compressed(audit: Audit, open_it: Any) -> None:
    assert audit.counts(audit.write("ids.txt.z", open_it(LINES.encode()))) == (201, 1)
    assert audit.counts(audit.write("few.txt.z", open_it(b"1\n2\n")), status=CLEAN) == (2, 0)
    assert audit.counts(audit.write("ids.csv.z", open_it(b"a,id\nx,1\ny,1\n"))) == (2, 1)
    assert audit.counts(audit.write("ids.json.z", open_it(b'[{"id": 1}, {"id": 1}]'))) == (2, 1)
    whole = open_it("".join(f"{n}\n" for n in random.Random(1).sample(range(10**9), 10_000)).encode())
    assert "cannot read" in audit.refused(audit.write("cut.txt.z", whole[: len(whole) // 2]))


def test_text_is_read_compressed_with_zstd_and_a_missing_end_is_seen(audit: Audit, tmp_path: Path) -> None:
    def packed(text: str) -> bytes:
        file = tmp_path / "packed"
        words = "COPY (SELECT unnest(string_split(?, chr(10)))) TO ? (FORMAT csv, HEADER false, COMPRESSION zstd)"
        duckdb.execute(words, [text.removesuffix("\n"), str(file)])
        return file.read_bytes()

    assert audit.counts(audit.write("ids.txt.zst", packed(LINES))) == (201, 1)
    assert audit.counts(audit.write("two.txt.zst", packed("1\n2\n") + packed("2\n3\n"))) == (4, 1)
    whole = packed("".join(f"{n}\n" for n in random.Random(1).sample(range(10**9), 10_000)))
    for cut in (3, 5, len(whole) // 2, len(whole) - 1):
        audit.refused(audit.write("cut.txt.zst", whole[:cut]))


def test_what_follows_a_compressed_part_is_not_passed_over(audit: Audit) -> None:
    for pack in (gzip.compress, bz2.compress, lzma.compress):
        first, second = pack(b"5\n6\n"), pack(b"5\n")
        damaged = bytes([second[0], second[1] ^ 1]) + second[2:]
        for rest in (b"5\n", damaged, second[:5], bz2.compress(b"5\n") if pack is not bz2.compress else b"\x1f\x8b"):
            audit.refused(audit.write("a.txt.z", first + rest))
        assert audit.counts(audit.write("a.txt.z", first + second)) == (3, 1)
    xz = lzma.compress
    assert audit.counts(audit.write("a.txt.xz", xz(b"5\n6\n") + bytes(4) + xz(b"5\n"))) == (3, 1)


def test_text_is_never_taken_for_binary(audit: Audit) -> None:
    path = audit.write("ids.bin", LINES)
    assert "--format lines" in audit.refused(path)
    assert audit.counts(path, "--format", "lines") == (201, 1)


@pytest.mark.parametrize("name", ["x[1].csv", "a*b.csv", "q?.csv", "{a,b}.csv", "b\\c.csv", "it's;--.csv"])
def test_a_name_is_no_pattern(audit: Audit, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(audit.folder)
    for other in ("x1.csv", "aXb.csv", "q1.csv", "a.csv", "b.csv"):
        audit.write(other, "id,n\n1,a\n2,b\n")
    audit.write(name, "id,n\n5,a\n5,b\n")
    assert audit.counts(name) == (2, 1)


def test_a_name_may_begin_with_a_dash(audit: Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(audit.folder)
    audit.write("-x.csv", "id,n\n5,a\n5,b\n")
    assert main(["--tmp", str(audit.folder), "--", "-x.csv"]) == DUPLICATES


def test_a_name_is_neither_a_url_nor_a_partition(audit: Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(audit.folder)
    for folder in ("http://127.0.0.1:1", "s3://bucket", "id=9", "c0=9"):
        (audit.folder / folder).mkdir(parents=True)
        for name, text in (("a.csv", "id,n\n5,a\n5,b\n"), ("a.json", '[{"id": 5}, {"id": 5}]')):
            audit.write(f"{folder}/{name}", text)
            assert audit.counts(f"{folder}/{name}") == (2, 1), folder
    duckdb.sql("SELECT range AS id FROM range(5)").write_parquet("id=9/a.parquet")
    assert audit.counts("id=9/a.parquet", status=CLEAN) == (5, 0)


def test_the_picture_replaces_no_dump(audit: Audit) -> None:
    path = audit.write("a.txt", LINES)
    assert "is a dump" in audit.refused(path, "--svg", path, status=USAGE)
    assert Path(path).read_text() == LINES


def test_other_formats_are_refused_by_name(audit: Audit) -> None:
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as file:
        file.writestr("few.txt", LINES)
    book = io.BytesIO()
    with zipfile.ZipFile(book, "w") as file:
        file.writestr("xl/workbook.xml", "<workbook/>")
    for name, content, word in (
        ("a.zip", zipped.getvalue(), "zip"),
        ("a.xlsx", zipped.getvalue(), "Excel"),
        ("a", book.getvalue(), "Excel"),
        ("a.bin", zipped.getvalue(), "zip"),
        ("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500), "Excel"),
        ("a.7z", b"7z\xbc\xaf\x27\x1c" + bytes(20), "7z"),
        ("a.lz4", b"\x04\x22\x4d\x18" + bytes(20), "LZ4"),
        ("a.dump", b"PGDMP\x01\x0e", "pg_dump"),
        ("a.pgcopy", b"PGCOPY\n\xff\r\n\0" + bytes(8), "COPY"),
        ("a.db", b"SQLite format 3\0" + bytes(84), "SQLite"),
        ("a.orc", b"ORC" + bytes(30), "ORC"),
        ("a.avro", b"Obj\x01" + bytes(30), "Avro"),
        ("a.arrow", b"ARROW1\0\0" + bytes(30), "Arrow"),
        ("a.npy", b"\x93NUMPY\x01\0" + bytes(30), "NumPy"),
        ("a.pkl", b"\x80\x04\x95" + bytes(30), "pickle"),
        ("a.tar", bytes(257) + b"ustar\0" + bytes(250), "tar"),
        ("a", bytes(range(256)), "--format binary"),
        ("a.xml", "<ids><id>1</id></ids>", "XML"),
        ("a.sql", "--\n-- PostgreSQL database dump\n--\n1\n", "SQL"),
        ("b.sql", "INSERT INTO a VALUES (1),(1);\n", "SQL"),
        ("a.txt", " id | note\n----+------\n  1 | x\n  1 | y\n(2 rows)\n", "drawn"),
        ("b.txt", "+----+\n| id |\n+----+\n|  1 |\n|  1 |\n+----+\n", "drawn"),
        ("a.parquet", b"PAR1 and no more", "cannot read"),
        ("a.txt", "", "empty"),
        ("b.txt", "\n\n", "blank"),
    ):
        assert word in audit.refused(audit.write(name, content)), name


def test_a_folder_a_missing_file_and_a_pattern(audit: Audit) -> None:
    assert "is a folder" in audit.refused(audit.folder)
    assert "No such file" in audit.refused(audit.folder / "nowhere.txt")
    assert "no file is called" in audit.refused(audit.folder / "*.csv")
    audit.write("a1.csv", "id,x\n1,a\n")
    audit.write("a2.csv", "x,y,id\nb,c,1\n")
    assert audit.counts(audit.folder / "a?.csv") == (2, 1)


# ---- dialects

TABLE = [("id", "note"), ("1", '"Quoted" start'), ("2", '"left open'), ("3", "x"), ("3", "dup"), ("4", 'y" closed')]


def test_fields_of_tsv_are_literal(audit: Audit) -> None:
    text = "".join("\t".join(row) + "\n" for row in [*TABLE, ("5", "z")])
    assert audit.counts(audit.write("rows.tsv", text)) == (6, 1)
    assert audit.counts(audit.write("rows", text)) == (6, 1)
    assert audit.counts(audit.write("rows.out", text.replace("\n", "\r\n"))) == (6, 1)
    copy = "1\ta\\tb\\nc\n2\t\\N\n2\t'x\n\\.\n"
    assert audit.counts(audit.write("copy.tsv", copy), "--column", 1) == (3, 1)


def test_bars_and_literal_fields_of_csv(audit: Audit) -> None:
    text = "".join("|".join(row) + "\n" for row in TABLE)
    assert "--quote none" in audit.refused(audit.write("rows.csv", text))
    assert audit.counts(audit.write("rows.csv", text), "--quote", "none") == (5, 1)


@pytest.mark.parametrize("delimiter", [",", ";", "|", "\t", "^", ":"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_csv_with_quotes(audit: Audit, delimiter: str, end: str) -> None:
    rows = ['name,"id",x', '"a ""b"", c",7,1', '"two\nlines, 9",8,2', '"",7,']
    text = end.join(row.replace(",", "\0") if i == 0 else _with(row, delimiter) for i, row in enumerate(rows)) + end
    text = text.replace("\0", delimiter)
    words = () if delimiter in ",;|" else ("--delimiter", delimiter)
    assert audit.counts(audit.write("a.csv", text), *words) == (3, 1)


def _with(row: str, delimiter: str) -> str:
    """Replaces the commas outside of quotes."""
    parts = row.split('"')
    return '"'.join(part if i % 2 else part.replace(",", delimiter) for i, part in enumerate(parts))


def test_other_quotes_and_escapes_of_csv(audit: Audit) -> None:
    assert audit.counts(audit.write("a.csv", "'id','x'\n'5','a,b'\n'5','c'\n")) == (2, 1)
    backslashes = '"id","x"\n"5","say \\"hi\\" you"\n"5","c"\n"6","d\\\\"\n'
    assert audit.counts(audit.write("b.csv", backslashes)) == (3, 1)
    assert audit.counts(audit.write("c.csv", "sep=;\r\nid;x\r\n5;a\r\n5;b\r\n")) == (2, 1)
    assert audit.counts(audit.write("d.csv", "id,x\n5,a\n5\n6,b\n")) == (3, 1)
    assert audit.counts(audit.write("e.csv", '="5",a\n="5",b\n'), "--column", 1) == (2, 1)


def test_a_quote_that_swallows_rows_is_refused(audit: Audit) -> None:
    audit.refused(audit.write("a.csv", 'id,x\n1,a\n2,"b\n3,c\n3,d\n'))
    assert "look like rows" in audit.refused(audit.write("b.csv", 'id,x\n1,a\n2,"b\n3,c\n3,d"\n4,e\n'))
    for words in (("--quote", "none"), ("--quote", '"')):
        ids = audit.counts(audit.folder / "b.csv", *words, status=DUPLICATES if words[1] == "none" else CLEAN)[0]
        assert ids == (5 if words[1] == "none" else 3)


def test_a_quote_that_swallows_rows_is_refused_however_ids_are_written(audit: Audit) -> None:
    for ids in (("0x1", "0x2", "0x3", "0x4"), ("1.0", "2.0", "3.0", "4.0"), ("'1,234'", "1", "2,345", "3")):
        for rest in ("q", "q; r; s"):
            for end in ("\n", "\r\n", "\r"):
                rows = ["id;x", f"{ids[0]};p", f'{ids[1]};"{rest}', f"{ids[2]};r", f'{ids[2]};s"', f"{ids[3]};t", ""]
                assert "look like rows" in audit.refused(audit.write("a.csv", end.join(rows))), (ids, rest, end)
    for encoding in ("hex", "crockford", "base58", "base62"):
        id = [format_id(BIG + n, encoding) for n in range(4)]
        text = f'id,x\n{id[0]},p\n{id[1]},"q\n{id[2]},r\n{id[2]},s"\n{id[3]},t\n'
        assert "look like rows" in audit.refused(audit.write("a.csv", text), "--encoding", encoding)


def test_a_row_of_more_or_fewer_columns_is_never_passed_over(audit: Audit) -> None:
    for words in ((), ("--quote", "none")):
        for row in ("b,c,5", "no,,,5", "no,6,,5", "b"):
            status, out, err = audit.run(audit.write("a.csv", f"x,id\na,5\n{row}\n"), *words)
            assert status == FAILURE, (row, out, err)
            status, out, err = audit.run(audit.write("a.tsv", f"x,id\na,5\n{row}\n".replace(",", "\t")))
            assert status == FAILURE, (row, out, err)
    late = "".join(f"{n}\n" for n in range(20_000))  # beyond the bytes that are looked at first
    assert audit.run(audit.write("a.txt", late + "20001\x1f7\n"))[0] == FAILURE
    assert audit.counts(audit.write("b.tsv", "x\tid\na\t5\nb\t5\nc\t\nd\t\\N\n\\.\n")) == (2, 1)


def test_line_ends_in_quotes_change_no_quotes(audit: Audit) -> None:
    for text in (
        '5;"two\nlines"\r\n6;"a ""b"""\r\n5;"C:\\"\r\n',
        '5;"\r\n";x\n6;"x";"a\\"\n5;"a;b";""\n7;"";"\r\n"\n',
        '5|"\r\n"|"C:\\"\n6|"say ""hi"""|"two\nlines"\n5|"C:\\"|"\r\n"\n',
    ):
        rows = text.count("\n5") + text.count("\n6") + text.count("\n7") + 1
        assert audit.counts(audit.write("a.csv", text), "--column", 1) == (rows, 1), text


def test_a_row_that_is_too_short_changes_no_quotes(audit: Audit) -> None:
    for quoted in ('"a""b"', '"C:\\"', '"new_line"'):
        assert audit.counts(audit.write("a.csv", f"id,x\n5,{quoted}\n6\n5,c\n")) == (3, 1), quoted


@pytest.mark.parametrize("charset", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig", "utf-32", "latin-1"])
def test_characters(audit: Audit, charset: str) -> None:
    text = "id;wörter\n" + "".join(f"{n};é\n" for n in (*range(300), 7))
    assert audit.counts(audit.write("a.csv", text.encode(charset))) == (301, 1)
    numbers = "".join(f"{n}\r\n" for n in (*range(300), 7))
    assert audit.counts(audit.write("a.txt", numbers.encode(charset))) == (301, 1)


def test_a_charset_is_named_and_other_characters_come_late(audit: Audit) -> None:
    gbk = "编号,号\n5,表\n5,里\n".encode("gbk")
    assert audit.counts(audit.write("a.csv", gbk), "--charset", "gbk", "--column", "编号") == (2, 1)
    late = b"id,x\n" + b"".join(b"%d,a\n" % n for n in range(30_000)) + b"7,\xe9\n"
    assert audit.counts(audit.write("b.csv", late)) == (30_001, 1)
    assert "--charset" in audit.refused(audit.write("c.csv", "id\n1\n"), "--charset", "no-such", status=USAGE)


def test_line_ends_may_be_mixed_and_blank_lines_are_no_rows_to_complain_about(audit: Audit) -> None:
    for text in ("1\n2\r\n2\n", "1\r2\r2\r", "\n\n1\n\n2\n2", "\r\n1\r\n2\r\n2"):
        assert audit.counts(audit.write("a.txt", text)) == (3, 1), text
    assert audit.counts(audit.write("a.csv", "id,x\n1,a\r\n2,b\n2,c\r\n")) == (3, 1)


@pytest.mark.parametrize("middle", ["\n", "\n\n", "\r\n", "\r", "\u2028", "\x85", "\f"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_the_header_may_have_several_lines(audit: Audit, middle: str, end: str) -> None:
    for before, after in (("", ""), ("", f"6{end}"), ("\n", ""), (f"sep=,{end}", ""), ("\r\n\n", f"6{end}")):
        text = f'{before}id,"na{middle}me"{end}5,a{end}5,b{end}{after}'  # the last row may be too short
        assert audit.counts(audit.write("a.csv", text))[1] == 1, (before, after)


@pytest.mark.parametrize("blank", ["\f\f\f", "\u2028\u2028", "\x85 \x85"])
def test_a_blank_line_is_one_line(audit: Audit, blank: str) -> None:
    assert audit.counts(audit.write("a.txt", f"{blank}\n5\n5\n6\n7\n"))[1] == 1


def test_a_first_row_that_is_no_header_is_read(audit: Audit) -> None:
    for first in ("-5,a", "5e-3,a", "0189b2a6-8f3c-7c1e-9d2a-0123456789ab,a", "-5"):
        rest = "6,b\n7,c\n" if "," in first else "6\n7\n"
        records = audit.records(audit.write("a.csv", f"{first}\n{rest}"), "--column", 1, status=FAILURE)
        assert (records[0]["ids"], records[0]["broken_rows"]) == (2, 1), first
    for encoding in ("hex", "crockford", "base58", "base62"):
        one, other = (format_id(BIG + n, encoding) for n in range(2))
        for name, text in (
            ("a.csv", f"{one},a\n{one},b\n{other},c\n"),
            ("b.csv", f"{one}\n{one}\n{other}\n"),
            ("a.tsv", f"{one}\ta\n{one}\tb\n{other}\tc\n"),
            ("c.csv", f"order,x\n{one},a\n{one},b\n{other},c\n"),
        ):
            assert audit.counts(audit.write(name, text), "--column", 1, "--encoding", encoding) == (3, 1), text
    assert audit.counts(audit.write("c.csv", "ID,2024-11\n5,1\n5,2\n")) == (2, 1)


# ---- spellings of an id


def test_spellings_of_numbers(audit: Audit) -> None:
    for one, other in (
        ("0000123", "123"),
        ("  123\t", "123"),
        ('"123"', "123"),
        ("'123'", "123"),
        ("0x7B", "123"),
        ("0X7b", "123"),
        ("123.0", "123"),
        ("1.23e2", "123"),
        ("1.5E+1", "15"),
        ("1_234_567", "1234567"),
        ("1 234 567", "1234567"),
        ("1.234.567", "1234567"),
        ("18446744073709551615", "0xffffffffffffffff"),
        ("\u00a0123\u00a0", "123"),
    ):
        assert audit.counts(audit.write("a.txt", f"77\n{one}\n{other}\n")) == (3, 1), one
    assert audit.counts(audit.write("a.csv", 'id,x\n"1,234,567",a\n1234567,b\n')) == (2, 1)


def test_what_is_no_id_is_told(audit: Audit) -> None:
    for text, why in (
        ("-5", "negative"),
        ("18446744073709551616", "above 2^64"),
        ("1.5", "fraction"),
        ("0189b2a6-8f3c-7c1e-9d2a-0123456789ab", "UUID"),
        ("01HF8Z4V3XK2M9Q7R5T1W6Y8ZB", "ULID"),
        ("five", "no decimal id"),
    ):
        records = audit.records(audit.write("a.txt", f"7\n{text}\n"), status=FAILURE)
        assert why in next(r["why"] for r in records if r["record"] == "broken_row")


# ---- JSON and Parquet


def test_json(audit: Audit) -> None:
    big = 2**63 + 1
    for text in (
        f'[{{"id": {big}}}, {{"id": "{big}"}}, {{"id": {big + 1}, "x": null}}]',
        f'{{"id": {big}}}\n{{"id": {big}}}\n{{"id": {big + 1}}}\n',
        f"[{big}, {big}, {big + 1}]",
        f'["{big}", "{big}", "{big + 1}"]',
    ):
        assert audit.counts(audit.write("a.json", text)) == (3, 1), text
    assert audit.counts(audit.write("b.json", '[{"k": 1, "x": "a"}, {"k": 1, "x": "b"}]'), "--column", "k") == (2, 1)
    assert "it has k, x" in audit.refused(audit.folder / "b.json", status=USAGE)
    assert "cannot read" in audit.refused(audit.write("c.json", '[{"id": 1}, {"id": 1'))
    assert "lists" in audit.refused(audit.write("d.json", "[[1, 2], [3, 4]]"))
    assert "not an id per row" in audit.refused(audit.write("e.json", '{"id": [1, 2, 2]}'))


def test_parquet(audit: Audit) -> None:
    path = audit.folder / "a.parquet"

    def make(query: str) -> Path:
        duckdb.sql(query).write_parquet(str(path))
        return path

    for kind in ("BIGINT", "UBIGINT", "INTEGER", "VARCHAR", "HUGEINT", "DECIMAL(20,0)", "DOUBLE", "BLOB"):
        value = "range::VARCHAR::BLOB" if kind == "BLOB" else f"range::{kind}"
        make(f"SELECT {value} AS id FROM range(100) UNION ALL SELECT {value} FROM range(5, 6)")
        assert audit.counts(path) == (101, 1)
    for nulls in ("", " UNION ALL SELECT NULL"):
        make(f"SELECT 5::BIGINT AS id UNION ALL SELECT -7::BIGINT{nulls}")
        records = audit.records(path, status=FAILURE)
        assert (records[0]["ids"], records[0]["broken_rows"]) == (1, 1)
    assert "no ids of 8 bytes" in audit.refused(make("SELECT uuid() AS id FROM range(2)"))
    whole = make("SELECT range AS id FROM range(10000)").read_bytes()
    assert "cannot read" in audit.refused(audit.write("cut.parquet", whole[:-10]))
    assert audit.counts(make("SELECT 1 AS a, 5 AS b UNION ALL SELECT 2, 5"), "--column", "B") == (2, 1)
    assert "it has a, b" in audit.refused(path, status=USAGE)


def test_names_that_differ_in_capital_letters_only_are_not_mixed_up(audit: Audit) -> None:
    for text in ('[{"Id": 5, "id": 6}, {"Id": 7, "id": 6}]', '{"id": 5}\n{"ID": 5}\n'):
        assert "by its number" in audit.refused(audit.write("a.json", text), "--column", "id", status=USAGE)


def test_a_list_of_json_that_is_cut_off_is_refused(audit: Audit) -> None:
    for text in ('[{"id": 5}, {"id": 6},', '[{"id": 5}, {"id": 6}', "[5, 6,", "[5, 6", "[5,\n6,\n"):
        audit.refused(audit.write("a.json", text))


def test_columns(audit: Audit) -> None:
    assert "2 columns called id" in audit.refused(audit.write("a.csv", "id,id\n1,1\n"), status=USAGE)
    assert audit.counts(audit.folder / "a.csv", "--column", 2, status=CLEAN) == (1, 0)
    assert "no column 9" in audit.refused(audit.folder / "a.csv", "--column", 9, status=USAGE)
    assert "no column 'x'" in audit.refused(audit.folder / "a.csv", "--column", "x", status=USAGE)


# ---- the two commonest causes


def causes(records: list[dict[str, Any]]) -> set[str]:
    return {record["likely"] for record in records if record["record"] == "duplicates"}


def test_a_generator_for_each_id(audit: Audit) -> None:
    ids = [BIG] * 2 + [BIG + (4 << 22)] + [BIG + (3 << 22)] * 4
    rows = "id,process\n" + "".join(f"{id},pid 18907\n" for id in ids)
    found = audit.records("--layout", "twitter", audit.write("rows.csv", rows), "--process", "process")
    assert causes(found) == {"new-generator"}
    for name, text in {"a.txt": "\n".join(map(str, ids)), "b.txt": f"{BIG}\n" * 100}.items():
        assert causes(audit.records("--layout", "twitter", audit.write(name, text))) == {"new-generator"}
    rng = random.Random(1)
    begin, ms = 400 << 41, 0
    traffic = []
    for _ in range(3000):  # a generator for each request, of one to three ids, with a sequence that starts at 1
        ms += rng.randrange(3)
        traffic += [begin + (ms << 22 | 5 << 12 | 1)] * rng.randrange(1, 4)
    text = "\n".join(map(str, traffic)) + "\n"
    assert causes(audit.records("--layout", "default", audit.write("c.txt", text))) == {"new-generator"}
    found = audit.records("--layout", "default", audit.write("d.txt", "\n".join(map(str, sorted(traffic)))))
    assert causes(found) == {"new-generator"}
    possible = audit.records(audit.write("e.txt", "\n".join(map(str, ids))))[2]["possible"]
    assert possible.split()[0] == "new-generator"  # without a layout


def test_two_processes_are_not_taken_for_a_generator_for_each_id(audit: Audit) -> None:
    rows = "id,process\n" + "".join(f"{BIG + (n << 22)},{host}\n" for n in range(50) for host in ("a", "b"))
    found = audit.records("--layout", "twitter", audit.write("rows.csv", rows), "--process", "process")
    assert causes(found) == {"same-worker"}


ROUNDED = [BIG + n for n in range(3000)] + [BIG + (5 << 22) + n for n in range(2000)]


@pytest.mark.parametrize(
    "written",
    [
        lambda id: format(Decimal(repr(float(id))), "f").split(".")[0],  # JavaScript
        lambda id: str(int(float(id))),  # a double, exactly
        lambda id: repr(float(id)),  # 1.2787352547826156e+18
        lambda id: f"{float(id):.1f}",  # a column of pandas
        lambda id: str(id)[:15] + "0" * (len(str(id)) - 15),  # a spreadsheet
        lambda id: f"{float(id):.14E}",  # a spreadsheet's export
    ],
)
def test_ids_that_were_rounded(audit: Audit, written: Any) -> None:
    text = "id,x\n" + "".join(f"{written(id)},{n}\n" for n, id in enumerate(ROUNDED))
    for words in (("--layout", "twitter"), ()):
        assert causes(audit.records(audit.write("a.csv", text), *words)) == {"rounded"}


def test_rounded_ids_of_json_and_of_a_float_column(audit: Audit) -> None:
    rows = json.dumps([{"id": float(id)} for id in ROUNDED])
    assert causes(audit.records(audit.write("a.json", rows), "--layout", "twitter")) == {"rounded"}
    path = audit.folder / "a.parquet"
    duckdb.sql(f"SELECT ({BIG} + range)::DOUBLE AS id FROM range(3000)").write_parquet(str(path))
    assert causes(audit.records(path, "--layout", "twitter")) == {"rounded"}


def test_snowflakes_of_low_rates_are_not_taken_for_rounded(audit: Audit) -> None:
    ids = [BIG + (n << 22) + (w << 12) for n in range(0, 4000, 3) for w in range(4)]
    text = "\n".join(map(str, ids + ids[100:200]))
    assert "rounded" not in causes(audit.records(audit.write("a.txt", text), "--layout", "twitter"))


# ---- the numbers


@pytest.mark.parametrize("seed", range(12))
def test_the_numbers_are_those_of_a_plain_count(audit: Audit, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if seed % 3 < 2:  # a few ids are sorted at once, and few duplicates are looked at one by one
        monkeypatch.setattr(command, "_SORTED", (1 << 30) // (20, 500)[seed % 3])
        monkeypatch.setattr(duplicates, "_POSTS", 8)
    rng = random.Random(seed)
    begin = 200 * 86_400_000
    ids: list[int] = []
    tick = begin
    for _ in range(rng.randrange(50, 4000)):
        tick += rng.choice((0, 0, 1, 1, 2, 50))
        if rng.random() < 0.01:
            tick -= rng.randrange(500)
        ids.append(tick << 22 | rng.randrange(rng.choice((1, 3, 40))) << 12 | rng.randrange(rng.choice((1, 8, 4096))))
    for _ in range(rng.randrange(30)):
        ids.insert(rng.randrange(len(ids)), rng.choice(ids))
    half = rng.randrange(len(ids))
    names = [audit.write("a.txt", "".join(f"{id}\n" for id in ids[:half]))] if half else []
    names.append(audit.write("b.csv", "x,id\n" + "".join(f"a,{id}\n" for id in ids[half:])))
    counts = Counter(ids)
    twice = {id: n for id, n in counts.items() if n > 1}
    records = audit.records(*names, "--layout", "default", "--shards", 7, status=DUPLICATES if twice else CLEAN)
    summary = records[0]
    assert [summary[n] for n in ("ids", "different", "duplicated", "extra_copies")] == [
        len(ids), len(counts), len(twice), sum(twice.values()) - len(twice),
    ]  # fmt: skip
    last: dict[int, int] = {}
    back: Counter[int] = Counter()
    for id in ids:
        worker = id >> 12 & 1023
        back[worker] += id < last.get(worker, 0)
        last[worker] = id
    assert summary["steps_back"] == sum(back.values())
    assert summary["steps_back_overall"] == sum(a > b for a, b in itertools.pairwise(ids))
    workers = {record["worker"]: record for record in records if record["record"] == "worker"}
    by_worker: dict[int, list[int]] = {}
    for id in counts:
        by_worker.setdefault(id >> 12 & 1023, []).append(id)
    assert len(workers) == len(by_worker)
    for worker, its_ids in by_worker.items():
        ticks = sorted({id >> 22 for id in its_ids})
        expected = {
            "ids": len(its_ids),
            "duplicated": sum(id in twice for id in its_ids),
            "ticks": len(ticks),
            "peak": max(Counter(id >> 22 for id in its_ids).values()),
            "longest_gap_ms": max((b - a for a, b in itertools.pairwise(ticks)), default=0),
            "steps_back": back[worker],
        }
        assert {key: workers[f"worker {worker}"][key] for key in expected} == expected
    assert sum(r["ids"] for r in records if r["record"] == "rate") == len(counts)
    assert sum(r["duplicated"] for r in records if r["record"] == "rate") == len(twice)
    assert [r["ids"] for r in records if r["record"] == "shard"] == [sum(id % 7 == s for id in ids) for s in range(7)]
    found = [record for record in records if record["record"] == "duplicates"]
    assert sum(record["ids"] for record in found) == len(twice)
    assert sum(record["extra_copies"] for record in found) == sum(twice.values()) - len(twice)
    for record in found:
        places = [i for i, id in enumerate(ids) if id == int(record["example"])]
        expected_places = [
            f"row {i + 1} of {names[0]}" if i < half else f"row {i - half + 1} of {names[-1]}" for i in places[:4]
        ]
        if len(names) == 2:
            assert record["places"].split("; ") == [_grouped(place) for place in expected_places]


def test_as_many_duplicates_are_kept_apart_as_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duplicates, "_POSTS", 64)
    posts = duplicates._Posts(Space(Layout("default")))
    for first in range(0, 32_000, 100):
        posts.add(np.arange(first + 1, first + 101, dtype=np.uint64), np.full(100, 2 + (first == 200)))
        assert posts.ids.sum() == first + 100
        assert posts.ids.size > 16 or posts.ids.max() == 1
        assert posts.ids.size <= 65
    assert (posts.rows.sum(), posts.most.max()) == (64_100, 3)


@pytest.mark.parametrize("most", [8, 2])
def test_duplicates_that_are_too_many_to_keep_apart_are_joined(
    audit: Audit, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(duplicates, "_POSTS", most)
    monkeypatch.setattr(command, "_SORTED", (1 << 30) // 400)
    ids = [[(200_000_000 + tick) << 22 | worker << 12 for tick in range(1000)] for worker in range(3)]
    twice = [ids[0][300:800], ids[1][:200], ids[2][999:]]
    rows = [*itertools.chain(*ids, *twice), ids[0][500], ids[0][700]]
    name = audit.write("a.txt", "\n".join(map(str, rows)))
    found = [r for r in audit.records(name, "--layout", "default") if r["record"] == "duplicates"]
    for worker, its_ids in enumerate(twice):
        (record,) = (r for r in found if r["worker"] == f"worker {worker}")
        expected = [len(its_ids), len(its_ids) + 2 * (worker == 0), 0, str(its_ids[0]), str(its_ids[-1])]
        assert [record[n] for n in ("ids", "extra_copies", "single", "first_id", "last_id")] == expected


@pytest.mark.parametrize("values", [1, 2, 3, 40, 1 << 20, 1 << 64])
@pytest.mark.parametrize("count", [0, 1, 50, 51, 3000])
def test_keys_are_sorted_and_counted_whatever_they_are(tmp_path: Path, values: int, count: int) -> None:
    rng = random.Random(values + count)
    most = rng.randrange(values)  # and a third of the keys are this one
    keys = [most if rng.random() < 0.3 else rng.randrange(values) for _ in range(count)]
    pieces = (np.array(keys[i : i + 100], dtype=np.uint64) for i in range(0, count, 100))
    sample = np.array(rng.sample(keys, min(count, 64)), dtype=np.uint64)
    found: list[tuple[int, int]] = []
    for some, copies in in_order(pieces, sample, count, tmp_path / "sorted", room=50):
        assert len(some) <= 50
        found += zip(some.tolist(), copies.tolist(), strict=True)
    assert found == sorted(Counter(keys).items())
    assert not list(tmp_path.iterdir())


def _grouped(place: str) -> str:
    number = place.split()[1]
    return place.replace(f"row {number}", f"row {int(number):,}".replace(",", " "), 1)


@pytest.mark.parametrize("encoding", ["hex", "crockford", "base58", "base62"])
def test_encodings(audit: Audit, encoding: Any) -> None:
    texts = [format_id(id, encoding) for id in (1 << 62, 7, 9, 7, 300)]
    assert audit.counts(audit.write("a.txt", "\n".join(texts)), "--encoding", encoding) == (5, 1)
    records = audit.records(audit.write("b.txt", f"{texts[0]}\n!\n"), "--encoding", encoding, status=FAILURE)
    assert f"no id in {encoding}" in next(r["why"] for r in records if r["record"] == "broken_row")
