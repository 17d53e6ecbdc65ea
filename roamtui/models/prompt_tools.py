"""Tools for a model that has no tool calls: it is told of them in words, and answers in them."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field, replace

from roamtui.conversation.transcript import Message, Role, ToolCall
from roamtui.models.base import CallMade, ModelEvent, ModelStopped, Request, TextDelta, ToolSpec

TOOL_WORDS: Mapping[str, str] = {
    "expand_sections": "open",
    "search_sections": "search",
    "collapse_sections": "close",
}
"""The word after the backticks, by the name of the tool."""
_TOOLS = {word: tool for tool, word in TOOL_WORDS.items()} | {tool: tool for tool in TOOL_WORDS}
_SEARCH = "search_sections"
_CALL = re.compile(rf"[ \t`]*({'|'.join(TOOL_WORDS)})\((.*)\)[ \t`;]*", re.DOTALL)
_CALL_STARTS = tuple(f"{tool}(" for tool in TOOL_WORDS)
_QUERY = re.compile(r"\"([^\"]*)\"|'([^']*)'")
_OPENING = re.compile(rf"[ \t]*`{{3,}}[ \t]*({'|'.join(_TOOLS)})(?:[ \t]+(.*))?[ \t]*", re.IGNORECASE)
_TICKS = "```"
_SEPARATORS = re.compile(r"[\s\[\]{}(),;\"'`*]+")
_ENDS_OF_WORDS = ".:-#"
_LIKE_AN_ID = re.compile(r"[0-9a-f]{8}|\w*\d\w*(?::[\w.]+)?|[0-9a-f]{8}:[\w.]+", re.IGNORECASE)
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
_REFUSAL = re.compile(
    r"(?:not support|unsupported)[^.]{0,30}\b(?:tool|function)"
    r"|\b(?:tool|function)[^.]{0,30}(?:not|n't) (?:be )?(?:support|enabl|available)"
    r"|requires --enable-auto-tool-choice",
    re.IGNORECASE,
)


def write_fence(call: ToolCall) -> str:
    """Return a call as a fenced block, a tool without a word of its own by its name."""
    return f"```{TOOL_WORDS.get(call.name, call.name)}\n{describe_arguments(call)}\n```"


def describe_arguments(call: ToolCall) -> str:
    """Return what a call asks for: ids or a query; arguments that make no sense as they are."""
    arguments = _read_object(call.arguments) or {}
    ids, query = arguments.get("section_ids"), arguments.get("query")
    if isinstance(ids, list):
        return " ".join(str(section_id) for section_id in ids)
    return query if isinstance(query, str) else call.arguments


@dataclass(slots=True)
class FenceReader:
    """Takes a reply piece by piece: lets text through, and keeps back the fenced blocks that are calls.

    Text after the first of them is dropped: what a model writes there are results that it made up.
    """

    wishes: list[tuple[str, Mapping[str, object]]] = field(default_factory=list)
    """The calls so far, in order: tool and arguments."""
    _pending: str = ""
    """The end of the text, which may be the beginning of a block."""
    _blank: str = ""
    """White space that goes with the text after it, if any comes."""
    _is_mid_line: bool = False
    _word: str = ""
    """The word of the block that is open, empty outside."""
    _body: list[str] = field(default_factory=list)

    def feed(self, piece: str) -> str:
        """Take a piece and return the text that can be shown now."""
        self._pending += piece
        *lines, self._pending = self._pending.split("\n")
        shown = "".join(self._take_line(line, "\n") for line in lines)
        if self._pending and not self._word and not self._may_open():
            shown += self._let_through(self._pending)
            self._pending, self._is_mid_line = "", True
        return shown

    def finish(self) -> str:
        """Take the end of the reply, which ends an open block too, and return the rest of the text."""
        shown = self._take_line(self._pending, "") if self._pending else ""
        self._pending = ""
        if self._word:
            self._close()
        return shown

    def _take_line(self, line: str, end: str) -> str:
        is_mid_line, self._is_mid_line = self._is_mid_line, False
        opening = None if is_mid_line else _OPENING.fullmatch(line)
        call = None if is_mid_line or self._word else _CALL.fullmatch(line)
        if call is not None:
            self._word, self._body = call[1], [_read_call(call[1], call[2])]
            self._close()
        elif opening is not None:
            if self._word:
                self._close()
            self._word = opening[1].lower()
            if opening[2]:
                self._take_body(opening[2])
        elif self._word:
            self._take_body(line)
        else:
            return self._let_through(line + end)
        return ""

    def _take_body(self, line: str) -> None:
        text = line.strip()
        is_closed = text.endswith(_TICKS) or text.startswith(_TICKS)
        if not text.startswith(_TICKS):
            self._body.append(text.strip("` "))
        if is_closed:
            self._close()

    def _close(self) -> None:
        tool, body = _TOOLS[self._word], self._body
        arguments = _read_object("\n".join(body))
        if arguments is not None:
            self.wishes.append((tool, arguments))
        elif tool == _SEARCH:
            queries = [line for line in body if line] or [""]
            self.wishes += [(tool, {"query": query}) for query in queries]
        else:
            self.wishes.append((tool, {"section_ids": _find_ids(" ".join(body))}))
        self._word, self._body = "", []

    def _let_through(self, text: str) -> str:
        if self.wishes:
            return ""
        text = self._blank + text
        shown = text.rstrip()
        self._blank = text[len(shown) :]
        return shown

    def _may_open(self) -> bool:
        """Return whether the line that is not whole yet may become the first of a block."""
        start = self._pending.lstrip(" \t")
        is_call = any(start.startswith(call) or call.startswith(start) for call in _CALL_STARTS)
        return not self._is_mid_line and (is_call or start.startswith("`"))


def _read_call(tool: str, arguments: str) -> str:
    """Return what stands between the brackets of a call as the body of a block: of a search its query alone."""
    found = _QUERY.search(arguments) if tool == _SEARCH and _read_object(arguments) is None else None
    return arguments if found is None else found[1] or found[2] or ""


def _read_object(text: str) -> Mapping[str, object] | None:
    """Return the arguments of a call that is written as JSON."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _find_ids(text: str) -> list[str]:
    """Return the ids in a block, without titles that stand beside them; where none is like one, all words."""
    words = [word for found in _SEPARATORS.split(text) if (word := found.strip(_ENDS_OF_WORDS))]
    return [word for word in words if _LIKE_AN_ID.fullmatch(word)] or words


