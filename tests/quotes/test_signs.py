"""Signs come from the program alone: those that a model writes become plain words."""

import pytest

from roamtui.quotes.read import replace_signs


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("It is free [1 ✓].", "It is free (1 tick)."),
        ("See [2, 3 !] and [→ ✗].", "See (2, 3 exclamation mark) and (→ cross)."),
        ("So it is [a8a96034 ✓].", "So it is (a8a96034 tick)."),
        ("1. ✓ [a8a96034] Fees, line 5", "1. tick [a8a96034] Fees, line 5"),
        ("*1/1 quote found in the text*", "*the model says: 1/1 quote found in the text*"),
        ('It says "Yes [1 ✓]" [a8a96034].', 'It says "Yes [1 ✓]" [a8a96034].'),
        ("| Boats | ✓ |\n|---|---|\n| Dogs | ✗ |", "| Boats | ✓ |\n|---|---|\n| Dogs | ✗ |"),
        ("- [x] done, really [1]!", "- [x] done, really [1]!"),
    ],
)
def test_only_the_forms_of_the_programs_own_signs_are_spelled_out(written: str, shown: str) -> None:
    assert replace_signs(written) == shown
    assert replace_signs(shown) == shown
