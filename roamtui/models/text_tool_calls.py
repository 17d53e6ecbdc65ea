"""Call tools in plain text, for models without tool calling: the prompt describes the tools, the reply calls them."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from roamtui.conversation.transcript import Message, Role, ToolCall
from roamtui.models.base import ModelEvent, ModelRequest, ReplyFinished, TextDelta, ToolCallReceived

_WORDS_BY_TOOL: Mapping[str, str] = {
    "expand_sections": "open",
    "search_sections": "search",
    "collapse_sections": "close",
}
"""Word after the backticks that calls a tool, by the name of the tool."""
_TOOLS_BY_WORD = {word: tool for tool, word in _WORDS_BY_TOOL.items()} | {tool: tool for tool in _WORDS_BY_TOOL}
_SEARCH = "search_sections"
_CALL = re.compile(rf"[ \t`]*({'|'.join(_WORDS_BY_TOOL)})\((.*)\)[ \t`;]*", re.DOTALL)
_CALL_STARTS = tuple(f"{tool}(" for tool in _WORDS_BY_TOOL)
_QUERY = re.compile(r"\"([^\"]*)\"|'([^']*)'")
_OPENING = re.compile(rf"[ \t]*`{{3,}}[ \t]*({'|'.join(_TOOLS_BY_WORD)})(?:[ \t]+(.*))?[ \t]*", re.IGNORECASE)
_TICKS = "```"
_SEPARATORS = re.compile(r"[\s\[\]{}(),;\"'`*]+")
_PUNCTUATION = ".:-#"
_ID_LIKE = re.compile(r"[0-9a-f]{8}|\w*\d\w*(?::[\w.]+)?|[0-9a-f]{8}:[\w.]+", re.IGNORECASE)
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
TOOL_REFUSAL = re.compile(
    r"(?:not support|unsupported)[^.]{0,30}\b(?:tool|function)"
    r"|\b(?:tool|function)[^.]{0,30}(?:not|n't) (?:be )?(?:support|enabl|available)"
    r"|requires --enable-auto-tool-choice",
    re.IGNORECASE,
)
"""Messages of servers whose model has no tool calls."""


class TextCallReader:
    """Reads a reply piece by piece. It passes text on up to the first call, and holds back the rest.

    Text between calls is dropped, because a model writes invented results there.
    """

    def __init__(self) -> None:
        self.calls: list[tuple[str, Mapping[str, object]]] = []
        """Tool and arguments of each call, in order. Empty until the reply has ended."""
        self._pending = ""
        """End of the text, which may be the start of a call. After the start of the first call, all of the text from
        there."""
        self._pending_blank = ""
        """White space that is passed on only if text follows it."""
        self._is_mid_line = False
        self._is_calling = False

    def feed(self, piece: str) -> str:
        """Add a piece of the reply, and return the text that can be shown now."""
        self._pending += piece
        shown = ""
        while self._pending and not self._is_calling:
            line, end, rest = self._pending.partition("\n")
            if end:
                is_call = _is_call_start(line)
            else:  # the line is not complete, but may become a call
                start = line.lstrip(" \t")
                is_call = start.startswith(("`", *_CALL_STARTS)) or any(call.startswith(start) for call in _CALL_STARTS)
            if is_call and not self._is_mid_line:
                self._is_calling = bool(end)
                break
            shown, self._pending, self._is_mid_line = shown + line + end, rest, not end
        return self._pass_on(shown)

    def finish(self) -> str:
        """End the reply, and with it an open block. Return the rest of the text."""
        if self._is_calling or (not self._is_mid_line and _is_call_start(self._pending)):
            self.calls = list(_parse_calls(self._pending))
            return ""
        return self._pass_on(self._pending)

    def _pass_on(self, text: str) -> str:
        text = self._pending_blank + text
        shown = text.rstrip()
        self._pending_blank = text[len(shown) :]
        return shown


def _is_call_start(line: str) -> bool:
    return bool(_OPENING.fullmatch(line) or _CALL.fullmatch(line))


def _parse_calls(text: str) -> Iterator[tuple[str, Mapping[str, object]]]:
    word, body = "", list[str]()
    for line in text.split("\n"):
        opening, call = _OPENING.fullmatch(line), None if word else _CALL.fullmatch(line)
        if call is not None:
            tool, arguments = call[1], call[2]
            if tool == _SEARCH and _parse_object(arguments) is None and (query := _QUERY.search(arguments)):
                arguments = query[1] or query[2] or ""  # the query in quotes, without JSON around it
            yield from _parse_block(tool, [arguments])
            continue
        if opening is not None:
            if word:
                yield from _parse_block(word, body)
            word, body = opening[1].lower(), []
        inside = ((opening[2] or "") if opening else line).strip()
        if word and (inside or not opening):
            if not inside.startswith(_TICKS):
                body.append(inside.strip("` "))
            if inside.startswith(_TICKS) or inside.endswith(_TICKS):
                yield from _parse_block(word, body)
                word = ""
    if word:
        yield from _parse_block(word, body)


def _parse_block(word: str, body: Sequence[str]) -> Iterator[tuple[str, Mapping[str, object]]]:
    # The body is JSON, queries, or ids, possibly followed by titles.
    tool, arguments = _TOOLS_BY_WORD[word], _parse_object("\n".join(body))
    if arguments is not None:
        yield tool, arguments
    elif tool == _SEARCH:
        for query in [line for line in body if line] or [""]:
            yield tool, {"query": query}
    else:
        words = [word for found in _SEPARATORS.split(" ".join(body)) if (word := found.strip(_PUNCTUATION))]
        yield tool, {"section_ids": [word for word in words if _ID_LIKE.fullmatch(word)] or words}


def _parse_object(text: str) -> Mapping[str, object] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


async def stream_with_text_tools(
    events: AsyncIterator[ModelEvent], request: ModelRequest
) -> AsyncGenerator[ModelEvent, None]:
    """Yield the events of a reply to a translated request. Its blocks become calls before the end, and are not text."""
    reader = TextCallReader()
    async for event in events:
        match event:
            case TextDelta(text):
                if shown := reader.feed(text):
                    yield TextDelta(shown)
            case ReplyFinished():
                if rest := reader.finish():
                    yield TextDelta(rest)
                for number, (tool, arguments) in enumerate(reader.calls, start=1):
                    call_id = f"text_{len(request.messages)}_{number}"
                    text = json.dumps(arguments, ensure_ascii=False)
                    yield ToolCallReceived(ToolCall(id=call_id, name=tool, arguments=text))
                yield replace(event, reason="tool_calls") if reader.calls else event
            case _:
                yield event


def translate_request(request: ModelRequest) -> ModelRequest:
    """Rewrite a request so that it has no tools. If it extends another request, it also extends the rewritten one."""
    messages: list[Message] = []
    calls = {call.id: call for message in request.messages for call in message.tool_calls}
    for are_results, group in groupby(request.messages, lambda message: message.role is Role.TOOL):
        if are_results:
            results = []
            for message in group:
                call = calls[message.tool_call_id or ""]
                title = f"{_WORDS_BY_TOOL.get(call.name, call.name)} {_format_arguments(call)}"
                results.append(f"Result of {title}:\n{message.text}")
            messages.append(Message(role=Role.USER, text="\n\n".join(results)))
            continue
        for message in group:
            parts = [message.text, *map(format_fence, message.tool_calls)]
            if message.role is Role.SYSTEM and request.tools:
                tools = [tool for tool in request.tools if tool.name in _WORDS_BY_TOOL]
                parts.append(_RULES)
                parts += (
                    f"{tool.name}: {tool.description}\n```{_WORDS_BY_TOOL[tool.name]}\n{_EXAMPLES[tool.name]}\n```"
                    for tool in tools
                )
            messages.append(replace(message, text="\n\n".join(filter(None, parts)), tool_calls=()))
    return ModelRequest(messages=tuple(messages))


def format_fence(call: ToolCall) -> str:
    """Format a call as a fenced block. A tool without a word of its own is called by its name."""
    return f"```{_WORDS_BY_TOOL.get(call.name, call.name)}\n{_format_arguments(call)}\n```"


def _format_arguments(call: ToolCall) -> str:
    # Ids or a query. Malformed arguments are shown as they are.
    arguments = _parse_object(call.arguments) or {}
    ids, query = arguments.get("section_ids"), arguments.get("query")
    if isinstance(ids, list):
        return " ".join(str(section_id) for section_id in ids)
    return query if isinstance(query, str) else call.arguments
