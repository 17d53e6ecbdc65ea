"""Tool calls as text: parse those that a model writes, and write those that a model without tools made."""

import json
import re
from collections.abc import Collection, Iterator
from contextlib import suppress

from roamtui.conversation.events import Message, Role, ToolCall
from roamtui.conversation.not_found import is_not_found
from roamtui.models.base import ModelRequest
from roamtui.models.tool_spec import READ_TOOL
from roamtui.outline.ids import WORD, has_only_ids, list_ids

READ_START = "READ:"
"""How a model without tools begins the line with the ids of the sections that it wants to read."""
_NO_TOOLS = "You have no tools here: answer from the texts and excerpts in these messages."
_READ_REQUEST = (
    f"If they do not answer the question, reply with one line and nothing else: {READ_START} and the ids of "
    f"the sections that you want to read, such as {READ_START} a8a96034, b9e8ef5c"
)
"""Added for a model without tools. `parse_calls` reads its reply."""
_READ_LINE = re.compile(rf"\s*{READ_START}(?P<ids>[^\n]*)", re.IGNORECASE)
_READ_IDS = re.compile(rf"(?:^[ \t>*`#-]*READ\b|\bREAD:)[\W_]*?(?={WORD})", re.MULTILINE)
"""A request to read in the middle of a reply, or with markup."""
_NUMBERS = re.compile(r"[^A-Za-z\[]*")
"""Numbers without a letter or bracket are not ids."""
_CITATION = re.compile(rf"[\w\"”»`.,;)]\s+\[{WORD}")
"""An answer with citations may explain a call."""
_NAME_KEYS = ("name", "function", "tool", "tool_name")
_ARGUMENT_KEYS = ("arguments", "parameters", "args")
_BETWEEN = re.compile(
    r"(?:[\s,;]|```\w*|</?tool_calls?>|</?function_call>|\[/?TOOL_CALLS\]|<\|(?:python_tag|call|im_end|tool_call)\|>)*",
    re.IGNORECASE,
)
"""What may stand around calls."""
_ARGUMENT = re.compile(
    r"\b(?P<key>section_ids?|query|within|limit|offset)\\?[\"']?\s*(?:[=:>]|</arg_key>)"
    r"(?:[\s\"'\\]|<arg_value>)*(?P<value>\[[^\]]*\]|[^\"'<>\n\\]*)"
)
"""An argument of one of our tools, as a keyword, in tags, or in JSON that cannot be read."""
_ARGUMENTS_AHEAD = 80
"""Maximum number of characters between the name of a tool and its arguments."""
_DECODER = json.JSONDecoder(strict=False)


def parse_calls(text: str) -> tuple[tuple[ToolCall, ...], str]:
    """Parse a line of ids, or calls in JSON, at the start of a text.

    Return the calls, without ids, and the text after them.
    """
    if read := _READ_LINE.match(text):
        ids = list_ids(read["ids"])
        named = ids if has_only_ids(read["ids"]) else [read["ids"].strip()]  # a title may have a number
        calls = (_make_call(READ_TOOL, {"section_ids": named}),) if ids else ()
        return calls, text[read.end() :]
    decoded_calls: list[ToolCall] = []
    position = _skip_between(text, 0)
    while position < len(text):
        try:
            value, end = _DECODER.raw_decode(text, position)
            decoded = [*_iter_calls(value)]
        except (ValueError, RecursionError):
            break
        if not decoded:
            break
        decoded_calls += decoded
        position = _skip_between(text, end)
    return tuple(decoded_calls), text[position:]


def find_calls(text: str, names: Collection[str]) -> tuple[ToolCall, ...]:
    """Find calls without a mark in a whole reply: a request to read, nothing but ids, or names of tools.

    A line that begins with `READ_START` may name a section by its title, as calls may.
    """
    read = _READ_IDS.search(text)
    if read is not None and _CITATION.search(text, 0, read.start()):
        read = None  # the answer before it only explains how to read
    ids = list_ids(text, read.end() if read is not None else 0)
    line = text.strip()
    named = line.removeprefix(READ_START).strip()
    is_line = line.startswith(READ_START) and "\n" not in line and not _CITATION.search(line)
    is_ids = has_only_ids(text) and not _NUMBERS.fullmatch(text)
    if READ_TOOL in names and (read is not None or is_line or is_ids):
        is_title = is_line and not has_only_ids(named)
        return (_make_call(READ_TOOL, {"section_ids": [named] if is_title else ids}),)
    if is_not_found(text) or _CITATION.search(text):
        return ()  # an answer, which may mention a tool
    return find_named_calls(text, names)


