"""Raw text into a library."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roamtui.document.library import Library
from roamtui.document.parse import parse_document

if TYPE_CHECKING:
    from roamtui.sources.raw_text import RawText


def build_library(raw: RawText) -> Library:
    """Return the library of a single document."""
    document = parse_document(raw.text, name=raw.name, notes=raw.notes, is_markdown=raw.is_markdown)
    return Library(source=raw.source, root=document)
