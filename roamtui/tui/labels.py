"""Words for the screen: a node by its title and path, the size of a library, a failure in a sentence."""

from __future__ import annotations

from collections.abc import Iterable

from roamtui.document.library import Library
from roamtui.document.node import NodeKind
from roamtui.document.plain import format_count, sanitise_line
from roamtui.errors import RoamtuiError
from roamtui.outline.labels import format_node_title

STEP = " › "
"""Separates the titles of a path."""


def format_node(library: Library, section_id: str) -> str:
    """Return a node's title on one line, or a placeholder."""
    return format_node_title(library.get_label(section_id))


def format_breadcrumb(library: Library, section_ids: Iterable[str]) -> str:
    """Return a path of nodes without the document's own title, which the header shows."""
    title_id = library.title_id()
    return STEP.join(format_node(library, node_id) for node_id in section_ids if node_id != title_id)


def format_full_path(library: Library, section_id: str) -> str:
    """Return the path of a node, or a placeholder if the library no longer has it."""
    if section_id not in library:
        return f"unknown section {sanitise_line(section_id)}"
    return format_breadcrumb(library, (*library.ancestors(section_id), section_id)) or format_node(library, section_id)


def format_ancestors(library: Library, section_id: str | None) -> str:
    """Return the path of a node's ancestors, which is empty for None and for a node at the top."""
    if section_id is None or section_id not in library:
        return ""
    return format_breadcrumb(library, library.ancestors(section_id))


def format_library_size(library: Library) -> str:
    """Return how many files or sections a library has."""
    kinds = library.root.columns.kinds
    files = sum(kind is NodeKind.FILE for kind in kinds) if library.root.columns.has_files else 0
    return format_count(files, "file") if files else format_count(len(library), "section")


def format_error(error: BaseException | None) -> str:
    """Return a failure in one sentence. The message of a `RoamtuiError` is a sentence already."""
    if isinstance(error, RoamtuiError):
        return str(error)
    kind = type(error).__name__
    return f"Internal error ({kind}: {error}). The conversation is intact; ask again."
