"""Asks the questions of an evaluation and scores the answers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path

from roamtui.agent.answer import count_verified
from roamtui.agent.controller import ConversationController
from roamtui.agent.loop import Agent
from roamtui.agent.options import AgentOptions
from roamtui.conversation.events import ConversationEvent, ExpandStatus, QuestionAnswered, SectionsExpanded
from roamtui.conversation.session import Session
from roamtui.conversation.state import Exchange, Transcript
from roamtui.conversation.transcript import StopReason
from roamtui.document.document import Document, NodeRow, build_columns
from roamtui.document.library import Library
from roamtui.document.node import NodeKind
from roamtui.document.parse import parse_document
from roamtui.errors import ModelError, RoamtuiError, SourceError
from roamtui.evaluation.question_set import EvalQuestion, SearchedQuestion, Turn, resolve_golds, search_question
from roamtui.evaluation.scoring import AgentScore, QuestionResult, ResultFile, RunKey
from roamtui.models.base import Model
from roamtui.outline.spans import subtract_delivered
from roamtui.search.base import Searcher
from roamtui.sources.read import read_file

SCOPE_ALL = "all"
_DOCUMENTS_CACHED = 64
_FAILURES_MAX = 5
"""The run stops after this many consecutive failures of the model."""
_WARM_UP_QUERY = "warm up"
_OPENED_STATUSES = (ExpandStatus.OPENED, ExpandStatus.ALREADY_OPEN)
_TEXT_SUFFIXES = frozenset({".md", ".markdown", ".txt"})


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalPlan:
    """The questions of a run, and how to ask them."""

    key: RunKey
    docs: Path
    """Folder of the documents."""
    questions: tuple[EvalQuestion, ...]
    make_searcher: Callable[[Library], Searcher | None]
    make_model: Callable[[], Model] | None = None
    """Creates a model for each parallel worker, or None to measure only search."""
    agent_options: AgentOptions | None = None
    jobs: int = 1
    """Number of parallel workers."""


@dataclass(slots=True)
class EvalRun:
    """The state of a run."""

    results: dict[str, QuestionResult] = field(default_factory=dict)
    """By question id."""
    problems: list[str] = field(default_factory=list)
    """A sentence for each question that could not be scored."""
    failures: int = 0
    """Consecutive failures of the model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Corpus:
    library: Library
    searcher: Searcher | None
    documents: Mapping[str, Document]


def _make_corpus(plan: EvalPlan, doc: str) -> _Corpus:
    """Load one document of the folder, or all if `doc` is empty, and prepare the search.

    Raises:
        SourceError: A document cannot be read or is outside the folder, or there are none.
    """
    folder = plan.docs
    if doc:
        path = folder / doc
        if not path.resolve().is_relative_to(folder.resolve()):
            raise SourceError(f"{doc} is outside {folder}.")
        library = Library(source=str(path), root=_read_document(path, key=""))
        documents = {doc: library.root}
    else:
        if not folder.is_dir():
            raise SourceError(f"no folder {folder}. Name the folder of the documents with --docs.")
        paths = sorted(path for path in folder.rglob("*") if path.suffix.lower() in _TEXT_SUFFIXES and path.is_file())
        if not paths:
            raise SourceError(f"{folder} contains no Markdown or text files.")
        files = [_read_document(path, key=path.relative_to(folder).as_posix()) for path in paths]
        rows = [NodeRow(NodeKind.FILE, 1, document.key, 0) for document in files]
        root = Document(key="", title=folder.name, text="", columns=build_columns(rows, 0))
        library = Library(source=str(folder), root=root)
        library = library.graft_all(dict(zip(root.ids, files, strict=True)))
        documents = {document.key: document for document in library.grafts.values()}
    searcher = plan.make_searcher(library)
    if searcher is not None:  # builds the index now, so that the duration of the first search does not include it
        searcher.search(_WARM_UP_QUERY, limit=1)
    return _Corpus(library=library, searcher=searcher, documents=documents)


def _read_document(path: Path, *, key: str) -> Document:
    raw = read_file(path)
    return parse_document(raw.text, key=key, name=raw.title or raw.name, is_markdown=raw.is_markdown)


