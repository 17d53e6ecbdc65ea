"""Outlines of converted Markdown, as the program reads them."""

from __future__ import annotations

from roamtui.document.node import NodeKind
from roamtui.document.parse import parse_document


def read_outline(text: str) -> list[tuple[int, str]]:
    """Return level and title of each section."""
    columns = parse_document(text).columns
    rows = zip(columns.kinds, columns.levels, columns.titles, strict=True)
    return [(level, title) for kind, level, title in rows if kind is NodeKind.SECTION]
