"""The picture: ids per second of each worker, when ids came twice, and the course of the dump."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Callable
from xml.sax.saxutils import escape

import numpy as np

from .order import Step
from .report import causes_of, whose
from .result import Result
from .words import counted, grouped, instant, one_line, wrapped
from .workers import Counts

# Lengths in units of the picture, about a pixel each.
_LEFT, _RIGHT, _PLOT = 96, 24, 840
_RATE_HEIGHT, _STRIP_HEIGHT, _COURSE_HEIGHT, _LINE = 170, 14, 240, 18
_POINTS = 120  # of a rate
_MARKED_STEPS = 5
_LISTED = 6
_COLUMNS = 130  # of a line of text

_STYLE = """\
  text { font: 12px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; fill: #1f2328; }
  .page { fill: #ffffff; }
  .title { font-size: 16px; font-weight: bold; }
  .strong { font-weight: bold; }
  .faint { fill: #656d76; }
  .middle { text-anchor: middle; }
  .end { text-anchor: end; }
  .grid { stroke: #d8dee4; }
  .axis { stroke: #656d76; }
  .area { stroke-width: 0.5; stroke: #ffffff; }
  .s0 { fill: #2f7fd1; }
  .s1 { fill: #3a9d5d; }
  .s2 { fill: #9a6bd0; }
  .s3 { fill: #27a0b3; }
  .s4 { fill: #c9a227; }
  .s5 { fill: #8c7462; }
  .others { fill: #b0b7bf; }
  .course { fill: #2f7fd1; fill-opacity: 0.85; stroke: #2f7fd1; stroke-width: 1.5; stroke-linejoin: round; }
  .copy { fill: #d1242f; stroke: #ffffff; }
  .join { stroke: #d1242f; stroke-opacity: 0.25; }
  .twice { fill: #d1242f; }
  .number { fill: #ffffff; font-weight: bold; font-size: 11px; text-anchor: middle; }
  .step { stroke: #c2571a; stroke-dasharray: 3 3; }
  .steptext { fill: #c2571a; }
  .bad { fill: #d1242f; font-weight: bold; }
  .good { fill: #1a7f37; font-weight: bold; }
  .strip { fill: #f0f2f4; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .page { fill: #0d1117; }
    .faint { fill: #9198a1; }
    .grid { stroke: #262c36; }
    .axis { stroke: #9198a1; }
    .area, .copy { stroke: #0d1117; }
    .copy, .twice, .bad { fill: #ff6b66; }
    .join { stroke: #ff6b66; }
    .good { fill: #3fb950; }
    .step { stroke: #e8894f; }
    .steptext { fill: #e8894f; }
    .strip { fill: #1b222c; }
  }
"""
_S, _MIN, _H, _DAY = 1000, 60_000, 3_600_000, 86_400_000
_TIME_STEPS = (
    1, 2, 5, 10, 20, 50, 100, 200, 500, _S, 2 * _S, 5 * _S, 10 * _S, 15 * _S, 30 * _S, _MIN, 2 * _MIN, 5 * _MIN,
    10 * _MIN, 15 * _MIN, 30 * _MIN, _H, 2 * _H, 3 * _H, 6 * _H, 12 * _H, _DAY, 2 * _DAY, 7 * _DAY, 14 * _DAY,
    30 * _DAY, 91 * _DAY, 182 * _DAY, 365 * _DAY,
)  # fmt: skip


def _text(x: float, y: float, kind: str, text: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}">{escape(text)}</text>\n'


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>\n'


def _rect(x: float, y: float, width: float, height: float, kind: str, more: str = "") -> str:
    return f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"{more}/>\n'


def _numbered(x: float, y: float, number: int) -> str:
    return f'<circle class="twice" cx="{x:.1f}" cy="{y - 4:.1f}" r="8"/>' + _text(x, y, "number", str(number))


def _round_step(most: float, lines: float) -> float:
    raw = most / lines
    power = 10.0 ** math.floor(math.log10(raw))
    return next(factor * power for factor in (1, 2, 5, 10) if raw <= factor * power * 1.000001)


def _short(count: float) -> str:
    for scale, unit in ((1e9, "G"), (1e6, "M")):
        if count >= scale:
            return f"{count / scale:.{1 if count < 10 * scale else 0}f} {unit}"
    return grouped(round(count)) if count >= 10 or count == math.floor(count) else f"{count:.1f}"


def _time_step(ms: float, lines: float) -> float:
    found = next((step for step in _TIME_STEPS if ms / step <= lines), None)
    return found or _round_step(ms / (365 * _DAY), lines) * 365 * _DAY


def _time_label(unix_ms: float, step: float) -> str:
    """As much of the instant as lines at this distance need: "14:05", "14:05:30.250", "2026-03-01"."""
    full = instant(int(unix_ms))
    if step >= _DAY or len(full) < 24:
        return full[:10]
    return full[11 : 11 + (5 if step >= _MIN else 8 if step >= _S else 12)]


def _span(ms: float) -> str:
    if ms < 1000:
        return f"{ms:.0f} ms"
    for limit, unit, name in ((120_000, _S, "s"), (7_200_000, _MIN, "min"), (172_800_000, _H, "h")):
        if ms < limit:
            return f"{ms / unit:.1f} {name}"
    return f"{ms / _DAY:.1f} days"


def _thinned(counts: Counts) -> list[float]:
    """Stretches side by side become one until they are few enough to be seen."""
    each = -(-counts.size // _POINTS)
    whole = counts[: counts.size // each * each]
    return [float(value) for value in whole.reshape(-1, each).mean(axis=1)]


class _Painter:
    def __init__(self, result: Result):
        self.result, self.space, self.order = result, result.space, result.order
        self.body: list[str] = []
        self.y = 78.0
        self.spoken = ""
        if self.space.has_time:
            self.low, high = self.order.first_likely, self.order.last_likely + 1
        else:
            self.low, high = (self.space.place_of(self.space.key_of(id)) for id in (result.least, result.largest))
        self.span = max(high - self.low, 1)

    def picture(self) -> str:
        title = self._head()
        if self.space.has_time:
            self._rates()
        self._course()
        self._list()
        width, height = _LEFT + _PLOT + _RIGHT, round(self.y + 8)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
            f'height="{height}" role="img">\n<title>{escape(title)}</title>\n<desc>{escape(self.spoken)}</desc>\n'
            f'<style>\n{_STYLE}</style>\n<rect class="page" width="100%" height="100%"/>\n{"".join(self.body)}</svg>\n'
        )

    def _add(self, *parts: str) -> None:
        self.body += parts

    def _ms(self, tick: int) -> int:
        return self.space.unix_ms_of(tick)

    def _head(self) -> str:
        title = ", ".join(one_line(os.path.basename(source.dump.name)) for source in self.result.sources)
        title = title if len(title) <= 80 else title[:78] + ".."
        counts = counted(self.order.ids, "id")
        if self.space.has_time:
            first, last = (instant(self._ms(tick))[:19] for tick in (self.order.first_likely, self.order.last_likely))
            counts += f" of {counted(len(self.order.nodes), 'worker')}, {first} to {last} UTC"
        else:
            counts += f", from {self.result.least} to {self.result.largest}"
        twice = self.result.duplicates.ids
        verdict = f"{grouped(twice)} came more than once" if twice else "no id came twice"
        self._add(
            _text(24, 32, "title", title),
            f'<text x="24.0" y="54.0"><tspan class="faint">{escape(counts)}:</tspan> '
            f'<tspan class="{"bad" if twice else "good"}">{verdict}</tspan></text>\n',
        )
        self.spoken = f"{counts}: {verdict}"
        return title

    def _side(self, y: float, text: str) -> None:
        self._add(f'<text class="faint middle" transform="translate(26 {y:.1f}) rotate(-90)">{escape(text)}</text>\n')

    # ---- rates

    def _rates(self) -> None:
        rates = self.result.rates
        assert rates
        seconds = rates.ticks_per_stretch * self.space.tick_ms / 1000
        self._legend()
        top, bottom = self.y + 8, self.y + 8 + _RATE_HEIGHT
        most = max(max(_thinned(rates.all)) / seconds, 1e-9)
        step = _round_step(most, 3)
        ceiling = math.ceil(most / step) * step
        for i in range(round(ceiling / step) + 1):
            y = bottom - i * step / ceiling * _RATE_HEIGHT
            self._add(_line(_LEFT, y, _LEFT + _PLOT, y, "grid" if i else "axis"))
            self._add(_text(_LEFT - 8, y + 4, "faint end", _short(i * step)))
        self._side((top + bottom) / 2, "ids per second")
        below = np.zeros(len(_thinned(rates.all)))
        width, scale = _PLOT / below.size, _RATE_HEIGHT / seconds / ceiling
        areas = [(rates.others, "others", "other workers")] if self._has_others() else []
        shown = [(counts, f"s{i}", self.result.worker(node)) for i, (node, counts) in enumerate(rates.shown)]
        for counts, kind, who in areas + shown[::-1]:
            low = below.copy()
            below += np.array(_thinned(counts))
            there = " L".join(
                f"{_LEFT + (i + side) * width:.1f} {bottom - value * scale:.1f}"
                for i, value in enumerate(below)
                for side in (0, 1)
            )
            back = " L".join(
                f"{_LEFT + (i + side) * width:.1f} {bottom - low[i] * scale:.1f}"
                for i in reversed(range(low.size))
                for side in (1, 0)
            )
            self._add(f'<path class="area {kind}" d="M{there} L{back}Z"><title>{escape(who)}</title></path>\n')
        self._strip(bottom + 8, rates.all, rates.duplicated)
        self._time_axis(bottom + 8 + _STRIP_HEIGHT)

    def _has_others(self) -> bool:
        assert self.result.rates
        return len(self.order.nodes) > len(self.result.rates.shown)

    def _legend(self) -> None:
        assert self.result.rates
        shown = self.result.rates.shown
        entries = [(f"s{i}", self.result.worker(node)) for i, (node, _) in enumerate(shown)]
        if self._has_others():
            entries.append(("others", counted(len(self.order.nodes) - len(shown), "other")))
        if self.result.duplicates.ids:
            entries.append(("twice", "came more than once"))
        x = float(_LEFT)
        for kind, name in entries:
            self._add(_rect(x, self.y - 10, 11, 11, kind), _text(x + 16, self.y, "faint", name))
            x += 34 + 6.6 * len(name)

    def _strip(self, top: float, all: Counts, duplicated: Counts) -> None:
        """How much of each stretch came more than once."""
        self._add(_rect(_LEFT, top, _PLOT, _STRIP_HEIGHT, "strip"))
        width = _PLOT / all.size
        for i in np.nonzero(duplicated)[0]:
            share = min(float(duplicated[i]) / max(float(all[i]), 1), 1)
            more = f' fill-opacity="{0.35 + 0.65 * math.sqrt(share):.2f}"'
            self._add(_rect(_LEFT + float(i) * width, top, max(width, 1.5), _STRIP_HEIGHT, "twice", more))
        self._add(_text(_LEFT - 8, top + 11, "faint end", "twice"))

    def _time_axis(self, y: float) -> None:
        first, last = self._ms(self.order.first_likely), self._ms(self.order.last_likely + 1)
        step = _time_step(last - first, 8)
        ms = math.ceil(first / step) * step
        while ms <= last:
            x = _LEFT + (ms - first) / (last - first) * _PLOT
            self._add(_line(x, y, x, y + 5, "axis"))
            if x <= _LEFT + _PLOT - 12:
                self._add(_text(x, y + 19, "faint middle", _time_label(ms, step)))
            ms += step
        self._add(_text(_LEFT + _PLOT, y + 36, "faint end", "time in the ids"))
        self.y = y + 62

    # ---- the course of the dump: from left to right its ids in their order, from bottom to top their times or numbers

    def _height(self, value: int) -> float:
        return min(max((value - self.low) / self.span, 0), 1) * _COURSE_HEIGHT

    def _course(self) -> None:
        self.y += 16
        top, bottom = self.y, self.y + _COURSE_HEIGHT
        ids = self.order.total
        self._add(_text(_LEFT, top - 10, "strong", "Ids in the order of the dump"))
        self._value_lines(top, bottom)
        shift = self.space.tick_shift
        order, points = self.order, len(self.order.low)
        used = [i for i in range(points) if order.low[i] <= order.high[i]]
        x = {i: _LEFT + (i + 0.5) / points * _PLOT for i in used}
        there = " L".join(f"{x[i]:.1f} {bottom - self._height(int(order.high[i]) >> shift):.1f}" for i in used)
        back = " L".join(f"{x[i]:.1f} {bottom - self._height(int(order.low[i]) >> shift):.1f}" for i in reversed(used))
        self._add(f'<path class="course" d="M{there} L{back}Z"/>\n')

        def x_of(place: int) -> float:
            return _LEFT + place / ids * _PLOT

        def y_of(key: int) -> float:
            return bottom - self._height(self.space.place_of(key) >> shift)

        self._steps(top, x_of)
        self._copies(x_of, y_of)
        step = max(_round_step(ids, 6), 1)
        for i in range(int(ids / step) + 1):
            at = _LEFT + i * step / ids * _PLOT
            self._add(_line(at, bottom, at, bottom + 5, "axis"))
            self._add(_text(at, bottom + 19, "faint middle", _short(i * step)))
        self._add(_text(_LEFT + _PLOT, bottom + 36, "faint end", "ids of the dump, in their order"))
        self.y = bottom + 66

    def _value_lines(self, top: float, bottom: float) -> None:
        def one(share: float, label: str) -> None:
            y = bottom - share * _COURSE_HEIGHT
            self._add(_line(_LEFT, y, _LEFT + _PLOT, y, "grid"), _text(_LEFT - 8, y + 4, "faint end", label))

        if self.space.has_time:
            first, last = self._ms(self.low), self._ms(self.low + self.span)
            step = _time_step(last - first, 5)
            for i in range(math.ceil(first / step), math.floor(last / step) + 1):
                one((i * step - first) / (last - first), _time_label(i * step, step))
        elif self.low < 1e9 * self.span:  # numbers far above their span have no round ones that can be told apart
            step = _round_step(self.span, 4)
            for i in range(math.ceil(self.low / step), math.floor((self.low + self.span) / step) + 1):
                one((i * step - self.low) / self.span, _short(i * step))
        self._side((top + bottom) / 2, "time in the id" if self.space.has_time else "number")
        self._add(_line(_LEFT, bottom, _LEFT + _PLOT, bottom, "axis"), _line(_LEFT, top, _LEFT, bottom, "axis"))

    def _steps(self, top: float, x_of: Callable[[int], float]) -> None:
        """The largest steps back of workers, if they can be seen at all."""

        def size(step: Step) -> int:
            return self.space.size_of(step.from_key, step.to_key)

        all = (step for steps in self.order.workers.values() for step in steps.largest)
        steps = sorted(all, key=size, reverse=True)[:_MARKED_STEPS]
        last_label = -1000.0
        for step in steps:
            # Ranges of several processes step back all the time, a little.
            if size(step) < self.span / 100 or 4 * size(step) < size(steps[0]):
                continue
            x = x_of(step.place)
            self._add(_line(x, top, x, top + _COURSE_HEIGHT, "step"))
            if abs(x - last_label) < 130:
                continue
            last_label = x
            by = _span(size(step) * self.space.tick_ms) if self.space.has_time else _short(size(step))
            is_left = x > _LEFT + _PLOT - 140
            where, kind = (x - 6, "steptext end") if is_left else (x + 6, "steptext")
            self._add(_text(where, top + 12, kind, f"back by {by}"))

    def _copies(self, x_of: Callable[[int], float], y_of: Callable[[int], float]) -> None:
        marks = [
            [[(x_of(copy.place), y_of(key)) for copy in copies] for key, copies in finding.copies.items() if copies]
            for finding in self.result.findings
        ]
        for ids in marks:
            for many in ids:
                self._add(*(_line(*a, *b, "join") for a, b in itertools.pairwise(many)))
        for ids in marks[:50]:
            for many in ids:
                self._add(*(f'<circle class="copy" cx="{x:.1f}" cy="{y:.1f}" r="3"/>\n' for x, y in many))
        for number, ids in enumerate(marks[:_LISTED], 1):
            if ids:
                x, y = ids[0][0]
                self._add(_numbered(x, y - 10, number))

    def _list(self) -> None:
        findings = self.result.findings
        for number, finding in enumerate(findings[:_LISTED], 1):
            likely = "likely" if len(finding.verdict.causes) == 1 else "possibly"
            words = f"{counted(finding.incident.ids, 'id')}{whose(self.result, finding)}: {likely} {causes_of(finding)}"
            self._add(_numbered(34, self.y, number))
            self.spoken += f"; {words}"
            for line in wrapped(words, 0, _COLUMNS).splitlines():
                self._add(_text(52, self.y, "", line))
                self.y += _LINE
            self.y += 6
        if len(findings) > _LISTED:
            self._add(_text(52, self.y, "faint", f"and {counted(len(findings) - _LISTED, 'smaller group')}"))
            self.y += _LINE


def picture_of(result: Result) -> str:
    return _Painter(result).picture()
