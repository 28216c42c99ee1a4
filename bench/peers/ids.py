"""UUIDs and ULIDs of idgen and of other libraries, in one process: peers/ids.py ROUNDS. Prints a JSON object.

CPU time of the calling thread, in ns an id; the subjects take turns. Each is a call without arguments, so the floor is
a call of a built-in type that makes an empty object.
"""

from __future__ import annotations

import itertools
import json
import sys
import time
import uuid
from collections import deque
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import idgen
import ulid
import uuid_utils
import uuid_utils.compat

CALLS = 20_000

SUBJECTS: dict[str, Callable[[], Any]] = {
    "object()": object,
    "idgen uuid4": idgen.uuid4,
    "idgen uuid7": idgen.uuid7,
    "idgen ulid": idgen.ulid,
    "idgen object_id": idgen.object_id,
    "uuid uuid4": uuid.uuid4,
    # Those of uuid_utils itself are of its own type; compat makes uuid.UUID, as idgen does.
    "uuid-utils uuid4": uuid_utils.uuid4,
    "uuid-utils uuid7": uuid_utils.uuid7,
    "uuid-utils, compat uuid4": uuid_utils.compat.uuid4,
    "uuid-utils, compat uuid7": uuid_utils.compat.uuid7,
    "python-ulid ulid": ulid.ULID,
}
if hasattr(uuid, "uuid7"):  # from Python 3.14 on
    SUBJECTS["uuid uuid7"] = uuid.uuid7


def cost(call: Callable[[], Any]) -> float:
    """Without a loop in Python: deque takes what map has called."""
    calls = itertools.repeat((), CALLS)
    begun = time.thread_time_ns()
    deque(itertools.starmap(call, calls), maxlen=0)
    return (time.thread_time_ns() - begun) / CALLS


def main() -> None:
    rounds = int(sys.argv[1])
    ns: dict[str, list[float]] = {name: [] for name in SUBJECTS}
    for _ in range(rounds + 1):
        for name, call in SUBJECTS.items():
            ns[name].append(cost(call))
    versions = {name: version(name) for name in ("uuid-utils", "python-ulid")}
    print(json.dumps({"ns": {name: all_of[1:] for name, all_of in ns.items()}, "versions": versions}))


main()
