"""`ReloadController`: reads the document again when a person asks for it or when it changes on disk."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping

from roamtui.agent.controller import ConversationController
from roamtui.document.library import Library
from roamtui.errors import RoamtuiError
from roamtui.sources.file_sources import SourceStamp, stamp_source
from roamtui.tui.chat.chat_log import ChatLog
from roamtui.tui.context import AppContext
from roamtui.tui.messages import StatusMessage

_NOTES_SHOWN = 3
_IDLE_FACTOR = 20
"""A pause between two looks at the files takes at least this many times as long as a look."""


class ReloadController:
    """Watches the document's files, and continues the conversation over what they hold now."""

    def __init__(
        self,
        context: AppContext,
        controller: ConversationController,
        chat_log: ChatLog,
        stamp: SourceStamp | None,
        reload_key: str,
        is_asking: Callable[[], bool],
    ) -> None:
        """Watch the document of `context`; `stamp` is what a single file had when it was read."""
        self._context = context
        self._controller = controller
        self._chat_log = chat_log
        self._reload_key = reload_key
        self._is_asking = is_asking
        self.needs_baseline = context.read_stamps is not None
        """Whether the stamps of what was read are not known yet; the first look takes them."""
        self._known: Mapping[str, SourceStamp] | None = {"": stamp} if stamp is not None else None
        """The stamps of what was read, by file."""
        self._seen: Mapping[str, SourceStamp] | None = self._known
        """The stamps at the last look."""
        self._tried: Mapping[str, SourceStamp] | None = self._known
        """The stamps at the last attempt to read. If it failed, only a person or another change repeats it."""
        self._is_looking = False
        self._is_reading = False
        self._next_seconds = 0.0

    async def check(self) -> None:
        """Look at the files; if they have changed, say so, or read them again if the settings ask for it.

        Only one look runs at a time: a second one could see the change while nobody waits for its result, because a
        thread cannot be stopped.
        """
        if self._context.reload_library is None or self._is_looking or self._is_reading:
            return
        self._is_looking = True
        try:
            is_new_change = await self._has_changed()
            if self._context.reload_on_change and self._seen not in (None, self._known, self._tried):
                if not self._is_asking():
                    await self.reload()
            elif is_new_change:
                words = f"Document changed on disk · {self._reload_key} to reload"
                self._chat_log.post_message(StatusMessage(words, is_alert=True))
        finally:
            self._is_looking = False

    async def _has_changed(self) -> bool:
        """Look at the files; return whether that shows a change that no earlier look has shown.

        A file that is missing for a moment, because an editor replaces it, has not changed.
        """
        if time.monotonic() < self._next_seconds:
            return False
        known = self._known
        stamps = await asyncio.to_thread(self._read_stamps)
        if self._is_reading or self._known is not known:
            return False  # the document was read meanwhile, with newer stamps
        if self.needs_baseline:
            self.needs_baseline, self._known, self._seen, self._tried = False, stamps, stamps, stamps
            return False
        if stamps is None or stamps == self._seen:
            return False
        self._seen = stamps
        return stamps != self._known

    def _read_stamps(self) -> Mapping[str, SourceStamp] | None:
        """Return the stamp of each file by its key, or None while the source is missing."""
        started = time.monotonic()
        stamps: Mapping[str, SourceStamp] | None
        if self._context.read_stamps is not None:
            stamps = self._context.read_stamps()
        else:
            stamp = stamp_source(self._controller.state.library.source)
            stamps = {"": stamp} if stamp is not None else None
        ended = time.monotonic()
        self._next_seconds = ended + (ended - started) * _IDLE_FACTOR
        return stamps

    async def reload(self) -> None:
        """Read the document again and continue over it; open sections and the reading position stay.

        Nothing changes if the document is the same, or if it is being read already.

        Raises:
            RoamtuiError: It cannot be read; the conversation continues over the old one.
        """
        if self._context.reload_library is None:
            raise RoamtuiError("Cannot reload: the document came from standard input.")
        if self._is_reading:
            self._chat_log.post_message(StatusMessage("Already reloading"))
            return
        self._is_reading = True
        try:
            stamps = await asyncio.to_thread(self._read_stamps)
            self.needs_baseline, self._tried = False, stamps
            self._seen = self._seen if stamps is None else stamps
            known, now = self._known or {}, stamps or {}
            changed = frozenset(key for key in known.keys() | now.keys() if known.get(key) != now.get(key))
            before = self._controller.state.library
            library = await asyncio.to_thread(self._context.reload_library, before, changed)
            notes = [note for note in library.notes if note not in before.notes]
            more = len(notes) - _NOTES_SHOWN
            if more > 1:
                notes[_NOTES_SHOWN:] = [f"{more} more notes about the document."]
            for note in notes:
                self._chat_log.add_notice(note)
            if _is_same(library, before):
                words = "No changes"
            else:
                await self._controller.reload(library)
                count = len(library)
                words = f"Reloaded: {count:,} section{'' if count == 1 else 's'}"
            self._known = stamps
            self._chat_log.post_message(StatusMessage(words))
        finally:
            self._is_reading = False
            self._chat_log.post_message(StatusMessage("", is_alert=True))


def _is_same(library: Library, before: Library) -> bool:
    """Return whether no document has changed, nor any page that was fetched for a link."""
    hashes, now = ({document.key: document.content_hash for document in one.documents} for one in (before, library))
    is_as_long = library.content_hash == before.content_hash and len(library) == len(before)
    return is_as_long and now.items() <= hashes.items()
