"""Questions of a conversation: taken up, answered step by step, ended, gone back to. Pure, like `update`."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from roamtui.conversation.commands import ExpandSections, Origin
from roamtui.conversation.events import CloseReason, ConversationEvent, ExpandStatus, SectionsExpanded, keep_event
from roamtui.conversation.keep_open import choose_closing
from roamtui.conversation.open_section import OpenSection
from roamtui.conversation.rebuilding import Briefing, rebuild
from roamtui.conversation.state import ConversationState, KeepOpen
from roamtui.conversation.transcript import FOUND_LEAD, HITS_LEAD, Citation, Exchange, Step, Stopped, Usage
from roamtui.conversation.update import (
    ExpandEvents,
    Update,
    close,
    deliver_pending,
    expand_for_agent,
    open_quoted,
)
from roamtui.document.plain import plain_line, shorten
from roamtui.document.tokens import estimate_tokens
from roamtui.outline.labels import name_path

_TITLE_LENGTH = 80


_ELSEWHERE = "(continued elsewhere)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How an exchange ended."""

    answer: str
    stopped: Stopped
    citations: tuple[Citation, ...] = ()
    usage: Usage = field(default_factory=Usage)
    error: str = ""
    steps: int = 0
    """Requests that it took."""


def begin_question(state: ConversationState, question: str, briefing: Briefing) -> Update:
    """Add an exchange for `question`; rebuild the transcript before it where something was closed or changed.

    A question that is still under way, because nobody waited for its end, is ended as cancelled.
    """
    events: tuple[ConversationEvent, ...] = ()
    open_before = state.open
    if state.is_asking:
        state, events = finish_question(state, Outcome(answer="", stopped=Stopped.CANCELLED))
        state = replace(state, needs_rebuild=True)
    if state.options.mode is KeepOpen.FRESH:
        ids = [section.section_id for section in state.open if _is_of_earlier_questions(section)]
        state, closed = close(state, ids, Origin.AGENT, CloseReason.FRESH)
        state = keep_events(state, closed)
        events = (*events, *closed)
    if state.needs_rebuild or (state.model and state.model != briefing.model):
        state = rebuild(state, briefing)
    exchange = Exchange(
        number=len(state.transcript.exchanges) + 1,
        question=question,
        within=briefing.within,
        open_before=open_before,
        model=briefing.model,
    )
    title = state.title or shorten(plain_line(question), _TITLE_LENGTH)
    transcript = replace(state.transcript, exchanges=(*state.transcript.exchanges, exchange))
    state = replace(state, transcript=transcript, is_asking=True, model=briefing.model, title=title)
    state, texts = deliver_pending(state, briefing.room_tokens)
    state, found, opening = _open_found(state, briefing, texts)
    preface = _write_preface(state, texts, found, briefing.hits)
    state = _change_last(state, preface=preface, excerpts=briefing.excerpts)
    return keep_events(state, opening), (*events, *opening)


def record_step(state: ConversationState, step: Step) -> ConversationState:
    """Add a step, calls and results together, to the exchange under way."""
    last = state.transcript.exchanges[-1]
    return _change_last(state, steps=(*last.steps, step), answer="")


def keep_events(state: ConversationState, events: tuple[ConversationEvent, ...]) -> ConversationState:
    """Keep with the last exchange what a person is told later; before the first one nothing is kept."""
    exchanges = state.transcript.exchanges
    kept = tuple(filter(None, map(keep_event, events)))
    return _change_last(state, events=(*exchanges[-1].events, *kept)) if kept and exchanges else state


def record_draft(state: ConversationState, text: str) -> ConversationState:
    """Note what the model has said so far since the last step: its answer, should nothing more come."""
    return _change_last(state, answer=text)


def finish_question(state: ConversationState, outcome: Outcome) -> Update:
    """End the exchange under way, then close what was marked and what the budget asks for."""
    number = state.question_number
    state = replace(
        _change_last(
            state,
            answer=outcome.answer,
            stopped=outcome.stopped,
            citations=outcome.citations,
            usage=outcome.usage,
            error=outcome.error,
            steps_taken=outcome.steps,
        ),
        is_asking=False,
    )
    cited = {citation.section_id for citation in outcome.citations}
    state, opening = open_quoted(state, outcome.citations)
    sections = tuple(
        replace(section, last_cited=number) if _is_cited(state, section.section_id, cited) else section
        for section in state.open
    )
    state = replace(state, open=sections)
    state, closed = close_marked(state)
    events: tuple[ConversationEvent, ...] = (*opening, *closed)
    state, more = close(state, choose_closing(state), Origin.AGENT, CloseReason.BUDGET)
    return keep_events(state, (*opening, *more)), (*events, *more)


