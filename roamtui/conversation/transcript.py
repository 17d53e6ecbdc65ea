"""The values that make up a conversation: messages, tool calls and their results, citations and open sections."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

from roamtui.document.node import Span


class Origin(StrEnum):
    """Who gave a command."""

    AGENT = "agent"
    PERSON = "person"


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

    FOUND = "found"
    """Found letter by letter, or but for white space, markup and typography."""
    ELSEWHERE = "elsewhere"
    """Found in text of another section that the model got."""
    NOT_FOUND = "not_found"
    NO_QUOTE = "no_quote"

    @property
    def label(self) -> str:
        """A few words that tell a person the result, the same in all front ends."""
        return _QUOTE_LABELS[self][0]

    @property
    def sign(self) -> str:
        """One character that shows the result without colour; empty if there is no quote."""
        return _QUOTE_LABELS[self][1]


_QUOTE_LABELS = {
    QuoteState.FOUND: ("quote found in the text", "✓"),
    QuoteState.ELSEWHERE: ("quote found in another section", "!"),
    QuoteState.NOT_FOUND: ("quote not found in the text", "✗"),
    QuoteState.NO_QUOTE: ("no quote", ""),
}
FOUND_LEAD = "Open already for the question below:"
"""Introduces the sections that are opened with a question."""
HITS_LEAD = "What search finds for it, with excerpts that can be quoted; open a section to see all of it:"
"""Introduces the search results for a question."""
CELL_LEAD = "Each answer fills one cell of a table."
"""Introduces the rules for an answer that fills a cell of a table."""
QUESTION_START = "Question: "
"""Introduces a question that follows other text in its message."""


class ToolCall(Struct, frozen=True, kw_only=True):
    """The model's request to run a tool."""

    id: str
    name: str
    arguments: str
    """JSON as the model sent it; may be invalid."""


class ToolUse(Struct, frozen=True, kw_only=True):
    """A tool call with its result: a transcript never holds one without the other."""

    call: ToolCall
    result: str
    excerpts: tuple[Span, ...] = ()
    """Document text in the result. It can be quoted although its sections are not open."""
    deliveries: tuple[Span, ...] = ()
    """Text of open sections in the result."""


class Message(Struct, frozen=True, kw_only=True):
    """One message of a request."""

    role: Role
    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None


class Usage(Struct, frozen=True, kw_only=True):
    """Number of tokens that one or more requests used."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    """How many of `input_tokens` the provider read from its cache."""
    cost_usd: float | None = None
    source: str = "estimate"
    """Where the numbers come from: `provider` or `estimate`."""

    def __add__(self, other: Usage) -> Usage:
        costs = [usage.cost_usd for usage in (self, other) if usage.cost_usd is not None]
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            cost_usd=sum(costs) if costs else None,
            source="provider" if "provider" in (self.source, other.source) else "estimate",
        )


class Step(Struct, frozen=True, kw_only=True):
    """One reply of the model, with its tool calls and their results."""

    text: str
    uses: tuple[ToolUse, ...]
    reminder: str = ""
    """Message to the model after a reply that had no tool calls and was not an answer yet."""
    usage: Usage = Usage()


class Citation(Struct, frozen=True, kw_only=True):
    """The proof of a claim: a section and, if the answer has one, a quote from it."""

    section_id: str
    quote: str | None
    state: QuoteState
    doc: str = ""
    path: tuple[str, ...] = ()
    start_line: int = 0
    end_line: int = 0
    """Lines of the quote if it was found, otherwise of the section, counted from 1; 0 if the id is unknown."""
    page: int | None = None
    """First page of these lines, or None if the document has no pages."""
    span: Span | None = None
    """The quote in the document, or None if it was not found."""
    start: int = 0
    end: int = 0
    """Offsets of the quote in the answer, with its quotation marks. Without a quote, both are the offset of the id."""

    @property
    def place(self) -> str:
        """The page and the lines as text, such as ``p. 12, lines 3-5``."""
        page = f"p. {self.page}, " if self.page is not None else ""
        if self.start_line == self.end_line:
            return f"{page}line {self.start_line}"
        return f"{page}lines {self.start_line}-{self.end_line}"

    @property
    def is_verified(self) -> bool:
        """Whether the quote was found in the section that the answer names."""
        return self.state is QuoteState.FOUND


class OpenSection(Struct, frozen=True, kw_only=True):
    """A section whose text the conversation keeps in the prompt."""

    section_id: str
    opened_by: Origin
    last_used: int
    """Number of the last question that opened or requested the section."""
    last_cited: int = 0
    """Number of the last question whose answer cites the section; 0 if no answer does."""
    is_pinned: bool = False
    is_closing: bool = False
    """Whether the section closes when the current question ends."""
    deliveries: tuple[Span, ...] = ()
    """Text of the section in the transcript. If a person opened the section, this is empty until the next question."""
    tokens: int = 0
    """Estimated tokens of the deliveries, or, as long as there are none, of the whole section."""
    content_hash: str = ""
    """Digest of the section's own text, used to find the section in a changed document."""
