"""Lines of the tables: two durations side by side, or a value with the goal that it is held against.

What stands side by side is measured in turns, in one run, so that a busy machine is busy for both.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter

Measure = Callable[[], float]
"""Does something once and returns how many seconds that took."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table."""

    what: str
    seconds: float
    beside: str
    """What it is compared with."""
    beside_seconds: float
    ratio_max: float | None = None
    """The goal; None where the ratio is only told."""

    @property
    def ratio(self) -> float:
        """How many times as long as what it is compared with."""
        return self.seconds / self.beside_seconds

    @property
    def verdict(self) -> str:
        """The goal and whether it is met, empty where there is none."""
        if self.ratio_max is None:
            return ""
        return f"≤ {self.ratio_max:g}: {'met' if self.ratio <= self.ratio_max else 'MISSED'}"


def make_environ(**changes: str) -> dict[str, str]:
    """Return an environment for a program under measurement, in which Python keeps its compiled files, as installed."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return environ | changes


def measure_in_turns(ours: Measure, theirs: Measure, times: int) -> tuple[float, float]:
    """Return the medians of both, after one uncounted turn that fills caches."""
    ours(), theirs()
    pairs = []
    for _ in range(times):
        gc.collect()
        pairs.append((ours(), theirs()))
    return median(pair[0] for pair in pairs), median(pair[1] for pair in pairs)


def timed(work: Callable[[], object]) -> Measure:
    """Return a measure of calling `work`."""

    def measure() -> float:
        start = perf_counter()
        work()
        return perf_counter() - start

    return measure


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One line of a table."""

    what: str
    value: str
    goal: str = ""
    is_met: bool = True

    @property
    def verdict(self) -> str:
        """The goal and whether it is met, empty where there is none."""
        return f"{self.goal}: {'met' if self.is_met else 'MISSED'}" if self.goal else ""


FINDINGS_HEAD = f"| {'what':<58} | {'roamtui':>12} | {'goal':<22} |\n|{'-' * 60}|{'-' * 13}:|{'-' * 24}|"


def format_finding(finding: Finding) -> str:
    """Return one line of the table."""
    return f"| {finding.what:<58} | {finding.value:>12} | {finding.verdict:<22} |"
