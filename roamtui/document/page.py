"""A text into the document that it is: a list of links, many pages in one file, or ordinary Markdown."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from roamtui.document.columns import Row, build_columns
from roamtui.document.document import Document
from roamtui.document.headings import Heading, scan_headings
from roamtui.document.lines import normalise_line_ends
from roamtui.document.llms_txt import add_links, is_link_list
from roamtui.document.node import NodeKind
from roamtui.document.page_boundaries import Boundary, blank_front_matter, find_boundaries
from roamtui.document.parse import may_be_special, measure_front_matter, parse_raw, restore_offsets
from roamtui.sources.web.address import resolve_link

if TYPE_CHECKING:
    from roamtui.sources.read import RawText

_LEVEL_MAX = 6


def parse_page(raw: RawText, *, key: str = "", url: str | None = None, has_links: bool = True) -> Document:
    """Return a text as a document, with link nodes or pages where it is a list of links or made of pages.

    Args:
        raw: The text; its name, or the last part of that, is the file's name or the end of an address.
        key: Key of the document within its source; empty for a single document.
        url: Address it was fetched from; relative links are resolved against it.
        has_links: Whether the links of a list of links become nodes.
    """
    document = parse_raw(raw, key=key, url=url)
    file_name = raw.name.rpartition("/")[2]
    if not raw.is_markdown or raw.is_converted or not (url or may_be_special(raw.text, file_name)):
        return document
    normal = normalise_line_ends(raw.text)
    boundaries = find_boundaries(normal, file_name)
    if boundaries:
        return _divide(document, normal, boundaries)
    if has_links and is_link_list(normal, file_name, is_fetched=url is not None):
        return replace(document, columns=add_links(document.columns, raw.text, url))
    return document


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page:
    boundary: Boundary
    title: str
    level: int
    """Of the heading that is its title, 0 where it has none."""
    headings: tuple[Heading, ...]
    """Those below its title; `line` is the offset in the text."""


def _divide(document: Document, normal: str, boundaries: Sequence[Boundary]) -> Document:
    """Return a document whose sections are the pages of its text, and what stands before the first."""
    ends = [*(boundary.start for boundary in boundaries[1:]), len(normal)]
    shown = blank_front_matter(normal)
    pages = [_read_page(shown, boundary, end) for boundary, end in zip(boundaries, ends, strict=True)]
    levels = [page.level for page in pages if page.level]
    level = max(sorted(set(levels)), key=levels.count, default=1)
    rows = _list_opening_rows(normal, boundaries[0].start)
    title = next((row.title for row in rows if row.level == 1), "")
    for page in pages:
        url = resolve_link(document.url or "", page.boundary.url) or page.boundary.url
        rows.append(Row(NodeKind.SECTION, level, page.title, page.boundary.start, url))
        deeper = max(0, level + 1 - min((heading.level for heading in page.headings), default=_LEVEL_MAX + 1))
        rows.extend(
            Row(NodeKind.SECTION, min(_LEVEL_MAX, heading.level + deeper), heading.title, heading.line, url)
            for heading in page.headings
        )
    if len(normal) != len(document.text):
        starts = restore_offsets(str(document.text), normal, array("Q", (row.start for row in rows)))
        rows = [replace(row, start=start) for row, start in zip(rows, starts, strict=True)]
    return replace(document, title=title or document.title, columns=build_columns(rows, len(document.text)))


def _list_opening_rows(normal: str, end: int) -> list[Row]:
    opening = normal[:end]
    rows = [
        Row(NodeKind.SECTION, one.level, one.title, one.line) for one in _scan(opening, measure_front_matter(opening))
    ]
    if end and not (rows and rows[0].start == 0):
        rows.insert(0, Row(NodeKind.PREAMBLE, 0, "", 0))
    return rows


def _read_page(normal: str, boundary: Boundary, end: int) -> _Page:
    """Return a page; a heading with which its text begins is its title, unless its boundary has another one."""
    headings = _scan(normal[boundary.body_start : end], 0, boundary.body_start)
    named = _scan(f"# {boundary.title}", 0) if boundary.title else []
    title = named[0].title if named else ""
    level = boundary.level
    if headings and not normal[boundary.body_start : headings[0].line].strip():
        first = headings[0]
        if not level or first.title.casefold() == title.casefold():
            level = level or first.level
            title = first.title
            headings = headings[1:]
    if not title:
        title = headings[0].title if headings else boundary.url.rstrip("/").rpartition("/")[2]
    return _Page(boundary=boundary, title=title, level=level, headings=tuple(headings))


def _scan(text: str, start: int, shift: int = 0) -> list[Heading]:
    """Return the headings of a text, with their offsets in place of lines."""
    columns = scan_headings(text, start)
    return [
        Heading(level, title, offset + shift)
        for level, title, offset in zip(columns.levels, columns.titles, columns.offsets, strict=True)
    ]
