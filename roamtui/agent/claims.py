"""Claims that can be checked again: quotes with the file and section that they were taken from.

A saved conversation holds them, and so does Markdown, in two forms. An export has a line for each source, below a line
``Source: handbook.md``::

    - [a8a96034] Loans > Late fees, line 12 (quote found in the text): "A late spade costs 50 cents a day."

A person writes a quote with a link to its file, and to its section, in the same sentence::

    Being late is not dear: "A late spade costs 50 cents a day" ([Late fees](handbook.md#late-fees)).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from urllib.parse import unquote

from roamtui.agent.binding import MARK, read_answer
from roamtui.conversation.state import Exchange
from roamtui.conversation.transcript import QuoteState

_SOURCE = re.compile(r"^Source: (?P<source>\S.*?)\s*$", re.MULTILINE)
_SOURCE_LINE = re.compile(
    r"^- \[(?P<id>[0-9a-f]{8})\] .*?\((?P<state>[a-z ]+)\): \"(?P<quote>.+)\"[ \t]*$", re.MULTILINE
)
_LINK = re.compile(r"(?<!!)\[[^\[\]\n]*\]\((?:<(?P<wide>[^<>\n]+)>|(?P<target>[^()\s]+))(?:[ \t]+\"[^\"\n]*\")?\)")
_VERIFIED = (QuoteState.EXACT.words, QuoteState.EXACT.value, QuoteState.NORMALISED.value)
"""What an export says of a quote that was found, and what it said before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A quote, and where it stood."""

    quote: str
    place: str
    """Where the claim is made: ``faq.md``, or a conversation and its question."""
    line: int = 0
    """1-based line there, 0 in a conversation."""
    source: str = ""
    """A path or an address; empty for what the whole conversation or file is about."""
    section_id: str = ""
    """Empty where none was named."""
    anchor: str = ""
    """Of the section's heading, as a link has it."""


def list_claims(conversation_id: str, exchanges: Iterable[Exchange]) -> tuple[Claim, ...]:
    """Return the quotes of a conversation that stood in the text when it was answered."""
    return tuple(
        Claim(
            quote=citation.quote,
            section_id=citation.section_id,
            place=f"{conversation_id}, question {exchange.number}",
        )
        for exchange in exchanges
        for citation in exchange.citations
        if citation.quote is not None and citation.is_verified
    )


def find_named_source(markdown: str) -> str:
    """Return what the ``Source:`` line of a Markdown text names, empty without one."""
    named = _SOURCE.search(markdown)
    return named["source"] if named else ""


def read_claims(markdown: str, name: str) -> tuple[Claim, ...]:
    """Return the claims that a Markdown text makes, in order.

    Args:
        markdown: An export, or what a person wrote.
        name: Of its file.
    """
    lines = [*_SOURCE_LINE.finditer(markdown)]
    told = {_fold(line["quote"]) for line in lines}
    claims = [
        Claim(quote=line["quote"], place=name, line=_find_line(markdown, line.start()), section_id=line["id"])
        for line in lines
        if line["state"] in _VERIFIED
    ]
    sentences = _read_sentences(_SOURCE_LINE.sub("", markdown), name)
    claims += [claim for claim in sentences if _fold(claim.quote) not in told]
    return tuple(sorted(claims, key=lambda claim: claim.line))


def _read_sentences(markdown: str, name: str) -> Iterator[Claim]:
    """Yield the quotes that stand beside a link or an id: a link is read like an id, which says where it leads."""
    links: dict[str, re.Match[str]] = {}

    def mark(link: re.Match[str]) -> str:
        section_id = f"{len(links):08x}"
        links[section_id] = link
        return f"[{section_id}]"

    text = _LINK.sub(mark, markdown)
    answer = read_answer(text)
    for found in answer.quotes:
        candidates = answer.rank_marks(found)
        if found.is_code or not candidates:
            continue
        section_id = answer.marks[candidates[0]].section_id
        quote = MARK.sub(lambda one: links[one[0][1:-1]][0] if one[0][1:-1] in links else one[0], found.text)
        claim = Claim(quote=quote, place=name, line=_find_line(text, found.start), section_id=section_id)
        if section_id in links:
            source, _, anchor = (links[section_id]["wide"] or links[section_id]["target"]).partition("#")
            claim = replace(claim, section_id="", source=unquote(source), anchor=unquote(anchor))
        yield claim


def _find_line(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def _fold(quote: str) -> str:
    return " ".join(quote.split())
