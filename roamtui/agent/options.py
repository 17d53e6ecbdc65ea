"""How far the agent may go for one question. Imports little: settings need it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


class RetrievalStart(StrEnum):
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
    confident_start: RetrievalStart = RetrievalStart.OFF
    read_preferences: Callable[[], str] | None = None
    """Gives what the person wrote down of how they want to be answered. Asked at each question, so that a change counts
    once the transcript is built anew."""
