"""`DocumentEntry`: one document of a library as a catalogue has it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from roamtui.document.node import NodeKind
from roamtui.outline.labels import find_opening, name_shown
from roamtui.search.documents import list_files

if TYPE_CHECKING:
    from roamtui.document.document import Document
    from roamtui.document.library import Library

OPENING_LENGTH = 300
_OUTLINE_LENGTH_MAX = 2_000
_JOINT = " · "


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentEntry:
    """What is known of a document without reading it."""

    key: str
    """Its path in the library, empty for a single document."""
    title: str
    digest: str
    """Of its text: `Document.content_hash`."""
    sections: int
    tokens: int
    """Estimated."""
    outline: str
    """Titles of its sections, the highest levels first, as many as there is room for."""
    summary: str
    """What a model wrote of it, else its opening words; may be empty."""
    is_summarised: bool
    """Whether a model wrote it."""


def list_entries(library: Library) -> tuple[DocumentEntry, ...]:
    """Return an entry for each loaded document that has text, in the order of the library."""
    files = list_files(library)
    if not files:
        return (_make_entry(library, library.root, library.title, ""),)
    entries = []
    for file_id in files:
        document = library.file(file_id)
        if document is not None and not document.problem:
            entries.append(_make_entry(library, document, name_shown(library, library.heading(file_id)), file_id))
    return tuple(entries)


def _make_entry(library: Library, document: Document, title: str, file_id: str) -> DocumentEntry:
    written = library.summaries.get(document.content_hash, "") if library.summaries else ""
    opening_id = file_id or next(iter(document.ids), "")
    opening = find_opening(library, opening_id, length_max=OPENING_LENGTH) if opening_id and not written else ""
    return DocumentEntry(
        key=document.key,
        title=title,
        digest=document.content_hash,
        sections=len(document.columns),
        tokens=document.tokens_before[-1],
        outline=_join_titles(document),
        summary=written or opening,
        is_summarised=bool(written),
    )


def _join_titles(document: Document) -> str:
    """Return titles in document order, without the deepest ones where there is no room for them."""
    columns = document.columns
    rows = [row for row in range(len(columns)) if columns.kinds[row] is NodeKind.SECTION]
    chosen: list[int] = []
    length = 0
    for level in sorted({columns.levels[row] for row in rows}):
        for row in rows:
            if columns.levels[row] == level:
                length += len(columns.titles[row]) + len(_JOINT)
                if length > _OUTLINE_LENGTH_MAX:
                    return _JOINT.join(columns.titles[place] for place in sorted(chosen))
                chosen.append(row)
    return _JOINT.join(columns.titles[row] for row in sorted(chosen))
