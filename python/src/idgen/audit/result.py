"""What an audit found, for the report, for JSON and for the picture."""

from __future__ import annotations

from dataclasses import dataclass, field

from .causes import DUMPED_TWICE, NEW_GENERATOR, ROUNDED, Circumstances, Verdict, judge
from .duplicates import Copy, Duplicates, Incident, joined
from .order import Order
from .reading import Broken, Source
from .shards import Evenness
from .space import Space
from .words import grouped, one_line
from .workers import Rates, Worker

# Causes that are not a worker's: their incidents are one finding for all workers.
_OF_ALL = (ROUNDED, DUMPED_TWICE, NEW_GENERATOR)


@dataclass
class Finding:
    """Incidents with one cause."""

    incident: Incident
    verdict: Verdict
    copies: dict[int, list[Copy]]  # by key
    nodes: set[int]
    example: int  # a key
    places: list[str] = field(default_factory=list)  # of its copies


@dataclass
class Result:
    space: Space
    sources: list[Source]
    broken: Broken
    order: Order
    duplicates: Duplicates
    least: int  # ids
    largest: int
    different: int
    workers: list[Worker] = field(default_factory=list)
    rates: Rates | None = None
    findings: list[Finding] = field(default_factory=list)  # the most duplicates first
    shards: tuple[str, Evenness, dict[str, int]] | None = None
    seconds: float = 0.0

    def place(self, at: int) -> str:
        source = next(source for source in self.sources if at < source.end)
        of = f" of {one_line(source.dump.name)}" if len(self.sources) > 1 else ""
        return f"row {grouped(at - source.begin + 1)}{of}"

    def worker(self, node: int) -> str:
        return self.space.name_of(node) if self.space.has_nodes else "all"


def findings(result: Result, roundings: list[str]) -> list[Finding]:
    out: list[Finding] = []
    for incident in result.duplicates.incidents:
        next_one = _judged(result, incident, roundings)
        if out and out[-1].incident.node == incident.node and out[-1].verdict.is_as(next_one.verdict):
            out[-1] = _judged(result, joined(out[-1].incident, incident), roundings)
        else:
            out.append(next_one)
    return sorted(_joined(out), key=lambda finding: -finding.incident.ids)


def _judged(result: Result, incident: Incident, roundings: list[str]) -> Finding:
    copies = {key: result.duplicates.copies.get(key, []) for key in incident.samples}
    worker = next((w for w in result.workers if w.node == incident.node), None)
    space = result.space
    first = (incident.node << space.node_shift) + (worker.first << space.tick_shift) if worker else incident.first
    verdict = judge(incident, list(copies.values()), Circumstances(space, result.order, result.place, first, roundings))
    finding = Finding(incident, verdict, copies, {incident.node}, incident.samples[0])
    finding.places = [result.place(copy.place) for copy in copies[finding.example]]
    return finding


def _joined(findings: list[Finding]) -> list[Finding]:
    out: list[Finding] = []
    first: dict[str, Finding] = {}
    for finding in findings:
        cause = finding.verdict.causes[0]
        if len(finding.verdict.causes) > 1 or cause not in _OF_ALL:
            out.append(finding)
        elif cause not in first:
            first[cause] = finding
            out.append(finding)
        else:
            all, more = first[cause], finding.incident
            all.incident.ids += more.ids
            all.incident.extra += more.extra
            all.incident.single += more.single
            all.incident.most_copies = max(all.incident.most_copies, more.most_copies)
            all.incident.last = max(all.incident.last, more.last)
            all.copies |= finding.copies
            all.nodes |= finding.nodes
    return out
