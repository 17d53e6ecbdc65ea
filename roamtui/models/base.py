"""`Model`: what is known about a model, its requests, and the events of its replies."""

import re
from collections.abc import AsyncIterator
from typing import Literal, Self

from msgspec import Struct
from msgspec.structs import replace

from roamtui.conversation.budget import WINDOW_TOKENS_DEFAULT
from roamtui.conversation.messages import Message, ToolCall, Usage
from roamtui.models.tool_spec import ToolSpec
from roamtui.text import format_tokens

TOOL_TOKENS = 80
"""Estimated tokens of a tool."""
TOOLLESS_TOKENS = 100
"""Estimated tokens of the text that replaces tools for a model without them."""
_TOKEN_RATIO_MAX = 4.0
_TOOLS_WINDOW_MIN = 4_000
"""In a smaller window, tools and all that explains them would take a third of a request."""
_SMALL_WINDOW_MAX = 8_192
"""A model of unknown size counts as small if its window is not larger, because large models have more."""
_SMALL_BILLIONS_MAX = 4.0
"""A model with up to this many billions of parameters is small: it calls tools at random, and repeats their
descriptions."""
ARGUMENTS_LENGTH_MAX = 65_536
"""Maximum number of characters in the arguments of a tool call. The rest is cut off: no tool needs more."""


class ModelRequest(Struct, frozen=True, kw_only=True):
    """One request to a model."""

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    allows_calls: bool = True
    """If False, the model must answer without tools. They are still sent, for the provider's cache."""


class TextDelta(Struct, frozen=True, tag=True):
    """A piece of the reply's text."""

    text: str


class ThinkingDelta(Struct, frozen=True, tag=True):
    """A piece of the model's reasoning. It is shown dimmed, and never quoted."""

    text: str
    replaces_text: bool = False
    """Whether all text of the reply so far was reasoning, and no answer. `text` repeats it."""


class CallUnreadable(Struct, frozen=True, tag=True):
    """The model wrote a tool call as text, and it is broken or names no tool."""

    text: str


class ToolCallReceived(Struct, frozen=True, tag=True):
    """A complete tool call."""

    call: ToolCall


class UsageReported(Struct, frozen=True, tag=True):
    """What the server says that this request used. If it says nothing, `read_reply` makes an estimate."""

    usage: Usage


class RetryPending(Struct, frozen=True, tag=True):
    """A transient failure: the request is sent again after a wait. Nothing of the reply was shown yet."""

    reason: str
    wait_seconds: float
    may_cost: bool = False
    """Whether the provider may charge for the request that failed."""


FinishReason = Literal["stop", "length", "filtered", "repeated"]
"""Why a reply ended: by itself, at the output limit, blocked by the provider, or repeating itself."""


class ReplyFinished(Struct, frozen=True, tag=True):
    """The end of a complete reply. Always the last event."""

    reason: FinishReason


ModelEvent = (
    TextDelta
    | ThinkingDelta
    | CallUnreadable
    | ToolCallReceived
    | UsageReported
    | RetryPending
    | ReplyFinished
)


class ModelFacts(Struct, frozen=True, kw_only=True):
    """What is known about a model. What is unknown is None."""

    server: str | None = None
    """URL of the server that gets the requests, without keys; empty for the provider's own server, or if
    nothing is sent."""
    window_tokens: int | None = None
    """Size of the context window."""
    window_note: str = ""
    """Where this size is from, in a few words; empty if it is from litellm's table."""
    is_window_assumed: bool = False
    """Whether no server, setting or table says how large the window is."""
    can_call_tools: bool | None = None
    parameters: int | None = None
    """Number of parameters, if the server says it."""
    prices: tuple[float, float] | None = None
    """Prices in USD of a token that is sent and of one of the reply."""


