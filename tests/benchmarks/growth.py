"""How the costs of opening, outline and expansion grow with the number of sections; the last two must not."""

from __future__ import annotations

import math
import random
import runpy
from collections.abc import Callable
from functools import partial
from statistics import linear_regression, median
from time import process_time

from roamtui.conversation.commands import ExpandSections, Origin
from roamtui.conversation.state import OpenSectionOptions, start_conversation
from roamtui.conversation.update import update
from roamtui.document.library import Library
from roamtui.document.parse import parse_document
from roamtui.outline.render import render_outline
from tests.benchmarks.measuring import Finding
from tests.real_documents import find_data_dir

_SECTIONS = (1_000, 10_000, 100_000)
_SHAPES = ("tree", "flat", "deep")
_TURNS = 9
_BATCH = 20
_OUTLINE_SECONDS_MAX = 0.02
_EXPAND_SECONDS_MAX = 0.005


def bench_growth() -> list[Finding]:
    """Return the processor time of each at each size, and the exponents."""
    return [finding for shape in _SHAPES for finding in _bench_sections(shape)]


def _measure(work: Callable[[], object], turns: int = _TURNS) -> float:
    seconds = []
    for _ in range(turns):
        start = process_time()
        work()
        seconds.append(process_time() - start)
    return median(seconds)


def _bench_sections(shape: str) -> list[Finding]:
    generate = runpy.run_path(str(find_data_dir() / "perf" / "gen_wide.py"))["gen"]
    opened, outlined, expanded = [], [], []
    for count in _SECTIONS:
        text = "".join(generate(count, shape))
        opened.append(_measure(lambda text=text: _open(text), 3))  # type: ignore[misc]
        library = _open(text)
        render_outline(library)
        outlined.append(_measure(partial(render_outline, library)))
        expanded.append(_measure(_expand_anywhere(library), 30))
    return [
        *_tell(f"{shape}: open, with ids and sizes", opened),
        *_tell(f"{shape}: outline in 12,000 tokens, warm", outlined, _OUTLINE_SECONDS_MAX),
        *_tell(f"{shape}: expand {_BATCH} ids", expanded, _EXPAND_SECONDS_MAX),
    ]


def _open(text: str) -> Library:
    library = Library(source="bench.md", root=parse_document(text))
    _ = library.root.tokens_before, library.root.rows_by_id
    return library


def _expand_anywhere(library: Library) -> Callable[[], object]:
    state = start_conversation(library, OpenSectionOptions())
    choose = random.Random(1)  # noqa: S311 - a seed for a bench

    def expand() -> object:
        ids = tuple(choose.sample(library.root.ids, _BATCH))
        return update(state, ExpandSections(section_ids=ids, origin=Origin.AGENT))

    return expand


def _tell(what: str, seconds: list[float], seconds_max: float | None = None) -> list[Finding]:
    """Return the time at the largest size, and how it grew to there."""
    logarithms = [math.log(max(value, 1e-6)) for value in seconds]
    exponent = linear_regression([math.log(count) for count in _SECTIONS], logarithms).slope
    grown = ", ".join(map(_format, seconds[:-1]))
    goal = f"≤ {seconds_max * 1_000:g} ms" if seconds_max is not None else ""
    return [
        Finding(
            what=f"{what} ({grown}, exponent {exponent:.2f})",
            value=_format(seconds[-1]),
            goal=goal,
            is_met=seconds_max is None or seconds[-1] <= seconds_max,
        )
    ]


def _format(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1_000:.1f} ms"
