"""Citations: which words are a quote, to which section they bind, and where they are found."""

import itertools
import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from roamtui.conversation.citations import Citation, QuoteState
from roamtui.conversation.events import OpenStatus, Origin, QuestionsRewound
from roamtui.conversation.state import ConversationState, fold_events
from roamtui.document.library import Library
from roamtui.headless.answer_lines import render_answer
from roamtui.quotes.current_text import update_citations
from roamtui.quotes.read import read_answer
from roamtui.quotes.verdicts import QuoteChecker, list_unsourced, make_proof
from tests.agent.asking import MANUAL
from tests.case_files import read_rows
from tests.conversation.conversations import begin, close_by, expand_by_agent, find, finish, make_library, make_state
from tests.real_documents import PROJECT_DIR


@pytest.mark.parametrize(("answer", "quotes"), read_rows("quotes/verdicts", "languages"))
def test_quotations_in_many_languages(answer: str, quotes: list[str]) -> None:
    assert [quotation.text for quotation in read_answer(answer).quotes] == quotes


@given(st.text(alphabet='ab “”„«»「」"`\n.[', max_size=60))
@example("```a\n")
@example("```\na")
@example("`a`` `")
def test_quotations_never_overlap_and_have_correct_offsets(answer: str) -> None:
    quotations = read_answer(answer).quotes
    assert all(before.end <= after.start for before, after in itertools.pairwise(quotations))
    for quotation in quotations:
        words = answer[quotation.start + 1 : quotation.end - 1].strip()
        code = answer[quotation.start : quotation.end]
        assert quotation.text == words or (quotation.is_loose_code and quotation.text in code)
        assert quotation.text.lstrip("`").strip() == quotation.text != "" or not quotation.is_loose_code


_EXACT = QuoteState.EXACT
_ELSEWHERE = QuoteState.ELSEWHERE
_NOT_FOUND = QuoteState.NOT_FOUND
_NO_QUOTE = QuoteState.NO_QUOTE


def _open(*titles: str, text: str = MANUAL) -> ConversationState:
    return expand_by_agent(begin(make_state(text)), *titles)[0]


@pytest.fixture
def state() -> ConversationState:
    return _open("Fees", "Lost books", "Lending", "Hours")


def _fill(answer: str, state: ConversationState) -> str:
    """Replace ``{Title}`` by the id of that section."""
    for section_id in state.library.walk():
        answer = answer.replace(f"{{{state.library.node(section_id).title}}}", section_id)
    return answer


def _cite(answer: str, state: ConversationState) -> tuple[Citation, ...]:
    return QuoteChecker(state).list_citations(_fill(answer, state))


def _list_found(answer: str, state: ConversationState) -> list[tuple[str, str, str]]:
    """List title, quote and state of each citation."""
    titles = {section_id: state.library.node(section_id).title for section_id in state.library.walk()}
    cited = _cite(answer, state)
    return [(titles.get(one.section_id, "?"), one.quote or "", one.state) for one in cited]


@pytest.mark.parametrize("answer", read_rows("quotes/verdicts", "one_citation"))
def test_a_quote_and_an_id_in_one_sentence_are_one_citation(answer: str, state: ConversationState) -> None:
    assert _list_found(answer, state) == [("Fees", "2 euros a day", _EXACT)]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [row for case in ("belonging", "block_quotes", "code") for row in read_rows("quotes/verdicts", case)],
)
def test_quotes_and_marks_of_one_sentence_or_paragraph_belong_together(
    answer: str, expected: list[list[str]], state: ConversationState
) -> None:
    assert _list_found(answer, state) == [tuple(row) for row in expected]


def test_words_of_another_delivered_section_are_elsewhere(state: ConversationState) -> None:
    (citation,) = _cite('It costs "2 euros a day" [{Hours}].', state)
    assert citation.state is _ELSEWHERE
    assert not citation.is_verified
    assert citation.section_id == find(state, "Hours")
    assert (citation.start_line, citation.end_line) == (11, 11), "the lines of the words, not of the section"
    assert citation.span is not None
    assert state.library.text_at(citation.span) == "2 euros a day"


