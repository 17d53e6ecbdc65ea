"""Metrics of a run with 95 % bootstrap intervals, and the result file that makes runs resumable."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import msgspec

from roamtui.errors import SourceError, UsageError, format_reason
from roamtui.evaluation.question_set import read_lines

_RESAMPLES = 1_000
"""Number of bootstrap samples."""
_QUANTILES = 40
"""Number of groups of the sorted values, of 2.5 % each. The interval excludes the first and the last group."""
_HIT_RANKS = (1, 5, 10)
_RELAXED = "relaxed_"
_RANK_NAMES = (*(f"hit_at_{limit}" for limit in _HIT_RANKS), "mrr")
AGENT_NAMES = (
    "gold_opened",
    "gold_cited",
    "quotes_verified",
    "opened_per_question",
    "tokens_per_question",
    "median_tokens",
    "steps_per_question",
)
"""Metrics of answers, as the command line names them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunKey:
    """The settings of a run. Only results with equal settings are comparable."""

    set: str
    """Name of the question set."""
    scope: str
    mode: str
    model: str
    """Empty if only search is measured."""
    with_history: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentScore:
    """The agent's score for one question."""

    gold_opened: bool
    """Whether a gold section was opened, or delivered whole with its parent."""
    gold_cited: bool
    relaxed_opened: bool
    relaxed_cited: bool
    quotes: int
    verified: int
    opened: int
    """Sections opened."""
    tokens: int
    """Estimated tokens of section text delivered."""
    steps: int
    seconds: float
    stopped: str
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionResult:
    """The result of one question."""

    id: str
    question: str
    rank: int | None
    """Rank of the first hit, or None if it is not among the first `HITS_MAX`."""
    relaxed_rank: int | None
    hits: tuple[str, ...]
    """Result ids, best first."""
    ms: float
    """Duration of the search."""
    agent: AgentScore | None = None


def read_results(path: Path) -> tuple[dict[RunKey, dict[str, QuestionResult]], tuple[str, ...]]:
    """Read the results of a file by run and question, and a sentence for each invalid line.

    Raises:
        SourceError: The file cannot be read.
    """
    runs: dict[RunKey, dict[str, QuestionResult]] = {}
    problems = []
    for number, line in read_lines(path, "Name a file that --questions-out wrote."):
        try:
            value = json.loads(line.decode("utf-8"))
            key = msgspec.convert(value, RunKey)
            agent = msgspec.convert(value, AgentScore) if key.model else None
            row = replace(msgspec.convert(value, QuestionResult), agent=agent)
        except (ValueError, RecursionError, msgspec.ValidationError):
            problems.append(f"{path.name} line {number} is not a result; skipped.")
        else:
            runs.setdefault(key, {})[row.id] = row
    return runs, tuple(problems)


