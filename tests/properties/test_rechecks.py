"""Whatever is exported and rechecked on the same documents is the same, whatever characters its quotes have."""

from pathlib import Path

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from roamtui.conversation.citations import Citation, QuoteState
from roamtui.conversation.events import StopReason
from roamtui.conversation.messages import OFFLINE
from roamtui.conversation.state import ConversationState, Exchange
from roamtui.document.library import Library
from roamtui.document.parse import parse_document
from roamtui.export.markdown import render_markdown
from roamtui.export.table import render_markdown_table
from roamtui.headless.saved_claims import read_claims_of_file
from roamtui.quotes.claims import read_claims
from roamtui.quotes.current_text import ClaimStatus, add_nearest, recheck
from roamtui.quotes.find import find_in_span, find_quote
from roamtui.quotes.read import read_answer, replace_verdict_marks
from roamtui.quotes.verdicts import QuoteChecker, make_found_citation
from roamtui.table.cells import Cell, CellState
from roamtui.table.columns import Column
from roamtui.table.store import ResultRow, ResultTable
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


_TEXT = "# Lease\n\nBefore it all.\n\nLo {} and behold.\n\nAfter it all.\n"


def _load(text: str) -> Library:
    return Library(source="/x/a.md", root=parse_document(text))


def _cite(quote: str) -> Citation:
    """Return a citation of a quote that is found in a document."""
    library = _load(_TEXT.format(quote))
    found = find_in_span(quote, library, Span(doc="", start=0, end=len(library.root.text)))
    assume(len(library) == 1 and found is not None)
    assert found is not None
    return make_found_citation(next(library.walk()), library, quote, found)


def _check(path: Path, exported: str, citation: Citation, *, is_judged: bool = True) -> None:
    """Check that nothing has changed, and that a change beside the quote is noticed."""
    path.write_text(exported, "utf-8", newline="")
    (claim,) = read_claims_of_file(path, "export", lambda source, _: source, replaces_source=False)
    assert claim.source in ("", "a.md", "/x/a.md")
    assume(sum(map(str.isalnum, claim.quote)) > 1)  # a shorter one must be a whole cell, item or sentence
    text = _TEXT.format(citation.quote)
    assert recheck(claim, _load(text)).status is ClaimStatus.UNCHANGED
    sentence = citation.surroundings.sentence if citation.surroundings is not None else ""
    changed = _load(text.replace("Lo ", "Ho ", 1))
    if "Lo " in sentence and find_quote(claim.quote, changed.root.text) is not None:
        status = ClaimStatus.SENTENCE_CHANGED if is_judged else ClaimStatus.UNCHANGED
        assert recheck(claim, changed).status is status


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("exports")


@given(quote=_quotes)
@example(quote="- item \n2. item")
@example(quote="60 days \x1b")
@example(quote="60 days \n- item")
@example(quote="| a | b |\n \n=")
@example(quote="|---|--|\n \n2. item")
@example(quote='60 days <"&')
def test_an_exported_conversation_is_the_same(folder: Path, quote: str) -> None:
    citation = _cite(quote)
    answer = f"It says “{quote}” [{citation.section_id}].\n\nWhat else?"
    assume(quote in [quotation.text for quotation in read_answer(answer).quotes])  # else it is cited otherwise
    exchange = Exchange(
        number=1, question="Why?", answer=answer, citations=(citation,), stopped=StopReason.ANSWERED, model="m"
    )
    library = _load(_TEXT.format(quote))
    state = ConversationState(id="c0ffee", library=library, exchanges=(exchange,))
    _check(folder / "a.md", render_markdown(state, "/x/a.md"), citation)


@given(state=st.sampled_from([CellState.FOUND, CellState.PASSAGE]), count=st.integers(1, 2), quote=_quotes)
def test_an_exported_table_is_the_same(folder: Path, state: CellState, count: int, quote: str) -> None:
    citation = _cite(quote)
    column = Column(question="Why?")
    is_passage = state is CellState.PASSAGE
    cell = Cell(
        row="/x/a.md",
        column=column.key,
        text_hash="c",
        model=OFFLINE if is_passage else "m",
        state=state,
        value=quote if is_passage else "60 days",
        citations=(citation,),
    )
    rows = tuple(ResultRow(title=name, source=f"/x/{name}") for name in ("a.md", "b.md")[:count])
    table = ResultTable(folder=Path("/x/t"), rows=rows, columns=(column,), cells={("/x/a.md", column.key): cell})
    exported = render_markdown_table(table, Path("/x/t.md"))
    _check(folder / "t.md", exported, citation, is_judged=not is_passage)


_STATUSES = {
    QuoteState.EXACT: ClaimStatus.UNCHANGED,
    QuoteState.RESPELLED: ClaimStatus.UNCHANGED,
    QuoteState.ELSEWHERE: ClaimStatus.ELSEWHERE,
    QuoteState.NOT_FOUND: ClaimStatus.NOT_FOUND,
}
_MARKS = ("“{}”", '"{}"', "«{}»", "> {}\n\n", "`{}`", "({})", "{}")
_FORMS = ("[{}]", "({})", "[{}, p. 2]", "{}", "")


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
@example(quote="| <b>", sentences=[("{}", "“{}”", "Lease", "[{}]")])
@example(quote="| <b>", sentences=[("a {}", "“{}”", "Lease", "[{}]")])
def test_every_quote_of_any_exported_answer_is_counted(quote: str, sentences: list[tuple[str, str, str, str]]) -> None:
    assume("[a8a96034]" not in quote)  # without the document, words that look like an id are one
    text = f"# Lease\n\nBefore a {quote} and behold.\n\n# Tools\n\nA late spade costs 2 euros a day.\n"
    state = begin(make_state(text))
    assume({state.library.node(one).title for one in state.library.walk()} == {"Lease", "Tools"})
    state = expand_by_agent(state, "Lease", "Tools")[0]
    ids = {"Lease": find(state, "Lease"), "Tools": find(state, "Tools"), "None": "deadbeef"}
    answer = "\n\n".join(
        f"It says {mark.format(words.format(quote))} {form.format(ids[title])}."
        for words, mark, title, form in sentences
    )
    answer = replace_verdict_marks(answer)
    citations = add_nearest(QuoteChecker(state).list_citations(answer), state)
    exchange = Exchange(number=1, question="Why?", answer=answer, citations=citations, stopped=StopReason.ANSWERED)
    exported = render_markdown(replace(state, exchanges=(exchange,)), "/x/a.md")
    claims = read_claims(exported, "export.md")
    then = [citation.state for citation in citations if citation.quote]
    assume(then)  # without a source, it is a page like any other
    assert [claim.original_state for claim in claims] == then
    now = [recheck(claim, state.library).status for claim in claims]
    assert now == [_STATUSES[sign] for sign in then]
