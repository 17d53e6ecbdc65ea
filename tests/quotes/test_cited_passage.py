"""The passage that a citation leads to, with its quote or without."""

from __future__ import annotations

import pytest

from roamtui.conversation.state import ConversationState
from roamtui.quotes.cited_passage import CitedPassage, find_cited_passage
from roamtui.quotes.verdicts import verify_citations
from tests.conversation.conversations import begin, expand_by_agent, find, make_state

TEXT = """\
# Handbook

## Loans

A book may be kept for **three** weeks. Then it costs 2.50 euros a day, and the desk calls.

## Rooms

Rooms are let by the hour to members of the library, and cost 2.50 euros a day in winter.
"""


def look_up(answer: str, *opened: str, text: str = TEXT) -> tuple[ConversationState, CitedPassage]:
    """Return the passage of the first citation of an answer, given after some sections were opened."""
    state, _ = expand_by_agent(begin(make_state(text)), *opened)
    (citation, *_) = verify_citations(answer.format(**{title.lower(): find(state, title) for title in opened}), state)
    return state, find_cited_passage(citation, state)


def read_spans(state: ConversationState, passage: CitedPassage) -> list[str]:
    return [state.library.text_at(span) for span in passage.spans]


def test_a_quote_of_a_section_that_the_model_had_not_read_says_so() -> None:
    state, _ = expand_by_agent(begin(make_state(TEXT)), "Loans")
    rooms = find(state, "Rooms")
    (citation,) = verify_citations(f'Rooms "are let by the hour" [{rooms}].', state)
    passage = find_cited_passage(citation, state)
    assert read_spans(state, passage) == ["are let by the hour"]
    assert passage.warning == "The section has these words, but the model had not read them"


@pytest.mark.parametrize(
    ("quote", "nearest"),
    [
        ("A book may be kept for four weeks", "A book may be kept for **three** weeks"),
        ("it costs 2.00 euros a day", "it costs 2.50 euros a day"),
        ("a BOOK can be kept for three weeks", "A book may be kept for **three** weeks"),
    ],
)
def test_a_quote_that_is_not_in_the_text_leads_to_the_nearest_words(quote: str, nearest: str) -> None:
    state, passage = look_up(f'It says "{quote}" [{{loans}}].', "Loans")
    assert read_spans(state, passage) == [nearest]
    assert passage.warning == "Quote is not in the text · nearest passage"


def test_a_quote_like_nothing_in_the_text_leads_to_its_section() -> None:
    state, passage = look_up('It says "Bicycles sleep in the tower of the mill" [{loans}].', "Loans")
    assert (passage.section_id, passage.spans) == (find(state, "Loans"), ())
    assert passage.warning == "Quote is not in its section, nor anything like it"
