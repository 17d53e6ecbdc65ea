"""The state of a conversation, a value. Imports little: the first screen of the app waits for it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import blake2b

from roamtui.conversation.events import ConversationBegun, ConversationEvent, QuestionAnswered
from roamtui.conversation.open_section import Deed, OpenSection
from roamtui.conversation.transcript import QUESTION_START, Citation, Message, Role, Step, Stopped, Usage
from roamtui.document.library import Library
from roamtui.document.node import NodeKind, Span
from roamtui.document.plain import plain_line, shorten
from roamtui.outline.spans import Bounds

_NO_ANSWER = "[no answer]"
_TITLE_LENGTH = 80


class KeepOpen(StrEnum):
    """What happens to open sections between questions."""

    KEEP = "keep"
    """The least useful go when the budget is passed."""
    FRESH = "fresh"
    """All are closed at each question, as in the first implementation of roaming."""
    ALL = "all"
    """Nothing is ever closed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepOptions:
    """How much may stay open."""

    mode: KeepOpen = KeepOpen.KEEP
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
    stopped: Stopped | None = None
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
    def ending(self) -> QuestionAnswered:
        """Its last event; that it was cancelled where it has not ended."""
        return QuestionAnswered(
            number=self.number,
            answer=self.answer,
            stopped=self.stopped or Stopped.CANCELLED,
            citations=self.citations,
            usage=self.usage,
            steps=self.steps_taken or len(self.steps) + (1 if self.answer else 0),
            error=self.error,
        )

    @property
    def reply(self) -> str:
        """What the transcript holds as the model's last words, never empty."""
        if self.stopped is Stopped.CANCELLED:
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
            if with_steps:
                for step in exchange.steps:
                    yield from _step_messages(step)
            if exchange.stopped is not None:
                yield Message(role=Role.ASSISTANT, text=exchange.reply)


def _step_messages(step: Step) -> Iterator[Message]:
    calls = tuple(use.call for use in step.uses)
    yield Message(
        role=Role.ASSISTANT,
        text=step.text or ("" if calls else _NO_ANSWER),
        tool_calls=calls,
        thinking=step.thinking,
    )
    for use in step.uses:
        yield Message(role=Role.TOOL, text=use.result, tool_call_id=use.call.id)
    if step.reminder:
        yield Message(role=Role.USER, text=step.reminder)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationState:
    """Everything about one conversation over one library."""

    id: str
    library: Library
    options: KeepOptions = KeepOptions()
    transcript: Transcript = field(default_factory=Transcript)
    open: tuple[OpenSection, ...] = ()
    """In the order of opening."""
    unfolded: frozenset[str] = frozenset()
    """Nodes whose children the tree shows."""
    reading: str | None = None
    deeds: tuple[Deed, ...] = ()
    """What can be taken back, newest last."""
    undone: tuple[Deed, ...] = ()
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
        return tuple(section.section_id for section in self.open)

    @property
    def open_tokens(self) -> int:
        """Estimated tokens of all open sections."""
        return sum(section.tokens for section in self.open)

    def find_open(self, section_id: str) -> OpenSection | None:
        """Return the open section with this id, None where it is not open."""
        return next((section for section in self.open if section.section_id == section_id), None)

    @property
    def excerpts(self) -> tuple[Span, ...]:
        """Ranges of text that searches showed the model: it may quote them."""
        exchanges = self.transcript.exchanges
        shown = [exchange.excerpts for exchange in exchanges]
        shown += [use.excerpts for exchange in exchanges for step in exchange.steps for use in step.uses]
        return tuple(span for spans in shown for span in spans)

    @property
    def delivered(self) -> dict[str, list[Bounds]]:
        """Ranges of text that the transcript holds, by document key."""
        bounds: dict[str, list[Bounds]] = {}
        for section in self.open:
            for delivery in section.deliveries:
                bounds.setdefault(delivery.doc, []).append((delivery.start, delivery.end))
        return bounds


def make_title(question: str) -> str:
    """Return the title of a conversation that begins with a question."""
    return shorten(plain_line(question), _TITLE_LENGTH)


def make_conversation_id() -> str:
    """Return a new id: 12 hex digits."""
    return os.urandom(6).hex()


def begin_conversation(library: Library, options: KeepOptions) -> ConversationState:
    """Return the state of a new conversation over `library`."""
    unfolded = frozenset(find_first_unfolded(library))
    return ConversationState(id=make_conversation_id(), library=library, options=options, unfolded=unfolded)


def tell_beginning(state: ConversationState) -> ConversationBegun:
    """Return the first event of a new conversation."""
    return ConversationBegun(conversation_id=state.id, unfolded=tuple(sorted(state.unfolded)))


def find_first_unfolded(library: Library) -> tuple[str, ...]:
    """Return what is unfolded at first: the heading that holds everything, or folders that hold nothing but one."""
    title_id = library.title_id()
    if title_id is not None:
        return (title_id,)
    unfolded: list[str] = []
    below = library.children(library.root_id)
    while len(below) == 1 and library.node(below[0]).kind is NodeKind.FOLDER:
        unfolded.append(below[0])
        below = library.children(below[0])
    return tuple(unfolded)
