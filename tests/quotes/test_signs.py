"""Signs come from the program alone: those that a model writes become plain words."""

import pytest

from roamtui.conversation.citations import Citation, QuoteState
from roamtui.export.answer_report import format_verification
from roamtui.quotes.read import replace_signs
from tests.case_files import read_rows


@pytest.mark.parametrize(("written", "shown"), read_rows("quotes/signs", "signs"))
def test_only_the_forms_of_the_programs_own_signs_are_spelled_out(written: str, shown: str) -> None:
    assert replace_signs(written) == shown
    assert replace_signs(shown) == shown


@pytest.mark.parametrize("is_changed", [True, False])
@pytest.mark.parametrize("state", [QuoteState.EXACT, QuoteState.SAME, QuoteState.ELSEWHERE, QuoteState.NOT_FOUND])
def test_each_verdict_that_a_model_writes_is_called_the_words_of_the_model(
    state: QuoteState, *, is_changed: bool
) -> None:
    citation = Citation(section_id="a8a96034", quote="It is free.", state=state, is_changed=is_changed)
    for verdict in (citation.label, format_verification([citation]), format_verification([citation, citation])):
        shown = replace_signs(f"It is free ({verdict}).")
        assert shown == f"It is free (the model says: {verdict})."
        assert replace_signs(shown) == shown
    assert state.sign not in replace_signs(f"It is free [1 {state.sign}].")
