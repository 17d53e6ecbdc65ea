"""`NoteStore`: a person's notes on one document, in a log next to the conversations.

Changing a comment appends a line with the same id, and the last line counts. Deleting a note blanks all its lines.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock

from roamtui.conversation.events import LogEntrySkipped
from roamtui.conversation.library_sync import get_source_key, list_links_to
from roamtui.conversation.log import (
    LOG_SUFFIX,
    Appender,
    blank_lines,
    decode_entry,
    encode_entry,
    format_damage,
    locked,
    map_store_errors,
    open_log,
    prepare_folder,
)
from roamtui.conversation.transcript import Citation
from roamtui.conversation.update import hash_own_text
from roamtui.document.library import Library
from roamtui.document.plain import shorten
from roamtui.outline.labels import strip_heading
from roamtui.paths import make_index_stem

_OPENING_LENGTH = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A section or a quote that a person saved, with a comment."""

    id: str
    at: str
    """Time of creation, ISO 8601, UTC."""
    source: str
    """Key of the document; see `get_source_key`."""
    citation: Citation
    """The section, and the quote if words were saved, as they were when the note was created."""
    content_hash: str = ""
    """Digest of the section's own text; empty if the text was not loaded."""
    opening: str = ""
    """The first words of the section's own text below its heading. They help to find the section if it is renamed."""
    links: tuple[str, ...] = ()
    """Ids of the links that lead to the page of the section, outermost first."""
    words: str = ""
    """The person's comment."""


_KINDS = {"note_kept": Note}


def make_note(library: Library, citation: Citation, words: str) -> Note:
    """Make a note on a citation. `words` is the person's comment."""
    section_id = citation.section_id
    return Note(
        id=secrets.token_hex(6),
        at=datetime.now(UTC).isoformat(timespec="milliseconds"),
        source=get_source_key(library),
        citation=citation,
        content_hash=hash_section(library, section_id),
        opening=shorten(strip_heading(library.own_text(section_id)).strip(), _OPENING_LENGTH).removesuffix("…"),
        links=tuple(list_links_to(library, section_id)),
        words=words,
    )


def hash_section(library: Library, section_id: str) -> str:
    """Hash a section's own text. Return an empty string if the section's file or page is not loaded."""
    return hash_own_text(library, section_id) if library.is_loaded(section_id) else ""


class NoteStore:
    """The notes of one document. Safe to use from several threads and programs."""

    def __init__(self, folder: Path, source: str) -> None:
        """Store notes in `folder`, under the key of the document."""
        self._path = folder / f"{make_index_stem(source)}{LOG_SUFFIX}"
        self._lock = Lock()
        self._unsaved: dict[str, Note] = {}
        self._deleted_ids: set[str] = set()
        """Ids of deleted notes whose lines may still be on disk."""
        self._appender = Appender()
        self.damage = ""
        """A warning about the lines that the last `read` skipped; empty if it skipped none."""

    def read(self) -> tuple[Note, ...]:
        """Return all notes in the order of creation, including those that could not be written yet.

        Raises:
            StoreError: The notes cannot be read.
        """
        with self._lock, map_store_errors("Could not read the notes: {reason} ({folder}).", self._path.parent):
            notes, skipped = _decode(self._path)
        self.damage = format_damage("The list of notes is", skipped)
        return tuple((notes | self._unsaved).values())

    def save(self, *notes: Note) -> None:
        """Write new or changed notes, and also those that an earlier call could not write.

        Raises:
            StoreError: The notes are not on disk. The next call tries again.
        """
        with self._lock, map_store_errors("Could not save the note: {reason} ({folder}).", self._path.parent):
            self._unsaved |= {note.id: note for note in notes}
            if self._unsaved:
                prepare_folder(self._path.parent)
                lines = [encode_entry("note_kept", note, datetime.now(UTC)) for note in self._unsaved.values()]
                with locked(self._path.parent), open_log(self._path) as file:
                    self._appender.append(file, b"".join(lines))
                    self._unsaved = {}
            self._erase()

    def delete(self, ids: Collection[str]) -> None:
        """Delete notes and overwrite their bytes.

        Raises:
            StoreError: The notes could not be deleted. The next call of `delete` or `save` tries again.
        """
        with self._lock, map_store_errors("Could not delete the note: {reason} ({folder}).", self._path.parent):
            self._unsaved = {key: note for key, note in self._unsaved.items() if key not in ids}
            self._deleted_ids |= {*ids}
            self._erase()

    def _erase(self) -> None:
        if self._deleted_ids and self._path.exists():
            blank_lines(self._path, [f'"{note_id}"'.encode() for note_id in self._deleted_ids])
        self._deleted_ids = set()


def count_notes(folder: Path) -> dict[str, int]:
    """Count the notes on each document, by its key.

    Raises:
        OSError: The notes cannot be read.
    """
    paths = sorted(folder.glob(f"*{LOG_SUFFIX}"))
    return Counter(note.source for path in paths for note in _decode(path)[0].values())


def _decode(path: Path) -> tuple[dict[str, Note], list[LogEntrySkipped]]:
    """Return the notes in a file, by id, and the entries that had to be skipped."""
    lines = path.read_bytes().split(b"\n") if path.exists() else []
    entries = [decode_entry(line, _KINDS) for line in lines if line.strip()]
    notes = {entry.id: entry for entry in entries if isinstance(entry, Note)}
    return notes, [entry for entry in entries if isinstance(entry, LogEntrySkipped)]
