"""Whole documents of a library, ranked by the sections of theirs that were found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from roamtui.document.library import Library
from roamtui.document.node import NodeKind
from roamtui.search.base import Hit

SECTIONS_PER_DOCUMENT = 10
"""Sections to look for where one document is wanted: many often stand in the same one."""
_BEST_SECTIONS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentHit:
    """A document that was found."""

    file_id: str
    score: float
    """That of its best section. Sums and means of several put the right one lower on every set of questions tried."""
    sections: tuple[Hit, ...]
    """Its best sections, the best first."""


def list_files(library: Library) -> tuple[str, ...]:
    """Return the ids of the files of a library in order, none for a single document."""
    kinds = library.root.columns.kinds
    return tuple(file_id for file_id, kind in zip(library.root.ids, kinds, strict=True) if kind is NodeKind.FILE)


def find_file(library: Library, section_id: str) -> str | None:
    """Return the id of the file that a section stands in, itself for a file, None outside all."""
    for node_id in (section_id, *reversed(library.ancestors(section_id))):
        if library.heading(node_id).kind is NodeKind.FILE:
            return node_id
    return None


def rank_documents(library: Library, hits: Iterable[Hit], *, limit: int) -> tuple[DocumentHit, ...]:
    """Return up to `limit` documents, in the order of the best section of each.

    Args:
        library: Holds the sections.
        hits: Sections that were found, the best first.
        limit: How many documents at most.
    """
    by_file: dict[str, list[Hit]] = {}
    for hit in hits:
        file_id = find_file(library, hit.section_id)
        if file_id is not None:
            by_file.setdefault(file_id, []).append(hit)
    return tuple(
        DocumentHit(file_id=file_id, score=found[0].score, sections=tuple(found[:_BEST_SECTIONS]))
        for file_id, found in list(by_file.items())[:limit]
    )
