"""The values of a conversation: messages, tool calls and results, citations, open sections."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from roamtui.conversation.commands import Origin
from roamtui.document.node import Span


class Role(StrEnum):
    """The author of a message to a model."""

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
    """Result of looking up a citation's quote."""

    EXACT = "exact"
    NORMALISED = "normalised"
    """Found after white space, Markdown marks and typographic characters were normalised."""
    MISATTRIBUTED = "misattributed"
    """Found in another delivered section."""
    JOINED = "joined"
    """Found in pieces: an ellipsis spans more than one sentence, list item or table row."""
    UNVERIFIED = "unverified"
    NO_QUOTE = "no_quote"

    @property
    def label(self) -> str:
        """Text for a person, the same in all front ends."""
        return _QUOTE_LABELS.get(self, "quote found in the text")

    @property
    def sign(self) -> str:
        """The same as one character, for where there is no colour; empty without a quote."""
        return _QUOTE_SIGNS[self]


_QUOTE_LABELS = {
    QuoteState.MISATTRIBUTED: "quote found in another section",
    QuoteState.JOINED: "quote joined from several sentences",
    QuoteState.UNVERIFIED: "quote not found in the text",
    QuoteState.NO_QUOTE: "no quote",
}
_QUOTE_SIGNS = {
    QuoteState.EXACT: "✓",
    QuoteState.NORMALISED: "✓",
    QuoteState.MISATTRIBUTED: "!",
    QuoteState.JOINED: "!",
    QuoteState.UNVERIFIED: "✗",
    QuoteState.NO_QUOTE: "",
}


FOUND_LEAD = "Open already for the question below:"
"""Introduces the sections that are opened with a question."""
HITS_LEAD = "What search finds for it, with excerpts that can be quoted; open a section to see all of it:"
"""Introduces the search results for a question."""
QUESTION_START = "Question: "
"""Introduces a question that follows other text in its message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """The model's request to run a tool."""

    id: str
    name: str
    arguments: str
    """JSON as the model sent it; may be invalid."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolUse:
    """A tool call with its result: a transcript never holds one without the other."""

    call: ToolCall
    result: str
    excerpts: tuple[Span, ...] = ()
    """Text that the result shows without opening the section. It can be quoted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a request."""

    role: Role
    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    thinking: str = ""
    """The provider's own thinking blocks as JSON. They are sent back unchanged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one or more requests."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    """Part of `input_tokens` that the provider read from its cache."""
    cost_usd: float | None = None
    source: str = "estimate"
    """`provider` or `estimate`."""

    def __add__(self, other: Usage) -> Usage:
        return Usage.total((self, other))

    @classmethod
    def total(cls, usages: Iterable[Usage]) -> Usage:
        """Add up usages. For many usages this takes a tenth of the time of repeated `+`."""
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
    """One reply of the model with the results of its tool calls."""

    text: str
    uses: tuple[ToolUse, ...]
    thinking: str = ""
    reminder: str = ""
    """Message to the model after a reply that had no tool calls and was not an answer yet."""
    usage: Usage = Usage()


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """The proof of a claim: a section and, if the answer has one, a quote from it."""

    section_id: str
    quote: str | None
    state: QuoteState
    doc: str = ""
    path: tuple[str, ...] = ()
    start_line: int = 0
    end_line: int = 0
    """1-based lines of the quote if found, else of the section; 0 if the id is unknown."""
    page: int | None = None
    """First page of these lines, or None if the document has no pages."""
    span: Span | None = None
    """The quote in the document, or None if it was not found."""

    @property
    def place(self) -> str:
        """Page and lines as text, such as ``p. 12, lines 3-5``."""
        page = f"p. {self.page}, " if self.page is not None else ""
        if self.start_line == self.end_line:
            return f"{page}line {self.start_line}"
        return f"{page}lines {self.start_line}-{self.end_line}"

    @property
    def is_verified(self) -> bool:
        """Whether the quote was found in the section that the answer names."""
        return self.state in (QuoteState.EXACT, QuoteState.NORMALISED)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenSection:
    """A section whose text the conversation keeps in the prompt."""

    section_id: str
    opened_by: Origin
    opened_at: int
    """Number of the question before or during which the section was opened."""
    last_used: int
    """Number of the last question that opened or requested the section."""
    last_cited: int = 0
    """Number of the last question whose answer cites the section; 0 if none does."""
    is_pinned: bool = False
    is_closing: bool = False
    """Whether the section closes when the current question ends."""
    closing_by: Origin | None = None
    """Who marked the section for closing. If a person did, the agent cannot keep it open."""
    deliveries: tuple[Span, ...] = ()
    """Text of the section in the transcript. Empty until the next question if a person opened the section."""
    tokens: int = 0
    """Estimated tokens of the deliveries, or of the whole section before there are any."""
    content_hash: str = ""
    """Digest of the section's own text, used to find the section in a changed document."""


def keep_open(section: OpenSection) -> OpenSection:
    """Keep a section open that was marked for closing."""
    return replace(section, is_closing=False, closing_by=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoStep:
    """One change to the open sections and the tree that can be undone."""

    before: tuple[OpenSection, ...] = ()
    """The changed sections before the step, without those that it opened."""
    after: tuple[OpenSection, ...] = ()
    """The changed sections after the step, without those that it closed."""
    unfolded_ids: tuple[str, ...] = ()
    folded_ids: tuple[str, ...] = ()
    asked: int = -1
    """Number of questions before the step; -1 if it happened during a question. Until the next question, the text of a
    section that the step closed is still in the transcript, so undoing only has to open it again."""

    @property
    def section_ids(self) -> tuple[str, ...]:
        """All changed sections."""
        return tuple(dict.fromkeys(section.section_id for section in (*self.before, *self.after)))

    @property
    def is_empty(self) -> bool:
        """Whether the step changed nothing."""
        return not (self.before or self.after or self.unfolded_ids or self.folded_ids)