class ResultFile:
    """The result file of one run: previous results, and new ones appended line by line."""

    def __init__(self, path: Path, key: RunKey) -> None:
        """Read the previous results.

        Raises:
            SourceError: The file cannot be read or written.
            UsageError: The file contains results of another run.
        """
        self._path = path
        self._key = key
        self.done: dict[str, QuestionResult] = {}
        """Results by question id."""
        self.problems: tuple[str, ...] = ()
        if path.exists():
            runs, self.problems = read_results(path)
            if runs.keys() - {key} or (self.problems and not runs):
                raise UsageError(f"{path} contains something other than results of this run. Name another file.")
            self.done = runs.get(key, {})
            data = path.read_bytes()
            if data and not data.endswith(b"\n"):  # a line was cut off when a run was stopped
                self._append(b"\n")

    def add(self, row: QuestionResult) -> None:
        """Append a result, with the key of its run."""
        value = {**asdict(self._key), **asdict(row)}
        value |= value.pop("agent") or {}
        self._append(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n")

    def _append(self, data: bytes) -> None:
        try:
            with self._path.open("ab") as file:
                file.write(data)
        except OSError as error:
            raise SourceError(f"could not write {self._path}: {format_reason(error)}. Name another file.") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A metric over all questions: the mean of `values`, their median, or the ratio of two sums."""

    name: str
    values: tuple[float, ...]
    """One per question."""
    weights: tuple[float, ...] | None = None
    """If not None, the metric is the sum of the values divided by the sum of the weights."""
    is_median: bool = False

    def compute(self, indexes: Sequence[int] | None = None) -> float | None:
        """Compute the metric over the questions at `indexes`, by default over all. Return None if it is undefined."""
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


def bootstrap_intervals(metrics: Sequence[Metric], *, seed: int = 0) -> dict[str, tuple[float, float]]:
    """Compute the 95 % percentile interval of each metric. All metrics use the same resampled questions."""
    count = len(metrics[0].values) if metrics else 0
    generator = random.Random(seed)  # noqa: S311 - not a secret
    draws = [generator.choices(range(count), k=count) for _ in range(_RESAMPLES)] if count else []
    intervals = {}
    for metric in metrics:
        values = [value for draw in draws if (value := metric.compute(draw)) is not None]
        if len(values) > 1:
            bounds = quantiles(values, n=_QUANTILES, method="inclusive")
            intervals[metric.name] = bounds[0], bounds[-1]
    return intervals


@dataclass(frozen=True, slots=True, kw_only=True)
class RunScore:
    """The metrics of one run."""

    key: RunKey
    questions: int
    values: Mapping[str, float | None]
    """By name. None means undefined. Names of metrics that also accept the parent section start with ``relaxed_``."""
    intervals: Mapping[str, tuple[float, float]]


def score_run(key: RunKey, rows: Sequence[QuestionResult], *, seed: int = 0) -> RunScore:
    """Compute the metrics of a run with their intervals."""
    metrics: list[Metric] = []

    def add(name: str, values: Sequence[float], *, weights: Sequence[float] | None = None) -> None:
        is_median = name.startswith("median_")
        weights = None if weights is None else tuple(weights)
        metrics.append(Metric(name=name, values=tuple(values), weights=weights, is_median=is_median))

    if key.mode != "off":
        for prefix, ranks in (("", [row.rank for row in rows]), (_RELAXED, [row.relaxed_rank for row in rows])):
            for limit in _HIT_RANKS:
                add(f"{prefix}hit_at_{limit}", [float(rank is not None and rank <= limit) for rank in ranks])
            add(f"{prefix}mrr", [1 / rank if rank is not None else 0.0 for rank in ranks])
        add("median_ms", [row.ms for row in rows])
    agents = [row.agent for row in rows if row.agent is not None]
    if key.model and len(agents) == len(rows):
        add("gold_opened", [agent.gold_opened for agent in agents])
        add("gold_cited", [agent.gold_cited for agent in agents])
        add("quotes_verified", [agent.verified for agent in agents], weights=[agent.quotes for agent in agents])
        add("opened_per_question", [agent.opened for agent in agents])
        add("tokens_per_question", [agent.tokens for agent in agents])
        add("median_tokens", [agent.tokens for agent in agents])
        add("steps_per_question", [agent.steps for agent in agents])
        add(f"{_RELAXED}gold_opened", [agent.relaxed_opened for agent in agents])
        add(f"{_RELAXED}gold_cited", [agent.relaxed_cited for agent in agents])
    return RunScore(
        key=key,
        questions=len(rows),
        values={metric.name: metric.compute() for metric in metrics},
        intervals=bootstrap_intervals(metrics, seed=seed),
    )


def to_json_score(score: RunScore) -> dict[str, Any]:
    """Convert the metrics of a run to the command line's JSON."""
    relaxed = {name.removeprefix(_RELAXED): value for name, value in score.values.items() if name.startswith(_RELAXED)}
    data: dict[str, Any] = {
        "questions": score.questions,
        "scope": score.key.scope,
        "mode": score.key.mode,
        **{name: score.values.get(name) for name in _RANK_NAMES},
        "relaxed": {name: relaxed.get(name) for name in _RANK_NAMES} | relaxed,
        "median_ms": score.values.get("median_ms"),
    }
    if score.key.model:
        data |= {"model": score.key.model, **{name: score.values.get(name) for name in AGENT_NAMES}}
    data["intervals"] = {name: list(interval) for name, interval in score.intervals.items()}
    return data
