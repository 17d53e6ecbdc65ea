"""`roamtui outline` and `roamtui show`: what a library holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from roamtui.errors import UnknownSectionError
from roamtui.headless.output import write_json, write_text
from roamtui.outline.render import render_outline

if TYPE_CHECKING:
    from collections.abc import Sequence

    from roamtui.document.library import Library
    from roamtui.document.node import Node


def print_outline(library: Library, *, budget_tokens: int) -> None:
    """Write the very text that a model reads."""
    write_text(render_outline(library, budget_tokens=budget_tokens))


def print_outline_json(library: Library) -> None:
    """Write every node of a library as JSON."""
    write_json(
        {
            "source": library.source,
            "title": library.title,
            "sections": [describe_node(library.node(section_id)) for section_id in library.walk()],
        }
    )


def print_sections(library: Library, section_ids: Sequence[str]) -> None:
    """Write the raw text of sections with all below them, in the order asked for.

    Raises:
        UnknownSectionError: One of the ids names no section; nothing is written then.
    """
    for section_id in section_ids:
        if section_id not in library:
            raise UnknownSectionError(section_id)
    for section_id in section_ids:
        write_text(library.text(section_id))


def describe_node(node: Node) -> dict[str, Any]:
    """Return a node as the command line's JSON has it."""
    return {
        "id": node.id,
        "kind": node.kind.value,
        "level": node.level,
        "title": node.title,
        "path": list(node.path),
        "doc": node.doc,
        "url": node.url,
        "parent": node.parent,
        "start_line": node.start_line,
        "end_line": node.end_line,
        "own_end_line": node.own_end_line,
        "tokens": node.tokens,
        "own_tokens": node.own_tokens,
    }
