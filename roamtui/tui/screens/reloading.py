"""`ReloadController`: reading the document again, because a person wants it or because it has changed on disk."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping

from roamtui.document.library import Library
from roamtui.errors import RoamtuiError
from roamtui.sources.file_sources import SourceStamp, stamp_source
from roamtui.tui.screens.main import MainScreen

_NOTES_SHOWN = 3
_IDLE_SHARE = 20
"""How many times longer than a look the pause after it is, at least."""


class ReloadController:
    """Brings the document of today into the conversation that goes on."""

    def __init__(self, screen: MainScreen, stamp: SourceStamp | None) -> None:
        """Watch what `screen` shows; `stamp` is that of a single file when it was read."""
        self._screen = screen
        self._context = screen.app_context
        self.needs_baseline = self._context.read_stamps is not None
        """Whether nobody has looked yet: what the first look shows is taken for what was read."""
        self._known: Mapping[str, SourceStamp] | None = {"": stamp} if stamp is not None else None
        """The stamps of what was read, by file."""
        self._seen: Mapping[str, SourceStamp] | None = self._known
        """Those of the last look."""
        self._tried: Mapping[str, SourceStamp] | None = self._known
        """Those of the last attempt to read, which may have failed: it is not repeated unasked."""
        self._is_looking = False
        self._is_reading = False
        self._next_seconds = 0.0

    async def check(self) -> None:
        """Look at the files; if they have changed, say so, or read them again at once if the person wants that.

        Only one look is under way at a time. A thread cannot be stopped: a look that nobody waited for would see the
        change, and nobody would hear of it.
        """
        if self._context.reload_library is None or self._is_looking or self._is_reading:
            return
        self._is_looking = True
        try:
            is_news = await self._has_changed()
            if self._context.reload_on_change and self._seen not in (None, self._known, self._tried):
                if not self._screen.is_asking:
                    await self.reload()
            elif is_news:
                key = self._screen.keys.format_first_key("global.reload")
                self._screen.status_line.update_status(alert=f"the document changed on disk; {key} reads it again")
        finally:
            self._is_looking = False

    async def _has_changed(self) -> bool:
        """Look at the files; return whether that shows a change that no earlier look has shown.

        What is away for a moment, such as a file that an editor is replacing, has not changed. If looking takes long,
        it is done less often.
        """
        if time.monotonic() < self._next_seconds:
            return False
        known = self._known
        stamps = await asyncio.to_thread(self._read_stamps)
        if self._is_reading or self._known is not known:
            return False  # the document was read meanwhile, with a newer look
        if self.needs_baseline:
            self.needs_baseline, self._known, self._seen, self._tried = False, stamps, stamps, stamps
            return False
        if stamps is None or stamps == self._seen:
            return False
        self._seen = stamps
        return stamps != self._known

    def _read_stamps(self) -> Mapping[str, SourceStamp] | None:
        """Return the stamp of each file of today by its key, None while the source is not there."""
        started = time.monotonic()
        stamps: Mapping[str, SourceStamp] | None
        if self._context.read_stamps is not None:
            stamps = self._context.read_stamps()
        else:
            stamp = stamp_source(self._screen.session.state.library.source)
            stamps = {"": stamp} if stamp is not None else None
        ended = time.monotonic()
        self._next_seconds = ended + (ended - started) * _IDLE_SHARE
        return stamps

    async def reload(self) -> None:
        """Read the document again and go on over it; what is open and where the person is stays.

        Nothing changes if it is the same, while an answer is under way, or while it is being read already.

        Raises:
            RoamtuiError: It cannot be read; the one that was read before stays.
        """
        if self._context.reload_library is None:
            raise RoamtuiError("This document cannot be read again: it came through a pipe.")
        status = self._screen.status_line
        if self._is_reading:
            return status.update_status(message="the document is being read already")
        self._is_reading = True
        try:
            stamps = await asyncio.to_thread(self._read_stamps)
            self.needs_baseline, self._tried = False, stamps
            self._seen = self._seen if stamps is None else stamps
            known, now = self._known or {}, stamps or {}
            changed = frozenset(key for key in known.keys() | now.keys() if known.get(key) != now.get(key))
            before = self._screen.session.state.library
            library = await asyncio.to_thread(self._context.reload_library, before, changed)
            news = [note for note in library.notes if note not in before.notes]
            more = len(news) - _NOTES_SHOWN
            if more > 1:
                news[_NOTES_SHOWN:] = [f"{more} more notes on what was read."]
            for note in news:
                self._screen.chat_log.add_notice(note)
            if _is_same(library, before):
                self._known = stamps
                status.update_status(message="the document is as it was")
            else:
                await self._screen.controller.reload(library)
                self._known = stamps
                count = len(library)
                status.update_status(message=f"read again: {count:,} section{'' if count == 1 else 's'}")
                self._screen.header.show(library.title, library.source)
                self._screen.reader_pane.show_again(library)
        finally:
            self._is_reading = False
            status.update_status(alert="")


def _is_same(library: Library, before: Library) -> bool:
    """Return whether a document is as it was, with the pages of its links."""
    hashes, now = ({document.key: document.content_hash for document in one.documents} for one in (before, library))
    is_as_long = library.content_hash == before.content_hash and len(library) == len(before)
    return is_as_long and now.items() <= hashes.items()
