"""Read the claims of a Markdown file: quotes with their claimed sources.

There are two forms. An export has a ``Source: handbook.md`` line and then one line per citation::

    1. ✓ [a8a96034] Loans > Late fees, line 12 (quote found in the text): "A late spade costs 50 cents a day."

A person writes a quote with a link to its file, and to its section, in the same sentence::

    Being late is not dear: "A late spade costs 50 cents a day" ([Late fees](handbook.md#late-fees)).
"""

import json
import re
from bisect import bisect_right
from urllib.parse import unquote

from msgspec import Struct

from roamtui.conversation.events import CHANGED_LABEL, QuoteState
from roamtui.quotes.read import read_answer
from roamtui.quotes.wording import PASSAGE_LABEL

_SOURCE_LINE = re.compile(r"^Source: (?P<source>\S(?:.*\S)?)", re.MULTILINE)
# only the first state counts: trying each would take time by the square of the line
_CITATION_LINE = re.compile(
    r"^\d+\.(?: [✓!✗])? \[(?P<id>[0-9a-f]{8})\] (?>.*?\((?P<state>[a-z, ]+)\): )(?P<quote>\".+\")[ \t]*$",
    re.MULTILINE,
)
_CELL_LINE = re.compile(
    r"^- \S \*\*.* (?P<quote>\"(?>(?:[^\"\\\n]|\\.)*)\")(?: \((?P<state>[a-z, ]+)\))?"
    r" \(\[(?>(?:[^\[\]\\\n]|\\.)*)\]\((?:<(?P<wide>[^<>\n]+)>|(?P<target>[^()\s]+))\)\)(?: \*.*\*)?[ \t]*$",
    re.MULTILINE,
)
"""A line of a table of several documents. In its quote, quotation marks have backslashes."""
_LINK = re.compile(
    r"(?<!!)\[[^\[\]\n]*\]\((?:<(?P<wide>[^<>\n]+)>|(?P<target>[^()\s]+))(?:[ \t]+\"[^\"\n]*\")?\)"
)
_LINK_MASK = "[xxxxxxxx]"
"""Stands for a link. It has the length of an id in square brackets."""
_VERIFIED = (QuoteState.EXACT.label, QuoteState.SAME.label, PASSAGE_LABEL, CHANGED_LABEL)
"""Labels in exports of quotes that were found."""


class Claim(Struct, frozen=True, kw_only=True):
    """A quote and its claimed source."""

    quote: str
    place: str
    """Where the claim is made: ``faq.md``, or a conversation and the number of its question."""
    line: int = 0
    """1-based line in that file; 0 in a conversation."""
    source: str = ""
    """Path or URL of the quoted document. Empty if the whole conversation or file has only one source."""
    section_id: str = ""
    """Empty if the claim names no section."""
    anchor: str = ""
    """Anchor of the section's heading, from a link."""


def parse_source_line(markdown: str) -> str:
    """Return the value of the ``Source:`` line in a Markdown text, or empty if there is none."""
    match = _SOURCE_LINE.search(markdown)
    return match["source"] if match else ""


def _parse_quote(text: str) -> str:
    try:
        return str(json.loads(text))
    except ValueError:  # a person has written it, without escapes
        return text[1:-1]


def read_claims(markdown: str, name: str) -> tuple[Claim, ...]:
    """Return the claims of a Markdown file: an export's lists, or any other page's links."""
    exported = [*_CITATION_LINE.finditer(markdown), *_CELL_LINE.finditer(markdown)]
    if exported:
        claims = [
            Claim(
                quote=_parse_quote(match["quote"]),
                place=name,
                line=_get_line_number(markdown, match.start()),
                section_id=match.groupdict().get("id", ""),
                source=unquote(match.groupdict().get("wide") or match.groupdict().get("target") or ""),
            )
            for match in exported
            if match["state"] in (None, *_VERIFIED)
        ]
        return tuple(sorted(claims, key=lambda claim: claim.line))
    # A link inside a quote is part of its words. Every other link becomes an id, so that a quote binds to it.
    # Both forms have the same length: quotes, whose length may be limited, are the same in both readings.
    masked = _LINK.sub(_LINK_MASK, markdown)
    quotes = [quote for quote in read_answer(masked).quotes if not quote.is_block]
    is_quoted = bytearray(len(masked))
    for quote in quotes:
        is_quoted[quote.start : quote.end] = b"\1" * (quote.end - quote.start)
    links: dict[str, re.Match[str]] = {}
    ends: list[int] = []
    shifts = [0]

    def replace_link(link: re.Match[str]) -> str:
        start = link.start() - shifts[-1]
        ends.append(start + len(_LINK_MASK))
        shifts.append(link.end() - ends[-1])
        if is_quoted[start]:
            return _LINK_MASK
        placeholder_id = f"{len(links):08x}"
        links[placeholder_id] = link
        return f"[{placeholder_id}]"

    claims = []
    with_ids = _LINK.sub(replace_link, markdown)
    for quotation in read_answer(with_ids).quotes:
        if quotation.is_code or quotation.is_block or not quotation.marks:
            continue
        section_id = quotation.marks[0].section_id
        source = ""
        anchor = ""
        if section_id in links:
            source, _, anchor = (links[section_id]["wide"] or links[section_id]["target"]).partition("#")
            section_id = ""
        first = with_ids.index(quotation.text, quotation.start)
        places = (quotation.start, first, first + len(quotation.text))
        mark, start, end = (offset + shifts[bisect_right(ends, offset)] for offset in places)
        claims.append(
            Claim(
                quote=markdown[start:end],
                place=name,
                line=_get_line_number(markdown, mark),
                source=unquote(source),
                section_id=section_id,
                anchor=unquote(anchor),
            )
        )
    return tuple(claims)


def _get_line_number(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1
