"""How far the agent may go for one question. Imports little: settings need it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from roamtui.document.library import Library

_FOUND_WINDOW_SHARE = 0.15
_PREFACE_WINDOW_SHARE = 0.4
_PREFACE_TOKENS_MAX = 32_000
_HISTORY_WINDOW_SHARE = 0.2


class ConfidentStart(StrEnum):
    """When a question goes to the model with what search finds for it."""

    REMOTE = "remote"
    """For models that take time and money for each step: all but the offline one."""
    ALWAYS = "always"
    OFF = "off"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOptions:
    """Limits of one question."""

    steps_max: int = 12
    """Requests to the model."""
    calls_max: int = 8
    """Tool calls in one reply that are run."""
    outline_tokens: int | None = None
    """Of the outline at most; None for what serves best."""
    cost_usd_max: float | None = None
    """What a conversation may cost before the person is asked; None for no cap."""
    confident_start: ConfidentStart = ConfidentStart.OFF
    read_preferences: Callable[[], str] | None = None
    """Gives what the person wrote down of how they want to be answered. Asked at each question, so that a change counts
    once the transcript is built anew."""

    def outline_budget(self, library: Library, window_tokens: int | None) -> int:
        """Return the token budget of a library's outline for a context window."""
        from roamtui.outline.render import limit_outline  # noqa: PLC0415 - settings need none of it

        return limit_outline(library, window_tokens, tokens=self.outline_tokens)

    def found_room(self, window_tokens: int | None) -> int | None:
        """Return how many tokens of text search may bring with a question; None for as many as there are."""
        return None if window_tokens is None else int(window_tokens * _FOUND_WINDOW_SHARE)

    def preface_room(self, window_tokens: int | None) -> int:
        """Return how many tokens of sections that a person opened may go before a question."""
        if window_tokens is None:
            return _PREFACE_TOKENS_MAX
        return min(_PREFACE_TOKENS_MAX, int(window_tokens * _PREFACE_WINDOW_SHARE))

    def history_room(self, window_tokens: int | None) -> int | None:
        """Return how many tokens earlier questions and answers may have after a rebuild; None for all of them."""
        return None if window_tokens is None else int(window_tokens * _HISTORY_WINDOW_SHARE)
