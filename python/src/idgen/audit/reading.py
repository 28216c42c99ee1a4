"""Reads dumps into one table of ids, in their order, by DuckDB. A row without an id is a NULL there."""

from __future__ import annotations

import glob
import os
import re
from argparse import Namespace
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from duckdb.func import FunctionNullHandling

from .. import TextError, parse_id
from .failure import Unreadable, UsageError
from .formats import Dump, make_even, rewrite
from .space import Space
from .words import grouped, one_line

NO_EXTENSIONS: dict[str, Any] = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
_SHOWN = 5
_BINARY_PIECE = 1 << 20
_SPACES = " \t\r\n\"'=\u00a0\u202f\u2009\ufeff"
_NOTHING = ("", "null", "\\n", "\\.", "none", "nan", "na", "n/a", "<na>", "nil")
_FLOAT = r"[0-9]+(\.[0-9]*)?([eE]\+?[0-9]{1,2})?"
_GROUPS = r"[0-9]{1,3}([,_'  ][0-9]{3})+|[0-9]{1,3}(\.[0-9]{3}){2,}"
_REASONS = (
    (r"-[0-9]+", "is negative: an unsigned number was read as a signed one"),
    (r"[0-9]{20,}", "is above 2^64 - 1"),
    (r"[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}", "is a UUID, which has 16 bytes; ids of 8 can be audited"),
    (r"[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}", "is a ULID, which has 16 bytes; ids of 8 can be audited"),
    (r"[0-9]*\.[0-9]*[1-9][0-9]*", "has a fraction"),
)


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def place_of(path: str) -> str:
    """This file, whatever its name: DuckDB reads other files for a pattern or a URL."""
    return quoted(glob.escape(os.path.abspath(path)))


