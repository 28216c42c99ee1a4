"""One audit, from the command line to the exit status."""

from __future__ import annotations

import os
import sys
import time
from argparse import Namespace
from typing import cast

import duckdb

from .. import Error, Generator, Layout, Properties, config_names, open as open_generator
from .duplicates import Duplicates
from .failure import Unreadable, UsageError
from .formats import detect, paths_of
from .options import parse
from .order import Order, pieces, sample_of
from .ordered import in_order
from .picture import picture_of
from .reading import Reader, share_of_floats
from .report import json_of, report_of
from .result import Result, findings
from .shards import Shards
from .space import Space
from .words import grouped, one_line
from .work import Progress, Work
from .workers import Workers

_CLEAN, _FAILURE, _USAGE, _DUPLICATES = 0, 1, 2, 3
_PROGRAM = 256 << 20  # bytes: Python, its libraries, the arrays of a pass
_LEAST = 256 << 20  # bytes that DuckDB needs
_SORTED = 256  # bytes of memory for each key that is sorted at once: itself, its copies and what is found of them
_ALLOWED_AHEAD_MS = 60_000  # of this clock


def _layout(options: Namespace) -> Layout | None:
    if options.config is None:
        return None if options.layout is None else Layout(options.layout, options.epoch)
    name = options.name
    if name is None:
        names = config_names(options.config)
        if len(names) != 1:
            raise UsageError(f"--name: {options.config} has {', '.join(names) or 'no tables'}; say which")
        name = names[0]
    return _configured(options.config, name)


def _configured(config: str, name: str) -> Layout | None:
    """The layout of a generator that is made in memory, so that no store is opened; none for plain numbers."""
    try:
        with open_generator(
            config, name, **cast(Properties, {"store": "memory", "store_create": "true", "worker": "0"})
        ) as generator:
            return _of(generator)
    except Error:
        with open_generator(config, name, **cast(Properties, {"store": "memory", "store_create": "true"})) as generator:
            return _of(generator)


def _of(generator: Generator) -> Layout | None:
    return None if generator.kind == "segment" else generator.layout


def _audit(options: Namespace, work: Work, progress: Progress) -> int:
    begin = time.monotonic()
    space = Space(_layout(options))
    shards = Shards(options, space)
    limit = max(options.memory - _PROGRAM - options.memory // 4, _LEAST)  # DuckDB exceeds its limit
    connection = work.connect(limit)
    progress.at("looking at the dumps")
    paths = paths_of(options.files)
    if options.svg and any(path != "-" and _is_same(path, options.svg) for path in paths):
        raise UsageError(f"--svg is {options.svg}, which is a dump: the picture would replace it")
    dumps = [detect(path, work.folder, i, options) for i, path in enumerate(paths)]
    reader = Reader(connection, space, options, work.folder)
    sources = []
    for dump in dumps:
        progress.at(f"reading {one_line(dump.name)}")
        sources.append(reader.read(dump))
    total = sources[-1].end
    order = Order(space, total, space.tick_at(int(time.time() * 1000) + _ALLOWED_AHEAD_MS), shards)
    for number, source in enumerate(sources):
        progress.at(f"looking at the order of {grouped(source.ids)} ids")
        order.look(connection, source, number)
    if order.ids == 0:
        raise Unreadable(_why_empty(sources[0].dump.name, len(sources), reader))
    progress.at(f"sorting {grouped(order.ids)} ids")
    duplicates = Duplicates(connection, space)
    workers = Workers(space, order) if space.has_time else None
    for keys, copies in in_order(
        (space.keys_of(ids) for ids, _ in pieces(connection, 0, total)),
        sample_of(connection, space),
        order.ids,
        work.folder / "sorted",
        options.memory // _SORTED,
    ):
        duplicates.add(keys, copies)
        if workers:
            workers.add(keys, copies)
    by_node = duplicates.by_node
    rows_of = dict(zip(order.nodes.tolist(), order.counts.tolist(), strict=True)) if duplicates.ids else {}
    least, largest = connection.execute("SELECT min(id), max(id) FROM ids").fetchall()[0]
    different = order.ids - duplicates.extra
    result = Result(space, sources, reader.broken, order, duplicates, least, largest, different)
    if workers:
        workers.end()
        result.workers, result.rates = workers.found, workers.rates
        for worker in result.workers:
            worker.duplicated = by_node.get(worker.node, (0, 0))[0]
    if duplicates.ids:
        progress.at("looking for causes")
        duplicates.find_incidents(total, lambda node: rows_of.get(node, 0) - by_node.get(node, (0, 0))[1])
        duplicates.find_copies(sources)
        ids = [order.roundings[i].found(different, share_of_floats(connection, s)) for i, s in enumerate(sources)]
        result.findings = findings(result, ids)
    if counts := shards.result():
        result.shards = (shards.title, *counts)
    result.seconds = time.monotonic() - begin
    progress.end()
    if options.svg:
        with open(options.svg, "w", encoding="utf-8") as file:
            file.write(picture_of(result))
    _print(json_of(result) if options.json else report_of(result))
    if duplicates.ids:
        many = "id" if duplicates.ids == 1 else "ids"
        _say(f"{duplicates.ids} {many} came more than once")
        return _DUPLICATES
    if reader.broken.count:
        many = "row" if reader.broken.count == 1 else "rows"
        _say(f"the ids of {reader.broken.count} {many} could not be read, so it is not known whether one came twice")
        return _FAILURE
    return _CLEAN


def _is_same(path: str, other: str) -> bool:
    return os.path.exists(path) and os.path.exists(other) and os.path.samefile(path, other)


def _why_empty(name: str, dumps: int, reader: Reader) -> str:
    why = f"there is no id in {name}" + (" and the other dumps" if dumps > 1 else "")
    if reader.broken.first:
        _, row, reason = reader.broken.first[0]
        why += f": {grouped(reader.broken.count)} rows hold none. Row {grouped(row)}: {reason}"
    return why


def _print(text: str) -> None:
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python writes once more when it ends
        raise Unreadable(f"cannot write to standard output: {error.strerror}") from None


def _say(message: str) -> None:
    print(f"idgen: error: {one_line(message)}", file=sys.stderr)


def main(words: list[str] | None = None) -> int:
    progress = Progress()
    try:
        options = parse(words)
        with Work(options.tmp) as work:
            return _audit(options, work, progress)
    except UsageError as error:
        progress.end()
        _say(str(error))
        print("See `idgen audit --help`.", file=sys.stderr)
        return _USAGE
    except BrokenPipeError:  # the reader of our pipe is gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + 13
    except Error as error:
        progress.end()
        _say(f"{error.name}: {error}")
    except Unreadable as error:
        progress.end()
        _say(str(error))
    except (duckdb.Error, OSError, MemoryError) as error:
        progress.end()
        _say(str(error) or type(error).__name__)
    return _FAILURE
