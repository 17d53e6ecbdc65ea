"""The options of an agent, in a module that loads quickly: the first screen needs them."""

from msgspec import Struct


class AgentOptions(Struct, frozen=True, kw_only=True):
    """Limits of one question."""

    steps_max: int = 12
    """Maximum number of requests to the model."""
    cost_usd_max: float | None = None
    """Spending limit of a conversation, above which the person is asked; None for no limit."""
    sends_hits: bool = True
    """Whether search results are sent with a question."""
    instructions: str = ""
    """How the person wants to be answered. A change takes effect only when the transcript is rebuilt."""
    question_note: str = ""
    """Text to send before each question, but not part of it, so its words are not searched for."""
