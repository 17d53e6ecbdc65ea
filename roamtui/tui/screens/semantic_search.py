"""`SemanticSearchDialog`: says what semantic search would send, to whom, and its cost, before anything is sent."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static
from typing_extensions import override

from roamtui.document.counts import format_count
from roamtui.document.library import Library
from roamtui.document.plain import sanitise_line
from roamtui.document.tokens import format_tokens
from roamtui.errors import RoamtuiError
from roamtui.models.embedders import SemanticSearchOffer
from roamtui.tui.screens.dialogs import Dialog

_INTRODUCTION = "Questions and Find then also match text that says the same in other words."


class SemanticSearchDialog(Dialog[SemanticSearchOffer | None]):
    """Looks for an embedder, and offers it. The result is None if the person declines."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "accept", "Use")]

    def __init__(
        self, load_all: Callable[[], Awaitable[Library]], propose: Callable[[Library], SemanticSearchOffer]
    ) -> None:
        """Offer what `propose` finds for the library that `load_all` returns.

        `propose` is called in a thread.
        """
        super().__init__()
        self.VERTICAL_BREAKPOINTS = [(0, "-short"), (24, "-tall")]
        self._load_all = load_all
        self._propose = propose
        self._offer: SemanticSearchOffer | None = None

    @override
    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(Content.styled("Search by meaning too", "bold $primary"))
            with VerticalScroll(can_focus=False):
                yield Static(Content("Looking for an embedder…"), id="semantic-search-message")
            yield Static(Content("esc to cancel"), classes="foot")

    def on_mount(self) -> None:
        self.run_worker(self._find_embedder(), exit_on_error=False)

    async def _find_embedder(self) -> None:
        message, foot = self.query_one("#semantic-search-message", Static), self.query_one(".foot", Static)
        try:
            library = await self._load_all()
            offer = await asyncio.to_thread(self._propose, library)
        except RoamtuiError as error:
            message.update(Content(sanitise_line(str(error))))
            foot.update(Content("esc to close"))
            return
        rows = [
            Horizontal(Static(Content(label), classes="label"), Static(Content(sanitise_line(words))))
            for label, words in _describe(offer, library)
        ]
        await self.query_one(VerticalScroll).mount_all(rows)
        message.update(Content(_INTRODUCTION))
        foot.update(Content("enter to start, esc to cancel"))
        self._offer = offer

    def action_accept(self) -> None:
        if self._offer is not None:
            self.dismiss(self._offer)


def _describe(offer: SemanticSearchOffer, library: Library) -> Iterator[tuple[str, str]]:
    """Yield the rows of the dialog, each with its label."""
    embedder, estimate = offer.embedder, offer.estimate
    yield "Embedder", f"{embedder.name} ({embedder.reason})"
    if estimate.chunks:
        noun = "file" if library.root.columns.has_files else "page"
        count = len(library.documents) - library.root.columns.has_files
        whose = format_count(estimate.documents, noun) if count > 1 else "this document"
        kilobytes = estimate.size_bytes / 1e3
        size = f"{kilobytes / 1e3:,.1f} MB" if kilobytes >= 100 else f"{kilobytes:,.1f} kB"
        text = f"the text of {whose} ({size}, about {format_tokens(estimate.tokens)} tokens)"
    else:
        text = "no text now, because all of it was embedded before"
    if embedder.receiver:
        yield "Sent", f"{text} to {embedder.receiver}; later, changed text and the words of each question and search"
    else:
        yield "Sent", f"stays on this machine: {text}"
    yield "Cost", _describe_cost(embedder.input_usd, estimate.tokens)
    yield "Undo", "/search-by-meaning again; until all is indexed, search goes on by words"
    yield "Keep", "ends with this session, unless [retrieval] in config.toml says:"
    yield "", 'mode = "hybrid"'
    yield "", f'embedder = "{embedder.name}"'


def _describe_cost(token_usd: float | None, tokens: int) -> str:
    if token_usd is None:
        return "price unknown"
    usd = token_usd * tokens
    if not usd:
        return "none" if not token_usd else "none now"
    return f"about ${usd:.2f}" if usd >= 0.01 else "under $0.01"
