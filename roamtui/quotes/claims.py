"""Read the claims of a Markdown file: quotes with their claimed sources.

An export has a ``Source: handbook.md`` line and then one line per citation::

    1. ✓ [a8a96034] Loans > Late fees, line 12 (quote found in the text): "A late spade costs 50 cents a day."

In any other file, as in a saved answer, a quote has an id after it or in its sentence.
"""

from __future__ import annotations

import json
import re
from urllib.parse import unquote

from msgspec import Struct

from roamtui.conversation.events import CHANGED_LABEL, QuoteState
from roamtui.quotes.read import read_answer
from roamtui.quotes.wording import PASSAGE_LABEL

_SOURCE_LINE = re.compile(r"^Source: (?P<source>\S(?:.*\S)?)", re.MULTILINE)
# only the first state counts: trying each would take time by the square of the line
_CITATION_LINE = re.compile(
    r"^\d+\.(?: [✓!✗])? \[(?P<id>[0-9a-f]{8})\] (?>.*?\((?P<state>[a-z ]+)\): )(?P<quote>\".+\")[ \t]*$",
    re.MULTILINE,
)
_CELL_LINE = re.compile(
    r"^- \S \*\*.* (?P<quote>\"(?>(?:[^\"\\\n]|\\.)*)\")(?: \((?P<state>[a-z ]+)\))?"
    r" \(\[(?>(?:[^\[\]\\\n]|\\.)*)\]\((?:<(?P<wide>[^<>\n]+)>|(?P<target>[^()\s]+))\)\)(?: \*.*\*)?[ \t]*$",
    re.MULTILINE,
)
"""A line of a table of several documents. In its quote, quotation marks have backslashes."""
_VERIFIED = (QuoteState.FOUND.label, PASSAGE_LABEL, CHANGED_LABEL)
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
    """Return the claims of a Markdown file: an export's lists, or any other page's quotes with ids."""
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
    return tuple(
        Claim(
            quote=quotation.text,
            place=name,
            line=_get_line_number(markdown, quotation.start),
            section_id=quotation.marks[0].section_id,
        )
        for quotation in read_answer(markdown).quotes
        if quotation.marks and not quotation.is_code
    )


def _get_line_number(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1
