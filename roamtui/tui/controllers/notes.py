"""`NotesController`: saves notes on sections and quotes, and lists them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import replace

from roamtui.agent.loop import Agent
from roamtui.conversation.library_sync import get_source_key
from roamtui.conversation.notes import NoteStore, make_note
from roamtui.conversation.transcript import Citation
from roamtui.document.node import Span
from roamtui.errors import StoreError
from roamtui.quotes.cited_passage import resolve_citation
from roamtui.quotes.recheck import cite_span, locate_notes
from roamtui.tui.actions import Keymap
from roamtui.tui.chat.content_view import SectionTarget
from roamtui.tui.labels import format_full_path
from roamtui.tui.messages import StatusMessage
from roamtui.tui.screens.notes import NotesScreen, make_note_target, prompt_for_comment
from roamtui.tui.tree.outline_tree import OutlineTree


class NotesController:
    """Saves a person's notes on the document, and marks them in the outline."""

    def __init__(self, agent: Agent, outline: OutlineTree, keys: Keymap) -> None:
        """Save notes on the document of `controller`, and mark their sections in `outline`."""
        self._agent = agent
        self._outline = outline
        self._keys = keys
        store, library = agent.conversation.store, agent.conversation.state.library
        self._notes = None if store is None else NoteStore(store.notes_folder, get_source_key(library))

    def add_note(self, section_id: str, span: Span | None, citation: Citation | None = None) -> None:
        """Ask for a comment, and save it as a note on a section or on part of its text.

        If that text already has a note, change it. If `span` is None, the note is on the text of `citation`, or on the
        whole section if that is None too.
        """
        self._run(self._add_note(section_id, span, citation))

    async def _add_note(self, section_id: str, span: Span | None, citation: Citation | None) -> None:
        state = self._agent.conversation.state
        if self._notes is None or section_id not in state.library:
            notes_off = "Notes are off: conversations are not saved here"
            self._show_status(notes_off if self._notes is None else "No such section")
            return
        cited = cite_span(section_id, span or resolve_citation(citation, state), state.library)
        key = (cited.section_id, cited.quote)
        notes = await asyncio.to_thread(self._notes.read)
        existing = next((note for note in notes if (note.citation.section_id, note.citation.quote) == key), None)
        path = format_full_path(state.library, cited.section_id)
        old_comment = existing.words if existing else ""
        comment = await prompt_for_comment(self._outline.app, old_comment, cited.quote or "", path)
        if comment is None:
            return
        note = replace(existing, words=comment) if existing else make_note(state.library, cited, comment)
        try:
            await asyncio.to_thread(self._notes.save, note)
            self._show_status("Note saved · /notes lists all notes")
        finally:
            self._outline.screen.clear_selection()

    def choose(self, go_to: Callable[[SectionTarget], object]) -> None:
        """List the notes, and go to the one that the person chooses."""
        self._run(self._choose(go_to))

    async def _choose(self, go_to: Callable[[SectionTarget], object]) -> None:
        library = await self._agent.load_library()
        notes = await asyncio.to_thread(self._notes.read) if self._notes else ()
        if self._notes is None or not notes:
            key = self._keys.format_first_key("section.note")
            self._show_status(f"No notes yet · {key} adds the section or selection")
            return
        located = await asyncio.to_thread(locate_notes, notes, library)
        screen = NotesScreen(self._notes, located, library, self._keys)
        chosen = await self._outline.app.push_screen_wait(screen)
        target = make_note_target(chosen, library) if chosen is not None else None
        if target is not None:
            go_to(target)

    def _run(self, work: Coroutine[None, None, None]) -> None:
        self._outline.screen.run_worker(work, group="noting", exit_on_error=False)

    def flush(self) -> None:
        """Before the program ends, save notes that could not be saved earlier."""
        with suppress(StoreError):
            if self._notes is not None:
                self._notes.save()

    def _show_status(self, words: str) -> None:
        self._outline.post_message(StatusMessage(words))
