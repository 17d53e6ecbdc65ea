"""Metrics compared with values computed by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from roamtui.document.library import Library
from roamtui.evaluation.runner import EvalPlan
from roamtui.evaluation.scoring import AgentScore, QuestionResult, score_run
from roamtui.headless.evaluate import to_json_score
from roamtui.models.base import Model
from roamtui.models.registry import NoModel
from roamtui.search.keyword import KeywordSearcher
from roamtui.search.options import SearchMode


def _describe(
    *rows: QuestionResult, model: Model | None = None, mode: SearchMode = SearchMode.KEYWORD
) -> dict[str, Any]:
    """Return the JSON of a run."""
    plan = EvalPlan(
        docs=Path(), scope="doc", mode=mode, open_library=_open_nothing, make_searcher=KeywordSearcher, model=model
    )
    return to_json_score(score_run(rows, has_search=mode is not SearchMode.OFF), plan)


def _open_nothing(_: Path) -> Library:
    raise AssertionError


def _row(
    name: str, rank: int | None, relaxed_rank: int | None, ms: float, agent: AgentScore | None = None
) -> QuestionResult:
    return QuestionResult(
        id=name, question="?", rank=rank, relaxed_rank=relaxed_rank, hits=("00000000",), ms=ms, agent=agent
    )


def _agent(*, opened: bool, cited: bool, quotes: tuple[int, int], tokens: int) -> AgentScore:
    return AgentScore(
        gold_opened=opened,
        gold_cited=cited,
        relaxed_opened=True,
        relaxed_cited=cited,
        quotes=quotes[1],
        verified=quotes[0],
        opened=2 if opened else 4,
        tokens=tokens,
        steps=3,
    )


_ROWS = [_row("a", 1, 1, 3.0), _row("b", 4, 2, 1.0), _row("c", 10, 10, 9.0), _row("d", None, 5, 2.0)]


def test_the_json_of_a_search_is_as_documented() -> None:
    described = _describe(*_ROWS)
    intervals = described.pop("intervals")
    assert described == {
        "questions": 4,
        "scope": "doc",
        "mode": "keyword",
        "hit_at_1": 0.25,
        "hit_at_5": 0.5,
        "hit_at_10": 0.75,
        "mrr": pytest.approx((1 + 1 / 4 + 1 / 10) / 4),
        "relaxed": {
            "hit_at_1": 0.25,
            "hit_at_5": 0.75,
            "hit_at_10": 1.0,
            "mrr": pytest.approx((1 + 1 / 2 + 1 / 10 + 1 / 5) / 4),
        },
        "median_ms": 2.5,
    }
    assert intervals["hit_at_1"][0] <= 0.25 <= intervals["hit_at_1"][1]
    assert set(intervals) > {"hit_at_5", "hit_at_10", "mrr", "relaxed_mrr", "median_ms"}


def test_the_json_of_an_agent_is_as_documented() -> None:
    first = _agent(opened=True, cited=True, quotes=(2, 3), tokens=100)
    second = _agent(opened=False, cited=False, quotes=(1, 1), tokens=700)
    described = _describe(_row("a", 1, 1, 3.0, first), _row("b", None, 1, 1.0, second), model=NoModel())
    names = list(described)
    assert described["relaxed"]["gold_opened"] == 1.0
    assert {name: described[name] for name in names[names.index("model") : -1]} == {
        "model": "offline",
        "gold_opened": 0.5,
        "gold_cited": 0.5,
        "quotes_verified": 0.75,
        "opened_per_question": 3.0,
        "tokens_per_question": 400.0,
        "median_tokens": 400.0,
        "steps_per_question": 3.0,
    }


def test_metrics_of_search_are_null_without_search() -> None:
    agent = _agent(opened=True, cited=True, quotes=(0, 0), tokens=1)
    described = _describe(_row("a", None, None, 0.0, agent), model=NoModel(), mode=SearchMode.OFF)
    assert described["hit_at_1"] is None
    assert described["quotes_verified"] is None
    assert "quotes_verified" not in described["intervals"]
    assert described["gold_opened"] == 1.0
