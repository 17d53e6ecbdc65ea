"""`roamtui search`: ranked sections."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roamtui.headless.output import write_json, write_text
from roamtui.outline.labels import name_lines, name_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from roamtui.document.library import Library
    from roamtui.search.base import Hit, SearchMode


def print_hits(library: Library, hits: Sequence[Hit]) -> None:
    """Write hits for a person: id, path, line and the best sentence."""
    if not hits:
        write_text("Nothing found. Try other words, or `roamtui outline`.\n")
        return
    write_text(describe_hits(library, hits))


def describe_hits(library: Library, hits: Sequence[Hit]) -> str:
    """Return two lines for each hit: rank, id, path and lines; the best sentence."""
    blocks = []
    for rank, hit in enumerate(hits, start=1):
        place = name_lines(library, library.span(hit.section_id))
        head = f"{rank}. [{hit.section_id}] {name_path(library, hit.section_id)} ({place})"
        blocks.append(f"{head}\n   {hit.snippet}\n")
    return "".join(blocks)


def print_hits_json(library: Library, hits: Sequence[Hit], mode: SearchMode) -> None:
    """Write hits as JSON."""
    found = []
    for hit in hits:
        node = library.node(hit.section_id)
        found.append(
            {
                "id": hit.section_id,
                "doc": node.doc,
                "path": list(node.path),
                "score": hit.score,
                "start_line": node.start_line,
                "end_line": node.end_line,
                "snippet": hit.snippet,
                "why": hit.why,
            }
        )
    write_json({"mode": mode.value, "hits": found})