def test_text_that_was_closed_later_counts_as_read_until_its_question_is_removed() -> None:
    state = close_by(finish(_open("Fees", "Lost books")), Origin.PERSON, "Fees")
    asked = begin(state)
    found = '"2 euros a day" [{Fees}], "2 euros a day" [{Hours}], "Open daily" [{Hours}].'
    quote = "2 euros a day"
    assert _list_found(found, asked) == [
        ("Fees", quote, _EXACT),
        ("Hours", quote, _ELSEWHERE),
        ("Hours", "Open daily", _NOT_FOUND),
    ]
    assert _list_found(f'"{quote}" [{{Fees}}].', fold_events(asked, QuestionsRewound(first=1))) == [
        ("Fees", quote, _NOT_FOUND)
    ]


def test_a_sentence_goes_on_over_the_end_of_a_page_that_is_a_section() -> None:
    pages = ("Give back the keys on the", "last day, before noon.", "End.")
    text = "\n\n".join(f"# Page {number}: {page[:9]}\n\n{page}" for number, page in enumerate(pages, 1))
    starts = tuple(text.index(f"# Page {number}") for number in (1, 2, 3))
    document = make_library(text).root
    library = Library(source="a.pdf", root=replace(document, page_starts=starts, has_page_titles=True))
    state = replace(make_state(), library=library)
    first, second, third = (library.node(section_id).title for section_id in library.walk())
    quote = '"the keys on the last day, before noon"'
    for title, opened, found in (
        (first, (first, second), _EXACT),
        (second, (first, second, third), _EXACT),
        (first, (first,), _NOT_FOUND),
        (third, (first, second, third), _ELSEWHERE),
    ):
        one = expand_by_agent(begin(state), *opened)[0]
        answer = f"It says {quote} [{{{title}}}]."
        assert _list_found(answer, one) == [(title, quote.strip('"'), found)]
        assert not update_citations(replace(one, exchanges=(replace(one.exchanges[-1], citations=_cite(answer, one)),)))


_CHARGES = """# Charges

Loans last from 3 to 14 days. A bike costs £9 a day if it is late. £9 a day.

## Deposits

| Class | Deposit | Loan |
|---|---|---|
| A | none | 14 days |
| B | £25 if it is worth more than £150 | 7 days |
| D | £40 | 14 days |
| E | £150 | 4 days |
| G | £2 | none |

- Trailers: see £60

These cost more:

- Skips: £40 for cleaning
- Ladders: ask
- £60
"""


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ('A cargo bike (E) costs "£150" [{Charges}].', "Class E | Deposit £150 | Loan 4 days"),
        ('Class D may go for "14 days" [{Charges}].', "Class D | Deposit £40 | Loan 14 days"),
        ('Class A has "14 days" [{Charges}], as "14 days" [{Charges}] says.', "Class A | Deposit none | Loan 14 days"),
        ('It is "£60" [{Charges}].', "These cost more: £60"),
        ('Late: "£9 a day" [{Charges}].', ""),
        ('From "3 to 14 days" [{Charges}].', "Loans last from 3 to 14 days."),
    ],
)
def test_words_are_shown_where_they_are_whole_and_then_where_the_answer_speaks_of(answer: str, sentence: str) -> None:
    state = _open("Charges", text=_CHARGES)
    for citation in QuoteChecker(state).list_citations(_fill(answer, state)):
        assert (citation.state, citation.sentence) == (_EXACT, sentence)


def test_an_invented_id_proves_nothing_even_with_true_words(state: ConversationState) -> None:
    (true,) = _cite('It costs "2 euros a day" [deadbeef].', state)
    assert (true.section_id, true.state, true.path, true.is_verified) == ("deadbeef", _ELSEWHERE, (), False)
    (false,) = _cite('It costs "3 euros" [deadbeef].', state)
    assert (false.state, false.start_line, false.end_line, false.span) == (_NOT_FOUND, 0, 0, None)


