"""A note is found again in the document of today, or says that it is not."""

from __future__ import annotations

import pytest

from roamtui.agent.placed_notes import cite_place, place_notes, render_notes
from roamtui.agent.recheck import Standing
from roamtui.conversation.notes import Note, make_note
from roamtui.document.library import Library
from roamtui.document.node import Span
from tests.conversation.conversations import find, make_library

TEXT = """# Garden manual

## Tools

A late spade costs 50 cents a day. Rakes are free, and may be kept over the winter.

### Sheds

Each shed has two keys, and the second one lies with the neighbour across the lane.

## Water

The tap is shut in November.
"""
SPADE = "A late spade costs 50 cents a day."


def make(text: str = TEXT) -> Library:
    return make_library(text, source="/docs/garden.md")


def keep(title: str, quote: str = "", words: str = "") -> Note:
    library, span = make(), None
    if quote:
        start = TEXT.index(quote)
        span = Span(doc="", start=start, end=start + len(quote))
    return make_note(library, cite_place(find(library, title), span, library), words)


@pytest.mark.parametrize(
    ("old", "new", "standing", "title"),
    [
        ("## Water", "## Water", Standing.SAME, "Sheds"),
        ("## Tools", "## Spades and such", Standing.MOVED, "Sheds"),
        ("### Sheds", "### Huts", Standing.MOVED, "Huts"),
        ("two keys", "three keys", Standing.CHANGED, "Sheds"),
        (TEXT[TEXT.index("### Sheds") : TEXT.index("## Water")], "", Standing.GONE, None),
    ],
)
def test_a_section_is_found_again(old: str, new: str, standing: Standing, title: str | None) -> None:
    library = make(TEXT.replace(old, new))
    [placed] = place_notes([keep("Sheds")], library)
    assert placed.standing is standing
    assert (None if placed.now is None else library.title_of(placed.now.section_id)) == title
    assert bool(placed.news) is (standing is not Standing.SAME)


@pytest.mark.parametrize(
    ("old", "new", "standing", "found"),
    [
        ("## Water", "## Rain", Standing.SAME, SPADE),
        ("## Tools", "## Spades", Standing.MOVED, SPADE),
        ("50 cents", "2 euros", Standing.CHANGED, SPADE.replace("50 cents", "2 euros")),
        (SPADE, "", Standing.GONE, None),
    ],
)
def test_words_are_found_again(old: str, new: str, standing: Standing, found: str | None) -> None:
    library = make(TEXT.replace(old, new))
    [placed] = place_notes([keep("Tools", SPADE)], library)
    assert placed.standing is standing
    span = None if placed.now is None else placed.now.span
    assert (None if span is None else library.text_at(span)) == found


def test_notes_stand_in_the_order_of_the_document_and_lost_ones_last() -> None:
    notes = [keep("Water"), keep("Sheds"), keep("Tools"), keep("Tools", SPADE)]
    library = make(TEXT.replace(TEXT[TEXT.index("### Sheds") : TEXT.index("## Water")], ""))
    placed = place_notes(notes, library)
    assert [one.note for one in placed] == [notes[2], notes[3], notes[0], notes[1]]


def test_markdown_has_each_place_its_words_and_the_persons_own() -> None:
    notes = [keep("Sheds", words="Ask *Anna*."), keep("Tools", SPADE, "Dear!")]
    library = make(TEXT.replace("50 cents", "2 euros"))
    assert render_notes(place_notes(notes, library), library.source, library.title) == (
        "# Notes: Garden manual\n\nSource: /docs/garden.md\n\n"
        "## Tools\n\n"
        "> A late spade costs 50 cents a day.\n>\n> — garden.md › Tools · line 5\n\n"
        "*(now reads “A late spade costs 2 euros a day.”)*\n\nDear!\n\n"
        "## Tools › Sheds\n\n— garden.md › Sheds · lines 7-10\n\nAsk *Anna*.\n"
    )
