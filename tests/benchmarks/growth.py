"""How opening, outline and expansion grow with the number of sections; the last two must not."""

import gzip
import random
import runpy
from collections.abc import Callable
from functools import partial

from roamtui.conversation.budget import OpenSectionOptions
from roamtui.conversation.events import Origin
from roamtui.conversation.state import start_conversation
from roamtui.conversation.update import ExpandSections, update
from roamtui.document.library import Library
from roamtui.document.parse import parse_document
from roamtui.outline.render import render_outline
from tests.benchmarks.measuring import Finding, fit_exponent, limit_seconds, measure_cpu
from tests.real_documents import find_data_dir

_SECTIONS = (1_000, 10_000, 100_000)
_BATCH = 20


def bench_growth() -> list[Finding]:
    """Return the processor time at the largest size, and how it grows."""
    with gzip.open(find_data_dir() / "perf" / "mdn-concat-50mb.md.gz") as file:
        text = file.read().decode("utf-8")
    opened = limit_seconds("find the headings of 50 MB of MDN", measure_cpu(partial(parse_document, text), 3))
    shapes = [finding for shape in ("tree", "flat", "deep") for finding in _bench_shape(shape)]
    return [opened, *shapes]


def _bench_shape(shape: str) -> list[Finding]:
    generate = runpy.run_path(str(find_data_dir() / "perf" / "gen_wide.py"))["gen"]
    opened, outlined, expanded = [], [], []
    for count in _SECTIONS:
        text = "".join(generate(count, shape))
        opened.append(measure_cpu(partial(_open, text), 3))
        library = _open(text)
        render_outline(library)
        outlined.append(measure_cpu(partial(render_outline.__wrapped__, library), 9))
        expanded.append(measure_cpu(_expand_anywhere(library), 30))
    exponents = [fit_exponent(_SECTIONS, seconds) for seconds in (opened, outlined, expanded)]
    return [
        limit_seconds(f"{shape}: find the headings of 100,000 sections (exponent {exponents[0]:.2f})", opened[-1]),
        limit_seconds(f"{shape}: write its outline for a model (exponent {exponents[1]:.2f})", outlined[-1], 0.02),
        limit_seconds(f"{shape}: open {_BATCH} of its sections (exponent {exponents[2]:.2f})", expanded[-1], 0.005),
    ]


def _open(text: str) -> Library:
    library = Library(source="bench.md", root=parse_document(text))
    _ = library.root.tokens_before, library.root.rows_by_id
    return library


def _expand_anywhere(library: Library) -> Callable[[], object]:
    state = start_conversation(library, OpenSectionOptions())
    chance = random.Random(1)  # noqa: S311 - a seed for a bench

    def expand() -> object:
        ids = tuple(chance.sample(library.root.ids, _BATCH))
        return update(state, ExpandSections(section_ids=ids, origin=Origin.AGENT))

    return expand
