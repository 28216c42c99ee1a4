"""What an id is made of. Apart from the other values, so that decoding an id loads neither typing nor dataclasses."""

from __future__ import annotations

from datetime import timedelta
from types import MappingProxyType

from ._values import UNIX_EPOCH

TYPE_CHECKING = False  # as in __init__.py
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime


class Parts:
    """What an id is made of. Only the fields of its layout can be read; any other raises AttributeError.

    The layout's time field has three names: ``time`` (an aware datetime in UTC), ``unix_ms`` (start of the id's tick)
    and ``ticks`` (the raw number in the id: ticks since the layout's epoch).
    """

    __slots__ = ("_fields", "_id", "_unix_ms")

    _id: int | bytes
    _unix_ms: int | None
    _fields: dict[str, int]

    def __init__(self, id: int | bytes, unix_ms: int | None, fields: Mapping[str, int]) -> None:
        object.__setattr__(self, "_id", id)
        object.__setattr__(self, "_unix_ms", unix_ms)
        object.__setattr__(self, "_fields", dict(fields))

    @property
    def id(self) -> int | bytes:
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
        return UNIX_EPOCH + timedelta(milliseconds=self._unix_ms)

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

    def __reduce__(self) -> tuple[type[Parts], tuple[int | bytes, int | None, dict[str, int]]]:
        return Parts, (self._id, self._unix_ms, self._fields)

    def __dir__(self) -> list[str]:
        return [name for name in object.__dir__(self) if name.startswith("_") or hasattr(self, name)]

    def __repr__(self) -> str:
        members = [f"id={self._id!r}"]
        if self._unix_ms is not None:
            members.append(f"unix_ms={self._unix_ms}")
        members += [f"{name}={value}" for name, value in self._fields.items()]
        return f"Parts({', '.join(members)})"


Parts.__module__ = "idgen"
