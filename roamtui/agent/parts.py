"""Find the sources that a question asks about one by one: "What do the lease and the act each say about notice?"."""

from __future__ import annotations

import re
from dataclasses import dataclass

from roamtui.conversation.state import Exchange
from roamtui.document.library import Library
from roamtui.document.node import NodeKind
from roamtui.document.plain import sanitise_line
from roamtui.sources.file_sources import split_sources

_EACH = re.compile(r"\b(each|both|respectively|jeweils|beide[nrs]?|chacune?s?|cada|ambos)\b", re.IGNORECASE)
"""Words that ask about several things one by one. Without one, a question that names two sources may compare them."""
_ENDING = re.compile(r"\.\w{1,8}\Z")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcePart:
    """Something that a question can be limited to: a source, or a file or folder at the top of the only source."""

    section_id: str
    title: str


def list_parts(library: Library) -> tuple[SourcePart, ...]:
    """List the parts of a library that a question can be limited to, in order; empty if there are fewer than two."""
    unmuted = library.unmuted
    if not unmuted.root.columns.has_files:
        return ()
    tops = unmuted.children(unmuted.root_id)
    while len(tops) == 1 and unmuted.get_label(tops[0]).kind is NodeKind.FOLDER:
        tops = unmuted.children(tops[0])
    parts = tuple(SourcePart(section_id=top, title=sanitise_line(unmuted.title_of(top))) for top in tops)
    return parts if len(parts) > 1 else ()


def list_named_parts(question: str, library: Library) -> tuple[SourcePart, ...]:
    """List the parts of a library that a question asks about one by one. Usually, there are none.

    The library must have several sources. The question must contain a word such as "each", and name at least two parts
    by their titles or the titles of their documents.
    """
    has_several = library.sources or len(split_sources(library.source)) > 1
    if not has_several or not _EACH.search(question):
        return ()
    words = _fold(question)
    named = []
    for part in list_parts(library):
        file = library.loaded_document(part.section_id)
        names = (_ENDING.sub("", part.title), file.title if file is not None else "")
        if any(_fold(name) in words for name in names if name.strip()):
            named.append(part)
    return tuple(named) if len(named) > 1 else ()


def list_last_parts(exchanges: tuple[Exchange, ...], library: Library) -> tuple[tuple[SourcePart, Exchange], ...]:
    """If the last exchanges ask several parts one question, list the parts with their exchanges, else nothing."""
    parts_by_id = {part.section_id: part for part in list_parts(library)}
    asked_parts: list[tuple[SourcePart, Exchange]] = []
    for exchange in reversed(exchanges):
        part = parts_by_id.pop(exchange.within or "", None)
        if part is None or (asked_parts and exchange.question != asked_parts[0][1].question):
            break
        asked_parts.append((part, exchange))
    return tuple(reversed(asked_parts)) if len(asked_parts) > 1 else ()


def _fold(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.casefold().replace('_', ' ')))} "
