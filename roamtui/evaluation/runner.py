"""Asks the questions of an evaluation and scores the answers."""

import time
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from roamtui.agent.agent import Agent
from roamtui.agent.options import AgentOptions
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import ConversationEvent, QuestionAnswered, SectionsOpened, StopReason
from roamtui.conversation.state import Exchange
from roamtui.document.document import Document
from roamtui.document.library import Library
from roamtui.errors import ModelError, RoamtuiError, SourceError
from roamtui.evaluation.question_set import EvalQuestion, GoldIds, Turn, resolve_golds
from roamtui.evaluation.scoring import AgentScore, QuestionResult
from roamtui.models.base import Model
from roamtui.search.base import SearchMode
from roamtui.search.searcher import Searcher

SCOPE_ALL = "all"
_HITS_MAX = 10
"""Number of search results in which gold sections are looked for."""
_DOCUMENTS_CACHED = 64


class EvalPlan(Struct, frozen=True, kw_only=True):
    """How to ask the questions of a run."""

    docs: Path
    """Folder of the documents."""
    scope: str
    """``all`` to search the whole folder, ``doc`` to search the document of each question."""
    open_library: Callable[[Path], Library]
    """Opens a file or a folder. Raises SourceError if it cannot be read."""
    make_searcher: Callable[[Library], Searcher | None]
    model: Model | None = None
    """None to measure only search."""
    agent_options: AgentOptions | None = None


class EvalRun(Struct):
    """The results of a run so far."""

    mode: SearchMode = SearchMode.OFF
    """How the documents are searched."""
    results: list[QuestionResult] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    """A sentence for each question that could not be scored."""


class _Corpus(NamedTuple):
    library: Library
    searcher: Searcher | None
    documents: Mapping[str, Document]


def _make_corpus(plan: EvalPlan, doc: str) -> _Corpus:
    """Load one document of the folder, or all if `doc` is empty, and prepare the search."""
    path = plan.docs / doc
    if not path.resolve().is_relative_to(plan.docs.resolve()):
        raise SourceError(f"{doc} is not in the folder {plan.docs}.")
    library = plan.open_library(path)
    if doc:
        documents = {doc: library.root}
    else:
        documents = {document.key: document for document in library.grafts.values()}
    searcher = plan.make_searcher(library)
    if searcher is not None:
        searcher.prepare()  # now, so that the first search is not timed with it
    return _Corpus(library=library, searcher=searcher, documents=documents)


async def run_questions(
    plan: EvalPlan,
    questions: Sequence[EvalQuestion],
    on_question: Callable[[EvalRun], None],
) -> EvalRun:
    """Ask every question, and call `on_question` after each.

    Raise `RoamtuiError` if the documents cannot be read, or the model does not answer the first
    question.
    """
    run = EvalRun()
    get_corpus = lru_cache(maxsize=_DOCUMENTS_CACHED)(partial(_make_corpus, plan))
    if plan.scope == SCOPE_ALL:
        get_corpus("")
    try:
        for question in questions:
            result = await _score_question(question, plan, get_corpus, run)
            if result is not None:
                run.results.append(result)
            on_question(run)
    finally:
        if plan.model is not None:
            await plan.model.close()
    return run


async def _score_question(
    question: EvalQuestion, plan: EvalPlan, get_corpus: Callable[[str], _Corpus], run: EvalRun
) -> QuestionResult | None:
    agent = None
    hit_ids = tuple[str, ...]()
    try:
        corpus = get_corpus("" if plan.scope == SCOPE_ALL else question.doc)
        golds = resolve_golds(question, corpus.documents)
        started = time.perf_counter()
        if corpus.searcher is not None:
            run.mode = corpus.searcher.mode
            earlier = tuple(turn.content for turn in question.history or ())
            hits = corpus.searcher.search(corpus.library, question.question, limit=_HITS_MAX, earlier=earlier)
            hit_ids = tuple(hit.section_id for hit in hits)
        ms = round((time.perf_counter() - started) * 1_000, 3)
        if plan.model is not None:
            agent = await _ask_agent(question, golds, corpus, plan.model, plan.agent_options)
    except RoamtuiError as error:
        if isinstance(error, ModelError) and not run.results:
            raise
        run.problems.append(f"question {question.id} was skipped: {error}")
        return None
    strict, relaxed = (
        next((rank for rank, hit_id in enumerate(hit_ids, start=1) if hit_id in ids), None) for ids in golds
    )
    return QuestionResult(rank=strict, relaxed_rank=relaxed, ms=ms, agent=agent)


async def _ask_agent(
    question: EvalQuestion, golds: GoldIds, corpus: _Corpus, model: Model, options: AgentOptions | None
) -> AgentScore:
    conversation = Conversation(corpus.library, earlier=make_exchanges(question.history or ()))
    events: list[ConversationEvent] = []
    conversation.subscribe(events.append)
    agent = Agent(conversation, model, corpus.searcher, options)
    agent.use_model(model)  # as if a person had chosen it: it may read the history of another model
    await agent.ask(question.question)
    final = next(event for event in reversed(events) if isinstance(event, QuestionAnswered))
    if final.stopped in (StopReason.ERROR, StopReason.COST):
        raise ModelError(final.error)
    results = [result for event in events if isinstance(event, SectionsOpened) for result in event.results]
    opened = {result.section_id for result in results if result.status.is_open and result.section_id}
    read = {*opened}
    library = conversation.state.library
    delivered = conversation.state.collect_delivered()
    # the text of a gold section may have been delivered with its parent
    for section_id in filter(library.__contains__, golds.relaxed):
        span = library.node(section_id).own_content_span
        if span.start < span.end and not delivered.subtract_from(span):
            read.add(section_id)
    cited = {citation.section_id for citation in final.citations}
    return AgentScore(
        gold_opened=not golds.strict.isdisjoint(read),
        gold_cited=not golds.strict.isdisjoint(cited),
        relaxed_opened=not golds.relaxed.isdisjoint(read),
        relaxed_cited=not golds.relaxed.isdisjoint(cited),
        quotes=sum(citation.quote is not None for citation in final.citations),
        verified=sum(citation.quote is not None and citation.is_verified for citation in final.citations),
        opened=len(opened),
        tokens=sum(result.tokens for result in results),
        steps=final.step_count,
    )


def make_exchanges(history: Sequence[Turn]) -> tuple[Exchange, ...]:
    """Convert earlier turns to exchanges. The turns after a person's turn are the answer to it."""
    exchanges: list[Exchange] = []
    for turn in history:
        question = turn.content if turn.role == "user" else ""
        if question or not exchanges:
            number = len(exchanges) + 1
            exchanges.append(Exchange(number=number, question=question, stopped=StopReason.ANSWERED))
        if not question:
            exchanges[-1] = replace(exchanges[-1], answer=f"{exchanges[-1].answer}\n{turn.content}".strip())
    return tuple(exchanges)
