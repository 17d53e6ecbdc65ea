"""`roamtui eval`: asks the questions of a file and writes the metrics."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

from roamtui.errors import SourceError, UsageError, format_reason
from roamtui.evaluation.question_set import read_questions
from roamtui.evaluation.runner import EvalPlan, EvalRun, run_questions
from roamtui.evaluation.scoring import QuestionResult, RunKey, RunScore, score_run, to_json_score
from roamtui.headless.output import ProgressLine, write_json, write_notices, write_text
from roamtui.search.options import SearchMode

_LABELS = {
    "hit_at_1": "Hit@1",
    "hit_at_5": "Hit@5",
    "hit_at_10": "Hit@10",
    "mrr": "MRR",
    "opened_per_question": "sections opened",
    "tokens_per_question": "tokens a question",
    "steps_per_question": "steps a question",
}
"""Labels of metrics. The label of any other metric is its name, with spaces for underscores."""
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
    file = read_questions(path)
    write_notices(file.problems)
    if not file.questions:
        raise SourceError(f"{path} contains no usable question.")
    key = RunKey(  # the file name "questions" says nothing, so the set is then named after its folder
        set=path.stem if path.stem != "questions" else path.absolute().parent.name,
        scope=plan.scope,
        mode=plan.mode.value,
        model=plan.model.name if plan.model is not None else "",
    )
    progress = ProgressLine("{:,} of {:,} questions")
    with ExitStack() as stack:
        try:
            output = stack.enter_context(output_path.open("x", encoding="utf-8")) if output_path is not None else None
        except OSError as error:
            reason = format_reason(error)
            raise SourceError(f"could not write {output_path}: {reason}. Name a new file.") from None

        def on_result(run: EvalRun, result: QuestionResult | None) -> None:
            if sys.stderr.isatty():
                progress(len(run.results) + len(run.problems), len(file.questions))
            if output is not None and result is not None:
                value = asdict(key) | asdict(result)
                value |= value.pop("agent") or {}
                output.write(json.dumps(value) + "\n")
                output.flush()

        run = asyncio.run(run_questions(plan, file.questions, on_result))
    write_notices(run.problems)
    if not run.results:
        raise SourceError("no question could be scored. Check --docs and the headings or lines of the questions.")
    score = score_run(key, run.results)
    if as_json:
        write_json(to_json_score(score))
    else:
        print_score(score)
    return 0


def print_score(score: RunScore) -> None:
    """Write the metrics of a run for a person."""
    key = score.key
    parts = [key.set, f"{score.questions} questions", f"scope {key.scope}", f"mode {key.mode}", key.model]
    lines = [", ".join(part for part in parts if part)]
    for name, value in score.values.items():
        plain_name, is_relaxed = name.removeprefix("relaxed_"), name.startswith("relaxed_")
        label = _LABELS.get(plain_name, plain_name.replace("_", " "))
        interval = score.intervals.get(name)
        bounds = f"  [{_format_value(name, interval[0])}, {_format_value(name, interval[1])}]" if interval else ""
        start = f"  {'relaxed ' if is_relaxed else ''}{label:<{16 if is_relaxed else 24}}"
        lines.append(f"{start} {_format_value(name, value):>9}{bounds}")
    write_text("\n".join([*lines, "  (95 % bootstrap intervals)"]) + "\n")


def _format_value(name: str, value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.1f}" if name in _NON_PERCENTAGES else f"{100 * value:.1f} %"
