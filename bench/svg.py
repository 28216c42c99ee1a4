"""Three plots, as SVG written by hand: bars against a goal, lines over threads, and percentiles of latencies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from xml.sax.saxutils import escape

from figures import Figure

FONT = 'font-family="system-ui, sans-serif" font-size="12"'
INK = "#1f2933"
FAINT = "#cbd2d9"
MET = "#2f855a"
MISSED = "#c05621"
LINES = ("#2b6cb0", "#c05621", "#2f855a", "#6b46c1", "#718096", "#b7791f")
MOST_SHOWN = 2.0  # bars longer than twice the goal are cut off, and marked


def text(x: float, y: float, content: str, anchor: str = "start", fill: str = INK) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{fill}" {FONT}>{escape(content)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, colour: str = FAINT, more: str = "") -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" {more}/>'


def page(width: int, height: int, title: str, parts: Sequence[str]) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
    ground = f'<rect width="{width}" height="{height}" fill="white"/>'
    return "\n".join([head, f"<title>{escape(title)}</title>", ground, *parts, "</svg>", ""])


def bars(title: str, figures: Sequence[Figure]) -> str:
    """Each figure as a share of its goal: left of the line means met."""
    left, right, step, top = 400, 330, 24, 52
    width = left + right + 170
    height = top + step * len(figures) + 16
    goal_x = left + right / MOST_SHOWN
    parts = [text(16, 24, title), text(goal_x, top - 10, "goal", "middle")]
    for i, figure in enumerate(figures):
        y = top + i * step
        share = figure.of_goal
        length = min(share, MOST_SHOWN) / MOST_SHOWN * right
        colour = MET if figure.met else MISSED
        parts.append(text(left - 10, y + 14, figure.name, "end"))
        parts.append(f'<rect x="{left}" y="{y + 3}" width="{max(length, 1):.1f}" height="{step - 9}" fill="{colour}"/>')
        cut = " →" if share > MOST_SHOWN else ""
        parts.append(text(left + right + 10, y + 14, figure.value_text + cut, fill=colour))
    parts.append(line(goal_x, top - 4, goal_x, height - 12, INK, 'stroke-dasharray="4 3"'))
    return page(width, height, title, parts)


def lines(
    title: str,
    x_labels: Sequence[str],
    series: dict[str, list[float]],
    y_label: str,
    logarithmic: bool = False,
) -> str:
    """One line for each name, over the same points of x."""
    left, top, plot_width, plot_height = 76, 48, 460, 280
    width, height = left + plot_width + 250, top + plot_height + 48
    values = [value for line_values in series.values() for value in line_values]
    if logarithmic:
        low, high = math.floor(math.log10(max(min(values), 1))), math.ceil(math.log10(max(max(values), 10)))
        ticks = [10.0**power for power in range(low, high + 1)]
        high = max(high, low + 1)
    else:
        unit = 10 ** math.floor(math.log10(max(values)))
        low, high = 0, math.ceil(max(values) / unit) * unit
        ticks = [high * i / 4 for i in range(5)]

    def x_of(i: int) -> float:
        return left + plot_width * (i + 0.5) / len(x_labels)

    def y_of(value: float) -> float:
        level = math.log10(max(value, 1)) if logarithmic else value
        return top + plot_height * (1 - (level - low) / (high - low))

    parts = [text(16, 24, title), text(16, top - 8, y_label)]
    for tick in ticks:
        parts.append(line(left, y_of(tick), left + plot_width, y_of(tick)))
        parts.append(text(left - 8, y_of(tick) + 4, f"{tick:,.0f}".replace(",", " "), "end"))
    for i, label in enumerate(x_labels):
        parts.append(text(x_of(i), top + plot_height + 20, label, "middle"))
    for number, (name, points) in enumerate(series.items()):
        colour = LINES[number % len(LINES)]
        path = " ".join(f"{x_of(i):.1f},{y_of(value):.1f}" for i, value in enumerate(points))
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [
            f'<circle cx="{x_of(i):.1f}" cy="{y_of(value):.1f}" r="3" fill="{colour}"/>'
            for i, value in enumerate(points)
        ]
        parts.append(text(left + plot_width + 14, top + 12 + 20 * number, name, fill=colour))
    return page(width, height, title, parts)
