"""The top of an outline: what stands below a title that holds everything, else the nodes at the top."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from roamtui.document.library import Library
    from roamtui.document.node import Heading


def list_tops(library: Library) -> tuple[str, ...]:
    """Return the ids at the top of the outline, without preambles of nothing but white space."""
    title_id = library.title_id()
    roots = library.children(library.root_id)
    hidden = library.root.hidden_ids
    if title_id is None:
        return tuple(root for root in roots if root not in hidden) if hidden else roots
    beside = tuple(root for root in roots if root != title_id and root not in hidden)
    return beside + library.children(title_id)


def list_below(library: Library, section_id: str) -> tuple[str, ...]:
    """Return what an outline lists below a node: its children; below a file, those of the title that it stands for."""
    file = library.file(section_id)
    if file is None:
        return library.children(section_id)
    if file.sole_row is not None:
        return tuple(file.ids[row] for row in file.columns.children(file.sole_row))
    return tuple(file.ids[row] for row in file.columns.children(-1) if row >= file.head_rows)


def list_headings_below(library: Library, section_id: str, limit: int) -> tuple[tuple[Heading, ...], int]:
    """Return what names the first of the nodes of `list_below`, and how many these are."""
    if library.grafts:
        children = list_below(library, section_id)
        return tuple(map(library.heading, children[:limit])), len(children)
    return library.headings_below(section_id, limit)


def list_head(library: Library, section_id: str) -> tuple[str, ...]:
    """Return the sections that a file's own text is made of: opening text and title."""
    file = library.file(section_id)
    return () if file is None else file.ids[: file.head_rows]


def is_hidden(library: Library, section_id: str) -> bool:
    """Return whether a node is a preamble that holds nothing: it exists for exact slices alone."""
    document, _ = library.locate(section_id)
    return section_id in document.hidden_ids
