"""Numbers follow `Library.walk`, wherever documents are grafted."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from roamtui.document.library import Library
from roamtui.document.parse import parse_document

_TEXTS = st.lists(st.sampled_from(["# A\n\n", "## B\n\n", "### C\n\n", "Words.\n\n"]), max_size=8).map("".join)


@st.composite
def _draw_library(draw: st.DrawFn) -> Library:
    """Draw a document with others grafted below its nodes, at any depth."""
    library = Library(source="test.md", root=parse_document(draw(_TEXTS)))
    for number in range(draw(st.integers(0, 4))):
        free = [section_id for section_id in library.walk() if section_id not in library.grafts]
        if free:
            host = draw(st.sampled_from(free))
            library = library.graft_all({host: parse_document(draw(_TEXTS), key=f"page-{number}.md")})
    return library


@settings(max_examples=200, deadline=None)
@given(_draw_library(), st.data())
def test_numbers_follow_the_library(library: Library, data: st.DataObject) -> None:
    layout = library.numbering
    walked = list(library.walk())
    assert len(layout) == len(walked)
    for number, section_id in enumerate(walked):
        document, row = layout.locate(number)
        assert document.ids[row] == section_id
        assert layout.number_of(document, row) == number
        parent = library.parent(section_id)
        assert layout.parent(number) == (-1 if parent is None else walked.index(parent))
        assert [walked[below] for below in layout.subtree(number)] == list(library.walk(section_id))
    first = data.draw(st.integers(0, len(walked)))
    last = data.draw(st.integers(first, len(walked)))
    runs = layout.iter_runs(range(first, last))
    assert [document.ids[row] for document, start, end in runs for row in range(start, end)] == walked[first:last]
