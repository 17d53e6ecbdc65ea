"""`roamtui index`: the index of a source made before it is needed, or deleted."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from roamtui.errors import StoreError, UsageError
from roamtui.headless.output import write_note, write_notes, write_text
from roamtui.search.keyword import KeywordSearcher
from roamtui.search.store.opening import delete_index

if TYPE_CHECKING:
    from roamtui.document.library import Library
    from roamtui.search.store.opening import IndexPlace


def keep_index(library: Library, place: IndexPlace, *, is_deleted: bool) -> None:
    """Bring the index of a library on disk up to date, or delete it, and say what was done.

    Raises:
        UsageError: It came by a pipe, so that no later run could use it.
        StoreError: It cannot be kept on disk, or not be deleted.
    """
    if is_deleted:
        drop_index(library, place)
    else:
        write_notes(library.notes)
        write_index(library, replace(place, is_wanted=True))


def write_index(library: Library, place: IndexPlace) -> None:
    """Bring the index of a library on disk up to date, and say what was written.

    Raises:
        UsageError: It came by a pipe, so that no later run could use it.
        StoreError: It cannot be kept on disk.
    """
    path = place.find_path(library)
    if path is None:
        raise UsageError("what comes by a pipe has no index that could be kept. Name a file or a folder.")
    written = 0

    def tell(done: int, total: int) -> None:
        nonlocal written
        written = total
        if sys.stderr.isatty():
            write_note(f"{done:,} of {total:,} sections")

    index = KeywordSearcher(library, place=place).prepare(tell)
    if index.store.path is None:
        raise StoreError(f"The index cannot be kept in {path}. Free some space there, or search without it.")
    size = path.stat().st_size
    write_text(f"{len(index):,} sections, {written:,} of them new or changed; {size / 1e6:,.1f} MB in {path}\n")


def drop_index(library: Library, place: IndexPlace) -> None:
    """Delete the index of a library.

    Raises:
        StoreError: It cannot be deleted.
    """
    path = place.find_path(library)
    try:
        was_there = path is not None and delete_index(path)
    except OSError as error:
        raise StoreError(f"The index {path} cannot be deleted: {error.strerror}.") from None
    write_text(f"Deleted {path}\n" if was_there else "There is no index of this source.\n")
