"""Search finds the right sections for real questions. The bounds lie a little below what was measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from roamtui.document.library import Library
from roamtui.search.keyword import KeywordSearcher
from tests.search.libraries import make_folder

_HITS_MAX = 10


def _read_folder(docs: Path) -> Library:
    return make_folder(
        {path.relative_to(docs).as_posix(): path.read_text("utf-8") for path in sorted(docs.rglob("*.md"))}
    )


def _find_gold(library: Library, question: dict[str, Any]) -> set[str]:
    ids: set[str] = set()
    for gold in (question, *question.get("gold_alt", ())):
        document = library.document(gold["doc"])
        section_id = library.section_at(gold["doc"], document.line_starts[gold["gold_line"] - 1])
        assert section_id is not None
        ids |= {section_id} if question.get("gold_own_only") else set(library.walk(section_id))
    return ids


def _find_rank(searcher: KeywordSearcher, library: Library, question: dict[str, Any]) -> int:
    gold = _find_gold(library, question)
    hits = searcher.search(question["question"], limit=_HITS_MAX)
    return next((rank for rank, hit in enumerate(hits, start=1) if hit.section_id in gold), _HITS_MAX + 1)


@pytest.mark.parametrize(
    ("name", "count", "bounds"),
    [("anthropic-docs", 42, {1: 0.80, 5: 0.95, 10: 0.97}), ("vespa-docs", 150, {1: 0.50, 5: 0.80, 10: 0.90})],
)
def test_gold_sections_are_found(data_dir: Path, name: str, count: int, bounds: dict[int, float]) -> None:
    folder = data_dir / "sets" / name
    lines = (folder / "questions.jsonl").read_text("utf-8").splitlines()
    questions = [json.loads(line) for line in lines[:: max(1, len(lines) // count)]]
    library = _read_folder(folder / "docs")
    searcher = KeywordSearcher(library)
    ranks = [_find_rank(searcher, library, question) for question in questions]
    shares = {place: sum(rank <= place for rank in ranks) / len(ranks) for place in bounds}
    assert all(shares[place] >= bound for place, bound in bounds.items()), shares
