"""A model that counts the tokens of each request with a real tokenizer, and refuses what exceeds its window."""

import json
import os
from collections.abc import AsyncGenerator, Iterable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from typing_extensions import override

from roamtui.conversation.messages import Usage
from roamtui.models.base import ModelEvent, ModelRequest, UsageReported
from tests.fakes.scripted_model import Reply, ScriptedModel, make_refusal

_MESSAGE_TOKENS = 5
"""Tokens that a chat template puts around a message."""


@cache
def load_tokenizer() -> Any:  # noqa: ANN401 - tiktoken has no part in what is tested
    """Load cl100k, which litellm brings along, so that nothing is fetched."""
    litellm = find_spec("litellm")
    assert litellm is not None
    assert litellm.origin is not None
    os.environ["TIKTOKEN_CACHE_DIR"] = str(Path(litellm.origin).parent / "litellm_core_utils" / "tokenizers")
    import tiktoken  # noqa: PLC0415 - it reads the variable

    return tiktoken.get_encoding("cl100k_base")


class CountingModel(ScriptedModel):
    """Answers with the next reply if the request fits its window, and refuses as a server would if it does not.

    Args:
        replies: As for `ScriptedModel`.
        said_tokens: The window that it says it has.
        true_tokens: The window that it has.
        scale: How many tokens it counts for each of cl100k.
    """

    def __init__(
        self,
        replies: Iterable[Reply],
        *,
        said_tokens: int | None,
        true_tokens: int,
        scale: float = 1.0,
    ) -> None:
        super().__init__(replies, window_tokens=said_tokens)
        self._true_tokens = true_tokens
        self._scale = scale
        self.refused = 0
        """How many requests exceeded the window."""
        self.counts: list[int] = []
        """Tokens of each request."""

    @override
    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        count = self._count(request)
        self.counts.append(count)
        if count > self._true_tokens:
            self.refused += 1
            raise make_refusal(window_tokens=self._true_tokens, request_tokens=count)
        async for event in super().stream(request):
            yield UsageReported(Usage(input_tokens=count)) if isinstance(event, UsageReported) else event

    def _count(self, request: ModelRequest) -> int:
        texts = [message.text for message in request.messages]
        texts += [f"{call.name}{call.arguments}" for message in request.messages for call in message.tool_calls]
        if not self.refuses_tools:
            texts += [f"{tool.name}{tool.description}{json.dumps(tool.parameters)}" for tool in request.tools]
        tokens = sum(len(load_tokenizer().encode(text, disallowed_special=())) for text in texts)
        return int(self._scale * (tokens + _MESSAGE_TOKENS * len(request.messages)))
