"""The values of a conversation: messages, calls with their results, citations, open sections."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from roamtui.conversation.commands import Origin
from roamtui.document.node import Span


class Role(StrEnum):
    """Who speaks in a message to a model."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class StopReason(StrEnum):
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
    JOINED = "joined"
    """Found in pieces: an ellipsis leaves out more than words of one sentence, list item or table row."""
    UNVERIFIED = "unverified"
    NO_QUOTE = "no_quote"
    """A mark without a quote."""

    @property
    def label(self) -> str:
        """What a person is told of it, wherever that is."""
        return _QUOTE_WORDS.get(self, "quote found in the text")


_QUOTE_WORDS = {
    QuoteState.MISATTRIBUTED: "quote in another section",
    QuoteState.JOINED: "quote joined from several sentences",
    QuoteState.UNVERIFIED: "quote not in the text",
    QuoteState.NO_QUOTE: "no quote",
}


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
        return Usage.total((self, other))

    @classmethod
    def total(cls, usages: Iterable[Usage]) -> Usage:
        """Return what several took together; many at once take a tenth of the time of adding them up one by one."""
        usages = [*usages]
        costs = [usage.cost_usd for usage in usages if usage.cost_usd is not None]
        return cls(
            input_tokens=sum([usage.input_tokens for usage in usages]),
            output_tokens=sum([usage.output_tokens for usage in usages]),
            cached_tokens=sum([usage.cached_tokens for usage in usages]),
            cost_usd=sum(costs) if costs else None,
            source="provider" if any(usage.source == "provider" for usage in usages) else "estimate",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One reply of the model that called tools, with what the tools answered."""

    text: str
    uses: tuple[ToolUse, ...]
    thinking: str = ""
    reminder: str = ""
    """What the model was told after a reply without calls that was no answer yet."""
    usage: Usage = Usage()
    """Of the reply."""


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
class OpenSection:
    """A section that the conversation holds."""

    section_id: str
    opened_by: Origin
    opened_at: int
    """Number of the question before or during which it was opened."""
    last_used: int
    """Number of the last question at which it was opened or asked for again."""
    last_cited: int = 0
    """Number of the last question whose answer cites it, 0 for never."""
    is_pinned: bool = False
    is_closing: bool = False
    """Marked: it closes when the question under way has ended."""
    closing_by: Origin | None = None
    """Who marked it, None where it is not marked; what a person marked closes whatever the agent asks for."""
    deliveries: tuple[Span, ...] = ()
    """Text of it that is in the transcript; empty until the next question for what a person opened."""
    tokens: int = 0
    """Estimated tokens of the deliveries, of the whole section before them."""
    content_hash: str = ""
    """Digest of its own text, to find it again in a changed document."""


def mark_for_closing(section: OpenSection, origin: Origin) -> OpenSection:
    """Return a section that closes when the question under way has ended."""
    by = Origin.PERSON if section.closing_by is Origin.PERSON else origin
    return replace(section, is_closing=True, closing_by=by)


def keep_open(section: OpenSection) -> OpenSection:
    """Return a section that stays open after the question."""
    return replace(section, is_closing=False, closing_by=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoStep:
    """What somebody changed of what is open at one stroke, so that it can be taken back."""

    before: tuple[OpenSection, ...] = ()
    """The sections that it changed, as they were, those that it opened left out."""
    after: tuple[OpenSection, ...] = ()
    """The same as they became, those that it closed left out."""
    unfolded_ids: tuple[str, ...] = ()
    folded_ids: tuple[str, ...] = ()
    asked: int = -1
    """How many questions there were, where it was done between them: until the next, what it closed is only to be
    opened again for its text to be told as it was. -1 during a question."""

    @property
    def section_ids(self) -> tuple[str, ...]:
        """All sections that it changed."""
        return tuple(dict.fromkeys(section.section_id for section in (*self.before, *self.after)))

    @property
    def is_empty(self) -> bool:
        """Whether nothing came of it."""
        return not (self.before or self.after or self.unfolded_ids or self.folded_ids)
