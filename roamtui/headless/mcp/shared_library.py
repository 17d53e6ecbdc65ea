"""What all clients of a server share: the library, read when it is first needed and when it has changed."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from roamtui.conversation.state import KeepOptions
from roamtui.document.build import Loader, load_files
from roamtui.document.library import Library
from roamtui.errors import RoamtuiError
from roamtui.search.base import Searcher

Report = Callable[[int, int], Awaitable[None]]
"""Tells a client how many files are read, and how many there are."""
Read = Callable[[], tuple[Library, Loader | None]]

_REPORT_SECONDS = 0.2
"""Between two reports of how far reading is."""
_LOOK_SECONDS = 2.0
"""Between two looks at whether a source has changed."""


class SharedLibrary:
    """A library that is read once, whoever asks first, and once more after it has changed."""

    def __init__(
        self,
        read: Read,
        *,
        options: KeepOptions,
        make_searcher: Callable[[Library], Searcher] | None = None,
        look: Callable[[], object] | None = None,
    ) -> None:
        """Open the library; its files need not be loaded.

        Args:
            read: Opens what the person named, and gives what loads the rest.
            options: How much a client may have open.
            make_searcher: None where search is off.
            look: Gives another value after a source has changed; None where that is not looked for.

        Raises:
            RoamtuiError: It cannot be opened.
        """
        self._look = look or (lambda: None)
        self._seen = self._look()
        self._read = read
        self.library, self.loader = read()
        self.options = options
        self.searcher: Searcher | None = None
        self.calling = asyncio.Lock()
        """Held while a tool runs: clients share one searcher."""
        self._make_searcher = make_searcher
        self._done, self._total = 0, len(self.library.list_unloaded())
        self._loading: asyncio.Task[None] | None = None
        self._looked_at = 0.0

    @property
    def has_search(self) -> bool:
        """Whether sections can be searched."""
        return self._make_searcher is not None

    async def load(self, report: Report) -> None:
        """Wait until all files are read as they are now; a client that leaves meanwhile stops nothing for others."""
        if self._loading is None:
            self._loading = asyncio.create_task(self._load(self.library, self.loader))
        elif self._loading.done() and (self._loading.exception() is not None or await self._has_changed()):
            self._loading = asyncio.create_task(self._load_again())
        loading, told = self._loading, -1
        while not loading.done():
            if self._total and self._done != told:
                told = self._done
                await report(told, self._total)
            await asyncio.wait({loading}, timeout=_REPORT_SECONDS)
        if told != -1:
            await report(self._total, self._total)
        loading.result()

    async def _has_changed(self) -> bool:
        """Return whether a source is not what it was at the last look, which is not long ago."""
        if time.monotonic() - self._looked_at < _LOOK_SECONDS:
            return False
        self._looked_at = time.monotonic()
        seen = await asyncio.to_thread(self._look)
        has_changed, self._seen = seen != self._seen, seen
        return has_changed

    async def _load_again(self) -> None:
        """Read what has changed; as long as it cannot be read, what was read before stays."""
        try:
            library, loader = await asyncio.to_thread(self._read)
        except RoamtuiError:
            return
        self._done, self._total = 0, len(library.list_unloaded())
        await self._load(library, loader)

    async def _load(self, library: Library, loader: Loader | None) -> None:
        if loader is not None:
            library = await asyncio.to_thread(load_files, library, loader, self._note)
        searcher = self.searcher
        if self._make_searcher is not None:
            searcher = await asyncio.to_thread(self._make_searcher, library)
        self.library, self.loader, self.searcher = library, loader, searcher

    def _note(self, done: int, _total: int) -> None:
        self._done = done
