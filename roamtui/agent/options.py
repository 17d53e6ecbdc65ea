"""Limits of the agent. Settings import this module at startup, so it imports little."""

from __future__ import annotations

from msgspec import Struct


class AgentOptions(Struct, frozen=True, kw_only=True):
    """Limits of one question."""

    steps_max: int = 12
    """Maximum number of requests to the model."""
    cost_usd_max: float | None = None
    """Spending limit of a conversation, above which the person is asked; None for no limit."""
    sends_hits: bool = False
    """Whether search results are sent with a question."""
    instructions: str = ""
    """How the person wants to be answered. A change takes effect only when the transcript is rebuilt."""
    needs_certainty: bool = False
    """Whether a doubtful passage is no answer without a model, as in a cell of a table."""
    question_note: str = ""
    """Text to send before each question. It is not part of the question, so its words are not searched for."""
    committed_usd: dict[str, float] | None = None
    """Spent or about to be spent, by the id of the conversation, if several agents share the spending limit."""
