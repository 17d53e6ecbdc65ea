"""`roamtui notes`: what a person kept of a document, printed or deleted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from roamtui.agent.placed_notes import place_notes, render_notes
from roamtui.conversation.loading import identify_source
from roamtui.conversation.notes import Notes, count_notes
from roamtui.document.library import Library
from roamtui.document.plain import plain_line
from roamtui.errors import RoamtuiError, UsageError
from roamtui.headless.output import write_note, write_notes, write_text


def run_notes(folder: Path, source: str | None, read: Callable[[str], Library], *, is_deleted: bool) -> None:
    """Print or delete the notes of a document, or list the documents of which there are notes.

    Args:
        folder: Where notes lie.
        source: The document, None for the list.
        read: Opens it.
        is_deleted: Whether its notes are to be deleted.

    Raises:
        RoamtuiError: There is nothing to print, the document cannot be opened, or its notes cannot be deleted.
    """
    if source is None:
        if is_deleted:
            raise UsageError("--delete needs the SOURCE whose notes are to be deleted.")
        _print_documents(folder)
        return
    notes, library = Notes(folder, source), None
    try:
        library = read(source)
        notes = Notes(folder, identify_source(library))
    except RoamtuiError as error:
        if not notes.read():
            raise
        write_note(f"roamtui: as they were kept: {error}")
    kept = notes.read()
    write_notes(filter(None, [notes.damage]))
    if is_deleted:
        notes.delete([note.id for note in kept])
        write_notes([f"Deleted {_count(len(kept))}."])
    elif kept:
        title = library.title if library is not None else kept[0].source
        write_text(render_notes(place_notes(kept, library), kept[0].source, title))
    else:
        raise RoamtuiError("Nothing is kept of this document: b in the app keeps a section, or selected words.")


def _print_documents(folder: Path) -> None:
    counts = count_notes(folder)
    for source, count in counts.items():
        write_text(f"{plain_line(source)}  ({_count(count)})\n")
    if not counts:
        write_text("No notes yet: b in the app keeps a section, or selected words.\n")
    if Path("notes").exists():
        write_notes(["What is called notes here is opened by: roamtui ./notes"])


def _count(number: int) -> str:
    return "1 note" if number == 1 else f"{number:,} notes"
