"""What stands below an answer."""

from __future__ import annotations

import pytest

from roamtui.conversation.events import QuestionAnswered
from roamtui.conversation.transcript import Citation, QuoteState, Stopped, Usage
from roamtui.tui.chat.exchange_view import describe_ending


@pytest.mark.parametrize(
    ("quote", "stopped", "ending"),
    [
        (None, Stopped.ANSWERED, "no quotes, so nothing was checked · 1 step"),
        (None, Stopped.STEP_LIMIT, "stopped at the step limit · no quotes, so nothing was checked · 1 step"),
        (None, Stopped.NOT_FOUND, "nothing found · 1 step"),
        ("forty grams", Stopped.ANSWERED, "1 step"),
    ],
)
def test_an_answer_without_quotes_is_labelled(quote: str | None, stopped: Stopped, ending: str) -> None:
    citation = Citation(section_id="a8a96034", quote=quote, state=QuoteState.NO_QUOTE)
    event = QuestionAnswered(number=1, answer="Fish.", stopped=stopped, citations=(citation,), usage=Usage(), steps=1)
    assert describe_ending(event).plain == ending
