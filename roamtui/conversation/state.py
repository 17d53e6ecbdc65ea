"""The state of a conversation: an immutable value that is computed from the events. This module decides nothing itself.

It imports little, because the first screen of the app has to wait for it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from hashlib import blake2b
from typing import assert_never

from msgspec import Struct, field
from msgspec.structs import replace

from roamtui.conversation.events import (
    QUESTION_START,
    Citation,
    ConversationEvent,
    ConversationRenamed,
    ConversationStarted,
    DocumentIdentified,
    DocumentReloaded,
    DraftRecorded,
    InternalEvent,
    Message,
    NodesFolded,
    NodesLoaded,
    OpenSection,
    QuestionAnswered,
    QuestionAsked,
    QuestionsRewound,
    ReadingSectionChanged,
    Role,
    SectionsClosed,
    SectionsExpanded,
    StateEvent,
    Step,
    StepRecorded,
    StopReason,
    TranscriptRebuilt,
    TransientEvent,
    Usage,
    is_kept,
)
from roamtui.document.library import Library, LibrarySource
from roamtui.document.node import NodeKind, Span
from roamtui.document.plain import sanitise_line, shorten
from roamtui.document.text import Bounds, add_delivered, merge_bounds

OPEN_TOKENS_DEFAULT = 32_000
"""Default budget, in tokens, for the section text that stays open between questions."""
_ID_LENGTH = 12
_NO_ANSWER = "[no answer]"
_TITLE_LENGTH = 80
_EXCERPT_QUESTIONS_MAX = 30
"""Maximum number of the newest questions whose excerpts can be quoted.

A wrong quote is looked up in all of them while the screen waits (0.15 s).
"""


class KeepOpenMode(StrEnum):
    """What happens to open sections between questions."""

    KEEP = "keep"
    """The least useful sections close, to stay within the budget."""
    FRESH = "fresh"
    """All sections of earlier questions close unless they are pinned."""


class OpenSectionOptions(Struct, frozen=True, kw_only=True):
    """Limits on what stays open between questions."""

    mode: KeepOpenMode = KeepOpenMode.KEEP
    budget_tokens: int = OPEN_TOKENS_DEFAULT
    follows_window: bool = False
    """Whether each model's context window sets the budget."""


class Exchange(Struct, frozen=True, kw_only=True):
    """A question with its steps and its answer."""

    number: int
    """1-based."""
    question: str
    within: str | None = None
    """The section that the question is about, or None for the whole document."""
    open_before: tuple[OpenSection, ...] = ()
    """The sections that were open before the question. A rewind opens them again."""
    preface: str = ""
    """Text before the question in the prompt; see `QuestionAsked`."""
    excerpts: tuple[Span, ...] = ()
    """Document text in the search results of the preface. It can be quoted although its sections are not open."""
    deliveries: tuple[Span, ...] = ()
    """Text of open sections in the preface."""
    steps: tuple[Step, ...] = ()
    answer: str = ""
    stopped: StopReason | None = None
    """None until the question ends."""
    citations: tuple[Citation, ...] = ()
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    error: str = ""
    events: tuple[ConversationEvent, ...] = ()
    """What happened during the question, as it is shown to a person later."""

    @property
    def outcome(self) -> QuestionAnswered:
        """The event that ends this exchange, or a cancellation if the exchange has not ended."""
        return QuestionAnswered(
            number=self.number,
            answer=self.answer,
            stopped=self.stopped or StopReason.CANCELLED,
            citations=self.citations,
            usage=self.usage,
            steps=len(self.steps),
            error=self.error,
        )

    def iter_excerpts(self) -> Iterator[Span]:
        """Yield the text that searches showed for this question, in order."""
        yield from self.excerpts
        for step in self.steps:
            for use in step.uses:
                yield from use.excerpts

    @property
    def reply(self) -> str:
        """The answer in the form that the model reads later; never empty."""
        if self.stopped is StopReason.CANCELLED:
            return f"{self.answer}\n\n[interrupted by the person]".lstrip()
        return self.answer or _NO_ANSWER


class AskOptions(Struct, frozen=True, kw_only=True):
    """How a question is asked."""

    within: str | None = None
    """Id of the section that the question is about, or None for the whole document."""
    replaces: Exchange | None = None
    """The exchange that the question replaces, which is removed first. If the conversation no longer has it, because
    the person switched to another one, nothing is asked."""
    open_first: tuple[str, ...] = ()
    """Sections to open before the question."""
    needs_previous_answer: bool = False
    """Whether the question needs the answer before it. Nothing is asked if that answer was stopped, failed or reached a
    limit, or if the person has switched to another conversation since."""


