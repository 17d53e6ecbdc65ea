"""What an outline lists: its roots, what stands below a node, and how chains of nodes become one line."""

from __future__ import annotations

from dataclasses import dataclass

from roamtui.document.library import Library
from roamtui.document.lines import normalise_line_ends
from roamtui.document.node import Heading, NodeKind
from roamtui.document.parse import measure_front_matter
from roamtui.outline.labels import has_own_text, name_shown

_TITLE_LENGTH = 80
_CHAIN_MAX = 100
"""Nodes; a longer chain is several lines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What one line of an outline stands for: a node, or a chain of nodes of which only the last says something."""

    node_id: str
    """The first node of the chain."""
    section_id: str
    """What opens it."""
    name: str
    """Titles of the chain, safe to display."""
    below: tuple[str, ...]
    """Ids of what stands directly below, as `list_below` gives them."""


def find_entry(library: Library, node_id: str) -> Entry | None:
    """Return the line for a node, None where nothing is to be read at it or below.

    A file whose text has one title is that title's section, so that one text has one id. A node without own text and
    with a single one below it is one line with that one.
    """
    first_id = node_id
    names: list[str] = []
    below: tuple[str, ...] = ()
    for _ in range(_CHAIN_MAX):
        names.append(name_shown(library, library.heading(node_id), length_max=_TITLE_LENGTH))
        canonical = find_canonical(library, node_id)
        openings = _list_openings(library, node_id) if canonical != node_id else ()
        node_id, below = canonical, (*openings, *list_below(library, canonical))
        if len(below) > 1 or not library.is_loaded(node_id) or has_own_text(library, node_id):
            break
        if not below:
            return None
        node_id = below[0]
    return Entry(node_id=first_id, section_id=node_id, name=" > ".join(names), below=below)


def find_canonical(library: Library, node_id: str) -> str:
    """Return the one id of what is read at a node: of a file with one title that of the title's section."""
    if not library.grafts or library.heading(node_id).kind is not NodeKind.FILE:
        return node_id
    file = library.file(node_id)
    return node_id if file is None or file.sole_row is None else file.ids[file.sole_row]


def _list_openings(library: Library, file_id: str) -> tuple[str, ...]:
    """Return the text before the only title of a file, unless it is front matter alone."""
    file = library.file(file_id)
    if file is None or not file.sole_row:
        return ()
    text = normalise_line_ends(file.text[: file.columns.starts[file.sole_row]])
    is_shown = bool(text[measure_front_matter(text) :].strip())
    return file.ids[: file.sole_row] if is_shown else ()


def list_roots(library: Library) -> tuple[str, ...]:
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
