"""Generators that issue ids twice, each in one of the ways in which real ones do, and what a table of their ids looks
like: an id per row, in the order of insertion. Simulated time, seeded; standard library only."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

EPOCH = 1_735_689_600_000  # of the layout default: 2025-01-01
START = EPOCH + 200 * 86_400_000


@dataclass(frozen=True)
class Row:
    id: int
    process: str
    unix_ms: int


@dataclass
class Snowflake:
    """41 bits of ms, 10 of worker, 12 of sequence, which starts at 0 in each ms. Remembers nothing."""

    worker: int
    process: str = "app-1"
    last: int = -1
    sequence: int = 0

    def next(self, now: int) -> Row:
        if now > self.last:
            self.last, self.sequence = now, 0
        else:
            self.sequence += 1
            if self.sequence > 4095:
                self.last, self.sequence = self.last + 1, 0
        number = (self.last - EPOCH) << 22 | self.worker << 12 | self.sequence
        return Row(number, self.process, now)

    def forked(self, process: str) -> "Snowflake":
        return Snowflake(self.worker, process, self.last, self.sequence)


@dataclass
class Counter:
    """The row of a tag in a store: grants ranges of `step` numbers."""

    next_number: int = 1
    step: int = 1000

    def grant(self) -> range:
        granted = range(self.next_number, self.next_number + self.step)
        self.next_number += self.step
        return granted


@dataclass
class Segment:
    """Draws numbers from ranges of a counter."""

    counter: Counter
    process: str = "app-1"
    numbers: list[int] = field(default_factory=list)

    def next(self, now: int) -> Row:
        if not self.numbers:
            self.numbers = list(self.counter.grant())
        return Row(self.numbers.pop(0), self.process, now)

    def forked(self, process: str) -> "Segment":
        return Segment(self.counter, process, list(self.numbers))


def arrivals(rng: random.Random, begin: int, end: int, per_second: float) -> Iterator[int]:
    """When calls arrive, in ms."""
    at = float(begin)
    while True:
        at += rng.expovariate(per_second / 1000)
        if at >= end:
            return
        yield int(at)


def traffic(
    rng: random.Random, generators: Sequence[Snowflake | Segment], begin: int, end: int, per_second: float
) -> list[Row]:
    """Each call goes to one of the generators."""
    return [rng.choice(generators).next(now) for now in arrivals(rng, begin, end, per_second)]


def healthy(rng: random.Random, seconds: int = 60) -> list[Row]:
    return traffic(
        rng, [Snowflake(worker, f"app-{worker}") for worker in range(4)], START, START + seconds * 1000, 1000
    )


def same_worker(rng: random.Random, seconds: int = 60) -> list[Row]:
    """Of five processes two have worker 3."""
    generators = [Snowflake(worker, f"app-{i}") for i, worker in enumerate((0, 1, 2, 3, 3))]
    return traffic(rng, generators, START, START + seconds * 1000, 2000)


def clock_back(rng: random.Random, seconds: int = 60, back_ms: int = 3000) -> list[Row]:
    """Half way through, the host of worker 2 restarts with a clock that was set back. The others go on."""
    half = START + seconds * 500
    generators = [Snowflake(worker, f"app-{worker}") for worker in range(4)]
    rows = traffic(rng, generators, START, half, 2000)
    generators[2] = Snowflake(2, "app-2")
    for now in arrivals(rng, half, START + seconds * 1000, 2000):
        one = rng.choice(generators)
        rows.append(one.next(now - back_ms if one is generators[2] else now))
    return rows


def forked(rng: random.Random, seconds: int = 60) -> list[Row]:
    """Worker 1 has drawn 600 numbers of the last window's time ahead, forks, and both issue what is left of them."""
    generators = [Snowflake(worker, f"app-{worker}") for worker in range(3)]
    half = START + seconds * 500
    rows = traffic(rng, generators, START, half, 1000)
    parent = generators[1]
    reservation = [parent.next(half) for _ in range(9000)]
    rows += reservation[:600]
    rest = reservation[600:]
    child = [Row(row.id, "app-1-child", row.unix_ms) for row in rest]
    rows += merged(rng, rest, child)
    generators[1] = Snowflake(1, "app-1")
    return rows + traffic(rng, generators, half + 10, START + seconds * 1000, 1000)


def merged(rng: random.Random, one: list[Row], other: list[Row]) -> list[Row]:
    """Both in their own order, mixed as two processes of about the same speed mix."""
    out: list[Row] = []
    a, b = list(reversed(one)), list(reversed(other))
    while a or b:
        source = a if a and (not b or rng.random() < len(a) / (len(a) + len(b))) else b
        out.append(source.pop())
    return out


def forked_segment(rng: random.Random) -> list[Row]:
    counter = Counter()
    one, two = Segment(counter, "app-1"), Segment(counter, "app-2")
    rows = traffic(rng, [one, two], START, START + 10_000, 1000)
    child = one.forked("app-1-child")
    return rows + traffic(rng, [one, two, child], START + 10_000, START + 30_000, 1000)


def store_restored(rng: random.Random, processes: int = 3) -> list[Row]:
    """The backup is of when the counter stood at a third."""
    counter = Counter(step=100)
    generators = [Segment(counter, f"app-{i}") for i in range(processes)]
    rows = traffic(rng, generators, START, START + 10_000, 1000)
    backup = counter.next_number
    rows += traffic(rng, generators, START + 10_000, START + 20_000, 1000)
    counter.next_number = backup
    generators = [Segment(counter, f"app-{i}") for i in range(processes)]
    return rows + traffic(rng, generators, START + 20_000, START + 40_000, 1000)


def two_stores(rng: random.Random) -> list[Row]:
    generators = [Segment(Counter(step=100), "app-1"), Segment(Counter(step=100), "app-2")]
    return traffic(rng, generators, START, START + 20_000, 1000)


def dumped_twice(rng: random.Random) -> list[Row]:
    """A healthy dump in which a page of rows was exported twice."""
    rows = healthy(rng)
    return rows[:20_000] + rows[15_000:]


CAUSES = {
    "same-worker": same_worker,
    "clock-back": clock_back,
    "fork": forked,
    "store-restored": store_restored,
    "two-stores": two_stores,
    "dumped-twice": dumped_twice,
}
