"""Questions about a small folder, for search and for scripted models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from roamtui.errors import ModelError
from roamtui.evaluation.question_set import Turn, read_questions
from roamtui.evaluation.runner import EvalPlan, make_exchanges, run_questions
from roamtui.evaluation.scoring import ResultFile, RunKey
from roamtui.library_loader import open_library
from roamtui.models.base import Model
from roamtui.models.offline import OfflineModel
from roamtui.search.keyword import KeywordSearcher
from tests.evaluation.folders import CANOE, JACKET, TYRE, write_folder, write_questions
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply


def _make_plan(tmp_path: Path, *questions: dict[str, Any], scope: str = "all", model: str = "") -> EvalPlan:
    docs = tmp_path / "docs"
    if not docs.exists():
        write_folder(docs)
    read = read_questions(write_questions(tmp_path / "q.jsonl", *(questions or (CANOE, TYRE, JACKET))))
    return EvalPlan(
        key=RunKey(set="tiny", scope=scope, mode="keyword", model=model, with_history=True),
        docs=docs,
        questions=read.questions,
        make_searcher=KeywordSearcher,
        make_model=OfflineModel if model else None,
    )


@pytest.mark.parametrize("scope", ["doc", "all"])
async def test_search_finds_the_gold_sections(tmp_path: Path, scope: str) -> None:
    run = await run_questions(_make_plan(tmp_path, scope=scope))
    assert {name: row.rank for name, row in run.results.items()} == {"canoe": 1, "tyre": 1, "jacket": 1}
    assert run.problems == []


async def test_scope_doc_searches_only_the_document_of_the_question(tmp_path: Path) -> None:
    question = {**TYRE, "question": "What does a canoe cost?"}
    everything = await run_questions(_make_plan(tmp_path, question, scope="all"))
    document = await run_questions(_make_plan(tmp_path, question, scope="doc"))
    assert len(everything.results["tyre"].hits) > len(document.results["tyre"].hits)


async def test_a_question_without_its_document_or_section_is_skipped(tmp_path: Path) -> None:
    lost = {**CANOE, "id": "lost", "doc": "none.md"}
    gone = {**CANOE, "id": "gone", "gold_section_titles_path": ["Sails"]}
    outside = {**CANOE, "id": "outside", "doc": "../q.jsonl"}
    run = await run_questions(_make_plan(tmp_path, lost, gone, outside, TYRE, scope="doc"))
    assert list(run.results) == ["tyre"]
    assert [problem.partition(" is skipped")[0] for problem in run.problems] == [
        "question lost (line 1)",
        "question gone (line 2)",
        "question outside (line 3)",
    ]


async def test_an_interrupted_run_resumes(tmp_path: Path) -> None:
    plan = _make_plan(tmp_path)
    path = tmp_path / "rows.jsonl"
    first = await run_questions(replace(plan, questions=plan.questions[:2]), ResultFile(path, plan.key))
    file = ResultFile(path, plan.key)
    run = await run_questions(plan, file)
    assert run.results["canoe"] == first.results["canoe"]
    assert path.read_text("utf-8").count("\n") == 3
    assert set(ResultFile(path, plan.key).done) == {"canoe", "tyre", "jacket"}


async def test_a_follow_up_is_found_only_with_its_history(tmp_path: Path) -> None:
    history = [{"role": "user", "content": "Do you lend boats?"}, {"role": "assistant", "content": "We do."}]
    question = {"id": "p", "doc": "hire/boats.md", "question": "How many crowns is it?", "line": 5, "history": history}
    plan = _make_plan(tmp_path, question)
    with_history = await run_questions(plan)
    without = await run_questions(replace(plan, key=replace(plan.key, with_history=False)))
    assert with_history.results["p"].rank == 1
    assert without.results["p"].rank != 1


async def test_the_agent_is_scored_by_what_it_opened_and_cited(tmp_path: Path) -> None:
    run = await run_questions(_make_plan(tmp_path, model="offline", scope="doc"))
    agent = run.results["canoe"].agent
    assert agent is not None
    assert (agent.gold_opened, agent.gold_cited) == (True, True)
    assert agent.quotes == agent.verified > 0
    assert agent.steps == 3
    assert agent.tokens > 0
    assert agent.stopped == "answered"


async def test_a_section_delivered_with_its_parent_counts_as_opened(tmp_path: Path) -> None:
    plan = _make_plan(tmp_path, CANOE, scope="doc")
    (canoe,) = (await run_questions(plan)).results["canoe"].hits[:1]
    document = open_library((str(tmp_path / "docs" / str(CANOE["doc"])),))
    above = document.ancestors(canoe)[0]
    replies = [
        ScriptedReply(calls=(("expand_sections", {"section_ids": [above]}),)),
        ScriptedReply(text="Not found: nothing."),
    ]
    plan = replace(plan, key=replace(plan.key, model="scripted"), make_model=lambda: ScriptedModel(replies))
    agent = (await run_questions(plan)).results["canoe"].agent
    assert agent is not None
    assert (agent.gold_opened, agent.gold_cited, agent.opened) == (True, False, 1)


def _fail(times: int) -> Callable[[], Model]:
    """Return a factory of models that answer once, fail some times, and answer again."""
    answer = ScriptedReply(text="Not found: nothing.")
    failure = ScriptedReply(error=ModelError("the server is gone"))
    return lambda: ScriptedModel([answer, *[failure] * times, *[answer] * 9])


async def test_a_model_that_fails_at_once_stops_the_run(tmp_path: Path) -> None:
    plan = replace(
        _make_plan(tmp_path, model="m"), make_model=lambda: ScriptedModel([ScriptedReply(error=ModelError("no key"))])
    )
    with pytest.raises(ModelError, match="no key"):
        await run_questions(plan)


async def test_a_question_is_skipped_if_the_model_fails(tmp_path: Path) -> None:
    run = await run_questions(replace(_make_plan(tmp_path, model="m"), make_model=_fail(1)))
    assert list(run.results) == ["canoe", "jacket"]
    assert run.problems == ["question tyre (line 2) is skipped: the server is gone"]


async def test_a_model_that_keeps_failing_stops_the_run(tmp_path: Path) -> None:
    questions = [{**CANOE, "id": f"q{number}"} for number in range(9)]
    plan = _make_plan(tmp_path, *questions, model="m")
    with pytest.raises(ModelError, match="the server is gone"):
        await run_questions(replace(plan, make_model=_fail(9)))


def test_turns_become_exchanges() -> None:
    turns = [
        Turn(is_user=is_user, text=text) for is_user, text in ((False, "Hi"), (True, "a"), (True, "b"), (False, "c"))
    ]
    exchanges = make_exchanges(turns)
    assert [(exchange.number, exchange.question, exchange.answer) for exchange in exchanges] == [
        (1, "", "Hi"),
        (2, "a\nb", "c"),
    ]
