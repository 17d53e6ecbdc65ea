"""`NoteStore`: what a person kept of one document, in a log beside the conversations.

Of the lines with one id the last counts: other words are one more line. Deleted, all of them are blanked.
"""

from __future__ import annotations

import secrets
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
    blank_lines_out,
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
    """A section of a document that a person kept, or words from it."""

    id: str
    at: str
    """When, ISO 8601, UTC."""
    source: str
    """The document, as conversations about it know it."""
    citation: Citation
    """The section and, where words were kept, these and their place, as they were then."""
    content_hash: str = ""
    """Of the section's own text then; empty where it was not read."""
    opening: str = ""
    """How that began below its heading: by this it is found under another name."""
    links: tuple[str, ...] = ()
    """Links whose pages hold it, each after those that lead to it."""
    words: str = ""
    """The person's own."""


_KINDS = {"note_kept": Note}


def make_note(library: Library, citation: Citation, words: str) -> Note:
    """Return a new note of what is cited, with a person's words."""
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
    """Return the digest of a section's own text, empty where its file or page is not read."""
    return hash_own_text(library, section_id) if library.is_loaded(section_id) else ""


class NoteStore:
    """The notes of one document. Safe to use from several threads and programs."""

    def __init__(self, folder: Path, source: str) -> None:
        """Keep notes in `folder`; `source` is what conversations know the document by."""
        self._path = folder / f"{make_index_stem(source)}{LOG_SUFFIX}"
        self._lock = Lock()
        self._unsaved: dict[str, Note] = {}
        self._unwanted: set[str] = set()
        """Ids of notes that could not be deleted yet, or not all of their bytes."""
        self._appender = Appender()
        self.damage = ""
        """What a person should know of lines that could not be read last time, a sentence."""

    def read(self) -> tuple[Note, ...]:
        """Return all notes, in the order in which they were first kept; those too that could not be written yet.

        Raises:
            StoreError: They cannot be read.
        """
        with self._lock, map_store_errors("Notes cannot be read: {reason} ({folder}).", self._path.parent):
            notes, skipped = _decode(self._path)
        self.damage = format_damage("What is kept of this document is", skipped)
        return tuple((notes | self._unsaved).values())

    def save(self, *notes: Note) -> None:
        """Write notes, new ones or ones with other words, with those that could not be written before.

        Raises:
            StoreError: They are not on disk; the next call tries it again.
        """
        with self._lock, map_store_errors("The note is not saved: {reason} ({folder}).", self._path.parent):
            self._unsaved |= {note.id: note for note in notes}
            if self._unsaved:
                prepare_folder(self._path.parent)
                lines = [encode_entry("note_kept", note, datetime.now(UTC)) for note in self._unsaved.values()]
                with locked(self._path.parent), open_log(self._path) as file:
                    self._appender.append(file, b"".join(lines))
                    self._unsaved = {}
            self._erase()

    def delete(self, ids: Collection[str]) -> None:
        """Delete notes for good: nothing of them is left in any byte of the file.

        Raises:
            StoreError: They could not be deleted; the next call, or the next note, tries it again.
        """
        with self._lock, map_store_errors("The note is not deleted: {reason} ({folder}).", self._path.parent):
            self._unsaved = {key: note for key, note in self._unsaved.items() if key not in ids}
            self._unwanted |= {*ids}
            self._erase()

    def _erase(self) -> None:
        if self._unwanted and self._path.exists():
            blank_lines_out(self._path, [f'"{one}"'.encode() for one in self._unwanted])
        self._unwanted = set()


def count_notes(folder: Path) -> dict[str, int]:
    """Return how many notes there are of each document, by its source.

    Raises:
        OSError: They cannot be read.
    """
    counts: dict[str, int] = {}
    for path in sorted(folder.glob(f"*{LOG_SUFFIX}")):
        for note in _decode(path)[0].values():
            counts[note.source] = counts.get(note.source, 0) + 1
    return counts


def _decode(path: Path) -> tuple[dict[str, Note], list[LogEntrySkipped]]:
    """Return the notes of a file by their ids, and what of it could not be read."""
    lines = path.read_bytes().split(b"\n") if path.exists() else []
    entries = [decode_entry(line, _KINDS) for line in lines if line.strip()]
    notes = {entry.id: entry for entry in entries if isinstance(entry, Note)}
    return notes, [entry for entry in entries if isinstance(entry, LogEntrySkipped)]
