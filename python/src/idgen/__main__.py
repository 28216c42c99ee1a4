"""``python -m idgen``: the commands next, decode, layout and properties, where the ``idgen`` command is not installed.

Options, JSON, error lines and exit status are those of the ``idgen`` command.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from typing import cast

from . import (
    Error,
    Generator,
    Layout,
    LayoutInfo,
    Parts,
    Properties,
    TextError,
    __version__,
    config_names,
    format_id,
    open,
    parse_id,
    properties,
)

_EXIT_FAILURE = 1
_EXIT_USAGE = 2
_EXIT_TRY_AGAIN = 75  # EX_TEMPFAIL: the same command can succeed later if nothing is changed
_ENCODINGS = ("decimal", "hex", "crockford", "base58", "base62")
_SHORTCUTS = ("kind", "layout", "epoch", "worker", "store", "namespace", "tag")
_LARGEST_JSON_NUMBER = 2**53 - 1
_BATCH = 4096

_EPILOG = """\
exit status: 0 done, 1 failed, 2 wrong usage, 75 failed but worth a retry

examples:
  python -m idgen next --store memory --worker 1 -n 3
  python -m idgen next --config idgen.toml --name orders --format base62
  python -m idgen decode --layout twitter 1541815603606036480 --json
  python -m idgen layout 'time:41ms worker:8 sequence:14'
