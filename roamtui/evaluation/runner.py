"""Asks the questions of an evaluation and scores the answers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path

from roamtui.agent.answer import count_verified
from roamtui.agent.loop import Agent
from roamtui.agent.options import AgentOptions
from roamtui.conversation.events import ExpandStatus, QuestionAnswered, SectionsExpanded
from roamtui.conversation.session import Session
from roamtui.conversation.state import Exchange, Transcript
from roamtui.conversation.transcript import StopReason
from roamtui.document.document import Document, NodeRow, build_columns
from roamtui.document.library import Library
from roamtui.document.node import NodeKind
from roamtui.document.parse import parse_document
from roamtui.errors import ModelError, RoamtuiError, SourceError
from roamtui.evaluation.question_set import EvalQuestion, GoldIds, Turn, resolve_golds
from roamtui.evaluation.scoring import RANK_MAX, AgentScore, QuestionResult, ResultFile, RunKey
from roamtui.models.base import Model
from roamtui.outline.spans import subtract_bounds
from roamtui.search.base import Searcher
from roamtui.sources.read import read_file

SCOPE_ALL = "all"
_KEPT_DOCUMENTS = 64
_FAILURES_MAX = 5
"""The run stops after this many consecutive failures of the model."""
_WARM_UP = "warm up"
_OPENED = (ExpandStatus.OPENED, ExpandStatus.ALREADY_OPEN)
_SUFFIXES = frozenset({".md", ".markdown", ".txt"})


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalPlan:
    """The questions of a run, and how to ask them."""

    key: RunKey
    docs: Path
    """Folder of the documents."""
    questions: tuple[EvalQuestion, ...]
    make_searcher: Callable[[Library], Searcher | None]
    make_model: Callable[[], Model] | None = None
    """Creates a model for each parallel worker; None measures only search."""
    agent_options: AgentOptions | None = None
    jobs: int = 1
    """Number of parallel workers."""


@dataclass(slots=True)
class EvalRun:
    """The state of a run."""

    rows: dict[str, QuestionResult] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    """A sentence for each question that could not be scored."""
    failures: int = 0
    """Consecutive failures of the model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Corpus:
    library: Library
    searcher: Searcher | None
    documents: Mapping[str, Document]


def _make_material(plan: EvalPlan, doc: str) -> _Corpus:
    # Ready to search. An empty `doc` means all documents.
    if doc:
        library = build_document_library(plan.docs, doc)
        documents = {doc: library.root}
    else:
        library = build_folder_library(plan.docs)
        documents = {document.key: document for document in library.grafts.values()}
    searcher = plan.make_searcher(library)
    if searcher is not None:
        searcher.search(_WARM_UP, limit=1)
    return _Corpus(library=library, searcher=searcher, documents=documents)


async def run_questions(
    plan: EvalPlan, file: ResultFile | None = None, tell: Callable[[int, int], None] | None = None
) -> EvalRun:
    """Ask every question and return the results; saved results in `file` are reused, new ones added.

    Raises:
        RoamtuiError: The documents cannot be read, or the model does not answer.
    """
    course = EvalRun()
    take = lru_cache(maxsize=_KEPT_DOCUMENTS)(partial(_make_material, plan))
    if plan.key.scope == SCOPE_ALL:
        take("")
    waiting = iter(plan.questions)
    make_model = plan.make_model
    models = [None] if make_model is None else [make_model() for _ in range(plan.jobs)]
    tasks = [
        asyncio.ensure_future(_run_worker(waiting, _Worker(plan, take, course, file, model, tell))) for model in models
    ]
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
class _Worker:
    """State of one of the parallel workers."""

    plan: EvalPlan
    take: Callable[[str], _Corpus]
    course: EvalRun
    file: ResultFile | None
    model: Model | None
    tell: Callable[[int, int], None] | None


async def _run_worker(waiting: Iterator[EvalQuestion], worker: _Worker) -> None:
    course = worker.course
    for question in waiting:
        row = worker.file.done.get(question.id) if worker.file is not None else None
        if row is None or row.question != question.question:
            row = await _score(question, worker)
            if row is not None and worker.file is not None:
                worker.file.add(row)
        if row is not None:
            course.rows[question.id] = row
        if worker.tell is not None:
            worker.tell(len(course.rows) + len(course.problems), len(worker.plan.questions))
        await asyncio.sleep(0)


async def _score(question: EvalQuestion, worker: _Worker) -> QuestionResult | None:
    # Returns None, and records the problem, if the question cannot be scored.
    try:
        material = worker.take("" if worker.plan.key.scope == SCOPE_ALL else question.doc)
        golds = resolve_golds(question, material.documents)
    except RoamtuiError as error:
        worker.course.problems.append(f"question {question.id} (line {question.line_number}) is skipped: {error}")
        return None
    asked = question if worker.plan.key.with_history else replace(question, history=())
    started = time.perf_counter()
    found: tuple[str, ...] = ()
    if material.searcher is not None:
        earlier = tuple(turn.text for turn in asked.history)
        hits = material.searcher.search(asked.question, limit=RANK_MAX, earlier=earlier)
        found = tuple(hit.section_id for hit in hits)
    row = QuestionResult(
        id=question.id,
        question=question.question,
        rank=_compute_rank(found, golds.strict),
        relaxed_rank=_compute_rank(found, golds.relaxed),
        hits=found,
        ms=round((time.perf_counter() - started) * 1_000, 3),
    )
    if worker.model is None:
        return row
    agent = await ask_agent(asked, material.library, material.searcher, worker.model, golds, worker.plan.agent_options)
    course = worker.course
    if not agent.error:
        course.failures = 0
        return replace(row, agent=agent)
    course.failures += 1
    if not course.rows or course.failures >= _FAILURES_MAX:
        raise ModelError(agent.error)
    course.problems.append(f"question {question.id} (line {question.line_number}) is skipped: {agent.error}")
    return None


