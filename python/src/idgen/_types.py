"""The values that idgen hands out: blocks of ids, layouts' facts, statistics, rows of tables. Immutable."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from ._values import UNIX_EPOCH


@dataclass(frozen=True, slots=True)
class Block:
    """A run of ids that is the caller's: ``first``, ``first + stride``, ... ``count`` of them. The unused are lost."""

    first: int
    count: int
    stride: int

    @property
    def ids(self) -> range:
        """The ids of the block, without making them."""
        return range(self.first, self.first + self.count * self.stride, self.stride)


class Field(NamedTuple):
    """A field of a layout. ``shift`` is the place of its lowest bit."""

    name: str
    bits: int
    shift: int


class LayoutInfo(NamedTuple):
    """What a layout can do."""

    text: str  # canonical: "time:41ms worker:10 sequence:12"
    preset: str | None  # None for a layout in full
    bits: int
    is_unsigned: bool  # the top bit of 64 belongs to a field
    is_js_safe: bool  # never above 2^53 - 1
    epoch_unix_ms: int
    tick_ms: int  # 0 without a time field
    first_unix_ms: int
    last_unix_ms: int | None  # last ms of the last tick; None if beyond 2^63 - 1, or without a time field
    years_left: float  # negative: over
    ids_per_tick: int  # one generator
    ids_per_second: float  # one generator
    workers: int  # generators that can run side by side


class RouteRange(NamedTuple):
    """Nodes of a ring up to ``upto``, inclusive, from the end of the range before, and the shard that owns them."""

    upto: int
    shard: str


class RouteMove(NamedTuple):
    """Nodes in cut-over to a shard. ``share``: how much of each node has moved, in ten-thousandths."""

    first: int
    last: int
    to: str
    share: int


class Route(NamedTuple):
    """Where an id belongs. Write to ``shard``; read from ``shard``, and what is not found there from ``second``.

    ``state``: "settled"; "old_first" and "new_first" in cut-over, where ``second`` is the other shard; "id_decides" in
    cut-over if no id was given, where ``shard`` is the old one.
    """

    shard: str
    second: str | None
    state: str
    node: int
    version: int  # of the table that said so


class StandardParts(NamedTuple):
    """What the bits of a UUID, a ULID or an ObjectId say."""

    standard: str  # "uuid4", "uuid7", "uuid" (any other version), "ulid", "object_id"
    version: int | None  # of a UUID, 0 to 15
    is_rfc: bool  # False: a UUID of another variant than RFC 9562's, whose version says nothing
    unix_ms: int | None  # of UUIDs of versions 1, 6 and 7, ULIDs, ObjectIds (whole seconds)
    process: int | None  # of an ObjectId: 40 bits, the same in all of a process
    counter: int | None  # of an ObjectId: 24 bits

    @property
    def time(self) -> datetime | None:
        """The time in UTC. Raises OverflowError beyond the year 9999; ``unix_ms`` has no such limit."""
        return None if self.unix_ms is None else UNIX_EPOCH + timedelta(milliseconds=self.unix_ms)


class TextParts(NamedTuple):
    """A text that a TextPattern has read.

    The date is that of the id's time, by the clocks of the pattern's zone. What is shorter than ``unit`` stands at its
    first value, and without a date it is 1970-01-01 00:00:00.
    """

    id: int | bytes  # bytes if it has 16
    number: int  # as it stands in the text: the id itself, but for serials
    unit: str | None  # the shortest of the date: "year", "month", "day", "hour", "minute", "second"; None: it has none
    year: int  # 0 to 9999
    month: int  # 1 to 12
    day: int  # 1 to 31
    hour: int  # 0 to 23
    minute: int  # 0 to 59
    second: int  # 0 to 59

    @property
    def local_time(self) -> datetime | None:
        """When the ``unit`` began, without a tzinfo: the text does not say which zone. None if it has no date.

        Raises ValueError for the year 0, which a datetime cannot hold.
        """
        return None if self.unit is None else datetime(*self[3:])


class RouterStats(NamedTuple):
    """What a router has in force, and how its latest look at its file went."""

    version: int
    bits: int
    swaps: int  # tables that came into force after the first
    failures: int  # looks at the file that found something wrong
    last_failure_unix_ms: int | None
    last_status: str  # "OK", or the name of a status
    last_error: str | None