"""


class _UsageError(Exception):
    pass


def _rfc3339(unix_ms: int) -> str | None:
    """UTC with milliseconds; None beyond the year 9999, which RFC 3339 cannot write."""
    try:
        moment = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(milliseconds=unix_ms)
    except OverflowError:
        return None
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _number(value: int) -> int | str:
    return value if abs(value) <= _LARGEST_JSON_NUMBER else str(value)


def _title(layout: Layout) -> str:
    return layout.preset or layout.text


def _settings(arguments: argparse.Namespace) -> dict[str, str]:
    """Later settings win: options override the file, --set overrides options."""
    settings = {key: value for key in _SHORTCUTS if (value := getattr(arguments, key)) is not None}
    for assignment in arguments.set:
        key, equals, value = assignment.partition("=")
        if not equals:
            raise _UsageError(f"--set {assignment}: write KEY=VALUE")
        settings[key] = value
    return settings


def _make_generator(arguments: argparse.Namespace) -> Generator:
    settings = _settings(arguments)
    if arguments.config is None:
        if arguments.name is not None:
            settings.setdefault("name", arguments.name)
        return Generator(**cast(Properties, settings))
    name = arguments.name
    if name is None:
        names = config_names(arguments.config)
        if len(names) != 1:
            raise _UsageError(f"--name: {arguments.config} has {', '.join(names) or 'no tables'}; say which")
        name = names[0]
    return open(arguments.config, name, **cast(Properties, settings))


def _next(arguments: argparse.Namespace) -> None:
    if arguments.count < 0:
        raise _UsageError("-n: give a number from 0 on")
    with _make_generator(arguments) as generator:
        left = arguments.count
        while left > 0:
            ids = generator.next_batch(min(left, _BATCH))
            left -= len(ids)
            print("\n".join(format_id(id, arguments.format) for id in ids))
        sys.stdout.flush()


def _read_ids(texts: Sequence[str]) -> list[int]:
    ids = []
    for text in texts:
        words = sys.stdin.read().split() if text == "-" else [text]
        for word in words:
            if word[:2] in ("0x", "0X"):
                try:
                    ids.append(parse_id(word[2:].rjust(16, "0"), "hex"))
                except TextError as error:
                    message = f"'{word}': {error}"
                    raise TextError(message, error.status, error.name) from None
            else:
                ids.append(parse_id(word, "decimal"))
    return ids


def _decoded_json(parts: Parts, layout: Layout) -> str:
    members: dict[str, int | str | None] = {"id": str(parts.id), "layout": _title(layout)}
    for field in layout.fields:
        if field.name == "time":
            members["time"] = _rfc3339(parts.unix_ms)
            members["unix_ms"] = _number(parts.unix_ms)
        else:
            members[field.name] = _number(parts.fields[field.name])
    return json.dumps(members)


def _decoded_lines(parts: Parts, layout: Layout) -> str:
    rows = [("id", str(parts.id)), ("layout", _title(layout))]
    for field in layout.fields:
        if field.name == "time":
            rows += [("time", _rfc3339(parts.unix_ms) or "after the year 9999"), ("unix_ms", str(parts.unix_ms))]
        else:
            rows.append((field.name, str(parts.fields[field.name])))
    return "".join(f"{name:<12}{value}\n" for name, value in rows)


def _decode(arguments: argparse.Namespace) -> None:
    layout = Layout(arguments.layout, arguments.epoch)
    first = True
    for id in _read_ids(arguments.ids):
        parts = layout.decode(id)
        if arguments.json:
            print(_decoded_json(parts, layout))
        else:
            print(("" if first else "\n") + _decoded_lines(parts, layout), end="")
        first = False


def _layout_members(layout: Layout) -> dict[str, object]:
    info: LayoutInfo = layout.info()
    members: dict[str, object] = {
        "layout": _title(layout),
        "text": info.text,
        "bits": info.bits,
        "unsigned": info.is_unsigned,
        "js_safe": info.is_js_safe,
    }
    if info.tick_ms:
        last = info.last_unix_ms if info.last_unix_ms is not None else 2**63 - 1
        members |= {
            "epoch": _rfc3339(info.epoch_unix_ms),
            "epoch_unix_ms": _number(info.epoch_unix_ms),
            "tick_ms": _number(info.tick_ms),
            "first": _rfc3339(info.first_unix_ms),
            "last": _rfc3339(last),
            "last_unix_ms": _number(last),
            "years_left": info.years_left,
        }
    members["ids_per_tick"] = _number(info.ids_per_tick)
    if info.tick_ms:
        members["ids_per_second"] = info.ids_per_second
    members["workers"] = _number(info.workers)
    return members


def _layout(arguments: argparse.Namespace) -> None:
    if arguments.layout is None and arguments.epoch is not None:
        raise _UsageError("--epoch needs a LAYOUT to go with")
    texts = Layout.presets() if arguments.layout is None else (arguments.layout,)
    for number, text in enumerate(texts):
        members = _layout_members(Layout(text, arguments.epoch))
        if arguments.json:
            print(json.dumps(members))
        else:
            lines = "".join(f"{name:<16}{_plain(value)}\n" for name, value in members.items())
            print(("\n" if number else "") + lines, end="")


def _plain(value: object) -> str:
    if value is None:
        return "after the year 9999"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.1f}" if isinstance(value, float) else str(value)


def _properties(arguments: argparse.Namespace) -> None:
    for row in properties():
        if arguments.json:
            print(json.dumps(row._asdict()))
        else:
            allowed = f": {row.range}" if row.range else ""
            default = f", default {row.default}" if row.default else ""
            print(f"{row.name:<18} {row.type}{allowed}{default}\n    {row.help}")


def _parser() -> argparse.ArgumentParser:
    style = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="idgen", description="Unique, ordered ids from the command line.", epilog=_EPILOG, formatter_class=style
    )
    parser.add_argument("--version", action="version", version=f"idgen {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    by_name = {row.name: row for row in properties()}

    command = commands.add_parser("next", help="draw ids, one per line", epilog=_EPILOG, formatter_class=style)
    command.add_argument("-n", "--count", type=int, default=1, metavar="N", help="how many ids (default: 1)")
    command.add_argument("--format", choices=_ENCODINGS, default="decimal", help="all but decimal have a fixed width")
    command.add_argument("--config", metavar="FILE", help="TOML file with a table for each generator")
    command.add_argument("--name", metavar="NAME", help="the table of FILE to use; not needed if it has only one")
    for key in _SHORTCUTS:
        command.add_argument(f"--{key}", metavar=key.upper(), help=by_name[key].help.replace("%", "%%"))
    command.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="any property, as in the file; may be repeated"
    )
    command.set_defaults(run=_next)

    command = commands.add_parser("decode", help="split ids into their fields", epilog=_EPILOG, formatter_class=style)
    command.add_argument("ids", nargs="+", metavar="ID", help="decimal or 0x hexadecimal; - reads standard input")
    command.add_argument("--layout", default="default", help="a preset or a layout in full (default: default)")
    command.add_argument("--epoch", metavar="TIME", help="what time 0 means: RFC 3339 or Unix ms")
    command.add_argument("--json", action="store_true", help="one JSON object per line")
    command.set_defaults(run=_decode)

    command = commands.add_parser("layout", help="say what a layout can do", epilog=_EPILOG, formatter_class=style)
    command.add_argument(
        "layout", nargs="?", metavar="LAYOUT", help="a preset or a layout in full; default: all presets"
    )
    command.add_argument("--epoch", metavar="TIME", help="what time 0 means: RFC 3339 or Unix ms")
    command.add_argument("--json", action="store_true", help="one JSON object per line")
    command.set_defaults(run=_layout)

    command = commands.add_parser("properties", help="list the properties", epilog=_EPILOG, formatter_class=style)
    command.add_argument("--json", action="store_true", help="one JSON object per line")
    command.set_defaults(run=_properties)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit status; errors go to stderr, one line each."""
    chosen = _parser().parse_args(arguments)
    try:
        chosen.run(chosen)
        sys.stdout.flush()
    except Error as error:
        retry = f" (a retry can succeed in {error.retry_after * 1000:.0f} ms)" if error.retry_after else ""
        print(f"idgen: error: {error.name}: {error}{retry}", file=sys.stderr)
        return _EXIT_TRY_AGAIN if error.retryable else _EXIT_FAILURE
    except _UsageError as error:
        print(f"idgen: error: {error}", file=sys.stderr)
        return _EXIT_USAGE
    except BrokenPipeError:  # the reader of our pipe is gone (`| head`): nothing to report
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + 13
    except KeyboardInterrupt:
        return 128 + 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
