"""The seed form, to the letter."""

from __future__ import annotations

from roamtui.document.library import Library
from roamtui.outline.render import render_outline
from tests.outline.documents import make_library

_EXPECTED = """\
# Manual <!-- Section collapsed - expand with expand_sections(["55250afe"]) | +4 subsections, ~58 tok -->

Everything about the library.

## Lending <!-- Section collapsed - expand with expand_sections(["374d1c75"]) | +2 subsections, ~37 tok -->

Books can be borrowed for *four weeks*. Most of them can be renewed twice.

### Fees... <!-- Section collapsed - expand with expand_sections(["99a18bdd"]) | ~12 tok -->

### Lost books... <!-- Section collapsed - expand with expand_sections(["d458d19d"]) | empty -->

## Opening hours <!-- Section collapsed - expand with expand_sections(["92ff5d08"]) | ~11 tok -->

Open daily from nine to five!
"""


def test_the_outline_of_a_small_manual(manual: Library) -> None:
    assert render_outline(manual) == _EXPECTED


def test_openings_are_cut_at_about_a_hundred_characters() -> None:
    words = "Some words of an opening that goes on and on until nobody wants to read it any more"
    outline = render_outline(make_library(f"# One\n\n{words} {words}\n\n# Two\n\nShort\n"))
    opening = next(line for line in outline.splitlines() if line.startswith("Some words"))
    assert 60 < len(opening) <= 100
    assert opening.endswith("…")
    assert "Short..." in outline.splitlines()


def test_several_top_headings_have_openings_and_what_is_below_only_titles() -> None:
    outline = render_outline(make_library("# A\n\nText of A.\n\n## B\n\nText of B.\n\n# C\n\nText of C.\n"))
    assert "Text of A." in outline
    assert "Text of C." in outline
    assert "## B..." in outline
    assert "Text of B." not in outline


def test_an_opening_skips_badges_tables_comments_and_fences() -> None:
    text = (
        "# A\n\n[![build](x.svg)](y)\n<!-- hidden\nwords -->\n![logo](z.png)\n| a | b |\n|---|---|\n***\n"
        "> **Really** first [words](x.md) here.\n\nSecond paragraph.\n\n# B\n"
    )
    outline = render_outline(make_library(text))
    assert "Really first words here." in outline
    assert not any(word in outline for word in ("build", "hidden", "logo", "Second", "|---"))


def test_front_matter_is_no_opening() -> None:
    outline = render_outline(make_library("---\ntitle: T\nlayout: page\n---\nHello there.\n\n# A\n\nx\n\n# B\n\ny\n"))
    assert "Hello there." in outline
    assert "layout" not in outline


def test_a_preamble_beside_the_title_is_a_line_and_an_empty_one_is_none() -> None:
    beside = render_outline(make_library("Hello.\n\n# T\n\n## A\n\nx\n"))
    assert "(text before the first heading)" in beside
    assert "Hello." in beside
    assert "(text before" not in render_outline(make_library("\n\n# T\n\n## A\n\nx\n"))


def test_an_empty_document_says_so() -> None:
    assert render_outline(make_library("")) == "(The document is empty.)\n"


def test_headings_without_a_title_are_named() -> None:
    assert "# (untitled) <!--" in render_outline(make_library("#\n\nText\n\n# Two\n"))
