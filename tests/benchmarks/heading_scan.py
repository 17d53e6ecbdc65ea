"""Headings of 50 and 30 MB, to rows with levels, titles and lines, beside full parses by others in the same run.

Runs by itself too, as `python -m tests.benchmarks.heading_scan`, so that bindings can be installed somewhere apart.
"""

from __future__ import annotations

import gc
import gzip
import re
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from math import log
from statistics import linear_regression, median
from time import process_time
from typing import Any

from markdown_it import MarkdownIt

from roamtui.document.headings import count_lines, scan_headings
from roamtui.document.parse import parse_document
from tests.benchmarks.findings import FINDINGS_HEAD, Finding, format_finding
from tests.real_documents import find_data_dir

_FILES = ("mdn-concat-50mb.md", "llms-full-concat-30mb.md")
_GOAL = 30
_TURNS = 5
_SIZES = (100_000, 1_000_000, 10_000_000, 50_000_000)
_HEADING = re.compile(r'<h([1-6]) data-sourcepos="(\d+):')


def bench_headings() -> list[Finding]:
    """Return times of the scan, of what it is compared with, and how it grows."""
    findings = []
    for name in _FILES:
        text = _read(name)
        ours = _measure(lambda text=text: find_rows(text), _TURNS)  # type: ignore[misc]
        findings.append(Finding(what=f"heading rows of {name}", value=f"{ours:.2f} s"))
        opened = _measure(lambda text=text: parse_document(text), _TURNS)  # type: ignore[misc]
        findings.append(Finding(what=f"document of {name}", value=f"{opened:.2f} s"))
        for peer, work in _list_peers():
            ratio = _measure(lambda text=text, work=work: work(text), 1) / ours  # type: ignore[misc]
            goal = _GOAL if peer.startswith("markdown-it-py") else 1
            findings.append(
                Finding(what=f"  {peer}, times as long", value=f"{ratio:.1f}", goal=f"≥ {goal}", is_met=ratio >= goal)
            )
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


def _list_peers() -> list[tuple[str, Callable[[str], object]]]:
    """Return who is installed; bindings give headings with lines too, nested ones among them."""
    parser = MarkdownIt("commonmark").enable("table")
    peers: list[tuple[str, Callable[[str], object]]] = [("markdown-it-py, full parse", parser.parse)]
    for name, use in (("mistune", _use_mistune), ("pyromark", _use_pyromark), ("cmarkgfm", _use_cmarkgfm)):
        if find_spec(name):
            peers.append((name, use(import_module(name))))
    return peers


def _use_mistune(mistune: Any) -> Callable[[str], object]:  # noqa: ANN401 - not installed everywhere
    parse: Callable[[str], object] = mistune.create_markdown(renderer="ast", plugins=["table"])
    return parse


def _use_pyromark(pyromark: Any) -> Callable[[str], object]:  # noqa: ANN401
    def find(text: str) -> list[object]:
        return [
            (event, span)
            for event, span in pyromark.events_with_range(text, options=pyromark.Options.ENABLE_TABLES)
            if isinstance(event, dict) and "Heading" in str(event.get("Start", ""))
        ]

    return find


def _use_cmarkgfm(cmarkgfm: Any) -> Callable[[str], object]:  # noqa: ANN401
    options = cmarkgfm.cmark.Options.CMARK_OPT_SOURCEPOS

    def find(text: str) -> list[object]:
        return _HEADING.findall(cmarkgfm.markdown_to_html(text, options=options))

    return find


def main() -> None:
    """Print the table."""
    lines = [FINDINGS_HEAD, *map(format_finding, bench_headings())]
    print(*lines, sep="\n")  # noqa: T201 - the table is the output


if __name__ == "__main__":
    main()
