"""`roamtui notes`: prints a person's notes."""

from __future__ import annotations

from collections.abc import Callable

from roamtui.conversation.library_sync import get_source_key
from roamtui.conversation.log import ConversationStore
from roamtui.conversation.notes import NoteStore, count_notes
from roamtui.document.counts import format_count
from roamtui.document.library import Library
from roamtui.document.plain import sanitise_line
from roamtui.errors import RoamtuiError
from roamtui.export.markdown import render_notes
from roamtui.headless.output import warn, write_notices, write_text
from roamtui.paths import conversations_path
from roamtui.quotes.recheck import locate_notes


def list_notes() -> None:
    """Write the documents that have notes."""
    counts = count_notes(ConversationStore(conversations_path()).notes_folder)
    for name, count in counts.items():
        write_text(f"{sanitise_line(name)}  ({format_count(count, 'note')})\n")
    if not counts:
        write_text("No notes yet. In the app, b adds one.\n")


def print_notes(source: str, open_source: Callable[[str], Library], *, delete: bool) -> None:
    """Write the notes on a document as Markdown, or delete them.

    Args:
        source: The document; if it no longer exists, its name as `list_notes` writes it.
        open_source: Opens the document.
        delete: Whether to delete the notes.

    Raises:
        RoamtuiError: The document cannot be opened, or has no notes.
    """
    folder = ConversationStore(conversations_path()).notes_folder
    store, library = NoteStore(folder, source), None
    try:
        library = open_source(source)
        store = NoteStore(folder, get_source_key(library))
    except RoamtuiError as error:
        if not store.read():
            raise
        warn(f"showing notes as saved: {error}")
    notes = store.read()
    if delete:
        store.delete([note.id for note in notes])
        write_notices([f"Deleted {format_count(len(notes), 'note')}."])
    elif notes:
        title = library.title if library is not None else notes[0].source
        write_text(render_notes(locate_notes(notes, library), notes[0].source, title))
    else:
        raise RoamtuiError("No notes on this document. In the app, b adds one.")
