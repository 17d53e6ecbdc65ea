"""The options of an agent, in a module that loads quickly: the first screen needs them."""

from msgspec import Struct


class AgentOptions(Struct, frozen=True, kw_only=True):
    """How an agent answers, and the limits of its questions."""

    steps_max: int = 12
    """Maximum number of requests to the model."""
    cost_usd_max: float | None = None
    """Spending limit of a conversation. The person is asked before it is exceeded. None for no limit."""
    sends_hits: bool = True
    """Whether search results are sent with a question."""
    instructions: str = ""
    """How the person wants to be answered. A change takes effect only when the transcript is rebuilt."""
    question_note: str = ""
    """Text to send before each question. Search does not use it, because it is no part of the question."""
