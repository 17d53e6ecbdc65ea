"""A stored mix of queries over 100,000 sections, and over a million on request, with an index on disk.

Half of the sections are written by rule, as of a wide tree; half are those of MDN, again and again under titles of
their own. Runs by itself too: `python -m tests.benchmarks.search_scale [SECTIONS]`.
"""

from __future__ import annotations

import gzip
import random
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from time import process_time
from types import MappingProxyType

from roamtui.document.document import Document, NodeRow, build_columns
from roamtui.document.library import Library
from roamtui.document.node import NodeKind
from roamtui.document.parse import parse_document
from roamtui.search.index import IndexLocation, SectionIndex
from roamtui.search.keyword import KeywordSearcher
from tests.benchmarks.measuring import FINDINGS_HEAD, Finding, format_finding
from tests.real_documents import find_data_dir

_SECTIONS = 100_000
_SECTIONS_EACH = 1_000
"""Of one file."""
_QUERIES = 100
"""Of each kind."""
_GOALS_MS = {"words": 30, "identifiers": 30, "questions": 100}
_WORDS = "outline section agent reader terminal budget cursor folder theme socket packet index token parser".split()  # noqa: SIM905
_IDENTIFIER = re.compile(r"\b[a-z]+[A-Z]\w+|\b\w+\.\w+\(|\b\w+_\w+|--\w[\w-]+")
_WORD = re.compile(r"[A-Za-z][a-z]{3,}")
_QUESTION_WORDS = ("what", "how", "why", "where", "which", "should", "can")


def bench_search_scale(sections: int = _SECTIONS) -> list[Finding]:
    """Return how long it takes to make an index, to open it again, to change a file, and to answer queries."""
    library = make_library(sections)
    with tempfile.TemporaryDirectory() as folder:
        place = IndexLocation(folder=Path(folder), force=True)
        made = _time(lambda: KeywordSearcher(library, location=place).prepare())
        searcher = KeywordSearcher(library, location=place)
        opened = _time(searcher.prepare)
        index = searcher.prepare()
        findings = [
            Finding(what=f"{sections:,} sections: index made on disk", value=f"{made:.1f} s"),
            Finding(what="the same opened again / made", value=f"{opened / made:.3f}"),
        ]
        for kind, queries in make_queries(index).items():
            times = [1_000 * _time(lambda query=query: searcher.search(query)) for query in queries]  # type: ignore[misc]
            found, goal = median(times), _GOALS_MS[kind]
            worst = sorted(times)[int(0.95 * len(times))]
            value = f"{found:.0f} / {worst:.0f} ms"
            what = f"{kind}: median / p95 of own CPU"
            findings.append(Finding(what=what, value=value, goal=f"p50 ≤ {goal} ms", is_met=found <= goal))
        searcher.refresh(_change_file(library))
        changed = _time(searcher.prepare)
        findings.append(Finding(what="one file changed / index made", value=f"{changed / made:.3f}"))
    return findings


def make_library(sections: int) -> Library:
    """Return a folder of files with so many sections."""
    files = [*_group(_write_wide(sections // 2)), *_group(_write_real(sections - sections // 2))]
    rows = [NodeRow(NodeKind.FILE, 1, f"{number}.md", 0) for number in range(len(files))]
    root = Document(key="", title="folder", text="", columns=build_columns(rows, 0))
    documents = {root.ids[row]: parse_document(text, key=f"{row}.md") for row, text in enumerate(files)}
    return Library(source="folder", root=root).graft_all(documents)


def make_queries(index: SectionIndex) -> dict[str, list[str]]:
    """Return queries of each kind, the same for the same sections."""
    chance = random.Random(1)  # noqa: S311 - a sample
    texts = [index.own_text(chance.randrange(len(index))) for _ in range(20 * _QUERIES)]
    words = [word.lower() for text in texts for word in _WORD.findall(text)]
    identifiers = [name for text in texts for name in _IDENTIFIER.findall(text)]
    runs = [words for text in texts if len(words := _WORD.findall(text)) > 9]
    questions = []
    for run in chance.choices(runs, k=_QUERIES):
        start = chance.randrange(len(run) - 8)
        asked = " ".join(run[start : start + chance.randint(5, 8)])
        questions.append(f"{chance.choice(_QUESTION_WORDS)} is {asked}?")
    return {
        "words": chance.choices(words, k=_QUERIES),
        "identifiers": chance.choices(identifiers, k=_QUERIES),
        "questions": questions,
    }


def _write_wide(count: int) -> Iterator[str]:
    chance = random.Random(2)  # noqa: S311 - made-up text
    for number in range(count):
        first, second, *more = chance.choices(_WORDS, k=8)
        lines = (f"Line {line} of section {number}: {more[line]} {more[line + 3]}." for line in range(number % 4 % 3))
        yield f"{'#' * (1 + number % 6)} Section {number} {first} {second}\n\n" + "\n".join(lines) + "\n\n"


def _write_real(count: int) -> Iterator[str]:
    path = find_data_dir() / "perf" / "mdn-concat-50mb.md.gz"
    text = gzip.decompress(path.read_bytes()).decode("utf-8")
    starts = parse_document(text).columns.starts
    for number in range(count):
        turn, row = divmod(number, len(starts) - 1)
        own = text[starts[row] : starts[row + 1]]
        yield own.replace("\n", f" part {turn}\n", 1) if turn else own


def _group(sections: Iterator[str]) -> Iterator[str]:
    group: list[str] = []
    for section in sections:
        group.append(section)
        if len(group) == _SECTIONS_EACH:
            yield "".join(group)
            group = []
    if group:
        yield "".join(group)


def _change_file(library: Library) -> Library:
    section_id, document = next(iter(library.grafts.items()))
    changed = parse_document(f"{document.text[:]}\n# New\n\nWords that are new.\n", key=document.key)
    grafts = MappingProxyType({**library.grafts, section_id: changed})
    return Library(source=library.source, root=library.root, grafts=grafts)


def _time(do: Callable[[], object]) -> float:
    start = process_time()
    do()
    return process_time() - start


if __name__ == "__main__":
    asked = int(sys.argv[1].replace(",", "")) if len(sys.argv) > 1 else _SECTIONS
    sys.stdout.write("\n".join([FINDINGS_HEAD, *map(format_finding, bench_search_scale(asked))]) + "\n")
