"""`roamtui eval`: asks the questions of a file and writes the metrics."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

from roamtui.agent.options import AgentOptions
from roamtui.document.library import Library
from roamtui.errors import SourceError, UsageError
from roamtui.evaluation.options import EvalOptions
from roamtui.evaluation.question_set import read_questions, sample_questions
from roamtui.evaluation.runner import EvalPlan, run_questions
from roamtui.evaluation.scoring import ResultFile, RunKey, RunScore, score_run, to_json_score
from roamtui.headless.output import write_json, write_note, write_notes, write_text
from roamtui.models.base import Model
from roamtui.search.base import Searcher
from roamtui.search.options import SearchMode

_NOTED = 20
"""Maximum number of progress lines."""
_WORDS = {
    "hit_at_1": "Hit@1",
    "hit_at_5": "Hit@5",
    "hit_at_10": "Hit@10",
    "mrr": "MRR",
    "opened_per_question": "sections opened",
    "tokens_per_question": "tokens a question",
    "steps_per_question": "steps a question",
}
"""Labels of metrics, if they differ from the names."""
_PLAIN = frozenset({"median_ms", "opened_per_question", "tokens_per_question", "median_tokens", "steps_per_question"})
"""Metrics that are not percentages."""


def run_evaluation(
    options: EvalOptions,
    make_searcher: Callable[[Library], Searcher | None],
    mode: SearchMode,
    make_model: Callable[[], Model] | None,
    agent_options: AgentOptions | None = None,
) -> int:
    """Run `roamtui eval` and return the exit status.

    Args:
        options: Questions, documents and where results go.
        make_searcher: Creates a library's searcher, or None if search is off.
        mode: The search mode, for the report.
        make_model: Creates the model, or None to measure only search.
        agent_options: Limits for each question.

    Raises:
        RoamtuiError: Nothing could be measured, or the arguments contradict each other.
    """
    if options.docs is None:
        raise UsageError("no documents given. Name their folder with --docs.")
    if mode is SearchMode.OFF and make_model is None:
        raise UsageError("search is off, so there is nothing to measure. Set --mode or --model.")
    path = options.questions
    file = read_questions(path)
    write_notes(file.problems)
    if not file.questions:
        raise SourceError(f"{path} contains no usable question.")
    questions = file.questions
    if options.sample is not None:
        questions = sample_questions(questions, options.sample, options.seed)
    key = RunKey(  # a file called questions says nothing, so its folder names the set
        set=options.name or (path.stem if path.stem != "questions" else path.absolute().parent.name),
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
    score = asyncio.run(evaluate(plan, options.questions_out, seed=options.seed))
    if options.as_json:
        write_json(to_json_score(score))
    else:
        print_score(score)
    return 0


async def evaluate(plan: EvalPlan, rows_path: Path | None, *, seed: int) -> RunScore:
    """Ask all questions and compute the metrics; progress and skipped questions go to stderr.

    Raises:
        RoamtuiError: Nothing could be measured.
    """
    file = ResultFile(rows_path, plan.key) if rows_path is not None else None
    if file is not None:
        write_notes(file.problems)
    every = max(1, len(plan.questions) // _NOTED)

    def report_progress(done: int, count: int) -> None:
        if sys.stderr.isatty() and done % every == 0:
            write_note(f"{done} of {count} questions")

    run = await run_questions(plan, file, report_progress)
    write_notes(run.problems)
    rows = [run.rows[question.id] for question in plan.questions if question.id in run.rows]
    if not rows:
        raise SourceError("no question could be scored. Check --docs and the headings or lines of the questions.")
    return score_run(plan.key, rows, seed=seed)


def print_score(score: RunScore) -> None:
    """Write the metrics of a run for a person."""
    key = score.key
    parts = [key.set, f"{score.questions} questions", f"scope {key.scope}", f"mode {key.mode}", key.model]
    lines = [", ".join(part for part in parts if part)]
    for name, value in score.values.items():
        plain, is_relaxed = name.removeprefix("relaxed_"), name.startswith("relaxed_")
        word = _WORDS.get(plain, plain.replace("_", " "))
        shown = _show(name, value)
        interval = score.intervals.get(name)
        around = f"  [{_show(name, interval[0])}, {_show(name, interval[1])}]" if interval else ""
        lines.append(f"  {'relaxed ' if is_relaxed else ''}{word:<{16 if is_relaxed else 24}} {shown:>9}{around}")
    write_text("\n".join([*lines, "  (95 % bootstrap intervals)"]) + "\n")


def _show(name: str, value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.1f}" if name in _PLAIN else f"{100 * value:.1f} %"
