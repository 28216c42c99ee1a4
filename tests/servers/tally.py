"""What the fault tests have drawn: store x fault x runs x ids x duplicates, shown at the end of a run."""

import re
from dataclasses import dataclass

FILES = [
    *("test_faults", "test_full_disk", "test_fork", "test_redis_forgets", "test_languages"),
    *("test_workers", "test_host_stores", "test_buffer", "test_schemas", "test_originals"),
]


@dataclass
class Row:
    runs: int = 0
    ids: int = 0
    duplicates: int = 0


rows = {}  # (store, fault)
current = None


def begin(node):
    """A test begins: what is added from now on belongs to it."""
    global current
    current = None
    if node.module.__name__ in FILES:
        store = node.name.partition("[")[2].rstrip("]") or "one"
        fault = re.sub("^test_", "", node.originalname).replace("_", " ")
        current = rows.setdefault((store, fault), Row())
        current.runs += 1


def add(ids, duplicates):
    if current:
        current.ids += ids
        current.duplicates += duplicates


def table():
    """Lines of Markdown; nothing if nothing was drawn."""
    drawn = {key: row for key, row in sorted(rows.items()) if row.ids}
    if not drawn:
        return []
    lines = ["| store | fault | runs | ids | duplicates |", "|---|---|--:|--:|--:|"]
    lines += [f"| {key[0]} | {key[1]} | {row.runs} | {row.ids} | {row.duplicates} |" for key, row in drawn.items()]
    total = [sum(getattr(row, name) for row in drawn.values()) for name in ("runs", "ids", "duplicates")]
    return [*lines, f"| all | | {total[0]} | {total[1]} | {total[2]} |"]
