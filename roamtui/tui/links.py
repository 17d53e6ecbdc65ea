"""Where a link in the reader leads: as any link in the document, and from a footnote's mark to its text and back."""

from __future__ import annotations

from roamtui.document.library import Library
from roamtui.document.link_targets import DeadLink, LinkEnd, SectionLink
from roamtui.document.link_targets import resolve_link as resolve_written
from roamtui.document.node import Span
from roamtui.tui.reader.text_search import TextSearch

_NOTE_INDENT_MAX = 3


def resolve_link(href: str, library: Library, section_id: str) -> LinkEnd:
    """Return where `href`, written in the section `section_id`, leads."""
    resolve = _resolve_note if href.startswith("[^") else resolve_written
    return resolve(href, library, section_id)


def _resolve_note(mark: str, library: Library, section_id: str) -> LinkEnd:
    """Return where the note of a mark such as `[^1]` stands, or for a note's own mark, `[^1]:`, where it is used."""
    document, _ = library.locate(section_id)
    name = mark.removesuffix(":")
    text = document.text
    for start in TextSearch(text, 0, len(text)).find(name):
        end = start + len(name)
        line = text[max(0, start - _NOTE_INDENT_MAX - 1) : start].replace("\r", "\n").rpartition("\n")
        is_note = text[end : end + 1] == ":" and not line[2].strip() and (bool(line[1]) or start <= _NOTE_INDENT_MAX)
        found = library.section_at(document.key, start) if is_note != mark.endswith(":") else None
        if found is not None:
            return SectionLink(found, Span(doc=document.key, start=start, end=end))
    return DeadLink(f"Nothing here uses the footnote {name}." if name != mark else f"There is no footnote {name} here.")