class Transcript(Struct, frozen=True, kw_only=True):
    """The conversation as the model reads it."""

    rebuilt: TranscriptRebuilt = field(default_factory=TranscriptRebuilt)
    """The last rebuild."""
    exchanges: tuple[Exchange, ...] = ()

    def iter_messages(self) -> Iterator[Message]:
        """Yield the messages of the next request.

        Until the transcript is rebuilt, each request begins with all messages of the previous one.
        """
        rebuilt = self.rebuilt
        yield Message(role=Role.SYSTEM, text=rebuilt.system)
        lead = rebuilt.prologue  # before the first exchange that is sent
        for index, exchange in enumerate(self.exchanges):
            if index < rebuilt.first_sent:
                continue
            with_steps = index >= rebuilt.first_with_steps
            parts = [part for part in (lead, exchange.preface if with_steps else "") if part]
            question = f"{QUESTION_START}{exchange.question}" if parts else exchange.question
            yield Message(role=Role.USER, text="\n\n".join([*parts, question]))
            lead = ""
            for step in exchange.steps if with_steps else ():
                calls = tuple(use.call for use in step.uses)
                text = step.text or ("" if calls else _NO_ANSWER)
                yield Message(role=Role.ASSISTANT, text=text, tool_calls=calls)
                for use in step.uses:
                    yield Message(role=Role.TOOL, text=use.result, tool_call_id=use.call.id)
                if step.reminder:
                    yield Message(role=Role.USER, text=step.reminder)
            if exchange.stopped is not None:
                yield Message(role=Role.ASSISTANT, text=exchange.reply)


class ConversationState(Struct, frozen=True, kw_only=True):
    """Everything about one conversation and its library."""

    id: str
    library: Library
    options: OpenSectionOptions = OpenSectionOptions()
    transcript: Transcript = field(default_factory=Transcript)
    open_sections: tuple[OpenSection, ...] = ()
    """Oldest first."""
    unfolded: frozenset[str] = frozenset()
    """Ids of the nodes that are unfolded in the tree."""
    unfolded_by_answer: frozenset[str] = frozenset()
    """Those of them that the last answer unfolded."""
    reading_id: str | None = None
    """Id of the section that the person is reading, or None."""
    previous_ids: tuple[str, ...] | None = None
    """Ids of the sections that were open before the last change of them, or None if it cannot be undone."""
    is_asking: bool = False
    """Whether the last question has no answer yet."""
    needs_rebuild: bool = True
    """Whether the next question starts with a rebuild of the transcript."""
    model: str = ""
    """Name of the model that was asked last."""
    chosen_title: str = ""
    """The title that a person chose, or empty."""
    approved_origins: frozenset[str] = frozenset()
    """Origins that the person allowed, in addition to those that they typed."""
    source: str = ""
    """Key of the source at the last change; see `get_source_key`."""
    content_hash: str = ""
    """Digest of all that was loaded of the library at the last change."""
    pages: tuple[str, ...] = ()
    """The links whose pages were loaded, each after those that lead to it."""
    reloaded_at: int = 0
    """Number of exchanges at the last change of the document. In the texts of these, offsets may be wrong."""
    sources: tuple[LibrarySource, ...] = ()
    """The sources of the library, or empty if it has only the one that the conversation began with."""

    @property
    def nonce(self) -> str:
        """A word in the lines around section text. No document can guess it, so none can imitate these lines.

        It contains no letter that occurs in ids. The conversations of one row of a table share it, so that their
        prompts begin with the same text: their ids begin with the same 12 digits.
        """
        digest = blake2b(self.id[:_ID_LENGTH].encode(), digest_size=8).digest()
        return "".join("ghjkmnpqrstvwxyz"[byte % 16] for byte in digest)

    @property
    def title(self) -> str:
        """The title that a person chose, or else the first question."""
        first = "".join(exchange.question for exchange in self.transcript.exchanges[:1])
        return self.chosen_title or shorten(sanitise_line(first), _TITLE_LENGTH)

    @property
    def question_number(self) -> int:
        """Number of the current or last question; 0 before the first."""
        return self.transcript.exchanges[-1].number if self.transcript.exchanges else 0

    @property
    def open_ids(self) -> tuple[str, ...]:
        """Ids of the open sections, oldest first."""
        return tuple(section.section_id for section in self.open_sections)

    @property
    def staying_ids(self) -> tuple[str, ...]:
        """Ids of the open sections that do not close when the current question ends."""
        return tuple(section.section_id for section in self.open_sections if not section.is_closing)

    @property
    def open_tokens(self) -> int:
        """Estimated tokens of all open sections."""
        return sum(section.tokens for section in self.open_sections)

    def get_open(self, section_id: str) -> OpenSection | None:
        """Return an open section, or None if the section is not open."""
        return next((section for section in self.open_sections if section.section_id == section_id), None)

    def collect_excerpts(self) -> dict[str, list[Bounds]]:
        """Collect the ranges of the newest search results, which the model may quote, by document key."""
        excerpts: dict[str, list[Bounds]] = {}
        for exchange in self.transcript.exchanges[self.reloaded_at :][-_EXCERPT_QUESTIONS_MAX:]:
            for span in exchange.iter_excerpts():
                excerpts.setdefault(span.doc, []).append((span.start, span.end))
        return {doc: merge_bounds(bounds) for doc, bounds in excerpts.items()}

    def collect_delivered(self) -> dict[str, list[Bounds]]:
        """Collect the ranges of section text in the transcript, by document key."""
        bounds: dict[str, list[Bounds]] = {}
        for section in self.open_sections:
            add_delivered(bounds, section.deliveries)
        return bounds


