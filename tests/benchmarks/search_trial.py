"""Keyword search beside a plain trial of FTS5, over all documents of each set, by paired bootstrap.

The trial: porter, columns title 3, path (headings above and file path) 1 and text 1, some fifty stop words left out,
terms joined by OR. Run as `python -m tests.benchmarks.search_trial`.
"""

from __future__ import annotations

import random
import re
import sqlite3
import sys
from statistics import fmean
from typing import TYPE_CHECKING

from roamtui.evaluation.golds import find_gold_ids, find_rank
from roamtui.evaluation.questions import read_questions
from roamtui.evaluation.running import build_folder_library
from roamtui.search.keyword import KeywordSearcher
from tests.real_documents import find_data_dir

if TYPE_CHECKING:
    from collections.abc import Sequence

    from roamtui.document.library import Library

SETS = ("anthropic-docs", "ray-docs", "vespa-docs")
_PLACES = (1, 5, 10)
_RESAMPLES = 10_000
_STOPPED = """
a an and are as at be but by can could did do does for from had has have how i if in into is it its me my no not of on
or our so than that the their then there these they this to was we what when where which who why will with you your
"""
_STOP_WORDS = frozenset(_STOPPED.split())
Ranks = dict[str, list[int | None]]
"""Of each set, the place of the gold section for each question; None where it is not among the first ten."""


def run_trial(library: Library, questions: Sequence[str]) -> list[list[str]]:
    """Return the ids that the plain trial finds for each question, the best first."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE s USING fts5(title, path, body, tokenize='porter unicode61')")
    ids = list(library.walk())
    for number, section_id in enumerate(ids):
        node = library.node(section_id)
        document, row = library.locate(section_id)
        text = document.text[document.columns.starts[row] : document.columns.starts[row + 1]]
        if text:
            path = " ".join((*node.path[:-1], node.doc))
            connection.execute(
                "INSERT INTO s(rowid, title, path, body) VALUES(?, ?, ?, ?)", (number, node.title, path, text)
            )
    found = []
    for question in questions:
        terms = dict.fromkeys(re.findall(r"\w+", question.lower()))
        words = [f'"{term}"' for term in terms if term not in _STOP_WORDS] or ['"x"']
        query = "SELECT rowid FROM s WHERE s MATCH ? AND rank MATCH 'bm25(3.0, 1.0, 1.0)' ORDER BY rank LIMIT 10"
        found.append([ids[number] for (number,) in connection.execute(query, (" OR ".join(words),))])
    connection.close()
    return found


def find_ranks(name: str) -> tuple[list[int | None], list[int | None]]:
    """Return the places of the gold sections of a set, by the trial and by keyword search."""
    folder = find_data_dir() / "sets" / name
    questions = read_questions(folder / "questions.jsonl").questions
    library = build_folder_library(folder / "docs")
    documents = {document.key: document for document in library.grafts.values()}
    golds = [find_gold_ids(question, documents).strict for question in questions]
    trial = run_trial(library, [question.question for question in questions])
    searcher = KeywordSearcher(library)
    ours = [
        [section.section_id for section in searcher.rank(question.question, limit=10).sections]
        for question in questions
    ]
    return (
        [find_rank(found, gold) for found, gold in zip(trial, golds, strict=True)],
        [find_rank(found, gold) for found, gold in zip(ours, golds, strict=True)],
    )


def compare(before: Ranks, after: Ranks, place: int, *, seed: int = 0) -> tuple[float, float, float]:
    """Return the macro-averages of Hit@`place` of both, and the share of resamples in which the second is higher."""
    chance = random.Random(seed)  # noqa: S311 - a bootstrap
    hits = {
        name: [(_is_hit(a, place), _is_hit(b, place)) for a, b in zip(before[name], after[name], strict=True)]
        for name in before
    }
    wins = 0.0
    for _ in range(_RESAMPLES):
        gain = fmean(sum(b - a for a, b in chance.choices(pairs, k=len(pairs))) / len(pairs) for pairs in hits.values())
        wins += 1.0 if gain > 0 else 0.5 if gain == 0 else 0.0
    first, second = (fmean(fmean(pair[side] for pair in pairs) for pairs in hits.values()) for side in (0, 1))
    return first, second, wins / _RESAMPLES


def main() -> None:
    """Print a line for each set and for the macro-average."""
    trial: Ranks = {}
    ours: Ranks = {}
    for name in SETS:
        trial[name], ours[name] = find_ranks(name)
    sys.stdout.write("| set | | trial | keyword | higher in |\n|---|---|---:|---:|---:|\n")
    for names in (*((name,) for name in SETS), SETS):
        for place in _PLACES:
            before, after = ({name: ranks[name] for name in names} for ranks in (trial, ours))
            first, second, share = compare(before, after, place)
            title = names[0] if len(names) == 1 else "macro-average"
            sys.stdout.write(f"| {title} | Hit@{place} | {first:.1%} | {second:.1%} | {share:.1%} |\n")


def _is_hit(rank: int | None, place: int) -> int:
    return int(rank is not None and rank <= place)


if __name__ == "__main__":
    main()
