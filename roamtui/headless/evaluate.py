"""`roamtui eval`: asks the questions of a file and writes the metrics."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from msgspec.structs import asdict

from roamtui.errors import SourceError, UsageError, format_reason
from roamtui.evaluation.question_set import read_questions
from roamtui.evaluation.runner import EvalPlan, EvalRun, run_questions
from roamtui.evaluation.scoring import HIT_RANKS, RELAXED, QuestionResult, RunScore, score_run
from roamtui.headless.output import ProgressLine, write_json, write_notices, write_text
from roamtui.search.options import SearchMode

_RANK_NAMES = (*(f"hit_at_{limit}" for limit in HIT_RANKS), "mrr")
_NON_PERCENTAGES = frozenset(
    {"median_ms", "opened_per_question", "tokens_per_question", "median_tokens", "steps_per_question"}
)


def run_evaluation(path: Path, plan: EvalPlan, output_path: Path | None, *, as_json: bool) -> int:
    """Ask the questions of a file, write the metrics to stdout, and return the exit status.

    Args:
        path: The file of the questions.
        plan: How to ask them.
        output_path: A new file for the result of each question, or None.
        as_json: Whether to write the metrics as JSON.

    Raises:
        RoamtuiError: Nothing could be measured, or the file of the results exists or cannot be written.
    """
    if plan.mode is SearchMode.OFF and plan.model is None:
        raise UsageError("search is off, so there is nothing to measure. Set --mode or --model.")
    questions, problems = read_questions(path)
    write_notices(problems)
    if not questions:
        raise SourceError(f"{path} contains no usable question.")
    progress = ProgressLine("{:,} of {:,} questions")
    with ExitStack() as stack:
        try:
            output = stack.enter_context(output_path.open("x", encoding="utf-8")) if output_path is not None else None
        except OSError as error:
            reason = format_reason(error)
            raise SourceError(f"could not write {output_path}: {reason}. Name a new file.") from None

        def on_result(run: EvalRun, result: QuestionResult | None) -> None:
            if sys.stderr.isatty():
                progress(len(run.results) + len(run.problems), len(questions))
            if output is not None and result is not None:
                value = asdict(result)
                value |= value.pop("agent") or {}
                output.write(json.dumps(value) + "\n")
                output.flush()

        run = asyncio.run(run_questions(plan, questions, on_result))
    write_notices(run.problems)
    if not run.results:
        raise SourceError("no question could be scored. Check --docs and the headings or lines of the questions.")
    score = score_run(run.results, has_search=plan.mode is not SearchMode.OFF)
    if as_json:
        write_json(to_json_score(score, plan))
    else:
        write_text(format_score(score, plan))
    return 0


def to_json_score(score: RunScore, plan: EvalPlan) -> dict[str, Any]:
    """Convert the metrics of a run to the JSON of the command line."""
    relaxed = {name.removeprefix(RELAXED): value for name, value in score.values.items() if name.startswith(RELAXED)}
    data: dict[str, Any] = {
        "questions": score.questions,
        "scope": plan.scope,
        "mode": plan.mode.value,
        **{name: score.values.get(name) for name in _RANK_NAMES},
        "relaxed": {name: relaxed.get(name) for name in _RANK_NAMES} | relaxed,
        "median_ms": score.values.get("median_ms"),
    }
    if plan.model is not None:
        agent = {name: value for name, value in score.values.items() if not name.startswith(RELAXED)}
        data |= {"model": plan.model.name} | {name: value for name, value in agent.items() if name not in data}
    data["intervals"] = {name: list(interval) for name, interval in score.intervals.items()}
    return data


def format_score(score: RunScore, plan: EvalPlan) -> str:
    """Format the metrics of a run for a person."""
    parts = [f"{score.questions} questions", f"scope {plan.scope}", f"mode {plan.mode.value}"]
    lines = [", ".join([*parts, *([plan.model.name] if plan.model is not None else [])])]
    for name, value in score.values.items():
        bounds = ", ".join(_format_value(name, bound) for bound in score.intervals.get(name, ()))
        lines.append(
            f"  {name.replace('_', ' '):<24} {_format_value(name, value):>9}{f'  [{bounds}]' if bounds else ''}"
        )
    return "\n".join([*lines, "  (95 % bootstrap intervals)"]) + "\n"


def _format_value(name: str, value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.1f}" if name in _NON_PERCENTAGES else f"{100 * value:.1f} %"
