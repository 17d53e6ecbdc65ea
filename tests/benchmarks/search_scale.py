"""A mix of queries over 100,000 sections, or as many as are named, with an index on disk.

The sections are those of MDN, again and again under titles of their own:
`python -m tests.benchmarks.search_scale [SECTIONS]`.
"""

from __future__ import annotations

import gzip
import random
import re
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import median

from roamtui.document.document import Document, NodeRow, build_columns
from roamtui.document.library import Library
from roamtui.document.node import NodeKind
from roamtui.document.parse import parse_document
from roamtui.search.index import IndexLocation, SectionIndex
from roamtui.search.keyword import KeywordSearcher
from tests.benchmarks.measuring import TABLE_HEAD, Finding, format_finding, limit_seconds, measure_cpu
from tests.real_documents import find_data_dir

_SECTIONS = 100_000
_SECTIONS_EACH = 1_000
"""Of one file."""
_QUERIES = 100
_SECONDS_MAX = {"words": 0.03, "questions": 0.1}
_WORD = re.compile(r"[A-Za-z][a-z]{3,}")


def bench_search_scale(sections: int = _SECTIONS) -> list[Finding]:
    """Return how long it takes to make an index, to open it again, and to answer queries."""
    library = make_library(sections)
    with tempfile.TemporaryDirectory() as folder:
        place = IndexLocation(folder=Path(folder), force=True)
        made = measure_cpu(lambda: KeywordSearcher(library, location=place).prepare())
        searcher = KeywordSearcher(library, location=place)
        opened = measure_cpu(searcher.prepare)
        index = searcher.prepare()
        findings = [
            limit_seconds(f"{sections:,} sections: index made on disk", made),
            limit_seconds("the same opened again", opened),
        ]
        for kind, queries in make_queries(index).items():
            times = [measure_cpu(partial(searcher.search, query)) for query in queries]
            findings.append(limit_seconds(f"{kind}: median of {_QUERIES}", median(times), _SECONDS_MAX[kind]))
    return findings


def make_library(sections: int) -> Library:
    """Return a folder of files with so many sections."""
    written = _write_sections(sections)
    files = ["".join(group) for group in iter(lambda: [*islice(written, _SECTIONS_EACH)], [])]
    rows = [NodeRow(NodeKind.FILE, 1, f"{number}.md", 0) for number in range(len(files))]
    root = Document(key="", title="folder", text="", columns=build_columns(rows, 0))
    documents = {root.ids[row]: parse_document(text, key=f"{row}.md") for row, text in enumerate(files)}
    return Library(source="folder", root=root).graft_all(documents)


def make_queries(index: SectionIndex) -> dict[str, list[str]]:
    """Return queries of each kind, the same for the same sections."""
    chance = random.Random(1)  # noqa: S311 - a sample
    texts = [_WORD.findall(index.own_text(chance.randrange(len(index)))) for _ in range(20 * _QUERIES)]
    runs = chance.choices([words for words in texts if len(words) > 9], k=_QUERIES)
    starts = [chance.randrange(len(run) - 8) for run in runs]
    return {
        "words": [chance.choice(run).lower() for run in runs],
        "questions": [f"what is {' '.join(run[start : start + 7])}?" for run, start in zip(runs, starts, strict=True)],
    }


def _write_sections(count: int) -> Iterator[str]:
    path = find_data_dir() / "perf" / "mdn-concat-50mb.md.gz"
    text = gzip.decompress(path.read_bytes()).decode("utf-8")
    starts = parse_document(text).columns.starts
    for number in range(count):
        turn, row = divmod(number, len(starts) - 1)
        own = text[starts[row] : starts[row + 1]]
        yield own.replace("\n", f" part {turn}\n", 1) if turn else own


if __name__ == "__main__":
    asked = int(sys.argv[1].replace(",", "")) if len(sys.argv) > 1 else _SECTIONS
    sys.stdout.write("\n".join([TABLE_HEAD, *map(format_finding, bench_search_scale(asked))]) + "\n")
