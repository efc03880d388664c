"""Figures: what a benchmark measured, and whether that is as good as it should be."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Target:
    """A limit that a figure should keep."""

    limit: float
    at_least: bool = False
    """The figure should be the limit or more; otherwise the limit or less."""

    def is_met(self, value: float) -> bool:
        """Tell whether a value keeps the limit."""
        return value >= self.limit if self.at_least else value <= self.limit

    def __str__(self) -> str:
        return f"{'≥' if self.at_least else '≤'} {self.limit:g}"


@dataclass(frozen=True, slots=True)
class Figure:
    """One result."""

    name: str
    value: float
    unit: str
    target: Target | None = None

    @property
    def is_met(self) -> bool | None:
        """Whether the target is met; ``None`` where there is none."""
        return None if self.target is None else self.target.is_met(self.value)


def interleaved(measures: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, list[float]]:
    """Measure everything once a round, in the opposite order every other round.

    What the machine does besides hits all of them alike, so that values of one round can be compared.
    """
    found: dict[str, list[float]] = {name: [] for name in measures}
    for number in range(rounds):
        names = list(measures)
        for name in names if number % 2 == 0 else reversed(names):
            found[name].append(measures[name]())
    return found


def median_ratio(values: Sequence[float], others: Sequence[float]) -> float:
    """Return the median of the ratios of the rounds."""
    return statistics.median(value / other for value, other in zip(values, others, strict=True))


def shown(value: float) -> str:
    """Return a value with three significant digits, or as a whole number where it has more."""
    if abs(value) >= 100:
        return f"{value:,.0f}"
    if abs(value) >= 10:
        return f"{value:.1f}"
    return f"{value:.2f}" if abs(value) >= 0.1 else f"{value:.3f}"