def make_conversation_id() -> str:
    """Make a random id of 12 hex digits."""
    return os.urandom(_ID_LENGTH // 2).hex()


def start_conversation(library: Library, options: OpenSectionOptions, conversation_id: str = "") -> ConversationState:
    """Start a conversation. Unfold each heading or folder, from the top down, that is the only node on its level."""
    unfolded: list[str] = []
    level = library.children(library.root_id)
    while len(level) == 1 and library.node(level[0]).kind is not NodeKind.FILE:
        unfolded.append(level[0])
        level = library.children(level[0])
    return ConversationState(
        id=conversation_id or make_conversation_id(),
        library=library,
        options=options,
        unfolded=frozenset(unfolded),
    )


def fold_events(
    library: Library, events: Iterable[ConversationEvent], options: OpenSectionOptions | None = None
) -> ConversationState:
    """Compute the state of a conversation from all its events, by applying them in order.

    `library` is the current version of the document. The events may name sections that it no longer has.
    """
    return apply_all(ConversationState(id="", library=library, options=options or OpenSectionOptions()), events)


def apply_all(state: ConversationState, events: Iterable[ConversationEvent]) -> ConversationState:
    """Apply events in order."""
    for event in events:
        state = apply(state, event)
    return state


def apply(state: ConversationState, event: ConversationEvent) -> ConversationState:
    """Apply an event. If a person should see the event later, keep it with the last exchange too."""
    if not isinstance(event, TransientEvent):
        before, state = state.staying_ids, _apply(state, event)
        if isinstance(event, SectionsExpanded | SectionsClosed) and {*before} != {*state.staying_ids}:
            state = replace(state, previous_ids=before)
    if is_kept(event) and state.transcript.exchanges:
        kept = replace(event, sections=(), unfolded_ids=()) if isinstance(event, SectionsExpanded) else event
        state = _change_last(state, events=(*state.transcript.exchanges[-1].events, kept))
    return state


def _apply(  # noqa: C901, PLR0911, PLR0912 - one case an event
    state: ConversationState, event: InternalEvent | StateEvent
) -> ConversationState:
    transcript, exchanges = state.transcript, state.transcript.exchanges
    match event:
        case ConversationStarted(conversation_id=conversation_id, unfolded=unfolded):
            return replace(state, id=conversation_id, unfolded=frozenset(unfolded))
        case ConversationRenamed(title=title):
            return replace(state, chosen_title=title)
        case DocumentIdentified(source=source, content_hash=content_hash, sources=sources):
            return replace(state, source=source, content_hash=content_hash, sources=sources)
        case NodesFolded(section_ids=ids, is_folded=False):
            return replace(state, unfolded=state.unfolded | set(ids))
        case NodesFolded(section_ids=ids):
            return replace(state, unfolded=state.unfolded - {*ids})
        case ReadingSectionChanged(section_id=section_id):
            return replace(state, reading_id=section_id)
        case NodesLoaded(pages=pages, approved_origins=origins):
            loaded = tuple(dict.fromkeys((*state.pages, *pages)))
            return replace(state, pages=loaded, approved_origins=state.approved_origins.union(origins))
        case SectionsExpanded(sections=sections, unfolded_ids=unfolded_ids):
            by_answer = state.unfolded_by_answer.union(unfolded_ids)
            state = replace(state, unfolded=state.unfolded.union(unfolded_ids), unfolded_by_answer=by_answer)
            return _put_open(state, sections)
        case SectionsClosed(section_ids=ids, is_pending=True):
            return _change_open(state, ids, lambda section: replace(section, is_closing=True))
        case SectionsClosed(section_ids=ids):
            closed = [section for section in state.open_sections if section.section_id in ids]
            remaining = tuple(section for section in state.open_sections if section.section_id not in ids)
            had_text = any(section.deliveries for section in closed)
            return replace(state, open_sections=remaining, needs_rebuild=state.needs_rebuild or had_text)
        case DocumentReloaded(sections=sections, gone_ids=gone_ids):
            return replace(
                state,
                open_sections=sections,
                unfolded=state.unfolded - {*gone_ids},
                reading_id=None if state.reading_id in gone_ids else state.reading_id,
                reloaded_at=len(state.transcript.exchanges),
                needs_rebuild=True,
                previous_ids=None,
            )
        case QuestionAsked():
            exchange = Exchange(
                number=state.question_number + 1,
                question=event.question,
                within=event.within,
                open_before=state.open_sections,
                preface=event.preface,
                excerpts=event.excerpts,
                deliveries=event.delivered,
                model=event.model,
            )
            transcript = replace(transcript, exchanges=(*exchanges, exchange))
            state = replace(state, transcript=transcript, is_asking=True, model=event.model)
            return _put_open(replace(state, unfolded_by_answer=frozenset()), event.sections)
        case TranscriptRebuilt():
            transcript = replace(transcript, rebuilt=event)
            return replace(state, transcript=transcript, needs_rebuild=False, model=event.model)
        case StepRecorded(step=step):
            return _change_last(state, steps=(*exchanges[-1].steps, step), answer="")
        case DraftRecorded(start=start, text=text):
            return _change_last(state, answer=exchanges[-1].answer[:start] + text)
        case QuestionAnswered(number=number):
            answered = _change_last(
                state,
                answer=event.answer,
                stopped=event.stopped,
                citations=event.citations,
                usage=event.usage,
                error=event.error,
            )
            is_cut = event.stopped is StopReason.CANCELLED  # calls may lack their results
            state = replace(answered, is_asking=False, needs_rebuild=state.needs_rebuild or is_cut)
            return _change_open(state, event.cited_ids, lambda section: replace(section, last_cited=number))
        case QuestionsRewound(first=first):
            return _rewind(state, first - 1)
        case _:
            assert_never(event)


def _rewind(state: ConversationState, kept_count: int) -> ConversationState:
    transcript, exchanges = state.transcript, state.transcript.exchanges
    # If there was no rebuild since the question, the transcript before it is still exactly what the model got.
    was_rebuilt = transcript.rebuilt.first_with_steps >= kept_count
    sections = exchanges[kept_count].open_before
    if kept_count < state.reloaded_at:
        sections = tuple(replace(section, deliveries=()) for section in sections)
    return replace(
        state,
        transcript=replace(transcript, exchanges=exchanges[:kept_count]),
        open_sections=sections,
        reloaded_at=min(state.reloaded_at, kept_count),
        previous_ids=None,
        is_asking=False,
        needs_rebuild=state.needs_rebuild or was_rebuilt,
    )


def _put_open(state: ConversationState, sections: Iterable[OpenSection]) -> ConversationState:
    """Open sections, or replace those that are open already."""
    put = {section.section_id: section for section in (*state.open_sections, *sections)}
    return replace(state, open_sections=tuple(put.values()))


def _change_open(
    state: ConversationState, section_ids: Iterable[str], change: Callable[[OpenSection], OpenSection]
) -> ConversationState:
    changed = frozenset(section_ids)
    sections = tuple(change(section) if section.section_id in changed else section for section in state.open_sections)
    return replace(state, open_sections=sections) if changed else state


def _change_last(state: ConversationState, **changes: object) -> ConversationState:
    exchanges = state.transcript.exchanges
    last = replace(exchanges[-1], **changes)
    return replace(state, transcript=replace(state.transcript, exchanges=(*exchanges[:-1], last)))
