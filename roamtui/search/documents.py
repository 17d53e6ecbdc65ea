"""Which files a library consists of."""

from __future__ import annotations

from roamtui.document.library import Library
from roamtui.document.node import NodeKind


def list_files(library: Library) -> tuple[str, ...]:
    """Return the ids of the files of a library in order, none for a single document."""
    kinds = library.root.columns.kinds
    return tuple(file_id for file_id, kind in zip(library.root.ids, kinds, strict=True) if kind is NodeKind.FILE)