def named(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


@dataclass
class Source:
    """A dump as SQL."""

    dump: Dump
    relation: str  # of its rows, in their order
    id: str  # an expression over a row: the id, or NULL
    text: str  # what stands there
    columns: list[str]  # expressions for its other columns
    process: str = "NULL"
    time: str = "NULL"
    described: str = ""
    begin: int = 0  # the first row's place in the table of ids, and the one after the last row's
    end: int = 0
    ids: int = 0
    has_floats: bool = False


@dataclass
class Broken:
    """Rows whose id cannot be read, and rows that hold none."""

    count: int = 0
    empty: int = 0
    first: list[tuple[str, int, str]] = field(default_factory=list)


def id_sql(text: str) -> str:
    """The common spelling is tried first; what is not exactly it goes through the rules for the others."""
    s = f"trim({text}, {quoted(_SPACES)})"
    return (
        f"CASE WHEN try_cast({text} AS UBIGINT)::VARCHAR = {text} THEN try_cast({text} AS UBIGINT) "
        f"WHEN regexp_full_match({s}, '[0-9]+') THEN try_cast({s} AS UBIGINT) "
        f"WHEN regexp_full_match({s}, '0[xX][0-9a-fA-F]{{1,16}}') THEN try_cast(lower({s}) AS UBIGINT) "
        f"WHEN regexp_full_match({s}, {quoted(_FLOAT)}) THEN "
        f"CASE WHEN try_cast({s} AS DECIMAL(38, 12)) = floor(try_cast({s} AS DECIMAL(38, 12))) "
        f"THEN try_cast(try_cast({s} AS DECIMAL(38, 12)) AS UBIGINT) END "
        f"WHEN regexp_full_match({s}, {quoted(_GROUPS)}) "
        f"THEN try_cast(regexp_replace({s}, '[^0-9]', '', 'g') AS UBIGINT) END"
    )


class Reader:
    def __init__(self, connection: duckdb.DuckDBPyConnection, space: Space, options: Namespace, folder: Path):
        self.connection, self.space, self.options, self.folder = connection, space, options, folder
        self.encoding = options.encoding or "decimal"
        self.broken = Broken()
        connection.execute("CREATE TABLE ids (id UBIGINT)")
        if self.encoding != "decimal":
            special = FunctionNullHandling.SPECIAL
            connection.create_function("id_of_text", self._parse, ["VARCHAR"], "UBIGINT", null_handling=special)

    def _parse(self, text: str | None) -> int | None:
        text = (text or "").strip(_SPACES)
        if self.encoding == "hex" and text[:2] in ("0x", "0X"):
            text = text[2:].rjust(16, "0")
        try:
            return parse_id(text, self.encoding)  # type: ignore[arg-type]
        except TextError:
            return None

    def _id_of_text(self, text: str) -> str:
        return id_sql(text) if self.encoding == "decimal" else f"id_of_text({text})"

    def read(self, dump: Dump) -> Source:
        begin = self._count()
        try:
            source = self._binary(dump) if dump.format == "binary" else self._load(dump)
        except duckdb.InterruptException:
            raise
        except duckdb.Error as error:
            raise Unreadable(f"cannot read {dump.name}: {_plain(error, dump)}") from None
        (is_gapless,) = self._row("SELECT coalesce(max(rowid) + 1, 0) = count(*) FROM ids")
        assert is_gapless
        source.begin, source.end = begin, self._count()
        (source.ids,) = self._row(f"SELECT count(id) FROM ids WHERE rowid >= {begin}")
        if source.ids < source.end - source.begin and source.relation:
            self._look_at_broken(source)
        return source

    def _row(self, sql: str) -> tuple[Any, ...]:
        return tuple(self.connection.execute(sql).fetchall()[0])

    def _count(self) -> int:
        return int(self._row("SELECT count(*) FROM ids")[0])

    # ---- 8 bytes per id

    def _binary(self, dump: Dump) -> Source:
        if self.options.process or self.options.time:
            raise UsageError(f"--process and --time name columns, and {dump.name} has none")
        order = ">u8" if self.options.big_endian else "<u8"
        with open(dump.path, "rb") as file:
            while data := file.read(8 * _BINARY_PIECE):
                if rest := len(data) % 8:
                    self.broken.count += 1
                    self.broken.first.append((dump.name, self._count() + len(data) // 8 + 1, f"{rest} bytes, not 8"))
                piece = np.frombuffer(data[: len(data) - rest], dtype=order).astype("=u8")
                view = {"id": piece}
                self.connection.register("piece", view)
                before = self._count()
                self.connection.execute(
                    f"INSERT INTO ids SELECT CASE WHEN {self.space.inside_sql()} THEN id END FROM piece"
                )
                self.connection.unregister("piece")
                self._look_at_outside(dump, before)
        ends = "most" if self.options.big_endian else "least"
        return Source(dump, "", "", "", [], described=f"8 bytes per id, the {ends} significant first")

    def _look_at_outside(self, dump: Dump, before: int) -> None:
        if not self.space.outside:
            return
        rows = self.connection.execute(f"SELECT rowid FROM ids WHERE rowid >= {before} AND id IS NULL").fetchall()
        self.broken.count += len(rows)
        for (row,) in rows[: max(_SHOWN - len(self.broken.first), 0)]:
            self.broken.first.append((dump.name, row + 1, _ANOTHER))

    # ---- all others

    def _load(self, dump: Dump) -> Source:
        if dump.format == "parquet":
            return self._insert(self._of_table(dump, f"read_parquet({place_of(dump.path)}, hive_partitioning = false)"))
        if dump.format == "json":
            return self._insert(self._json(dump))
        return self._csv(dump)

    def _insert(self, source: Source) -> Source:
        inside = self.space.inside_sql("i")
        self.connection.execute(
            f"INSERT INTO ids SELECT CASE WHEN {inside} THEN i END FROM (SELECT {source.id} AS i FROM "
            f"{source.relation})"
            if self.space.outside
            else f"INSERT INTO ids SELECT {source.id} FROM {source.relation}"
        )
        return source

    def _csv(self, dump: Dump) -> Source:
        """By the strict rules of its dialect, which read every row or fail; then by what the failure suggests."""
        tried: set[str] = set()
        while True:
            try:
                return self._insert(self._of_csv(dump))
            except duckdb.InvalidInputException as error:
                way = _way_out(str(error), dump)
                if not way or way in tried:
                    raise
                tried.add(way)
                copy = self.folder / f"{way}{self._count()}"
                if way == "backslash":
                    dump.escape = "\\"
                elif way == "even":
                    make_even(dump, copy)
                else:
                    rewrite(dump, "latin-1" if way == "latin" else "utf-8", copy)

    def _of_csv(self, dump: Dump) -> Source:
        count = len(dump.columns)
        is_literal = not dump.quote
        names = ["c0"] if dump.format == "lines" else [f"c{i}" for i in range(count)]
        is_padded = is_literal and dump.format != "lines"  # then a field that is not there is NULL; an empty one is not
        if dump.is_even or is_padded:
            names.append("odd")
        columns = ", ".join(f"{quoted(name)}: 'VARCHAR'" for name in names)
        relation = (
            f"read_csv({place_of(dump.path)}, auto_detect = false, delim = {quoted(dump.delimiter)}, "
            f"quote = {quoted(dump.quote)}, escape = {quoted(dump.escape or dump.quote)}, header = false, "
            f"skip = {dump.skip + dump.has_header}, columns = {{{columns}}}, strict_mode = true, "
            + ("null_padding = true, nullstr = '\x1d', " if is_padded else "")
            + "compression = 'none', hive_partitioning = false, max_line_size = 16777216)"
        )
        place = self._place(dump, dump.columns)
        text = f"c{place}"
        id = self._id_of_text(text)
        if dump.is_even:
            odd = (
                f"CASE WHEN odd = 'more' THEN 'more' WHEN odd = 'fewer' AND coalesce({text}, '') = '' THEN 'fewer' END"
            )
        elif is_padded:
            odd = f"CASE WHEN odd != '' THEN 'more' WHEN {text} IS NULL AND c0 != '\\.' THEN 'fewer' END"
        if "odd" in names:
            id = f"CASE WHEN ({odd}) IS NULL THEN {id} END"
            text = f"coalesce('a row of ' || ({odd}) || ' columns: ' || coalesce({text}, c0, ''), {text})"
        if dump.quote and not dump.is_quote_given and (test := self._swallows(dump, place)):
            id = f"CASE WHEN {test} THEN error('swallowed ' || coalesce({text}, ''))::UBIGINT ELSE {id} END"
        source = Source(dump, relation, id, text, [f"c{i}" for i in range(count) if i != place])
        for option in ("process", "time"):
            if wanted := getattr(self.options, option):
                setattr(source, option, f"c{self._place(dump, dump.columns, wanted)}")
        what = {"lines": "one id per line", "csv": f"CSV with {_name_of(dump.delimiter)}", "tsv": "TSV"}[dump.format]
        if count > 1:
            what += f", column {place + 1}" + (f" '{one_line(dump.columns[place])}'" if dump.columns[place] else "")
        source.described = what + _origin(dump)
        return source

    def _swallows(self, dump: Dump, place: int) -> str:
        """A quote that is closed in a later row swallows the rows between. Its field then begins with the rest of a
        row, and continues with rows, or with the beginning of one."""
        count, other = len(dump.columns), re.escape(dump.delimiter)
        cell = f"[^\\r\\n{other}]*"
        letters = "0-9xXa-fA-F.,_+'\"= " if self.encoding == "decimal" else "0-9A-Za-z'\" "
        letters = letters.replace(dump.delimiter, "")
        id_there = f"[\"'= ]*[0-9][{letters}]*" if self.encoding == "decimal" else f"[{letters}]+"
        tests = []
        for at in range(count):
            if at == place:
                continue

            def row(first: int, end: int) -> str:
                return other.join(id_there if i == place else cell for i in range(first, end))

            whole, begun = row(0, count), row(0, at + 1)
            pattern = f"^[^\\r\\n]*{row(at, count)}[\\r\\n]+({whole}([\\r\\n]|$)|{begun}$)"
            has_lines = f"(contains(c{at}, chr(10)) OR contains(c{at}, chr(13)))"
            tests.append(f"({has_lines} AND regexp_matches(c{at}, {quoted(pattern)}))")
        return " OR ".join(tests)

    def _json(self, dump: Dump) -> Source:
        read = (
            f"read_json({place_of(dump.path)}, sample_size = 20480, maximum_object_size = 16777216, "
            "compression = 'none', hive_partitioning = false"
        )
        fields = self.connection.execute(f"DESCRIBE SELECT * FROM {read})").fetchall()
        names = [row[0] for row in fields]
        if names == ["json"] and not str(fields[0][1]).startswith(("STRUCT", "MAP")):
            if "[]" in str(fields[0][1]):
                raise Unreadable(f"cannot read {dump.name}: its JSON holds lists in a list; make each row an object")
            relation = f"{read}, records = false, columns = {{'json': 'VARCHAR'}})"
            source = Source(dump, relation, self._id_of_text("json"), "json", [], described="JSON" + _origin(dump))
            return self._only_plain(source)
        column = names[self._place(dump, names)]
        kind = str(fields[names.index(column)][1])
        if "[]" in kind or kind.startswith(("STRUCT", "MAP")):
            raise Unreadable(f"cannot read {dump.name}: its column '{column}' holds {kind}, and not an id per row")
        columns = ", ".join(f"{quoted(name)}: 'VARCHAR'" for name in names)
        source = Source(
            dump,
            f"{read}, records = true, columns = {{{columns}}})",
            self._id_of_text(named(column)),
            named(column),
            [named(name) for name in names if name != column],
            described=f"JSON, column '{one_line(column)}'" + _origin(dump),
        )
        self._name_others(source, names)
        return source

    def _only_plain(self, source: Source) -> Source:
        if self.options.column or self.options.process or self.options.time:
            raise UsageError(f"--column, --process and --time name columns, and {source.dump.name} has none")
        return source

    def _of_table(self, dump: Dump, relation: str) -> Source:
        rows = self.connection.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()
        names, kinds = [row[0] for row in rows], [str(row[1]) for row in rows]
        place = self._place(dump, names)
        column, kind = named(names[place]), kinds[place]
        text = f"{column}::VARCHAR"
        has_floats = kind in ("DOUBLE", "FLOAT")
        if kind.endswith("INT") or kind in ("BIGINT", "INTEGER", "UINTEGER", "HUGEINT", "UHUGEINT"):
            id = f"try_cast({column} AS UBIGINT)"
        elif has_floats or kind.startswith("DECIMAL"):
            id = f"CASE WHEN {column} = floor({column}) THEN try_cast({column} AS UBIGINT) END"
        elif kind == "VARCHAR":
            id = self._id_of_text(column)
        elif kind == "BLOB":
            text = f"decode({column})"
            id = self._id_of_text(text)
        else:
            raise Unreadable(
                f"cannot read {dump.name}: its column '{names[place]}' holds {kind}, and no ids of 8 bytes"
            )
        described = f"Parquet, column '{one_line(names[place])}'" + (" of floating-point numbers" if has_floats else "")
        others = [f"{named(name)}::VARCHAR" for i, name in enumerate(names) if i != place]
        source = Source(dump, relation, id, text, others, described=described, has_floats=has_floats)
        self._name_others(source, names)
        return source

    def _name_others(self, source: Source, names: list[str]) -> None:
        for option in ("process", "time"):
            if wanted := getattr(self.options, option):
                setattr(source, option, f"{named(names[self._place(source.dump, names, wanted)])}::VARCHAR")

    def _place(self, dump: Dump, names: list[str], wanted: str | None = None) -> int:
        """Of the column that is wanted: by name, then by number, then the only one or the one called id."""
        is_id = wanted is None
        wanted = self.options.column if is_id else wanted
        has = "it has " + ", ".join(one_line(name) for name in names) if any(names) else f"it has {len(names)} columns"
        if wanted is None:
            found = [i for i, name in enumerate(names) if name.lower() == "id"]
            if len(names) == 1:
                return 0
            if not found:
                text = (
                    f"{dump.name} has several columns and none called id; name the one of the ids with --column; {has}"
                )
                raise UsageError(text)
        else:
            found = [i for i, name in enumerate(names) if name == wanted]
            found = found or [i for i, name in enumerate(names) if name and name.lower() == wanted.lower()]
            if not found and wanted.isascii() and wanted.isdigit():
                if not 1 <= int(wanted) <= len(names):
                    raise UsageError(f"{dump.name} has no column {wanted}; {has}")
                return int(wanted) - 1
            if not found:
                raise UsageError(f"{dump.name} has no column '{wanted}'; {has}")
        if len(found) > 1:
            raise UsageError(f"{dump.name} has {len(found)} columns called {names[found[0]]}: name one by its number")
        if dump.format in ("json", "parquet"):  # DuckDB calls the second of Id and id id_1
            name = names[found[0]]
            for base, number in (other.rpartition("_")[::2] for other in names):
                if base.lower() == name.lower() and base != name and number.isdigit():
                    raise UsageError(f"{dump.name} has columns called {name} and {base}: name one by its number; {has}")
        return found[0]

    # ---- rows that hold no id

    def _look_at_broken(self, source: Source) -> None:
        nothing = ", ".join(quoted(word) for word in _NOTHING)
        rows = self.connection.execute(
            f"SELECT n, t, i IS NULL, count(*) OVER () FROM (SELECT row_number() OVER () AS n, {source.text} AS t, "
            f"{source.id} AS i FROM {source.relation}) WHERE (i IS NULL OR NOT {self.space.inside_sql('i')}) AND "
            f"t IS NOT NULL AND lower(trim(t, {quoted(_SPACES)})) NOT IN ({nothing}) LIMIT {_SHOWN}"
        ).fetchall()
        missing = source.end - source.begin - source.ids
        broken = int(rows[0][3]) if rows else 0
        self.broken.count += broken
        self.broken.empty += missing - broken
        for row, text, is_no_id, _ in rows[: max(_SHOWN - len(self.broken.first), 0)]:
            shown = "'" + one_line(text[:60]) + ("...'" if len(text) > 60 else "'")
            why = self._reason(text.strip(_SPACES)) if is_no_id else _ANOTHER
            self.broken.first.append((source.dump.name, row, f"{shown} {why}"))

    def _reason(self, text: str) -> str:
        for pattern, reason in _REASONS:
            if re.fullmatch(pattern, text):
                return reason
        if self.encoding != "decimal":
            return f"is no id in {self.encoding}"
        return "is no decimal id (--encoding reads others)"


_ANOTHER = "is of another layout: it has bits outside the layout, or another constant"


def _name_of(delimiter: str) -> str:
    names = {",": "commas", ";": "semicolons", "|": "bars", "\t": "tabs", " ": "spaces"}
    return names.get(delimiter, f"'{one_line(delimiter)}'")


def _origin(dump: Dump) -> str:
    return "".join(f", {word}" for word in (dump.compression, dump.charset) if word)


def _way_out(error: str, dump: Dump) -> str:
    """Without what DuckDB advises, its options and the line, which may hold any of these words."""
    error = re.sub(r"(?m)^original line:.*$", "", error.lower().split("\npossible")[0])
    if "unicode" in error or "utf-8" in error:
        return "latin"
    if "state machine" in error or "new line" in error or "newline" in error:
        return "lines"
    if "swallowed" in error:
        return ""
    if "quote" in error and dump.quote:
        if dump.has_mixed_ends:
            return "lines"
        if not dump.escape:
            return "backslash"
        dump.escape = ""  # that was not it
    return "even" if "number of columns" in error or "quote" in error else ""


def _plain(error: duckdb.Error, dump: Dump) -> str:
    if found := re.search("swallowed (.*)", str(error)):
        return (
            f"after id {one_line(found[1])} a quoted field holds lines that look like rows. If fields are not quoted, "
            f"say --quote none; if they are, --quote '{dump.quote}'"
        )
    lines = [line for line in str(error).splitlines() if line.strip()]
    end = next((i for i, line in enumerate(lines) if line.startswith(("Possible", "  file", "LINE "))), len(lines))
    text = re.sub(r"^[A-Z][A-Za-z ]*Error: ", "", " ".join(lines[:end])).replace(dump.path, os.path.basename(dump.name))
    hint = " If fields are not quoted, say --quote none." if "quote" in text and dump.quote else ""
    return one_line(text[:300]).rstrip(". ") + "." + hint


def share_of_floats(connection: duckdb.DuckDBPyConnection, source: Source) -> float:
    """Of the first texts, those with a decimal point or an exponent."""
    if not source.relation or source.has_floats:
        return float(source.has_floats)
    row = connection.execute(
        "SELECT avg(regexp_matches(t, '^[\"'' ]*[0-9]+(\\.[0-9]+|(\\.[0-9]+)?[eE]\\+?[0-9]+)[\"'' ]*$')::INTEGER) "
        f"FROM (SELECT ({source.text})::VARCHAR AS t FROM {source.relation} LIMIT 10000) WHERE t IS NOT NULL"
    ).fetchall()[0]
    return float(row[0] or 0)


__all__ = ["NO_EXTENSIONS", "Broken", "Reader", "Source", "grouped", "place_of", "quoted", "share_of_floats"]
