from __future__ import annotations

from dataclasses import replace

from textual.content import Content

from roamtui.conversation.transcript import Citation, QuoteState
from roamtui.document.loader import build_library
from roamtui.document.node import Span
from roamtui.sources.read import RawText
from roamtui.tui.chat.content_view import SectionTarget
from roamtui.tui.chat.exchange_view import SourcesView

LIBRARY = build_library(RawText(text="# Fees\n\nOne two.\n\n## Late\n\nThree four.\n", source="a.md", name="a"))


def render_content(answer: str, *citations: Citation, width: int = 100) -> list[str]:
    view = SourcesView(lambda citation: Content(f"{citation.doc} › {citation.section_id}"))
    view.show_citations(citations, answer, LIBRARY)
    assert len(view.targets) == len(citations)
    return view.render_content(width).plain.splitlines()


def cite(section_id: str, quote: str | None, state: QuoteState = QuoteState.FOUND, line: int = 3) -> Citation:
    return Citation(section_id=section_id, quote=quote, state=state, doc="a.md", start_line=line, end_line=line)


def test_each_citation_has_one_line_and_no_quote_that_the_answer_has() -> None:
    answer = '"one [link](#x)", "two", "three" and "four"'
    lines = render_content(
        answer,
        cite("0a", "one [link](#x)"),
        cite("0b", None, QuoteState.NO_QUOTE, line=8),
        cite("0a", "two", QuoteState.FOUND),
        cite("0a", "five", line=5),
        cite("0b", "four", QuoteState.NOT_FOUND),
    )
    assert lines == [
        "Sources  4 quotes: 3 where cited, 1 nowhere",
        " 1 ✓ a.md › 0a · line 3",
        " 2 a.md › 0b · line 8",
        " 3 ✓ a.md › 0a · line 3",
        " 4 ✓ a.md › 0a · line 5 “five”",
        " 5 ✗ a.md › 0b · these words are not in the text",
    ]


def test_a_quote_of_another_section_says_where_its_words_are_and_leads_there() -> None:
    late = next(section_id for section_id in LIBRARY.walk() if LIBRARY.title_of(section_id) == "Late")
    span = Span(doc="", start=27, end=32)
    citation = replace(cite("0a", "Three", QuoteState.ELSEWHERE, line=7), span=span, doc="")
    view = SourcesView(lambda _: Content("Fees"))
    view.show_citations((citation,), '"Three"', LIBRARY)
    assert view.render_content(80).plain.splitlines()[1] == " 1 ! Fees · these words stand in Late, line 7"
    assert view.targets == (SectionTarget(late, citation),)
