"""Ids of idgen and of other libraries, in one process: peers/ids.py ROUNDS. Prints a JSON object.

CPU time of the calling thread, in ns an id; the subjects take turns. Each is a call without arguments, so the floor of
UUIDs and ULIDs is a call of a built-in type that makes an empty object, and that of numbers the next one of a built-in
counter. A batch is 1024 ids, in a list.
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
import snowflake
import sonyflake_turbo
import ulid
import uuid_utils
import uuid_utils.compat

CALLS = 20_000
BATCH = 1024
ON_MEMORY: dict[str, Any] = {"store": "memory:peers", "store_create": True}
ORDERS = idgen.Generator(kind="segment", tag="peers", segment_step=1_000_000, segment_runway="0ms", **ON_MEMORY)
EVENTS = idgen.Generator(worker=1, layout="time:40ms worker:1 sequence:22", **ON_MEMORY)
# 256 ids in 10 ms are its format, so it has as many machine ids as it takes to never wait.
TURBO = sonyflake_turbo.SonyFlake(*range(512), start_time=1_735_689_600)
TWITTER = snowflake.SnowflakeGenerator(1)  # None once the 4096 ids of a millisecond are used up, which it never sees

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


NUMBERS: dict[str, Callable[[], Any]] = {
    "counter 1 itertools.count": itertools.count().__next__,
    "counter 1 idgen": ORDERS.next,
    "snowflake 1 idgen": EVENTS.next,
    "snowflake 1 sonyflake-turbo": TURBO.__next__,
    "snowflake 1 snowflake-id": TWITTER.__next__,
}
BATCHES: dict[str, Callable[[], Any]] = {
    "batch 1 idgen, counter": lambda: ORDERS.next_batch(BATCH),
    "batch 1 idgen, snowflake": lambda: EVENTS.next_batch(BATCH),
    "batch 1 sonyflake-turbo": lambda: TURBO(BATCH),
}


def cost(call: Callable[[], Any], times: int = CALLS) -> float:
    """Without a loop in Python: deque takes what map has called."""
    calls = itertools.repeat((), times)
    begun = time.thread_time_ns()
    deque(itertools.starmap(call, calls), maxlen=0)
    return (time.thread_time_ns() - begun) / times


def main() -> None:
    rounds = int(sys.argv[1])
    ns: dict[str, list[float]] = {name: [] for name in (*SUBJECTS, *NUMBERS, *BATCHES)}
    for _ in range(rounds + 1):
        for name, call in (*SUBJECTS.items(), *NUMBERS.items()):
            ns[name].append(cost(call))
        for name, call in BATCHES.items():
            ns[name].append(cost(call, CALLS // BATCH) / BATCH)
    versions = {name: version(name) for name in ("uuid-utils", "python-ulid", "sonyflake-turbo", "snowflake-id")}
    print(json.dumps({"ns": {name: all_of[1:] for name, all_of in ns.items()}, "versions": versions}))


main()
