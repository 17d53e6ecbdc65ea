"""What every tool is: a specification, and a run from arguments to text and events."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from roamtui.conversation.events import ConversationEvent, ToolFinished
from roamtui.conversation.session import Session
from roamtui.document.library import Library
from roamtui.document.node import Span
from roamtui.models.base import ToolSpec
from roamtui.outline.structure import resolve_name
from roamtui.search.base import Searcher

_ID = re.compile(r"(?<![0-9A-Za-z])[0-9a-fA-F]{8}(?::[\dc.]+)?(?![0-9A-Za-z])")
"""An id as models write it, with the number of a page or a range."""
_SEPARATOR = re.compile(r"[,;\n]")
_AROUND = re.compile(r"\A[\s\[\]{}()\"'`:]++|(?<![\s\[\]{}()\"'`:])[\s\[\]{}()\"'`:]++\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """What a tool works on."""

    session: Session
    searcher: Searcher | None
    room_tokens: int
    """Estimated tokens of section text that this call may deliver."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutcome:
    """What a call gives."""

    text: str
    """What the model reads."""
    finished: ToolFinished
    events: tuple[ConversationEvent, ...] = ()
    """What happened meanwhile, in order."""
    excerpts: tuple[Span, ...] = ()
    """What of the library the text shows without delivering it."""


class Tool(Protocol):
    """Something that a model can call."""

    @property
    def spec(self) -> ToolSpec:
        """How the model is told of it."""
        ...

    async def run(self, arguments: Mapping[str, object], context: ToolContext) -> ToolOutcome:
        """Carry out a call. Arguments may be anything that JSON can say."""
        ...


def parse_tool_arguments(text: str) -> Mapping[str, object]:
    """Return the arguments of a call; what is no JSON object is kept whole under the key ``_raw``."""
    try:
        value = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {"_raw": text}
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {"_raw": value}
    return value if isinstance(value, dict) else {"_raw": value}


def parse_section_ids(arguments: Mapping[str, object], library: Library) -> tuple[str, ...]:
    """Return the ids that a model asks for, in order: from a list, a string of them, or broken JSON.

    A path or a title that names one section becomes its id. Words around an id are left out; what holds neither is
    returned too, to be answered for itself.
    """
    for key in ("section_ids", "section_id", "ids", "id", "_raw"):
        value = arguments.get(key)
        if isinstance(value, str | list | dict):
            return tuple(_extract_ids(value, library))
    return tuple(found for found in _extract_ids([*arguments.values()], library) if _ID.fullmatch(found))


def parse_number(value: object, *, default: int, low: int, high: int) -> int:
    """Return a number that a model gives in any form, kept within limits; `default` where it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return default
    try:
        return max(low, min(high, int(value)))
    except (ValueError, OverflowError):
        return default


def _flatten(value: object) -> Iterator[str]:
    """Yield every word that a nested value holds, so that each is answered for itself."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, list):
            pending.extend(reversed(item))
        elif isinstance(item, dict):
            pending.extend(reversed(item.values()))
        elif item is not None and str(item).strip():
            yield str(item).strip()


def _extract_ids(value: object, library: Library) -> Iterator[str]:
    for text in _flatten(value):
        found = _ID.findall(text)
        if found:
            yield from found
        elif (named := resolve_name(library, _AROUND.sub("", text))) is not None:
            yield named
        else:
            parts = filter(None, (_AROUND.sub("", part) for part in _SEPARATOR.split(text)))
            yield from (resolve_name(library, part) or part for part in parts)
