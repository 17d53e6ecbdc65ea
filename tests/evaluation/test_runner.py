"""Questions about a small folder, for search and for scripted models."""

from pathlib import Path
from typing import Any

import pytest

from roamtui.bootstrap import open_library
from roamtui.errors import ModelError
from roamtui.evaluation.question_set import read_questions
from roamtui.evaluation.runner import EvalPlan, EvalRun, run_questions
from roamtui.models.base import Model
from roamtui.search.searcher import Searcher
from tests.evaluation.folders import CANOE, JACKET, TYRE, write_folder, write_questions
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply


async def _measure(
    tmp_path: Path, *questions: dict[str, Any], scope: str = "all", model: Model | None = None
) -> EvalRun:
    docs = tmp_path / "docs"
    if not docs.exists():
        write_folder(docs)
    asked, _ = read_questions(write_questions(tmp_path / "q.jsonl", *(questions or (CANOE, TYRE, JACKET))))
    plan = EvalPlan(
        docs=docs,
        scope=scope,
        open_library=lambda path: open_library((str(path),)),
        make_searcher=Searcher,
        model=model,
    )
    return await run_questions(plan, asked, lambda *_: None)


async def test_a_question_without_its_document_or_section_is_skipped(tmp_path: Path) -> None:
    lost = {**CANOE, "id": "lost", "doc": "none.md"}
    gone = {**CANOE, "id": "gone", "gold_section_titles_path": ["Sails"]}
    outside = {**CANOE, "id": "outside", "doc": "../q.jsonl"}
    run = await _measure(tmp_path, lost, gone, outside, TYRE, scope="doc")
    assert len(run.results) == 1
    assert [problem.partition(" was skipped")[0] for problem in run.problems] == [
        "question lost",
        "question gone",
        "question outside",
    ]


async def test_a_follow_up_is_found_only_with_its_history(tmp_path: Path) -> None:
    history = [{"role": "user", "content": "Do you lend boats?"}, {"role": "assistant", "content": "We do."}]
    question = {
        "id": "p",
        "doc": "hire/boats.md",
        "question": "How many crowns is it?",
        "gold_line": 5,
        "history": history,
    }
    with_history = await _measure(tmp_path, question)
    without = await _measure(tmp_path, {**question, "history": None})
    assert with_history.results[0].rank == 1
    assert without.results[0].rank != 1


async def test_a_model_that_fails_at_once_stops_the_run(tmp_path: Path) -> None:
    model = ScriptedModel([ScriptedReply(error=ModelError("no key"))])
    with pytest.raises(ModelError, match="no key"):
        await _measure(tmp_path, model=model)
