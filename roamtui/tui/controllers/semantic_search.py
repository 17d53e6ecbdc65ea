"""`SemanticSearchController`: switches semantic search on, once a person agrees and all text is embedded, or off."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from textual.screen import Screen
from textual.worker import Worker

from roamtui.agent.loop import Agent
from roamtui.conversation.notices import Severity
from roamtui.errors import RoamtuiError
from roamtui.models.embedders import SemanticSearchOffer
from roamtui.tui.context import TuiOptions
from roamtui.tui.messages import StatusMessage
from roamtui.tui.screens.semantic_search import SemanticSearchDialog

_COMMAND = "/search-by-meaning"
_ONLY_AT_START = "Search by meaning is chosen at the start here: --mode hybrid --embedder NAME."


class SemanticSearchController:
    """Adds semantic search to keyword search, for as long as the document is open."""

    def __init__(
        self,
        screen: Screen[None],
        agent: Agent,
        options: TuiOptions,
        warn: Callable[[str, Severity], None],
    ) -> None:
        """Ask in a dialog over `screen`. `warn` adds a notice to the conversation."""
        self._screen = screen
        self._agent = agent
        self._options = options
        self._warn = warn
        self._indexing: Worker[None] | None = None

    def toggle(self) -> None:
        """Cancel the indexing if it runs, switch semantic search off if it is on, or else offer it.

        If semantic search can only be chosen at the start, only say so.
        """
        propose, searcher = self._options.propose_semantic_search, self._agent.searcher
        if self.cancel():
            return
        if propose is None:
            self._screen.notify(_ONLY_AT_START, severity="warning", markup=False)
        elif searcher is not None and searcher.uses_vectors:
            self._screen.run_worker(self._switch_off(), group="semantic", exit_on_error=False)
        else:
            self._screen.app.push_screen(SemanticSearchDialog(self._agent.load_library, propose), self._start_indexing)

    def cancel(self) -> bool:
        """Cancel the indexing, and return whether it was running. Finished embeddings stay stored."""
        worker, self._indexing = self._indexing, None
        if worker is None or worker.is_finished:
            return False
        worker.cancel()
        self._show_status(f"Indexing cancelled · {_COMMAND} continues")
        return True

    def _start_indexing(self, offer: SemanticSearchOffer | None) -> None:
        if offer is not None:
            self._indexing = self._screen.run_worker(self._switch_on(offer), group="semantic", exit_on_error=False)

    async def _switch_on(self, offer: SemanticSearchOffer) -> None:
        call_soon = asyncio.get_running_loop().call_soon_threadsafe

        def report(done: int, total: int) -> None:
            words = f"{done:,} of {total:,} passages indexed · esc cancels"
            call_soon(partial(self._show_status, words, is_progress=True))

        def warn(sentence: str) -> None:
            call_soon(self._warn, _adapt_embedder_flag(sentence), Severity.WARNING)

        try:
            await self._agent.change_searcher(lambda library: offer.make_searcher(library, warn), report)
        except RoamtuiError as error:
            self._show_status("")
            self._warn(f"Search stays by words: {_adapt_embedder_flag(str(error))}", Severity.ERROR)
        else:
            self._show_status(f"Search by meaning is on · {_COMMAND} switches it off")

    async def _switch_off(self) -> None:
        assert self._options.make_keyword_searcher is not None
        await self._agent.change_searcher(self._options.make_keyword_searcher, lambda _done, _total: None)
        self._show_status("Search by meaning is off")

    def _show_status(self, words: str, *, is_progress: bool = False) -> None:
        if not is_progress or (self._indexing is not None and not self._indexing.is_finished):
            self._screen.post_message(StatusMessage(words, is_progress=is_progress))


def _adapt_embedder_flag(words: str) -> str:
    """Name the setting instead of the flag that an embedder's error suggests, because a running app has no flags."""
    return words.replace("with --embedder", "as `embedder` in config.toml").replace("--embedder", "`embedder`")
