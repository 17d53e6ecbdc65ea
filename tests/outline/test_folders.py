"""What a model reads of a folder: a line for each file, and its text when it is opened."""

from __future__ import annotations

from roamtui.document.library import Library
from roamtui.document.node import Span
from roamtui.outline.expansion import ExpandedBlock, render_section
from tests.outline.documents import NONCE
from tests.search.libraries import make_folder

LONG = "Many words stand here. " * 400
LIBRARY = make_folder(
    {
        "short.md": "# Short guide\n\nAll of it.\n",
        "long-guide.md": f"# Long guide\n\nOpening.\n\n## First\n\n{LONG}\n\n## Second\n\n{LONG}\n",
        "two.md": f"# One\n\n{LONG}\n\n# Two\n\n{LONG}\n",
        "sole.md": f"# Sole\n\n{LONG}{LONG}{LONG}\n",
        "empty.md": "",
    }
)


def find(title: str) -> str:
    return next(node_id for node_id in LIBRARY.walk() if LIBRARY.title_of(node_id) == title)


def open_file(title: str, suffix: str = "", library: Library = LIBRARY) -> ExpandedBlock:
    return render_section(library, find(title) + suffix, delivered={}, nonce=NONCE)


def test_a_long_file_gives_its_opening_and_lists_its_sections() -> None:
    block = open_file("long-guide.md")
    text = str(LIBRARY.document("long-guide.md").text)
    assert block.spans == (Span(doc="long-guide.md", start=0, end=text.index("## First")),)
    assert all(f"[{find(title)}] {title}" in block.text for title in ("First", "Second"))
    assert LONG not in block.text


def test_a_long_file_of_several_titles_lists_them() -> None:
    block = open_file("two.md")
    assert block.is_listing
    assert all(f"- [{find(title)}] {title} (" in block.text for title in ("One", "Two"))


def test_a_long_file_of_one_title_is_given_in_pages() -> None:
    first, second = open_file("sole.md"), open_file("sole.md", ":2")
    assert "(Page 1 of 2" in first.text
    assert (first.spans[0].start, first.spans[0].end) == (0, second.spans[0].start)
    assert second.spans[0].end == len(LIBRARY.document("sole.md").text)
