"""Metrics compared with values computed by hand."""

import pytest

from roamtui.evaluation.scoring import AgentScore, QuestionResult, score_run


def _row(rank: int | None, relaxed_rank: int | None, ms: float, agent: AgentScore | None = None) -> QuestionResult:
    return QuestionResult(
        id="a", question="?", rank=rank, relaxed_rank=relaxed_rank, hits=("00000000",), ms=ms, agent=agent
    )


def _agent(*, opened: bool, quotes: tuple[int, int], tokens: int) -> AgentScore:
    return AgentScore(
        gold_opened=opened,
        gold_cited=opened,
        relaxed_opened=True,
        relaxed_cited=opened,
        quotes=quotes[1],
        verified=quotes[0],
        opened=2 if opened else 4,
        tokens=tokens,
        steps=3,
    )


def test_search_is_scored_strictly_and_relaxed() -> None:
    rows = [_row(1, 1, 3.0), _row(4, 2, 1.0), _row(10, 10, 9.0), _row(None, 5, 2.0)]
    score = score_run(rows, has_search=True)
    assert score.values == {
        "hit_at_1": 0.25,
        "hit_at_5": 0.5,
        "hit_at_10": 0.75,
        "mrr": pytest.approx((1 + 1 / 4 + 1 / 10) / 4),
        "relaxed_hit_at_1": 0.25,
        "relaxed_hit_at_5": 0.75,
        "relaxed_hit_at_10": 1.0,
        "relaxed_mrr": pytest.approx((1 + 1 / 2 + 1 / 10 + 1 / 5) / 4),
        "median_ms": 2.5,
    }
    low, high = score.intervals["hit_at_1"]
    assert low <= 0.25 <= high


def test_an_agent_is_scored_without_search_too() -> None:
    agents = [_agent(opened=True, quotes=(2, 3), tokens=100), _agent(opened=False, quotes=(1, 1), tokens=700)]
    score = score_run([_row(None, None, 0.0, agent) for agent in agents], has_search=False)
    assert score.values == {
        "gold_opened": 0.5,
        "gold_cited": 0.5,
        "quotes_verified": 0.75,
        "opened_per_question": 3.0,
        "tokens_per_question": 400.0,
        "median_tokens": 400.0,
        "steps_per_question": 3.0,
        "relaxed_gold_opened": 1.0,
        "relaxed_gold_cited": 0.5,
    }
