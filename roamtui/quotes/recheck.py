"""Find the quotes of answers, and a person's notes, in the current version of the document.

A claim is a quote with its claimed source. Saved conversations contain claims, and so do Markdown files, in
two forms. An export has a ``Source: handbook.md`` line and then one line per citation::

    1. ✓ [a8a96034] Loans > Late fees, line 12 (quote found in the text): "A late spade costs 50 cents a day."

A person writes a quote with a link to its file, and to its section, in the same sentence::

    Being late is not dear: "A late spade costs 50 cents a day" ([Late fees](handbook.md#late-fees)).
"""

from __future__ import annotations

import asyncio
import json
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from enum import StrEnum
from itertools import chain, islice
from operator import itemgetter
from urllib.parse import unquote

from msgspec import Struct
from msgspec.structs import replace

from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import CHANGED_LABEL, Citation, CitationsChecked, QuoteState
from roamtui.conversation.notes import Note
from roamtui.conversation.state import ConversationState
from roamtui.document.library import Library
from roamtui.markdown.inline import extract_words
from roamtui.plain import sanitise_line
from roamtui.quotes.find import find_quote
from roamtui.quotes.read import read_answer
from roamtui.quotes.verdicts import PASSAGE_LABEL, list_path_titles, make_citation, resolve_citation
from roamtui.quotes.words import TextWords, read_words
from roamtui.text import Bounds, Span

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
_LINK = re.compile(
    r"(?<!!)\[[^\[\]\n]*\]\((?:<(?P<wide>[^<>\n]+)>|(?P<target>[^()\s]+))(?:[ \t]+\"[^\"\n]*\")?\)"
)
_LINK_MASK = "[xxxxxxxx]"
"""Stands for a link. It has the length of an id in square brackets."""
_VERIFIED = (QuoteState.FOUND.label, PASSAGE_LABEL, CHANGED_LABEL)
"""Labels in exports of quotes that were found."""
_PATH_STEP = " › "
SIMILARITY_MIN = 0.65
"""If a text is more similar to the quote than this, the quote counts as changed. Similarity is the share of
words that both have in the same order."""
CITED_SIMILARITY_MIN = 0.4
"""If a model's words and a passage are less similar than this, they were not made from it."""
_BREAK = re.compile(r"[.!?]\s|\n[ \t]*\r?\n")
_OPENING = re.compile(r"(?:!?\[|[*_~`])+\Z")
_CLOSING = re.compile(r"(?:\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)|\]\[[^\]\n]*\]|[*_~`])+")
"""Markup next to the words of a passage."""
_WORDS_MAX = 400
"""Maximum number of words of a quote to compare. The time grows with the square of this number."""
_BESIDE = 3
"""Number of words beside the most similar run that may belong to it."""
_NEAREST_MAX = 3
"""Number of places in long texts at which similar words are looked for."""
_LONG = 1 << 16
"""Texts of more characters are read only where they have rare words of a quote."""
_SOUGHT_MAX = 8
_OCCURRENCES_MAX = 2000
_WORD_RUN = re.compile(r"[^\W_]{2,}")


def find_in_span(words: str, library: Library, within: Span) -> Span | None:
    """Return the span of words within a span, or None if they are not there. The Markdown may differ.

    The words may leave out page footers, like every text that a model or search reads.
    """
    text = library.text_at(within)
    bounds = find_quote(words, text)
    if bounds is None and (clean_text := library.clean_text(within)) != text:
        bounds = find_quote(words, clean_text)
    return within.get_part(*bounds) if bounds is not None else None


def _find_nearest(quote: str, library: Library, spans: Sequence[Span], similarity_min: float) -> Span | None:
    """Return the words in some spans that are most similar to a quote, with those that replace its ends."""
    nearest: Span | None = None
    best = similarity_min
    for span in _list_likely_places(quote, library, spans):
        similar = _find_similar(quote, library, span)
        if similar is not None and similar[0] > best:
            best, nearest = similar
    return nearest


