"""Quotes that people judged against short texts."""

import pytest

from tests.quotes.judged_pairs import find_wrong_pairs, read_pairs


@pytest.mark.skipif(not read_pairs(), reason="no judged pairs")
def test_quotes_are_judged_as_people_judge_them() -> None:
    wrong = find_wrong_pairs(read_pairs())
    assert not wrong, "\n".join(wrong)
