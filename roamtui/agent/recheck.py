"""Claims that can be checked again, quotes with the place that they were taken from, and what became of each.

A saved conversation holds claims, and so does Markdown, in two forms. An export has a line for each source, below one
that says ``Source: handbook.md``::

    - [a8a96034] Loans > Late fees, line 12 (quote found in the text): "A late spade costs 50 cents a day."

A person writes a quote with a link to its file, and to its section, in the same sentence::

    Being late is not dear: "A late spade costs 50 cents a day" ([Late fees](handbook.md#late-fees)).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise
from math import log2
from typing import NamedTuple
from urllib.parse import unquote

from rapidfuzz.distance import LCSseq

from roamtui.agent.citations import MARK, read_answer
from roamtui.agent.quotes import Match, find_quote, normalise
from roamtui.conversation.state import Exchange
from roamtui.conversation.transcript import Citation, QuoteState
from roamtui.document.library import Library
from roamtui.document.node import Span
from roamtui.outline.structure import find_canonical

_SOURCE = re.compile(r"^Source: (?P<source>\S.*?)\s*$", re.MULTILINE)
_SOURCE_LINE = re.compile(
    r"^- \[(?P<id>[0-9a-f]{8})\] .*?\((?P<state>[a-z ]+)\): \"(?P<quote>.+)\"[ \t]*$", re.MULTILINE
)
_LINK = re.compile(r"(?<!!)\[[^\[\]\n]*\]\((?:<(?P<wide>[^<>\n]+)>|(?P<target>[^()\s]+))(?:[ \t]+\"[^\"\n]*\")?\)")
_VERIFIED = (QuoteState.EXACT.words, QuoteState.EXACT.value, QuoteState.NORMALISED.value)
"""What an export says of a quote that was found, and what it said before."""
_WORD = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|\w+")
_GAP = re.compile(r"…|\.{3}")
_BREAK = re.compile(r"[.!?]\s|\n[ \t]*\r?\n")
_PLACES = 8
"""Places of a text whose words are compared with those of a quote one by one."""
_LIKE_MIN = 0.6
"""Share of words in common, in order, from which on a text of the same section is the quote with other words."""
_LIKE_MOVED_MIN = 0.7
"""The same in all of the source, where the section itself is no longer there."""
_LIKE_ELSEWHERE_MIN = 0.9
"""The same outside of the section where it is: documents say much in nearly the same words."""


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


class Standing(StrEnum):
    """What became of a quote."""

    SAME = "same"
    MOVED = "moved"
    """It stands in another section now."""
    CHANGED = "changed"
    """A text with other words stands in its place."""
    GONE = "gone"
    UNREACHABLE = "unreachable"
    """What it was taken from cannot be opened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A claim, and what became of its quote."""

    claim: Claim
    standing: Standing
    span: Span | None = None
    """Where it stands, or the text that is nearest to it; None for neither."""
    section_id: str = ""
    """The section that holds that."""
    message: str = ""
    """Why it cannot be reached."""


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
    told = {" ".join(line["quote"].split()) for line in lines}
    claims = [
        Claim(quote=line["quote"], place=name, line=_find_line(markdown, line.start()), section_id=line["id"])
        for line in lines
        if line["state"] in _VERIFIED
    ]
    sentences = _read_sentences(_SOURCE_LINE.sub("", markdown), name)
    claims += [claim for claim in sentences if " ".join(claim.quote.split()) not in told]
    return tuple(sorted(claims, key=lambda claim: claim.line))


def _read_sentences(markdown: str, name: str) -> Iterator[Claim]:
    """Yield the quotes that stand beside a link or an id: a link is read like an id, which says where it leads."""
    links: dict[str, re.Match[str]] = {}

    def mark(link: re.Match[str]) -> str:
        section_id = f"{len(links):08x}"
        links[section_id] = link
        return f"[{section_id}]"

    text = _LINK.sub(mark, markdown)
    for found in read_answer(text)[0]:
        if found.is_code or not found.marks:
            continue
        section_id = found.marks[0].section_id
        quote = MARK.sub(lambda one: links[one[0][1:-1]][0] if one[0][1:-1] in links else one[0], found.text)
        claim = Claim(quote=quote, place=name, line=_find_line(text, found.start), section_id=section_id)
        if section_id in links:
            source, _, anchor = (links[section_id]["wide"] or links[section_id]["target"]).partition("#")
            claim = replace(claim, section_id="", source=unquote(source), anchor=unquote(anchor))
        yield claim


def _find_line(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def recheck(claim: Claim, library: Library) -> Finding:
    """Return what became of a claim's quote in a library whose files are all loaded.

    It is looked for in its section, then in whole documents, its own first.
    """
    expected = claim.section_id if claim.section_id in library else None
    if not claim.section_id and claim.anchor:
        row = library.root.anchors.get(claim.anchor.lower())
        expected = None if row is None else library.root.ids[row]
    if expected is not None and (problem := library.problem_of(expected)):
        return Finding(claim=claim, standing=Standing.UNREACHABLE, message=problem)
    spans = [Span(doc=one.key, start=0, end=len(one.text)) for one in library.documents if len(one.text)]
    if expected is not None:
        own = library.shown_span(expected)
        spans = [own, *sorted(spans, key=lambda whole: whole.doc != own.doc)]
    for number, span in enumerate(spans):
        match = _find_in_sections(claim.quote, span, library)
        if match is not None:
            is_there = not (claim.section_id or claim.anchor) if expected is None else number == 0
            standing = Standing.SAME if is_there else Standing.MOVED
            return _describe(claim, standing, span, (match.start, match.end), library)
    for number, span in enumerate(spans):
        like_min = _LIKE_MOVED_MIN
        if expected is not None:
            like_min = _LIKE_MIN if number == 0 else _LIKE_ELSEWHERE_MIN
        near = find_nearest(claim.quote, library.text_at(span), like_min)
        if near is not None:
            return _describe(claim, Standing.CHANGED, span, near, library)
    unread = next((document.problem for document in library.documents if document.problem), "")
    standing = Standing.UNREACHABLE if unread and expected is None else Standing.GONE
    return Finding(claim=claim, standing=standing, message=unread)


def _describe(claim: Claim, standing: Standing, within: Span, bounds: tuple[int, int], library: Library) -> Finding:
    span = Span(doc=within.doc, start=within.start + bounds[0], end=within.start + bounds[1])
    node_id = library.section_at(span.doc, span.start)
    section_id = find_canonical(library, node_id) if node_id else ""
    return Finding(claim=claim, standing=standing, span=span, section_id=section_id)


def count_lost(citations: Iterable[Citation], library: Library) -> int:
    """Return how many quotes of an answer that stood in their documents do so no longer; quick enough to be shown.

    What is not loaded is not judged.
    """
    loaded = {document.key for document in library.documents if not document.problem}
    is_whole = not library.list_unloaded()
    lost = 0
    for citation in citations:
        span, quote = citation.span, citation.quote
        if quote is None or span is None or not citation.is_verified:
            continue
        if span.doc not in loaded:
            lost += is_whole and "://" not in span.doc  # a page may not be fetched yet
        elif not find_quote(quote, library.text_at(span)):
            lost += not find_quote(quote, str(library.document(span.doc).text))
    return lost


def _find_in_sections(quote: str, span: Span, library: Library) -> Match | None:
    """Return where a quote stands in a text; one with an ellipsis within one own text, not from here to anywhere."""
    match = find_quote(quote, library.text_at(span))
    if match is None or not _GAP.search(quote):
        return match
    starts = library.document(span.doc).columns.starts
    first = bisect_left(starts, span.start)
    bounds = sorted({span.start, *(start for start in starts[first:] if start < span.end), span.end})
    for start, end in pairwise(bounds):
        match = find_quote(quote, library.text_at(Span(doc=span.doc, start=start, end=end)))
        if match is not None:
            shift = start - span.start
            return Match(match.start + shift, match.end + shift, is_exact=match.is_exact)
    return None


class _Words(NamedTuple):
    """The words of a text, in small letters."""

    words: tuple[str, ...]
    bounds: tuple[tuple[int, int], ...]
    """Where each stands in the text."""
    counts: Counter[str]


@lru_cache(maxsize=32)
def _read_words(text: str) -> _Words:
    normal = normalise(text, has_numbers=True)
    found = [*_WORD.finditer(normal.text)]
    offsets = normal.offsets
    bounds = tuple((offsets[one.start()], offsets[one.end() - 1] + 1) for one in found)
    words = tuple(one.group().casefold() for one in found)
    return _Words(words, bounds, Counter(words))


def find_nearest(quote: str, text: str, like_min: float) -> tuple[int, int] | None:
    """Return where the words of a text stand that are most like those of a quote, None where none are like them.

    Args:
        quote: Words that do not stand in the text as they are.
        text: What to look in.
        like_min: From 0 to 1: what is less like the quote is none.
    """
    wanted, given = _read_words(quote).words, _read_words(text)
    best = _Run(like_min, 0, 0, 0, 0)
    for start in _find_places(wanted, given):
        low, high = max(0, start - len(wanted)), start + 3 * len(wanted)
        best = max(best, _align(wanted, given.words[low:high], low))
    if best.like <= like_min:
        return None
    bounds, first, last = given.bounds, best.first, best.last
    for _ in range(best.before):  # the quote's own first words have others in their place
        if first and not _BREAK.search(text[bounds[first - 1][1] : bounds[first][0]]):
            first -= 1
    for _ in range(best.after):
        if last + 1 < len(bounds) and not _BREAK.search(text[bounds[last][1] : bounds[last + 1][0]]):
            last += 1
    start, end = bounds[first][0], bounds[last][1]
    return start - text.endswith(quote[0], 0, start), end + text.startswith(quote[-1], end)


class _Run(NamedTuple):
    """Words of a text that are like a quote."""

    like: float
    """Share of the words of both that they have in common, in order."""
    first: int
    last: int
    before: int
    """Words of the quote before the first that they have in common."""
    after: int


def _find_places(wanted: Sequence[str], given: _Words) -> list[int]:
    """Return the words of a text from which on it has most words of a quote; a rare one counts for more."""
    weights = {word: 1 / (1 + log2(given.counts[word])) for word in wanted if word in given.counts}
    hits = [index for index, word in enumerate(given.words) if word in weights]
    scores: list[tuple[float, int]] = []
    total, first = 0.0, 0
    for index in hits:
        total += weights[given.words[index]]
        while index - hits[first] > len(wanted) * 3 // 2:
            total -= weights[given.words[hits[first]]]
            first += 1
        scores.append((total, hits[first]))
    places: list[int] = []
    for _, index in sorted(scores, reverse=True):
        if all(abs(index - place) > len(wanted) for place in places):
            places.append(index)
            if len(places) == _PLACES:
                break
    return places


def _align(wanted: Sequence[str], given: Sequence[str], shift: int) -> _Run:
    """Return the likest run of words; `shift` is the number of the first one given."""
    blocks = LCSseq.editops(wanted, given).as_matching_blocks()
    pairs = [(block.a + step, block.b + step) for block in blocks for step in range(block.size)]
    best = _Run(0.0, 0, 0, 0, 0)
    for index, (begin, first) in enumerate(pairs):
        for count, (end, last) in enumerate(pairs[index:], start=1):
            like = 2 * count / (len(wanted) + last - first + 1)
            if like > best.like:
                best = _Run(like, shift + first, shift + last, begin, len(wanted) - 1 - end)
    return best


def mark_changes(quote: str, text: str) -> str:
    """Return the words of a text with what a quote had in their place: ``for [-three-]{+four+} weeks``."""
    before, after = quote.split(), text.split()
    parts: list[str] = []
    for kind, start, end, start_after, end_after in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        old, new = " ".join(before[start:end]), " ".join(after[start_after:end_after])
        parts.append(new if kind == "equal" else (f"[-{old}-]" if old else "") + (f"{{+{new}+}}" if new else ""))
    return " ".join(parts)
