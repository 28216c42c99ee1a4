"""The keywords of a configuration with their types: what editors complete and type checkers check.

Made by bindings/python/properties.py from the core's table of properties. Do not edit.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Literal, SupportsIndex, TypedDict

from ._store import Store, WorkerStore
from .sql import SqlStore


class Properties(TypedDict, total=False):
    """What ``Generator`` and the functions that take a configuration accept. None leaves the default.

    A program that makes its settings itself can say that they are checked: ``settings: idgen.Properties = {...}``.
    """

    name: str | None
    """name (1 to 128 characters; default idgen). Name of the generator in messages. Loading a configuration file sets
    it to the table's name."""

    kind: Literal["snowflake", "segment", "business", "serial"] | None
    """kind (snowflake | segment | business | serial; default snowflake). snowflake: an id holds time, worker and
    sequence, and is drawn from a reserved window of the worker's time. segment: consecutive numbers, drawn from ranges
    of a tag's counter in the store. business: such a number, and the gene of the id's owner, which says in which shard
    it lives. serial: a number that starts over each hour, day, month or year of the date in its pattern, for people;
    call next_text."""

    pattern: str | None
    """pattern (literals, a date, one number, a check: ORD-{base62:11}-{check}). How next_text writes ids
    (docs/text.md). Empty = in decimal."""

    zone: str | None
    """zone (UTC, an offset such as +08:00, or a name such as Europe/Berlin; default UTC). Whose clocks show the date
    that is in the pattern. Names need the module libidgen_zone.so; the variable TZ is not looked at."""

    namespace: str | None
    """namespace (1 to 128 characters; default default). The set of ids that must not collide. All snowflake generators
    of a namespace share one layout and epoch; the store refuses any other."""

    store: str | Store | WorkerStore | SqlStore | None
    """store (sqlite:PATH | mysql://... | postgres://... | redis://... | etcd://... | zookeeper://... | buffer | memory;
    default sqlite:idgen.db). Where reservations are kept; docs/stores.md explains each URL. A relative path starts from
    `directory`. memory protects within this process only: not across a restart, and not in a forked child. buffer:
    Redis in front of a database, see buffer.redis."""

    buffer_redis: str | None
    """buffer.redis (redis://...). With store = buffer: the Redis that hands out segments which the database granted
    ahead of need. It may forget everything at any time: the numbers it held are lost, and none is issued twice."""

    buffer_database: str | None
    """buffer.database (mysql://... | postgres://... | etcd://... | zookeeper://... | sqlite:PATH). With store = buffer:
    the store that holds the tags and grants all numbers."""

    buffer_runway: timedelta | SupportsIndex | str | None
    """buffer.runway (0ms to 7d; default 30m). How long the numbers in Redis should last while the database is down, at
    the rate at which all processes draw. Redis holds at least four segments."""

    buffer_stock_max: SupportsIndex | str | None
    """buffer.stock_max (1 to 1000000000000; default 10000000). The most numbers of a tag that Redis holds for
    buffer.runway: what is lost each time it forgets. The default lasts for half an hour at 5500 ids per second."""

    buffer_errors: SupportsIndex | str | None
    """buffer.errors (1 to 1000; default 3). After this many failures in a row, Redis or the database is left alone for
    buffer.pause."""

    buffer_pause: timedelta | SupportsIndex | str | None
    """buffer.pause (1ms to 1h; default 5s). How long a failing side is left alone. Then one request tries it again; if
    that fails, the pause starts over."""

    buffer_timeout: timedelta | SupportsIndex | str | None
    """buffer.timeout (1ms to 10m; default 1s). How long one Redis operation may take before the database is asked
    instead. For the database itself, store_timeout applies."""

    module_path: str | os.PathLike[str] | None
    """module.path (a folder). Folder of the modules libidgen_NAME.so, which all stores but sqlite and memory need, and
    hidden ids. Where those of mysql and postgres are absent, a driver of the program is used. Empty = idgen/modules
    next to this library; with a jar or a Go program there is none. A module is loaded only if no user but root, this
    user and the owner of this library can write it, its folder or the folders above."""

    store_create: bool | str | None
    """store_create (true | false; default false). Create the store if it is missing, and a missing tag at 0. Off by
    default: a store that was lost and silently created again would issue old numbers. If a SQLite store's lock file
    PATH-lock exists without the database, the store is lost, not new: that is STORE_MISSING, even with true."""

    store_timeout: timedelta | SupportsIndex | str | None
    """store_timeout (1ms to 10m; default 5s). How long one store operation may take: waiting for another process's
    lock, connecting, reading, writing."""

    directory: str | os.PathLike[str] | None
    """directory (a folder). Where relative paths start; empty = the working directory. Loading a configuration file
    sets it to the file's folder."""

    layout: str | None
    """layout (a preset or a layout in full). Bit fields of an id: a preset such as default, twitter, js53 or sonyflake,
    or "time:41ms worker:10 sequence:12"; with kind = business "gene:16 version:5 segment:42" or another such split.
    fixed:3=5 is a constant of all ids. Empty = default, or business64. See docs/layouts.md."""

    epoch: datetime | SupportsIndex | str | None
    """epoch (RFC 3339 or Unix ms). What time 0 of the layout means. Empty = the preset's epoch, else
    2025-01-01T00:00:00Z."""

    lifetime_min: timedelta | SupportsIndex | str | None
    """lifetime_min (0ms to 1000y; default 1y). Refuse a layout whose time field runs out sooner than this. 0 allows any
    layout whose time has not run out yet."""

    datacenter: SupportsIndex | str | None
    """datacenter (auto, or 0 to what the layout's field holds). Number of the datacenter, for layouts with that
    field."""

    worker: SupportsIndex | str | None
    """worker (auto, or 0 to what the layout's field holds). Number of this generator among all that run side by side in
    the namespace. Required if the layout has the field. auto: leased from the store, so that no two processes on it
    have the same number and none has to be configured. A number: its window in the store guards it, and a second live
    owner is refused. Another field of the node (datacenter, process, shard) can be auto in its place."""

    process: SupportsIndex | str | None
    """process (auto, or 0 to what the layout's field holds). Number of the process, for layouts with that field
    (discord)."""

    shard: SupportsIndex | str | None
    """shard (auto, or 0 to what the layout's field holds). Number of the shard, for layouts with that field
    (instagram)."""

    worker_source: Literal["store", "ordinal", "env", "slot", "uid_generator", "cosid", "zookeeper"] | None
    """worker_source (store | ordinal | env | slot | uid_generator | cosid | zookeeper; default store). Where the number
    comes from, of the field that is auto. store: leased by the rows of the store. ordinal: of a StatefulSet's pod
    NAME-N, from the variable POD_NAME or worker_env, or from the host's name if `store` is a server. env: from the
    variable worker_env. slot: the lowest that no running process of this host has locked in worker_slots.
    uid_generator, cosid, zookeeper: by the rows of Baidu's uid-generator, CosId or Leaf (in ZooKeeper), alongside whose
    processes idgen can then run; see worker_url. Whatever it is, its window in the store guards it."""

    worker_url: str | None
    """worker_url (mysql://... | postgres://... | redis://... | zookeeper://...). The server with the rows of
    uid_generator (a database), cosid (a database or Redis) or zookeeper. Empty = `store`. Windows stay in `store`,
    which may be a local file."""

    worker_address: str | None
    """worker_address (HOST:PORT, 1 to 80 characters). The name of this process in those rows, before and after a
    restart. Required for zookeeper, where each address has its number for good (Leaf's IP:PORT). Empty = the host's
    name and the process id, which is new at each start."""

    worker_cache: str | None
    """worker_cache (a file). With worker_source = zookeeper: where the number is kept, so that this process can start
    while ZooKeeper is down. It may be Leaf's workerID.properties. A relative path starts from `directory`. Empty =
    nowhere."""

    worker_guard: timedelta | SupportsIndex | str | None
    """worker_guard (0ms to 1d; default 5m). With worker_source = cosid: how long after its last report a process counts
    as dead and its number may be taken; as CosId's cosid.machine.guarder.safe-guard-duration. At least twice window and
    max_ahead together. 0ms: never, as with CosId's guarder disabled."""

    worker_clock_limit: timedelta | SupportsIndex | str | None
    """worker_clock_limit (1ms to 1d; default 10s). With worker_source = zookeeper: how far the clock may be off the
    mean of the other processes' clocks when this one starts, and ahead of ZooKeeper's whenever it reports."""

    worker_env: str | None
    """worker_env (name of an environment variable). The variable that holds the number, for worker_source = env, or
    ordinal where the pod's index is given by a variable (the label apps.kubernetes.io/pod-index)."""

    worker_slots: str | os.PathLike[str] | None
    """worker_slots (a folder). Where the slots are locked, for worker_source = slot: an existing folder that all
    processes of this host can write, on a local disk or in memory. A relative path starts from `directory`."""

    worker_recycle: bool | str | None
    """worker_recycle (true | false; default true). With worker_source = store: lease numbers again that others had
    before, the least recently used first. Their windows keep the ids apart. false: each number is used once, for fields
    that are wide enough."""

    on_worker_lost: Literal["lease", "fail"] | None
    """on_worker_lost (lease | fail; default lease). What a generator with a leased worker does when another process has
    it: after a pause of worker_lease or longer. What it has reserved stays its own to the end. Then lease: it continues
    with another number. fail: calls return WORKER_BUSY."""

    worker_lease: timedelta | SupportsIndex | str | None
    """worker_lease (1s to 1h; default 15s). How long a worker stays its owner's after the owner's last renewal, where
    workers are leased (mysql, postgres, etcd). A living owner renews in the background, at least three times in that
    time. Uniqueness does not depend on it: it decides how soon another process can take the number of a dead process.
    With zookeeper the session's timeout decides that, which is store_timeout."""

    worker_wait: timedelta | SupportsIndex | str | None
    """worker_wait (0ms to 1h). How long opening a generator waits for a worker that another process holds: in a rolling
    restart until that one has stopped, after a crash until its lease has ended. Empty = worker_lease and one second
    where workers are leased, 0ms with sqlite, where a lock proves that the owner lives."""

    sequence_start: Literal["carry", "zero", "random"] | None
    """sequence_start (carry | zero | random; default carry). Where the sequence of a new tick starts. carry: continue
    from the last low bits (at most 10), so that id % 2^k stays even at low rates. zero: at 0. random: at a random
    number below the same bound."""

    on_overflow: Literal["wait", "borrow"] | None
    """on_overflow (wait | borrow; default wait). What to do when the sequence of the current tick is used up. wait:
    wait for the next tick. borrow: use the following ticks, at most max_ahead ahead of the clock and never past what is
    reserved."""

    on_clock_back: Literal["wait", "continue", "fail"] | None
    """on_clock_back (wait | continue | fail; default wait). What to do when the clock is behind the ids already issued.
    wait: wait until it has caught up, or fail at once if that takes longer than wait_max. continue: count on from the
    last id. fail: fail at once. Uniqueness does not depend on this."""

    window: timedelta | SupportsIndex | str | None
    """window (100ms to 1h; default 10s). How far ahead a worker's time is reserved. The next window is requested
    halfway through this one, so a generator in steady use does not notice a store outage of up to half a window; one
    that was idle for longer waits for the store once. After a crash, ids start up to this far ahead of the clock."""

    max_ahead: timedelta | SupportsIndex | str | None
    """max_ahead (0ms to 1d; default 20s). How far the time in an id may be ahead of the clock after a crash or by
    borrowing. Beyond that, on_clock_back decides. At least `window`."""

    max_behind: timedelta | SupportsIndex | str | None
    """max_behind (0ms to 1s; default 10ms). How long ago the tick of an id may have ended, for kind = snowflake, where
    all ids of a tick are used up: a call that waited for the next tick, and whose sleep ended ticks too late, uses
    their ids first instead of losing them. 0ms, or less than a tick: it continues with the current tick. Without effect
    with on_overflow = borrow or order = relaxed, or if ids have an owner."""

    tag: str | None
    """tag (1 to 128 characters). Name of the counter in the store, for kind = segment. Empty = the generator's name."""

    segment_schema: Literal["idgen", "leaf", "tinyid", "cosid", "key_producer", "incr"] | None
    """segment.schema (idgen | leaf | tinyid | cosid | key_producer | incr; default idgen). Which table the numbers come
    from, for kind = segment. idgen: its own. leaf, tinyid, cosid: the table of that generator (cosid also: its Redis
    keys), by its arithmetic, so that both can draw from one row at the same time (docs/stores.md). For kind = serial
    also key_producer, its table, and incr, Redis keys that other programs raise by INCR, one for each period."""

    segment_step: SupportsIndex | str | None
    """segment.step (1 to 1000000000; default 10000). How many numbers to reserve at once, unless the tag's row in the
    store says otherwise (`idgen segment set-step`) or segment.runway needs more."""

    segment_prefetch: float | str | None
    """segment.prefetch (0.01 to 1; default 0.1). The share of a segment after which the next one is requested."""

    segment_runway: timedelta | SupportsIndex | str | None
    """segment.runway (0ms to 1d; default 10s). How long the reserved numbers should last while the store is down, at
    the rate at which they are drawn. Segments grow and shrink with the rate, at most by a factor of two each time, and
    never below segment.step. 0: every segment is one step."""

    segment_stock_max: SupportsIndex | str | None
    """segment.stock_max (2 to 1000000000000; default 10000000). The most numbers to hold for segment.runway: what a
    crash can lose. Two steps are always allowed."""

    segment_max_age: timedelta | SupportsIndex | str | None
    """segment.max_age (0ms to 365d; default 0ms). Numbers reserved longer ago than this are no longer issued. They are
    given back to the store if no process has drawn since; otherwise they are lost. So a process that rarely draws does
    not issue numbers far below those of others. 0: no limit. With order = relaxed, the blocks of threads (at most 1024
    numbers) do not age."""

    segment_grant_log: SupportsIndex | str | None
    """segment.grant_log (0 to 1000000; default 0). How many of a tag's latest grants the store remembers: which
    numbers, to whom, when. `idgen explain` shows which of them an id is from. For sqlite, mysql and postgres; servers
    need the table idgen_grant (docs/stores.md). 0: none."""

    witness: str | os.PathLike[str] | None
    """witness (a folder). Where this host remembers the highest numbers that it was granted of each tag, one file for
    each. A store that grants less was restored from a backup: STORE_REGRESSED, even for a process that starts after
    that. All processes of the host share it; it must outlast them. A relative path starts from `directory`. Empty =
    nowhere."""

    segment_stride: SupportsIndex | str | None
    """segment.stride (1 to 1000000; default 1). Issue only ids with id % segment.stride == segment.offset, for several
    masters that make ids side by side, each from a separate store. With the schema tinyid the row decides: leave both
    alone."""

    segment_offset: SupportsIndex | str | None
    """segment.offset (0 to segment.stride - 1; default 0). The remainder of ids by segment.stride."""

    gene: Literal["auto", "hash", "mod"] | None
    """gene (auto | hash | mod; default auto). How the gene comes from an id's owner. hash: the low bits of XXH64 ^
    MurmurHash64A of its bytes; an integer is hashed as its decimal text. mod: the low bits of the owner, an integer.
    auto: mod where time is above and the gene is the lowest field (order), else hash."""

    counters: SupportsIndex | str | None
    """counters (1 to 4096; default 16). How many counters the virtual nodes (values of the gene) of kind = business
    share: each is for as many neighbouring nodes, so that threads with different owners do not compete for one cache
    line. Ids of one node rise. Each holds a block of at most 1024 numbers, which closing or a crash loses. Can be
    changed at any time."""

    on_full: Literal["fail", "widen"] | None
    """on_full (fail | widen; default fail). What follows when the segment field of 8-byte ids (kind = business) is used
    up. fail: EXHAUSTED. widen: ids of 16 bytes with the layout business128, for calls that can return them; their
    length tells them apart."""

    order: Literal["strict", "relaxed"] | None
    """order (strict | relaxed; default strict). strict: every id of this generator is above all ids issued before it.
    relaxed: each thread draws from a block of its own, so that threads do not compete for one cache line; ids are
    unique, but ordered only within a thread. After the clock was set back, a thread first uses up its block (at most
    1024 ids), whatever on_clock_back says."""

    on_fork: Literal["reacquire", "error"] | None
    """on_fork (reacquire | error; default reacquire). What a call in a forked child does. reacquire: take a separate
    reservation where that is possible (segments on a durable store, workers that are auto). error: fail with FORKED. A
    fixed worker always gives FORKED, because the parent owns it."""

    cipher_mode: Literal["ff1", "chacha20", "aes-ctr"] | None
    """cipher.mode (ff1 | chacha20 | aes-ctr; default ff1). How hidden ids are made (docs/hidden-ids.md). ff1:
    format-preserving encryption, NIST SP 800-38G. chacha20 and aes-ctr: XOR with a mask that is the same for all ids of
    a key version; one id that is known in both forms reveals it."""

    cipher_key: str | None
    """cipher.key (file:PATH | env:VARIABLE). Where the keys of hidden ids are: in a file that only this user can read
    (mode 0400 or 0600; `idgen key new` makes one), or in an environment variable with the same lines. A relative path
    starts from `directory`."""

    cipher_version: SupportsIndex | str | None
    """cipher.version (1 to 16777215, and what the layout's version field holds). The key version that hides ids; all
    versions reveal. Empty = the highest that is not retired. Set it while a new version is handed to all processes, and
    raise it when all have it."""

    wait_max: timedelta | SupportsIndex | str | None
    """wait_max (0ms to 1h; default 5s). How long one call may wait for the clock or the store before it returns a
    retryable error."""

    clock: Callable[[], int] | None
    """For tests: returns ns since 1970-01-01 UTC. If it has a method sleep_ns(ns), waiting uses that."""

    log: Callable[[int, str], object] | None
    """Is told what an operator wants to know, with the levels of logging: ``logging.getLogger("idgen").log``."""

    keys: Callable[[], Iterable[tuple[int, bytes] | tuple[int, bytes, bool]]] | None
    """In place of cipher_key: returns (version, key) or (version, key, retired) for each key version of hidden ids."""


Properties.__module__ = "idgen"
