"""Why ids were issued twice: what the copies of an incident's ids have in common, and which cause leaves that trace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from .duplicates import Copy, Incident
from .order import KEPT, Order, Step, Steps
from .space import Space
from .words import grouped, instant, one_line

ROUNDED, NEW_GENERATOR, SAME_WORKER, CLOCK_BACK = "rounded", "new-generator", "same-worker", "clock-back"
FORK, STORE_RESTORED, TWO_STORES, DUMPED_TWICE = "fork", "store-restored", "two-stores", "dumped-twice"

SENTENCES = {
    ROUNDED: "different ids were rounded to the same number on the way to this dump, by JavaScript, a column of "
    "floating-point numbers or a spreadsheet; the generator did nothing wrong",
    NEW_GENERATOR: "a new generator is made for each id, or for each request, and each begins again at the same "
    "sequence",
    SAME_WORKER: "two processes had the same worker number at the same time",
    CLOCK_BACK: "the clock was set back and the generator restarted, or restarted before its own time had passed",
    FORK: "a process forked, and parent and child drew from the same reservation",
    STORE_RESTORED: "the store was restored from a backup, or lost and created again",
    TWO_STORES: "two generators draw from two stores, or from two copies of one",
    DUMPED_TWICE: "the same rows are in the dump twice; the generator did nothing wrong",
}
_ADVICE = {
    ROUNDED: "export the ids again as text or as 64-bit integers, and audit that; in JSON write them as strings, in "
    "JavaScript read them as BigInt or text, and in pandas with dtype=str or Int64",
    NEW_GENERATOR: "make one generator for each process when it starts, keep it, and draw all ids from it",
    SAME_WORKER: 'give each process its own worker number: let them lease it (worker = "auto"), or correct the '
    "deployment that sets it",
    CLOCK_BACK: "look at that host's clock (NTP, a virtual machine that was resumed); let the generator reserve its "
    "time in a store, so that a restart begins above all that it issued",
    FORK: "make the generator in each child, after the fork, or use one that notices a fork",
    STORE_RESTORED: "before a restored store is used again, lift its counter above the largest id in use (idgen "
    "segment advance)",
    TWO_STORES: "point all generators at one store, and lift its counter above the largest id of both (idgen segment "
    "advance)",
    DUMPED_TWICE: "export again without the repeated rows, and audit that",
}
# Of which neighbouring incidents are one; of the latter two, if the same step back lies between their copies.
_JOINED = (ROUNDED, NEW_GENERATOR, SAME_WORKER, TWO_STORES, DUMPED_TWICE, CLOCK_BACK, STORE_RESTORED)

_MOST = 0.95  # of the samples, so that rows a little out of order do not count
_DENSE = 0.9  # of the ids of a run, twice
_STANDS_OUT = 5
_CLEARLY = 20  # the part of an incident's ids that is no accident
_LONGEST_RESERVATION_MS = 60_000  # of a window that a fork may share
_NEAR_COPIES = 16  # rows from copy to copy, where one process made both
_EXACT = 1 << 53


def advice_of(cause: str, has_time: bool) -> str:
    if cause == STORE_RESTORED and has_time:
        return "before a restored store is used again, wait until the clock is past the last id"
    return _ADVICE[cause]


@dataclass
class Verdict:
    # One: the likely one. Several: what is there does not decide between them, the likeliest first.
    causes: list[str]
    evidence: list[str] = field(default_factory=list)
    step: int = -1  # the place of the step back between first and second copies

    def is_as(self, other: Verdict) -> bool:
        return self.causes == other.causes and self.causes[0] in _JOINED and self.step == other.step


@dataclass
class Circumstances:
    space: Space
    order: Order
    place: Callable[[int], str]  # "row 12 of a.csv"
    worker_first: int  # the worker's first key
    roundings: Sequence[str]  # by dump: a sentence, or ""


class _Traces:
    """What the copies of the samples have in common."""

    def __init__(self, copies: list[list[Copy]], samples: list[int], space: Space):
        pairs = [(key, many[0], many[1]) for key, many in zip(samples, copies, strict=True) if len(many) > 1]
        self.samples = len(pairs)
        self.rows = "unknown"
        self.first_processes: set[str] = set()
        self.second_processes: set[str] = set()
        if not pairs:
            return
        _, self.example, self.second = pairs[0]
        firsts = sorted(first.place for _, first, _ in pairs)
        seconds = sorted(second.place for _, _, second in pairs)
        self.split = _quantile(seconds, 1 - _MOST)
        self.is_separate = _quantile(firsts, _MOST) < self.split
        self.distance = _quantile(sorted(second.place - first.place for _, first, second in pairs), 0.5)
        # At the edges of what came twice the neighbours on one side differ.
        same = [
            first.before is None or first.before == second.before
            or first.after is None or second.after is None or first.after == second.after
            for _, first, second in pairs
        ]  # fmt: skip
        self.same_neighbours = sum(same) / len(pairs)
        telling = [first.after is not None and space.key_of(first.after) != key + 1 for key, first, _ in pairs]
        self.telling_neighbours = sum(telling) / len(pairs)
        self.is_second_dump = sum(a.dump != b.dump for _, a, b in pairs) >= _MOST * len(pairs)
        with_rests = [(a, b) for _, a, b in pairs if a.rest or b.rest]
        if len(with_rests) == len(pairs):
            # Equal rows say something only where rows differ from id to id.
            equal = sum(a.rest == b.rest for a, b in with_rests)
            if equal >= _MOST * len(pairs):
                different = len({a.rest for a, _ in with_rests})
                self.rows = "same" if len(pairs) >= 4 and different * 2 > len(pairs) else "unknown"
            elif equal * 2 < len(pairs):
                self.rows = "different"
        with_processes = [(a, b) for _, a, b in pairs if a.process or b.process]
        self.first_processes = {a.process for a, _ in with_processes}
        self.second_processes = {b.process for _, b in with_processes}
        self.is_same_process = all(len({copy.process for copy in many}) == 1 for many in copies if many)

    @property
    def has_processes(self) -> bool:
        return bool(self.first_processes)


def _quantile(values: list[int], share: float) -> int:
    return values[int(share * (len(values) - 1))]


class _Judge:
    def __init__(self, incident: Incident, copies: list[list[Copy]], all: Circumstances):
        self.incident, self.all, self.space, self.order = incident, all, all.space, all.order
        self.copies = copies
        self.traces = _Traces(copies, incident.samples, all.space)
        self.evidence: list[str] = []
        self.step: Step | None = None
        if self.traces.samples:
            self.step = self._step_between()
        self.step_place = -1

    def verdict(self) -> Verdict:
        return Verdict(self._causes(), self.evidence, self.step_place)

    def _say(self, sentence: str) -> None:
        self.evidence.append(sentence)

    def _causes(self) -> list[str]:
        traces = self.traces
        if not traces.samples:
            self._say("the rows of its ids were not found again: did the dump change while it was read?")
            return self._without_order()
        if self._is_rounded():
            return [ROUNDED]
        self._say_processes()
        if traces.example.time or traces.second.time:
            self._say(
                f"the first example's rows are of {one_line(traces.example.time)} and {one_line(traces.second.time)}"
            )
        if traces.rows == "same":
            self._say("both copies of a row are the same in all columns")
            return [DUMPED_TWICE]
        if traces.rows == "different":
            self._say("the copies differ in other columns: they are different rows")
        if causes := self._new_generator():
            return causes
        if self.order.overall.count == 0:
            self._say(
                "the dump is sorted by id, so it does not say in which order ids were issued: one in the order of "
                "insertion says more"
            )
            return self._without_order()
        return self._of_snowflakes() if self.space.has_time else self._of_numbers()

    # ---- the two commonest

    def _is_rounded(self) -> bool:
        if self.space.id_of(self.incident.last) <= _EXACT:
            return False
        dumps = {copy.dump for many in self.copies for copy in many}
        for dump in sorted(dumps):
            if sentence := self.all.roundings[dump]:
                self._say(sentence)
                return True
        return False

    def _new_generator(self) -> list[str]:
        traces, incident = self.traces, self.incident
        has_other = traces.has_processes and not traces.is_same_process
        if has_other or traces.is_second_dump:
            return []
        is_sorted = self.order.overall.count == 0
        near = [many[i + 1].place - many[i].place for many in self.copies for i in range(len(many) - 1)]
        is_near = is_sorted or _quantile(sorted(near), 0.5) <= _NEAR_COPIES
        if not is_near:
            return []
        if self.space.sequence is None:
            return self._perhaps_new_generator() if not self.space.has_time else []
        if self.space.sequence.bits < 2:
            return []
        starts = {self.space.sequence_of(key) for key in incident.samples}
        if len(starts) > 1 or incident.single_same < 0.95 * incident.single:
            return []
        extra = traces.is_same_process and traces.has_processes
        # Two processes at the same rate leave as many ids with the next sequence as they issue twice.
        is_clear = extra or incident.most_copies > 2 or incident.ids >= 4
        self._say(
            f"every id has the sequence {starts.pop()}, with which a new generator starts"
            + (f", and up to {grouped(incident.most_copies)} copies have" if incident.most_copies > 2 else ", and both "
               "copies have")
            + " one tick: one generator that is kept would have counted on"
        )  # fmt: skip
        if not is_sorted:
            apart = traces.distance
            self._say(
                f"copies stand near one another, usually {grouped(apart)} {'row' if apart == 1 else 'rows'} apart"
            )
        return [NEW_GENERATOR] if is_clear else [NEW_GENERATOR, SAME_WORKER]

    def _perhaps_new_generator(self) -> list[str]:
        """Numbers whose layout is not known, that look like snowflakes."""
        ids = [self.space.id_of(key) for key in self.incident.samples]
        if self.space.layout is not None or min(ids) <= _EXACT:
            return []
        if not all(id % 64 == ids[0] % 64 for id in ids) or (self._is_dense and len(ids) > 4):
            return []
        self._say("the numbers are as large as snowflakes, and copies stand near one another; --layout would say more")
        return [NEW_GENERATOR, SAME_WORKER]

    # ---- what the others share

    def _place(self, key: int) -> str:
        if self.space.has_time:
            return instant(self.space.unix_ms_of(self.space.tick_of(key)))
        return str(self.space.id_of(key))

    @property
    def _is_dense(self) -> bool:
        return self.incident.ids > 1 and self.incident.density >= _DENSE

    @property
    def _may_be_dumped(self) -> bool:
        return self.traces.rows != "different"

    def _say_processes(self) -> None:
        def listed(names: set[str]) -> str:
            shown = [one_line(name) for name in sorted(names)]
            return ", ".join(shown[:3] + ["..."] * (len(shown) > 3))

        if not self.traces.has_processes:
            return
        if self.traces.is_same_process:
            self._say(f"all copies are from the same process: {listed(self.traces.first_processes)}")
        else:
            self._say(
                f"the first copies are from {listed(self.traces.first_processes)}, the second from "
                f"{listed(self.traces.second_processes)}"
            )

    def _without_order(self) -> list[str]:
        traces = self.traces
        if self.space.has_time:
            if traces.has_processes and not traces.is_same_process:
                return [SAME_WORKER]
            causes = [FORK, CLOCK_BACK, SAME_WORKER] if self._is_dense else [SAME_WORKER, CLOCK_BACK]
        else:
            causes = [STORE_RESTORED, TWO_STORES] + [FORK] * self._is_dense
        return causes + [DUMPED_TWICE] * (self._may_be_dumped and self._is_dense)

    def _step_between(self) -> Step | None:
        """The worker's step back that lies between first and second copies, reaches from the end of the incident to
        its beginning, and stands out from the worker's usual ones."""
        steps = self.order.workers.get(self.incident.node, Steps())
        if not steps.largest or not self.traces.is_separate:
            return None
        place_of, size_of = self.space.place_of, self.space.size_of
        first, last = place_of(self.incident.first), place_of(self.incident.last)
        least = size_of(steps.largest[-1].from_key, steps.largest[-1].to_key)
        for step in steps.largest:
            start, end = place_of(step.from_key), place_of(step.to_key)
            slack = (start - end) // 10
            is_between = self.traces.example.place < step.place <= self.traces.split
            stands_out = steps.count < KEPT or size_of(step.from_key, step.to_key) >= _STANDS_OUT * least
            if is_between and stands_out and end <= first + slack and start + slack >= last:
                return step
        return None

    def _say_step(self, step: Step) -> None:
        self.step_place = step.place
        space, start, end = self.space, self._place(step.from_key), self._place(step.to_key)
        size = grouped(space.size_of(step.from_key, step.to_key) * (space.tick_ms or 1))
        who = space.name_of(self.incident.node) if space.has_nodes else "the dump"
        by = f"the times of {who} step back by {size} ms" if space.has_time else f"the numbers step back by {size}"
        self._say(
            f"at {self.all.place(step.place)} {by}, from {start} to {end}; first copies stand before it, second ones "
            "after it"
        )

    def _say_near(self) -> None:
        apart = self.traces.distance
        self._say(
            f"first and second copies stand among one another, from {self.all.place(self.traces.example.place)} on, "
            f"usually {grouped(apart)} {'id' if apart == 1 else 'ids'} apart: both were issued at the same time"
        )

    def _say_twice(self) -> None:
        self._say(
            "the ids around both copies are the same: a stretch of the dump comes twice, "
            f"{grouped(self.traces.distance)} ids apart"
        )

    def _say_share(self, what: str, end: str) -> None:
        i = self.incident
        self._say(
            f"{grouped(i.ids)} of {grouped(i.ids + i.single)} {what} from {self._place(i.first)} to "
            f"{self._place(i.last)} came twice{end}"
        )

    # ---- snowflakes

    def _of_snowflakes(self) -> list[str]:
        traces, incident, space = self.traces, self.incident, self.space
        is_verbatim = traces.is_separate and traces.samples >= 4 and traces.same_neighbours >= _MOST
        if self._may_be_dumped and is_verbatim and traces.telling_neighbours > 0.5:
            self._say_twice()
            return [DUMPED_TWICE]
        if self.step:
            return self._after_a_step(self.step)
        span = (space.tick_of(incident.last) - space.tick_of(incident.first)) * space.tick_ms
        if self._is_dense and incident.begins_in_tick and incident.after > 0 and span <= _LONGEST_RESERVATION_MS:
            self._say(
                f"every id from {self._place(incident.first)} to {self._place(incident.last)} came twice, from the "
                "middle of a tick on, and none before or after: the rest of one reservation"
            )
            self._say_near()
            return [FORK]
        self._say_near()
        self._say_share("ids", ": both drew the same sequence in the same tick")
        if traces.has_processes and traces.is_same_process and self._is_dense:
            return [FORK, SAME_WORKER]
        return [SAME_WORKER]

    def _after_a_step(self, step: Step) -> list[str]:
        self._say_step(step)
        place_of = self.space.place_of
        if step.is_first_of_dump and self.traces.is_second_dump:
            first, start = place_of(self.all.worker_first), place_of(step.from_key)
            if place_of(step.to_key) - first <= (start - first) // 20:
                self._say("both dumps begin at about the same time: each may be of another process")
                return [SAME_WORKER]
            self._say("the step is where one dump ends and the next begins")
            return [CLOCK_BACK, SAME_WORKER]
        if others := self._workers_that_step_too(step):
            self._say(
                f"{grouped(others)} other {'worker steps' if others == 1 else 'workers step'} back over the same time"
            )
            if self.incident.density >= 0.5:
                return [STORE_RESTORED, CLOCK_BACK]
        return [CLOCK_BACK]

    def _workers_that_step_too(self, step: Step) -> int:
        tick_of = self.space.tick_of
        start, end = tick_of(step.from_key), tick_of(step.to_key)

        def overlaps(other: Step) -> bool:
            both = min(start, tick_of(other.from_key)) - max(end, tick_of(other.to_key))
            return both > 0 and 2 * both > start - end

        return sum(
            any(overlaps(other) for other in steps.largest)
            for node, steps in self.order.workers.items()
            if node != self.incident.node
        )

    # ---- plain numbers

    def _of_numbers(self) -> list[str]:
        traces, incident = self.traces, self.incident
        if not traces.is_separate or (traces.samples < 4 and not self.step):
            return self._of_mixed_numbers()
        is_verbatim = traces.samples >= 4 and traces.same_neighbours >= _MOST
        if self._may_be_dumped and is_verbatim and traces.telling_neighbours > 0.5:
            self._say_twice()
            return [DUMPED_TWICE]
        if not self.step:
            self._say(f"all second copies come after all first ones, from {self.all.place(traces.second.place)} on")
            return [STORE_RESTORED]
        self._say_step(self.step)
        if self._may_be_dumped and is_verbatim and traces.example.place == 0 and incident.before == 0:
            self._say("the second copies repeat the dump from its first id on")
            return [DUMPED_TWICE, STORE_RESTORED]
        start, end = self.space.place_of(self.step.from_key), self.space.place_of(self.step.to_key)
        if self.space.place_of(incident.last) + (start - end) // _CLEARLY >= start:
            self._say(
                f"{grouped(incident.ids)} of {grouped(incident.ids + incident.single)} ids from there to the old "
                "maximum came again"
            )
            return [STORE_RESTORED]
        self._say(f"only the numbers from {self._place(incident.first)} to {self._place(incident.last)} came again")
        return [FORK] + [DUMPED_TWICE] * self._may_be_dumped

    def _of_mixed_numbers(self) -> list[str]:
        incident = self.incident
        self._say_near()
        if self._is_dense and incident.before > 0:
            every = f"every number from {self._place(incident.first)} to "
            if incident.after > incident.ids // _CLEARLY:
                self._say(
                    f"{every}{self._place(incident.last)} came twice, and none before or after: the rest of one range"
                )
                return [FORK]
            self._say(f"{every}the last came twice")
            return [FORK, TWO_STORES]
        self._say_share("numbers", "")
        return [TWO_STORES]


def judge(incident: Incident, copies: list[list[Copy]], all: Circumstances) -> Verdict:
    return _Judge(incident, copies, all).verdict()
