"""`ReplyProgress`: what happens to a question until its answer is complete, in a few words."""

from time import monotonic

from roamtui.conversation.events import (
    AnswerStreamed,
    ConversationEvent,
    ConversationStarted,
    QuestionAnswered,
    QuestionDropped,
    QuestionReceived,
    StepStarted,
    ThinkingStreamed,
)
from roamtui.text import estimate_tokens, format_token_count

SPINNER_SECONDS = 0.12
_SPINNER_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_SECONDS_MIN = 3
"""Shorter waits are not shown, because a person expects them."""


def get_spinner_frame(seconds: float) -> str:
    """Return the character that a spinner shows after this many seconds."""
    return _SPINNER_FRAMES[int(seconds / SPINNER_SECONDS) % len(_SPINNER_FRAMES)]


class ReplyProgress:
    """Says what happens to the current question. It must get the events of the conversation in order."""

    def __init__(self) -> None:
        self._activity = ""
        """What happens now; empty if no question is being answered."""
        self._heard_at = 0.0
        """When the last event of the question came."""
        self._pieces: list[str] = []
        """What the model has written for the current step."""

    @property
    def is_running(self) -> bool:
        """Whether a question is being answered."""
        return bool(self._activity)

    def handle_event(self, event: ConversationEvent) -> None:
        """Update the progress. Events that say nothing about a question are ignored."""
        match event:
            case QuestionReceived(starts_model=starts_model):
                self._begin("getting ready to ask" if starts_model else "searching")
            case StepStarted(input_tokens=tokens):
                self._begin(f"reading {format_token_count(tokens)}")
            case AnswerStreamed(text=text):
                self._add("writing", text)
            case ThinkingStreamed(text=text):
                self._add("thinking", text)
            case QuestionAnswered() | QuestionDropped() | ConversationStarted():
                self._begin("")
            case _:
                pass

    def _begin(self, activity: str) -> None:
        self._activity = activity
        self._heard_at = monotonic()
        self._pieces = []

    def _add(self, activity: str, text: str) -> None:
        if self.is_running:
            self._activity = activity
            self._heard_at = monotonic()
            self._pieces.append(text)

    def describe(self) -> str:
        """Return, for example, ``reading 1.3k tokens · 35 s``, with the seconds since the last event."""
        parts = [self._activity]
        if self._pieces:
            parts.append(format_token_count(estimate_tokens("".join(self._pieces))))
        seconds = int(monotonic() - self._heard_at)
        if seconds >= _SECONDS_MIN:
            parts.append(f"{seconds} s")
        return " · ".join(parts)