def close_marked(state: ConversationState) -> Update:
    """Close what was marked during a question that has ended, with an event for each who asked."""
    events: tuple[ConversationEvent, ...] = ()
    for origin in Origin:
        ids = [s.section_id for s in state.open if s.is_closing and (s.closing_by or Origin.PERSON) is origin]
        state, closed = close(state, ids, origin, CloseReason.ASKED)
        events = (*events, *closed)
    return state, events


def _is_of_earlier_questions(section: OpenSection) -> bool:
    """Return whether mode `fresh` closes a section: not what is pinned, nor what was opened for the next question."""
    is_new = not section.deliveries and section.opened_by is Origin.PERSON
    return not section.is_pinned and not is_new


def _open_found(
    state: ConversationState, briefing: Briefing, texts: tuple[str, ...]
) -> tuple[ConversationState, tuple[str, ...], ExpandEvents]:
    """Open what search found for a question, as far as there is room beside `texts`; return their blocks."""
    if not briefing.found:
        return state, (), ()
    room = briefing.room_tokens
    if room is not None:
        room = max(0, room - sum(map(estimate_tokens, texts)))
    command = ExpandSections(section_ids=briefing.found, origin=Origin.AGENT, room_tokens=room)
    opened, events = expand_for_agent(state, command)
    results = next(event.results for event in events if isinstance(event, SectionsExpanded))
    found = tuple(result.text for result in results if result.status is ExpandStatus.OPENED)
    return (opened, found, events) if found else (state, (), ())


def _write_preface(state: ConversationState, texts: tuple[str, ...], found: tuple[str, ...], hits: str) -> str:
    parts = []
    if texts:
        parts += ["Opened since your last answer:", *texts]
    if found:
        parts += [FOUND_LEAD, *found]
    if hits:
        parts += [HITS_LEAD, hits]
    within = state.transcript.exchanges[-1].within
    if within is not None and within in state.library:
        name = name_path(state.library, within)
        parts.append(f"(The question is about [{within}] {name} and what lies below it: look there alone.)")
    if state.reading is not None and state.reading in state.library:
        parts.append(f"(The person is reading [{state.reading}] {name_path(state.library, state.reading)}.)")
    return "\n\n".join(parts)


def _is_cited(state: ConversationState, section_id: str, cited: set[str]) -> bool:
    """Return whether a section or one inside it is cited."""
    return any(
        cited_id == section_id or (cited_id in state.library and section_id in state.library.ancestors(cited_id))
        for cited_id in cited
    )


def _change_last(state: ConversationState, **changes: object) -> ConversationState:
    exchanges = state.transcript.exchanges
    last = replace(exchanges[-1], **changes)  # type: ignore[arg-type]
    return replace(state, transcript=replace(state.transcript, exchanges=(*exchanges[:-1], last)))


def rewind(state: ConversationState, number: int) -> ConversationState:
    """Return the state as it was before question `number` (1 for the first), with today's document and folding.

    While nothing was rebuilt since, the transcript before that question is still what was sent, to the letter.
    """
    exchange = state.transcript.exchanges[number - 1]
    transcript = replace(state.transcript, exchanges=state.transcript.exchanges[: number - 1])
    was_rebuilt = transcript.rebuilt_at >= number - 1
    if was_rebuilt:
        transcript = replace(transcript, rebuilt_at=number - 1, history_from=min(transcript.history_from, number - 1))
    return replace(
        state,
        transcript=transcript,
        open=tuple(section for section in exchange.open_before if section.section_id in state.library),
        batches=(),
        is_asking=False,
        needs_rebuild=state.needs_rebuild or was_rebuilt,
        title=state.title if number > 1 else "",
    )


def fork(state: ConversationState, conversation_id: str, before: int | None = None) -> ConversationState:
    """Return a new conversation that shares what was said with another, and goes its own way from there.

    Its texts are marked with a nonce of its own, so that its transcript is built anew.

    Args:
        state: Of the other one.
        conversation_id: Of the new one.
        before: Number of the question before which they part; None for now, which may be in the middle of a question,
            because another program went on with that conversation too.
    """
    if before is not None:
        return replace(rewind(state, before), id=conversation_id, needs_rebuild=True)
    title = state.title if state.title.endswith(_ELSEWHERE) else f"{state.title} {_ELSEWHERE}".lstrip()
    return replace(state, id=conversation_id, title=title, needs_rebuild=True)
