"""Rows of the table of `make bench`, and the measures behind them."""

import gc
import math
from collections.abc import Callable
from statistics import median
from time import perf_counter

Measure = Callable[[], float]
"""Does something once and returns how many seconds it took."""
TABLE_HEADER = f"| {'what was timed':<64} | {'time':>20} | {'goal':<22} |\n|{'-' * 66}|{'-' * 21}:|{'-' * 24}|"


def format_row(what: str, value: str, goal: str = "", *, is_met: bool = True) -> str:
    verdict = f"{goal}: {'met' if is_met else 'MISSED'}" if goal else ""
    return f"| {what:<64} | {value:>20} | {verdict:<22} |"


def format_seconds(seconds: float) -> str:
    """Return a duration in the unit that suits it."""
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1_000:.1f} ms"


def compare(what: str, ours: Measure, theirs: Measure, *, turns: int, ratio_max: float = math.inf) -> str:
    """Return a row of the medians of both, measured in turns so that a busy machine is busy for both."""
    ours(), theirs()
    pairs = []
    for _ in range(turns):
        gc.collect()
        pairs.append((ours(), theirs()))
    own, other = (median(seconds) for seconds in zip(*pairs, strict=True))
    goal = "" if ratio_max == math.inf else f"ratio ≤ {ratio_max:g}"
    value = f"{format_seconds(own)} / {format_seconds(other)}"
    return format_row(what, value, goal, is_met=own <= ratio_max * other)


def timed(work: Callable[[], object]) -> Measure:
    """Return a measure of calling `work`, by the clock."""

    def measure() -> float:
        start = perf_counter()
        work()
        return perf_counter() - start

    return measure
