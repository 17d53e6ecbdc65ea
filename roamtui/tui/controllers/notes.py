"""`NotesController`: saves notes on sections and quotes, and lists them."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace

from textual.app import App

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
from roamtui.tui.screens.notes import NotesScreen, make_note_target, prompt_for_comment


class NotesController:
    """A person's notes on the document of an agent. Its methods must be called from a worker of `app`."""

    def __init__(self, app: App[None], agent: Agent, keys: Keymap) -> None:
        self._app = app
        self._agent = agent
        self._keys = keys
        store, library = agent.conversation.store, agent.conversation.state.library
        self._notes = None if store is None else NoteStore(store.notes_folder, get_source_key(library))

    async def add_note(self, section_id: str, span: Span | None, citation: Citation | None = None) -> str:
        """Ask for a comment, and save it as a note on a section or on part of its text. Say what was done.

        If that text already has a note, change it. If `span` is None, the note is on the text of `citation`, or on the
        whole section if that is None too.
        """
        state = self._agent.conversation.state
        if self._notes is None or section_id not in state.library:
            return "Notes are off: conversations are not saved here" if self._notes is None else "No such section"
        cited = cite_span(section_id, span or resolve_citation(citation, state), state.library)
        key = (cited.section_id, cited.quote)
        notes = await asyncio.to_thread(self._notes.read)
        existing = next((note for note in notes if (note.citation.section_id, note.citation.quote) == key), None)
        path = format_full_path(state.library, cited.section_id)
        comment = await prompt_for_comment(self._app, existing.words if existing else "", cited.quote or "", path)
        if comment is None:
            return ""
        note = replace(existing, words=comment) if existing else make_note(state.library, cited, comment)
        await asyncio.to_thread(self._notes.save, note)
        return "Note saved · /notes lists all notes"

    async def choose(self) -> SectionTarget | str:
        """List the notes. Return where the one that the person chooses leads, or words for the status line."""
        library = await self._agent.load_library()
        notes = await asyncio.to_thread(self._notes.read) if self._notes else ()
        if self._notes is None or not notes:
            return f"No notes yet · {self._keys.format_first_key('section.note')} adds the section or selection"
        located = await asyncio.to_thread(locate_notes, notes, library)
        chosen = await self._app.push_screen_wait(NotesScreen(self._notes, located, library, self._keys))
        return (make_note_target(chosen, library) if chosen is not None else None) or ""

    def flush(self) -> None:
        """Before the program ends, save notes that could not be saved earlier."""
        with suppress(StoreError):
            if self._notes is not None:
                self._notes.save()
