"""`RecordedModel`: repeats the answer in `examples/answer.json`, which a person wrote."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator

from typing_extensions import override

from roamtui.conversation.messages import RECORDED, Role, ToolCall
from roamtui.errors import ModelError
from roamtui.models.base import (
    Model,
    ModelEvent,
    ModelFacts,
    ModelRequest,
    ReplyFinished,
    TextDelta,
    ToolCallReceived,
)
from roamtui.models.tool_spec import EXPAND_TOOL
from roamtui.paths import get_resource_dir


class RecordedModel(Model):
    """Answers one question about the example handbook, at a speed that people can follow."""

    name = RECORDED
    facts = ModelFacts(server="")

    def __init__(self, seconds_per_word: float = 0.1) -> None:
        recording = json.loads((get_resource_dir("examples") / "answer.json").read_text("utf-8"))
        self.question: str = recording["question"]
        self._replies: list[dict[str, str | list[str]]] = recording["replies"]
        self._seconds_per_word = seconds_per_word

    @override
    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Yield the events of the next recorded reply.

        Raises:
            ModelError: The question is another one.
        """
        start = max(index for index, message in enumerate(request.messages) if message.role is Role.USER)
        number = sum(message.role is Role.ASSISTANT for message in request.messages[start:])
        if not request.messages[start].text.endswith(self.question) or number >= len(self._replies):
            raise ModelError("The demo can only replay one answer. To ask more, choose a model with --model.")
        reply = self._replies[number]
        for word in re.findall(r"\S+\s*", str(reply.get("text", ""))):
            yield TextDelta(word)
            await asyncio.sleep(self._seconds_per_word)
        if opened := reply.get("open"):
            # a real model would need time to read the outline and the search results
            await asyncio.sleep(10 * self._seconds_per_word)
            arguments = json.dumps({"section_ids": opened})
            call = ToolCall(id=f"recorded_{number}", name=EXPAND_TOOL, arguments=arguments)
            yield ToolCallReceived(call)
        yield ReplyFinished("stop")
