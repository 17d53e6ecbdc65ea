"""Whatever is exported and rechecked on the same documents is the same, whatever characters its quotes have."""

from pathlib import Path

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from roamtui.conversation.events import Citation, QuoteState, StopReason
from roamtui.conversation.state import ConversationState, Exchange
from roamtui.document.library import Library
from roamtui.document.parse import parse_document
from roamtui.export.markdown import render_markdown
from roamtui.export.table import render_markdown_table
from roamtui.quotes.claims import read_claims
from roamtui.quotes.find import find_quote
from roamtui.quotes.located_notes import cite_span
from roamtui.quotes.read import replace_signs
from roamtui.quotes.recheck import ClaimStatus, add_nearest, recheck
from roamtui.quotes.verdicts import QuoteChecker
from roamtui.table.cells import Cell, CellState
from roamtui.table.columns import Column
from roamtui.table.store import Row, Table
from roamtui.text import Span
from tests.conversation.conversations import begin, expand_by_agent, find, make_state

_PIECES = (
    "60 days", "Section 10.5.2", "[Effect of Termination]", "[***]", "[a8a96034]", "[x](y.md)", "\\", "\\n", "`code`",
    '"quoted"', "“curly”", "„low“", "「corner」", "« »", "'s", "|", "\n", "\r\n", "\n\n", "\n- item", "\n2. item",
    "\n| a | b |\n", "\n|---|--|\n", "…", "...", "*bold*", "_u_", "~~s~~", "<b>", "&amp;", "(a)", "fee): ",
    "\u2028", "\x1b[1m", "\U0001f600",
)  # fmt: skip
_quotes = (
    st.lists(st.sampled_from(_PIECES) | st.text(max_size=3), min_size=1, max_size=7)
    .map(" ".join)
    .map(str.strip)
    .filter(lambda quote: any(map(str.isalnum, quote)))
)


def _cite(quote: str) -> tuple[Library, Citation]:
    """Return a document with a quote that is found in it, and the citation."""
    text = f"# Lease\n\nBefore it all.\n\nLo {quote} and behold.\n\nAfter it all.\n"
    library = Library(source="/x/a.md", root=parse_document(text))
    start = text.index(quote)
    span = Span(doc="", start=start, end=start + len(quote))
    assume(len(library) == 1 and find_quote(quote, text) is not None)
    citation = cite_span("", span, library)
    return library, citation


def _check(exported: str, library: Library) -> None:
    claims = read_claims(exported, "export.md")
    assert [recheck(claim, library).status for claim in claims] == [ClaimStatus.SAME]
    assert {claim.source for claim in claims} <= {"", "a.md", "/x/a.md"}


@settings(deadline=None, max_examples=40)
@given(quote=_quotes)
@example(quote="- item \n2. item")
def test_an_exported_conversation_is_the_same(quote: str) -> None:
    library, citation = _cite(quote)
    answer = f"It says “{quote}” [{citation.section_id}].\n\nWhat else?"
    exchange = Exchange(
        number=1, question="Why?", answer=answer, citations=(citation,), stopped=StopReason.ANSWERED, model="m"
    )
    state = ConversationState(id="c0ffee", library=library, exchanges=(exchange,))
    _check(render_markdown(state, "/x/a.md"), library)


@pytest.mark.parametrize("state", [CellState.FOUND, CellState.PASSAGE])
@pytest.mark.parametrize("count", [1, 2])
@settings(deadline=None, max_examples=40)
@given(quote=_quotes)
def test_an_exported_table_is_the_same(state: CellState, count: int, quote: str) -> None:
    library, citation = _cite(quote)
    column = Column(question="Why?")
    value = quote if state is CellState.PASSAGE else "60 days"
    cell = Cell(
        row="/x/a.md", column=column.key, content="c", model="m", state=state, value=value, citations=(citation,)
    )
    rows = tuple(Row(title=name, source=f"/x/{name}") for name in ("a.md", "b.md")[:count])
    table = Table(folder=Path("/x/t"), rows=rows, columns=(column,), cells={("/x/a.md", column.key): cell})
    _check(render_markdown_table(table, Path("/x/t.md")), library)


_STATUSES = {
    QuoteState.EXACT: ClaimStatus.SAME,
    QuoteState.SAME: ClaimStatus.SAME,
    QuoteState.ELSEWHERE: ClaimStatus.ELSEWHERE,
    QuoteState.NOT_FOUND: ClaimStatus.NOT_FOUND,
}
_MARKS = ("“{}”", '"{}"', "«{}»", "> {}\n\n", "`{}`", "({})", "{}")
_FORMS = ("[{}]", "({})", "[{}, p. 2]", "{}", "")


@settings(deadline=None, max_examples=60)
@given(
    quote=_quotes,
    sentences=st.lists(
        st.tuples(
            st.sampled_from(("a {}", "{}", "Nobody ever swam here", "A late spade", "late spade - costs 2 euros")),
            st.sampled_from(_MARKS),
            st.sampled_from(("Lease", "Tools", "None")),
            st.sampled_from(_FORMS),
        ),
        max_size=6,
    ),
)
def test_every_quote_of_any_exported_answer_is_counted(quote: str, sentences: list[tuple[str, str, str, str]]) -> None:
    text = f"# Lease\n\nBefore a {quote} and behold.\n\n# Tools\n\nA late spade costs 2 euros a day.\n"
    state = begin(make_state(text))
    assume({state.library.node(one).title for one in state.library.walk()} == {"Lease", "Tools"})
    state = expand_by_agent(state, "Lease", "Tools")[0]
    ids = {"Lease": find(state, "Lease"), "Tools": find(state, "Tools"), "None": "deadbeef"}
    answer = "\n\n".join(
        f"It says {mark.format(words.format(quote))} {form.format(ids[title])}."
        for words, mark, title, form in sentences
    )
    citations = add_nearest(QuoteChecker(state).cite(replace_signs(answer)), state)
    exchange = Exchange(
        number=1, question="Why?", answer=replace_signs(answer), citations=citations, stopped=StopReason.ANSWERED
    )
    exported = render_markdown(replace(state, exchanges=(exchange,)), "/x/a.md")
    claims = read_claims(exported, "export.md")
    then = [citation.state for citation in citations if citation.quote]
    assume(then)  # without a source, it is a page like any other
    assert [claim.then for claim in claims] == then
    now = [recheck(claim, state.library).status for claim in claims]
    assert now == [_STATUSES[sign] for sign in then]
