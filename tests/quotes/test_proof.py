"""What an answer proves: verdicts at their places, numbers and signs."""

from __future__ import annotations

import pytest

from roamtui.conversation.state import ConversationState
from roamtui.quotes.verdicts import AnswerProof, QuoteChecker, make_proof, verify_citations
from tests.agent.asking import MANUAL
from tests.conversation.conversations import begin, expand_by_agent, make_state


@pytest.fixture
def state() -> ConversationState:
    return expand_by_agent(begin(make_state(MANUAL)), "Fees", "Hours")[0]


def fill(answer: str, state: ConversationState) -> str:
    """Replace ``{Title}`` by the id of that section."""
    for section_id in state.library.walk():
        answer = answer.replace(f"{{{state.library.title_of(section_id)}}}", section_id)
    return answer


def prove(answer: str, state: ConversationState) -> AnswerProof:
    answer = fill(answer, state)
    return make_proof(answer, verify_citations(answer, state))


def show(answer: str, proof: AnswerProof) -> list[tuple[str, str]]:
    """Return each quote as it stands in the answer, with the sign of its verdict."""
    return [(answer[quote.start : quote.end], quote.state.sign) for quote in proof.quotes]


@pytest.mark.parametrize(
    ("answer", "labels"),
    [
        ('It costs "2 euros a day" [{Fees}].', ["[1 ✓]"]),
        ('It costs "9 euros a day" [{Fees}].', ["[1 ✗]"]),
        ('It costs "2 euros a day" [{Hours}].', ["[1 !]"]),
        ("It is due [{Fees}].", ["[1]"]),
        ('"2 euros a day" and "9 euros a day" [{Fees}].', ["[1,2 ✗]"]),
        ('It costs "2 euros a day" [{Fees}], so [{Fees}] says.', ["[1 ✓]", "[1 ✓]"]),
        ('It costs "2 euros a day" [{Fees}, {Hours}].', ["[1 ✓]", "[2]"]),
        ("Not found: no.\n\nNearest sections: Fees [{Fees}]", ["[1]"]),
        (
            '[{Hours}] says "Open daily", [{Fees}] says "2 euros a day", [{Hours}] says "Late returns".',
            ["[1 ✓]", "[2 ✓]", "[3 !]"],
        ),
        ("`Open daily` [{Fees}], then `Open daily` [{Hours}].", ["[1]", "[2 ✓]"]),
    ],
)
def test_marks_carry_the_numbers_of_citations_and_the_worst_sign(
    answer: str, labels: list[str], state: ConversationState
) -> None:
    assert [mark.label for mark in prove(answer, state).marks] == labels


def test_while_an_answer_streams_it_is_judged_as_if_it_ended_there(state: ConversationState) -> None:
    checker = QuoteChecker(state)
    answer = fill('It costs "2 euros a day" [{Hours}]. Or "9 euros a day" [{Fees}].', state)

    def judge(end: int) -> list[tuple[str, str]]:
        return show(answer, make_proof(answer[:end], checker.cite(answer[:end])))

    closed = answer.index('day"') + 4
    assert judge(closed - 1) == []
    assert judge(closed) == [('"2 euros a day"', "✓")]
    assert judge(answer.index("]") + 1) == [('"2 euros a day"', "!")]
    assert judge(answer.rindex('day"') + 4) == [('"2 euros a day"', "!")]
    assert judge(len(answer)) == [('"2 euros a day"', "!"), ('"9 euros a day"', "✗")]
    for end in range(len(answer)):
        assert checker.cite(answer[:end]) == verify_citations(answer[:end], state)
