"""The report for people, and the same as JSON for programs."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator

from .causes import SENTENCES, advice_of
from .duplicates import Incident
from .order import Step, Steps
from .result import Finding, Result
from .words import approximate, counted, grouped, instant, one_line, span_of_ms, times, wrapped

_SHOWN = 10  # findings, workers
_SHOWN_SHARDS = 64
_WIDTH = 110
_BOLD, _RED, _GREEN, _YELLOW, _BLUE = "1", "31", "32", "33", "34"


def _paint(color: str, text: str) -> str:
    is_colored = sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    return f"\033[{color}m{text}\033[0m" if is_colored else text


def _heading(text: str) -> str:
    return "\n" + _paint(_BOLD, text) + "\n"


def _entry(name: str, words: str) -> str:
    return f"{'     ' + name:<15}" + wrapped(words, 15, _WIDTH)[15:] + "\n"


def _row(name: str, text: str) -> str:
    return f"  {name:<24}{text}\n"


def _instant(result: Result, tick: int) -> str:
    return instant(result.space.unix_ms_of(tick))


def _of_dumps(result: Result) -> str:
    out = ""
    for source in result.sources:
        out += f"{_paint(_BOLD, one_line(source.dump.name))}  {source.described}, {counted(source.ids, 'id')}\n"
    if result.space.title:
        out += f"layout {result.space.title}\n"
    else:
        out += "plain numbers; --layout LAYOUT or --config FILE would say more about snowflakes\n"
    broken = result.broken
    if broken.empty:
        out += f"{counted(broken.empty, 'row')} hold{'s' if broken.empty == 1 else ''} no id: empty or NULL\n"
    if broken.count:
        out += _paint(_YELLOW, counted(broken.count, "row")) + " without a readable id"
        out += ", the first of them:\n" if broken.count > len(broken.first) else ":\n"
        out += "".join(f"  {one_line(dump)}, row {grouped(row)}: {why}\n" for dump, row, why in broken.first)
    out += f"\n{counted(result.order.ids, 'id')}, {grouped(result.different)} of them different"
    if result.duplicates.ids:
        out += f"; {grouped(result.duplicates.ids)} came more than once"
    out += "\n"
    order = result.order
    if result.space.has_time:
        out += f"from {_instant(result, order.earliest)} to {_instant(result, order.latest)}\n"
    else:
        out += f"from {result.least} to {result.largest}\n"
    for count, what in (
        (order.in_future, "from the future"),
        (order.in_first_day, f"of the first day of the layout's epoch, {instant(result.space.epoch_unix_ms)}"),
    ):
        if count:
            doubt = ": is this their layout?" if 2 * count > order.ids else ""
            out += f"{_paint(_YELLOW, counted(count, 'id'))} {what}{doubt}\n"
    return out


def _range(result: Result, incident: Incident) -> str:
    space = result.space
    if space.has_time:
        first, last = (_instant(result, space.tick_of(key)) for key in (incident.first, incident.last))
        return f" at {first}" if first == last else f" from {first} to {last}"
    if incident.ids == 1:
        return ""
    return f" from {space.id_of(incident.first)} to {space.id_of(incident.last)}"


def whose(result: Result, finding: Finding) -> str:
    if len(finding.nodes) > 1:
        return f" of {grouped(len(finding.nodes))} workers"
    return f" of {result.space.name_of(finding.incident.node)}" if result.space.has_nodes else ""


def causes_of(finding: Finding) -> str:
    return "; or ".join(SENTENCES[cause] for cause in finding.verdict.causes)


def _of_finding(result: Result, finding: Finding, number: int) -> str:
    incident, verdict = finding.incident, finding.verdict
    often = f", up to {times(incident.most_copies)}" if incident.most_copies > 2 else ""
    out = f"{number:<5}{_paint(_RED, counted(incident.ids, 'id') + whose(result, finding))}"
    out += f"{_range(result, incident)}{often}\n"
    out += _entry("likely" if len(verdict.causes) == 1 else "possible", causes_of(finding))
    for i, sentence in enumerate(verdict.evidence):
        out += _entry("because" if i == 0 else "", sentence)
    out += _entry("do", advice_of(verdict.causes[0], result.space.has_time))
    if finding.places:
        out += _entry("such as", f"{result.space.id_of(finding.example)} at {' and '.join(finding.places)}")
    return out


def _of_duplicates(result: Result) -> str:
    if result.duplicates.ids == 0:
        if result.broken.count:
            return f"\n{_paint(_YELLOW, 'No id that could be read was issued twice.')}\n"
        return f"\n{_paint(_GREEN, 'No id was issued twice.')}\n"
    found = result.findings
    out = _heading("Duplicates")
    out += "".join(_of_finding(result, finding, i) for i, finding in enumerate(found[:_SHOWN], 1))
    if len(found) > _SHOWN:
        out += f"     and {counted(len(found) - _SHOWN, 'smaller group')}; --json has all of them\n"
    rest = result.duplicates.ids - sum(finding.incident.ids for finding in found)
    if rest > 0:
        out += f"     and {counted(rest, 'id')} of more workers than are kept apart\n"
    return out


def _of_step(result: Result, step: Step) -> str:
    size = result.space.size_of(step.from_key, step.to_key)
    if not result.space.has_time:
        words = grouped(size)
    else:
        words = span_of_ms(size * result.space.tick_ms) if size else "less than a tick"
    return f"{words} at {result.place(step.place)}"


def _largest_step(result: Result) -> tuple[int, Step] | None:
    steps = [(node, step) for node, steps in sorted(result.order.workers.items()) for step in steps.largest]
    size_of = result.space.size_of
    return max(steps, key=lambda pair: size_of(pair[1].from_key, pair[1].to_key)) if steps else None


def _of_order(result: Result) -> str:
    order, space = result.order, result.space
    out = _heading("Order")
    if space.has_nodes:
        text = "always rise"
        if largest := _largest_step(result):
            node, step = largest
            text = f"step back {times(order.steps_back)}, by at most {_of_step(result, step)} ({space.name_of(node)})"
        out += _row("ids of one worker", text)
    text = "always rise"
    if order.overall.count:
        text = f"step back {times(order.overall.count)}, by at most {_of_step(result, order.overall.largest[0])}"
        text += "; no order is promised between workers" if space.has_nodes else ""
    return out + _row("ids of all workers" if space.has_nodes else "ids", text)


def _share(part: int, whole: int) -> str:
    share = 100 * part / whole if whole else 0
    if share == 0:
        return "0 %"
    return "<0.01 %" if share < 0.01 else f"{share:.{2 if share < 1 else 1}f} %"


def _of_workers(result: Result) -> str:
    space = result.space
    if not space.has_time:
        return ""
    count = len(result.order.nodes)
    out = _heading("Workers")
    out += f"  {counted(count, 'worker'):<24}{'ids':>16}{'twice':>14}{'peak':>8}{'full':>9}{'longest gap':>14}"
    out += "  first and last\n"
    for worker in sorted(result.workers, key=lambda w: (-w.duplicated, -w.ids))[:_SHOWN]:
        gap = span_of_ms(worker.longest_gap * space.tick_ms) if worker.longest_gap > 1 else "none"
        out += f"  {result.worker(worker.node):<24}{grouped(worker.ids):>16}{grouped(worker.duplicated):>14}"
        out += f"{grouped(worker.peak):>8}{_share(worker.full_ticks, worker.ticks):>9}{gap:>14}"
        out += f"  {_instant(result, worker.first)}  {_instant(result, worker.last)}\n"
    if count > _SHOWN:
        out += f"  and {counted(count - _SHOWN, 'more worker')}\n"
    return out + f"  peak: ids in one tick, of {grouped(space.ids_per_tick)}; full: ticks without room for more\n"


def _of_rates(result: Result) -> str:
    rates, space = result.rates, result.space
    if rates is None:
        return ""
    seconds = rates.ticks_per_stretch * space.tick_ms / 1000
    ticks = result.order.last_likely - result.order.first_likely + 1
    average = int(rates.all.sum()) / ticks * 1000 / space.tick_ms
    out = _heading("Rate") + _row("on average", f"{approximate(round(average))} ids per second")
    if rates.all.size > 1:
        most = int(rates.all.argmax())
        tick = rates.first_tick + int(most * rates.ticks_per_stretch)
        over = f"{seconds:.{3 if seconds < 10 else 0}f} s from {_instant(result, tick)}"
        out += _row("at most", f"{approximate(round(int(rates.all[most]) / seconds))} ids per second, over {over}")
    return out


def _of_shards(result: Result) -> str:
    if result.shards is None:
        return ""
    title, even, counts = result.shards
    out = _heading(f"Shards: {one_line(title)}")
    most = max(counts.values())
    for name, count in counts.items():
        if len(counts) > _SHOWN_SHARDS:
            break
        bar = "█" * round(40 * count / most) if most else ""
        out += f"  {one_line(name):<12}{grouped(count):>16}  {_paint(_BLUE, bar)}".rstrip() + "\n"
    mean = result.order.ids / len(counts)
    text = (
        f"{even.fullest:.3f} and {even.emptiest:.3f} of what they should have; {approximate(mean)} ids each on average"
    )
    out += _row("fullest, emptiest", text)
    p = "< 0.0001" if even.p < 0.0001 else f"= {even.p:.4f}"
    degrees = counted(even.degrees, "degree")
    out += _row("chi-squared", f"{even.chi_squared:.1f} with {degrees} of freedom, p {p}: {even.sentence()}")
    is_uneven = even.is_enough and even.p < 0.001 and even.fullest >= 1.1
    if result.space.has_time and is_uneven and title.startswith("id mod"):
        out += wrapped(
            "Snowflakes whose sequence starts at 0 in each tick mostly end in the same bits at low rates. "
            "sequence_start = carry, idgen's default, spreads them; so does sharding by a hash or by a gene.", 2, _WIDTH
        ) + "\n"  # fmt: skip
    return out


def report_of(result: Result) -> str:
    parts = (_of_dumps, _of_duplicates, _of_order, _of_workers, _of_rates, _of_shards)
    return "".join(part(result) for part in parts)


# ---- JSON


def _number(value: int) -> int | str:
    """As text above 2^53, where readers of JSON round."""
    return value if abs(value) < 1 << 53 else str(value)


def _summary(result: Result) -> dict[str, object]:
    order, space = result.order, result.space
    out: dict[str, object] = {
        "record": "summary", "layout": space.title, "ids": order.ids, "different": result.different,
        "duplicated": result.duplicates.ids, "extra_copies": result.duplicates.extra,
        "broken_rows": result.broken.count, "empty_rows": result.broken.empty, "steps_back": order.steps_back,
        "steps_back_overall": order.overall.count,
    }  # fmt: skip
    if largest := _largest_step(result):
        size = space.size_of(largest[1].from_key, largest[1].to_key)
        out["largest_step_back"] = _number(size * (space.tick_ms or 1))
        out["largest_step_back_at"] = result.place(largest[1].place)
    if space.has_time:
        out |= {
            "first": _instant(result, order.earliest), "last": _instant(result, order.latest),
            "in_future": order.in_future, "in_first_day": order.in_first_day, "workers": len(order.nodes),
        }  # fmt: skip
    else:
        out |= {"first": str(result.least), "last": str(result.largest)}
    return out | {"seconds": round(result.seconds, 3)}


def _finding(result: Result, finding: Finding) -> dict[str, object]:
    incident, verdict, space = finding.incident, finding.verdict, result.space
    out: dict[str, object] = {
        "record": "duplicates",
        "likely": verdict.causes[0] if len(verdict.causes) == 1 else "",
        "possible": " ".join(verdict.causes),
        "ids": incident.ids, "extra_copies": incident.extra, "single": incident.single,
        "worker": space.name_of(incident.node) if len(finding.nodes) == 1 else "",
        "workers": len(finding.nodes),
        "first_id": str(space.id_of(incident.first)), "last_id": str(space.id_of(incident.last)),
    }  # fmt: skip
    if space.has_time:
        out["first"] = _instant(result, space.tick_of(incident.first))
        out["last"] = _instant(result, space.tick_of(incident.last))
    return out | {
        "example": str(space.id_of(finding.example)), "places": "; ".join(finding.places),
        "evidence": ". ".join(verdict.evidence), "advice": advice_of(verdict.causes[0], space.has_time),
    }  # fmt: skip


def _workers(result: Result) -> Iterator[dict[str, object]]:
    space = result.space
    for worker in result.workers:
        steps = result.order.workers.get(worker.node, Steps())
        back = space.size_of(steps.largest[0].from_key, steps.largest[0].to_key) if steps.largest else 0
        yield {
            "record": "worker", "worker": space.name_of(worker.node), "ids": worker.ids,
            "duplicated": worker.duplicated, "first": _instant(result, worker.first),
            "last": _instant(result, worker.last), "ticks": worker.ticks, "full_ticks": worker.full_ticks,
            "peak": worker.peak, "peak_at": _instant(result, worker.peak_tick),
            "longest_gap_ms": worker.longest_gap * space.tick_ms, "steps_back": steps.count,
            "largest_step_back_ms": back * space.tick_ms,
        }  # fmt: skip


def _records(result: Result) -> Iterator[dict[str, object]]:
    yield _summary(result)
    for source in result.sources:
        yield {"record": "dump", "name": source.dump.name, "format": source.described, "ids": source.ids}
    for dump, row, why in result.broken.first:
        yield {"record": "broken_row", "dump": dump, "row": row, "why": why}
    for finding in result.findings:
        yield _finding(result, finding)
    yield from _workers(result)
    if rates := result.rates:
        seconds = round(rates.ticks_per_stretch * result.space.tick_ms / 1000, 6)
        for i, (ids, twice) in enumerate(zip(rates.all.tolist(), rates.duplicated.tolist(), strict=True)):
            start = _instant(result, rates.first_tick + int(i * rates.ticks_per_stretch))
            yield {"record": "rate", "from": start, "seconds": seconds, "ids": ids, "duplicated": twice}
    if result.shards:
        title, even, counts = result.shards
        yield {
            "record": "evenness", "by": title, "chi_squared": even.chi_squared, "degrees_of_freedom": even.degrees,
            "p": even.p, "fullest": even.fullest, "emptiest": even.emptiest, "meaning": even.sentence(),
        }  # fmt: skip
        for name, count in counts.items():
            yield {"record": "shard", "shard": name, "ids": count}


def json_of(result: Result) -> str:
    return "".join(json.dumps(record) + "\n" for record in _records(result))
