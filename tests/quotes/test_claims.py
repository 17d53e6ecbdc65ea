"""Quotes with links, in files of Markdown."""

from msgspec.structs import replace

from roamtui.quotes.claims import Claim, read_claims


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


def test_a_quote_with_a_long_link_is_read_in_single_quotation_marks_too() -> None:
    quote = f"See [the desk](https://example.com/{'a' * 600}) first"
    text = f"Read [this page](a.md).\n\n'{quote}' ([Rooms](rooms.md)).\n\n\"Ask nobody\" ([Desk](desk.md)).\n"
    assert [(claim.quote, claim.source) for claim in read_claims(text, "faq.md")] == [
        (quote, "rooms.md"),
        ("Ask nobody", "desk.md"),
    ]
