"""Metrics compared with values computed by hand."""

from __future__ import annotations

import pytest

from roamtui.evaluation.scoring import AgentScore, QuestionResult, RunKey, score_run, to_json_score

KEY = RunKey(set="tiny", scope="doc", mode="keyword", model="")


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
    described = to_json_score(score_run(KEY, _ROWS))
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
    key = RunKey(set="tiny", scope="doc", mode="keyword", model="offline")
    first = _agent(opened=True, cited=True, quotes=(2, 3), tokens=100)
    second = _agent(opened=False, cited=False, quotes=(1, 1), tokens=700)
    described = to_json_score(score_run(key, [_row("a", 1, 1, 3.0, first), _row("b", None, 1, 1.0, second)]))
    names = list(described)
    assert names[names.index("model") : -1] == [
        "model",
        "gold_opened",
        "gold_cited",
        "quotes_verified",
        "opened_per_question",
        "tokens_per_question",
        "median_tokens",
        "steps_per_question",
    ]
    assert described["gold_opened"] == 0.5
    assert described["gold_cited"] == 0.5
    assert described["quotes_verified"] == 0.75
    assert described["opened_per_question"] == 3.0
    assert described["tokens_per_question"] == 400.0
    assert described["median_tokens"] == 400.0
    assert described["steps_per_question"] == 3.0
    assert described["relaxed"]["gold_opened"] == 1.0


def test_metrics_of_search_are_null_without_search() -> None:
    key = RunKey(set="tiny", scope="doc", mode="off", model="offline")
    agent = _agent(opened=True, cited=True, quotes=(0, 0), tokens=1)
    described = to_json_score(score_run(key, [_row("a", None, None, 0.0, agent)]))
    assert described["hit_at_1"] is None
    assert described["quotes_verified"] is None
    assert "quotes_verified" not in described["intervals"]
    assert described["gold_opened"] == 1.0


def test_the_interval_of_a_share_matches_the_binomial() -> None:
    rows = [_row(str(number), 1 if number % 2 else None, 1, 1.0) for number in range(400)]
    low, high = score_run(KEY, rows).intervals["hit_at_1"]
    assert low == pytest.approx(0.451, abs=0.006)  # 1.96 standard errors of 0.025; at 90 % it would be 0.459
    assert high == pytest.approx(0.549, abs=0.006)
