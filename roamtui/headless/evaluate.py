"""`roamtui eval`: runs the questions, and writes numbers, files and reports."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

from roamtui.errors import SourceError, UsageError
from roamtui.evaluation.questions import read_questions, sample_questions
from roamtui.evaluation.reporting import RunResult, make_html_report, make_markdown_report
from roamtui.evaluation.rows import RowFile, RunKey, read_rows, read_run
from roamtui.evaluation.running import Plan, run_plan
from roamtui.evaluation.scoring import compare_runs, describe_score, score_run
from roamtui.headless.output import write_json, write_note, write_notes, write_text
from roamtui.search.options import SearchMode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from roamtui.agent.options import AgentOptions
    from roamtui.document.library import Library
    from roamtui.evaluation.intervals import Difference
    from roamtui.evaluation.options import EvalOptions
    from roamtui.evaluation.scoring import RunScore
    from roamtui.models.base import Model
    from roamtui.search.base import Searcher

_NOTED = 20
"""How many lines of progress there are at most."""
_REPORTS = {".html": make_html_report, ".md": make_markdown_report}
_WORDS = {
    "hit_at_1": "Hit@1",
    "hit_at_5": "Hit@5",
    "hit_at_10": "Hit@10",
    "mrr": "MRR",
    "median_ms": "median ms",
    "gold_opened": "gold opened",
    "gold_cited": "gold cited",
    "quotes_verified": "quotes verified",
    "opened_per_question": "sections opened",
    "tokens_per_question": "tokens a question",
    "median_tokens": "median tokens",
    "steps_per_question": "steps a question",
}
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
    _check(options, mode, has_model=make_model is not None)
    if options.compare is not None:
        print_comparison(*options.compare, seed=options.seed, as_json=options.as_json)
        return 0
    results = []
    if options.questions is not None and options.docs is not None:
        file = read_questions(options.questions)
        write_notes(file.problems)
        if not file.questions:
            raise SourceError(f"{options.questions} holds no usable question.")
        questions = file.questions
        if options.sample is not None:
            questions = sample_questions(questions, options.sample, options.seed)
        key = RunKey(
            set=options.name or _name_set(options.questions),
            scope=options.scope,
            mode=mode.value,
            model=make_model().name if make_model is not None else "",
            with_history=options.with_history,
        )
        plan = Plan(
            key=key,
            docs=options.docs,
            questions=questions,
            make_searcher=make_searcher,
            make_model=make_model,
            agent_options=agent_options,
            jobs=options.jobs,
        )
        result = asyncio.run(evaluate(plan, options.questions_out, seed=options.seed))
        (print_score_json if options.as_json else print_score)(result.score)
        results.append(result)
    if options.report is not None:
        write_report(options.report, [*results, *load_results(options.rows, seed=options.seed)])
    return 0


def _check(options: EvalOptions, mode: SearchMode, *, has_model: bool) -> None:
    """Refuse arguments that do not go together.

    Raises:
        UsageError: The message says which.
    """
    if options.report is not None and options.report.suffix.lower() not in _REPORTS:
        raise UsageError(f"a report is an .html or an .md file, and {options.report} is neither.")
    if options.questions is None:
        if options.compare is None and not (options.report is not None and options.rows):
            raise UsageError("name a file of questions, or --compare A B, or --report FILE with --rows FILE...")
        return
    if options.docs is None:
        raise UsageError("name the folder of the documents with --docs.")
    if mode is SearchMode.OFF and not has_model:
        raise UsageError("search is off, so there is nothing to measure. Choose a --mode, or a --model.")


def _name_set(path: Path) -> str:
    """Return the name of a question set: of its file, or of the folder where the file has a name that says nothing."""
    return path.stem if path.stem != "questions" else path.absolute().parent.name


async def evaluate(plan: Plan, rows_path: Path | None, *, seed: int) -> RunResult:
    """Ask all questions and return their results; progress and what was left out go to stderr.

    Raises:
        RoamtuiError: Nothing could be measured.
    """
    file = RowFile(rows_path, plan.key) if rows_path is not None else None
    if file is not None:
        write_notes(file.problems)
    every = max(1, len(plan.questions) // _NOTED)

    def tell(done: int, count: int) -> None:
        if sys.stderr.isatty() and done % every == 0:
            write_note(f"{done} of {count} questions")

    course = await run_plan(plan, file, tell)
    write_notes(course.problems)
    rows = [course.rows[question.id] for question in plan.questions if question.id in course.rows]
    if not rows:
        raise SourceError("No question could be scored. Check --docs and the headings or lines of the questions.")
    return RunResult(score=score_run(plan.key, rows, seed=seed), rows=rows)


def load_results(paths: Sequence[Path], *, seed: int) -> list[RunResult]:
    """Return the runs of per-question files.

    Raises:
        SourceError: One cannot be read.
        UsageError: One holds no results.
    """
    results = []
    for path in paths:
        runs, problems = read_rows(path)
        write_notes(problems)
        if not runs:
            raise UsageError(f"{path} holds no results of questions; --questions-out writes such files.")
        for key, by_id in runs.items():
            rows = list(by_id.values())
            results.append(RunResult(score=score_run(key, rows, seed=seed), rows=rows))
    return results


def write_report(path: Path, results: Sequence[RunResult]) -> None:
    """Write a report, HTML or Markdown by the name of the file.

    Raises:
        SourceError: It cannot be written.
    """
    try:
        path.write_text(_REPORTS[path.suffix.lower()](results), "utf-8")
    except OSError as error:
        raise SourceError(f"{path} cannot be written: {error.strerror}. Name another file.") from None
    write_note(f"wrote {path}")


def print_score(score: RunScore) -> None:
    """Write the numbers of a run for a person."""
    key = score.key
    parts = [key.set, f"{score.questions} questions", f"scope {key.scope}", f"mode {key.mode}", key.model]
    lines = [", ".join(part for part in parts if part)]
    for name, value in score.values.items():
        word, is_relaxed = _WORDS[name.removeprefix("relaxed_")], name.startswith("relaxed_")
        shown = _show(name, value)
        interval = score.intervals.get(name)
        around = f"  [{_show(name, interval[0])}, {_show(name, interval[1])}]" if interval else ""
        lines.append(f"  {'relaxed ' if is_relaxed else ''}{word:<{16 if is_relaxed else 24}} {shown:>9}{around}")
    write_text("\n".join([*lines, "  (95 % bootstrap intervals)"]) + "\n")


def print_score_json(score: RunScore) -> None:
    """Write the numbers of a run as JSON."""
    write_json(describe_score(score))


def print_comparison(before: Path, after: Path, *, seed: int, as_json: bool) -> None:
    """Write what the second of two per-question files gains over the first.

    Raises:
        SourceError: One cannot be read.
        UsageError: One holds no run, or they share no question.
    """
    (key_before, rows_before), (key_after, rows_after) = read_run(before), read_run(after)
    count, differences = compare_runs(rows_before, rows_after, (key_before, key_after), seed=seed)
    if not count:
        raise UsageError(f"{before} and {after} have no question in common.")
    if as_json:
        write_json(
            {
                "questions": count,
                "differences": {
                    gain.name: {
                        "before": gain.before,
                        "after": gain.after,
                        "gain": gain.after - gain.before,
                        "interval": [gain.low, gain.high],
                        "better": gain.better,
                    }
                    for gain in differences
                },
            }
        )
        return
    lines = [f"{count} questions in both; gain of {after} over {before}, with its 95 % interval"]
    lines += [_describe_gain(gain) for gain in differences]
    write_text("\n".join(lines) + "\n")


def _describe_gain(gain: Difference) -> str:
    word = _WORDS[gain.name.removeprefix("relaxed_")]
    name = f"relaxed {word}" if gain.name.startswith("relaxed_") else word
    change = _show(gain.name, gain.after - gain.before, signed=True)
    around = f"[{_show(gain.name, gain.low, signed=True)}, {_show(gain.name, gain.high, signed=True)}]"
    values = f"{_show(gain.name, gain.before)} -> {_show(gain.name, gain.after)}"
    return f"  {name:<24} {values:<24} {change:>9} {around:<24} higher in {gain.better:.1%} of resamples"


def _show(name: str, value: float | None, *, signed: bool = False) -> str:
    if value is None:
        return "-"
    sign = "+" if signed else ""
    if name in _PLAIN:
        return f"{value:{sign},.1f}"
    return f"{100 * value:{sign}.1f} %"
