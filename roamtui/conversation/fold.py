"""The state of a conversation as the fold of its events: what was decided is applied here, nothing is decided."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import assert_never

from roamtui.conversation.commands import Origin
from roamtui.conversation.events import (
    ConversationBegun,
    ConversationEvent,
    ConversationForked,
    ConversationRenamed,
    DeedDone,
    DeedUndone,
    Delivery,
    DocumentRead,
    DraftRecorded,
    EntrySkipped,
    NodesFolded,
    NodesLoaded,
    NodesUnfolded,
    OriginsApproved,
    Passing,
    QuestionAnswered,
    QuestionAsked,
    QuestionsTakenBack,
    ReadingChanged,
    ResultsDropped,
    SectionsClosed,
    SectionsDelivered,
    SectionsExpanded,
    SectionsFoundAgain,
    SectionsMarked,
    SectionsPinned,
    StepRecorded,
    TranscriptRebuilt,
    keep_event,
)
from roamtui.conversation.open_section import Deed, OpenSection, mark, unmark
from roamtui.conversation.state import ConversationState, Exchange, KeepOptions, Transcript, make_title
from roamtui.conversation.transcript import Stopped, ToolUse
from roamtui.document.library import Library

_HELD = 64
"""Exchanges that are applied to at most, so that a thousand times as many events take a thousand times as long: each
that ends or changes one makes all of them anew. Only going back and another document concern earlier ones."""
DROPPED = "(This text was dropped to make room. Open a section again by its id if you need it.)"


def fold(
    library: Library, events: Iterable[ConversationEvent], options: KeepOptions | None = None
) -> ConversationState:
    """Return the state of a conversation after all of its events.

    Args:
        library: The document of today; events are applied whatever it holds.
        events: In the order in which they happened.
        options: How much may stay open from now on.
    """
    state = ConversationState(id="", library=library, options=options or KeepOptions())
    ended: list[Exchange] = []
    for event in events:
        if len(state.transcript.exchanges) == _HELD and isinstance(event, QuestionAsked):
            ended += state.transcript.exchanges[:-1]
            state = _hold(state, state.transcript.exchanges[-1:])
        elif isinstance(event, QuestionsTakenBack | SectionsFoundAgain):
            state = _hold(state, (*ended, *state.transcript.exchanges))
            ended.clear()
        state = apply(state, event)
    return _hold(state, (*ended, *state.transcript.exchanges))


def _hold(state: ConversationState, exchanges: tuple[Exchange, ...]) -> ConversationState:
    return replace(state, transcript=replace(state.transcript, exchanges=exchanges))


def apply_all(state: ConversationState, events: Iterable[ConversationEvent]) -> ConversationState:
    """Return the state after events, in order."""
    for event in events:
        state = apply(state, event)
    return state


def apply(state: ConversationState, event: ConversationEvent) -> ConversationState:
    """Return the state after an event; what a person is told later is kept with the last exchange."""
    state = _apply(state, event)
    told = keep_event(event)
    if told is None or not state.transcript.exchanges:
        return state
    return _change_last(state, events=(*state.transcript.exchanges[-1].events, told))


def _apply(  # noqa: C901, PLR0911, PLR0912 - one case an event
    state: ConversationState, event: ConversationEvent
) -> ConversationState:
    if isinstance(event, Passing):
        return state
    match event:
        case ConversationBegun(conversation_id=conversation_id, unfolded=unfolded):
            return replace(state, id=conversation_id, unfolded=frozenset(unfolded))
        case ConversationForked(conversation_id=conversation_id, title=title):
            return replace(state, id=conversation_id, title=title or state.title, needs_rebuild=True)
        case ConversationRenamed(title=title):
            return replace(state, title=title)
        case DocumentRead():
            return _read(state, event)
        case EntrySkipped():
            return replace(state, needs_rebuild=True)
        case OriginsApproved(origins=origins):
            return replace(state, approved_origins=state.approved_origins | set(origins))
        case QuestionAsked():
            return _ask(state, event)
        case TranscriptRebuilt():
            return _rebuild(state, event)
        case StepRecorded(step=step):
            steps = (*state.transcript.exchanges[-1].steps, step)
            return _change_last(state, steps=steps, answer="")
        case DraftRecorded(start=start, text=text):
            return _change_last(state, answer=state.transcript.exchanges[-1].answer[:start] + text)
        case ResultsDropped():
            return _drop_results(state, event)
        case QuestionAnswered():
            return _answer(state, event)
        case QuestionsTakenBack(first=first):
            return _take_back(state, first)
        case SectionsExpanded():
            return _expand(state, event)
        case SectionsDelivered(deliveries=deliveries):
            return _deliver(state, deliveries, Origin.AGENT)
        case SectionsFoundAgain(sections=sections):
            return _find_again(state, sections)
        case SectionsClosed(section_ids=ids):
            return _close(state, frozenset(ids))
        case SectionsMarked(section_ids=ids, origin=origin):
            return _change_open(state, ids, lambda section: mark(section, origin))
        case SectionsPinned(section_ids=ids, is_pinned=is_pinned):
            return _change_open(state, ids, lambda section: _pin(section, is_pinned=is_pinned))
        case NodesUnfolded(section_ids=ids):
            return replace(state, unfolded=state.unfolded | set(ids))
        case NodesFolded(section_ids=ids):
            return replace(state, unfolded=state.unfolded - set(ids))
        case ReadingChanged(section_id=section_id):
            return replace(state, reading=section_id)
        case DeedDone() | DeedUndone():
            return _note_deed(state, event)
        case NodesLoaded(moved=moved):
            return _move_ids(state, dict(moved)) if moved else state
        case _:
            assert_never(event)


def _read(state: ConversationState, event: DocumentRead) -> ConversationState:
    documents, links = {**state.documents, **dict(event.documents)}, {**state.links, **dict(event.links)}
    return replace(state, source=event.source, content_hash=event.content_hash, documents=documents, links=links)


def _ask(state: ConversationState, event: QuestionAsked) -> ConversationState:
    exchange = Exchange(
        number=state.question_number + 1,
        question=event.question,
        within=event.within,
        open_before=state.open,
        preface=event.preface,
        excerpts=event.excerpts,
        model=event.model,
    )
    if state.is_asking:  # the end of the one before could not be read
        state = _change_last(state, stopped=Stopped.CANCELLED)
    transcript = replace(state.transcript, exchanges=(*state.transcript.exchanges, exchange))
    title = state.title or make_title(event.question)
    return replace(state, transcript=transcript, is_asking=True, model=event.model, title=title)


def _rebuild(state: ConversationState, event: TranscriptRebuilt) -> ConversationState:
    transcript = Transcript(
        system=event.system,
        prologue=event.prologue,
        exchanges=state.transcript.exchanges,
        rebuilt_at=event.rebuilt_at,
        history_from=event.history_from,
    )
    return replace(state, transcript=transcript, needs_rebuild=False, model=event.model)


def _answer(state: ConversationState, event: QuestionAnswered) -> ConversationState:
    ended = _change_last(
        state,
        answer=event.answer,
        stopped=event.stopped,
        citations=event.citations,
        usage=event.usage,
        error=event.error,
        steps_taken=event.steps,
    )
    state = replace(ended, is_asking=False, needs_rebuild=state.needs_rebuild or event.is_cut)
    return _change_open(state, event.cited_ids, lambda section: replace(section, last_cited=event.number))


def _take_back(state: ConversationState, first: int) -> ConversationState:
    """Return the state before a question, with today's document and folding.

    While nothing was rebuilt since, the transcript before that question is still what was sent, to the letter.
    """
    exchange = state.transcript.exchanges[first - 1]
    transcript = replace(state.transcript, exchanges=state.transcript.exchanges[: first - 1])
    was_rebuilt = transcript.rebuilt_at >= first - 1
    if was_rebuilt:
        transcript = replace(transcript, rebuilt_at=first - 1, history_from=min(transcript.history_from, first - 1))
    return replace(
        state,
        transcript=transcript,
        open=exchange.open_before,
        deeds=(),
        undone=(),
        is_asking=False,
        needs_rebuild=state.needs_rebuild or was_rebuilt,
        title=state.title if first > 1 else "",
    )


def _expand(state: ConversationState, event: SectionsExpanded) -> ConversationState:
    before = set(state.open_ids)
    number = state.question_number
    state = _deliver(state, event.deliveries, event.origin)
    state = _change_open(state, event.used_ids, lambda section: replace(section, last_used=number))
    opened = tuple(section_id for section_id in state.open_ids if section_id not in before)
    if event.origin is Origin.PERSON or not (opened or event.unfolded_ids):
        return state
    deed = Deed(after=tuple(s for s in state.open if s.section_id in opened), unfolded_ids=event.unfolded_ids)
    return replace(state, deeds=(*state.deeds, deed), undone=())


def _note_deed(state: ConversationState, event: DeedDone | DeedUndone) -> ConversationState:
    if isinstance(event, DeedDone):
        return replace(state, deeds=(*state.deeds, event.deed), undone=())
    sections = {section.section_id: section for section in (*state.open, *event.restored)}
    state = replace(state, open=tuple(sections.values()))
    if event.is_redo:
        return replace(state, undone=state.undone[:-1], deeds=(*state.deeds, event.deed))
    return replace(state, deeds=state.deeds[:-1], undone=(*state.undone, event.deed))


def _deliver(state: ConversationState, deliveries: Iterable[Delivery], origin: Origin) -> ConversationState:
    """Open what is not open; what is counts as used again, and is no longer to be closed unless the person wants it."""
    number = state.question_number
    opened = {section.section_id: section for section in state.open}
    for delivery in deliveries:
        found = opened.get(delivery.section_id)
        if found is None:
            found = OpenSection(
                section_id=delivery.section_id,
                opened_by=origin,
                opened_at=number,
                last_used=number,
                content_hash=delivery.content_hash,
            )
        spans = (*found.deliveries, *delivery.spans)
        used = replace(found, deliveries=spans, tokens=delivery.tokens, last_used=number)
        stays = origin is Origin.PERSON or used.closing_by is not Origin.PERSON
        opened[delivery.section_id] = unmark(used) if stays else used
    return replace(state, open=tuple(opened.values()))


def _find_again(state: ConversationState, sections: tuple[OpenSection, ...]) -> ConversationState:
    """What was open before a question has no ranges any more, which are those of the document as it was then."""
    exchanges = tuple(
        replace(exchange, open_before=tuple(replace(section, deliveries=()) for section in exchange.open_before))
        for exchange in state.transcript.exchanges
    )
    transcript = replace(state.transcript, exchanges=exchanges)
    return replace(state, open=sections, deeds=(), undone=(), needs_rebuild=True, transcript=transcript)


def _close(state: ConversationState, section_ids: frozenset[str]) -> ConversationState:
    had_text = any(section.deliveries for section in state.open if section.section_id in section_ids)
    left = tuple(section for section in state.open if section.section_id not in section_ids)
    return replace(state, open=left, needs_rebuild=state.needs_rebuild or had_text)


def _drop_results(state: ConversationState, event: ResultsDropped) -> ConversationState:
    steps = state.transcript.exchanges[-1].steps
    stubs = [
        replace(step, uses=tuple(ToolUse(call=use.call, result=DROPPED) for use in step.uses))
        for step in steps[: event.steps]
    ]
    state = _change_last(state, steps=(*stubs, *steps[event.steps :]))
    left = {one.section_id: one for one in event.left}
    return _change_open(
        state,
        left,
        lambda section: replace(
            section, deliveries=left[section.section_id].spans, tokens=left[section.section_id].tokens
        ),
    )


def _pin(section: OpenSection, *, is_pinned: bool) -> OpenSection:
    pinned = replace(section, is_pinned=is_pinned)
    return unmark(pinned) if is_pinned else pinned


def _move_ids(state: ConversationState, moved: dict[str, str]) -> ConversationState:
    def move(section_id: str) -> str:
        return moved.get(section_id, section_id)

    def move_all(sections: tuple[OpenSection, ...]) -> tuple[OpenSection, ...]:
        return tuple(replace(section, section_id=move(section.section_id)) for section in sections)

    def move_deed(deed: Deed) -> Deed:
        return Deed(
            before=move_all(deed.before),
            after=move_all(deed.after),
            unfolded_ids=tuple(map(move, deed.unfolded_ids)),
            folded_ids=tuple(map(move, deed.folded_ids)),
            asked=deed.asked,
        )

    return replace(
        state,
        open=move_all(state.open),
        unfolded=frozenset(map(move, state.unfolded)),
        reading=move(state.reading) if state.reading is not None else None,
        deeds=tuple(map(move_deed, state.deeds)),
        undone=tuple(map(move_deed, state.undone)),
        needs_rebuild=True,
    )


def _change_open(
    state: ConversationState, section_ids: Iterable[str], change: Callable[[OpenSection], OpenSection]
) -> ConversationState:
    wanted = frozenset(section_ids)
    if not wanted:
        return state
    sections = tuple(change(section) if section.section_id in wanted else section for section in state.open)
    return replace(state, open=sections)


def _change_last(state: ConversationState, **changes: object) -> ConversationState:
    exchanges = state.transcript.exchanges
    last = replace(exchanges[-1], **changes)  # type: ignore[arg-type]
    return replace(state, transcript=replace(state.transcript, exchanges=(*exchanges[:-1], last)))
