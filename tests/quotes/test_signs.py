"""Signs come from the program alone: those that a model writes become plain words."""

import pytest

from roamtui.quotes.read import replace_verdict_marks
from tests.case_files import read_rows


@pytest.mark.parametrize(("written", "shown"), read_rows("quotes/signs", "signs"))
def test_only_the_forms_of_the_programs_own_signs_are_spelled_out(written: str, shown: str) -> None:
    assert replace_verdict_marks(written) == shown
    assert replace_verdict_marks(shown) == shown
