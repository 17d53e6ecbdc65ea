"""Which words of a text that any program wrote are quotations."""

import pytest

from roamtui.quotes.quotations import read_quotations


@pytest.mark.parametrize(
    ("text", "quotes"),
    [
        ('It says "late spades cost money" and "cost".', ["late spades cost money"]),
        (
            "It says ‘don’t be too late’, 'be on time then' and «ne soyez pas en retard».",
            ["don’t be too late", "be on time then", "ne soyez pas en retard"],
        ),
        ("> A late spade\n> costs 50 cents.\n>\n> Ask the desk.", ["A late spade\ncosts 50 cents.", "Ask the desk."]),
        ('> "Late spades cost money" — Tools', ["Late spades cost money"]),
        ("> Late spades cost money.\n> — Tools, p. 3", ["Late spades cost money."]),
        ('> The desk says "pay the fee" then. [a8a96034]', ['The desk says "pay the fee" then.']),
        ("- > in a list item\n\n> - one two three", ["in a list item", "- one two three"]),
        ("> [!NOTE]\n> a note is none\n\n```\n> nor is code\n```\n`nor these three words`", []),
        ('"Again and again" and "Again and again"', ["Again and again"]),
        ('"!!!" "— … —" "no end of it', []),
        ('"a\0b c d" and "half \udfff a pair"', ["a\0b c d", "half \udfff a pair"]),
        (f'"{"word " * 20_000}end"', [f"{'word ' * 20_000}end"]),
    ],
)
def test_quotations_are_block_quotes_and_three_words_between_marks(text: str, quotes: list[str]) -> None:
    assert [claim.quote for claim in read_quotations(text, "a.md")] == quotes


def test_each_of_2_000_quotations_has_its_line_and_id() -> None:
    lines = [f'They say "this is number {number:05}" [{number:08x}].' for number in range(2_000)]
    claims = read_quotations("\n".join(lines), "a.md")
    assert [claim.line for claim in claims] == [*range(1, 2_001)]
    assert claims[1_999].section_id == "000007cf"
