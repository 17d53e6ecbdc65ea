"""Find the quotes of answers, and a person's notes, in the current version of the document.

A claim is a quote with its claimed source. Saved conversations contain claims, and so do Markdown files, in two forms.
An export has a ``Source: handbook.md`` line and then one line per citation::

    1. ✓ [a8a96034] Loans > Late fees, line 12 (quote found in the text): "A late spade costs 50 cents a day."

A person writes a quote with a link to its file, and to its section, in the same sentence::

    Being late is not dear: "A late spade costs 50 cents a day" ([Late fees](handbook.md#late-fees)).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from functools import cache, partial
from pathlib import PurePath
from urllib.parse import unquote

from roamtui.conversation.library_sync import hash_sections
from roamtui.conversation.notes import Note, hash_section
from roamtui.conversation.transcript import Citation, QuoteState
from roamtui.document.library import Library
from roamtui.document.node import Span
from roamtui.document.plain import escape_json, sanitise_line
from roamtui.errors import SourceError
from roamtui.outline.spans import Bounds
from roamtui.outline.structure import get_canonical_id
from roamtui.quotes.find import find_quote
from roamtui.quotes.nearest import find_nearest_words
from roamtui.quotes.read import MARK, read_answer
from roamtui.quotes.source_list import list_path_titles
from roamtui.quotes.verdicts import make_citation

_SOURCE_LINE = re.compile(r"^Source: (?P<source>\S(?:.*\S)?)", re.MULTILINE)
_CITATION_LINE = re.compile(  # only the first state counts: trying each would take time by the square of the line
    r"^\d+\.(?: [✓!✗])? \[(?P<id>[0-9a-f]{8})\] (?>.*?\((?P<state>[a-z ]+)\): )(?P<quote>\".+\")[ \t]*$",
    re.MULTILINE,
)
_CELL_LINE = re.compile(
    r"^- \S \*\*.* (?P<quote>\"(?:[^\"\\\n]|\\.)*+\")(?: \((?P<state>[a-z ]+)\))?"
    r" \(\[(?:[^\[\]\\\n]|\\.)*+\]\((?:<(?P<wide>[^<>\n]+)>|(?P<target>[^()\s]+))\)\)(?: \*.*\*)?[ \t]*$",
    re.MULTILINE,
)
"""A line of a table of several documents. In its quote, quotation marks have backslashes."""
_LINK = re.compile(r"(?<!!)\[[^\[\]\n]*\]\((?:<(?P<wide>[^<>\n]+)>|(?P<target>[^()\s]+))(?:[ \t]+\"[^\"\n]*\")?\)")
PASSAGE_LABEL = "passage"
"""Stands in exports of passages in place of a verdict."""
_VERIFIED = (QuoteState.FOUND.label, PASSAGE_LABEL)
"""Labels of found quotes in exports."""
_PATH_STEP = " › "
_SIMILARITY_MIN = 0.6
"""If a text of the same section is more similar to the quote than this, the quote counts as changed. Similarity is the
share of words that both have in the same order."""
_SIMILARITY_MOVED_MIN = 0.7
"""The same for any text of the source, if the section no longer exists."""
_SIMILARITY_ELSEWHERE_MIN = 0.9
"""The same for other sections, if the section still exists: similar sentences are common in one document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
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


def parse_source_line(markdown: str) -> str:
    """Return the value of the ``Source:`` line in a Markdown text, or empty if there is none."""
    match = _SOURCE_LINE.search(markdown)
    return match["source"] if match else ""


def format_quote(quote: str) -> str:
    """Write a quote on one line, with the escapes of JSON, so that `read_claims` reads every character again."""
    return escape_json(json.dumps(quote, ensure_ascii=False))


def _parse_quote(text: str) -> str:
    try:
        return str(json.loads(text))
    except ValueError:  # a person has written it, without escapes
        return text[1:-1]


def read_claims(text: str, name: str) -> tuple[Claim, ...]:
    """Return the claims in a file called `name`: an export, or Markdown that a person has written.

    Raises:
        SourceError: A file with the suffix of JSON is no export.
    """
    is_json = PurePath(name).suffix.lower() == ".json"
    return _read_json_claims(text, name) if is_json else _read_markdown_claims(text, name)