def _compute_rank(found: Sequence[str], golds: frozenset[str]) -> int | None:
    return next((rank for rank, section_id in enumerate(found, start=1) if section_id in golds), None)


async def ask_agent(
    question: EvalQuestion,
    library: Library,
    searcher: Searcher | None,
    model: Model,
    golds: GoldIds,
    options: AgentOptions | None = None,
) -> AgentScore:
    """Ask a question after its earlier turns, and score the answer."""
    session = Session.start(library)
    exchanges = make_exchanges(question.history)
    if exchanges:
        session = Session(replace(session.state, transcript=Transcript(exchanges=exchanges)))
    agent = Agent(session, model, searcher, options)
    opened: dict[str, None] = {}
    tokens = 0
    final: QuestionAnswered | None = None
    started = time.perf_counter()
    async with aclosing(agent.ask(question.question)) as events:  # type: ignore[type-var]
        async for event in events:
            if isinstance(event, SectionsExpanded):
                opened |= dict.fromkeys(r.section_id for r in event.results if r.section_id and r.status in _OPENED)
                tokens += sum(result.tokens for result in event.results)
            elif isinstance(event, QuestionAnswered):
                final = event
    assert final is not None
    read, state = {*opened}, session.state
    for section_id in golds.relaxed:  # its text may have been delivered with its parent
        if section_id in state.library:
            span = state.library.get_own_content_span(section_id)
            if len(span) and not subtract_bounds(span.start, span.end, state.delivered.get(span.doc, ())):
                read.add(section_id)
    cited = {citation.section_id for citation in final.citations}
    verified, quotes = count_verified(final.citations)
    return AgentScore(
        gold_opened=not golds.strict.isdisjoint(read),
        gold_cited=not golds.strict.isdisjoint(cited),
        relaxed_opened=not golds.relaxed.isdisjoint(read),
        relaxed_cited=not golds.relaxed.isdisjoint(cited),
        quotes=quotes,
        verified=verified,
        opened=len(opened),
        tokens=tokens,
        steps=final.steps,
        seconds=round(time.perf_counter() - started, 3),
        stopped=final.stopped.value,
        error=final.error if final.stopped in (StopReason.ERROR, StopReason.COST) else "",
    )


def make_exchanges(history: Sequence[Turn]) -> tuple[Exchange, ...]:
    """Convert earlier turns to exchanges; consecutive turns of one speaker are joined."""
    pairs: list[tuple[list[str], list[str]]] = []
    for turn in history:
        if (turn.is_user and (not pairs or pairs[-1][1])) or not pairs:
            pairs.append(([], []))
        pairs[-1][0 if turn.is_user else 1].append(turn.text)
    return tuple(
        Exchange(number=number, question="\n".join(asked), answer="\n".join(answered), stopped=StopReason.ANSWERED)
        for number, (asked, answered) in enumerate(pairs, start=1)
    )


def build_folder_library(folder: Path) -> Library:
    """Load all documents below a folder as one library, keyed by relative path.

    Raises:
        SourceError: There are no documents, or one cannot be read.
    """
    if not folder.is_dir():
        raise SourceError(f"no folder {folder}. Name the folder of the documents with --docs.")
    paths = sorted(path for path in folder.rglob("*") if path.suffix.lower() in _SUFFIXES and path.is_file())
    if not paths:
        raise SourceError(f"{folder} contains no Markdown or text files.")
    documents = [_read_document(path, key=path.relative_to(folder).as_posix()) for path in paths]
    rows = [NodeRow(NodeKind.FILE, 1, document.key, 0) for document in documents]
    root = Document(key="", title=folder.name, text="", columns=build_columns(rows, 0))
    library = Library(source=str(folder), root=root)
    return library.graft_all(dict(zip(root.ids, documents, strict=True)))


def build_document_library(folder: Path, doc: str) -> Library:
    """Load one document below a folder as a library.

    Raises:
        SourceError: The document cannot be read, or is outside the folder.
    """
    path = folder / doc
    if not path.resolve().is_relative_to(folder.resolve()):
        raise SourceError(f"{doc} is outside {folder}.")
    return Library(source=str(path), root=_read_document(path, key=""))


def _read_document(path: Path, *, key: str) -> Document:
    raw = read_file(path)
    return parse_document(raw.text, key=key, name=raw.title or raw.name, is_markdown=raw.is_markdown)
