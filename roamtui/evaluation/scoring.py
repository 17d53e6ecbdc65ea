"""The numbers of a run, with how sure each is: 95 % intervals by bootstrap."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median, quantiles
from typing import Any

from roamtui.evaluation.rows import AgentScore, QuestionRow, RunKey

RESAMPLES = 1_000
_SHARES = 40
"""Of 2.5 % each: the interval leaves out the first and the last."""
RANK_MAX = 10
"""How many hits are looked at."""
_PLACES = (1, 5, 10)
_RELAXED = "relaxed_"
_RANK_NAMES = (*(f"hit_at_{place}" for place in _PLACES), "mrr")
AGENT_NAMES = (
    "gold_opened",
    "gold_cited",
    "quotes_verified",
    "opened_per_question",
    "tokens_per_question",
    "median_tokens",
    "steps_per_question",
)
"""What is measured where a model answers, as the command line names it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A number over all questions: the mean of `values`, their median, or the ratio of two sums."""

    name: str
    values: tuple[float, ...]
    """One for each question."""
    weights: tuple[float, ...] | None = None
    """Where given, the measure is the sum of the values by that of the weights."""
    is_median: bool = False

    def compute(self, indexes: Sequence[int] | None = None) -> float | None:
        """Return the measure over some questions, all by default; None where it means nothing."""
        values = self.values if indexes is None else list(map(self.values.__getitem__, indexes))
        if not values:
            return None
        if self.is_median:
            return float(median(values))
        if self.weights is None:
            return sum(values) / len(values)
        weights = self.weights if indexes is None else map(self.weights.__getitem__, indexes)
        total = sum(weights)
        return sum(values) / total if total else None


def find_intervals(
    measures: Sequence[Measure], *, seed: int = 0, resamples: int = RESAMPLES
) -> dict[str, tuple[float, float]]:
    """Return the 95 % percentile interval of each measure, all over the same resampled questions."""
    draws = _draw(len(measures[0].values) if measures else 0, seed, resamples)
    intervals = {}
    for measure in measures:
        found = [value for draw in draws if (value := measure.compute(draw)) is not None]
        if len(found) > 1:
            shares = quantiles(found, n=_SHARES, method="inclusive")
            intervals[measure.name] = shares[0], shares[-1]
    return intervals


def _draw(count: int, seed: int, resamples: int) -> list[list[int]]:
    generator = random.Random(seed)  # noqa: S311 - no secret
    return [generator.choices(range(count), k=count) for _ in range(resamples)] if count else []


@dataclass(frozen=True, slots=True, kw_only=True)
class RunScore:
    """The numbers of one run; None is what it cannot say."""

    key: RunKey
    questions: int
    values: Mapping[str, float | None]
    """By name; those that count the section above as found begin with ``relaxed_``."""
    intervals: Mapping[str, tuple[float, float]]


def score_run(key: RunKey, rows: Sequence[QuestionRow], *, seed: int = 0) -> RunScore:
    """Return the numbers of a run with their intervals."""
    measures = list_measures(key, rows)
    return RunScore(
        key=key,
        questions=len(rows),
        values={measure.name: measure.compute() for measure in measures},
        intervals=find_intervals(measures, seed=seed),
    )


def list_measures(key: RunKey, rows: Sequence[QuestionRow]) -> list[Measure]:
    """Return what is measured in a run."""
    measures: list[Measure] = []
    if key.mode != "off":
        measures += _list_rank_measures("", [row.rank for row in rows])
        measures += _list_rank_measures(_RELAXED, [row.relaxed_rank for row in rows])
        measures.append(Measure(name="median_ms", values=tuple(row.ms for row in rows), is_median=True))
    agents = [row.agent for row in rows if row.agent is not None]
    if key.model and len(agents) == len(rows):
        measures += _list_agent_measures(agents)
    return measures


def describe_score(score: RunScore) -> dict[str, Any]:
    """Return the numbers of a run as the command line's JSON has them."""
    relaxed = {name.removeprefix(_RELAXED): value for name, value in score.values.items() if name.startswith(_RELAXED)}
    described: dict[str, Any] = {
        "questions": score.questions,
        "scope": score.key.scope,
        "mode": score.key.mode,
        **{name: score.values.get(name) for name in _RANK_NAMES},
        "relaxed": {name: relaxed.get(name) for name in _RANK_NAMES} | relaxed,
        "median_ms": score.values.get("median_ms"),
    }
    if score.key.model:
        described |= {"model": score.key.model, **{name: score.values.get(name) for name in AGENT_NAMES}}
    described["intervals"] = {name: list(interval) for name, interval in score.intervals.items()}
    return described


def _list_rank_measures(prefix: str, ranks: Sequence[int | None]) -> list[Measure]:
    hits = [
        Measure(
            name=f"{prefix}hit_at_{place}", values=tuple(float(rank is not None and rank <= place) for rank in ranks)
        )
        for place in _PLACES
    ]
    reciprocal = tuple(1 / rank if rank is not None else 0.0 for rank in ranks)
    return [*hits, Measure(name=f"{prefix}mrr", values=reciprocal)]


def _list_agent_measures(agents: Sequence[AgentScore]) -> list[Measure]:
    def measure(name: str, read: Callable[[AgentScore], float], *, is_median: bool = False) -> Measure:
        return Measure(name=name, values=tuple(map(read, agents)), is_median=is_median)

    quotes = tuple(agent.quotes for agent in agents)
    return [
        measure("gold_opened", lambda agent: agent.gold_opened),
        measure("gold_cited", lambda agent: agent.gold_cited),
        replace(measure("quotes_verified", lambda agent: agent.verified), weights=quotes),
        measure("opened_per_question", lambda agent: agent.opened),
        measure("tokens_per_question", lambda agent: agent.tokens),
        measure("median_tokens", lambda agent: agent.tokens, is_median=True),
        measure("steps_per_question", lambda agent: agent.steps),
        measure(f"{_RELAXED}gold_opened", lambda agent: agent.relaxed_opened),
        measure(f"{_RELAXED}gold_cited", lambda agent: agent.relaxed_cited),
    ]
