"""Which words of a text that any program wrote are quotations."""

import pytest

from roamtui.quotes.quotations import read_quotations
from tests.case_files import read_rows


@pytest.mark.parametrize(
    ("text", "quotes"),
    [
        *read_rows("quotes/quotations", "quotations"),
        ('"a\0b c d" and "half \udfff a pair"', ["a\0b c d", "half \udfff a pair"]),
        (f'"{"word " * 20_000}end"', [f"{'word ' * 20_000}end"]),
    ],
)
def test_quotations_are_block_quotes_and_three_words_between_marks(text: str, quotes: list[str]) -> None:
    assert [claim.quote for claim in read_quotations(text, "a.md")] == quotes