class Model:
    """A language model, and what is learnt about it. A subclass needs only `name` and `stream`."""

    name: str
    """The name by which a person selects it."""
    facts: ModelFacts = ModelFacts()
    """What is known about it. Before the start, that is little."""
    window_limit: int | None = None
    """Size of the window that the server named when it refused a request."""
    small_setting: bool | None = None
    """Whether the person says that the model is small, or None if they say nothing."""
    refuses_tools: bool = False
    """Whether the model has no tool calls, according to litellm or its server."""
    token_ratio: float = 1.0
    """How many tokens the model counts for each estimated token, at least 1."""
    note: str = ""
    """Sentences for the person, once the model has started; empty for most models."""
    answer_tokens_max: int | None = None
    """Tokens of text after which a reply is stopped, not counting thoughts. None for no limit."""

    @property
    def is_started(self) -> bool:
        """Whether a request could be sent at once."""
        return True

    async def start(self) -> None:
        """Get ready for the first request, and learn the facts. Only that request reports failures."""

    async def check(self) -> None:
        """Check that the name is known and no key is missing, without a request to a provider.

        Raises:
            ModelError: A request could not succeed.
        """

    @property
    def window_tokens(self) -> int:
        """Size of its context window, or an assumed one if nobody knows it."""
        return self.facts.window_tokens or WINDOW_TOKENS_DEFAULT

    @property
    def small_reason(self) -> str:
        """Why the model gets each question in one short request without tools; empty if it does not."""
        facts = self.facts
        window = facts.window_tokens
        if window is not None and window < _TOOLS_WINDOW_MIN:
            return f"{format_window(window)} has no room for tools"
        if self.small_setting is not None:
            return "set by small_model" if self.small_setting else ""
        if facts.parameters is not None:
            billions = round(facts.parameters / 1e9, 1)
            return f"{billions:g} billion parameters" if billions <= _SMALL_BILLIONS_MAX else ""
        # Not if the window is only assumed, or is from litellm's table, which knows the model.
        is_unknown = bool(facts.window_note) and not facts.is_window_assumed
        if is_unknown and window is not None and window <= _SMALL_WINDOW_MAX:
            return f"{format_window(window)}, and its size is not known"
        return ""

    def estimate_tool_tokens(self, count: int) -> int:
        """Estimate the tokens of some tools, or of the text that replaces them for a model without tools."""
        return TOOLLESS_TOKENS if self.refuses_tools else TOOL_TOKENS * count

    def update_token_ratio(self, estimated_tokens: int, counted_tokens: int) -> None:
        """Learn how the model counts, from a request for which it has named the tokens."""
        if estimated_tokens > 0:
            self.token_ratio = max(1.0, min(_TOKEN_RATIO_MAX, counted_tokens / estimated_tokens))

    def limit_window(self, window_tokens: int) -> None:
        """Learn from a refused request that the window has only this size."""
        window = min(window_tokens, self.facts.window_tokens or window_tokens)
        self.facts = replace(self.facts, window_tokens=window, window_note="the server refused more")
        self.window_limit = min(window_tokens, self.window_limit or window_tokens)

    def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Yield the events of one reply. `ReplyFinished` is the last.

        Raises:
            ModelError: The model could not answer.
        """
        raise NotImplementedError

    def copy(self) -> Self:
        """Return the same model with its own resources, so that each of the two can be closed."""
        return self

    async def close(self) -> None:
        """Release resources. A later request starts the model again."""


def format_window(tokens: int) -> str:
    """Format the size of a context window, as in ``8k window``."""
    size = f"{tokens // 1_024}k" if tokens % 1_024 == 0 and tokens % 1_000 else format_tokens(tokens)
    return f"{size} window"


def replace_flags(words: str, *, model: str, server: str) -> str:
    """Replace --model and --api-base in a model's error by the words `model` and `server`.

    Errors name flags, because they are saved with answers, which every front end may show.
    """
    others = {"--api-base": server, "--model": model}
    return re.sub(r"(?<!\S)--(api-base|model)\b(?!-)", lambda flag: others[flag[0]], words)
