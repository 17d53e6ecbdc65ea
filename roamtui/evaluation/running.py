"""Asks questions one by one and scores what comes back."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from roamtui.errors import ModelError, RoamtuiError
from roamtui.evaluation.asking import ask_agent
from roamtui.evaluation.golds import find_gold_ids, find_rank
from roamtui.evaluation.libraries import build_document_library, build_folder_library
from roamtui.evaluation.rows import QuestionRow
from roamtui.evaluation.scoring import RANK_MAX

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from roamtui.agent.options import AgentOptions
    from roamtui.document.document import Document
    from roamtui.document.library import Library
    from roamtui.evaluation.golds import GoldIds
    from roamtui.evaluation.questions import EvalQuestion
    from roamtui.evaluation.rows import RowFile, RunKey
    from roamtui.models.base import Model
    from roamtui.search.base import Searcher

SCOPE_ALL = "all"
_KEPT_DOCUMENTS = 64
_FAILURES_MAX = 5
"""Failures of the model in a row after which it is given up."""
_WARM_UP = "warm up"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is asked, of what, and by whom."""

    key: RunKey
    docs: Path
    """Folder of the documents."""
    questions: tuple[EvalQuestion, ...]
    make_searcher: Callable[[Library], Searcher | None]
    make_model: Callable[[], Model] | None = None
    """Makes a model for each of the questions asked side by side; None where search alone is measured."""
    agent_options: AgentOptions | None = None
    jobs: int = 1
    """Questions asked side by side."""


@dataclass(slots=True)
class Course:
    """How far a run has come."""

    rows: dict[str, QuestionRow] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    """A sentence for each question that could not be scored."""
    failures: int = 0
    """Failures of the model since it last answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Material:
    library: Library
    searcher: Searcher | None
    documents: Mapping[str, Document]


class _Shelf:
    """The libraries that questions are asked of, each made once and ready to search."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._made: dict[str, _Material] = {}

    def take(self, doc: str) -> _Material:
        """Return what a question about a document is asked of.

        Raises:
            SourceError: It cannot be read.
        """
        name = "" if self._plan.key.scope == SCOPE_ALL else doc
        material = self._made.pop(name, None) or self._make(doc)
        self._made[name] = material
        if len(self._made) > _KEPT_DOCUMENTS:
            self._made.pop(next(iter(self._made)))
        return material

    def _make(self, doc: str) -> _Material:
        if self._plan.key.scope == SCOPE_ALL:
            library = build_folder_library(self._plan.docs)
            documents = {document.key: document for document in library.grafts.values()}
        else:
            library = build_document_library(self._plan.docs, doc)
            documents = {doc: library.root}
        searcher = self._plan.make_searcher(library)
        if searcher is not None:
            searcher.search(_WARM_UP, limit=1)
        return _Material(library=library, searcher=searcher, documents=documents)


async def run_plan(plan: Plan, file: RowFile | None = None, tell: Callable[[int, int], None] | None = None) -> Course:
    """Ask every question and return the results.

    Args:
        plan: What is asked.
        file: Holds results of an earlier run, which are not asked again, and gets the new ones.
        tell: Is told after each question how many are done, and of how many.

    Raises:
        RoamtuiError: The documents cannot be read, or the model answers nothing.
    """
    course = Course()
    shelf = _Shelf(plan)
    if plan.key.scope == SCOPE_ALL:
        shelf.take("")
    waiting = iter(plan.questions)
    make_model = plan.make_model
    models = [None] if make_model is None else [make_model() for _ in range(plan.jobs)]
    tasks = [asyncio.ensure_future(_work(waiting, _Desk(plan, shelf, course, file, model, tell))) for model in models]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for model in models:
            if model is not None:
                await model.close()
    return course


@dataclass(frozen=True, slots=True)
class _Desk:
    """Where one of the questions asked side by side is worked on."""

    plan: Plan
    shelf: _Shelf
    course: Course
    file: RowFile | None
    model: Model | None
    tell: Callable[[int, int], None] | None


async def _work(waiting: Iterator[EvalQuestion], desk: _Desk) -> None:
    course = desk.course
    for question in waiting:
        row = desk.file.done.get(question.id) if desk.file is not None else None
        if row is None or row.question != question.question:
            row = await _score(question, desk)
            if row is not None and desk.file is not None:
                desk.file.add(row)
        if row is not None:
            course.rows[question.id] = row
        if desk.tell is not None:
            desk.tell(len(course.rows) + len(course.problems), len(desk.plan.questions))
        await asyncio.sleep(0)


async def _score(question: EvalQuestion, desk: _Desk) -> QuestionRow | None:
    """Return the result of a question, None where there is none; the reason is among the problems then."""
    try:
        material = desk.shelf.take(question.doc)
        golds = find_gold_ids(question, material.documents)
    except RoamtuiError as error:
        desk.course.problems.append(f"question {question.id} (line {question.line_number}) is left out: {error}")
        return None
    asked = question if desk.plan.key.with_history else replace(question, history=())
    row = _search(asked, material.searcher, golds)
    if desk.model is None:
        return row
    agent = await ask_agent(asked, material.library, material.searcher, desk.model, golds, desk.plan.agent_options)
    if agent.error:
        _count_failure(question, agent.error, desk.course)
        return None
    desk.course.failures = 0
    return replace(row, agent=agent)


def _search(question: EvalQuestion, searcher: Searcher | None, golds: GoldIds) -> QuestionRow:
    started = time.perf_counter()
    found: Sequence[str] = ()
    if searcher is not None:
        earlier = tuple(turn.text for turn in question.history)
        found = [hit.section_id for hit in searcher.search(question.question, limit=RANK_MAX, earlier=earlier)]
    return QuestionRow(
        id=question.id,
        question=question.question,
        rank=find_rank(found, golds.strict),
        relaxed_rank=find_rank(found, golds.relaxed),
        hits=tuple(found),
        ms=round((time.perf_counter() - started) * 1_000, 3),
    )


def _count_failure(question: EvalQuestion, error: str, course: Course) -> None:
    """Note that the model failed.

    Raises:
        ModelError: It has answered nothing yet, or failed too often in a row.
    """
    course.failures += 1
    if not course.rows or course.failures >= _FAILURES_MAX:
        raise ModelError(error)
    course.problems.append(f"question {question.id} (line {question.line_number}) is left out: {error}")
