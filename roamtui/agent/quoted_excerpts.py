"""Render the excerpt of a search hit as the indented lines that a model reads."""

from __future__ import annotations

import re
from collections.abc import Sequence

from roamtui.document.library import Library
from roamtui.document.node import Span
from roamtui.outline.id_marks import insert_marks, list_id_marks
from roamtui.outline.labels import escape
from roamtui.search.units import UnitKind, find_units

_GAP = "[…]"
_LINE_START, _LINE_END = re.compile(r"(?:\A|\n)[^\w\n]*\Z"), re.compile(r"[^\w\n]*(?:\n|\Z)")
_LINK = re.compile(
    r"!?\[(?P<words>(?:[^\[\]\n]|\[[^\[\]\n]*\])*)\]"
    r"\((?P<target>[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s+\"[^\"\n]*\")?\)"
)
_ID_SIGN = "\ufdd0"
"""Replaces the brackets of an id mark while links are removed. A noncharacter, which no text needs."""
_MARKED_ID = re.compile(r"\[([0-9a-f]{8})\]")
_SIGNED_ID = re.compile(rf"{_ID_SIGN}([0-9a-f]{{8}})")
_INDENT = "    "


def has_text(library: Library, span: Span) -> bool:
    """Return whether a span contains text other than headings."""
    return any(unit.kind is not UnitKind.HEADING for unit in find_units(library.clean_text(span)))


def quote_spans(library: Library, section_id: str, spans: Sequence[Span]) -> list[str]:
    """Return the lines of an excerpt.

    The lines are indented, so that they cannot be mistaken for lines of the list of sections. Omissions are marked, and
    of a link, only the words are shown.
    """
    if not spans:
        return []
    own = library.get_own_content_span(section_id)
    text = ""
    position = min(own.start, spans[0].start)
    end = max(own.end, spans[-1].end)
    for span in (*spans, Span(doc=own.doc, start=end, end=end)):
        gap = Span(doc=own.doc, start=position, end=span.start)
        if has_text(library, gap):
            left_out = library.clean_text(gap)
            before = "\n" if _LINE_END.match(left_out) else " "  # an omission inside a line is marked in that line
            is_mid_line = not _LINE_START.search(left_out) and (not text or before == "\n" or "\n" not in left_out)
            after = " " if is_mid_line else "\n"
            text += f"{before if text else ''}{_GAP}{after}"
        elif text:
            text += "\n"
        marks = {at: _MARKED_ID.sub(rf"{_ID_SIGN}\1", mark) for at, mark in list_id_marks(library, span).items()}
        text += _LINK.sub(r"\g<words>", insert_marks(library.clean_text(span).replace(_ID_SIGN, " "), marks))
        position = span.end
    quoted = []
    for line in filter(str.strip, text.splitlines()):
        indent = line[: len(line) - len(line.lstrip())]  # indentation matters in code
        quoted.append(_INDENT + indent + _SIGNED_ID.sub(r"[\1]", escape(line)))
    return quoted