_ENTRIES = "# Log\n\n## Entries\n\nThe entry [20240101] was added in commit deadbeef.\n\n## Rent\n\nThree.\n"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (
            'It says "The entry [20240101] was added" [{Entries}].',
            [("Entries", "The entry [20240101] was added", _EXACT)],
        ),
        (
            'It says "The entry [20240101]" [{Entries}], in commit `deadbeef`.',
            [("Entries", "The entry [20240101]", _EXACT), ("Entries", "deadbeef", _EXACT)],
        ),
        ("It was added as [20240101] in commit deadbeef (20240101).", []),
        ('Before "The entry" [{Entries}] is [20231231].', [("Entries", "The entry", _EXACT), ("?", "", _NO_QUOTE)]),
        (
            'It is "The entry [20231231]" [{Entries}].',
            [("?", "The entry", _ELSEWHERE), ("Entries", "", _NO_QUOTE)],
        ),
        (
            'It is "The entry [20231231] was added" [{Entries}].',
            [("Entries", "The entry [20231231] was added", _NOT_FOUND)],
        ),
        (
            '"Entries [{Entries}] The entry [20240101] was" [{Entries}].',
            [("Entries", "Entries The entry [20240101] was", _EXACT)],
        ),
    ],
)
def test_what_stands_in_the_text_is_no_id(answer: str, expected: list[tuple[str, str, str]]) -> None:
    state = _open("Entries", "Rent", text=_ENTRIES)
    assert _list_found(answer, state) == expected
    proof = make_proof(_fill(answer, state), _cite(answer, state), state.library)
    assert ("20240101" in render_answer(proof, width=80, is_styled=False)) == ("20240101" in answer)


def test_the_title_of_the_cited_section_is_a_quote_even_if_it_was_not_opened() -> None:
    state = begin(
        make_state("# Guide\n\n## First\n\nThe menu: Cases 3. Run it Metrics\n\n## 3. Run it\n\n## Last\n\nEnd.\n")
    )
    state = expand_by_agent(state, "First")[0]
    assert _list_found('Then comes "3. Run it" [{3. Run it}].', state) == [("3. Run it", "3. Run it", _EXACT)]
    assert _list_found('Then comes "End." [{Last}].', state) == [("Last", "End.", _NOT_FOUND)]


def test_while_an_answer_streams_it_is_judged_as_if_it_ended_there(state: ConversationState) -> None:
    checker = QuoteChecker(state)
    answer = _fill('It costs "2 euros a day" [{Hours}]. Or "9 euros a day" [{Fees}].', state)

    def judge(end: int) -> list[tuple[str, str]]:
        citations = make_proof(answer[:end], checker.list_citations(answer[:end]), state.library).citations
        return [(answer[one.start : one.end], one.state.sign) for one in citations if one.quote is not None]

    closed = answer.index('day"') + 4
    assert judge(closed - 1) == []
    assert judge(closed) == []  # its id may follow
    assert judge(answer.index("]") + 1) == [('"2 euros a day"', "!")]
    assert judge(answer.rindex('day"') + 4) == [('"2 euros a day"', "!")]
    assert judge(len(answer)) == [('"2 euros a day"', "!"), ('"9 euros a day"', "✗")]
    for end in range(len(answer)):
        assert checker.list_citations(answer[:end]) == QuoteChecker(state).list_citations(answer[:end])


CASES: dict[str, Any] = json.loads((PROJECT_DIR / "tests" / "cases" / "answers.json").read_text("utf-8"))


def make_document(sections: list[dict[str, Any]]) -> str:
    """Return Markdown with these sections, below the headings of their paths."""
    lines: list[str] = []
    above: list[str] = []
    for section in sections:
        path = section["path"]
        shared = next((depth for depth, title in enumerate(path) if above[depth : depth + 1] != [title]), len(path) - 1)
        lines += [f"{'#' * (depth + 1)} {path[depth]}\n" for depth in range(shared, len(path))]
        lines.append(f"{section['text']}\n")
        above = path
    return "\n".join(lines)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_recorded_answer_keeps_its_verdicts(case: dict[str, Any]) -> None:
    section_ids = [section["id"] for section in case["sections"]]
    state, results = expand_by_agent(begin(make_state(make_document(case["sections"]))), *section_ids)
    assert {result.status for result in results} <= {OpenStatus.OPENED, OpenStatus.ALREADY_OPEN}, "other ids"
    found = [
        {"quote": citation.quote, "id": citation.section_id, "verdict": citation.state.value}
        for citation in QuoteChecker(state).list_citations(case["answer"])
    ]
    assert found == case["quotes"]


def test_the_line_above_a_table_is_enough_for_its_rows(state: ConversationState) -> None:
    table = "\n\n| Book | Fee |\n|---|---|\n| late | 1 |\n| lost | 9 |\n"
    for lead, unsourced in (("Fees [{Fees}]:", []), ("Fees:", ["| late | 1 |", "| lost | 9 |"])):
        answer = _fill(lead + table, state)
        bounds = list_unsourced(answer, QuoteChecker(state).list_citations(answer), state.library)
        assert [answer[start:end] for start, end in bounds] == unsourced