def _list_likely_places(quote: str, library: Library, spans: Sequence[Span]) -> list[Span]:
    """List the spans, and of long ones only the places that share most of the long words of a quote."""
    runs = sorted(set(_WORD_RUN.findall(quote)), key=len)[-_SOUGHT_MAX:]
    width = 2 * len(quote) + 200
    places: list[tuple[int, Span]] = []
    short: list[Span] = []
    for span in spans:
        if span.end - span.start <= _LONG:
            short.append(span)
            continue
        text = library.documents_by_key[span.doc].text
        hits = sorted(
            (match.start(), number)
            for number, run in enumerate(runs)
            for match in islice(re.finditer(re.escape(run), text), _OCCURRENCES_MAX)
            if span.start <= match.start() < span.end
        )
        places += _rank_windows(hits, width, span)
    places.sort(key=itemgetter(0), reverse=True)
    return short + [place for _, place in places[:_NEAREST_MAX]]


def _rank_windows(matches: Sequence[tuple[int, int]], width: int, within: Span) -> Iterator[tuple[int, Span]]:
    """Yield how many different words each window has, with it; `matches` has offsets and word numbers."""
    counts: Counter[int] = Counter()
    first = 0
    best = (0, 0)
    for offset, number in matches:
        counts[number] += 1
        while matches[first][0] < offset - width:
            counts[matches[first][1]] -= 1
            counts += Counter()  # drops those that are not there
            first += 1
        if len(counts) > best[0]:
            best = len(counts), matches[first][0]
    if best[0]:
        start = max(within.start, best[1] - width // 2)
        yield best[0], Span(doc=within.doc, start=start, end=min(within.end, best[1] + width + width // 2))


def _find_similar(quote: str, library: Library, within: Span) -> tuple[float, Span] | None:
    """Return a span's most similar words, with their similarity from 0 to 1, or None if none is shared."""
    from rapidfuzz import distance, fuzz  # noqa: PLC0415 - the first screen does not need it

    around = library.widen_to_sections(within)
    text = library.clean_text(around)
    quote_words = read_words(quote)
    words = read_words(text)
    first_row = bisect_left(words.starts, within.start - around.start)
    keys = list(words.keys[first_row : bisect_right(words.ends, within.end - around.start)])
    wanted = list(quote_words.keys[:_WORDS_MAX])
    low, high = 0, len(keys)
    if len(wanted) < high and (near := fuzz.partial_ratio_alignment(wanted, keys)) is not None:
        low, high = near.dest_start, near.dest_end
        if keys[low] != wanted[0]:
            low = max(0, low - _BESIDE)
        if keys[high - 1] != wanted[-1]:
            high = min(len(keys), high + _BESIDE)
    edits = distance.LCSseq.editops(wanted, keys[low:high])
    blocks = [block for block in edits.as_matching_blocks() if block.size]
    if not blocks:
        return None
    first = first_row + low + blocks[0].b
    last = first_row + low + blocks[-1].b + blocks[-1].size - 1
    shared = sum(block.size for block in blocks)
    similarity = 2 * shared / (len(wanted) + last - first + 1)
    # as many words as are missing at both ends of the quote, but none of another sentence or paragraph
    for _ in range(blocks[0].a):
        if first and not _BREAK.search(text, words.ends[first - 1], words.starts[first] + 1):
            first -= 1
    for _ in range(len(wanted) - blocks[-1].a - blocks[-1].size):
        if last + 1 < len(words) and not _BREAK.search(text, words.ends[last], words.starts[last + 1] + 1):
            last += 1
    bounds = _widen_to_marks(text, words.starts[first], words.ends[last], quote, quote_words)
    return similarity, around.get_part(*bounds)


def _widen_to_marks(text: str, start: int, end: int, quote: str, quote_words: TextWords) -> Bounds:
    """Widen the bounds of words to the marks at a quote's ends, or else to the Markdown around them."""
    before = quote[: quote_words.starts[0]]
    after = quote[quote_words.ends[-1] :]
    if before and text.endswith(before, 0, start):
        start -= len(before)
    elif opening := _OPENING.search(text, max(0, start - 10), start):
        start = opening.start()
    if after and text.startswith(after, end):
        end += len(after)
    else:
        if closing := _CLOSING.match(text, end):
            end = closing.end()
        if after and text.startswith(after[-1], end):
            end += 1
    return start, end


class CitedPassage(Struct, frozen=True, kw_only=True):
    """The section and the words that a citation leads to."""

    section_id: str
    """Id of the section, which the document may no longer have."""
    span: Span | None = None
    """Where the quote is or, if it was not found, the most similar words of the section. None for a citation
    of a whole section, or if nothing is similar."""
    warning: str = ""
    """A short warning for the person if the quote is not in the text of its section that the model got."""
    changes: str = ""
    """How these words differ from a quote that the document had once."""


def find_cited_passage(citation: Citation, state: ConversationState) -> CitedPassage:
    """Find a citation's quote, or, if it is not in the text, the cited section's most similar words."""
    library = state.library
    section_id = citation.section_id
    quote = citation.quote
    span = resolve_citation(citation, library)
    warning = ""
    if span is None and quote and citation.is_changed:
        return _find_changed(citation, quote, library)
    if span is None and quote and section_id in library:
        section = library.node(section_id).content_span
        if (span := find_in_span(quote, library, section)) is not None:
            warning = (
                "" if citation.is_verified else "The section has these words, but the model had not read them"
            )
        elif (span := _find_nearest(quote, library, [section], CITED_SIMILARITY_MIN)) is not None:
            warning = "This quote is not in its section · nearest passage"
        else:
            warning = "Nothing like this quote is in its section"
    if span is not None:
        section_id = library.section_at(span.doc, span.start) or section_id
    return CitedPassage(section_id=section_id, span=span, warning=warning)


def _find_changed(citation: Citation, quote: str, library: Library) -> CitedPassage:
    """Find what replaced a quote that the document had once, in its section or else in its document."""
    spans = [library.node(citation.section_id).content_span] if citation.section_id in library else []
    if not spans and (document := library.documents_by_key.get(citation.doc)) is not None:
        spans = [Span(doc=document.key, start=0, end=len(document.text))]
    span = _find_nearest(quote, library, spans, CITED_SIMILARITY_MIN)
    if span is None:
        return CitedPassage(
            section_id=citation.section_id, warning="The text has changed: nothing like this quote is left"
        )
    changes = format_word_diff(quote, library.clean_text(span))
    section_id = library.section_at(span.doc, span.start) or citation.section_id
    warning = "The text has changed since the answer · nearest passage"
    return CitedPassage(section_id=section_id, span=span, warning=warning, changes=changes)


async def check_answers_again(conversation: Conversation) -> int:
    """Look up the quotes of all answers in the current document. Return how many verdicts have changed."""
    async with conversation.lock:
        events = await asyncio.to_thread(check_citations_again, conversation.state)
        before = {exchange.number: exchange.citations for exchange in conversation.state.exchanges}
        if events:
            await conversation.apply(events)
    pairs = chain.from_iterable(zip(before[event.number], event.citations, strict=True) for event in events)
    return sum(old.state is not new.state for old, new in pairs)


def check_citations_again(state: ConversationState) -> tuple[CitationsChecked, ...]:
    """Return the citations of each answer whose quotes are no longer where they were, or are there again."""
    checked: list[CitationsChecked] = []
    for exchange in state.exchanges:
        citations = tuple(_check_again(citation, state.library) for citation in exchange.citations)
        if citations != exchange.citations:
            checked.append(CitationsChecked(number=exchange.number, citations=citations))
    return tuple(checked)


def _check_again(citation: Citation, library: Library) -> Citation:
    """Return a citation with the state and the place of its quote in the document as it is now.

    A quote that the model never had in its text stays as it is, and one whose document is not loaded yet.
    """
    quote = citation.quote
    was_found = citation.state in (QuoteState.FOUND, QuoteState.ELSEWHERE) or citation.is_changed
    if (
        quote is None
        or not was_found
        or (citation.doc not in library.documents_by_key and library.unloaded_files)
    ):
        return citation
    own = library.node(citation.section_id).span if citation.section_id in library else None
    span = resolve_citation(citation, library)
    is_in_own = (
        span is not None and own is not None and own.doc == span.doc and own.start <= span.start < own.end
    )
    if span is None or (citation.state is QuoteState.FOUND and not is_in_own):
        finding = recheck(
            Claim(quote=quote, place="", section_id=citation.section_id), library, similarity_min=None
        )
        span = finding.span
        is_in_own = finding.status is ClaimStatus.SAME
    section_id = citation.section_id
    if span is not None and section_id not in library:
        section_id = library.section_at(span.doc, span.start) or section_id
        is_in_own = (
            make_citation(section_id, None, QuoteState.NO_QUOTE, None, library).path[-1:]
            == citation.path[-1:]
        )
    state = QuoteState.NOT_FOUND if span is None else QuoteState.ELSEWHERE
    if is_in_own and citation.state is not QuoteState.ELSEWHERE:
        state = QuoteState.FOUND
    again = citation
    if section_id in library:
        again = make_citation(section_id, quote, state, span, library)
    return replace(
        again,
        section_id=citation.section_id,
        state=state,
        span=span,
        start=citation.start,
        end=citation.end,
        marks=citation.marks,
        is_changed=span is None,
    )


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


class ClaimStatus(StrEnum):
    """Result of looking up a claim's quote in the current document."""

    SAME = "same"
    MOVED = "moved"
    """The quote is now in another section."""
    CHANGED = "changed"
    """A similar text has replaced the quote."""
    GONE = "gone"
    UNREACHABLE = "unreachable"
    """The source cannot be opened."""


class Finding(Struct, frozen=True, kw_only=True):
    """A claim with the result of its check."""

    claim: Claim
    status: ClaimStatus
    span: Span | None = None
    """The quote or the most similar text, or None if there is neither."""
    section_id: str = ""
    """The section that contains `span`."""
    message: str = ""
    """Why the source cannot be opened."""


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
    quotes = read_answer(masked).quotes
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
        if quotation.is_code or not quotation.marks:
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


def recheck(claim: Claim, library: Library, similarity_min: float | None = SIMILARITY_MIN) -> Finding:
    """Return what became of a claim's quote in a library whose files are all loaded.

    The quote is looked up in the claimed section, then in its document, then in all others. If it is nowhere,
    similar words are looked for in the claimed section, or in all documents if there is no such section,
    unless `similarity_min` is None.
    """
    expected: str | None = None
    if claim.section_id in library:
        expected = claim.section_id
    elif not claim.section_id and claim.anchor:
        row = library.root.anchors.get(claim.anchor.lower())
        expected = None if row is None else library.root.ids[row]
    if expected is not None and (problem := library.node(expected).problem):
        return Finding(claim=claim, status=ClaimStatus.UNREACHABLE, message=problem)
    spans = [
        Span(doc=document.key, start=0, end=len(document.text))
        for document in library.documents
        if document.text
    ]
    if expected is not None:
        own = library.node(expected).content_span
        spans = [own, *sorted(spans, key=lambda span: span.doc != own.doc)]
    is_placed = bool(claim.section_id or claim.anchor)
    place: Span | None = None
    for number, span in enumerate(spans):
        if (place := find_in_span(claim.quote, library, span)) is not None:
            is_same = not is_placed or (expected is not None and number == 0)
            status = ClaimStatus.SAME if is_same else ClaimStatus.MOVED
            break
    else:
        status = ClaimStatus.CHANGED
        similar_in = spans[:1] if expected is not None else spans
        if similarity_min is not None:
            place = _find_nearest(claim.quote, library, similar_in, similarity_min)
    if place is not None:
        section_id = library.section_at(place.doc, place.start) or ""
        return Finding(claim=claim, status=status, span=place, section_id=section_id)
    problem = next((document.problem for document in library.documents if document.problem), "")
    status = ClaimStatus.UNREACHABLE if problem and expected is None else ClaimStatus.GONE
    return Finding(claim=claim, status=status, message=problem)


def format_word_diff(quote: str, text: str) -> str:
    """Format the differences of a text from a quote: ``for [-three-]{+four+} weeks``."""
    before = quote.split()
    after = (extract_words(text) if quote == extract_words(quote) else text).split()
    parts: list[str] = []
    for kind, start, end, start_after, end_after in SequenceMatcher(
        None, before, after, autojunk=False
    ).get_opcodes():
        old, new = " ".join(before[start:end]), " ".join(after[start_after:end_after])
        if kind == "equal":
            parts.append(new)
        else:
            parts.append((f"[-{old}-]" if old else "") + (f"{{+{new}+}}" if new else ""))
    return " ".join(parts)


class LocatedNote(Struct, frozen=True, kw_only=True):
    """A note with its place in the current document: the section, and the words of a quote."""

    note: Note
    status: ClaimStatus
    new_citation: Citation | None = None
    """A citation of the place in the current document, or None if it has no such place."""
    message: str = ""
    """Why the place cannot be reached."""

    @property
    def current_citation(self) -> Citation:
        """The citation of the current place, or else the original one."""
        return self.new_citation or self.note.citation

    @property
    def change_note(self) -> str:
        """What has changed at the place, in a few words for a person; empty if nothing has."""
        is_quote = self.note.citation.quote is not None
        match self.status:
            case ClaimStatus.SAME:
                return ""
            case ClaimStatus.MOVED:
                path = self.current_citation.path
                before = list_path_titles(self.note.citation, path[0] if path else "")
                return f"moved or renamed: it was {_PATH_STEP.join(before) or 'untitled'}"
            case ClaimStatus.CHANGED:
                words = sanitise_line(self.current_citation.quote or "")
                return f"now reads “{words}”" if is_quote else "its text has changed since"
            case ClaimStatus.GONE:
                return (
                    f"{'these words' if is_quote else 'this section'} can no longer be found in the document"
                )
            case ClaimStatus.UNREACHABLE:
                return self.message or "its file or page is not loaded yet"


def locate_notes(notes: Iterable[Note], library: Library | None) -> tuple[LocatedNote, ...]:
    """Locate the notes of one document in its current version.

    Returns:
        The notes in the order of the document, those without a place last. Without a library, the original
        order.
    """
    if library is None:
        return tuple(LocatedNote(note=note, status=ClaimStatus.SAME) for note in notes)
    order = {section_id: number for number, section_id in enumerate(library.walk())}

    def get_position(located: LocatedNote) -> tuple[int, int]:
        citation = located.new_citation
        if citation is None:
            return len(order), 0
        return order.get(
            citation.section_id, len(order)
        ), citation.span.start if citation.span is not None else 0

    return tuple(sorted((_locate_note(note, library) for note in notes), key=get_position))


def _locate_note(note: Note, library: Library) -> LocatedNote:
    """Locate the quote of a note, or the opening words of its section."""
    section_id = note.citation.section_id
    quote = note.citation.quote
    is_unread = any(link in library and not library.node(link).is_loaded for link in note.links)
    # it may be in text that is not loaded
    if section_id not in library and (is_unread or library.unloaded_files):
        return LocatedNote(note=note, status=ClaimStatus.UNREACHABLE)
    words = quote or note.opening
    if not words:
        status = ClaimStatus.SAME if section_id in library else ClaimStatus.GONE
        return LocatedNote(
            note=note, status=status, new_citation=note.citation if section_id in library else None
        )
    finding = recheck(Claim(quote=words, place="", section_id=section_id), library)
    new_citation = None
    if finding.span is not None and quote is None:
        new_citation = cite_span(finding.section_id, None, library)
    elif finding.span is not None:
        new_words = library.text_at(finding.span) if finding.status is ClaimStatus.CHANGED else quote
        new_citation = make_citation(finding.section_id, new_words, QuoteState.FOUND, finding.span, library)
    return LocatedNote(note=note, status=finding.status, new_citation=new_citation, message=finding.message)


def cite_span(section_id: str, span: Span | None, library: Library) -> Citation:
    """Make a citation of a section, or of the text of a span in it."""
    if span is None:
        return make_citation(section_id, None, QuoteState.NO_QUOTE, None, library)
    section_id = library.section_at(span.doc, span.start) or section_id
    return make_citation(section_id, library.text_at(span), QuoteState.FOUND, span, library)
