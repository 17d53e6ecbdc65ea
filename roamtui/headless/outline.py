"""`roamtui outline` and `roamtui show`: what a library holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from roamtui.document.node import NodeKind
from roamtui.errors import SourceError, UnknownSectionError
from roamtui.headless.output import write_json, write_note, write_text
from roamtui.outline.render import render_outline

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
        SourceError: One of them is a file or page that could not be read; nothing is written then.
    """
    for section_id in section_ids:
        if section_id not in library:
            raise UnknownSectionError(section_id)
        problem = library.problem_of(section_id)
        if problem:
            raise SourceError(problem)
    for section_id in section_ids:
        page = library.page_of(library.span(section_id))
        if page is not None:
            write_note(f"[{section_id}] begins on p. {page}.")
        for text in _read_texts(library, section_id):
            write_text(text)


def _read_texts(library: Library, section_id: str) -> Iterator[str]:
    """Yield the raw text of a section; of a folder that of each file in it, each ended by a line end."""
    if library.node(section_id).kind is not NodeKind.FOLDER:
        yield library.text_at(library.shown_span(section_id))
        return
    for one in library.walk(section_id):
        if library.heading(one).kind is NodeKind.FILE and library.file(one) is not None:
            text = library.text(one)
            yield text if not text or text.endswith(("\n", "\r")) else f"{text}\n"


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
