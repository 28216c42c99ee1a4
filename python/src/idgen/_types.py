"""The values that idgen hands out: parts of an id, layouts' facts, statistics, rows of tables. Immutable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from types import MappingProxyType
from typing import NamedTuple

_UNIX_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


class Parts:
    """What an id is made of. Only the fields of its layout can be read; any other raises AttributeError.

    The layout's time field has three names: ``time`` (an aware datetime in UTC), ``unix_ms`` (start of the id's tick)
    and ``ticks`` (the raw number in the id: ticks since the layout's epoch).
    """

    __slots__ = ("_fields", "_id", "_unix_ms")

    _id: int
    _unix_ms: int | None
    _fields: dict[str, int]

    def __init__(self, id: int, unix_ms: int | None, fields: Mapping[str, int]) -> None:
        object.__setattr__(self, "_id", id)
        object.__setattr__(self, "_unix_ms", unix_ms)
        object.__setattr__(self, "_fields", dict(fields))

    @property
    def id(self) -> int:
        """The id that was decoded."""
        return self._id

    @property
    def fields(self) -> Mapping[str, int]:
        """The raw fields, most significant first, the time field under the name ``ticks``."""
        return MappingProxyType(self._fields)

    @property
    def unix_ms(self) -> int:
        """Start of the id's tick in ms since 1970-01-01 UTC."""
        if self._unix_ms is None:
            raise self._missing("unix_ms")
        return self._unix_ms

    @property
    def time(self) -> datetime:
        """Start of the id's tick, in UTC. Raises OverflowError beyond the year 9999; ``unix_ms`` has no such limit."""
        if self._unix_ms is None:
            raise self._missing("time")
        return _UNIX_EPOCH + timedelta(milliseconds=self._unix_ms)

    @property
    def ticks(self) -> int:
        """Ticks since the layout's epoch, as they stand in the id."""
        return self._field("ticks")

    @property
    def datacenter(self) -> int:
        return self._field("datacenter")

    @property
    def worker(self) -> int:
        return self._field("worker")

    @property
    def process(self) -> int:
        return self._field("process")

    @property
    def shard(self) -> int:
        return self._field("shard")

    @property
    def sequence(self) -> int:
        return self._field("sequence")

    @property
    def gene(self) -> int:
        return self._field("gene")

    @property
    def version(self) -> int:
        return self._field("version")

    @property
    def segment(self) -> int:
        return self._field("segment")

    @property
    def fixed(self) -> int:
        return self._field("fixed")

    def as_dict(self) -> dict[str, int | datetime]:
        """``time`` (if the layout has it) and the fields, for printing and for data frames."""
        result: dict[str, int | datetime] = {} if self._unix_ms is None else {"time": self.time}
        result.update(self._fields)
        return result

    def _field(self, name: str) -> int:
        try:
            return self._fields[name]
        except KeyError:
            raise self._missing(name) from None

    def _missing(self, name: str) -> AttributeError:
        return AttributeError(f"the layout of this id has no {name}; it has {', '.join(self._fields)}")

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"the parts of an id cannot be changed ({name})")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"the parts of an id cannot be changed ({name})")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Parts):
            return NotImplemented
        return (self._id, self._unix_ms, self._fields) == (other._id, other._unix_ms, other._fields)

    def __hash__(self) -> int:
        return hash((self._id, self._unix_ms, tuple(self._fields.items())))

    def __reduce__(self) -> tuple[type[Parts], tuple[int, int | None, dict[str, int]]]:
        return Parts, (self._id, self._unix_ms, self._fields)

    def __dir__(self) -> list[str]:
        return [name for name in object.__dir__(self) if name.startswith("_") or hasattr(self, name)]

    def __repr__(self) -> str:
        members = [f"id={self._id}"]
        if self._unix_ms is not None:
            members.append(f"unix_ms={self._unix_ms}")
        members += [f"{name}={value}" for name, value in self._fields.items()]
        return f"Parts({', '.join(members)})"


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
        return _UNIX_EPOCH + timedelta(milliseconds=self.updated_unix_ms)


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
        return _UNIX_EPOCH + timedelta(milliseconds=self.updated_unix_ms)


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
