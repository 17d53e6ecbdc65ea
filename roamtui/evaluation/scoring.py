"""Metrics of a run, with 95 % bootstrap intervals."""

import random
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean, median, quantiles
from typing import Any

from msgspec import Struct

_RESAMPLES = 1_000
_QUANTILES = 40
"""The sorted values form this many groups, of 2.5 % each. The interval leaves out the first and the last."""
HIT_RANKS = (1, 5, 10)
RELAXED = "relaxed_"


class AgentScore(Struct, frozen=True, kw_only=True):
    """The agent's score for one question."""

    gold_opened: bool
    """Whether a gold section was opened, or delivered whole with its parent."""
    gold_cited: bool
    relaxed_opened: bool
    relaxed_cited: bool
    quotes: int
    verified: int
    opened: int
    tokens: int
    """Estimated tokens of section text delivered."""
    steps: int


class QuestionResult(Struct, frozen=True, kw_only=True):
    """The result of one question."""

    rank: int | None
    """Rank of the best gold section, or None if none of them is among the results."""
    relaxed_rank: int | None
    ms: float
    """Duration of the search in milliseconds."""
    agent: AgentScore | None = None


class RunScore(Struct, frozen=True, kw_only=True):
    """The metrics of one run."""

    questions: int
    values: Mapping[str, float | None]
    """By name. None means undefined. ``relaxed_`` metrics accept the parent section too."""
    intervals: Mapping[str, tuple[float, float]]


def score_run(rows: Sequence[QuestionResult], *, has_search: bool) -> RunScore:
    """Compute the metrics of a run with their intervals."""
    metrics: dict[str, tuple[Callable[[Any], float | None], Sequence[Any]]] = {}
    if has_search:
        strict = [row.rank for row in rows]
        for prefix, ranks in (("", strict), (RELAXED, [row.relaxed_rank for row in rows])):
            for limit in HIT_RANKS:
                hits = [rank is not None and rank <= limit for rank in ranks]
                metrics[f"{prefix}hit_at_{limit}"] = fmean, hits
            metrics[f"{prefix}mrr"] = fmean, [1 / rank if rank is not None else 0.0 for rank in ranks]
        metrics["median_ms"] = median, [row.ms for row in rows]
    agents = [row.agent for row in rows if row.agent is not None]
    if len(agents) == len(rows):
        metrics |= {
            "gold_opened": (fmean, [agent.gold_opened for agent in agents]),
            "gold_cited": (fmean, [agent.gold_cited for agent in agents]),
            "quotes_verified": (_divide_sums, [(agent.verified, agent.quotes) for agent in agents]),
            "opened_per_question": (fmean, [agent.opened for agent in agents]),
            "tokens_per_question": (fmean, [agent.tokens for agent in agents]),
            "median_tokens": (median, [agent.tokens for agent in agents]),
            "steps_per_question": (fmean, [agent.steps for agent in agents]),
            f"{RELAXED}gold_opened": (fmean, [agent.relaxed_opened for agent in agents]),
            f"{RELAXED}gold_cited": (fmean, [agent.relaxed_cited for agent in agents]),
        }
    generator = random.Random(0)  # noqa: S311 - not a secret
    draws = [generator.choices(range(len(rows)), k=len(rows)) for _ in range(_RESAMPLES)]
    intervals = {}
    for name, (compute, values) in metrics.items():
        drawn = (compute([values[index] for index in draw]) for draw in draws)
        resampled = [value for value in drawn if value is not None]
        if len(resampled) > 1:
            bounds = quantiles(resampled, n=_QUANTILES, method="inclusive")
            intervals[name] = bounds[0], bounds[-1]
    values_by_name = {name: compute(values) for name, (compute, values) in metrics.items()}
    return RunScore(questions=len(rows), values=values_by_name, intervals=intervals)


def _divide_sums(pairs: Sequence[tuple[int, int]]) -> float | None:
    whole = sum(pair[1] for pair in pairs)
    return sum(pair[0] for pair in pairs) / whole if whole else None
