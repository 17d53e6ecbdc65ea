"""The interface of the model's tools, each in its own file, and parsers for the arguments that models write.

A tool answers a bad argument with an explanation, never an error.
"""

import json
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping

from msgspec import Struct

from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import ToolFinished, ToolUse
from roamtui.document.library import Library
from roamtui.models.tool_spec import ToolSpec
from roamtui.outline.ids import list_ids
from roamtui.outline.references import resolve_name
from roamtui.retrieval import policy
from roamtui.search.searcher import Searcher
from roamtui.text import Span

_ID_KEYS = ("section_ids", "section_id", "ids", "id", "_raw")
_UNKNOWN_LENGTH_MAX = 200
"""Maximum number of characters to keep of a name that no section has, because several events repeat it."""
_SEPARATOR = re.compile(r"[,;\n]")
_BRACKETS_AROUND = re.compile(r"\A[\s\[\]{}()\"'`:]++|(?<![\s\[\]{}()\"'`:])[\s\[\]{}()\"'`:]++\Z")


class ToolContext(Struct, frozen=True, kw_only=True):
    """The conversation that a tool works on, and the limits of one call."""

    conversation: Conversation
    searcher: Searcher | None
    room_tokens: int
    """Maximum number of estimated tokens of section text that this call may deliver."""
    earlier: tuple[ToolUse, ...] = ()
    """Earlier calls of the same step."""
    excerpt_tokens: int = policy.HITS_TOKENS_MAX
    """Maximum number of estimated tokens of excerpts that a search may deliver."""


class ToolResponse(Struct, frozen=True, kw_only=True):
    """The result of a call."""

    text: str
    """The result that the model reads."""
    event: ToolFinished = ToolFinished()
    """What front ends are told, without the name of the tool."""
    excerpts: tuple[Span, ...] = ()
    """Document text in the result, except for the text of opened sections."""
    named_words: tuple[Span, ...] = ()
    """See `ToolUse.named_words`."""
    is_refused: bool = False
    """Whether nothing was done, because an argument is missing or wrong. The text says which one."""


class Tool(Struct, frozen=True, kw_only=True):
    """A tool that the model can call."""

    spec: ToolSpec
    """The name, the description and the parameters that the model gets."""
    run: Callable[[Mapping[str, object], ToolContext], Awaitable[ToolResponse]]
    """Runs a call. Models may send any JSON as arguments."""


def parse_tool_arguments(text: str) -> Mapping[str, object]:
    """Parse the arguments of a call. Anything but a JSON object becomes the value of the key ``_raw``."""
    value: object = text or "{}"
    for _ in range(2):  # some models encode the object twice
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except (ValueError, RecursionError):
                return {"_raw": value}
    return value if isinstance(value, dict) else {"_raw": value}


def parse_section_ids(
    arguments: Mapping[str, object], library: Library, ids_max: int | None = None
) -> tuple[tuple[str, ...], int]:
    """Return the ids that a list, a string or broken JSON requests, and how many exceeded `ids_max`.

    A path or title that refers to exactly one section is replaced by its id. Other words around ids are
    ignored. Text without an id is split at separators. Its parts are returned without brackets, so that
    the tool can explain what is wrong with them. Names are looked up in the whole library, so call this
    in a thread.
    """
    named = [arguments[key] for key in _ID_KEYS if arguments.get(key)]
    requested: list[str] = []
    for text in _iter_texts(named[0] if named else [*arguments.values()]):
        if (section_id := _resolve_bracketed(library, text)) is not None:
            requested.append(section_id)
            continue
        has_ids = bool(list_ids(text))
        for part in _SEPARATOR.split(text):
            bare = _BRACKETS_AROUND.sub("", part)
            if part_ids := list_ids(bare):
                requested += part_ids
            elif bare and ((section_id := _resolve_bracketed(library, part)) is not None or not has_ids):
                requested.append(section_id or bare[:_UNKNOWN_LENGTH_MAX])
    opened = requested[:ids_max]
    return tuple(opened), len(requested) - len(opened)


def _resolve_bracketed(library: Library, text: str) -> str | None:
    """Return the section with a name, as it is written or without brackets and quotes around it, or None."""
    section_id = resolve_name(library, text)
    return section_id if section_id is not None else resolve_name(library, _BRACKETS_AROUND.sub("", text))


def _iter_texts(value: object) -> Iterator[str]:
    """Yield the values in nested lists and objects as texts, in order."""
    pending = [value]
    while pending:  # not recursive, because models can nest lists without end
        item = pending.pop()
        if isinstance(item, list):
            pending.extend(reversed(item))
        elif isinstance(item, dict):
            pending.extend(reversed(item.values()))
        elif item is not None and (text := str(item).strip()):
            yield text
