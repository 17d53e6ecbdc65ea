"""Notes on disk: saved ones are read back, deleted ones leave no byte, and a damaged file is left alone."""

import os
import stat
from pathlib import Path

import pytest
from msgspec.structs import replace

from roamtui.conversation.citations import Citation, QuoteState
from roamtui.conversation.notes import Note, NoteStore, count_notes, make_note
from roamtui.errors import StoreError
from tests.conversation.conversations import find, make_library

LIBRARY = make_library()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("roamtui.conversation.notes._BUSY_SECONDS", 0.05)
    return tmp_path / "data" / "notes"


@pytest.fixture
def notes(folder: Path) -> NoteStore:
    return NoteStore(folder, "manual.md")


def make(words: str = "", title: str = "Alpha") -> Note:
    return make_note(LIBRARY, Citation(section_id=find(LIBRARY, title), quote=None, state=QuoteState.NO_QUOTE), words)


def list_words(folder: Path) -> list[str]:
    """Read the comments as a new program does."""
    return [note.comment for note in NoteStore(folder, "manual.md").read()]


def file_of(folder: Path) -> Path:
    [file] = folder.glob("*.json")
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
    assert '"words": "lone' in file_of(folder).read_text("ascii"), "the name on disk stays"
    assert NoteStore(folder, "other.md").read() == ()
    assert count_notes(folder) == ({"manual.md": 2}, [])
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (folder.parent, folder, file_of(folder))]
    assert modes == [0o700, 0o700, 0o600]


@pytest.mark.parametrize("content", [b"", b"{}", b"[{}]", b"\xff", b"[" * 100_000])
def test_a_damaged_file_is_one_sentence_and_stays(notes: NoteStore, folder: Path, content: bytes) -> None:
    notes.save(make("before"))
    file_of(folder).write_bytes(content)
    for call in (notes.read, lambda: notes.save(make("after"))):
        with pytest.raises(StoreError, match="is damaged"):
            call()
    assert file_of(folder).read_bytes() == content
    NoteStore(folder, "other.md").save(replace(make("of another"), source_key="other.md"))
    counts, [problem] = count_notes(folder)
    assert counts == {"other.md": 1}
    assert "is damaged" in str(problem)


def test_a_folder_that_cannot_be_read_is_not_one_without_notes(notes: NoteStore, folder: Path) -> None:
    assert (notes.read(), count_notes(folder)) == ((), ({}, []))
    folder.parent.mkdir()
    folder.symlink_to(folder)
    with pytest.raises(StoreError, match="Could not read the notes"):
        notes.read()
    with pytest.raises(OSError, match="symbolic links"):
        count_notes(folder)


def test_two_programs_write_notes_at_the_same_time(notes: NoteStore, folder: Path) -> None:
    other = NoteStore(folder, "manual.md")
    mine, theirs = make("mine"), make("theirs")
    notes.save(mine)
    other.save(theirs)
    other.delete([mine.id])
    notes.save(make("mine, later"))
    assert list_words(folder) == ["theirs", "mine, later"]
