"""What a transcript is made of: messages, calls with their results, citations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from roamtui.document.node import Span


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

    @property
    def words(self) -> str:
        """What a person is told of it, wherever that is."""
        return _QUOTE_WORDS.get(self, "quote found in the text")


_QUOTE_WORDS = {
    QuoteState.MISATTRIBUTED: "quote in another section",
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
