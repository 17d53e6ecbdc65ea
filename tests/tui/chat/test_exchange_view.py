from __future__ import annotations

from dataclasses import replace

import pytest

from roamtui.conversation.transcript import Citation, QuoteState
from roamtui.tui.chat.exchange_view import SourcesView


def render_content(answer: str, *citations: Citation, width: int = 100) -> list[str]:
    view = SourcesView(lambda citation: f"{citation.doc} › {citation.section_id}")
    view.show_citations(citations, {}, answer)
    assert len(view.targets) == len(citations)
    return view.render_content(width).plain.splitlines()


def cite(section_id: str, quote: str | None, state: QuoteState = QuoteState.EXACT, line: int = 3) -> Citation:
    return Citation(section_id=section_id, quote=quote, state=state, doc="a.md", start_line=line, end_line=line)


def test_a_section_has_one_line_with_all_its_places_and_no_quote_that_the_answer_has() -> None:
    answer = '"one [link](#x)", "two", "three" and "four"'
    lines = render_content(
        answer,
        cite("0a", "one [link](#x)"),
        cite("0b", None, QuoteState.NO_QUOTE, line=8),
        cite("0a", "two", QuoteState.NORMALISED),
        cite("0a", "three", line=5),
        cite("0b", "four", QuoteState.UNVERIFIED),
    )
    assert lines == [
        "Sources  3/4 quotes found in the text",
        " 1 a.md › 0a · line 3 ✓ ✓ · line 5 ✓",
        " 2 a.md › 0b · line 8 · no quote ✗ not found in the text “four”",
    ]


def test_a_quote_of_joined_pieces_says_so() -> None:
    answer = 'So "one … two" and "three".'
    lines = render_content(answer, cite("0a", "one … two", QuoteState.JOINED), cite("0b", "three"))
    assert lines == [
        "Sources  1/2 quotes found in the text",
        " 1 a.md › 0a · line 3 ! joined from several sentences",
        " 2 a.md › 0b · line 3 ✓",
    ]


def test_pages_stand_in_place_of_lines() -> None:
    citation = replace(cite("0a", "one"), page=12)
    assert render_content("one", citation)[1:] == [" 1 a.md › 0a · p. 12 ✓"]


@pytest.mark.parametrize(
    ("quote", "shown"),
    [
        ("once its [grace period](#grace-period) has ended", "once its grace period has ended"),
        ("see [a](https://example.org/a) or ![b](b.png)", "see a or b"),
        ("an array[0](x y) and [a]", "an array[0](x y) and [a]"),
    ],
)
def test_of_a_quote_that_the_answer_does_not_have_the_words_are_shown(quote: str, shown: str) -> None:
    assert render_content("So.", cite("0a", quote))[1] == f" 1 a.md › 0a · line 3 ✓ “{shown}”"
