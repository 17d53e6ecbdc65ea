"""`Reloading`: reading the document again, because a person wants it or because it has changed on disk."""

from __future__ import annotations

import asyncio

from roamtui.document.library import Library
from roamtui.errors import RoamtuiError
from roamtui.tui.screens.main import MainScreen
from roamtui.tui.source_watch import SourceWatch

_NOTES_SHOWN = 3


class Reloading:
    """Brings the document of today into the conversation that goes on."""

    def __init__(self, screen: MainScreen, watch: SourceWatch) -> None:
        """Watch what `screen` shows, by `watch` where that is a file."""
        self._screen = screen
        self._context = screen.app_context
        self._watch = SourceWatch(self._context.look) if self._context.look is not None else watch

    @property
    def _can_read(self) -> bool:
        return self._context.read_again is not None or self._context.read_changed is not None

    def _read(self, before: Library, changed: frozenset[str]) -> Library:
        if self._context.read_changed is not None:
            return self._context.read_changed(before, changed)
        assert self._context.read_again is not None
        return self._context.read_again()

    async def look(self) -> None:
        """Look at the file; where it has changed say so, or read it again at once if the person wants that."""
        if not self._can_read:
            return
        is_new = await asyncio.to_thread(self._watch.look)
        if self._context.is_watching and self._watch.is_stale:
            if not self._screen.session.state.is_asking:
                await self.reload()
        elif is_new:
            key = self._screen.keys.show_first("global.reload")
            self._screen.status_line.change(alert=f"the document changed on disk; {key} reads it again")

    async def reload(self) -> None:
        """Read the document again and go on over it; what is open and where the person is stays.

        Nothing changes where it is as it was, or while an answer is under way.

        Raises:
            RoamtuiError: It cannot be read; the one that was read before stays.
        """
        if not self._can_read:
            raise RoamtuiError("This document cannot be read again: it came through a pipe.")
        stamps = await asyncio.to_thread(self._watch.measure)
        changed = self._watch.find_changed(stamps)
        before, status = self._screen.session.state.library, self._screen.status_line
        try:
            library = await asyncio.to_thread(self._read, before, changed)
        finally:
            self._watch.take(stamps)
            status.change(alert="")
        for note in _find_news(library.notes, before.notes):
            self._screen.chat_log.add_notice(note)
        if _is_same(library, before):
            status.change(message="the document is as it was")
        elif await self._screen.conversing.reload(library):
            count = len(library)
            status.change(message=f"read again: {count:,} section{'' if count == 1 else 's'}")
            self._screen.header.show(library.title, library.source)
            self._screen.reader_pane.show_again(library)
        else:
            self._watch.forget()


def _find_news(notes: tuple[str, ...], before: tuple[str, ...]) -> tuple[str, ...]:
    """Return the notes on a document that were not told when it was read before, the first few and a count."""
    news = [note for note in notes if note not in before]
    more = len(news) - _NOTES_SHOWN
    return (*news[:_NOTES_SHOWN], f"{more} more notes on what was read.") if more > 1 else tuple(news)


def _is_same(library: Library, before: Library) -> bool:
    """Return whether a document is as it was, with the pages of its links."""
    hashes, now = ({document.key: document.content_hash for document in one.documents} for one in (before, library))
    return library.content_hash == before.content_hash and len(library) == len(before) and hashes == now
