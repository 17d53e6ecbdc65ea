"""Notes in the current version of their document."""

from pathlib import Path

import pytest

from roamtui.bootstrap import open_library
from roamtui.conversation.library_sync import get_source_key
from roamtui.conversation.notes import Note, NoteStore, make_note
from roamtui.document.library import Library
from roamtui.quotes.current_text import ClaimStatus
from roamtui.quotes.located_notes import locate_notes, make_span_citation
from roamtui.text import Span
from tests.case_files import read_case
from tests.conversation.conversations import find, make_library

TEXT = read_case("garden_to_recheck.md")
SPADE = "A late spade costs 50 cents a day."


def make(text: str = TEXT) -> Library:
    return make_library(text, source="/docs/garden.md")


def keep(title: str, quote: str = "", words: str = "") -> Note:
    library, span = make(), None
    if quote:
        start = TEXT.index(quote)
        span = Span(doc="", start=start, end=start + len(quote))
    return make_note(library, make_span_citation(find(library, title), span, library), words)


@pytest.mark.parametrize(
    ("old", "new", "standing", "title"),
    [
        ("## Water", "## Water", ClaimStatus.UNCHANGED, "Sheds"),
        ("## Tools", "## Spades and such", ClaimStatus.MOVED, "Sheds"),
        ("### Sheds", "### Huts", ClaimStatus.MOVED, "Huts"),
        ("two keys", "three keys", ClaimStatus.CHANGED, "Sheds"),
        (TEXT[TEXT.index("### Sheds") : TEXT.index("## Water")], "", ClaimStatus.GONE, None),
    ],
)
def test_a_noted_section_is_located(old: str, new: str, standing: ClaimStatus, title: str | None) -> None:
    library = make(TEXT.replace(old, new))
    [placed] = locate_notes([keep("Sheds")], library)
    assert placed.status is standing
    assert (None if placed.new_citation is None else library.node(placed.new_citation.section_id).title) == title
    assert bool(placed.change_label) is (standing is not ClaimStatus.UNCHANGED)


def test_notes_are_in_document_order_and_lost_ones_last() -> None:
    notes = [keep("Water"), keep("Sheds"), keep("Tools"), keep("Tools", SPADE)]
    library = make(TEXT.replace(TEXT[TEXT.index("### Sheds") : TEXT.index("## Water")], ""))
    placed = locate_notes(notes, library)
    assert [one.note for one in placed] == [notes[2], notes[3], notes[0], notes[1]]


def test_a_file_has_its_notes_alone_and_with_others(tmp_path: Path) -> None:
    garden, other = tmp_path / "docs" / "garden.md", tmp_path / "docs" / "other.md"
    garden.parent.mkdir()
    garden.write_text(TEXT, "utf-8")
    other.write_text("# Other\n\n## Dues\n\nSix.\n", "utf-8")
    sources = ([garden], [garden, other], [garden.parent], [other])
    libraries = [open_library([*map(str, paths)]) for paths in sources]
    stores = [NoteStore(tmp_path / "notes", get_source_key(library)) for library in libraries]
    for library, store in zip(libraries, stores, strict=True):
        store.save(make_note(library, make_span_citation([*library.walk()][-1], None, library), ""))
    counts = []
    for library, store in zip(libraries, stores, strict=True):
        notes = locate_notes(store.read(), library)
        counts.append(len(notes))
        assert {note.change_label for note in notes} == {""}
    assert counts == [1, 4, 4, 3]
    stores[3].delete([note.id for note in stores[3].read()])
    assert [len(store.read()) for store in stores] == [1, 1, 1, 0]


def test_a_note_on_a_section_without_text_is_there_as_long_as_the_section() -> None:
    library = make("# Garden\n\n## Empty\n\n## Rest\n\nWords.\n")
    note = make_note(library, make_span_citation(find(library, "Empty"), None, library), "To do")
    assert note.opening == ""
    [there] = locate_notes([note], library)
    [gone] = locate_notes([note], make("# Garden\n\n## Rest\n\nWords.\n"))
    assert (there.status, there.new_citation) == (ClaimStatus.UNCHANGED, note.citation)
    assert (gone.status, gone.new_citation) == (ClaimStatus.GONE, None)


def test_a_damaged_file_of_notes_hides_no_other_notes(tmp_path: Path) -> None:
    store = NoteStore(tmp_path, "/docs/garden.md")
    store.save(keep("Sheds"))
    (tmp_path / "other.json").write_text("[", "utf-8")
    assert len(store.read()) == 1


def test_the_notes_of_a_document_that_has_moved_move_too(tmp_path: Path) -> None:
    old = NoteStore(tmp_path, "/docs/garden.md")
    old.save(keep("Sheds"))
    new = NoteStore(tmp_path, "/papers/garden.md")
    new.move_from("/docs/garden.md")
    assert [note.source_key for note in new.read()] == ["/papers/garden.md"]
    assert old.read() == ()
