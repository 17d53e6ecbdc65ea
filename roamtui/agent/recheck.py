"""What became of quotes, and of a person's notes, in the document of today.

A claim is a quote with the place that it was taken from. A saved conversation holds claims, and so does Markdown, in
two forms. An export has a line for each source, below one that says ``Source: handbook.md``::

    - [a8a96034] Loans > Late fees, line 12 (quote found in the text): "A late spade costs 50 cents a day."

A person writes a quote with a link to its file, and to its section, in the same sentence::

    Being late is not dear: "A late spade costs 50 cents a day" ([Late fees](handbook.md#late-fees)).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from enum import StrEnum
from functools import cache, lru_cache, partial
from itertools import pairwise
from math import log2
from typing import NamedTuple
from urllib.parse import unquote

from rapidfuzz.distance import LCSseq

from roamtui.agent.citations import MARK, make_citation, parse_citations
from roamtui.agent.numbers import widen_to_numbers
from roamtui.agent.quotes import GAP, QuoteMatch, find_quote, find_quoted_words, normalise_markdown
from roamtui.conversation.library_sync import hash_sections
from roamtui.conversation.notes import Note, hash_section
from roamtui.conversation.state import Exchange
from roamtui.conversation.transcript import Citation, QuoteState
from roamtui.document.library import Library
from roamtui.document.node import Span
from roamtui.document.plain import sanitise_line
from roamtui.outline.structure import get_canonical_id

_SOURCE = re.compile(r"^Source: (?P<source>\S(?:.*\S)?)", re.MULTILINE)
_SOURCE_LINE = re.compile(  # only the first state counts: trying each would take time by the square of the line
    r"^- \[(?P<id>[0-9a-f]{8})\] (?>.*?\((?P<state>[a-z ]+)\): \")(?P<quote>.+)\"[ \t]*$", re.MULTILINE
)
_LINK = re.compile(r"(?<!!)\[[^\[\]\n]*\]\((?:<(?P<wide>[^<>\n]+)>|(?P<target>[^()\s]+))(?:[ \t]+\"[^\"\n]*\")?\)")
_VERIFIED = (QuoteState.EXACT.label, QuoteState.EXACT.value, QuoteState.NORMALISED.value)
"""States of a found quote in exports, in the current wording and in older ones."""
_PATH_STEP = " › "
_WORD = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|\w+")
_BREAK = re.compile(r"[.!?]\s|\n[ \t]*\r?\n")
_PLACES = 8
"""Number of candidate positions at which a text is compared with the quote word by word."""
_LIKE_MIN = 0.6
"""Minimum share of common words, in order, for a text of the same section to count as a reworded quote."""
_LIKE_MOVED_MIN = 0.7
"""The same for the whole source if the section no longer exists."""
_LIKE_ELSEWHERE_MIN = 0.9
"""The same for other sections if the section still exists: documents repeat themselves in nearly the same words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A quote and its claimed source."""

    quote: str
    place: str
    """Where the claim is made: ``faq.md``, or a conversation and the number of its question."""
    line: int = 0
    """1-based line in that file; 0 in a conversation."""
    source: str = ""
    """Path or URL. Empty if it is the source of the whole conversation or file."""
    section_id: str = ""
    """Empty if the claim names no section."""
    anchor: str = ""
    """Anchor of the section's heading, from a link."""


class ClaimStatus(StrEnum):
    """Result of looking up a claim's quote in the current document."""

    SAME = "same"
    MOVED = "moved"
    """The quote is now in another section."""
    CHANGED = "changed"
    """A similar text has replaced the quote."""
    JOINED = "joined"
    """The quote joins pieces of several sentences, and may say something that none of them says."""
    GONE = "gone"
    UNREACHABLE = "unreachable"
    """The source cannot be opened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A claim with the result of its check."""

    claim: Claim
    standing: ClaimStatus
    span: Span | None = None
    """The quote or the most similar text, or None if there is neither."""
    section_id: str = ""
    """The section that contains `span`."""
    message: str = ""
    """Why the source cannot be opened."""


def extract_claims(conversation_id: str, exchanges: Iterable[Exchange]) -> tuple[Claim, ...]:
    """List the quotes of a conversation that were verified when they were made."""
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


