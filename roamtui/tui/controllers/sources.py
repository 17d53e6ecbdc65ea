"""`SourcesController`: adds and removes the sources of a conversation."""

from __future__ import annotations

from collections.abc import Awaitable

from textual.widget import Widget

from roamtui.agent.loop import Agent
from roamtui.document.added_sources import list_sources_of
from roamtui.document.library_source import LibrarySource, make_short_name
from roamtui.document.plain import sanitise_line
from roamtui.errors import RoamtuiError
from roamtui.tui.messages import StatusMessage
from roamtui.tui.screens.dialogs import ConfirmDialog


class SourcesController:
    """Changes the sources of one conversation. While a question is being answered, a change waits for its end."""

    def __init__(self, agent: Agent, widget: Widget) -> None:
        """Change the conversation of `controller`. `widget` posts messages and runs the work."""
        self._agent = agent
        self._widget = widget

    def add(self, name: str) -> None:
        """Add a document, folder or site."""
        self._widget.post_message(StatusMessage(f"Adding {make_short_name(name)}…", is_progress=True))

        async def add() -> str:
            try:
                source = await self._agent.conversation.add_source(name)
            except BaseException:
                self._widget.post_message(StatusMessage(""))
                raise
            return f"Added {sanitise_line(source.title)}: your next question sees it"

        self._run(add())

    def remove(self, section_id: str | None) -> None:
        """Take the source of a section out of the conversation, after asking the person."""
        if (source := self._get_source(section_id)) is None:
            self._warn_only_source()
            return
        title = sanitise_line(source.title)

        async def remove_source() -> str:
            await self._agent.conversation.remove_source(source.key)
            return f"Took out {title}; its files stay as they are"

        question = f"Take {title} out of this conversation?"
        dialog = ConfirmDialog(question, "Its open sections close. No file is changed.", yes="Take out")
        dialog.ask(self._widget.app, lambda: self._run(remove_source()))

    def _run(self, change: Awaitable[str]) -> None:
        async def run() -> None:
            try:
                self._widget.post_message(StatusMessage(await change))
            except RoamtuiError as error:  # a narrow screen may not show the conversation
                self._widget.notify(str(error), severity="warning", markup=False)

        self._widget.run_worker(run(), group="sources", exit_on_error=False)

    def _get_source(self, section_id: str | None) -> LibrarySource | None:
        library = self._agent.conversation.state.library
        if section_id is None or section_id not in library:
            return None
        sources = list_sources_of(library)
        return library.source_of(section_id) if len(sources) > 1 else None

    def _warn_only_source(self) -> None:
        words = "This is the only source of the conversation. Add another one first."
        self._widget.notify(words, severity="warning", markup=False)
