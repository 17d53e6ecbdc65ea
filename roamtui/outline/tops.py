"""The top of an outline: what stands below a title that holds everything, else the nodes at the top."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roamtui.document.node import NodeKind

if TYPE_CHECKING:
    from roamtui.document.library import Library


def list_tops(library: Library) -> tuple[str, ...]:
    """Return the ids at the top of the outline, without preambles of nothing but white space."""
    title_id = library.title_id()
    roots = library.children(library.root_id)
    if title_id is None:
        return tuple(root for root in roots if not is_hidden(library, root))
    beside = tuple(root for root in roots if root != title_id and not is_hidden(library, root))
    return beside + library.children(title_id)


def is_hidden(library: Library, section_id: str) -> bool:
    """Return whether a node is a preamble that holds nothing: it exists for exact slices alone."""
    document, row = library.locate(section_id)
    return document.columns.kinds[row] is NodeKind.PREAMBLE and not library.own_text(section_id).strip()
