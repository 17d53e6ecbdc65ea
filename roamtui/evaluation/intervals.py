"""How sure a number is: bootstrap intervals of one run, and of the difference between two."""

from __future__ import annotations

import random
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

RESAMPLES = 1_000
_LOW, _HIGH = 0.025, 0.975


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A number over all questions: the mean of `values`, their median, or the ratio of two sums."""

    name: str
    values: tuple[float, ...]
    """One for each question."""
    weights: tuple[float, ...] | None = None
    """Where given, the measure is the sum of the values by that of the weights."""
    is_median: bool = False

    def compute(self, indexes: Sequence[int] | None = None) -> float | None:
        """Return the measure over some questions, all by default; None where it means nothing."""
        values = self.values if indexes is None else list(map(self.values.__getitem__, indexes))
        if not values:
            return None
        if self.is_median:
            return float(median(values))
        if self.weights is None:
            return sum(values) / len(values)
        weights = self.weights if indexes is None else map(self.weights.__getitem__, indexes)
        total = sum(weights)
        return sum(values) / total if total else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What a measure gains from one run to another, over the same questions."""

    name: str
    before: float
    after: float
    low: float
    """Lower end of the 95 % interval of the gain."""
    high: float
    better: float
    """Share of the resamples in which the second run is higher; ties count half."""


def find_intervals(
    measures: Sequence[Measure], *, seed: int = 0, resamples: int = RESAMPLES
) -> dict[str, tuple[float, float]]:
    """Return the 95 % percentile interval of each measure, all over the same resampled questions."""
    draws = _draw(len(measures[0].values) if measures else 0, seed, resamples)
    intervals = {}
    for measure in measures:
        found = sorted(value for draw in draws if (value := measure.compute(draw)) is not None)
        if found:
            intervals[measure.name] = (_take_quantile(found, _LOW), _take_quantile(found, _HIGH))
    return intervals


def compare_measures(
    before: Sequence[Measure], after: Sequence[Measure], *, seed: int = 0, resamples: int = RESAMPLES
) -> tuple[Difference, ...]:
    """Return the paired differences of measures of two runs over the same questions in the same order."""
    draws = _draw(len(before[0].values) if before else 0, seed, resamples)
    others = {measure.name: measure for measure in after}
    differences = []
    for first in before:
        second = others.get(first.name)
        if second is not None:
            difference = _compare(first.name, first.compute, second.compute, draws)
            differences += [difference] if difference else []
    return tuple(differences)


def _compare(
    name: str,
    before: Callable[[Sequence[int] | None], float | None],
    after: Callable[[Sequence[int] | None], float | None],
    draws: Sequence[Sequence[int]],
) -> Difference | None:
    first, second = before(None), after(None)
    if first is None or second is None:
        return None
    pairs = [(before(draw), after(draw)) for draw in draws]
    gains = sorted(new - old for old, new in pairs if old is not None and new is not None)
    wins = sum(gain > 0 for gain in gains) + sum(gain == 0 for gain in gains) / 2
    return Difference(
        name=name,
        before=first,
        after=second,
        low=_take_quantile(gains, _LOW),
        high=_take_quantile(gains, _HIGH),
        better=wins / len(gains),
    )


def _draw(count: int, seed: int, resamples: int) -> list[list[int]]:
    generator = random.Random(seed)  # noqa: S311 - no secret
    return [generator.choices(range(count), k=count) for _ in range(resamples)] if count else []


def _take_quantile(ordered: Sequence[float], share: float) -> float:
    """Return a quantile of values in order, between two of them where it falls there."""
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])
