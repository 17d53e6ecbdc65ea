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
_FUNCTION_CALL = re.compile(rf"[ \t`]*({'|'.join(_WORDS_BY_TOOL)})\((.*)\)[ \t\r`;]*")
"""What some models write instead of a block: `search_sections("late fees")`."""
_FUNCTION_CALL_STARTS = tuple(f"{tool}(" for tool in _WORDS_BY_TOOL)
_QUERY = re.compile(r"\"([^\"]*)\"|'([^']*)'")
_FENCE_OPENING = re.compile(rf"[ \t]*`{{3,}}[ \t]*({'|'.join(_TOOLS_BY_WORD)})(?:[ \t]+(.*))?[ \t\r]*", re.IGNORECASE)
"""First line of a fenced block that calls a tool, as the prompt asks for. Its body may begin on this line."""
_TICKS = "```"
_SEPARATORS = re.compile(r"[\s\[\]{}(),;\"'`*]+")
_PUNCTUATION = ".:-#"
_ID_LIKE = re.compile(r"(?:[0-9a-f]{8}|\w*\d\w*)(?::[\w.]+)?", re.IGNORECASE)
"""`a8a96034`, `a8a96034:2`, or any word with a digit, because models shorten ids."""
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
        """End of the text, which may be the start of a call. After the first call has started, all text from there."""
        self._pending_blank = ""
        """White space that is passed on only if text follows it."""
        self._is_mid_line = False
        self._has_call_started = False

    def feed(self, piece: str) -> str:
        """Add a piece of the reply, and return the text that can be shown now."""
        self._pending += piece
        shown = ""
        while self._pending and not self._has_call_started:
            line, end, rest = self._pending.partition("\n")
            if end:
                is_call = _is_call_start(line)
            else:  # the line is not complete, but may become a call
                start = line.lstrip(" \t")
                is_call = start.startswith(("`", *_FUNCTION_CALL_STARTS)) or any(
                    call.startswith(start) for call in _FUNCTION_CALL_STARTS
                )
            if is_call and not self._is_mid_line:
                self._has_call_started = bool(end)
                break
            shown, self._pending, self._is_mid_line = shown + line + end, rest, not end
        return self._pass_on(shown)

    def finish(self) -> str:
        """End the reply, parse its calls, and return the rest of the text. A block that is still open counts."""
        if self._has_call_started or (not self._is_mid_line and _is_call_start(self._pending)):
            self.calls = list(_parse_calls(self._pending))
            return ""
        return self._pass_on(self._pending)

    def _pass_on(self, text: str) -> str:
        text = self._pending_blank + text
        shown = text.rstrip()
        self._pending_blank = text[len(shown) :]
        return shown


def _is_call_start(line: str) -> bool:
    return bool(_FENCE_OPENING.fullmatch(line) or _FUNCTION_CALL.fullmatch(line))


def _parse_calls(text: str) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Yield the calls in a text: function calls and fenced blocks.

    A block may be unclosed, on a single line, or directly followed by the next one, and text between calls is dropped.
    """
    tool_word, body = "", list[str]()  # of the block that is open; the word is empty outside blocks
    for line in text.split("\n"):
        opening, call = _FENCE_OPENING.fullmatch(line), None if tool_word else _FUNCTION_CALL.fullmatch(line)
        if call is not None:
            tool, arguments = call[1], call[2]
            if tool == _SEARCH and _parse_object(arguments) is None and (query := _QUERY.search(arguments)):
                arguments = query[1] or query[2] or ""  # the query in quotes, without JSON around it
            yield from _parse_block(tool, [arguments])
            continue
        if opening is not None:
            if tool_word:
                yield from _parse_block(tool_word, body)
            tool_word, body = opening[1].lower(), []
        body_line = ((opening[2] or "") if opening else line).strip()
        if tool_word and (body_line or not opening):
            if not body_line.startswith(_TICKS):
                body.append(body_line.strip("` "))
            if body_line.startswith(_TICKS) or body_line.endswith(_TICKS):  # the block ends on this line
                yield from _parse_block(tool_word, body)
                tool_word = ""
    if tool_word:
        yield from _parse_block(tool_word, body)


def _parse_block(tool_word: str, body: Sequence[str]) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Yield the calls of a block, whose body is JSON, a query on each line, or ids, possibly followed by titles."""
    tool, arguments = _TOOLS_BY_WORD[tool_word], _parse_object("\n".join(body))
    if arguments is not None:
        yield tool, arguments
    elif tool == _SEARCH:
        for query in [line for line in body if line] or [""]:
            yield tool, {"query": query}
    else:
        tokens = [token.strip(_PUNCTUATION) for token in _SEPARATORS.split(" ".join(body))]
        tokens = [token for token in tokens if token]
        yield tool, {"section_ids": [token for token in tokens if _ID_LIKE.fullmatch(token)] or tokens}


def _parse_object(text: str) -> Mapping[str, object] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


async def stream_with_text_tools(
    events: AsyncIterator[ModelEvent], request: ModelRequest
) -> AsyncGenerator[ModelEvent, None]:
    """Yield the events of a reply to a translated request.

    Tool blocks are left out of the text, and come as calls just before the last event.
    """
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
    """Rewrite a request so that it has no tools.

    Prefixes stay, for the provider's cache: if request B begins with A, the rewritten B begins with the rewritten A.
    """
    messages: list[Message] = []
    calls = {call.id: call for message in request.messages for call in message.tool_calls}
    for are_results, group in groupby(request.messages, lambda message: message.role is Role.TOOL):
        if are_results:
            results = []
            for message in group:
                call = calls[message.tool_call_id or ""]
                call_line = f"{_WORDS_BY_TOOL.get(call.name, call.name)} {_format_arguments(call)}"
                results.append(f"Result of {call_line}:\n{message.text}")
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
    """Return the ids or the query of a call as text. Malformed arguments stay as they are."""
    arguments = _parse_object(call.arguments) or {}
    ids, query = arguments.get("section_ids"), arguments.get("query")
    if isinstance(ids, list):
        return " ".join(str(section_id) for section_id in ids)
    return query if isinstance(query, str) else call.arguments
