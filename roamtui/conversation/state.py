"""The state of a conversation, a value: the fold of its events, which decides nothing.

Imports little: the first screen of the app waits for it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from hashlib import blake2b
from typing import assert_never

from roamtui.conversation.commands import Origin
from roamtui.conversation.events import (
    ConversationEvent,
    ConversationForked,
    ConversationRenamed,
    ConversationStarted,
    Delivery,
    DocumentIdentified,
    DraftRecorded,
    LogEntrySkipped,
    NodesFolded,
    NodesLoaded,
    NodesUnfolded,
    OriginsApproved,
    QuestionAnswered,
    QuestionAsked,
    QuestionsRewound,
    ReadingSectionChanged,
    ResultsDropped,
    SectionsClosed,
    SectionsDelivered,
    SectionsExpanded,
    SectionsMarkedForClosing,
    SectionsPinned,
    SectionsRelocated,
    StepRecorded,
    TranscriptRebuilt,
    TransientEvent,
    UndoApplied,
    UndoStepRecorded,
    to_stored_event,
)
from roamtui.conversation.transcript import (
    QUESTION_START,
    Citation,
    Message,
    OpenSection,
    Role,
    Step,
    StopReason,
    ToolUse,
    UndoStep,
    Usage,
    keep_open,
    mark_for_closing,
)
from roamtui.document.library import Library
from roamtui.document.node import NodeKind, Span
from roamtui.document.plain import sanitise_line, shorten
from roamtui.outline.spans import Bounds, merge_bounds

_NO_ANSWER = "[no answer]"
_TITLE_LENGTH = 80
_EXCERPT_CHARACTERS_MAX = 200_000
"""How much text of excerpts can be quoted, counted from the newest question back: what 30 to 40 questions bring. A
quote that is in none of it is looked up in all of it while the screen waits (0.15 s)."""
DROPPED = "(This text was dropped to make room. Open a section again by its id if you need it.)"


class KeepOpenMode(StrEnum):
    """What happens to open sections between questions."""

    KEEP = "keep"
    """The least useful go when the budget is passed."""
    FRESH = "fresh"
    """All are closed at each question, as in the first implementation of roaming."""
    ALL = "all"
    """Nothing is ever closed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenSectionOptions:
    """How much may stay open."""

    mode: KeepOpenMode = KeepOpenMode.KEEP
    budget_tokens: int = 32_000
    """Tokens of section text that may stay open between questions."""
    follows_window: bool = False
    """Whether the budget is set anew from the window of each model that is asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One question and all that followed from it."""

    number: int
    """1 for the first question of the conversation."""
    question: str
    within: str | None = None
    """The section that the question was asked about, None for the whole document."""
    open_before: tuple[OpenSection, ...] = ()
    """What was open when it was asked, so that it can be asked again from there."""
    preface: str = ""
    """What the model is told before the question: texts the person opened, what they read, what was closed."""
    excerpts: tuple[Span, ...] = ()
    """Text that the preface shows of what search found: it can be quoted, and is not open."""
    steps: tuple[Step, ...] = ()
    answer: str = ""
    stopped: StopReason | None = None
    """None while it is under way."""
    citations: tuple[Citation, ...] = ()
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    error: str = ""
    events: tuple[ConversationEvent, ...] = ()
    """What happened while it was answered, as far as a person is told of it later."""
    steps_taken: int = 0
    """Requests that it took; 0 in files of older versions."""

    @property
    def outcome(self) -> QuestionAnswered:
        """Its last event; that it was cancelled where it has not ended."""
        return QuestionAnswered(
            number=self.number,
            answer=self.answer,
            stopped=self.stopped or StopReason.CANCELLED,
            citations=self.citations,
            usage=self.usage,
            steps=self.steps_taken or len(self.steps) + (1 if self.answer else 0),
            error=self.error,
        )

    def list_excerpts(self) -> Iterator[Span]:
        """Yield the ranges of text that searches showed for this question, in order."""
        yield from self.excerpts
        for step in self.steps:
            for use in step.uses:
                yield from use.excerpts

    def keep_excerpts(self, docs: frozenset[str]) -> Exchange:
        """Return the exchange with only the excerpts from some documents, given by key."""

        def keep(spans: tuple[Span, ...]) -> tuple[Span, ...]:
            return tuple(span for span in spans if span.doc in docs)

        if all(span.doc in docs for span in self.list_excerpts()):
            return self
        steps = tuple(
            replace(step, uses=tuple(replace(use, excerpts=keep(use.excerpts)) for use in step.uses))
            for step in self.steps
        )
        return replace(self, excerpts=keep(self.excerpts), steps=steps)

    @property
    def reply(self) -> str:
        """What the transcript holds as the model's last words, never empty."""
        if self.stopped is StopReason.CANCELLED:
            return f"{self.answer}\n\n[interrupted by the person]".lstrip()
        return self.answer or _NO_ANSWER


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """A conversation as the model sees it."""

    system: str = ""
    """Our fixed text, the only one with the system role."""
    prologue: str = ""
    """Outline, and the sections that were open, as of the last rebuild."""
    exchanges: tuple[Exchange, ...] = ()
    rebuilt_at: int = 0
    """Exchanges before this index are sent as question and answer, without section texts."""
    history_from: int = 0
    """Exchanges before this index are not sent at all; the prologue says so."""

    def messages(self) -> Iterator[Message]:
        """Yield the messages of the next request: each begins with all of the previous one until a rebuild."""
        yield Message(role=Role.SYSTEM, text=self.system)
        lead = self.prologue
        for index, exchange in enumerate(self.exchanges):
            if index < self.history_from:
                continue
            with_steps = index >= self.rebuilt_at
            parts = [part for part in (lead, exchange.preface if with_steps else "") if part]
            question = f"{QUESTION_START}{exchange.question}" if parts else exchange.question
            yield Message(role=Role.USER, text="\n\n".join([*parts, question]))
            lead = ""
            for step in exchange.steps if with_steps else ():
                calls = tuple(use.call for use in step.uses)
                said = step.text or ("" if calls else _NO_ANSWER)
                yield Message(role=Role.ASSISTANT, text=said, tool_calls=calls, thinking=step.thinking)
                for use in step.uses:
                    yield Message(role=Role.TOOL, text=use.result, tool_call_id=use.call.id)
                if step.reminder:
                    yield Message(role=Role.USER, text=step.reminder)
            if exchange.stopped is not None:
                yield Message(role=Role.ASSISTANT, text=exchange.reply)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationState:
    """Everything about one conversation over one library."""

    id: str
    library: Library
    options: OpenSectionOptions = OpenSectionOptions()
    transcript: Transcript = field(default_factory=Transcript)
    open_sections: tuple[OpenSection, ...] = ()
    """In the order of opening."""
    unfolded: frozenset[str] = frozenset()
    """Nodes whose children the tree shows."""
    reading_id: str | None = None
    undo_stack: tuple[UndoStep, ...] = ()
    """What can be taken back, newest last."""
    redo_stack: tuple[UndoStep, ...] = ()
    """What taking back changed and can be done again, newest last."""
    is_asking: bool = False
    """Whether a question is under way."""
    needs_rebuild: bool = True
    """Whether the transcript must be built anew before the next question."""
    model: str = ""
    title: str = ""
    approved_origins: frozenset[str] = frozenset()
    """Origins that the person allowed pages to be fetched from, besides those that they typed."""
    source: str = ""
    """What conversations about this source have in common, as of the last change."""
    content_hash: str = ""
    """Digest of the document, or of all files, as of the last change."""
    documents: Mapping[str, str] = field(default_factory=dict)
    """Digest of each document, by key, that text was delivered of."""
    links: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Links that lead to sections of pages, by section."""

    @property
    def nonce(self) -> str:
        """What marks the fences around section text, so that a document cannot imitate one.

        No letter of it can stand in an id.
        """
        digest = blake2b(self.id.encode(), digest_size=8).digest()
        return "".join("ghjkmnpqrstvwxyz"[byte % 16] for byte in digest)

    @property
    def question_number(self) -> int:
        """Number of the question under way, or of the last one; 0 before the first."""
        return self.transcript.exchanges[-1].number if self.transcript.exchanges else 0

    @property
    def open_ids(self) -> tuple[str, ...]:
        """Ids of the open sections in the order of opening."""
        return tuple(section.section_id for section in self.open_sections)

    @property
    def open_tokens(self) -> int:
        """Estimated tokens of all open sections."""
        return sum(section.tokens for section in self.open_sections)

    def get_open(self, section_id: str) -> OpenSection | None:
        """Return the open section with this id, None where it is not open."""
        return next((section for section in self.open_sections if section.section_id == section_id), None)

    @property
    def excerpts(self) -> dict[str, list[Bounds]]:
        """Ranges of text from searches that the model may quote, by document key: the newest, if there are many."""
        shown: dict[str, set[Bounds]] = {}
        room = _EXCERPT_CHARACTERS_MAX
        for exchange in reversed(self.transcript.exchanges):
            if room <= 0:
                break
            for span in exchange.list_excerpts():
                bounds = shown.setdefault(span.doc, set())
                if (span.start, span.end) not in bounds:
                    bounds.add((span.start, span.end))
                    room -= span.end - span.start
        return {doc: merge_bounds(bounds) for doc, bounds in shown.items()}

    @property
    def delivered(self) -> dict[str, list[Bounds]]:
        """Ranges of text that the transcript holds, by document key."""
        bounds: dict[str, list[Bounds]] = {}
        for section in self.open_sections:
            for delivery in section.deliveries:
                bounds.setdefault(delivery.doc, []).append((delivery.start, delivery.end))
        return bounds


def make_conversation_id() -> str:
    """Return a new id: 12 hex digits."""
    return os.urandom(6).hex()


def begin_conversation(library: Library, options: OpenSectionOptions) -> ConversationState:
    """Return the state of a new conversation over `library`.

    Unfolded are the heading that holds everything, or folders that hold nothing but one.
    """
    unfolded: list[str] = []
    below = library.children(library.root_id)
    if (title_id := library.title_id()) is not None:
        unfolded, below = [title_id], ()
    while len(below) == 1 and library.node(below[0]).kind is NodeKind.FOLDER:
        unfolded.append(below[0])
        below = library.children(below[0])
    return ConversationState(id=make_conversation_id(), library=library, options=options, unfolded=frozenset(unfolded))


def fold(
    library: Library, events: Iterable[ConversationEvent], options: OpenSectionOptions | None = None
) -> ConversationState:
    """Return the state of a conversation after all of its events.

    Args:
        library: The document of today; events are applied whatever it holds.
        events: In the order in which they happened.
        options: How much may stay open from now on.
    """
    return apply_all(ConversationState(id="", library=library, options=options or OpenSectionOptions()), events)


def apply_all(state: ConversationState, events: Iterable[ConversationEvent]) -> ConversationState:
    """Return the state after events, in order."""
    for event in events:
        state = apply(state, event)
    return state


def apply(state: ConversationState, event: ConversationEvent) -> ConversationState:
    """Return the state after an event; what a person is told later is kept with the last exchange."""
    state = _apply(state, event)
    told = to_stored_event(event)
    if told is None or not state.transcript.exchanges:
        return state
    return _change_last(state, events=(*state.transcript.exchanges[-1].events, told))


def _apply(  # noqa: C901, PLR0911, PLR0912 - one case an event
    state: ConversationState, event: ConversationEvent
) -> ConversationState:
    if isinstance(event, TransientEvent):
        return state
    match event:
        case ConversationStarted(conversation_id=conversation_id, unfolded=unfolded):
            return replace(state, id=conversation_id, unfolded=frozenset(unfolded))
        case ConversationForked(conversation_id=conversation_id, title=title):
            return replace(state, id=conversation_id, title=title or state.title, needs_rebuild=True)
        case ConversationRenamed(title=title):
            return replace(state, title=title)
        case DocumentIdentified():
            return _apply_nodes_loaded(state, event)
        case LogEntrySkipped():
            return replace(state, needs_rebuild=True)
        case OriginsApproved(origins=origins):
            return replace(state, approved_origins=state.approved_origins | set(origins))
        case QuestionAsked():
            return _apply_question_asked(state, event)
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
            return _apply_question_answered(state, event)
        case QuestionsRewound(first=first):
            return _apply_rewind(state, first)
        case SectionsExpanded():
            return _expand(state, event)
        case SectionsDelivered(deliveries=deliveries):
            return _deliver(state, deliveries, Origin.AGENT)
        case SectionsRelocated():
            return _relocate_sections(state, event)
        case SectionsClosed(section_ids=ids):
            return _close(state, frozenset(ids))
        case SectionsMarkedForClosing(section_ids=ids, origin=origin):
            return _change_open(state, ids, lambda section: mark_for_closing(section, origin))
        case SectionsPinned(section_ids=ids, is_pinned=is_pinned):
            return _change_open(
                state, ids, lambda one: replace(keep_open(one) if is_pinned else one, is_pinned=is_pinned)
            )
        case NodesUnfolded(section_ids=ids):
            return replace(state, unfolded=state.unfolded | set(ids))
        case NodesFolded(section_ids=ids):
            return replace(state, unfolded=state.unfolded - set(ids))
        case ReadingSectionChanged(section_id=section_id):
            return replace(state, reading_id=section_id)
        case UndoStepRecorded() | UndoApplied():
            return _push_undo_step(state, event)
        case NodesLoaded(moved=moved):
            return _move_ids(state, dict(moved)) if moved else state
        case _:
            assert_never(event)


def _apply_nodes_loaded(state: ConversationState, event: DocumentIdentified) -> ConversationState:
    documents, links = {**state.documents, **dict(event.documents)}, {**state.links, **dict(event.links)}
    return replace(state, source=event.source, content_hash=event.content_hash, documents=documents, links=links)


def _apply_question_asked(state: ConversationState, event: QuestionAsked) -> ConversationState:
    exchange = Exchange(
        number=state.question_number + 1,
        question=event.question,
        within=event.within,
        open_before=state.open_sections,
        preface=event.preface,
        excerpts=event.excerpts,
        model=event.model,
    )
    if state.is_asking:  # the end of the one before could not be read
        state = _change_last(state, stopped=StopReason.CANCELLED)
    transcript = replace(state.transcript, exchanges=(*state.transcript.exchanges, exchange))
    title = state.title or shorten(sanitise_line(event.question), _TITLE_LENGTH)
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


def _apply_question_answered(state: ConversationState, event: QuestionAnswered) -> ConversationState:
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


def _apply_rewind(state: ConversationState, first: int) -> ConversationState:
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
        open_sections=exchange.open_before,
        undo_stack=(),
        redo_stack=(),
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
    deed = UndoStep(
        after=tuple(s for s in state.open_sections if s.section_id in opened), unfolded_ids=event.unfolded_ids
    )
    return replace(state, undo_stack=(*state.undo_stack, deed), redo_stack=())


def _push_undo_step(state: ConversationState, event: UndoStepRecorded | UndoApplied) -> ConversationState:
    if isinstance(event, UndoStepRecorded):
        return replace(state, undo_stack=(*state.undo_stack, event.deed), redo_stack=())
    sections = {section.section_id: section for section in (*state.open_sections, *event.restored)}
    state = replace(state, open_sections=tuple(sections.values()))
    if event.is_redo:
        return replace(state, redo_stack=state.redo_stack[:-1], undo_stack=(*state.undo_stack, event.deed))
    return replace(state, undo_stack=state.undo_stack[:-1], redo_stack=(*state.redo_stack, event.deed))


def _deliver(state: ConversationState, deliveries: Iterable[Delivery], origin: Origin) -> ConversationState:
    """Open what is not open; what is counts as used again, and is no longer to be closed unless the person wants it."""
    number = state.question_number
    opened = {section.section_id: section for section in state.open_sections}
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
        opened[delivery.section_id] = keep_open(used) if stays else used
    return replace(state, open_sections=tuple(opened.values()))


def _relocate_sections(state: ConversationState, event: SectionsRelocated) -> ConversationState:
    """Drop the ranges in every text that may have changed: of what was open before each question, and of excerpts."""
    unchanged = frozenset(event.unchanged)
    exchanges = tuple(
        replace(
            exchange.keep_excerpts(unchanged),
            open_before=tuple(replace(section, deliveries=()) for section in exchange.open_before),
        )
        for exchange in state.transcript.exchanges
    )
    transcript = replace(state.transcript, exchanges=exchanges)
    return replace(
        state, open_sections=event.sections, undo_stack=(), redo_stack=(), needs_rebuild=True, transcript=transcript
    )


def _close(state: ConversationState, section_ids: frozenset[str]) -> ConversationState:
    had_text = any(section.deliveries for section in state.open_sections if section.section_id in section_ids)
    left = tuple(section for section in state.open_sections if section.section_id not in section_ids)
    return replace(state, open_sections=left, needs_rebuild=state.needs_rebuild or had_text)


def _drop_results(state: ConversationState, event: ResultsDropped) -> ConversationState:
    steps = state.transcript.exchanges[-1].steps
    stubs = [
        replace(step, uses=tuple(ToolUse(call=use.call, result=DROPPED) for use in step.uses))
        for step in steps[: event.steps]
    ]
    state = _change_last(state, steps=(*stubs, *steps[event.steps :]))
    left = {one.section_id: one for one in event.left}

    def keep(section: OpenSection) -> OpenSection:
        one = left[section.section_id]
        return replace(section, deliveries=one.spans, tokens=one.tokens)

    return _change_open(state, left, keep)


def _move_ids(state: ConversationState, moved: dict[str, str]) -> ConversationState:
    """Sections have other ids now; what was done before, by the ids before, cannot be taken back any more."""
    return replace(
        state,
        open_sections=tuple(
            replace(one, section_id=moved.get(one.section_id, one.section_id)) for one in state.open_sections
        ),
        unfolded=frozenset(moved.get(node_id, node_id) for node_id in state.unfolded),
        reading_id=moved.get(state.reading_id, state.reading_id) if state.reading_id is not None else None,
        undo_stack=(),
        redo_stack=(),
        needs_rebuild=True,
    )


def _change_open(
    state: ConversationState, section_ids: Iterable[str], change: Callable[[OpenSection], OpenSection]
) -> ConversationState:
    wanted = frozenset(section_ids)
    if not wanted:
        return state
    sections = tuple(change(section) if section.section_id in wanted else section for section in state.open_sections)
    return replace(state, open_sections=sections)


def _change_last(state: ConversationState, **changes: object) -> ConversationState:
    exchanges = state.transcript.exchanges
    last = replace(exchanges[-1], **changes)  # type: ignore[arg-type]
    return replace(state, transcript=replace(state.transcript, exchanges=(*exchanges[:-1], last)))
