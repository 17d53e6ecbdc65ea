"""Tool calls as text: find calls that a model writes, and write the calls of a model without tools."""

import json
import re
from collections.abc import Collection
from contextlib import suppress

from roamtui.conversation.messages import Message, Role, ToolCall
from roamtui.conversation.not_found import is_not_found
from roamtui.models.base import ModelRequest
from roamtui.models.tool_spec import EXPAND_TOOL
from roamtui.outline.ids import WORD, has_only_ids, list_ids

READ_START = "READ:"
"""How a model without tools begins the line with the ids of the sections that it wants to read."""
_NO_TOOLS = "You have no tools here: answer from the texts and excerpts in these messages."
_READ_REQUEST = (
    f"If they do not answer the question, reply with one line and nothing else: {READ_START} and the ids of "
    "the sections that you want to read"
)
"""Added for a model without tools. `parse_calls` reads its reply."""
_READ = re.compile(r"^[^\w\n]*(?:READ\b|(?i:read:))", re.MULTILINE)
_NUMBERS = re.compile(r"[^A-Za-z\[]*")
"""Numbers without a letter or bracket are not ids."""
CODE_BLOCK = re.compile(
    r"^[ ]{0,3}(?P<mark>```+|~~~+)[^\n]*\n(?P<code>.*?)(?:^[ ]{0,3}(?P=mark)|\Z)", re.DOTALL | re.MULTILINE
)
_CITATION = re.compile(rf"[\w\"”»`.,;)]\s+\[{WORD}")
_BARE_ID = re.compile(rf"(?<!\[){WORD}")
_ARGUMENT = re.compile(
    r"(?<![/\w])(?P<key>section_ids?|quer(?:y|ies)|within|offset)(?:\\?[\"']\s*[:>]|\s*=|>|</arg_key>)"
    r"(?:[\s\"'\\]|<arg_value>)*(?P<value>\[[^\]]*\]|[^\"'<>\n\\]*)"
)
"""An argument of a tool, as a keyword, in tags, or in JSON that cannot be read."""
_NO_ARGUMENTS = re.compile(r"\s*(?:(?P<empty>\(\s*\))(?=\s*[<\]}`]|[^\w\n]*(?:\n|\Z))|\})")
"""What follows a tool that is called without arguments: the end of JSON, or empty brackets at the end of a
line or before a closing mark."""
_CALL_LINE = re.compile(r"\s*(?:[<{\[`].*|\"\w+\":\s*)?")
"""What may be on a line before the name of a tool that is called: a mark, or a key of JSON."""
_ARGUMENTS_AHEAD = 80
"""Maximum number of characters between the name of a tool and its arguments."""
_DECODER = json.JSONDecoder(strict=False)


def parse_calls(text: str, names: Collection[str]) -> tuple[ToolCall, ...]:
    """Find the calls in a whole reply. They have no ids.

    A reply that has only ids, and perhaps the name of the tool, asks for these sections. So do lines with
    `READ_START` and only ids at the end of a reply that has no ids before. Elsewhere, the name of a tool is a
    call if its arguments follow, but not in quotes or in inline code. Before empty brackets, and in a reply
    with citations, it must begin a line, perhaps after a mark or a key. In such a reply, it must not be in a
    block of code that has more than a call.
    """
    read = _READ.search(text)
    start = 0 if read is None else read.start()
    is_ids = has_only_ids(_READ.sub("", text[start:]).replace(EXPAND_TOOL, "")) and not _NUMBERS.fullmatch(
        text
    )
    if EXPAND_TOOL in names and is_ids and not list_ids(text[:start]):
        return (_make_call(EXPAND_TOOL, {"section_ids": list_ids(text)}),)
    if not names or is_not_found(text):
        return ()  # an answer, which may mention a tool
    pattern = re.compile(rf"(?<!\w)(?P<quote>\"?)(?:\w+\.)?(?P<name>{'|'.join(names)})(?!\w)(?P=quote)")
    is_answer = has_citation(text)
    if is_answer:
        code_start = re.compile(rf"\s*(?:[<{{\[]|{pattern.pattern})")
        text = CODE_BLOCK.sub(lambda fence: fence[0] if code_start.match(fence["code"]) else "", text)
    calls: list[ToolCall] = []
    found = [*pattern.finditer(text)]
    ends = [*(match.start() for match in found[1:]), len(text)]
    read_to = 0
    for name, end in zip(found, ends, strict=False):
        if name.start() < read_to:
            continue  # in the arguments of a call
        arguments, read_to = _read_arguments(text, name.end(), end)
        before = text[text.rfind("\n", 0, name.start()) + 1 : name.start()]
        nothing = _NO_ARGUMENTS.match(text, name.end())
        must_begin_line = is_answer or (nothing is not None and nothing["empty"])
        is_explained = is_quoted(before) or (must_begin_line and not _CALL_LINE.fullmatch(before))
        if arguments is not None and not is_explained:
            calls.append(_make_call(name["name"], arguments))
    return tuple(calls)


def has_citation(text: str) -> bool:
    """Return whether a reply has a citation. Then it is an answer, which may explain a call."""
    return _CITATION.search(text) is not None


def is_quoted(before: str) -> bool:
    """Return whether inline code or a quote is open at the end of `before`, the start of a line."""
    is_code = before.replace("```", "").count("`") % 2 == 1
    return is_code or before.count('"') % 2 == 1 or before.rfind("“") > before.rfind("”")


def _read_arguments(text: str, start: int, end: int) -> tuple[object, int]:
    """Return the arguments between a tool's name and the next name, or None, and where they end."""
    if nothing := _NO_ARGUMENTS.match(text, start, end):
        return {}, nothing.end()
    head = text[start : min(start + _ARGUMENTS_AHEAD, end)]
    brace = head.find("{")
    if brace > 0 and head[brace - 1] == '"':  # an object in a string
        brace -= 1
    with suppress(ValueError, RecursionError):
        value, value_end = _DECODER.raw_decode(text, start + brace) if brace >= 0 else (None, start)
        if isinstance(value, dict | str):
            return value, value_end
    if _ARGUMENT.search(head):
        pairs = _ARGUMENT.finditer(text, start, end)
        return {pair["key"]: _parse_value(pair["value"]) for pair in pairs}, end
    with suppress(ValueError, RecursionError):
        value, value_end = _DECODER.raw_decode(text, start + head.index("["))
        return {"_raw": value}, value_end  # each tool knows what its list is
    ids = _BARE_ID.search(head)
    return ({"section_ids": list_ids(text[start:end], ids.start())} if ids else None), start


def remove_tools(request: ModelRequest) -> ModelRequest:
    """Remove tools from a request, and write earlier calls as text, so that the model sees what it has read.

    Only calls that open sections are kept. Messages alternate between user and assistant, because
    many chat templates demand it.
    """
    advice = f"{_NO_TOOLS} {_READ_REQUEST}" if request.tools and request.allows_calls else _NO_TOOLS
    messages: list[Message] = []
    opening_ids: set[str] = set()
    for message in request.messages:
        opening = [call for call in message.tool_calls if call.name == EXPAND_TOOL]
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


def _parse_value(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text.strip()


def _make_call(name: str, arguments: object) -> ToolCall:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return ToolCall(id="", name=name, arguments=text)
