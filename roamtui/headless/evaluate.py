"""`roamtui eval`: asks the questions of a file and writes the metrics."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from roamtui.agent.options import AgentOptions
from roamtui.document.library import Library
from roamtui.errors import SourceError, UsageError
from roamtui.evaluation.question_set import read_questions, sample_questions
from roamtui.evaluation.runner import EvalPlan, run_questions
from roamtui.evaluation.scoring import ResultFile, RunKey, RunScore, score_run, to_json_score
from roamtui.headless.output import PROGRESS_LINES_MAX, write_json, write_notice, write_notices, write_text
from roamtui.models.base import Model
from roamtui.search.base import Searcher
from roamtui.search.options import SearchMode

_SEED = 0
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


@dataclass(frozen=True, kw_only=True)
class EvalOptions:
    """Arguments of one evaluation."""

    questions: Path
    """File with one JSON object per line."""
    docs: Path
    """Folder of the documents."""
    scope: Literal["doc", "all"] = "doc"
    sample: int | None = None
    with_history: bool = True
    jobs: int = 1
    questions_out: Path | None = None
    json: bool = False


def run_evaluation(
    options: EvalOptions,
    make_searcher: Callable[[Library], Searcher | None],
    mode: SearchMode,
    make_model: Callable[[], Model] | None,
    agent_options: AgentOptions | None = None,
) -> int:
    """Run `roamtui eval` and return the exit status.

    Args:
        options: The questions, the documents and the file for the results.
        make_searcher: Creates a library's searcher, or returns None if search is off.
        mode: The search mode, for the report.
        make_model: Creates the model, or None to measure only search.
        agent_options: Limits for each question.

    Raises:
        RoamtuiError: Nothing could be measured, or the arguments contradict each other.
    """
    if mode is SearchMode.OFF and make_model is None:
        raise UsageError("search is off, so there is nothing to measure. Set --mode or --model.")
    path = options.questions
    file = read_questions(path)
    write_notices(file.problems)
    questions = file.questions
    if not questions:
        raise SourceError(f"{path} contains no usable question.")
    if options.sample is not None:
        questions = sample_questions(questions, options.sample, _SEED)
    key = RunKey(  # the file name "questions" says nothing, so the set is then named after its folder
        set=path.stem if path.stem != "questions" else path.absolute().parent.name,
        scope=options.scope,
        mode=mode.value,
        model=make_model().name if make_model is not None else "",
        with_history=options.with_history,
    )
    plan = EvalPlan(
        key=key,
        docs=options.docs,
        questions=questions,
        make_searcher=make_searcher,
        make_model=make_model,
        agent_options=agent_options,
        jobs=options.jobs,
    )
    results = ResultFile(options.questions_out, key) if options.questions_out is not None else None
    if results is not None:
        write_notices(results.problems)
    interval = max(1, len(questions) // PROGRESS_LINES_MAX)

    def report_progress(done: int, count: int) -> None:
        if sys.stderr.isatty() and done % interval == 0:
            write_notice(f"{done} of {count} questions")

    run = asyncio.run(run_questions(plan, results, report_progress))
    write_notices(run.problems)
    rows = [run.results[question.id] for question in questions if question.id in run.results]
    if not rows:
        raise SourceError("no question could be scored. Check --docs and the headings or lines of the questions.")
    score = score_run(key, rows, seed=_SEED)
    if options.json:
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
