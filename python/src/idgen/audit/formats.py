"""What a dump is: found by its name and first bytes, or refused by name. Text that is compressed, or not in UTF-8, is
copied to the temporary folder as plain UTF-8."""

from __future__ import annotations

import bz2
import codecs
import csv
import errno
import glob
import gzip
import io
import lzma
import os
import re
import shutil
import stat
import sys
import zlib
from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from .. import TextError, parse_id
from .failure import Unreadable, UsageError

_HEAD = 1 << 16
_PIECE = 1 << 20
_DELIMITERS = ",;|\t"

_REFUSED = (
    (0, b"PGDMP", "a custom-format dump of pg_dump: restore it, or export the column with psql --csv"),
    (0, b"PGCOPY\n\xff\r\n\0", "PostgreSQL's COPY in binary: export as text or CSV"),
    (0, b"SQLite format 3\0", "an SQLite database: export the column with sqlite3 -csv"),
    (8, b"DUCK", "a DuckDB database: export the column with COPY"),
    (0, b"ORC", "ORC: convert it to Parquet"),
    (0, b"Obj\x01", "Avro: convert it to Parquet"),
    (0, b"ARROW1", "Arrow IPC (Feather): convert it to Parquet"),
    (0, b"FEA1", "Feather: convert it to Parquet"),
    (0, b"PARE", "encrypted Parquet: decrypt it first"),
    (0, b"\x93NUMPY", "an array of NumPy: write it with tofile() as .bin"),
    (0, b"\x89HDF", "HDF5: export the column as CSV or Parquet"),
    (0, b"\xd0\xcf\x11\xe0", "an old Excel workbook: export the sheet as CSV. Excel keeps 15 digits of a number"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive: unpack it first"),
    (0, b"Rar!", "a RAR archive: unpack it first"),
    (0, b"\x04\x22\x4d\x18", "compressed with LZ4: decompress it first (lz4 -d)"),
    (0, b"\xff\x06\0\0sNaPpY", "compressed with Snappy: decompress it first"),
    (0, b"LZIP", "compressed with lzip: decompress it first (lzip -d)"),
    (0, b"\x1f\x9d", "compressed with compress: decompress it first (uncompress)"),
    (257, b"ustar", "a tar archive: unpack it first"),
    (0, b"%PDF", "a PDF"),
    (0, b"\x7fELF", "a program"),
    (0, b"\x89PNG", "a picture"),
    (0, b"\xff\xd8\xff", "a picture"),
    (0, b"\x80\x04\x95", "a pickle of Python: export the column as CSV or Parquet"),
    (0, b"\x80\x05\x95", "a pickle of Python: export the column as CSV or Parquet"),
)
_SQL = re.compile(r"\s*(--|/\*|(INSERT|CREATE|COPY|SET|BEGIN|DROP|USE|LOCK|START)\b[^,;\t]*[ ;(])", re.IGNORECASE)
_RULE = re.compile(r"\s*[+|:]?[-=]{2,}[-=+|: ]*")
_NAME = re.compile(r"[^\W\d][\w .$#/-]*")
_LINE_END = re.compile(r"\r\n|\r|\n")
# Ids, and numbers, instants and UUIDs, which cannot name a column either.
_VALUE = re.compile(
    r"""["'=\s]*[-+]?\.?\d[\d\s,._'"eE+:TZ-]*|["'\s]*0[xX][0-9a-fA-F]+["'\s]*|"""
    r"""["'\s]*[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}["'\s]*"""
)

OPENERS: dict[bytes, tuple[str, Callable[[str, Path], None]]] = {
    b"\x1f\x8b\x08": ("gzip", lambda path, to: _gunzip(path, to)),
    b"BZh": ("bzip2", lambda path, to: _unpack(bz2.BZ2Decompressor, path, to)),
    b"\xfd7zXZ\0": ("xz", lambda path, to: _unpack(lzma.LZMADecompressor, path, to)),
}
ZSTD = (b"\x28\xb5\x2f\xfd", *(bytes([0x50 + n]) + b"\x2a\x4d\x18" for n in range(16)))


@dataclass
class Dump:
    name: str  # as given
    path: str  # what is read: the file, or a copy of it
    format: str = ""
    delimiter: str = ""
    quote: str = ""  # "" if fields are literal
    escape: str = ""  # of a quote inside a field; "" if it is doubled
    is_quote_given: bool = False
    is_even: bool = False  # a copy whose rows all have one column more than the first, which should be empty
    skip: int = 0  # blank lines and Excel's, before the header and the first row
    has_header: bool = False
    has_mixed_ends: bool = False  # of lines, those in quotes included
    columns: list[str] = field(default_factory=list)  # "" where there is no header
    charset: str = ""  # of a text that is not in UTF-8
    compression: str = ""


def paths_of(words: list[str]) -> list[str]:
    """Patterns are expanded here too, for shells that leave them as they are."""
    out: list[str] = []
    for word in words:
        if word == "-" or os.path.lexists(word) or not glob.has_magic(word):
            out.append(word)
        elif found := sorted(glob.glob(word, recursive=True)):
            out += found
        else:
            raise Unreadable(f"no file is called {word}")
    return out


def detect(word: str, folder: Path, number: int, options: Namespace) -> Dump:
    dump = Dump("standard input" if word == "-" else word, word)
    try:
        _copy_of_stream(dump, folder / f"copy{number}")
        name = _open_up(dump, folder / f"plain{number}")
        head = _head_of(dump.path)
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise Unreadable(f"cannot read {dump.name}: {text}") from None
    if not head:
        raise Unreadable(f"there is no id in {dump.name}: it is empty")
    dump.format = options.format or ""
    suffix = os.path.splitext(name)[1].lower()
    if not dump.format:
        if head.startswith(b"PAR1") or suffix in (".parquet", ".pq"):
            dump.format = "parquet"
        elif (suffix == ".bin" or options.big_endian) and not _is_known(head):
            if len(head) >= 8 and all(32 <= byte < 127 or byte in b"\t\n\r" for byte in head):
                _refuse(dump, "text, and not 8 bytes for each id: say --format lines or csv, or else --format binary")
            dump.format = "binary"
    if dump.format in ("parquet", "binary"):
        return dump
    _refuse_known(dump, head)
    _as_utf8(dump, head, options, folder / f"utf8-{number}")
    text = _head_of(dump.path).decode("utf-8", "replace")
    if any(ord(c) < 32 and c not in "\t\n\r\f" for c in text):
        _refuse(dump, "no text. If it holds 8 bytes for each id, say --format binary")
    lines = [line for line in _lines_of(text) if line.strip()]
    if not lines:
        raise Unreadable(f"there is no id in {dump.name}: it is blank")
    dump.format = dump.format or _format_of(dump, suffix, lines, options)
    if dump.format == "json":
        _refuse_cut_json(dump)
    else:
        _find_columns(dump, text, options)
        dump.has_mixed_ends = len(set(_LINE_END.findall(text[:-1]))) > 1
        # DuckDB takes the line ends of what it skips for those of the rows.
        if dump.has_mixed_ends and (dump.skip or any("\n" in name for name in dump.columns)):
            charset = dump.charset
            rewrite(dump, "utf-8", folder / f"lines-{number}")
            dump.charset = charset
    return dump


def _refuse(dump: Dump, what: str) -> NoReturn:
    raise Unreadable(f"cannot read {dump.name}: it is {what}")


def _lines_of(text: str) -> list[str]:
    """As DuckDB counts them: str.splitlines() also splits at form feeds and at U+0085, U+2028 and U+2029."""
    return _LINE_END.split(text)


def _refuse_cut_json(dump: Dump) -> None:
    """DuckDB reads a list that is cut off after a comma as if it ended there."""
    if not _head_of(dump.path).lstrip().startswith(b"["):
        return
    with open(dump.path, "rb") as file:
        file.seek(max(os.path.getsize(dump.path) - _HEAD, 0))
        if not file.read().rstrip().endswith(b"]"):
            raise Unreadable(f"cannot read {dump.name}: its end is missing: no ] closes its list")


def _head_of(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(_HEAD)


def _copy_of_stream(dump: Dump, to: Path) -> None:
    """What can be read only once is copied, because the audit looks twice."""
    if dump.path == "-":
        if sys.stdin is None:
            raise OSError(errno.EBADF, "it is closed")
        with open(to, "wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file, _PIECE)
        dump.path = str(to)
        return
    mode = os.stat(dump.path).st_mode
    if stat.S_ISDIR(mode):
        raise Unreadable(f"cannot read {dump.name}: it is a folder; name its files, such as {dump.name}/*.parquet")
    if not stat.S_ISREG(mode):
        with open(dump.path, "rb") as source, open(to, "wb") as file:
            shutil.copyfileobj(source, file, _PIECE)
        dump.path = str(to)


def _open_up(dump: Dump, to: Path) -> str:
    """Decompresses the file; returns its name without the ending of the compression."""
    name, head = dump.name, _head_of(dump.path)
    for magic, (compression, unpack) in OPENERS.items():
        if head.startswith(magic):
            unpack(dump.path, to)
            dump.path, dump.compression = str(to), compression
            return os.path.splitext(name)[0]
    if head.startswith(ZSTD):
        check_zstd(dump)
        _decompress_zstd(dump, to)
        return os.path.splitext(name)[0]
    return name


def _gunzip(path: str, to: Path) -> None:
    with gzip.open(path) as source, open(to, "wb") as file:
        shutil.copyfileobj(source, file, _PIECE)


def _unpack(make: Callable[[], Any], path: str, to: Path) -> None:
    """Python's own readers of bzip2 and xz ignore whatever follows the first part if it is not of the same format."""
    unpacker = make()
    with open(path, "rb") as source, open(to, "wb") as file:
        while data := source.read(_PIECE):
            while data:
                if unpacker.eof:
                    data = data.lstrip(b"\0")  # xz fills up to 4 bytes
                    if not data:
                        break
                    unpacker = make()
                file.write(unpacker.decompress(data, _PIECE))
                while not unpacker.eof and not unpacker.needs_input:
                    file.write(unpacker.decompress(b"", _PIECE))
                data = unpacker.unused_data
    if not unpacker.eof:
        raise EOFError("its end is missing")


def check_zstd(dump: Dump) -> None:
    """Walks the blocks of all frames: DuckDB reads a file that is cut off as if it ended there."""
    size = os.path.getsize(dump.path)
    with open(dump.path, "rb") as file:

        def take(count: int) -> int:
            data = file.read(count)
            if len(data) < count:
                raise EOFError("its end is missing (zstd)")
            return int.from_bytes(data, "little")

        while file.tell() < size:
            magic = take(4)
            if magic & 0xFFFFFFF0 == 0x184D2A50:
                file.seek(take(4), os.SEEK_CUR)
            elif magic == 0xFD2FB528:
                descriptor = take(1)
                is_single = descriptor >> 5 & 1
                width = (0, 2, 4, 8)[descriptor >> 6] or is_single
                take((not is_single) + (0, 1, 2, 4)[descriptor & 3] + width)
                is_last = 0
                while not is_last:
                    block = take(3)
                    is_last = block & 1
                    file.seek(1 if block >> 1 & 3 == 1 else block >> 3, os.SEEK_CUR)
                take(4 if descriptor >> 2 & 1 else 0)
            else:
                raise EOFError("something that is not zstd follows its compressed part")
            if file.tell() > size:
                raise EOFError("its end is missing (zstd)")


def _decompress_zstd(dump: Dump, to: Path) -> None:
    import duckdb

    from .reading import NO_EXTENSIONS, place_of, quoted

    # The text is read as fields of one column. Four characters of control that never stand together divide fields.
    apart = "delim = '\x1f\x1e\x1d\x1c', quote = '', escape = '', header = false"
    with duckdb.connect(config=NO_EXTENSIONS) as connection:
        try:
            connection.execute(
                f"COPY (FROM read_csv({place_of(dump.path)}, compression = 'zstd', auto_detect = false, {apart}, "
                f"columns = {{'c0': 'VARCHAR'}}, strict_mode = false, max_line_size = 16777216)) TO {quoted(str(to))} "
                f"(FORMAT csv, {apart.replace('=', '')})"
            )
        except duckdb.Error:
            _refuse(dump, "compressed with zstd, and no text in UTF-8: decompress it first (zstd -d)")
    dump.path, dump.compression = str(to), "zstd"


def _is_known(head: bytes) -> bool:
    return head.startswith((b"PK\3\4", *OPENERS, *ZSTD)) or any(
        head[at : at + len(magic)] == magic for at, magic, _ in _REFUSED if len(magic) > 3
    )


def _refuse_known(dump: Dump, head: bytes) -> None:
    if head.startswith((b"PK\3\4", b"PK\5\6")):
        if b"xl/" in head or b"[Content_Types].xml" in head or dump.name.lower().endswith((".xlsx", ".ods", ".xlsm")):
            _refuse(dump, "an Excel workbook: export the sheet as CSV. Excel keeps 15 digits of a number")
        _refuse(dump, "a zip archive: unpack it first")
    for at, magic, what in _REFUSED:
        if head[at : at + len(magic)] == magic:
            _refuse(dump, what)
    if dump.name.lower().endswith((".xlsx", ".xlsm", ".xls", ".ods")):
        _refuse(dump, "by its name an Excel workbook: export the sheet as CSV")


def _charset_of(head: bytes) -> str:
    for bom, charset in (
        (codecs.BOM_UTF32_LE, "utf-32"),
        (codecs.BOM_UTF32_BE, "utf-32"),
        (codecs.BOM_UTF8, "utf-8-sig"),
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
    ):
        if head.startswith(bom):
            return charset
    even, odd = head[0:1000:2], head[1:1000:2]
    if len(odd) > 1 and odd.count(0) >= 0.9 * len(odd) and even.count(0) == 0:
        return "utf-16-le"
    if len(odd) > 1 and even.count(0) >= 0.9 * len(even) and odd.count(0) == 0:
        return "utf-16-be"
    return ""


def _as_utf8(dump: Dump, head: bytes, options: Namespace, to: Path) -> None:
    charset = options.charset or _charset_of(head)
    if not charset:
        try:
            codecs.getincrementaldecoder("utf-8")().decode(head)
            return
        except UnicodeDecodeError:
            charset = "latin-1"
            if sum(byte < 32 and byte not in b"\t\n\r\f" for byte in head) > 0:
                return  # no text at all
    rewrite(dump, charset, to)


def rewrite(dump: Dump, charset: str, to: Path) -> None:
    """As UTF-8, with one kind of line ends."""
    try:
        with (
            open(dump.path, encoding=charset, newline=None) as source,
            open(to, "w", encoding="utf-8", newline="\n") as file,
        ):
            shutil.copyfileobj(source, file, _PIECE)
    except LookupError:
        raise UsageError(f"--charset is '{charset}', which is not known; say utf-8, utf-16, latin-1, gbk ...") from None
    except UnicodeError as error:
        raise Unreadable(f"cannot read {dump.name}: it is not in {charset}: {error}") from None
    dump.path, dump.charset, dump.has_mixed_ends = str(to), "" if charset.startswith("utf-8") else charset, False


def make_even(dump: Dump, to: Path) -> None:
    """A copy in which rows that are too short have empty fields. The last column has which are too short or long."""
    csv.field_size_limit(1 << 24)
    count = len(dump.columns)
    with (
        open(dump.path, encoding="utf-8", newline="") as source,
        open(to, "w", encoding="utf-8", newline="") as file,
    ):
        for _ in range(dump.skip):
            source.readline()
        dialect: dict[str, Any] = {"delimiter": dump.delimiter, "strict": True}
        dialect |= {"quotechar": dump.quote} if dump.quote else {"quoting": csv.QUOTE_NONE, "quotechar": None}
        if dump.escape:
            dialect |= {"doublequote": False, "escapechar": dump.escape}
        quote = dump.quote or '"'
        writer = csv.writer(file, delimiter=dump.delimiter, quotechar=quote, lineterminator="\n")
        reader = csv.reader(source, **dialect)
        try:
            if dump.has_header:
                next(reader)
            for row in reader:
                if row or count == 1:
                    odd = "more" if len(row) > count else "fewer" if len(row) < count and count > 1 else ""
                    writer.writerow([*row[:count], *[""] * (count - len(row)), odd])
        except (csv.Error, UnicodeError) as error:
            raise Unreadable(
                f"cannot read {dump.name}: line {reader.line_num + dump.skip}: {error}. If fields are not quoted, say "
                "--quote none."
            ) from None
    dump.path, dump.skip, dump.has_header, dump.quote, dump.escape, dump.is_even = str(to), 0, False, quote, "", True


def _format_of(dump: Dump, suffix: str, lines: list[str], options: Namespace) -> str:
    first = lines[0].lstrip("\ufeff")
    if first.lstrip().startswith(("{", "[")) or suffix in (".json", ".jsonl", ".ndjson"):
        return "json"
    if first.lstrip().startswith("<"):
        _refuse(dump, "XML or HTML: export the column as CSV")
    if _SQL.match(first):
        _refuse(dump, "SQL: load it, and export the column (psql --csv, mysql -B)")
    if any(_RULE.fullmatch(line) for line in lines[:3]) or first.startswith("***"):
        _refuse(dump, "a table drawn for people: export it with psql --csv, mysql -B or sqlite3 -csv")
    if options.delimiter is not None:
        return "csv"
    if suffix in (".tsv", ".tab"):
        return "tsv"
    if suffix == ".csv":
        return "csv"
    if "\t" in first.strip():
        return "tsv"
    if any(c in first for c in ",;|") or first.lower().startswith("sep="):
        return "csv"
    return "lines"


def _find_columns(dump: Dump, text: str, options: Namespace) -> None:
    lines = _lines_of(text)
    first = next(i for i, line in enumerate(lines) if line.strip())
    if dump.format == "csv" and lines[first].lower().startswith("sep=") and len(lines[first]) == 5:  # Excel's
        dump.delimiter = lines[first][4]
        first = next((i for i in range(first + 1, len(lines)) if lines[i].strip()), first)
    row = lines[first].lstrip("\ufeff")
    dump.quote, dump.is_quote_given = '"', options.quote is not None
    if dump.format == "lines":
        dump.delimiter, dump.quote = "\x1f", ""
    elif dump.format == "tsv":
        dump.delimiter, dump.quote = "\t", ""
    else:
        bare = re.sub(r'"[^"]*"' + r"|'[^']*'", "", row)
        dump.delimiter = options.delimiter or dump.delimiter or max(_DELIMITERS, key=bare.count)
        if re.search(rf"(^|{re.escape(dump.delimiter)})\s*'[^']*'\s*({re.escape(dump.delimiter)}|$)", row):
            dump.quote = "'"
    if options.quote is not None:
        dump.quote = "" if options.quote == "none" else options.quote
    cells = _cells_of(dump, lines[first:])
    names = [cell.strip() for cell in cells]
    wanted = (options.column or "id").lower()
    is_named = not wanted.isdigit() and wanted in [name.lower() for name in names]
    encoding = options.encoding or "decimal"
    dump.has_header = is_named or not any(_is_value(name, encoding) for name in names if name)
    if dump.format == "lines" and encoding != "decimal":
        dump.has_header = names[0].lower() in ("id", "ids")
    elif dump.format == "lines":
        dump.has_header = dump.has_header and bool(_NAME.fullmatch(names[0])) and len(lines) > 1
    dump.columns = names if dump.has_header else [""] * len(cells)
    dump.skip = first


def _is_value(cell: str, encoding: str) -> bool:
    if _VALUE.fullmatch(cell):
        return True
    try:
        return encoding != "decimal" and parse_id(cell.strip("\"' "), encoding) >= 0  # type: ignore[arg-type]
    except TextError:
        return False


def _cells_of(dump: Dump, lines: list[str]) -> list[str]:
    if not dump.quote:
        return lines[0].lstrip("\ufeff").split(dump.delimiter)
    reader = csv.reader(io.StringIO("\n".join(lines).lstrip("\ufeff")), delimiter=dump.delimiter, quotechar=dump.quote)
    try:
        return next(reader)
    except csv.Error as error:
        raise Unreadable(f"cannot read {dump.name}: line 1: {error}") from None
