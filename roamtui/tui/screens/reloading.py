"""Reading the document again, because a person wants it or because it has changed on disk."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from roamtui.document.library import Library
from roamtui.errors import RoamtuiError
from roamtui.tui.context import AppContext
from roamtui.tui.keys import Keys
from roamtui.tui.source_watch import SourceWatch
from roamtui.tui.status_line import StatusLine

if TYPE_CHECKING:
    from roamtui.tui.conversing import Conversing


_NOTES_SHOWN = 3


class Reloading:
    """Brings the document of today into the conversation that goes on."""

    def __init__(
        self, context: AppContext, watch: SourceWatch, conversing: Conversing, status: StatusLine, keys: Keys
    ) -> None:
        """Watch what `context` was started with, and tell of it in `status`.

        Args:
            context: Says how to look and how to read again.
            watch: Over a source that is a file.
            conversing: Goes on over the document of today.
            status: Where a person is told.
            keys: Names the key that reads again.
        """
        self._context = context
        self._session = context.agent.session
        self._conversing = conversing
        self._status = status
        self._keys = keys
        self._watch = SourceWatch(context.look) if context.look is not None else watch

    @property
    def _can_read(self) -> bool:
        return self._context.read_again is not None or self._context.read_changed is not None

    def _read(self, before: Library, changed: frozenset[str]) -> Library:
        if self._context.read_changed is not None:
            return self._context.read_changed(before, changed)
        assert self._context.read_again is not None
        return self._context.read_again()

    async def look(self) -> Library | None:
        """Look at the file; where it has changed say so, or read it again at once if the person wants that.

        Returns:
            The document as it is now, None where nothing was read.
        """
        if not self._can_read:
            return None
        is_new = await asyncio.to_thread(self._watch.look)
        if self._context.is_watching and self._watch.is_stale:
            return None if self._session.state.is_asking else await self.reload()
        if is_new:
            key = self._keys.show_first("global.reload")
            self._status.change(alert=f"the document changed on disk; {key} reads it again")
        return None

    async def reload(self) -> Library | None:
        """Read the document again and go on over it; what is open and where the person is stays.

        Returns:
            The document as it is now, None where it is the same or an answer is under way.

        Raises:
            RoamtuiError: It cannot be read; the one that was read before stays.
        """
        if not self._can_read:
            raise RoamtuiError("This document cannot be read again: it came through a pipe.")
        stamps = await asyncio.to_thread(self._watch.measure)
        changed = self._watch.find_changed(stamps)
        before = self._session.state.library
        try:
            library = await asyncio.to_thread(self._read, before, changed)
        finally:
            self._watch.take(stamps)
            self._status.change(alert="")
        for note in _find_news(library.notes, before.notes):
            self._conversing.note(note)
        if _is_same(library, before):
            self._status.change(message="the document is as it was")
            return None
        if not await self._conversing.reload(library):
            self._watch.forget()
            return None
        count = len(library)
        self._status.change(message=f"read again: {count:,} section{'' if count == 1 else 's'}")
        return library


def _find_news(notes: tuple[str, ...], before: tuple[str, ...]) -> tuple[str, ...]:
    """Return the notes on a document that were not told when it was read before, the first few and a count."""
    news = [note for note in notes if note not in before]
    more = len(news) - _NOTES_SHOWN
    return (*news[:_NOTES_SHOWN], f"{more} more notes on what was read.") if more > 1 else tuple(news)


def _is_same(library: Library, before: Library) -> bool:
    """Return whether a document is as it was, with the pages of its links."""
    if library.content_hash != before.content_hash or len(library) != len(before):
        return False
    hashes = {document.key: document.content_hash for document in before.documents}
    return all(hashes.get(document.key) == document.content_hash for document in library.documents)
