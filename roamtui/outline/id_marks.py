"""Put ids into the text that a model reads: after headings, and after sentences that refer to other sections.

An id never stands inside a sentence, where a model would have to leave it out of a quote.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from roamtui.document.document import Document
from roamtui.document.library import Library
from roamtui.document.links import SectionLink, resolve_link
from roamtui.document.node import NodeKind, Span
from roamtui.outline.structure import get_canonical_id

_LINK = re.compile(
    r"(?<!!)\[(?P<words>(?:[^\[\]\n]|\[[^\[\]\n]*\])*)\]"
    r"\((?P<target>[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s+\"[^\"\n]*\")?\)"
)
_NUMBER = r"\d+(?:\.\d+)*(?!\w|\.\d)(?:\([^()\n]{1,6}\))*+"
_BETWEEN_NUMBERS = r"(?:\s*(?:,|;|&|–|-)\s*(?:(?:and|or)\s+)?|\s+(?:and|or|to|through)\s+)"
_NAME = r"(?:[Ss]ection|SECTION|[Aa]rticle|ARTICLE|[Pp]aragraph|[Cc]lause)"
_SECTION_NUMBERS = re.compile(
    rf"\b{_NAME}(?:\s+(?P<one>{_NUMBER})|[Ss]\s+(?P<several>{_NUMBER}(?:{_BETWEEN_NUMBERS}{_NUMBER})*+))"
    r"(?!\s*(?:\([^()\n]{1,6}\)\s*)*of\s(?!this\b))"  # a section of another text
    r"(?![^\[\]\n]{0,500}\])"  # inside the words of a link
)
_PLAIN_NUMBER = re.compile(r"(?<![\d.(])\d+(?:\.\d+)*(?!\w|\.\d)")
_ROW = re.compile(r"[ \t>]*\|")
_LINE_END = re.compile(r"[ \t]*(?:[\r\n]|\Z)")
_SENTENCE_END = re.compile(
    r"(?:(?<!\b[^\W\d_])\.|[!?…])[\"'”’»)*_]*(?=[ \t\r\n]+[\"'“‘«(*_]*[^\W\d_a-zß-öø-ÿ])"
    r"|[。！？]+"
    r"|(?<![ \t])[ \t]*+(?=\r?\n[ \t>]*(?:[\r\n]|\||[-*+#][ \t#]|\d+[.)][ \t]|`{3}|~{3}|:{3}|\Z)|\Z)"
)
"""End of a sentence, or of the paragraph, list item or table row around it."""
_LABEL_LENGTH_MAX = 40
_NOT_IN_LABEL = re.compile(r"[^\w .&'/-]+")
_ID_LIKE = re.compile(r"[0-9a-f]{8}")
_MARK = r" ?\[[0-9a-f]{8}\]"
_STRIPPED = re.compile(rf"(?<=\S)(?: \((?:[\w .&'/-]+{_MARK}(?:, )?)+\)|{_MARK})")
_LONG_URL = re.compile(r"(?<=\]\()[^()\s]{121,}(?=[)\s])|(?<=<)https?://[^<>\s]{113,}(?=>)")
_URL_LENGTH_SHOWN = 60
_TITLED_KINDS = (NodeKind.SECTION, NodeKind.LINK)


@dataclass(frozen=True, slots=True)
class CrossReference:
    """A link or a section number in the text of a span. Its offsets are relative to the span."""

    start: int
    end: int
    words: str
    """The words of the link, or the number."""
    section_id: str | None
    """The section that it leads to, or None if it leads elsewhere or to the text around it."""


def annotate_with_ids(library: Library, span: Span, *, section_id: str | None = None) -> str:
    """Render the text of a span as a model reads it, with ids after headings and sentences, except `section_id`."""
    text = insert_marks(library.clean_text(span).rstrip(), list_id_marks(library, span, skipped_id=section_id))
    return _LONG_URL.sub(lambda match: f"{match.group()[:_URL_LENGTH_SHOWN]}…", text)


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
    return _STRIPPED.sub("", quote)


def list_id_marks(library: Library, span: Span, *, skipped_id: str | None = None) -> dict[int, str]:
    """Return the marks to insert into the text of a span, by their offset in it.

    A sentence with one reference is followed by ``[id]``, one with several by ``(2.1 [id], Renewal [id])``. If all of
    them were marked before, nothing follows.
    """
    marks: dict[int, str] = {}
    known = {None, skipped_id}
    for end, references in _group_by_sentence(library.text_at(span), find_cross_references(library, span)):
        targets = {
            reference.section_id: reference.words
            for reference in reversed(references)
            if reference.section_id not in known
        }
        if not targets:
            continue
        known |= targets.keys()
        items = [f"{_make_label(words)}[{target}]" for target, words in reversed(targets.items())]
        marks[end] = f" ({', '.join(items)})" if len(references) > 1 else f" [{next(iter(targets))}]"
    for offset, node_id in _list_heading_ends(library, span):
        if node_id != skipped_id:
            marks[offset] = f"{marks.get(offset, '')} [{node_id}]"
    return marks


def _make_label(words: str) -> str:
    label = " ".join(_NOT_IN_LABEL.sub(" ", words).split())[:_LABEL_LENGTH_MAX].strip()
    return f"{label} " if label and not _ID_LIKE.search(label) else ""


def _group_by_sentence(
    text: str, references: Sequence[CrossReference]
) -> Iterator[tuple[int, Sequence[CrossReference]]]:
    """Yield the end of each sentence or table row with references, and the references in it."""
    group: list[CrossReference] = []
    end = 0
    for reference in references:
        if group and reference.start >= end:
            yield end, group
            group = []
        group.append(reference)
        if reference.end <= end:
            continue
        is_row = _ROW.match(text, text.rfind("\n", 0, reference.start) + 1)
        found = (_LINE_END if is_row else _SENTENCE_END).search(text, reference.end)
        end = len(text) if found is None else found.start() + len(found[0].rstrip())
    if group:
        yield end, group


def find_cross_references(library: Library, span: Span) -> list[CrossReference]:
    """Return the links and section numbers in a span, in order.

    A list of numbers, such as "Sections 12.1 and 12.3", leads nowhere unless each of its numbers leads somewhere.
    """
    document = library.document(span.doc)
    text = library.text_at(span)
    references = []
    for match in _LINK.finditer(text):
        section_id = library.section_at(span.doc, span.start + match.start())
        if section_id is None or not match["target"]:
            continue
        link = resolve_link(match["target"], library, section_id)
        target = get_canonical_id(library, link.section_id) if isinstance(link, SectionLink) else None
        target = None if target == section_id else target
        references.append(CrossReference(match.start(), match.end(), match["words"], target))
    for match in _SECTION_NUMBERS.finditer(text):
        numbers = [*_PLAIN_NUMBER.finditer(text, *match.span("one" if match["one"] else "several"))]
        rows = [document.rows_by_number.get(number[0]) for number in numbers]
        for number, row in zip(numbers, rows, strict=True):
            target = None if row is None or None in rows else _get_section_outside(document, row, span)
            references.append(CrossReference(number.start(), number.end(), number[0], target))
    return sorted(references, key=lambda reference: reference.start)


def _get_section_outside(document: Document, row: int, span: Span) -> str | None:
    """Return the id of the section at `row`, or None if it overlaps `span`, because a text needs no link to itself."""
    start, end = document.columns.starts[row], document.columns.starts[document.columns.ends[row]]
    return document.ids[row] if end <= span.start or start >= span.end else None


def _list_heading_ends(library: Library, span: Span) -> Iterator[tuple[int, str]]:
    """Yield the offset in a span at which the line of each heading or link ends, with the id of the node."""
    document = library.document(span.doc)
    starts, kinds = document.columns.starts, document.columns.kinds
    for row in range(bisect_left(starts, span.start, hi=len(kinds)), len(kinds)):
        if starts[row] >= span.end:
            break
        if kinds[row] not in _TITLED_KINDS:
            continue
        line_end = _LINE_END.search(document.text[starts[row] : min(span.end, starts[row + 1])])
        if line_end is not None:
            yield starts[row] + line_end.start() - span.start, get_canonical_id(library, document.ids[row])
