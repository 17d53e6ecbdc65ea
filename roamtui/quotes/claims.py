"""Read the claims of a Markdown file: quotes with their claimed sources.

There are two forms. An export has a ``Source: handbook.md`` line, then an ``Added source: rules.md`` line for
each source that was added to the conversation, and then one line per citation::

    1. ✓ [a8a96034] Loans > Late fees, line 12 (quote found in the text): "A late spade costs 50 cents a day."

Below the quotes of exported notes are their places::

    > A late spade costs 50 cents a day.
    >
    > — handbook.md › Late fees · line 12 [a8a96034]

A person writes a quote in the same sentence as a link to its file, and to its section::

    Being late is not dear: "A late spade costs 50 cents a day" ([Late fees](handbook.md#late-fees)).
"""

import json
import re
from collections.abc import Iterable, Iterator
from operator import attrgetter
from urllib.parse import unquote

from msgspec import Struct

from roamtui.conversation.citations import APART_LABEL, CHANGED_LABEL, QuoteState
from roamtui.document.library import Library
from roamtui.markdown.escaping import unescape_signs
from roamtui.outline.ids import ID, IdMark, iter_id_marks
from roamtui.quotes.places import QuotableText
from roamtui.quotes.read import WORDS_MIN, read_answer
from roamtui.quotes.wording import PASSAGE_LABEL, SENTENCE_LABEL, blank_document_lines, simplify_quote
from roamtui.quotes.words import read_words
from roamtui.sanitiser import sanitise_text
from roamtui.sources.read import is_path
from roamtui.sources.source_names import expand_sources
from roamtui.text import blank_matches

_SOURCE_LINES = re.compile(
    r"^Source: (?P<source>\S(?:.*\S)?)(?P<added>(?:\s*\nAdded source: .+)*)", re.MULTILINE
)
_ADDED_LINE = re.compile(r"^Added source: (.*\S)", re.MULTILINE)
# only the first state counts: trying each would take time that grows with the square of the line
_CITATION_LINE = re.compile(
    rf"^\d+\.(?: [✓!✗])? \[(?P<id>{ID})\] (?>.*?\((?P<state>[a-z, ]+)\): )(?P<quote>\".+\")[ \t]*$",
    re.MULTILINE,
)
_ANY_MARK = re.compile(rf"\[(?:\d+(?:,\d+)*|{ID})(?: [✓!✗])?\]")
"""The mark of a quote in an answer."""
_CELL_LINE = re.compile(
    r"^(?:- \S \*\*.*| ) (?P<quote>\"(?>(?:[^\"\\\n]|\\.)*)\")(?: \((?P<state>[a-z, ]+)\))?"
    r" \(\[(?>(?:[^\[\]\\\n]|\\.)*)\]\((?:<(?P<wide>[^<>\n]+)>|(?P<target>[^()\s]+))\)\)(?: \*.*\*)?[ \t]*$",
    re.MULTILINE,
)
"""A line of a table with a value and a quote, or a further quote. Quotation marks in it have backslashes."""
_PASSAGES = re.compile(
    rf"^\d+\. \[(?P<id>{ID})\] [^\n]*\({PASSAGE_LABEL}\)\n[ \t\n]*\n"
    r"(?P<words>(?:   > ?[^\n]*(?:\n|\Z))+)",
    re.MULTILINE,
)
"""A line of an export, and the passage as a block quote below it."""
_PLACE_START = r"> — [^\n]* \["
_NOTES = re.compile(
    rf"(?P<words>(?:^(?!{_PLACE_START}{ID}\]\n)>[^\n]*\n)+)"
    rf"(?:{_PLACE_START}(?P<id>{ID})\]\n(?:\n{SENTENCE_LABEL} (?P<sentence>[^\n]+))?)?",
    re.MULTILINE,
)
"""A quoted note of an export, with its place, and the sentence below it; or another block quote."""
_BLOCK_QUOTE_SIGN = re.compile(r"^[ \t]*>[ \t]?", re.MULTILINE)
_SENTENCE_LINE = re.compile(rf"\n[ \t]+{SENTENCE_LABEL} (.+)")
_LINK = re.compile(
    r"(?<!!)\[[^\[\]\n]*\]\((?:<(?P<wide>[^<>\n]+)>|(?P<target>[^()\s]+))(?:[ \t]+\"[^\"\n]*\")?\)"
)
_STATES = {
    **{state.label: state for state in QuoteState},
    APART_LABEL: QuoteState.NOT_FOUND,
    CHANGED_LABEL: QuoteState.EXACT,
}
"""The state of a quote by its label in an export. A quote that has changed since was found at first."""


