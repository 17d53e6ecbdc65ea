"""Documents that are more than ordinary Markdown: a list of links, or many pages in one file."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, replace

from roamtui.document.columns import Row, build_columns
from roamtui.document.document import Document
from roamtui.document.headings import scan_headings
from roamtui.document.lines import normalise_line_ends
from roamtui.document.llms_txt import add_links, is_link_list
from roamtui.document.node import NodeKind
from roamtui.document.page_boundaries import Boundary, blank_front_matter, find_boundaries
from roamtui.document.parse import measure_front_matter, restore_offsets
from roamtui.sources.web.address import resolve_link

_LEVEL_MAX = 6


def parse_special(document: Document, file_name: str, *, has_links: bool) -> Document:
    """Return a document of ordinary Markdown as what it is: with pages, with a node for each link, or as it stands."""
    text = str(document.text)
    normal = normalise_line_ends(text)
    boundaries = find_boundaries(normal, file_name)
    if boundaries:
        return _divide(document, normal, boundaries)
    if has_links and is_link_list(normal, file_name, is_fetched=document.url is not None):
        return replace(document, columns=add_links(document.columns, text, document.url))
    return document


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page:
    boundary: Boundary
    title: str
    level: int
    """Of the heading that is its title, 0 where it has none."""
    headings: tuple[Row, ...]
    """Those below its title."""


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
            replace(heading, level=min(_LEVEL_MAX, heading.level + deeper), url=url) for heading in page.headings
        )
    if len(normal) != len(document.text):
        starts = restore_offsets(str(document.text), normal, array("Q", (row.start for row in rows)))
        rows = [replace(row, start=start) for row, start in zip(rows, starts, strict=True)]
    return replace(document, title=title or document.title, columns=build_columns(rows, len(document.text)))


def _list_opening_rows(normal: str, end: int) -> list[Row]:
    opening = normal[:end]
    rows = _scan(opening, measure_front_matter(opening))
    if end and not (rows and rows[0].start == 0):
        rows.insert(0, Row(NodeKind.PREAMBLE, 0, "", 0))
    return rows


def _read_page(normal: str, boundary: Boundary, end: int) -> _Page:
    """Return a page; a heading with which its text begins is its title, unless its boundary has another one."""
    headings = _scan(normal[boundary.body_start : end], 0, boundary.body_start)
    named = _scan(f"# {boundary.title}", 0) if boundary.title else []
    title = named[0].title if named else ""
    level = boundary.level
    if headings and not normal[boundary.body_start : headings[0].start].strip():
        first = headings[0]
        if not level or first.title.casefold() == title.casefold():
            level = level or first.level
            title = first.title
            headings = headings[1:]
    if not title:
        title = headings[0].title if headings else boundary.url.rstrip("/").rpartition("/")[2]
    return _Page(boundary=boundary, title=title, level=level, headings=tuple(headings))


def _scan(text: str, start: int, shift: int = 0) -> list[Row]:
    """Return the headings of a text."""
    columns = scan_headings(text, start)
    return [
        Row(NodeKind.SECTION, level, title, offset + shift)
        for level, title, offset in zip(columns.levels, columns.titles, columns.offsets, strict=True)
    ]
