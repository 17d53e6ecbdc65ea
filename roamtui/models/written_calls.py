"""Find the tool calls that a model writes as text."""

import json
import re
from collections.abc import Collection
from contextlib import suppress

from roamtui.conversation.events import ToolCall
from roamtui.conversation.not_found import is_not_found
from roamtui.outline.ids import WORD

_FENCE = re.compile(
    r"^[ ]{0,3}(?P<mark>```+|~~~+)[^\n]*\n(?P<code>.*?)(?:^[ ]{0,3}(?P=mark)|\Z)", re.DOTALL | re.MULTILINE
)
_CODE_START = re.compile(r"\s*[<{\[]")
_CITATION = re.compile(rf"[\w\"”»`.,;)]\s+\[{WORD}")
_ARGUMENT = re.compile(
    r"\b(?P<key>section_ids?|quer(?:y|ies)|within|offset)(?:\\?[\"']\s*[:>]|\s*=|>|</arg_key>)"
    r"(?:[\s\"'\\]|<arg_value>)*(?P<value>\[[^\]]*\]|[^\"'<>\n\\]*)"
)
"""An argument of one of our tools, as a keyword, in tags, or in JSON that cannot be read."""
_ARGUMENTS_AHEAD = 80
"""Maximum number of characters between the name of a tool and its arguments."""
_DECODER = json.JSONDecoder(strict=False)


def find_calls(text: str, names: Collection[str]) -> tuple[ToolCall, ...]:
    """Find the calls in a whole reply. They have no ids.

    The name of a tool is a call if its arguments follow, except in quotes, in inline code, and, in a reply
    with citations, in a block of code that is more than a call.
    """
    if not names or is_not_found(text):
        return ()  # an answer, which may mention a tool
    pattern = re.compile(rf"(?<!\w)(?P<quote>\"?)(?:\w+\.)?(?P<name>{'|'.join(names)})(?!\w)(?P=quote)")
    if cites(text):
        text = _FENCE.sub(lambda fence: fence[0] if _is_call_code(fence["code"], pattern) else "", text)
    calls: list[ToolCall] = []
    found = [*pattern.finditer(text)]
    ends = [*(match.start() for match in found[1:]), len(text)]
    for name, end in zip(found, ends, strict=False):
        arguments = _read_arguments(text[name.end() : end])
        before = text[text.rfind("\n", 0, name.start()) + 1 : name.start()]
        if arguments is not None and not is_quoted(before):
            calls.append(_make_call(name["name"], arguments))
    return tuple(calls)


def cites(text: str) -> bool:
    """Return whether a reply has a citation. Then it is an answer, which may explain a call."""
    return _CITATION.search(text) is not None


def is_quoted(before: str) -> bool:
    """Return whether inline code or a quote is open at the end of a line's start."""
    is_code = before.replace("```", "").count("`") % 2 == 1
    return is_code or before.count('"') % 2 == 1 or before.rfind("“") > before.rfind("”")


def _is_call_code(code: str, names: re.Pattern[str]) -> bool:
    return _CODE_START.match(code) is not None or names.match(code.lstrip()) is not None


def _read_arguments(text: str) -> object:
    """Return the arguments at the start of the text after a tool's name, or None if there are none."""
    head = text[:_ARGUMENTS_AHEAD]
    start = head.find("{")
    if start > 0 and head[start - 1] == '"':  # an object in a string
        start -= 1
    with suppress(ValueError, RecursionError):
        value = _DECODER.raw_decode(text, start)[0] if start >= 0 else None
        if isinstance(value, dict | str):
            return value
    if _ARGUMENT.search(head):
        return {pair["key"]: _parse_value(pair["value"]) for pair in _ARGUMENT.finditer(text)}
    with suppress(ValueError, RecursionError):
        value = _DECODER.raw_decode(text, head.index("["))[0]
        return {"_raw": value}  # each tool knows what its list is
    return None


def _parse_value(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text.strip()


def _make_call(name: str, arguments: object) -> ToolCall:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return ToolCall(id="", name=name, arguments=text)
