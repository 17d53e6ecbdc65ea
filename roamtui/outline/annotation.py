"""Section text as a model reads it: the source, with ids added, long addresses shortened and repeats named.

Quotes are checked against the source itself, so nothing here may change words that somebody could quote.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from roamtui.document.library import Library
from roamtui.document.link_targets import SectionLink, resolve_link
from roamtui.document.node import NodeKind, Span
from roamtui.document.page_footers import blank_footers
from roamtui.outline.labels import MARKABLE_ID
from roamtui.outline.structure import find_canonical

_LINK = re.compile(
    r"(?<!!)\[(?:[^\[\]\n]|\[[^\[\]\n]*\])*\]"
    r"\((?P<target>[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s+\"[^\"\n]*\")?\)"
)
_CITED = re.compile(
    r"\b(?:[Ss]ection|SECTION|[Aa]rticle|ARTICLE|[Pp]aragraph|[Cc]lause)[Ss]?\s+(?P<number>\d+(?:\.\d+)*)(?!\w|\.\d)"
    r"(?:\([^()\n]{1,6}\))*+(?!\s*(?:\([^()\n]{1,6}\)\s*)*of\s(?!this\b))"  # another text's
    r"(?![^\[\]\n]*\])"  # the words of a link
)
_LONG_ADDRESS = re.compile(r"(?<=\]\()[^()\s]{121,}(?=[)\s])|(?<=<)https?://[^<>\s]{113,}(?=>)")
_ADDRESS_KEPT = 60
_PARAGRAPH = re.compile(r"(?:[^\n]*\S[^\n]*(?:\n|\Z))+")
_REPEAT_LENGTH_MIN = 160
"""Characters of a paragraph that is named where it stands a second time."""
_REPEATED = "(repeats what stands above)\n"
_LINE_END = re.compile(r"[ \t]*(?:[\r\n]|\Z)")
_TITLED = (NodeKind.SECTION, NodeKind.LINK)


def annotate(library: Library, span: Span, *, section_id: str | None = None) -> str:
    """Return the text of a span as a model reads it.

    Args:
        library: Holds the text.
        span: What is delivered.
        section_id: The section that it is delivered for, whose id is said elsewhere.
    """
    marks = {offset: f" [{node_id}]" for offset, node_id in list_heading_ends(library, span) if node_id != section_id}
    text = blank_footers(library.document(span.doc).text, span.start, span.end).rstrip("\r\n")
    for offset, target in list_references(library, span):
        if target != section_id:
            marks[offset] = f" [{target}]" + marks.get(offset, "")
    return _name_repeats(_shorten_addresses(_insert(text, marks)))


def strip_marks(quote: str) -> str:
    """Return words that a model copied without the ids that stand in what it read."""
    return MARKABLE_ID.sub("", quote)


def list_heading_ends(library: Library, span: Span) -> list[tuple[int, str]]:
    """Return where the lines of headings and links end within the text of a span, with the id of each."""
    document = library.document(span.doc)
    starts, kinds = document.columns.starts, document.columns.kinds
    ends = []
    for row in range(bisect_left(starts, span.start, hi=len(kinds)), len(kinds)):
        if starts[row] >= span.end:
            break
        if kinds[row] not in _TITLED:
            continue
        line_end = _LINE_END.search(document.text[starts[row] : min(span.end, starts[row + 1])])
        if line_end is not None:
            ends.append((starts[row] + line_end.start() - span.start, find_canonical(library, document.ids[row])))
    return ends


def list_references(library: Library, span: Span) -> Iterator[tuple[int, str]]:
    """Yield where links and numbers of sections end within the text of a span, with the id of what they lead to.

    Of a number ("Section 12.1") the first mention counts, unless the text stands in that section or holds it.
    """
    document = library.document(span.doc)
    text = library.text_at(span)
    for match in _LINK.finditer(text):
        target = find_link_target(library, span.doc, span.start + match.start(), match["target"])
        if target is not None:
            yield match.end(), target
    said: set[int] = set()
    for match in _CITED.finditer(text):
        row = document.rows_by_number.get(match["number"])
        if row is None or row in said:
            continue
        said.add(row)
        start, end = document.columns.starts[row], document.columns.starts[document.columns.ends[row]]
        if end <= span.start or start >= span.end:
            yield match.end(), document.ids[row]


def find_link_target(library: Library, doc: str, offset: int, target: str) -> str | None:
    """Return the section of the library that a link leads to, None where it leads elsewhere.

    Args:
        library: Holds the text.
        doc: Key of the document in which the link is written.
        offset: Where in it.
        target: What is written between the parentheses.
    """
    source_id = library.section_at(doc, offset)
    if source_id is None or not target:
        return None
    end = resolve_link(target, library, source_id)
    if not isinstance(end, SectionLink):
        return None
    found = find_canonical(library, end.section_id)
    return None if found == source_id else found


def _insert(text: str, marks: dict[int, str]) -> str:
    parts = []
    position = 0
    for offset in sorted(marks):
        parts += [text[position:offset], marks[offset]]
        position = offset
    return "".join([*parts, text[position:]])


def _shorten_addresses(text: str) -> str:
    return _LONG_ADDRESS.sub(lambda match: f"{match.group()[:_ADDRESS_KEPT]}…", text)


def _name_repeats(text: str) -> str:
    """Return a text in which each long paragraph stands once."""
    seen: set[str] = set()

    def name(match: re.Match[str]) -> str:
        paragraph = match.group().strip()
        if len(paragraph) < _REPEAT_LENGTH_MIN or paragraph not in seen:
            seen.add(paragraph)
            return match.group()
        return _REPEATED

    return _PARAGRAPH.sub(name, text) if len(text) > 2 * _REPEAT_LENGTH_MIN else text
