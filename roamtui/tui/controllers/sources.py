"""`SourcesController`: adds, removes and mutes the sources of a conversation, and saves them as a notebook."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from textual.widget import Widget

from roamtui.agent.controller import ConversationController
from roamtui.document.added_sources import list_sources_of
from roamtui.document.library import Library
from roamtui.document.library_source import NOTEBOOK_MARK, LibrarySource, make_short_name
from roamtui.document.plain import sanitise_line
from roamtui.errors import RoamtuiError
from roamtui.tui.messages import StatusMessage
from roamtui.tui.screens.dialogs import ConfirmDialog, PromptDialog


class SourcesController:
    """Changes the sources of one conversation. While a question is being answered, a change waits for its end."""

    def __init__(self, controller: ConversationController, widget: Widget) -> None:
        """Change the conversation of `controller`. `widget` posts messages and runs the work."""
        self._controller = controller
        self._widget = widget

    def add(self, name: str) -> None:
        """Add a document, folder or site."""
        self._widget.post_message(StatusMessage(f"Adding {make_short_name(name)}…", is_progress=True))

        async def add() -> str:
            try:
                source = await self._controller.add_source(name)
            except BaseException:
                self._widget.post_message(StatusMessage(""))
                raise
            return f"Added {sanitise_line(source.title)}: your next question sees it"

        self._run(add())

    def toggle_mute(self, section_id: str | None) -> None:
        """Mute the source of a section, or unmute it."""
        if (source := self._get_source(section_id)) is None:
            self._warn_only_source()
            return

        async def toggle() -> str:
            await self._controller.mute_source(source.key, is_muted=not source.is_muted)
            words = "may be asked again" if source.is_muted else "muted: the model no longer sees it"
            return f"{sanitise_line(source.title)} {words}"

        self._run(toggle())

    def remove(self, section_id: str | None) -> None:
        """Take the source of a section out of the conversation, after asking the person."""
        if (source := self._get_source(section_id)) is None:
            self._warn_only_source()
            return
        title = sanitise_line(source.title)

        async def remove_source() -> str:
            await self._controller.remove_source(source.key)
            return f"Took out {title}; its files stay as they are"

        name = self._controller.state.library.source
        place = f"the notebook {sanitise_line(name)}" if name.startswith(NOTEBOOK_MARK) else "this conversation"
        question = f"Take {title} out of {place}?"
        dialog = ConfirmDialog(question, "Its open sections close. No file is changed.", yes="Take out")
        dialog.ask(self._widget.app, lambda: self._run(remove_source()))

    def save_as_notebook(self, save: Callable[[str, Library], None], open_key: str) -> None:
        """Ask for a name, and save the sources of the conversation as a new notebook, which `open_key` opens."""
        library = self._controller.state.library
        if library.source.startswith(NOTEBOOK_MARK):
            self._widget.post_message(
                StatusMessage(f"These sources are saved as {sanitise_line(library.source)} already")
            )
            return

        async def write(name: str) -> str:
            await asyncio.to_thread(save, name, library)
            return f'Saved the notebook "{name}": {open_key} opens it'

        def write_named(answer: str | None) -> None:
            if name := (answer or "").removeprefix(NOTEBOOK_MARK):
                self._run(write(name))

        titles = ", ".join(source.title for source in list_sources_of(library))
        foot = "enter to save, esc to cancel"
        prompt = PromptDialog("Save the sources as a notebook called", "", detail=titles, foot=foot)
        self._widget.app.push_screen(prompt, write_named)

    def _run(self, change: Awaitable[str]) -> None:
        async def run() -> None:
            try:
                self._widget.post_message(StatusMessage(await change))
            except RoamtuiError as error:  # a narrow screen may not show the conversation
                self._widget.notify(str(error), severity="warning", markup=False)

        self._widget.run_worker(run(), group="sources", exit_on_error=False)

    def _get_source(self, section_id: str | None) -> LibrarySource | None:
        library = self._controller.state.library
        if section_id is None or section_id not in library:
            return None
        sources = list_sources_of(library)
        return library.source_of(section_id) if len(sources) > 1 else None

    def _warn_only_source(self) -> None:
        words = "This is the only source of the conversation. Add another one first."
        self._widget.notify(words, severity="warning", markup=False)