def parse_source_line(markdown: str) -> str:
    """Return the value of the ``Source:`` line in a Markdown text, or empty if there is none."""
    match = _SOURCE.search(markdown)
    return match["source"] if match else ""


def read_claims(markdown: str, name: str) -> tuple[Claim, ...]:
    """Return the claims that a Markdown text makes, in order.

    Args:
        markdown: An export, or what a person wrote.
        name: Of its file.
    """
    lines = [*_SOURCE_LINE.finditer(markdown)]
    told = {" ".join(line["quote"].split()) for line in lines}
    claims = [
        Claim(quote=line["quote"], place=name, line=_get_line_number(markdown, line.start()), section_id=line["id"])
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
    for found in parse_citations(text)[0]:
        if found.is_code or not found.marks:
            continue
        section_id = found.marks[0].section_id
        quote = MARK.sub(lambda one: links[one[0][1:-1]][0] if one[0][1:-1] in links else one[0], found.text)
        claim = Claim(quote=quote, place=name, line=_get_line_number(text, found.start), section_id=section_id)
        if section_id in links:
            source, _, anchor = (links[section_id]["wide"] or links[section_id]["target"]).partition("#")
            claim = replace(claim, section_id="", source=unquote(source), anchor=unquote(anchor))
        yield claim


def _get_line_number(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def recheck(claim: Claim, library: Library) -> Finding:
    """Return what became of a claim's quote in a library whose files are all loaded.

    It is looked for in its section, then in whole documents, its own first. Pieces of it, joined by an ellipsis, count
    only where one section holds them all.
    """
    expected = _resolve_section(claim, library)
    if expected is not None and (problem := library.problem_of(expected)):
        return Finding(claim=claim, standing=ClaimStatus.UNREACHABLE, message=problem)
    spans = [Span(doc=one.key, start=0, end=len(one.text)) for one in library.documents if len(one.text)]
    if expected is not None:
        own = library.get_content_span(expected)
        spans = [own, *sorted(spans, key=lambda whole: whole.doc != own.doc)]
    for number, span in enumerate(spans):
        match = _find_claimed(claim.quote, library.text_at(span))
        if match is not None:
            is_there = not (claim.section_id or claim.anchor) if expected is None else number == 0
            standing = ClaimStatus.SAME if is_there else ClaimStatus.MOVED
            return _describe(claim, standing, span, (match.start, match.end), library)
    for span in spans if GAP.search(claim.quote) else ():
        match = _find_pieces(claim.quote, span, library)
        if match is not None:
            return _describe(claim, ClaimStatus.JOINED, span, (match.start, match.end), library)
    for number, span in enumerate(spans):
        like_min = _LIKE_MOVED_MIN
        if expected is not None:
            like_min = _LIKE_MIN if number == 0 else _LIKE_ELSEWHERE_MIN
        near = find_closest_words(claim.quote, library.text_at(span), like_min)
        if near is not None:
            return _describe(claim, ClaimStatus.CHANGED, span, near, library)
    unread = next((document.problem for document in library.documents if document.problem), "")
    standing = ClaimStatus.UNREACHABLE if unread and expected is None else ClaimStatus.GONE
    return Finding(claim=claim, standing=standing, message=unread)


def _resolve_section(claim: Claim, library: Library) -> str | None:
    """Return the section that a claim names by id or anchor, None where there is no such section today."""
    if claim.section_id or not claim.anchor:
        return claim.section_id if claim.section_id in library else None
    row = library.root.anchors.get(claim.anchor.lower())
    return None if row is None else library.root.ids[row]


def _describe(claim: Claim, standing: ClaimStatus, within: Span, bounds: tuple[int, int], library: Library) -> Finding:
    span = Span(doc=within.doc, start=within.start + bounds[0], end=within.start + bounds[1])
    node_id = library.section_at(span.doc, span.start)
    section_id = get_canonical_id(library, node_id) if node_id else ""
    return Finding(claim=claim, standing=standing, span=span, section_id=section_id)


def count_stale_quotes(citations: Iterable[Citation], library: Library) -> int:
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
        elif not find_quoted_words(quote, library.text_at(span)):  # an older version took joined pieces for a quote
            lost += not find_quoted_words(quote, str(library.document(span.doc).text))
    return lost


def _find_claimed(quote: str, text: str) -> QuoteMatch | None:
    """Return where a quote stands in a text; an export has an ellipsis where it goes on with another item or row."""
    return find_quote(quote, text) or (find_quote(GAP.sub(" ", quote), text) if GAP.search(quote) else None)


def _find_pieces(quote: str, span: Span, library: Library) -> QuoteMatch | None:
    """Return where pieces of a quote stand within one own text, not from here to anywhere."""
    if find_quoted_words(quote, library.text_at(span)) is None:
        return None
    starts = library.document(span.doc).columns.starts
    first = bisect_left(starts, span.start)
    bounds = sorted({span.start, *(start for start in starts[first:] if start < span.end), span.end})
    for start, end in pairwise(bounds):
        match = find_quoted_words(quote, library.text_at(Span(doc=span.doc, start=start, end=end)))
        if match is not None:
            shift = start - span.start
            return replace(match, start=match.start + shift, end=match.end + shift)
    return None


class _Words(NamedTuple):
    """The words of a text, in small letters."""

    words: tuple[str, ...]
    bounds: tuple[tuple[int, int], ...]
    """Where each stands in the text."""
    counts: Counter[str]


@lru_cache(maxsize=32)
def _read_words(text: str) -> _Words:
    normal = normalise_markdown(text, has_numbers=True)
    found = [*_WORD.finditer(normal.text)]
    offsets = normal.offsets
    bounds = tuple((offsets[one.start()], offsets[one.end() - 1] + 1) for one in found)
    words = tuple(one.group().casefold() for one in found)
    return _Words(words, bounds, Counter(words))


def find_closest_words(quote: str, text: str, like_min: float) -> tuple[int, int] | None:
    """Return where the words of a text stand that are most like those of a quote, None where none are like them.

    Args:
        quote: Words that do not stand in the text as they are.
        text: What to look in.
        like_min: From 0 to 1: what is less like the quote is none.
    """
    wanted, given = _read_words(quote).words, _read_words(text)
    best = _Run(like_min, 0, 0, 0, 0)
    for start in _list_candidate_positions(wanted, given):
        low, high = max(0, start - len(wanted)), start + 3 * len(wanted)
        best = max(best, _align(wanted, given.words[low:high], low))
    if best.similarity <= like_min:
        return None
    bounds, first, last = given.bounds, best.first, best.last
    for _ in range(best.before):  # the quote's own first words have others in their place
        if first and not _BREAK.search(text[bounds[first - 1][1] : bounds[first][0]]):
            first -= 1
    for _ in range(best.after):
        if last + 1 < len(bounds) and not _BREAK.search(text[bounds[last][1] : bounds[last + 1][0]]):
            last += 1
    start, end = widen_to_numbers(text, bounds[first][0], bounds[last][1])
    return start - text.endswith(quote[0], 0, start), end + text.startswith(quote[-1], end)


class _Run(NamedTuple):
    """Words of a text that are like a quote."""

    similarity: float
    """Share of the words of both that they have in common, in order."""
    first: int
    last: int
    before: int
    """Words of the quote before the first that they have in common."""
    after: int


def _list_candidate_positions(wanted: Sequence[str], given: _Words) -> list[int]:
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
            if like > best.similarity:
                best = _Run(like, shift + first, shift + last, begin, len(wanted) - 1 - end)
    return best


def format_word_diff(quote: str, text: str) -> str:
    """Return the words of a text with what a quote had in their place: ``for [-three-]{+four+} weeks``."""
    before, after = quote.split(), text.split()
    parts: list[str] = []
    for kind, start, end, start_after, end_after in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        old, new = " ".join(before[start:end]), " ".join(after[start_after:end_after])
        parts.append(new if kind == "equal" else (f"[-{old}-]" if old else "") + (f"{{+{new}+}}" if new else ""))
    return " ".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class LocatedNote:
    """A note, and what became of its place."""

    note: Note
    standing: ClaimStatus
    now: Citation | None = None
    """The place as it is today, None where there is none."""
    message: str = ""
    """Why it cannot be reached."""

    @property
    def current_citation(self) -> Citation:
        """The place of today, else the one that was kept."""
        return self.now or self.note.citation

    @property
    def change_note(self) -> str:
        """What a person should know of the place, a few words; empty where all is as it was."""
        what = "these words" if self.note.citation.quote is not None else "this section"
        match self.standing:
            case ClaimStatus.SAME:
                return ""
            case ClaimStatus.MOVED:
                before = list_path_titles(
                    self.note.citation, self.current_citation.path[0] if self.current_citation.path else ""
                )
                return f"moved or renamed; it was {_PATH_STEP.join(before) or 'untitled'}"
            case ClaimStatus.CHANGED:
                is_quote = self.note.citation.quote is not None
                return (
                    f"now reads “{sanitise_line(self.current_citation.quote or '')}”"
                    if is_quote
                    else "its text has changed since"
                )
            case ClaimStatus.JOINED:
                return "these words stand in several sentences"
            case ClaimStatus.GONE:
                return f"{what} can no longer be found in the document"
            case ClaimStatus.UNREACHABLE:
                return self.message or "its file or page is not read yet"


def locate_notes(notes: Iterable[Note], library: Library | None) -> tuple[LocatedNote, ...]:
    """Return notes in the order of the document of today, those without a place last; without a document as kept.

    Args:
        notes: Of one document.
        library: Its files should all be loaded.
    """
    if library is None:
        return tuple(LocatedNote(note=note, standing=ClaimStatus.SAME) for note in notes)
    find_by_hash = cache(partial(hash_sections, library))
    placed = [_place_note(note, library, find_by_hash) for note in notes]
    return tuple(sorted(placed, key=lambda one: _rank_note(one, library)))


def _place_note(note: Note, library: Library, find_by_hash: Callable[[], dict[str, str]]) -> LocatedNote:
    section_id, quote = note.citation.section_id, note.citation.quote
    is_here = section_id in library
    is_unread = any(link in library and not library.is_loaded(link) for link in note.links)
    if not is_here and (is_unread or library.list_unloaded()):
        return LocatedNote(note=note, standing=ClaimStatus.UNREACHABLE)
    if quote is not None:
        found = recheck(Claim(quote=quote, place="", section_id=section_id), library)
        now = None
        if found.span is not None:
            words = library.text_at(found.span) if found.standing is ClaimStatus.CHANGED else quote
            quote_state = QuoteState.JOINED if found.standing is ClaimStatus.JOINED else QuoteState.EXACT
            now = make_citation(found.section_id, words, quote_state, found.span, library)
        return LocatedNote(note=note, standing=found.standing, now=now, message=found.message)
    if is_here:
        today = hash_section(library, section_id)
        standing = ClaimStatus.CHANGED if today and note.content_hash not in ("", today) else ClaimStatus.SAME
    else:
        section_id = find_by_hash().get(note.content_hash, "")
        if not section_id and note.opening:
            section_id = recheck(Claim(quote=note.opening, place=""), library).section_id
        standing = ClaimStatus.MOVED if section_id else ClaimStatus.GONE
    return LocatedNote(note=note, standing=standing, now=cite_span(section_id, None, library) if section_id else None)


def cite_span(section_id: str, span: Span | None, library: Library) -> Citation:
    """Return the citation of a section, or of the very words of a span of it."""
    if span is None:
        return make_citation(section_id, None, QuoteState.NO_QUOTE, None, library)
    section_id = library.section_at(span.doc, span.start) or section_id
    return make_citation(section_id, library.text_at(span), QuoteState.EXACT, span, library)


def _rank_note(placed: LocatedNote, library: Library) -> tuple[bool, tuple[int, ...], int]:
    """Return what sorts notes by their places."""
    named = [*([placed.now.section_id] if placed.now else []), *reversed(placed.note.links)]
    section_id = next((one for one in named if one in library), None)
    if section_id is None:
        return True, (), 0
    rows = tuple(library.locate(one)[1] for one in (*library.ancestors(section_id), section_id))
    span = placed.now.span if placed.now else None
    return False, rows, span.start if span else 0


def list_path_titles(citation: Citation, title: str) -> list[str]:
    """Return the titles down to a section, below its file where there are several, else without the document's own."""
    names = [sanitise_line(name) for name in citation.path]
    if len(names) > 1 and citation.path[0] == title:
        del names[0]
    is_of_file = citation.doc and "://" not in citation.doc and names != [sanitise_line(citation.doc)]
    return [sanitise_line(citation.doc), *names] if is_of_file else names
