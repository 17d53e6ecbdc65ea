"""Notes on disk: saved ones survive damage, and deleted ones leave no byte."""

from __future__ import annotations

import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from roamtui.conversation.notes import Note, NoteStore, count_notes, make_note
from roamtui.conversation.transcript import Citation, QuoteState
from roamtui.errors import StoreError
from tests.conversation.conversations import find, locked, make_library

LIBRARY = make_library()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("roamtui.conversation.log._BUSY_SECONDS", 0.05)
    return tmp_path / "data" / "notes"


@pytest.fixture
def notes(folder: Path) -> NoteStore:
    return NoteStore(folder, "manual.md")


def make(words: str = "", title: str = "Alpha") -> Note:
    return make_note(LIBRARY, Citation(section_id=find(LIBRARY, title), quote=None, state=QuoteState.NO_QUOTE), words)


def list_words(folder: Path) -> list[str]:
    """Read the comments as a new program does."""
    return [note.words for note in NoteStore(folder, "manual.md").read()]


def file_of(folder: Path) -> Path:
    [file] = folder.glob("*.jsonl")
    return file


def test_notes_are_private_and_read_back_unchanged(notes: NoteStore, folder: Path) -> None:
    kept = [make("lone \ud800 \n[b]line[/b]"), make(title="Beta")]
    before = os.umask(0)
    try:
        for note in kept:
            notes.save(note)
    finally:
        os.umask(before)
    assert list(NoteStore(folder, "manual.md").read()) == kept
    assert NoteStore(folder, "other.md").read() == ()
    assert count_notes(folder) == {"manual.md": 2}
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (folder.parent, folder, file_of(folder))]
    assert modes == [0o700, 0o700, 0o600]


def test_a_new_comment_replaces_the_old_one(notes: NoteStore, folder: Path) -> None:
    first = make("one")
    notes.save(first)
    notes.save(make("two"))
    notes.save(replace(first, words="one again"))
    assert list_words(folder) == ["one again", "two"]


def test_a_deleted_note_leaves_no_byte_and_others_stay(notes: NoteStore, folder: Path) -> None:
    gone, left = make("to-be-forgotten"), make("to-be-kept")
    for note in (gone, left, replace(gone, words="to-be-forgotten-too")):
        notes.save(note)
    with file_of(folder).open("ab") as file:  # a torn line of it
        file.write(b'{"event": "note_kept", "at": "", "id": "%s", "words": "to-be-for' % gone.id.encode())
    size = file_of(folder).stat().st_size
    notes.delete([gone.id])
    content = file_of(folder).read_bytes()
    assert b"to-be-for" not in content
    assert gone.id.encode() not in content
    assert (len(content), list_words(folder), notes.damage) == (size, ["to-be-kept"], "")
    notes.delete([left.id])
    assert file_of(folder).read_bytes() == b""


def test_unreadable_lines_are_reported_and_stay(notes: NoteStore, folder: Path) -> None:
    notes.save(make("before"))
    strange = b'{"event": "note_drawn", "id": "x", "picture": "..."}\n{"event": "note_kept", "at": "202'
    with file_of(folder).open("ab") as file:
        file.write(strange)
    notes.save(make("after"))
    assert [note.words for note in notes.read()] == ["before", "after"]
    assert "2 entries could not be read" in notes.damage
    assert strange in file_of(folder).read_bytes()


def test_two_programs_write_notes_at_the_same_time(notes: NoteStore, folder: Path) -> None:
    other = NoteStore(folder, "manual.md")
    mine, theirs = make("mine"), make("theirs")
    notes.save(mine)
    other.save(theirs)
    other.delete([mine.id])
    notes.save(make("mine, later"))
    assert list_words(folder) == ["theirs", "mine, later"]


def test_an_unsaved_note_is_reported_and_written_with_the_next(notes: NoteStore, folder: Path) -> None:
    notes.save(make("first"))
    with (
        locked(folder / ".lock"),
        pytest.raises(StoreError, match="Could not save the note: locked by another program"),
    ):
        notes.save(make("second"))
    assert [note.words for note in notes.read()] == ["first", "second"], "it is not lost"
    assert list_words(folder) == ["first"]
    notes.save()
    assert list_words(folder) == ["first", "second"]