def find_named_calls(text: str, names: Collection[str]) -> tuple[ToolCall, ...]:
    """Find calls in any form: the name of a tool, followed soon by its arguments."""
    calls: list[ToolCall] = []
    found = [*re.finditer(rf"(?<!\w)(?:{'|'.join(names)})(?!\w)", text)] if names else []
    ends = [*(match.start() for match in found[1:]), len(text)]
    for name, end in zip(found, ends, strict=False):
        ahead = min(end, name.end() + _ARGUMENTS_AHEAD)
        arguments: object = None
        with suppress(ValueError, RecursionError):
            arguments = _DECODER.raw_decode(text, text.index("{", name.end(), ahead))[0]
        if not isinstance(arguments, dict) and _ARGUMENT.search(text, name.end(), ahead):
            pairs = _ARGUMENT.finditer(text, name.end(), end)
            arguments = {pair["key"]: _parse_value(pair["value"]) for pair in pairs}
        if isinstance(arguments, dict):
            calls.append(_make_call(name[0], arguments))
    return tuple(calls)


def remove_tools(request: ModelRequest) -> ModelRequest:
    """Remove tools from a request, and write earlier calls as text, so that the model sees what it has read.

    Of calls, only those that open sections are kept. Messages alternate between user and assistant, because
    many chat templates demand it.
    """
    advice = f"{_NO_TOOLS} {_READ_REQUEST}" if request.tools and request.allow_calls else _NO_TOOLS
    messages: list[Message] = []
    opening_ids: set[str] = set()
    for message in request.messages:
        opening = [call for call in message.tool_calls if call.name == READ_TOOL]
        opening_ids.update(call.id for call in opening)
        text = message.text
        role = message.role
        if role is Role.SYSTEM:
            text = f"{text}\n\n{advice}"
        elif role is Role.TOOL:
            text = text if message.tool_call_id in opening_ids else ""
            role = Role.USER
        elif message.tool_calls:
            ids = (list_ids(call.arguments) for call in opening)
            text = "\n".join(f"{READ_START} {', '.join(each)}" for each in ids)
        if text and messages and messages[-1].role is role:
            messages[-1] = Message(role=role, text=f"{messages[-1].text}\n\n{text}")
        elif text:
            messages.append(Message(role=role, text=text))
    return ModelRequest(messages=tuple(messages))


def split_arguments(arguments: str) -> list[str]:
    """Split arguments that a server joined to one text, such as ``{}{"id": 1}``. Empty objects are left out.

    Anything else is returned as it is.
    """
    values: list[object] = []
    rest = arguments.strip()
    while rest.startswith("{"):
        try:
            value, end = _DECODER.raw_decode(rest)
        except (ValueError, RecursionError):
            return [arguments]
        values.append(value)
        rest = rest[end:].lstrip()
    if rest or len(values) <= 1:
        return [arguments]
    return [json.dumps(value, ensure_ascii=False) for value in values if value] or ["{}"]


def _skip_between(text: str, position: int) -> int:
    match = _BETWEEN.match(text, position)
    return match.end() if match else position


def _iter_calls(value: object) -> Iterator[ToolCall]:
    """Yield the calls in a JSON value: one object, a list, or a wrapper around these."""
    if isinstance(value, list):
        for item in value:
            yield from _iter_calls(item)
    elif isinstance(value, dict):
        inner = value.get("tool_calls") or value.get("tool_call") or value.get("function")
        if isinstance(inner, list | dict):
            yield from _iter_calls(inner)
            return
        name = next((value[key] for key in _NAME_KEYS if isinstance(value.get(key), str)), "")
        values = (value[key] for key in _ARGUMENT_KEYS if isinstance(value.get(key), dict | str))
        arguments = next(values, None)
        if name and arguments is not None:
            yield _make_call(name, arguments)


def _parse_value(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text.strip()


def _make_call(name: str, arguments: object) -> ToolCall:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return ToolCall(id="", name=name.rpartition(".")[2], arguments=text)
