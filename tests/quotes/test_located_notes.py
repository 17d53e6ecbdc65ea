"""Notes in the current version of their document."""

import pytest

from roamtui.conversation.notes import Note, make_note
from roamtui.document.library import Library
from roamtui.quotes.current_text import ClaimStatus
from roamtui.quotes.located_notes import cite_span, locate_notes
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
    return make_note(library, cite_span(find(library, title), span, library), words)


@pytest.mark.parametrize(
    ("old", "new", "standing", "title"),
    [
        ("## Water", "## Water", ClaimStatus.SAME, "Sheds"),
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
    assert bool(placed.change_note) is (standing is not ClaimStatus.SAME)


def test_notes_are_in_document_order_and_lost_ones_last() -> None:
    notes = [keep("Water"), keep("Sheds"), keep("Tools"), keep("Tools", SPADE)]
    library = make(TEXT.replace(TEXT[TEXT.index("### Sheds") : TEXT.index("## Water")], ""))
    placed = locate_notes(notes, library)
    assert [one.note for one in placed] == [notes[2], notes[3], notes[0], notes[1]]


def test_a_note_on_a_section_without_text_is_there_as_long_as_the_section() -> None:
    library = make("# Garden\n\n## Empty\n\n## Rest\n\nWords.\n")
    note = make_note(library, cite_span(find(library, "Empty"), None, library), "To do")
    assert note.opening == ""
    [there] = locate_notes([note], library)
    [gone] = locate_notes([note], make("# Garden\n\n## Rest\n\nWords.\n"))
    assert (there.status, there.new_citation) == (ClaimStatus.SAME, note.citation)
    assert (gone.status, gone.new_citation) == (ClaimStatus.GONE, None)
