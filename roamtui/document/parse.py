"""Raw text into a `Document`."""

from __future__ import annotations

from roamtui.document.columns import Row, build_columns
from roamtui.document.document import Document
from roamtui.document.front_matter import measure_front_matter, read_title
from roamtui.document.headings import find_headings
from roamtui.document.lines import find_line_starts, normalise_line_ends
from roamtui.document.node import NodeKind
from roamtui.document.paragraphs import group_paragraphs


def parse_document(
    text: str,
    *,
    key: str = "",
    name: str = "",
    url: str | None = None,
    notes: tuple[str, ...] = (),
    is_markdown: bool = True,
) -> Document:
    """Return `text` as a document whose own texts, joined, are `text` again.

    Args:
        text: Decoded Markdown or plain text without byte order mark.
        key: Key of the document within its source; empty for a single document.
        name: Title where the text itself has none.
        url: Address it was fetched from.
        notes: What was replaced while decoding.
        is_markdown: False for a format in which ``#`` begins no heading.
    """
    normal = normalise_line_ends(text)
    front_length = measure_front_matter(normal) if is_markdown else 0
    front_lines = normal.count("\n", 0, front_length)
    headings = find_headings(normal[front_length:]) if is_markdown else []
    starts = find_line_starts(text)
    rows = [
        Row(NodeKind.SECTION, heading.level, heading.title, starts[heading.line + front_lines]) for heading in headings
    ]
    body_start = starts[front_lines] if front_lines < len(starts) else len(text)
    if rows:
        if rows[0].start > 0:
            rows.insert(0, Row(NodeKind.PREAMBLE, 0, "", 0))
    else:
        if body_start:
            rows.append(Row(NodeKind.PREAMBLE, 0, "", 0))
        rows.extend(group_paragraphs(text, body_start))
    title = _find_title(rows) or read_title(normal[:front_length]) or name
    return Document(key=key, title=title, text=text, columns=build_columns(rows, len(text)), url=url, notes=notes)


def _find_title(rows: list[Row]) -> str:
    """Return the title of the only level-1 heading, else an empty string."""
    titles = [row.title for row in rows if row.kind is NodeKind.SECTION and row.level == 1]
    return titles[0] if len(titles) == 1 else ""