async def run_questions(
    plan: EvalPlan, file: ResultFile | None = None, on_progress: Callable[[int, int], None] | None = None
) -> EvalRun:
    """Ask every question and return the results. Saved results in `file` are reused, and new ones are added to it.

    Raises:
        RoamtuiError: The documents cannot be read, or the model does not answer.
    """
    run = EvalRun()
    get_corpus = lru_cache(maxsize=_DOCUMENTS_CACHED)(partial(_make_corpus, plan))
    if plan.key.scope == SCOPE_ALL:
        get_corpus("")
    pending = iter(plan.questions)

    async def work(model: Model | None) -> None:
        for question in pending:  # shared by all workers
            row = file.done.get(question.id) if file is not None else None
            if row is None or row.question != question.question:
                row = await _score_question(question, plan, get_corpus, run, model)
                if row is not None and file is not None:
                    file.add(row)
            if row is not None:
                run.results[question.id] = row
            if on_progress is not None:
                on_progress(len(run.results) + len(run.problems), len(plan.questions))
            await asyncio.sleep(0)  # let the other workers start

    make_model = plan.make_model
    models = [None] if make_model is None else [make_model() for _ in range(plan.jobs)]
    tasks = [asyncio.ensure_future(work(model)) for model in models]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for model in models:
            if model is not None:
                await model.close()
    return run


async def _score_question(
    question: EvalQuestion, plan: EvalPlan, get_corpus: Callable[[str], _Corpus], run: EvalRun, model: Model | None
) -> QuestionResult | None:
    """Score a question, or return None and record the problem."""
    try:
        corpus = get_corpus("" if plan.key.scope == SCOPE_ALL else question.doc)
        golds = resolve_golds(question, corpus.documents)
    except RoamtuiError as error:
        run.problems.append(f"question {question.id} (line {question.line_number}) is skipped: {error}")
        return None
    searched = search_question(
        question if plan.key.with_history else replace(question, history=()), golds, corpus.searcher
    )
    row = QuestionResult(
        id=question.id,
        question=question.question,
        rank=_compute_rank(searched.hit_ids, golds.strict),
        relaxed_rank=_compute_rank(searched.hit_ids, golds.relaxed),
        hits=searched.hit_ids,
        ms=searched.ms,
    )
    if model is None:
        return row
    agent = await _ask_agent(searched, corpus, model, plan.agent_options)
    if not agent.error:
        run.failures = 0
        return replace(row, agent=agent)
    run.failures += 1
    if not run.results or run.failures >= _FAILURES_MAX:
        raise ModelError(agent.error)
    run.problems.append(f"question {question.id} (line {question.line_number}) is skipped: {agent.error}")
    return None


def _compute_rank(hit_ids: Sequence[str], golds: frozenset[str]) -> int | None:
    return next((rank for rank, section_id in enumerate(hit_ids, start=1) if section_id in golds), None)


async def _ask_agent(
    searched: SearchedQuestion, corpus: _Corpus, model: Model, options: AgentOptions | None
) -> AgentScore:
    session = Session.start(corpus.library)
    if exchanges := make_exchanges(searched.question.history):
        session = Session(replace(session.state, transcript=Transcript(exchanges=exchanges)))
    controller = ConversationController(Agent(session, model, corpus.searcher, options))
    events: list[ConversationEvent] = []
    controller.subscribe(lambda update: events.append(update.event))
    started = time.perf_counter()
    await controller.ask(searched.question.question)
    seconds = round(time.perf_counter() - started, 3)
    results = [result for event in events if isinstance(event, SectionsExpanded) for result in event.results]
    opened = {result.section_id for result in results if result.section_id and result.status in _OPENED_STATUSES}
    final = next(event for event in reversed(events) if isinstance(event, QuestionAnswered))
    read, golds, state = {*opened}, searched.golds, controller.state
    delivered = state.collect_delivered()
    for section_id in golds.relaxed:  # a section's text may have been delivered with its parent
        if section_id in state.library:
            span = state.library.get_own_content_span(section_id)
            if len(span) and not subtract_delivered(span, delivered):
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
        tokens=sum(result.tokens for result in results),
        steps=final.steps,
        seconds=seconds,
        stopped=final.stopped.value,
        error=final.error if final.stopped in (StopReason.ERROR, StopReason.COST) else "",
    )


def make_exchanges(history: Sequence[Turn]) -> tuple[Exchange, ...]:
    """Convert earlier turns to exchanges. Consecutive turns of the same speaker are joined."""
    pairs: list[tuple[list[str], list[str]]] = []
    for turn in history:
        if (turn.is_user and (not pairs or pairs[-1][1])) or not pairs:
            pairs.append(([], []))
        pairs[-1][0 if turn.is_user else 1].append(turn.text)
    return tuple(
        Exchange(number=number, question="\n".join(questions), answer="\n".join(answers), stopped=StopReason.ANSWERED)
        for number, (questions, answers) in enumerate(pairs, start=1)
    )
