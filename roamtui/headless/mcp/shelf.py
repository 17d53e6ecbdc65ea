"""What all clients of a server share: the library, loaded when it is first needed, and what searches it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from roamtui.document.loader import load_files

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from roamtui.conversation.state import KeepOptions
    from roamtui.document.library import Library
    from roamtui.document.loader import Loader
    from roamtui.search.base import Searcher

    Report = Callable[[int, int], Awaitable[None]]
    """Tells a client how many files are read, and how many there are."""

_LOOK_SECONDS = 0.2
"""Between two looks at how far reading is; a client sees no more from more of them."""


class Shelf:
    """A library that is read once, whoever asks first."""

    def __init__(
        self,
        library: Library,
        loader: Loader | None,
        make_searcher: Callable[[Library], Searcher] | None,
        options: KeepOptions,
    ) -> None:
        """Begin with a library whose files need not be loaded.

        Args:
            library: What the person named.
            loader: Reads what of it is not loaded.
            make_searcher: None where search is off.
            options: How much a client may have open.
        """
        self.library = library
        self.loader = loader
        self.options = options
        self.searcher: Searcher | None = None
        self.calling = asyncio.Lock()
        """Held while a tool runs: clients share one searcher."""
        self._make_searcher = make_searcher
        self._done = 0
        self._loading: asyncio.Task[None] | None = None

    @property
    def has_search(self) -> bool:
        """Whether sections can be searched."""
        return self._make_searcher is not None

    async def load(self, report: Report) -> None:
        """Wait until all files are read; a client that leaves meanwhile stops nothing for the others."""
        total = len(self.library.list_unloaded()) if self._loading is None else 0
        if self._loading is None:
            self._loading = asyncio.create_task(self._load())
            self._total = total
        told = -1
        while not self._loading.done():
            if self._total and self._done != told:
                told = self._done
                await report(told, self._total)
            await asyncio.wait({self._loading}, timeout=_LOOK_SECONDS)
        if self._total and told != -1:
            await report(self._total, self._total)
        self._loading.result()

    async def _load(self) -> None:
        if self.loader is not None:
            self.library = await asyncio.to_thread(load_files, self.library, self.loader, self._note)
        if self._make_searcher is not None:
            self.searcher = await asyncio.to_thread(self._make_searcher, self.library)

    def _note(self, done: int, _total: int) -> None:
        self._done = done