async def read_in_words(events: AsyncIterator[ModelEvent], request: Request) -> AsyncGenerator[ModelEvent, None]:
    """Yield the events of a reply to a translated request; its blocks come as calls before the end, never as text."""
    reader = FenceReader()
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


def refuses_tools(message: str) -> bool:
    """Return whether a server says that its model has no tool calls."""
    return _REFUSAL.search(message) is not None


def translate_request(request: Request) -> Request:
    """Return a request that says the same without tools. One that another begins with stays so."""
    return Request(messages=tuple(_translate_messages(request.messages, request.tools)))


def _finish(reader: FenceReader, request: Request, stopped: ModelStopped) -> Iterator[ModelEvent]:
    if rest := reader.finish():
        yield TextDelta(rest)
    for number, (tool, arguments) in enumerate(reader.wishes, start=1):
        call_id = f"text_{len(request.messages)}_{number}"
        yield CallMade(ToolCall(id=call_id, name=tool, arguments=json.dumps(arguments, ensure_ascii=False)))
    yield replace(stopped, reason="tool_calls") if reader.wishes else stopped


def _translate_messages(messages: tuple[Message, ...], tools: tuple[ToolSpec, ...]) -> Iterator[Message]:
    calls: dict[str, ToolCall] = {}
    results: list[str] = []
    for message in messages:
        if message.role is Role.TOOL:
            results.append(_write_result(calls[message.tool_call_id or ""], message.text))
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


def _write_result(call: ToolCall, text: str) -> str:
    return f"Result of {TOOL_WORDS.get(call.name, call.name)} {describe_arguments(call)}:\n{text}"


def _describe_tools(tools: tuple[ToolSpec, ...]) -> str:
    parts = [_RULES]
    for tool in tools:
        if tool.name in TOOL_WORDS:
            fence = f"```{TOOL_WORDS[tool.name]}\n{_EXAMPLES[tool.name]}\n```"
            parts.append(f"{tool.name}: {tool.description}\n{fence}")
    return "\n\n".join(parts)
