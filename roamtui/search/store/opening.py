"""Which store a library is searched with: memory, or a file beside the cache that is only brought up to date."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from roamtui.private_folders import make_private_folder
from roamtui.search.base import IndexLostError
from roamtui.search.index_name import name_index
from roamtui.search.store.sections import SectionStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from roamtui.document.library import Library

_ON_DISK_SECTIONS = 5_000
_ON_DISK_CHARACTERS = 2_000_000
"""From either on, filling an index takes about as long as a person notices: a quarter of a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexPlace:
    """Where the indexes of a person's sources may be kept."""

    folder: Path
    tell: Callable[[str], None] = lambda _: None
    """Is told in a sentence why one is not kept, or is made anew."""
    is_wanted: bool = False
    """Whether a small library, too, is kept on disk."""

    def find_path(self, library: Library) -> Path | None:
        """Return the file of a library's index, None where what came by a pipe has none."""
        if library.source == "-":
            return None
        return self.folder / f"{name_index(library.source)}.sqlite3"


class StoreChooser:
    """Opens the store of one library, and another one where that fails. Each reason is told once."""

    def __init__(self, place: IndexPlace | None) -> None:
        """Keep indexes in `place`; without one all are in memory."""
        self._place = place
        self._has_renewed = False
        self._is_file_given_up = False

    def open(self, library: Library) -> SectionStore:
        """Return a store for a library, filled or not."""
        while (path := self._choose_path(library)) is not None:
            try:
                return _open_file(path)
            except IndexLostError as error:
                self._give_up_file(path, error)
        return SectionStore()

    def give_up(self, store: SectionStore, error: IndexLostError) -> None:
        """Let `open` give another store than one that failed.

        Raises:
            IndexLostError: It has no file, so that another one would fail too.
        """
        if store.path is None:
            raise error
        store.close()
        self._give_up_file(store.path, error)

    def _give_up_file(self, path: Path, error: IndexLostError) -> None:
        """Delete a damaged file once, so that a new one is made; else stay in memory from now on."""
        assert self._place is not None
        if error.is_damaged and not self._has_renewed:
            self._has_renewed = True
            with suppress(OSError):
                delete_index(path)
                self._place.tell(f"The search index of this source was damaged ({error}); it is made anew.")
                return
        self._is_file_given_up = True
        self._place.tell(f"The search index {path} cannot be used ({error}); it is kept in memory this time.")

    def _choose_path(self, library: Library) -> Path | None:
        if self._place is None or self._is_file_given_up:
            return None
        path = self._place.find_path(library)
        if path is None or self._place.is_wanted or is_large(library):
            return path
        return path if path.exists() else None


def is_large(library: Library) -> bool:
    """Return whether the index of a library is worth a file."""
    characters = sum(len(document.text) for document in library.documents)
    return len(library) >= _ON_DISK_SECTIONS or characters >= _ON_DISK_CHARACTERS


def delete_index(path: Path) -> bool:
    """Delete the file of an index with its journal, and return whether there was one.

    Raises:
        OSError: It cannot be deleted.
    """
    was_there = path.exists()
    for name in (path.name, f"{path.name}-journal"):
        path.with_name(name).unlink(missing_ok=True)
    return was_there


def _open_file(path: Path) -> SectionStore:
    """Open the file of an index, made where it is missing, for its owner alone.

    Raises:
        IndexLostError: It cannot be used.
    """
    try:
        make_private_folder(path.parent)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        path.chmod(0o600)
    except OSError as error:
        raise IndexLostError(error.strerror or str(error), is_damaged=False) from None
    return SectionStore(path)
