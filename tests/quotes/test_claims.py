"""Quotes with links in files of Markdown, and those of any text."""

import pytest
from msgspec.structs import replace

from roamtui.quotes.claims import Claim, read_claims, read_quotations
from tests.case_files import read_rows


def test_claims_with_links_are_read() -> None:
    text = (
        'Three weeks: "A book\nmay be kept for three weeks" ([Loans](my%20handbook.md#loans)).\n\n'
        '"Nobody" says this. "See [the desk](desk.md) first" [Rooms](<rooms at night.md>)\n\n'
        "It says “Ask [the desk](desk.md).” ([Rooms](rooms.md))\n"
    )
    claims = (
        Claim(
            quote="A book\nmay be kept for three weeks", place="faq.md", line=1, source="my handbook.md", anchor="loans"
        ),
        Claim(quote="See [the desk](desk.md) first", place="faq.md", line=4, source="rooms at night.md"),
        Claim(quote="Ask [the desk](desk.md).", place="faq.md", line=6, source="rooms.md"),
    )
    assert tuple(replace(claim, context="") for claim in read_claims(text, "faq.md")) == claims


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
