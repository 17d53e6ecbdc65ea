"""What was said, as sent: a transcript only grows, and a call and its result are one value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from roamtui.conversation.open_section import OpenSection
from roamtui.document.node import Span

if TYPE_CHECKING:  # events hold citations
    from roamtui.conversation.events import ConversationEvent


class Role(StrEnum):
    """Who speaks in a message to a model."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class Stopped(StrEnum):
    """Why an exchange ended."""

    ANSWERED = "answered"
    NOT_FOUND = "not_found"
    STEP_LIMIT = "step_limit"
    CANCELLED = "cancelled"
    COST = "cost"
    ERROR = "error"


class QuoteState(StrEnum):
    """What a lookup of a citation's quote found."""

    EXACT = "exact"
    NORMALISED = "normalised"
    """Found after white space, Markdown marks and typographic signs were made alike."""
    MISATTRIBUTED = "misattributed"
    """Found in another delivered section."""
    UNVERIFIED = "unverified"
    NO_QUOTE = "no_quote"
    """A mark without a quote."""


_NO_ANSWER = "[no answer]"
FOUND_LEAD = "Open already for the question below:"
"""Stands before sections that are opened with a question."""
HITS_LEAD = "What search finds for it, with excerpts that can be quoted; open a section to see all of it:"
"""Stands before hits for a question."""
QUESTION_START = "Question: "
"""Stands before a question that follows other text in its message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A model's wish to run a tool."""

    id: str
    name: str
    arguments: str
    """JSON as the model sent it, perhaps broken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    """A call with its result: neither exists in a transcript without the other."""

    call: ToolCall
    result: str
    excerpts: tuple[Span, ...] = ()
    """Text that the result shows without delivering it: it can be quoted, and is not open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a request."""

    role: Role
    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    thinking: str = ""
    """The provider's own thinking blocks as JSON, to be sent back unchanged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One reply of the model that called tools, with what the tools answered."""

    text: str
    uses: tuple[ToolUse, ...]
    thinking: str = ""
    reminder: str = ""
    """What the model was told after a reply without calls that was no answer yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """A claim's proof: a section and, where given, words from it."""

    section_id: str
    quote: str | None
    state: QuoteState
    doc: str = ""
    path: tuple[str, ...] = ()
    start_line: int = 0
    end_line: int = 0
    """1-based lines of the quote where it was found, else of the section; 0 where the id is unknown."""
    page: int | None = None
    """Page on which that begins, None where the document has none."""
    span: Span | None = None
    """Where the quote stands, None where it was not found."""

    @property
    def place(self) -> str:
        """Where it stands in words, such as ``p. 12, lines 3-5``."""
        page = f"p. {self.page}, " if self.page is not None else ""
        is_one = self.start_line == self.end_line
        return f"{page}line {self.start_line}" if is_one else f"{page}lines {self.start_line}-{self.end_line}"

    @property
    def is_verified(self) -> bool:
        """Whether the quote stands in the section that was named."""
        return self.state in (QuoteState.EXACT, QuoteState.NORMALISED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one or more requests."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    """Part of the input that the provider read from its cache."""
    cost_usd: float | None = None
    source: str = "estimate"
    """`provider` or `estimate`."""

    def __add__(self, other: Usage) -> Usage:
        costs = [cost for cost in (self.cost_usd, other.cost_usd) if cost is not None]
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            cost_usd=sum(costs) if costs else None,
            source="provider" if "provider" in (self.source, other.source) else "estimate",
        )


def sum_usage(exchanges: Iterable[Exchange]) -> Usage:
    """Return what exchanges took together; many at once take a tenth of the time of adding them up one by one."""
    usages = [exchange.usage for exchange in exchanges]
    costs = [usage.cost_usd for usage in usages if usage.cost_usd is not None]
    return Usage(
        input_tokens=sum([usage.input_tokens for usage in usages]),
        output_tokens=sum([usage.output_tokens for usage in usages]),
        cached_tokens=sum([usage.cached_tokens for usage in usages]),
        cost_usd=sum(costs) if costs else None,
        source="provider" if any(usage.source == "provider" for usage in usages) else "estimate",
    )


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
        text=step.text or ("" if calls else "[no answer]"),
        tool_calls=calls,
        thinking=step.thinking,
    )
    for use in step.uses:
        yield Message(role=Role.TOOL, text=use.result, tool_call_id=use.call.id)
    if step.reminder:
        yield Message(role=Role.USER, text=step.reminder)
