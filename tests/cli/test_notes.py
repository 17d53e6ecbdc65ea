"""`roamtui notes`."""

from pathlib import Path

from roamtui.bootstrap import open_library
from roamtui.conversation.log import ConversationStore
from roamtui.conversation.notes import NoteStore, make_note
from roamtui.paths import conversations_path
from roamtui.quotes.recheck import cite_span
from tests.cli.conftest import RunCommand
from tests.conversation.conversations import find


def test_what_was_kept_is_printed_and_deleted_of_a_document_that_is_gone_too(run: RunCommand, garden: Path) -> None:
    assert run("notes").out.startswith("No notes yet")
    library = open_library((str(garden),))
    folder = ConversationStore(conversations_path()).notes_folder
    note = make_note(library, cite_span(find(library, "Tools"), None, library), "Sharpen them.")
    NoteStore(folder, library.source).save(note)
    assert run("notes").out == f"{garden}  (1 note)\n"
    printed = run("notes", garden)
    assert (printed.code, "## Tools\n" in printed.out, "Sharpen them.\n" in printed.out) == (0, True, True)
    garden.unlink()
    gone = run("notes", garden)
    assert (gone.code, "Sharpen them.\n" in gone.out, "shown as they were saved" in gone.err) == (0, True, True)
    deleted = run("notes", garden, "--delete")
    assert (deleted.code, run("notes", garden).code) == (0, 1)
    assert all(b"Sharpen" not in file.read_bytes() for file in folder.rglob("*") if file.is_file())
    assert run("notes", "--delete").code == 2
