"""Lines of the tables, and the measures behind them."""

import gc
import math
import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from statistics import linear_regression, median
from time import perf_counter, process_time

Measure = Callable[[], float]
"""Does something once and returns how many seconds it took."""
TABLE_HEAD = f"| {'what was timed':<64} | {'time':>20} | {'goal':<22} |\n|{'-' * 66}|{'-' * 21}:|{'-' * 24}|"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One line of a table."""

    what: str
    value: str
    goal: str = ""
    is_met: bool = True


def format_finding(finding: Finding) -> str:
    verdict = f"{finding.goal}: {'met' if finding.is_met else 'MISSED'}" if finding.goal else ""
    return f"| {finding.what:<64} | {finding.value:>20} | {verdict:<22} |"


def format_seconds(seconds: float) -> str:
    """Return a duration in the unit that suits it."""
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1_000:.1f} ms"


def limit_seconds(what: str, seconds: float, seconds_max: float = math.inf) -> Finding:
    """Return a duration with the most that it may be."""
    goal = "" if seconds_max == math.inf else f"≤ {seconds_max * 1_000:.0f} ms"
    return Finding(what=what, value=format_seconds(seconds), goal=goal, is_met=seconds <= seconds_max)


def compare(what: str, ours: Measure, theirs: Measure, *, turns: int, ratio_max: float = math.inf) -> Finding:
    """Return the medians of both, measured in turns so that a busy machine is busy for both."""
    ours(), theirs()
    pairs = []
    for _ in range(turns):
        gc.collect()
        pairs.append((ours(), theirs()))
    own, other = (median(seconds) for seconds in zip(*pairs, strict=True))
    return Finding(
        what=what,
        value=f"{format_seconds(own)} / {format_seconds(other)}",
        goal="" if ratio_max == math.inf else f"ratio ≤ {ratio_max:g}",
        is_met=own <= ratio_max * other,
    )


def timed(work: Callable[[], object]) -> Measure:
    """Return a measure of calling `work`, by the clock."""

    def measure() -> float:
        start = perf_counter()
        work()
        return perf_counter() - start

    return measure


def measure_cpu(work: Callable[[], object], turns: int = 1) -> float:
    """Return the median processor time of `work`, which other programs on the machine disturb least."""
    seconds = []
    for _ in range(turns):
        gc.collect()
        start = process_time()
        work()
        seconds.append(process_time() - start)
    return median(seconds)


def fit_exponent(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """Return the exponent by which time grows with size."""
    return linear_regression(list(map(math.log, sizes)), [math.log(max(one, 1e-6)) for one in seconds]).slope


def make_environ() -> dict[str, str]:
    """Return an environment for a program under measurement, in which Python keeps its compiled files, as installed."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def measure_install(name: str) -> float:
    """Return the megabytes of a package and of all that it needs."""
    names, files = [name], set[Path]()
    for one in names:
        with suppress(PackageNotFoundError):
            found = distribution(one)
            files.update(Path(str(file.locate())) for file in found.files or ())
            needed = [needed for needed in found.requires or () if "extra ==" not in needed]
            names += {re.split(r"[^\w.-]", one)[0].lower() for one in needed}.difference(names)
    return sum(file.stat().st_size for file in files if file.is_file()) / 1e6