def _read_json_claims(text: str, name: str) -> tuple[Claim, ...]:
    """Read the claims of a conversation or a table. They have no lines."""
    try:
        exported = json.loads(text)
        sourced = [(exported.get("source", ""), exchange) for exchange in exported.get("exchanges", ())]
        sourced += [(row["source"], cell) for row in exported.get("rows", ()) for cell in row["cells"]]
        return tuple(
            Claim(quote=cited["quote"], place=name, source=source, section_id=cited["section_id"])
            for source, answer in sourced
            for cited in answer["citations"]
            if cited["quote"] is not None and cited["verified"]
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise SourceError(f"{name} is not an export of roamtui. Name one, or a Markdown or HTML file.") from None


def _read_markdown_claims(markdown: str, name: str) -> tuple[Claim, ...]:
    claims: list[Claim] = []
    exported_quotes: set[str] = set()
    for match in (*_CITATION_LINE.finditer(markdown), *_CELL_LINE.finditer(markdown)):
        line, quote = match.groupdict(""), _parse_quote(match["quote"])
        exported_quotes.add(sanitise_line(quote))  # the text of an export shows control characters as signs
        if line["state"] in ("", *_VERIFIED):
            claims.append(
                Claim(
                    quote=quote,
                    place=name,
                    line=_get_line_number(markdown, match.start()),
                    section_id=line.get("id", ""),
                    source=unquote(line.get("wide") or line.get("target") or ""),
                )
            )
    links: dict[str, re.Match[str]] = {}

    def replace_link(link: re.Match[str]) -> str:
        placeholder_id = f"{len(links):08x}"
        links[placeholder_id] = link
        return f"[{placeholder_id}]"

    # links become ids, so that a quote binds to its link as it would to an id in an answer
    text = _LINK.sub(replace_link, _CELL_LINE.sub("", _CITATION_LINE.sub("", markdown)))
    for quotation in read_answer(text).quotes:
        if quotation.is_code or not quotation.marks:
            continue
        quote = MARK.sub(lambda mark: links[mark[0][1:-1]][0] if mark[0][1:-1] in links else mark[0], quotation.text)
        words = sanitise_line(quote)
        if any(words in exported_quote for exported_quote in exported_quotes):
            continue  # only a part is compared, because `read_answer` may end a quote at a mark inside it
        section_id, source, anchor = quotation.marks[0].section_id, "", ""
        if section_id in links:
            source, _, anchor = (links[section_id]["wide"] or links[section_id]["target"]).partition("#")
            section_id = ""
        claims.append(
            Claim(
                quote=quote,
                place=name,
                line=_get_line_number(text, quotation.start),
                source=unquote(source),
                section_id=section_id,
                anchor=unquote(anchor),
            )
        )
    return tuple(sorted(claims, key=lambda claim: claim.line))


def _get_line_number(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def recheck(claim: Claim, library: Library) -> Finding:
    """Return what became of a claim's quote in a library whose files are all loaded.

    The library is searched in two passes: for the quote (`SAME` or `MOVED`), then for similar words (`CHANGED`). Each
    pass begins with the claimed section, and continues with its document, then all other documents.
    """
    expected: str | None = None
    if claim.section_id in library:
        expected = claim.section_id
    elif not claim.section_id and claim.anchor:
        row = library.root.anchors.get(claim.anchor.lower())
        expected = None if row is None else library.root.ids[row]
    if expected is not None and (problem := library.node(expected).problem):
        return Finding(claim=claim, standing=ClaimStatus.UNREACHABLE, message=problem)
    spans = [Span(doc=document.key, start=0, end=len(document.text)) for document in library.documents if document.text]
    if expected is not None:
        section_span = library.get_content_span(expected)
        spans = [section_span, *sorted(spans, key=lambda span: span.doc != section_span.doc)]
    for number, span in enumerate(spans):
        text = library.text_at(span)
        match = find_quote(claim.quote, text)
        if match is not None:
            is_expected = not (claim.section_id or claim.anchor) if expected is None else number == 0
            status = ClaimStatus.SAME if is_expected else ClaimStatus.MOVED
            return _make_finding(claim, status, span, match, library)
    for number, span in enumerate(spans):
        similarity_min = _SIMILARITY_MOVED_MIN
        if expected is not None:
            similarity_min = _SIMILARITY_MIN if number == 0 else _SIMILARITY_ELSEWHERE_MIN
        nearest = find_nearest_words(claim.quote, library.text_at(span))
        if nearest is not None and nearest.similarity > similarity_min:
            return _make_finding(claim, ClaimStatus.CHANGED, span, nearest.bounds, library)
    problem = next((document.problem for document in library.documents if document.problem), "")
    status = ClaimStatus.UNREACHABLE if problem and expected is None else ClaimStatus.GONE
    return Finding(claim=claim, standing=status, message=problem)


def _make_finding(claim: Claim, status: ClaimStatus, within: Span, bounds: Bounds, library: Library) -> Finding:
    span = within.get_part(*bounds)
    node_id = library.section_at(span.doc, span.start)
    section_id = get_canonical_id(library, node_id) if node_id else ""
    return Finding(claim=claim, standing=status, span=span, section_id=section_id)


def format_word_diff(quote: str, text: str) -> str:
    """Format the differences of a text from a quote: ``for [-three-]{+four+} weeks``."""
    before, after = quote.split(), text.split()
    parts: list[str] = []
    for kind, start, end, start_after, end_after in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        old, new = " ".join(before[start:end]), " ".join(after[start_after:end_after])
        parts.append(new if kind == "equal" else (f"[-{old}-]" if old else "") + (f"{{+{new}+}}" if new else ""))
    return " ".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class LocatedNote:
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
                return f"moved or renamed; it was {_PATH_STEP.join(before) or 'untitled'}"
            case ClaimStatus.CHANGED:
                words = sanitise_line(self.current_citation.quote or "")
                return f"now reads “{words}”" if is_quote else "its text has changed since"
            case ClaimStatus.GONE:
                return f"{'these words' if is_quote else 'this section'} can no longer be found in the document"
            case ClaimStatus.UNREACHABLE:
                return self.message or "its file or page is not loaded yet"


def locate_notes(notes: Iterable[Note], library: Library | None) -> tuple[LocatedNote, ...]:
    """Locate the notes of one document in its current version.

    Returns:
        The notes in the order of the document, those without a place last. Without a library, the original order.
    """
    if library is None:
        return tuple(LocatedNote(note=note, status=ClaimStatus.SAME) for note in notes)
    get_ids_by_hash = cache(partial(hash_sections, library))  # slow, and only needed if a section has disappeared
    order = {section_id: number for number, section_id in enumerate(library.walk())}

    def get_position(located: LocatedNote) -> tuple[int, int]:
        citation = located.new_citation
        if citation is None:
            return len(order), 0
        return order.get(citation.section_id, len(order)), citation.span.start if citation.span is not None else 0

    return tuple(sorted((_locate_note(note, library, get_ids_by_hash) for note in notes), key=get_position))


def _locate_note(note: Note, library: Library, get_ids_by_hash: Callable[[], dict[str, str]]) -> LocatedNote:
    section_id, quote = note.citation.section_id, note.citation.quote
    exists = section_id in library
    is_unread = any(link in library and not library.is_loaded(link) for link in note.links)
    if not exists and (is_unread or library.list_unloaded_files()):  # the section may be in text that is not loaded
        return LocatedNote(note=note, status=ClaimStatus.UNREACHABLE)
    if quote is not None:
        finding = recheck(Claim(quote=quote, place="", section_id=section_id), library)
        new_citation = None
        if finding.span is not None:
            words = library.text_at(finding.span) if finding.standing is ClaimStatus.CHANGED else quote
            new_citation = make_citation(finding.section_id, words, QuoteState.FOUND, finding.span, library)
        return LocatedNote(note=note, status=finding.standing, new_citation=new_citation, message=finding.message)
    if exists:
        current_hash = hash_section(library, section_id)
        is_changed = current_hash and note.content_hash not in ("", current_hash)
        status = ClaimStatus.CHANGED if is_changed else ClaimStatus.SAME
    else:
        section_id = get_ids_by_hash().get(note.content_hash, "")
        if not section_id and note.opening:
            section_id = recheck(Claim(quote=note.opening, place=""), library).section_id
        status = ClaimStatus.MOVED if section_id else ClaimStatus.GONE
    new_citation = cite_span(section_id, None, library) if section_id else None
    return LocatedNote(note=note, status=status, new_citation=new_citation)


def cite_span(section_id: str, span: Span | None, library: Library) -> Citation:
    """Make a citation of a section, or of the text of a span in it."""
    if span is None:
        return make_citation(section_id, None, QuoteState.NO_QUOTE, None, library)
    section_id = library.section_at(span.doc, span.start) or section_id
    return make_citation(section_id, library.text_at(span), QuoteState.FOUND, span, library)
