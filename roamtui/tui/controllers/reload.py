"""`ReloadController`: reads the document again when a person asks for it or when it changes on disk."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping

from roamtui.agent.loop import Agent
from roamtui.document.counts import format_count
from roamtui.document.library import Library
from roamtui.errors import RoamtuiError
from roamtui.sources.file_sources import FileStamps, SourceStamp, split_sources, stamp_source
from roamtui.sources.read import is_path
from roamtui.tui.chat.chat_log import ChatLog
from roamtui.tui.context import AppContext
from roamtui.tui.messages import StatusMessage

_NOTES_SHOWN = 3
_IDLE_FACTOR = 20
"""Minimum pause between two checks of the files, as a multiple of the time that the last check took."""


class ReloadController:
    """Watches the document's files, and reloads the document for the conversation."""

    def __init__(
        self,
        context: AppContext,
        agent: Agent,
        chat_log: ChatLog,
        stamp: SourceStamp | None,
        reload_key: str,
    ) -> None:
        """Watch the document of `context`. If it is a single file, `stamp` is the file's stamp when it was read."""
        self._context = context
        self._agent = agent
        self._chat_log = chat_log
        self._reload_key = reload_key
        self.needs_baseline = context.read_stamps is not None
        """Whether the stamps of the loaded files are not known yet. Then the first check reads them."""
        self._loaded_stamps: Mapping[str, SourceStamp] | None = {"": stamp} if stamp is not None else None
        """The stamps of the loaded files, by key."""
        self._seen_stamps: Mapping[str, SourceStamp] | None = self._loaded_stamps
        """The stamps at the last check."""
        self._is_checking = False
        self._is_reloading = False
        self._next_check_at = 0.0
        self._watched_paths: list[str] = []
        """Paths of the sources, if a person has added some."""
        self._watched_stamps: FileStamps | None = None

    async def check(self) -> None:
        """Check the files. If they have changed, say so, or reload the document if the settings ask for it.

        Only one check runs at a time, and none is cancelled. The thread of a cancelled check would continue, and record
        a change that nobody is told about. If a reload fails, only a person or another change repeats it.
        """
        reloads = self._context.reload_on_change
        if self._context.reload_library is None or self._is_checking or self._is_reloading:
            return
        if reloads and self._agent.conversation.lock.locked():  # a question is being answered
            return
        self._is_checking = True
        try:
            if not await self._detect_change():
                return
            if reloads:
                await self.reload()
            else:
                words = f"Document changed on disk · {self._reload_key} to reload"
                self._chat_log.post_message(StatusMessage(words, is_alert=True))
        finally:
            self._is_checking = False

    async def _detect_change(self) -> bool:
        """Check the files, if it is time. Return whether they differ from the last check and from what is loaded.

        A file that is missing for a moment, because an editor replaces it, counts as unchanged.
        """
        if time.monotonic() < self._next_check_at:
            return False
        loaded_stamps = self._loaded_stamps
        stamps = await asyncio.to_thread(self._read_stamps)
        if self._is_reloading or self._loaded_stamps is not loaded_stamps:
            return False  # the document was reloaded meanwhile, with newer stamps
        if self.needs_baseline:
            self.needs_baseline = False
            self._loaded_stamps = self._seen_stamps = stamps
            return False
        if stamps is None or stamps == self._seen_stamps:
            return False
        self._seen_stamps = stamps
        return stamps != self._loaded_stamps

    def _read_stamps(self) -> Mapping[str, SourceStamp] | None:
        """Return the stamp of each file by its key, or None while the source is missing. Schedule the next check."""
        started = time.monotonic()
        stamps: Mapping[str, SourceStamp] | None
        sources = self._agent.conversation.state.library.sources
        paths = [path for source in sources if is_path(source.name) for path in split_sources(source.name)]
        paths = [path for path in paths if os.path.lexists(path)]
        if paths != self._watched_paths:
            self._watched_paths, self.needs_baseline = paths, True
            self._watched_stamps = FileStamps(paths) if paths else None
        if sources:
            stamps = self._watched_stamps.read() if self._watched_stamps is not None else None
        elif self._context.read_stamps is not None:
            stamps = self._context.read_stamps()
        else:
            stamp = stamp_source(self._agent.conversation.state.library.source)
            stamps = {"": stamp} if stamp is not None else None
        ended = time.monotonic()
        self._next_check_at = ended + (ended - started) * _IDLE_FACTOR
        return stamps

    async def reload(self) -> None:
        """Reload the document, and keep the open sections and the reading position.

        Nothing changes if the document is the same, or if it is being reloaded already.

        Raises:
            RoamtuiError: The document cannot be read. The conversation keeps the old version.
        """
        if self._context.reload_library is None:
            raise RoamtuiError("Cannot reload: the document came from standard input.")
        if self._is_reloading:
            self._chat_log.post_message(StatusMessage("Already reloading"))
            return
        self._is_reloading = True
        try:
            stamps = await asyncio.to_thread(self._read_stamps)
            self.needs_baseline = False
            self._seen_stamps = self._seen_stamps if stamps is None else stamps
            old_stamps, new_stamps = self._loaded_stamps or {}, stamps or {}
            keys = old_stamps.keys() | new_stamps.keys()
            changed = frozenset(key for key in keys if old_stamps.get(key) != new_stamps.get(key))
            old_library = self._agent.conversation.state.library
            library = await asyncio.to_thread(self._context.reload_library, old_library, changed)
            notes = [note for note in library.notes if note not in old_library.notes]
            more = len(notes) - _NOTES_SHOWN
            if more > 1:
                notes[_NOTES_SHOWN:] = [f"{more} more notes about the document."]
            for note in notes:
                self._chat_log.add_notice(note)
            if _is_same(library, old_library):
                words = "No changes"
            else:
                await self._agent.conversation.reload(library)
                words = f"Reloaded: {format_count(len(library), 'section')}"
            self._loaded_stamps = stamps
            self._chat_log.post_message(StatusMessage(words))
        finally:
            self._is_reloading = False
            self._chat_log.post_message(StatusMessage("", is_alert=True))


def _is_same(library: Library, old_library: Library) -> bool:
    """Return whether all documents are unchanged, including the pages that were fetched for links."""
    old_hashes, new_hashes = (
        {document.key: document.content_hash for document in each.documents} for each in (old_library, library)
    )
    is_root_same = library.content_hash == old_library.content_hash and len(library) == len(old_library)
    return is_root_same and new_hashes.items() <= old_hashes.items()
