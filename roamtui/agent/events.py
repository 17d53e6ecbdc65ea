"""What happens while a question is answered. One stream of these feeds every front end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from roamtui.conversation.events import ConversationEvent
from roamtui.conversation.transcript import Stopped

if TYPE_CHECKING:
    from roamtui.conversation.transcript import Citation, Usage


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionAsked:
    """A question was taken up and is on disk."""

    number: int
    question: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StepStarted:
    """A request goes to the model."""

    number: int
    """1 for the first step of the question."""
    input_tokens: int
    """Estimated tokens of the request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerStreamed:
    """Some more text of the model; an answer unless calls follow it in the same step."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingStreamed:
    """Some more of what the model thinks aloud."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit:
    """One result of a search by the agent."""

    section_id: str
    path: tuple[str, ...]
    score: float
    snippet: str
    why: str = ""
    """How it was found, empty where that says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionsSearched:
    """The agent searched."""

    query: str
    hits: tuple[SearchHit, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What became of one item of a call: an id and its status."""

    id: str
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFinished:
    """A tool call has its result, and both are on disk."""

    tool: str
    section_ids: tuple[str, ...] = ()
    query: str | None = None
    results: tuple[ToolResult, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReminderSent:
    """The reply was no answer yet, so the model was told what is missing; what it said so far is a draft."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryScheduled:
    """A passing fault of the provider: the request is sent again after a wait."""

    reason: str
    wait_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionAnswered:
    """The exchange is over and on disk. Always the last event of a question."""

    number: int
    answer: str
    stopped: Stopped
    citations: tuple[Citation, ...]
    usage: Usage
    steps: int
    error: str = ""
    """One plain sentence where `stopped` is `error`."""

    @property
    def is_unproven(self) -> bool:
        """Whether this is an answer without a single quote, so that nothing of it could be checked."""
        is_answer = self.stopped in (Stopped.ANSWERED, Stopped.STEP_LIMIT) and bool(self.answer)
        return is_answer and all(citation.quote is None for citation in self.citations)


AgentEvent = (
    QuestionAsked
    | StepStarted
    | AnswerStreamed
    | ThinkingStreamed
    | SectionsSearched
    | ToolFinished
    | ReminderSent
    | RetryScheduled
    | QuestionAnswered
    | ConversationEvent
)
