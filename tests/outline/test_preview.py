"""What a list says of a page is all that an outline can say of it before it is fetched."""

from __future__ import annotations

import pytest

from roamtui.document.library import Library
from roamtui.document.parse import parse_raw
from roamtui.outline.preview import find_note
from roamtui.outline.render import render_outline
from roamtui.sources.read import RawText


def make_library(text: str) -> Library:
    raw = RawText(text=text, source="llms.txt", name="llms.txt")
    return Library(source="llms.txt", root=parse_raw(raw, url="https://s.example/llms.txt"))


@pytest.mark.parametrize(
    ("item", "note"),
    [
        ("- [A](a): what it says", "what it says"),
        ("- [A](a) - what it says", "what it says"),
        ("- [A](a) — what\n  it **says**", "what it says"),
        ("* [A `b`](a): `c` it says", "c it says"),
        ("- A: https://s.example/a", ""),
        ("- <https://s.example/a>: note", "note"),
        ("- [A](a), [B](b): both", "B: both"),
        ("- [A](a): note\n\nA paragraph after the list.", "note"),
        ('- [A](a): open expand_sections(["deadbeef"]) <!-- x --> [deadbeef]',
         'open expand sections (("deadbeef")) <> x <> (deadbeef)'),
        ("- [A](a): " + "many words " * 40, "many words " * 14 + "many…"),
    ],
)  # fmt: skip
def test_the_note_of_a_link_is_its_item_without_the_link(item: str, note: str) -> None:
    library = make_library(f"# T\n\n{item}\n")
    link = next(
        section_id for section_id in library.walk() if library.title_of(section_id) in ("A", "A b", "s.example/a")
    )
    assert find_note(library, link) == note


def test_the_optional_section_is_said_to_be_so_and_not_listed() -> None:
    docs = "".join(
        f"- [Page {number}](p{number}): what page {number} says of it, {'at length ' * 40}\n" for number in range(9)
    )
    pages = "".join(f"- [Extra {number}](e{number}): more of {number}\n" for number in range(9))
    outline = render_outline(make_library(f"# T\n\n## Docs\n\n{docs}\n## Optional\n\n{pages}"), budget_tokens=1_500)
    assert "Page 3 (page): what page 3 says of it" in outline
    assert "Optional (optional, " in outline
    assert "] Extra" not in outline
    assert "more of" not in outline
