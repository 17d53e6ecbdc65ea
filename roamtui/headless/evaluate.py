"""`roamtui eval`: asks the questions of a file, and writes what was found."""

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
"""How many lines of progress there are at most."""
_WORDS = {
    "hit_at_1": "Hit@1",
    "hit_at_5": "Hit@5",
    "hit_at_10": "Hit@10",
    "mrr": "MRR",
    "opened_per_question": "sections opened",
    "tokens_per_question": "tokens a question",
    "steps_per_question": "steps a question",
}
"""Of measures whose names say it otherwise."""
_PLAIN = frozenset({"median_ms", "opened_per_question", "tokens_per_question", "median_tokens", "steps_per_question"})
"""Measures that are no shares."""


def run_evaluation(
    options: EvalOptions,
    make_searcher: Callable[[Library], Searcher | None],
    mode: SearchMode,
    make_model: Callable[[], Model] | None,
    agent_options: AgentOptions | None = None,
) -> int:
    """Carry out `roamtui eval` and return the exit status.

    Args:
        options: What is asked, and where results go.
        make_searcher: Makes what searches a library; None where search is off.
        mode: How it searches, by name.
        make_model: Makes the model that answers; None where search alone is measured.
        agent_options: How far it may go for one question.

    Raises:
        RoamtuiError: Nothing could be measured, or the arguments do not go together.
    """
    if options.docs is None:
        raise UsageError("name the folder of the documents with --docs.")
    if mode is SearchMode.OFF and make_model is None:
        raise UsageError("search is off, so there is nothing to measure. Choose a --mode, or a --model.")
    path = options.questions
    file = read_questions(path)
    write_notes(file.problems)
    if not file.questions:
        raise SourceError(f"{path} holds no usable question.")
    questions = file.questions
    if options.sample is not None:
        questions = sample_questions(questions, options.sample, options.seed)
    key = RunKey(  # a file called questions says nothing: its folder names the set
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
    """Ask all questions and return the numbers; progress and what was left out go to stderr.

    Raises:
        RoamtuiError: Nothing could be measured.
    """
    file = ResultFile(rows_path, plan.key) if rows_path is not None else None
    if file is not None:
        write_notes(file.problems)
    every = max(1, len(plan.questions) // _NOTED)

    def tell(done: int, count: int) -> None:
        if sys.stderr.isatty() and done % every == 0:
            write_note(f"{done} of {count} questions")

    course = await run_questions(plan, file, tell)
    write_notes(course.problems)
    rows = [course.rows[question.id] for question in plan.questions if question.id in course.rows]
    if not rows:
        raise SourceError("No question could be scored. Check --docs and the headings or lines of the questions.")
    return score_run(plan.key, rows, seed=seed)


def print_score(score: RunScore) -> None:
    """Write the numbers of a run for a person."""
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