class Stats(NamedTuple):
    """Counts of one generator in this process. Times in ns."""

    handles: int  # handles that share this state
    granted: int  # numbers (segment) or ms of time (snowflake) that the store has committed to us
    remaining: int  # of those, not yet issued
    refills: int  # grants taken
    refill_failures: int  # store calls that failed
    refill_ns_max: int  # the slowest store call
    waits: int  # calls that had to wait: for the clock or the store
    wait_ns: int  # time spent in these waits
    store_waits: int  # of `waits`, those for the store: rises only after a pause or in an outage
    clock_back_events: int  # times the clock was found behind ids already issued
    forks: int  # times this state was started over in a child process
    lead_ms: int  # how far the last id's time is ahead of the clock
    issued: int  # numbers or ms given out: granted - remaining; once closed, less what was given back
    rate: int  # ids per second, as the refills measured it; 0 = unknown, as always for a snowflake
    stock_seconds: float  # how long `remaining` lasts; inf when nothing is asked for or the rate is unknown
    breaker_redis: int  # of store = "buffer": 0 closed, 1 half-open, 2 open: Redis is left alone for a while
    breaker_database: int  # the same of the database; both 0 for other stores
    buffer_stock: int  # numbers left in Redis when it was last seen
    stopped: str  # "OK", or the status that calls get instead of ids
    last_failure: str | None  # the status of the store's latest failure, whether or not it is over; None: none so far
    last_failure_unix_ms: int | None
    redis_failures: int  # of store = "buffer": calls of Redis that failed
    database_failures: int  # the same of the database; both 0 for other stores
    layout_left: int | None  # numbers (segment) or ms of time (snowflake) that the layout still holds; None: unknown
    tag_left: int | None  # numbers below 2^63 that the tag still holds; None: unknown, as for a snowflake
    last_error: str | None  # the message of last_failure
    issued_ids: int  # ids given out, also those of a snowflake, where `issued` is time


class SegmentInfo(NamedTuple):
    """A segment tag as it stands in the store."""

    max_id: int  # highest number granted so far; the next id is above it
    grants: int  # how often a range was granted, or the counter advanced
    updated_unix_ms: int
    step: int  # numbers a grant, the operator's word; 0: each generator uses its own segment.step
    rate: int  # ids per second that the holder drew when it took the latest grant; 0 = unknown
    holder: str  # who took the latest grant, "process 4711 on db-3"; "" = unknown

    @property
    def updated(self) -> datetime:
        """When the row last changed, by the clock of whoever changed it."""
        return UNIX_EPOCH + timedelta(milliseconds=self.updated_unix_ms)


class SegmentRow(NamedTuple):
    """A segment tag in the list of all of a store's: whose it is, then what SegmentInfo says."""

    namespace: str
    tag: str
    max_id: int
    grants: int
    updated_unix_ms: int
    step: int
    rate: int
    holder: str

    @property
    def updated(self) -> datetime:
        """When the row last changed, by the clock of whoever changed it."""
        return UNIX_EPOCH + timedelta(milliseconds=self.updated_unix_ms)


class WorkerRow(NamedTuple):
    """A worker of a namespace as a store of the program's own keeps it."""

    worker: int  # the number of all node fields together
    fence: int  # of the latest grant; 0: there is no row, and of the rest only store_now_ms counts
    owner: str  # 32 hexadecimal digits; "": the worker was given up
    hw_ms: int  # the end of the latest window, Unix ms, exclusive
    lease_left_ms: int  # how long the owner's lease lasts by the store's clock; 0 or below: it has ended
    clock_ahead_ms: int  # the owner's clock minus the store's, as of the latest window
    store_now_ms: int  # the store's clock as the row was read, Unix ms
    holder: str  # who had the latest window, "process 4711 on db-3"

    @property
    def is_live(self) -> bool:
        """Whether the worker has an owner whose lease has not ended."""
        return self.owner != "" and self.lease_left_ms > 0


class WorkerInfo(NamedTuple):
    """A worker of a namespace in a list of all that anybody has had."""

    worker: int  # the number of all node fields together
    fence: int  # of the latest grant
    hw_ms: int  # its time is reserved up to here, Unix ms, exclusive
    clock_ahead_ms: int | None  # the latest owner's clock minus the store's, at its latest window; None: unknown
    is_live: bool  # whether an owner is alive, or may be
    holder: str  # who had the latest window, "process 4711 on db-3"


class WorkerChange(NamedTuple):
    """How a store of the program's own is to change a worker's row: compare and set."""

    worker: int
    seen_fence: int  # the row must still have these three; 0: there must be no row yet, and one is made
    seen_owner: str
    seen_hw_ms: int
    fence: int  # what the row has afterwards
    owner: str  # "": given up. The lease then ends now, clock_ahead_ms stays, and the last three are 0
    hw_ms: int
    holder: str
    lease_ms: int  # the lease ends this long after the store's clock
    now_ms: int  # this program's clock, Unix ms: clock_ahead_ms becomes now_ms minus the store's clock ...
    max_lead_ms: int  # ... and if it is above this, the row is not changed


class Property(NamedTuple):
    """A row of the core's table of properties."""

    name: str  # "segment.step"
    type: str
    default: str  # "" = none
    range: str  # "" = free
    unit: str  # "" = none
    help: str
    since: str

    @property
    def keyword(self) -> str:
        """The name as a Python keyword: ``segment_step``."""
        return self.name.replace(".", "_")


class Status(NamedTuple):
    """A row of the core's table of statuses."""

    status: int
    name: str
    message: str
    retryable: bool


# Users meet these names as idgen.X, in tracebacks and in pickles too.
for _kind in (
    *(Block, Field, LayoutInfo, Property, SegmentInfo, SegmentRow, Stats, Status),
    *(WorkerChange, WorkerInfo, WorkerRow),
):
    _kind.__module__ = "idgen"
