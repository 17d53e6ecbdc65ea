"""Ids after headings and after sentences with references."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.document.library import Library
from roamtui.outline.id_marks import annotate_with_ids, find_cross_references, strip_ids
from tests.outline.documents import find_id, make_library

_RULES = """\
# Rules

## 1. Fees

### 1.1 Late

{rule}

## 2. Terms

### 2.1 Grace

A day.

### 2.2 Waiver

None.
"""


def _annotate(rule: str) -> str:
    """Return the rule with its ids, where A is the id of 2.1, B that of 2.2."""
    library = make_library(_RULES.format(rule=rule))
    span = library.get_own_content_span(find_id(library, "1.1 Late"))
    text = annotate_with_ids(library, span).partition("\n\n")[2]
    for name, title in (("A", "2.1 Grace"), ("B", "2.2 Waiver")):
        text = text.replace(find_id(library, title), name)
    return text


@pytest.mark.parametrize(
    ("rule", "marked"),
    [
        ("As in Section 2.1(a), it ends. Then more.", "As in Section 2.1(a), it ends. [A] Then more."),
        (
            "Except as in Section 2.1, a late fee is due on each day on which the site is open. Then more.",
            "Except as in Section 2.1, a late fee is due on each day on which the site is open. [A] Then more.",
        ),
        ("As in Section 2.1 of the Act, it ends.", "As in Section 2.1 of the Act, it ends."),
        (
            "Sections 2.1 and 2.2 say. So does Section 2.1.",
            "Sections 2.1 and 2.2 say. (2.1 [A], 2.2 [B]) So does Section 2.1.",
        ),
        ("Sections 2.1, 2.2 and 2.9 say.", "Sections 2.1, 2.2 and 2.9 say."),
        (
            "Section 2.1. But Section 2.9 and Section 2.2.",
            "Section 2.1. [A] But Section 2.9 and Section 2.2. (2.2 [B])",
        ),
        ("Section 1.1, Section 2.1(b), Section 2.1.", "Section 1.1, Section 2.1(b), Section 2.1. (2.1 [A])"),
        (
            "Section 2.1 (e.g. U.S. Dollars), not 5 days.\nHow so? Yes",
            "Section 2.1 (e.g. U.S. Dollars), not 5 days. [A]\nHow so? Yes",
        ),
        ("- see Section 2.1\n- see Section 2.2", "- see Section 2.1 [A]\n- see Section 2.2 [B]"),
        (
            "| Section 2.1. Now | x |\n|---|---|\n| Section 2.2 | y |",
            "| Section 2.1. Now | x | [A]\n|---|---|\n| Section 2.2 | y | [B]",
        ),
        ("Section 2.1\r\nholds.\r\n\r\nMore.", "Section 2.1\r\nholds. [A]\r\n\r\nMore."),
        ("[Grace. It helps](#21-grace), so wait.", "[Grace. It helps](#21-grace), so wait. [A]"),
        ("[the *grace*](#21-grace) or [x](y.md).", "[the *grace*](#21-grace) or [x](y.md). (the grace [A])"),
        ("[deadbeef](#21-grace) or Section 2.2", "[deadbeef](#21-grace) or Section 2.2 ([A], 2.2 [B])"),
    ],
)
def test_ids_stand_after_sentences_rows_and_items(rule: str, marked: str) -> None:
    assert _annotate(rule) == marked


def test_long_urls_are_shortened() -> None:
    address = "https://example.org/" + "x" * 200
    assert _annotate(f"See [it]({address}).") == f"See [it]({address[:60]}…)."


@pytest.mark.parametrize("rule", ["Sections 2.1 and 2.2 say. Then more.", "See [grace](#21-grace) and Section 2.2. Ok"])
def test_a_quote_loses_the_ids_that_were_copied(rule: str) -> None:
    library = make_library(_RULES.format(rule=rule))
    span = library.get_own_content_span(find_id(library, "1.1 Late"))
    assert rule in strip_ids(annotate_with_ids(library, span))


_WORDS = st.sampled_from(
    [
        "Section 2.1",
        "Sections 2.1 and 2.2",
        "[grace](#21-grace)",
        "[Out. Of](x.md)",
        "it",
        "says",
        "Red",
        ".",
        ",",
        "\n",
        "\n\n",
        "- ",
    ]
)


@given(st.lists(_WORDS, max_size=30).map(" ".join))
def test_no_id_stands_inside_a_reference_and_the_rest_is_the_text(rule: str) -> None:
    library: Library = make_library(_RULES.format(rule=rule))
    span = library.get_own_content_span(find_id(library, "1.1 Late"))
    text = annotate_with_ids(library, span)
    assert strip_ids(text) == library.text_at(span).rstrip()
    for reference in find_cross_references(library, span):
        assert library.text_at(span)[reference.start : reference.end] in text
