from __future__ import annotations

from msgspec.structs import replace

from roamtui.conversation.transcript import Citation, QuoteState
from roamtui.document.loader import build_library
from roamtui.document.node import Span
from roamtui.sources.read import RawText
from roamtui.tui.chat.content_view import SectionTarget
from roamtui.tui.chat.exchange_view import SourcesView

LIBRARY = build_library(RawText(text="# Fees\n\nOne two.\n\n## Late\n\nThree four.\n", source="a.md", name="a"))
FEES, LATE = LIBRARY.walk()


def render_content(answer: str, *citations: Citation, width: int = 100) -> list[str]:
    view = SourcesView()
    view.show_citations(citations, answer, LIBRARY)
    assert len(view.targets) == len(citations)
    return view.render_content(width).plain.splitlines()


def cite(section_id: str, quote: str | None, state: QuoteState = QuoteState.FOUND, line: int = 3) -> Citation:
    return Citation(section_id=section_id, quote=quote, state=state, doc="a.md", start_line=line, end_line=line)


def test_each_citation_has_one_line_and_no_quote_that_the_answer_has() -> None:
    answer = '"one [link](#x)", "two", "three" and "four"'
    lines = render_content(
        answer,
        cite(FEES, "one [link](#x)"),
        cite(LATE, None, QuoteState.NO_QUOTE, line=8),
        cite(FEES, "two", QuoteState.FOUND),
        cite(FEES, "five", line=5),
        cite(LATE, "four", QuoteState.NOT_FOUND),
    )
    assert lines == [
        "Sources  4 quotes: 3 where cited, 1 nowhere",
        " 1 ✓ a.md › Fees · line 3",
        " 2 a.md › Late · line 8",
        " 3 ✓ a.md › Fees · line 3",
        " 4 ✓ a.md › Fees · line 5 “five”",
        " 5 ✗ a.md › Late · these words are not in the text",
    ]


def test_a_quote_of_another_section_says_where_its_words_are_and_leads_there() -> None:
    span = Span(doc="", start=27, end=32)
    citation = replace(cite(FEES, "Three", QuoteState.ELSEWHERE, line=7), span=span, doc="")
    view = SourcesView()
    view.show_citations((citation,), '"Three"', LIBRARY)
    assert view.render_content(80).plain.splitlines()[1] == " 1 ! Fees · these words stand in Late, line 7"
    assert view.targets == (SectionTarget(LATE, citation),)
