"""What a cell becomes: the value of an answer, and what is wrong with it."""

import pytest
from msgspec.structs import replace

from roamtui.conversation.citations import Citation, Nearest, QuoteState
from roamtui.conversation.events import StopReason
from roamtui.conversation.state import Exchange
from roamtui.outline.coverage import Coverage
from roamtui.table.cells import Cell, CellState, complete_cell
from roamtui.table.columns import Column
from roamtui.text import Span

_EMPTY = Cell(row="a.md", column="fee", text_hash="", model="m", state=CellState.FAILED)
_COLUMN = Column(question="What does it cost?")


def _cite(quote: str | None, state: QuoteState = QuoteState.EXACT) -> Citation:
    return Citation(section_id="a8a96034", quote=quote, state=state)


_SECTION = replace(_cite(None), marks=(0,))
_APART = replace(
    _cite("2 … euros", QuoteState.NOT_FOUND),
    nearest=Nearest(text="2. Of euros", span=Span(doc="", start=0, end=11), is_read=True, is_apart=True),
)


def _complete(answer: str, *citations: Citation, stopped: StopReason = StopReason.ANSWERED, error: str = "") -> Cell:
    exchange = Exchange(
        number=1, question="Why?", answer=answer, stopped=stopped, citations=citations, error=error, model="m"
    )
    return complete_cell(_EMPTY, exchange, _COLUMN, Coverage())


@pytest.mark.parametrize(
    ("citations", "state", "note"),
    [
        ((_cite("2 euros"),), CellState.FOUND, ""),
        ((), CellState.NOT_PROVEN, "no quote"),
        ((_cite(None),), CellState.NOT_PROVEN, "no quote"),
        ((_cite("2 euros"), _cite("3 euros", QuoteState.NOT_FOUND)), CellState.NOT_PROVEN, QuoteState.NOT_FOUND.label),
        ((_APART,), CellState.NOT_PROVEN, "not within one sentence"),
    ],
    ids=["a quote", "no citation", "a section", "a false quote", "a quote from two sentences"],
)
def test_a_value_is_found_only_if_all_its_quotes_are(
    citations: tuple[Citation, ...], state: CellState, note: str
) -> None:
    cell = _complete("2 euros", *citations)
    assert (cell.value, cell.state, cell.note, cell.citations) == ("2 euros", state, note, citations)


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ('\n**Two euros.** [a8a96034]\n\n"2 euros" [a8a96034]', "Two euros"),
        ("Two euros (a8a96034)", "Two euros"),
        ("Two euros [a8a96034] a day (see a8a96034).", "Two euros a day (see)"),
        ('It is "free" [a8a96034].', 'It is "free"'),
        ("Free [a8a96034](#a8a96034).", "Free"),
        ("Release [20240101]", "Release [20240101]"),
        ("5 p.m.", "5 p.m."),
        ("Acme Inc.", "Acme Inc."),
        ('"Volt Ltd.".', "Volt Ltd."),
        ("It is **Option B.**", "It is Option B"),
        ("3.5.", "3.5"),
        ("3.5 days.", "3.5 days"),
        ("3.5\x1b[31m", "3.5␛[31m"),
        (">50 employees", ">50 employees"),
        ("> 60 days", "> 60 days"),
        ("- 5 %", "- 5 %"),
        ("- Two euros", "Two euros"),
        ("`__init__`", "__init__"),
        ("#5", "#5"),
        ('12"', '12"'),
        ("1990.", "1990"),
        ("~~30~~ 60 days", "~~30~~ 60 days"),
        ('**"60 days."**', "60 days"),
        ("„60 days“.", "60 days"),
        ('"Net" or "gross"', '"Net" or "gross"'),
    ],
)
def test_a_value_is_the_first_line_without_markup(answer: str, value: str) -> None:
    assert _complete(answer, _cite("x")).text == value


@pytest.mark.parametrize(
    ("cell", "state", "note"),
    [
        (_complete("Not found: no.\n\nMore.", stopped=StopReason.NOT_FOUND), CellState.NOT_FOUND, "Not found: no."),
        (_complete("Near.", stopped=StopReason.NEAREST), CellState.NOT_FOUND, "Near."),
        (_complete("2 euros", error="It broke."), CellState.FAILED, "It broke."),
        (_complete("2 euros", stopped=StopReason.CANCELLED), CellState.FAILED, "The question was stopped."),
        (_complete("[a8a96034]", _SECTION), CellState.FAILED, "The answer contains no value for this cell."),
    ],
)
def test_a_cell_without_a_value_says_why(cell: Cell, state: CellState, note: str) -> None:
    assert (cell.value, cell.state, cell.note, cell.text) == ("", state, note, state.label)


def test_the_proof_of_a_cell_is_its_first_quote_that_was_found() -> None:
    false, true = _cite("3 euros", QuoteState.NOT_FOUND), _cite("2 euros")
    assert _complete("2 euros", _cite(None), false, true).best_citation == true
    assert _complete("2 euros", _cite(None), false).best_citation == false
    assert _complete("2 euros", _cite(None)).best_citation is None
