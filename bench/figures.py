"""A figure: a value, its goal, and whether it is met. Medians and ratios of samples."""

from __future__ import annotations

import statistics
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    name: str
    value: float
    unit: str
    goal: float | None = None  # None: there is no goal for it
    at_least: bool = False  # the goal is a minimum, not a maximum
    detail: str = ""  # what the value was computed from

    @property
    def met(self) -> bool:
        if self.goal is None:
            return True
        return self.value >= self.goal if self.at_least else self.value <= self.goal

    @property
    def of_goal(self) -> float:
        """1.0 is the goal itself; more is worse, for minimum and maximum goals alike."""
        assert self.goal is not None
        if self.at_least:
            return self.goal / self.value if self.value > 0 else float("inf")
        if self.goal == 0:
            return 1.0 if self.value == 0 else float("inf")
        return self.value / self.goal

    @property
    def value_text(self) -> str:
        return f"{number(self.value)} {self.unit}".strip()

    @property
    def goal_text(self) -> str:
        if self.goal is None:
            return ""
        return f"{'≥' if self.at_least else '≤'} {number(self.goal)} {self.unit}".strip()

    @property
    def verdict(self) -> str:
        if self.goal is None:
            return ""
        if self.met:
            return "met"
        if self.goal == 0:
            return f"**missed** by {number(self.value)}"
        percent = abs(self.value - self.goal) / abs(self.goal) * 100
        # The miss of a share (99.87 % instead of 99.9 %) is given in points: percent of a percentage would mislead.
        how_much = f"{number(abs(self.value - self.goal))} points" if self.unit == "%" else f"{percent:.0f} %"
        return f"**missed** by {how_much}"


def number(value: float) -> str:
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}".replace(",", " ")
    if abs(value) >= 1000:
        return f"{value:,.0f}".replace(",", " ")
    return f"{value:.3f}" if 99 < value < 100 else f"{value:.2f}"


def median(samples: list[float]) -> float:
    return statistics.median(samples)


def ratio(subject: list[float], floor: list[float]) -> float:
    """The median of the ratios within each round, so that a slow moment of the machine hits both sides."""
    # Rounds in which a busy machine let one side do nothing are ignored.
    return statistics.median(s / f for s, f in zip(subject, floor, strict=True) if s > 0 and f > 0)


def spread(samples: list[float]) -> str:
    if len(samples) < 2:
        return ""
    return f"{min(samples):.2f} … {max(samples):.2f}"
