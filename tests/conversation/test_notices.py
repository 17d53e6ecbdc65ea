"""How an exchange ended, in words."""

from __future__ import annotations

import pytest

from roamtui.conversation.events import QuestionAnswered
from roamtui.conversation.notices import make_outcome_notices
from roamtui.conversation.transcript import Citation, QuoteState, StopReason


@pytest.mark.parametrize(
    ("quote", "stopped", "endings"),
    [
        (None, StopReason.ANSWERED, ["no quotes to verify"]),
        (None, StopReason.STEP_LIMIT, ["stopped at the step limit", "no quotes to verify"]),
        (None, StopReason.NOT_FOUND, ["not found in the document"]),
        ("forty grams", StopReason.ANSWERED, []),
    ],
)
def test_an_answer_without_quotes_is_labelled(quote: str | None, stopped: StopReason, endings: list[str]) -> None:
    citation = Citation(section_id="a8a96034", quote=quote, state=QuoteState.NO_QUOTE)
    event = QuestionAnswered(number=1, answer="Fish.", stopped=stopped, citations=(citation,))
    assert [notice.text for notice in make_outcome_notices(event)] == endings
