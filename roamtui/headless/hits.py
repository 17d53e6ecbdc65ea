"""Search results as text and as JSON."""

from __future__ import annotations

from collections.abc import Sequence

from roamtui.document.library import Library
from roamtui.headless.output import write_json, write_text
from roamtui.outline.labels import format_line_range, format_path
from roamtui.search.base import Hit
from roamtui.search.options import SearchMode


def format_hits(library: Library, hits: Sequence[Hit]) -> str:
    """Format each hit in two lines: its rank, id, path and line numbers, then its best sentence."""
    blocks = []
    for rank, hit in enumerate(hits, start=1):
        lines = format_line_range(library, library.span(hit.section_id))
        head = f"{rank}. [{hit.section_id}] {format_path(library, hit.section_id)} ({lines})"
        blocks.append(f"{head}\n   {hit.snippet}\n")
    return "".join(blocks)


def print_hits(library: Library, hits: Sequence[Hit], mode: SearchMode, *, as_json: bool) -> None:
    """Write hits for a person or as JSON."""
    if as_json:
        rows = [
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
            for hit, node in ((hit, library.node(hit.section_id)) for hit in hits)
        ]
        write_json({"mode": mode.value, "hits": rows})
    else:
        write_text(format_hits(library, hits) or "Nothing found. Try other words, or `roamtui outline`.\n")
