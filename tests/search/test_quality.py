"""Search finds the right sections for real questions. The bounds are slightly below the measured values."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from roamtui.bootstrap import open_library
from roamtui.evaluation.question_set import EvalQuestion, read_questions
from roamtui.evaluation.runner import SCOPE_ALL, EvalPlan, run_questions
from roamtui.search.keyword import KeywordSearcher
from tests.real_documents import PROJECT_DIR


@pytest.mark.parametrize(
    ("name", "count", "bounds"),
    [("anthropic-docs", 42, {1: 0.80, 5: 0.95, 10: 0.97}), ("vespa-docs", 150, {1: 0.50, 5: 0.80, 10: 0.90})],
)
def test_gold_sections_are_found(data_dir: Path, name: str, count: int, bounds: dict[int, float]) -> None:
    folder = data_dir / "sets" / name
    questions, _ = read_questions(folder / "questions.jsonl")
    _check_shares(folder / "docs", questions[:: max(1, len(questions) // count)], count, bounds)


def test_questions_in_everyday_german_are_found_in_laws(data_dir: Path, tmp_path: Path) -> None:
    questions, _ = read_questions(PROJECT_DIR / "tests" / "cases" / "questions_de.jsonl")
    for name in {question.doc for question in questions}:
        shutil.copy(data_dir / "books" / name, tmp_path / name)
    _check_shares(tmp_path, questions, 58, {1: 0.42, 5: 0.58, 10: 0.66})


def _check_shares(docs: Path, questions: tuple[EvalQuestion, ...], count: int, bounds: dict[int, float]) -> None:
    plan = EvalPlan(
        docs=docs,
        scope=SCOPE_ALL,
        open_library=lambda path: open_library((str(path),)),
        make_searcher=KeywordSearcher,
    )
    ranks = [row.rank or len(questions) for row in asyncio.run(run_questions(plan, questions, lambda *_: None)).results]
    assert len(ranks) >= count
    shares = {place: sum(rank <= place for rank in ranks) / len(ranks) for place in bounds}
    assert all(shares[place] >= bound for place, bound in bounds.items()), shares
