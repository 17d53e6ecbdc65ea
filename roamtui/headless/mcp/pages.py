"""Sections as resources: `roamtui://section/ID`."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from roamtui.document.node import NodeKind
from roamtui.errors import UnknownSectionError
from roamtui.headless.mcp.desk import ROOM_TOKENS
from roamtui.outline.expansion import expand
from roamtui.outline.labels import describe_size, name_shown
from roamtui.outline.ranges import parse_reference
from roamtui.outline.tops import list_tops

if TYPE_CHECKING:
    from roamtui.document.library import Library

URI_START = "roamtui://section/"
URI_TEMPLATE = f"{URI_START}{{id}}"
LISTED_MAX = 100
"""Resources on one page of their list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A section as the list of resources names it."""

    uri: str
    title: str
    size: str


def list_pages(library: Library, start: int) -> tuple[list[Page], int | None]:
    """Return sections at the top of the outline from index `start` on, and where the next ones begin."""
    tops = list_tops(library)
    end = start + LISTED_MAX
    pages = [_make_page(library, section_id) for section_id in tops[start:end]]
    return pages, end if end < len(tops) else None


def _make_page(library: Library, section_id: str) -> Page:
    node = library.node(section_id)
    return Page(uri=f"{URI_START}{section_id}", title=name_shown(library, node), size=describe_size(node))


def read_page(library: Library, uri: str) -> str:
    """Return the text of a section with all below it, exactly; a very long one as `expand_sections` gives it.

    Raises:
        UnknownSectionError: The address names no section.
    """
    requested = uri.removeprefix(URI_START)
    reference = parse_reference(requested)
    if reference is None or reference.section_id not in library:
        raise UnknownSectionError(requested[:40])
    node = library.node(reference.section_id)
    is_whole = reference.page is None and not reference.steps
    if is_whole and node.kind is not NodeKind.FOLDER and node.is_loaded and node.tokens <= ROOM_TOKENS:
        return library.text_at(library.shown_span(node.id))
    return expand(library, requested, delivered={}, nonce=secrets.token_hex(4)).text
