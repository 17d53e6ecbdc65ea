"""`Reloader`: detects when the files of a document change, and reads the document again."""

import asyncio
import os
import time
from collections.abc import Mapping

from roamtui.document.library import Library
from roamtui.errors import RoamtuiError
from roamtui.opening.added_sources import list_sources_of
from roamtui.sources.listing import SourceStamp
from roamtui.sources.read import is_path
from roamtui.sources.source_names import split_sources
from roamtui.sources.stamps import FileStamps
from roamtui.tui.context import DocumentSession

_IDLE_FACTOR = 20
"""Minimum pause between two checks of the files, as a multiple of the time that the last check took."""

_MISSED_MAX = 2
"""If this many checks in a row find no file, it is deleted, not just being replaced."""


class Reloader:
    """Reads the document of a conversation again. Its open sections and the reading position stay."""

    def __init__(self, session: DocumentSession) -> None:
        self._conversation = session.conversation
        self._reload_library = session.reload_library
        self._paths: list[str] = []
        self._files = FileStamps(())
        self.loaded: Mapping[str, SourceStamp] | None = None
        """By key: the stamps of the loaded files, except those written after loading. None until a check."""
        self._seen: Mapping[str, SourceStamp] | None = None
        """The stamps at the last check."""
        self._missed = 0
        """How many checks in a row found no file."""
        self.is_outdated = False
        """Whether the files differ from the library, as far as the last check knows."""
        self._current_at = session.opened_at
        """When the files were last known to be as loaded: when they were opened, or at the last check."""
        self._reloading = asyncio.Lock()
        self._next_check_at = 0.0

    async def check(self) -> bool:
        """Check the files if it is time, and return whether they have changed since the last check.

        `is_outdated` then says whether they differ from the library. A missing file counts at the second
        check, because an editor may be replacing it.
        """
        if self._reload_library is None or self._reloading.locked() or time.monotonic() < self._next_check_at:
            return False
        async with self._reloading:
            started = time.monotonic()
            current_at = self._current_at
            self._current_at = time.time_ns()
            stamps = await asyncio.to_thread(self._read_stamps)
            self._next_check_at = time.monotonic() + (time.monotonic() - started) * _IDLE_FACTOR
            self._missed = 0 if stamps or not self._paths else self._missed + 1
            if not stamps:
                self._seen = None
                self.is_outdated = self.is_outdated or self._missed == _MISSED_MAX
                return self._missed == _MISSED_MAX
            if stamps == self._seen:
                return False
            self._seen = stamps
            if self.loaded is None:
                now = time.time_ns()  # a file may come from a computer whose clock is ahead
                self.loaded = {
                    key: stamp for key, stamp in stamps.items() if not current_at < stamp[0] <= now
                }
            self.is_outdated = stamps != self.loaded
            return True

    def _read_stamps(self) -> Mapping[str, SourceStamp] | None:
        names = [source.name for source in list_sources_of(self._conversation.state.library)]
        paths = [path for name in names if is_path(name) for path in split_sources(name)]
        # a deleted one may come back
        paths = [path for path in paths if path in self._paths or os.path.lexists(path)]
        if paths != self._paths:  # a source was added or taken out, or this is the first check
            self._paths = paths
            self._files = FileStamps(paths)
            self.loaded = None
        return self._files.read()

    async def reload(self) -> tuple[str, list[str]]:
        """Read the document again. Return words for the status line, and the notes that are new.

        Raises:
            RoamtuiError: The document cannot be read. The conversation keeps the old version.
        """
        if self._reload_library is None:
            raise RoamtuiError("The document came from standard input, so it cannot be read again.")
        async with self._reloading:
            watched = (self._paths, self._files, self.loaded)
            self._paths = []  # stop waiting for missing sources
            while True:  # a source may be added while the others are read
                old = self.loaded or {}
                stamps = await asyncio.to_thread(self._read_stamps) or {}
                before = self._conversation.state.library
                self._seen = stamps
                changed = frozenset(
                    key for key in old.keys() | stamps.keys() if old.get(key) != stamps.get(key)
                )
                try:
                    library = await asyncio.to_thread(self._reload_library, before, changed)
                except RoamtuiError as error:
                    self._paths, self._files, self.loaded = watched  # of what is still shown
                    raise RoamtuiError(f"{error} You still see what was read last.") from error
                is_same = _is_same(library, before)
                if is_same or await self._conversation.reload(library):
                    break
            self.loaded = stamps
            self.is_outdated = False
        words = "No changes" if is_same else "Reloaded"
        return words, [note for note in library.notes if note not in before.notes]


def _is_same(library: Library, before: Library) -> bool:
    """Return whether all documents are unchanged, including the pages that were fetched for links."""
    old = {document.key: document.content_hash for document in before.documents}
    is_root_same = library.files_hash == before.files_hash and len(library) == len(before)
    return is_root_same and all(old.get(new.key) == new.content_hash for new in library.documents)
