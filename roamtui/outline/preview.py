"""What a line of the outline adds to a title: the titles below it, or first words where the title says little alone.

Titles below decide most (measured over 220 pages); words that neighbours say too tell nothing apart, so they come last.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from roamtui.document.library import Library
from roamtui.document.lines import normalise_line_ends
from roamtui.document.node import Heading, Node, NodeKind
from roamtui.document.plain import plain_line, shorten
from roamtui.outline.labels import escape, find_opening, has_own_text, name_node
from roamtui.outline.structure import list_headings_below

_PLACES = (NodeKind.FILE, NodeKind.FOLDER)
_TITLES_MAX = 60
_TITLE_LENGTH = 60
_SHARED_MIN = 2
"""Neighbours that must have a title below them before it tells none of them apart."""
NOTE_LENGTH = 160
_NOTE_SOURCE = 2_000
_GENERIC = frozenset(
    {
        *("about", "advanced", "appendix", "background", "basics", "changes", "conclusion", "configuration"),
        *("contents", "details", "description", "discussion", "example", "examples", "exceptions", "faq", "features"),
        *("further", "general", "getting-started", "guide", "help", "info", "information", "introduction", "intro"),
        *("miscellaneous", "misc", "more", "next-steps", "note", "notes", "options", "other", "other-changes"),
        *("overview", "parameters", "preface", "questions", "reading", "reference", "references", "related"),
        *("remarks", "requirements", "resources", "returns", "see-also", "setup", "summary", "synopsis", "terms"),
        *("tips", "usage", "whats-new"),
    }
)
LIMITING = re.compile(
    r"(?i)\b(?:but not|caveats?|exceptions?|exclusions?|except|limits?|limitations?|restrictions?"
    r"|unless|warnings?|ausnahmen?|grenzen|einschränkungen)\b"
)
"""Titles of sections that limit what stands beside them: an answer without them is wrong."""
_OPENING_SOURCE = 600
_OPENING_LENGTH = 80
"""Characters."""
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[^\W\d_a-z])")
_DEFINES = re.compile(r"^(?:An?|The|[A-Z`\"]\S*)(?:\s+\S+){0,5}?\s+(?:is|are|means|refers to|defines|denotes)\s")
_NO_LETTER = re.compile(r"[^\w\s]|[\d_]")
_ENUMERATOR = re.compile(r"(?:[ivxlcdm]+|[a-z])\Z")
_MARKER = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s+(?:\[[ xX]\]\s+)?")
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)")
_ADDRESS = re.compile(r"<?https?://[^\s>]+>?")
_MARKS = re.compile(r"\*\*|__|`")
_BETWEEN = " \t:\uff1a-\u2013\u2014|>\u2192,;."


def is_generic(title: str) -> bool:
    """Return whether a title says nothing about its content, as "FAQ", "2.1" and "Other changes" do."""
    words = " ".join(_NO_LETTER.sub("", title.lower()).split())
    return not words or words.replace(" ", "-") in _GENERIC or _ENUMERATOR.match(words) is not None


def find_shared_titles(library: Library, section_ids: Sequence[str]) -> frozenset[str]:
    """Return the titles that stand below several of these nodes, in small letters."""
    counts: Counter[str] = Counter()
    for section_id in section_ids:
        headings, _ = list_headings_below(library, section_id, _TITLES_MAX)
        counts.update({heading.title.casefold() for heading in headings})
    return frozenset(title for title, count in counts.items() if count >= _SHARED_MIN)


def name_briefly(heading: Heading, *, length_max: int) -> str:
    """Return the title of a node; of a file its name without the ending, by which it can be opened too."""
    name = name_node(heading, length_max=length_max)
    return name.rpartition(".")[0] or name if heading.kind is NodeKind.FILE else name


def preview_below(library: Library, node: Node, *, length_max: int, shared: frozenset[str] = frozenset()) -> str:
    """Return the titles below a node on one line, those that tell it from its neighbours first, and how many more.

    Args:
        library: Holds the node.
        node: Has others below it, none of which has a line of its own.
        length_max: Characters; whole titles are left out past it.
        shared: Titles that stand below its neighbours too, as `find_shared_titles` gives them.
    """
    headings, count = list_headings_below(library, node.id, _TITLES_MAX)
    named = [one for one in headings if one.title and (one.has_more or has_own_text(library, one.id))]
    said = [
        (one.title.casefold() in shared or is_generic(one.title)) and not LIMITING.search(one.title) for one in named
    ]
    telling = [one for one, is_said in zip(named, said, strict=True) if one.kind in _PLACES or not is_said]
    kept: list[str] = []
    length = 0
    for heading in telling or named:
        title = name_briefly(heading, length_max=_TITLE_LENGTH)
        if title in kept:
            count -= 1
            continue
        length += len(title) + 2
        if kept and length > length_max:
            break
        kept.append(shorten(title, max(20, length_max)))
    return "; ".join([*kept, *([f"+{count - len(kept)}"] if kept and count > len(kept) else [])])


def preview_opening(library: Library, node: Node, *, length_max: int = _OPENING_LENGTH) -> str:
    """Return the first sentence of a node that defines something, else its first words; of a link what stands by it."""
    if node.kind is NodeKind.LINK and not node.is_loaded:
        return find_note(library, node.id, length_max=length_max)
    opening = find_opening(library, node.id, length_max=_OPENING_SOURCE)
    sentences = _SENTENCE_END.split(opening)
    definition = next((sentence for sentence in sentences if _DEFINES.search(sentence)), opening)
    return shorten(definition, length_max)


def find_note(library: Library, section_id: str, *, length_max: int = NOTE_LENGTH) -> str:
    """Return what the list item of a link says besides the link, on one line; may be empty."""
    document, row = library.locate(section_id)
    starts = document.columns.starts
    start = starts[row]
    end = next((one for one in starts[row + 1 :] if one > start), start)
    item = normalise_line_ends(document.text[start : min(end, start + _NOTE_SOURCE)])
    item = _MARKER.sub("", item, count=1).strip().partition("\n\n")[0]
    title = plain_line(document.columns.titles[row])
    words = plain_line(_MARKS.sub("", _ADDRESS.sub("", _LINK.sub(r"\1", item))))
    note = words.removeprefix(_MARKS.sub("", title)).strip(_BETWEEN)
    return shorten(escape(note), length_max)