class Claim(Struct, frozen=True, kw_only=True):
    """A quote and its claimed source."""

    quote: str
    place: str
    """Where the claim is made: ``faq.md``, or a conversation and the number of its question."""
    line: int = 0
    """1-based line in that file; 0 in a conversation."""
    source: str = ""
    """Path or URL of the quoted document. Empty if the whole conversation or file has only one source."""
    added_sources: tuple[str, ...] = ()
    """The sources that a person had added to the conversation."""
    section_id: str = ""
    """Empty if the claim names no section."""
    anchor: str = ""
    """Anchor of the section's heading, from a link."""
    context: str = ""
    """The sentence of the quote, which tells which of several places is meant."""
    original_state: QuoteState | None = None
    """What was found when the model answered, or None if no model has answered."""
    sentence: str | None = None
    """What the document said around the quote when the model answered, or the quote if it was the whole
    sentence. Empty if nothing judged the quote, None if no sentence was kept."""


def parse_source_lines(markdown: str) -> tuple[str, tuple[str, ...]]:
    """Return the source that a Markdown text names, empty if it names none, and the added sources."""
    match = _SOURCE_LINES.search(markdown)
    if match is None:
        return "", ()
    return expand_sources(match["source"]), tuple(map(expand_sources, _ADDED_LINE.findall(match["added"])))


def get_kept_sentence(
    quote: str, state: QuoteState | None, sentence: str | None, *, is_changed: bool
) -> str | None:
    """Compute `Claim.sentence`. An empty `sentence` in an export means that the quote is the whole one."""
    if state is None:
        return ""
    is_lost = is_changed or state is QuoteState.NOT_FOUND
    return None if is_lost or sentence is None else sentence or quote


def _parse_quote(text: str) -> str:
    try:
        return str(json.loads(text))
    except ValueError:  # a person has written it, without escapes
        return text[1:-1]


def find_claimed_marks(text: str, library: Library | None) -> Iterator[IdMark]:
    """Yield the marks of a text that quotes the `library`, which is None if the source cannot be opened.

    Words that look like an id, but occur in the library's text, are ignored.
    """
    if library is None:
        return iter_id_marks(text, (), lambda _: True)
    return QuotableText(library).iter_marks(text)


def read_claims(markdown: str, name: str, library: Library | None = None) -> tuple[Claim, ...]:
    """Return the claims of a Markdown file: an export's lists, or any other page's links and ids.

    Ids of the `library`, which is the file's source, count in any form that an answer may give them.
    """
    if exported := read_exported_claims(markdown, name):
        return exported
    text = blank_document_lines(markdown)
    links = {f"link {number}": link for number, link in enumerate(_LINK.finditer(text))}
    marks = [IdMark(*link.span(), (name_of_link,), is_link=True) for name_of_link, link in links.items()]
    without_links = blank_matches(_LINK, text)
    marks += find_claimed_marks(without_links, library)
    marks.sort(key=attrgetter("start"))
    claims = []
    for quotation in read_answer(text, tuple(marks)).quotes:
        if quotation.is_loose_code or quotation.is_block or not quotation.marks:
            continue
        section_id = quotation.marks[0].section_id
        source = ""
        anchor = ""
        if (link := links.get(section_id)) is not None:
            source, _, anchor = (link["wide"] or link["target"]).partition("#")
            section_id = ""
        claims.append(
            Claim(
                quote=quotation.text,
                place=name,
                line=_get_line_number(text, quotation.start),
                source=_decode_source(source),
                section_id=section_id,
                anchor=unquote(anchor),
                context=quotation.context,
            )
        )
    return tuple(claims)


