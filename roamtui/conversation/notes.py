"""`NoteStore`: a person's notes on one document, in a file next to the conversations."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path, PurePath

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from roamtui.conversation.citations import Citation
from roamtui.conversation.library_sync import get_source_key
from roamtui.conversation.line_file import acquire_lock, map_store_errors
from roamtui.conversation.log import get_time
from roamtui.document.library import Library
from roamtui.errors import StoreError
from roamtui.outline.labels import strip_heading
from roamtui.paths import hash_source, replace_file
from roamtui.sources.source_names import assign_keys, split_sources
from roamtui.text import shorten

_OPENING_LENGTH = 300
_SUFFIX = ".json"
_BUSY_SECONDS = 5.0
"""Longest wait for another program that writes notes."""


class Note(Struct, frozen=True, kw_only=True):
    """A section or a quote that a person saved, with a comment."""

    id: str
    at: str
    """Time of creation, ISO 8601, UTC."""
    source_key: str = field(name="source")
    """Key of the document; see `get_source_key`."""
    citation: Citation
    """The section, and the quote if words were saved, as they were when the note was created."""
    opening: str = ""
    """The first words of the section's own text below its heading, by which the section is found again."""
    links: tuple[str, ...] = ()
    """Ids of the links that lead to the page of the section, outermost first."""
    comment: str = field(default="", name="words")


def make_note(library: Library, citation: Citation, comment: str) -> Note:
    """Make a note on a citation."""
    section_id = citation.section_id
    nodes = [library.node(node_id) for node_id in (*library.node(section_id).ancestors, section_id)]
    text = strip_heading(library.text_at(library.node(section_id).own_span)).strip()
    return Note(
        id=os.urandom(6).hex(),
        at=get_time(),
        source_key=get_source_key(library),
        citation=citation,
        opening=shorten(text, _OPENING_LENGTH).removesuffix("…"),
        links=tuple(node.id for node in nodes if node.link_url and node.is_loaded),
        comment=comment,
    )


class NoteStore:
    """The notes on the files of a source. Thread-safe. Any method may raise `StoreError`.

    A file can be opened alone, with others, or with its folder. A note is saved under the source with which
    it was made, and each of these sources shows it.
    """

    def __init__(self, folder: Path, source: str) -> None:
        self._folder = folder
        self._source = source

    def read(self) -> tuple[Note, ...]:
        """Return all notes in the order of creation."""
        with map_store_errors("read the notes", self._folder):
            paths = split_sources(self._source)
            own = self._get_path(self._source)
            notes = [*_read(own).values()]
            for other in _list_files(self._folder):
                if other == own:
                    continue
                with suppress(StoreError):  # a damaged file hides only its own notes
                    notes += (
                        note
                        for note in _read(other).values()
                        if any(_locate_file(note).is_relative_to(path) for path in paths)
                    )
            return tuple(sorted(notes, key=lambda note: note.at))

    def save(self, note: Note) -> None:
        """Write a new or changed note."""
        with map_store_errors("save the note", self._folder):
            self._write(note.source_key, {note.id: note})

    def delete(self, ids: Collection[str]) -> None:
        """Delete notes."""
        sources = {note.source_key for note in self.read() if note.id in ids}
        with map_store_errors("delete the note", self._folder):
            for source in sources:
                self._write(source, {}, ids)

    def move_from(self, moved: str) -> None:
        """Take over the notes of the source `moved`, which the document had before."""
        with map_store_errors("move the notes", self._folder):
            if notes := _read(self._get_path(moved)):
                changed = {key: replace(note, source_key=self._source) for key, note in notes.items()}
                self._write(self._source, changed)
                self._write(moved, {}, notes)

    def _get_path(self, source: str) -> Path:
        return self._folder / f"{hash_source(source)}{_SUFFIX}"

    def _write(self, source: str, changed: Mapping[str, Note], deleted_ids: Collection[str] = ()) -> None:
        path = self._get_path(source)
        release = acquire_lock(path, _BUSY_SECONDS)
        try:
            notes = {**_read(path), **changed}
            kept = [msgspec.to_builtins(note) for key, note in notes.items() if key not in deleted_ids]
            # `msgspec.json` refuses lone surrogates, which a document may hold.
            replace_file(path, json.dumps(kept).encode("ascii"))
            for left in self._folder.glob(f".{path.name}-*"):  # of a program that was killed while it wrote
                left.unlink()
        finally:
            release()


def count_notes(folder: Path) -> tuple[dict[str, int], list[StoreError]]:
    """Count the notes on each document, by its key. Return also what is wrong with damaged files.

    Raise `OSError` if the folder cannot be read.
    """
    counts: Counter[str] = Counter()
    problems: list[StoreError] = []
    for path in _list_files(folder):
        try:
            counts.update(note.source_key for note in _read(path).values())
        except StoreError as error:
            problems.append(error)
    return counts, problems


def _list_files(folder: Path) -> list[Path]:
    """List the files with notes. Raise `OSError` if there may be some, but the folder cannot be read."""
    try:
        return [path for path in folder.iterdir() if path.suffix == _SUFFIX]
    except (FileNotFoundError, NotADirectoryError):
        return []


def _locate_file(note: Note) -> PurePath:
    """Return the path of the file that a note is on."""
    paths = split_sources(note.source_key)
    doc = note.citation.doc
    if len(paths) == 1:
        return PurePath(note.source_key, doc)
    name, _, below = doc.partition("/")
    return PurePath(assign_keys([*map(Path, paths)]).get(name, note.source_key), below)


def _read(path: Path) -> dict[str, Note]:
    """Return the notes in a file, by id. Raise an `OSError`, or a `StoreError` if it does not hold notes."""
    if not path.is_file():
        return {}
    try:
        notes = msgspec.convert(json.loads(path.read_bytes()), list[Note])
    except (ValueError, RecursionError):
        problem = f"The file {path} with your notes is damaged. To start without notes, rename it."
        raise StoreError(problem) from None
    return {note.id: note for note in notes}
