"""Headings of 50 and 30 MB, to rows with levels, titles and lines, beside full parses by markdown-it-py."""

from __future__ import annotations

import gc
import gzip
from collections.abc import Callable
from math import log
from statistics import linear_regression, median
from time import process_time

from markdown_it import MarkdownIt

from roamtui.document.headings import count_lines, scan_headings
from roamtui.document.parse import parse_document
from tests.benchmarks.measuring import Finding
from tests.real_documents import find_data_dir

_FILES = ("mdn-concat-50mb.md", "llms-full-concat-30mb.md")
_GOAL = 30
_TURNS = 5
_SIZES = (100_000, 1_000_000, 10_000_000, 50_000_000)


def bench_headings() -> list[Finding]:
    """Return times of the scan, of what it is compared with, and how it grows."""
    findings = []
    parser = MarkdownIt("commonmark").enable("table")
    for name in _FILES:
        text = _read(name)
        ours = _measure(lambda text=text: find_rows(text), _TURNS)  # type: ignore[misc]
        findings.append(Finding(what=f"heading rows of {name}", value=f"{ours:.2f} s"))
        opened = _measure(lambda text=text: parse_document(text), _TURNS)  # type: ignore[misc]
        findings.append(Finding(what=f"document of {name}", value=f"{opened:.2f} s"))
        ratio = _measure(lambda text=text: parser.parse(text), 1) / ours  # type: ignore[misc]
        what = "  markdown-it-py, full parse, times as long"
        findings.append(Finding(what=what, value=f"{ratio:.1f}", goal=f"≥ {_GOAL}", is_met=ratio >= _GOAL))
    findings.append(_fit_growth(_read(_FILES[0])))
    return findings


def find_rows(text: str) -> list[tuple[int, str, int]]:
    """Return level, title and line of each heading."""
    columns = scan_headings(text)
    return list(zip(columns.levels, columns.titles, count_lines(text, columns.offsets), strict=True))


def _fit_growth(text: str) -> Finding:
    points = []
    for size in _SIZES:
        part = text[: text.find("\n", size - 1) + 1 or len(text)]
        points.append((log(len(part)), log(_measure(lambda part=part: find_rows(part), _TURNS))))  # type: ignore[misc]
    slope = linear_regression([x for x, _ in points], [y for _, y in points]).slope
    goal = "≤ 1.1"
    return Finding(what="growth from 0.1 to 50 MB, exponent", value=f"{slope:.2f}", goal=goal, is_met=slope <= 1.1)


def _measure(work: Callable[[], object], turns: int) -> float:
    """Return the median processor time, which other programs on the machine disturb least."""
    seconds = []
    for _ in range(turns):
        gc.collect()
        start = process_time()
        work()
        seconds.append(process_time() - start)
    return median(seconds)


def _read(name: str) -> str:
    with gzip.open(find_data_dir() / "perf" / f"{name}.gz") as file:
        return file.read().decode("utf-8")