def read_exported_claims(markdown: str, name: str) -> tuple[Claim, ...]:
    """Return the claims in the lists and tables of an export, or none if the file is no export."""
    text = blank_document_lines(markdown)
    exported = [*_CITATION_LINE.finditer(text), *_CELL_LINE.finditer(text)]
    # a file without sentences was exported by a version that kept none
    missing = None if _SENTENCE_LINE.search(markdown) is None else ""
    claims = [_parse_exported(match, markdown, name, missing) for match in exported]
    if exported:
        answers = blank_matches(_CELL_LINE, blank_matches(_CITATION_LINE, text))
        claims += _read_edited(answers, name, claims)
    claims += _read_block_quotes(_PASSAGES, text, name)
    claims += _read_block_quotes(_NOTES, markdown, name)
    return tuple(sorted(claims, key=lambda claim: claim.line))


def read_quotations(text: str, name: str, library: Library | None = None) -> tuple[Claim, ...]:
    """Return the quotations of a Markdown or plain text called `name`, each once, in order.

    Such a text may have no ids, so each quotation of at least `WORDS_MIN` words is a claim, whether it is a
    block quote or between quotation marks. If it names the id of a section, it is claimed to be from there.
    """
    text = blank_document_lines(text)
    claims: dict[str, Claim] = {}
    for quote in read_answer(text, tuple(find_claimed_marks(text, library))).quotes:
        words = _BLOCK_QUOTE_SIGN.sub("", quote.text) if quote.is_block else quote.text
        if not quote.is_loose_code and words not in claims and len(read_words(words)) >= WORDS_MIN:
            section_id = next((mark.section_id for mark in quote.marks), "")
            line = _get_line_number(text, quote.start)
            claims[words] = Claim(quote=words, place=name, line=line, section_id=section_id)
    return tuple(claims.values())


def _read_edited(text: str, name: str, claims: Iterable[Claim]) -> Iterator[Claim]:
    """Yield the quotes in an export's answers that its lists lack, because a person has changed them."""
    listed = [_read_key(claim.quote) for claim in claims]
    marks = tuple(IdMark(*match.span(), (match[0],)) for match in _ANY_MARK.finditer(text))
    for quotation in read_answer(text, marks).quotes:
        key = _read_key(quotation.text)
        if quotation.marks and not quotation.is_loose_code and not any(key in other for other in listed):
            listed.append(key)
            line = _get_line_number(text, quotation.start)
            yield Claim(quote=quotation.text, place=name, line=line, sentence="")


def _read_key(quote: str) -> str:
    """Return the words of a quote as keys. They are the same in an answer and in the list of its sources."""
    return read_words(simplify_quote(sanitise_text(quote))).exact.text


def _parse_exported(match: re.Match[str], markdown: str, name: str, missing: str | None) -> Claim:
    """Return the quote in a line of an export, with the sentence in the line below, or else `missing`."""
    fields = match.groupdict()
    state = _STATES.get(fields["state"] or QuoteState.EXACT.label)  # a passage has none
    quote = _parse_quote(fields["quote"])
    below = _SENTENCE_LINE.match(markdown, match.end())
    sentence = missing if below is None else below[1]
    if "id" not in fields and below is not None:
        sentence = unescape_signs(below[1])
    return Claim(
        quote=quote,
        place=name,
        line=_get_line_number(markdown, match.start()),
        section_id=fields.get("id", ""),
        source=_decode_source(fields.get("wide") or fields.get("target") or ""),
        original_state=state,
        sentence=get_kept_sentence(quote, state, sentence, is_changed=fields["state"] == CHANGED_LABEL),
    )


def _read_block_quotes(pattern: re.Pattern[str], markdown: str, name: str) -> Iterator[Claim]:
    """Yield passages or notes of an export. Nothing has judged a passage, so it has no sentence."""
    for match in pattern.finditer(markdown):
        if match["id"] is None:
            continue
        yield Claim(
            quote=_BLOCK_QUOTE_SIGN.sub("", match["words"]).strip("\n"),
            place=name,
            line=_get_line_number(markdown, match.start()),
            section_id=match["id"],
            sentence=match.groupdict().get("sentence", ""),
        )


def _decode_source(link: str) -> str:
    """Return the source that a link names: a path without percent signs, and a URL as it is."""
    return unquote(link, errors="surrogateescape") if is_path(link) else link


def _get_line_number(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1
