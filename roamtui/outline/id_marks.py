"""Put ids into the text that a model reads, after the lines of headings and links.

An id never stands inside a sentence, where a model would have to leave it out of a quote.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping

from roamtui.document.library import Library
from roamtui.document.node import NodeKind, Span
from roamtui.outline.structure import get_canonical_id

_LINE_END = re.compile(r"[ \t]*(?:[\r\n]|\Z)")
_ID_MARK = re.compile(r"(?<=\S) ?\[[0-9a-f]{8}\]")
_LONG_URL = re.compile(r"(?<=\]\()[^()\s]{121,}(?=[)\s])|(?<=<)https?://[^<>\s]{113,}(?=>)")
_URL_LENGTH_SHOWN = 60


def annotate_with_ids(library: Library, span: Span, *, section_id: str | None = None) -> str:
    """Render the text of a span as a model reads it, with ids after headings and links, except `section_id`."""
    text = insert_marks(library.clean_text(span).rstrip(), list_id_marks(library, span, skipped_id=section_id))
    return _LONG_URL.sub(lambda match: f"{match.group()[:_URL_LENGTH_SHOWN]}…", text)


def list_id_marks(library: Library, span: Span, *, skipped_id: str | None = None) -> dict[int, str]:
    """Return the marks to insert into the text of a span, by their offset in it: at the ends of headings and links."""
    document = library.document(span.doc)
    starts, kinds = document.columns.starts, document.columns.kinds
    marks: dict[int, str] = {}
    for row in range(bisect_left(starts, span.start, hi=len(kinds)), len(kinds)):
        if starts[row] >= span.end:
            break
        node_id = get_canonical_id(library, document.ids[row])
        line_end = _LINE_END.search(document.text[starts[row] : min(span.end, starts[row + 1])])
        if line_end is not None and kinds[row] in (NodeKind.SECTION, NodeKind.LINK) and node_id != skipped_id:
            offset = starts[row] + line_end.start() - span.start
            marks[offset] = f"{marks.get(offset, '')} [{node_id}]"
    return marks


def insert_marks(text: str, marks: Mapping[int, str]) -> str:
    """Insert marks into a text at their offsets."""
    parts = []
    position = 0
    for offset in sorted(marks):
        parts += [text[position:offset], marks[offset]]
        position = offset
    return "".join([*parts, text[position:]])


def strip_ids(quote: str) -> str:
    """Remove the ids that a model copied with a quote."""
    return _ID_MARK.sub("", quote)
