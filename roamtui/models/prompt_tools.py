"""`PromptToolsModel`: tools for a model that has no tool calls. It is told of them in words, and answers in them."""

from __future__ import annotations

import json
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING

from roamtui.conversation.transcript import Message, Role, ToolCall
from roamtui.models.base import CallMade, Model, ModelEvent, ModelStopped, Request, TextDelta
from roamtui.models.tool_fences import TOOL_WORDS, FenceReader, describe_arguments, write_fence

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator

    from roamtui.models.base import ToolSpec

_RULES = """\
How to call tools
You call a tool by writing a fenced block at the end of your reply, exactly as shown below, and nothing after it. You \
may write several. The next message brings the results; never write results yourself. A reply without such a block is \
your answer."""
_EXAMPLES = {
    "expand_sections": "a8a96034 b9e8ef5c",
    "search_sections": "late fees",
    "collapse_sections": "a8a96034",
}


class PromptToolsModel:
    """A model whose tool calls are fenced blocks in its text; for whoever asks it, they are calls like any others."""

    def __init__(self, model: Model) -> None:
        self._model = model

    @property
    def name(self) -> str:
        """The name under which a person chose the model."""
        return self._model.name

    @property
    def window_tokens(self) -> int | None:
        """Size of the model's context window, None where unknown."""
        return self._model.window_tokens

    async def stream(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        """Yield the events of one reply; its blocks come as calls before the end, and never as text.

        Raises:
            ModelError: The model could not answer.
        """
        reader = FenceReader()
        async with aclosing(self._model.stream(translate_request(request))) as events:  # type: ignore[type-var]
            async for event in events:
                match event:
                    case TextDelta(text):
                        if shown := reader.feed(text):
                            yield TextDelta(shown)
                    case ModelStopped():
                        for last in _finish(reader, request, event):
                            yield last
                    case _:
                        yield event

    async def close(self) -> None:
        """Let go of what the model holds."""
        await self._model.close()


def translate_request(request: Request) -> Request:
    """Return a request that says the same without tools. One that another begins with stays so."""
    return Request(messages=tuple(_translate_messages(request.messages, request.tools)))


def _finish(reader: FenceReader, request: Request, stopped: ModelStopped) -> Iterator[ModelEvent]:
    if rest := reader.finish():
        yield TextDelta(rest)
    for number, wish in enumerate(reader.wishes, start=1):
        call_id = f"text_{len(request.messages)}_{number}"
        arguments = json.dumps(dict(wish.arguments), ensure_ascii=False)
        yield CallMade(ToolCall(id=call_id, name=wish.tool, arguments=arguments))
    yield replace(stopped, reason="tool_calls") if reader.wishes else stopped


def _translate_messages(messages: tuple[Message, ...], tools: tuple[ToolSpec, ...]) -> Iterator[Message]:
    calls: dict[str, ToolCall] = {}
    results: list[str] = []
    for message in messages:
        if message.role is Role.TOOL:
            results.append(_write_result(calls.get(message.tool_call_id or ""), message.text))
            continue
        if results:
            yield Message(role=Role.USER, text="\n\n".join(results))
            results = []
        if message.role is Role.SYSTEM:
            yield replace(message, text=f"{message.text}\n\n{_describe_tools(tools)}" if tools else message.text)
        else:
            calls |= {call.id: call for call in message.tool_calls}
            yield replace(message, text=_write_reply(message), tool_calls=())
    if results:
        yield Message(role=Role.USER, text="\n\n".join(results))


def _write_reply(message: Message) -> str:
    fences = (write_fence(call) for call in message.tool_calls)
    return "\n\n".join(part for part in (message.text, *fences) if part)


def _write_result(call: ToolCall | None, text: str) -> str:
    if call is None:
        return text
    return f"Result of {TOOL_WORDS.get(call.name, call.name)} {describe_arguments(call)}:\n{text}"


def _describe_tools(tools: tuple[ToolSpec, ...]) -> str:
    parts = [_RULES]
    for tool in tools:
        if tool.name in TOOL_WORDS:
            fence = f"```{TOOL_WORDS[tool.name]}\n{_EXAMPLES[tool.name]}\n```"
            parts.append(f"{tool.name}: {tool.description}\n{fence}")
    return "\n\n".join(parts)
