"""`roamtui eval`: asks the questions of a file and writes the metrics."""

import asyncio
from pathlib import Path
from typing import Any

from roamtui.errors import SourceError, UsageError
from roamtui.evaluation.question_set import read_questions
from roamtui.evaluation.runner import EvalPlan, EvalRun, run_questions
from roamtui.evaluation.scoring import HIT_RANKS, RELAXED, RunScore, score_run
from roamtui.output import ProgressLine, write_display, write_json, write_notice
from roamtui.search.base import SearchMode
from roamtui.text import format_count

_RANK_NAMES = (*(f"hit_at_{limit}" for limit in HIT_RANKS), "mrr")
_AMOUNT_ENDS = ("_ms", "_tokens", "_per_question")
"""Suffixes of the metrics that are amounts. All others are shares, from 0 to 1."""


def run_evaluation(path: Path, plan: EvalPlan, *, as_json: bool) -> None:
    """Ask the questions of a file, and write the metrics. Raise `RoamtuiError` if none can be scored."""
    if not plan.docs.is_dir():
        raise UsageError(f"{plan.docs} is not a folder. Name the folder of the documents with --docs.")
    questions, problems = read_questions(path)
    write_notice(*problems)
    if not questions:
        raise SourceError(f"{path} has no usable question. Write one question on each line.")
    progress = ProgressLine()

    def show_progress(run: EvalRun) -> None:
        progress.show(f"{len(run.results) + len(run.problems):,} of {len(questions):,} questions")

    run = asyncio.run(run_questions(plan, questions, show_progress))
    progress.end()
    write_notice(*run.problems)
    if not run.results:
        advice = "Check --docs, and the headings or line numbers that the questions give."
        raise SourceError(f"no question could be scored. {advice}")
    score = score_run(run.results, has_search=run.mode is not SearchMode.OFF)
    if as_json:
        write_json(_to_json_score(score, plan, run.mode))
    else:
        write_display(_format_score(score, plan, run.mode))


def _to_json_score(score: RunScore, plan: EvalPlan, mode: SearchMode) -> dict[str, Any]:
    scores = score.values.items()
    values = {name: value for name, value in scores if not name.startswith(RELAXED)}
    relaxed = {name.removeprefix(RELAXED): value for name, value in scores if name.startswith(RELAXED)}
    ranks = dict.fromkeys(_RANK_NAMES)
    return {
        "questions": score.questions,
        "scope": plan.scope,
        "mode": mode,
        **ranks,
        "relaxed": ranks | relaxed,
        "median_ms": None,
        **({"model": plan.model.name} if plan.model is not None else {}),
        **values,
        "intervals": score.intervals,
    }


def _format_score(score: RunScore, plan: EvalPlan, mode: SearchMode) -> str:
    parts = [format_count(score.questions, "question"), f"scope {plan.scope}", f"mode {mode}"]
    lines = [", ".join([*parts, *([plan.model.name] if plan.model is not None else [])])]
    for name, value in score.values.items():
        bounds = ", ".join(_format_value(name, bound) for bound in score.intervals.get(name, ()))
        interval = f"  [{bounds}]" if bounds else ""
        lines.append(f"  {name.replace('_', ' '):<24} {_format_value(name, value):>9}{interval}")
    return "\n".join([*lines, "  (95 % bootstrap intervals)"]) + "\n"


def _format_value(name: str, value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.1f}" if name.endswith(_AMOUNT_ENDS) else f"{100 * value:.1f} %"
