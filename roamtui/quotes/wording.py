"""Say where the quotes of an answer are, in the words that all front ends and exports use."""

import re
from collections.abc import Sequence

from msgspec import Struct

from roamtui.conversation.citations import Citation, QuoteState
from roamtui.document.library import Library
from roamtui.markdown.inline import extract_words
from roamtui.outline.labels import PLAIN_PATH_STEP, format_node_title
from roamtui.quotes.find import find_first_sign
from roamtui.quotes.nearest import DiffPart, compare_words, format_diff_parts, shorten_equal_parts
from roamtui.quotes.words import read_words
from roamtui.sanitiser import format_json, sanitise_line
from roamtui.text import blank_matches, normalise_line_ends

SENTENCE_LABEL = "In full:"
"""Introduces what a document says around a quote."""
_NEAREST_LABEL = "nearest,"
_SAME_LABEL = "these words are"
UNNAMED_LABEL = "not looked up, because"
_LABELS = f"{SENTENCE_LABEL}|{_NEAREST_LABEL}|{_SAME_LABEL}"
_DOCUMENT_LINE = re.compile(rf"^(?:[ \t]+(?:{_LABELS})|.*\d quotes? {UNNAMED_LABEL}) .*$", re.MULTILINE)
NO_SECTION = "no such section"
"""Written in place of the path of a section that the document does not have."""
PASSAGE_LABEL = "passage"
"""Written in place of the verdict in the sources of an answer that consists of passages."""


class CitationDescription(Struct, frozen=True, kw_only=True):
    """What the line of a citation says, in the words that all front ends use."""

    section_id: str
    """The section that contains the quote: the cited one, unless the quote was found in another."""
    document: str
    """Short name of the document; empty if there is only one."""
    title: str
    """Title of the cited section."""
    place: str
    """Where the quote is, or that it was not found."""


def describe_citation(citation: Citation, library: Library) -> CitationDescription:
    """Say where a quote is, or that it was not found."""
    section_id = citation.section_id
    state = citation.state
    span = citation.span
    words_id = section_id
    if span is not None and span.doc in library.documents_by_key:
        words_id = library.find_node_at(span.doc, span.start) or section_id
    if section_id not in library and state is not QuoteState.ELSEWHERE:  # its file was moved
        section_id = words_id
    title = _format_section(section_id, library, citation.path)
    file = _format_file(citation.doc)
    if state is QuoteState.ELSEWHERE and section_id in library:
        file = _format_file(library.node(section_id).doc)  # `citation.doc` is the file with the words
    source = library.source_of(section_id) if section_id in library else None
    if source is not None and not file:
        file = sanitise_line(source.title)
    place = citation.position
    if state is QuoteState.NOT_FOUND:
        place = citation.short_label
    elif state is QuoteState.ELSEWHERE:
        section_id = words_id
        section = _format_section(section_id, library)
        other = _format_file(citation.doc)
        if other not in ("", file) and not other.endswith(section):
            section = f"{section} in {other}"
        place = f"{_SAME_LABEL} in {section}, {place}"
    elif not citation.start_line:
        place = ""
    elif state is QuoteState.RESPELLED:
        place = f"{place}, written otherwise"
    elif citation.quote is None:
        place = f"{place}, {state.label}"
    return CitationDescription(
        section_id=section_id, document="" if file == title else file, title=title, place=place
    )


def _format_file(doc: str) -> str:
    return sanitise_line((doc.rpartition("/")[2] if "://" in doc else "") or doc)


def _format_section(section_id: str, library: Library, path: Sequence[str] = ()) -> str:
    """Format the title of a section, or if it is gone, the last title of its former `path`."""
    if section_id not in library:
        name = sanitise_line(path[-1]) if path else f"section {section_id}"
        return f"{name} (not in this document)"
    return format_node_title(library.node(section_id))


def describe_nearest(citation: Citation) -> tuple[str, list[DiffPart]]:
    """Say where the words nearest to a false quote are, and how they differ. Both may be empty."""
    nearest = citation.nearest
    if nearest is None or citation.quote is None:
        return "", []
    if nearest.is_same:
        return f"{_SAME_LABEL} {nearest.place}, which the model had not read", []
    unread = "" if nearest.is_read or citation.is_lost else " (not read by the model)"
    parts = compare_words(simplify_quote(citation.quote), nearest.text)
    return f"{_NEAREST_LABEL} {nearest.place}{unread}:", shorten_equal_parts(parts)


def format_nearest(citation: Citation) -> str:
    """Format where the words nearest to a false quote are, and how they differ, as one line or empty."""
    place, parts = describe_nearest(citation)
    return sanitise_line(f"{place} {format_diff_parts(parts)}".rstrip())


def format_sentence(sentence: str) -> str:
    """Format what a document says around a quote, as a line that `read_claims` takes for no quote."""
    return f"{SENTENCE_LABEL} {sentence}"


def blank_document_lines(text: str) -> str:
    """Replace the lines that say what a document has with spaces, because the author quotes nothing there."""
    return blank_matches(_DOCUMENT_LINE, text)


def list_path_titles(citation: Citation, title: str) -> list[str]:
    """List the titles from the top to the cited section, after its file's path if there are several.

    `title`, the title of the document, is omitted.
    """
    names = [*map(sanitise_line, citation.path)]
    if len(names) > 1 and names[0] == sanitise_line(title):
        del names[0]
    is_of_file = citation.doc and "://" not in citation.doc and names != [sanitise_line(citation.doc)]
    return [sanitise_line(citation.doc), *names] if is_of_file else names


def format_source_line(citation: Citation, number: int, label: str = "") -> str:
    """Format a citation as a line that `read_claims` reads again. A `label` replaces its verdict."""
    titles = () if citation.doc == "/".join(citation.path) else citation.path  # a file's path is its key
    names = [*filter(None, [citation.doc]), *titles]
    place = citation.place
    if citation.state is QuoteState.ELSEWHERE:  # document and place are where the words are
        names = list(titles)
        place = f"but in {', '.join(filter(None, [citation.doc, place]))}"
    where = ", ".join(filter(None, [PLAIN_PATH_STEP.join(map(sanitise_line, names)), sanitise_line(place)]))
    where = where or NO_SECTION
    quote = f": {format_quote(citation.quote)}" if citation.quote else ""
    sign = f"{citation.state.sign} " if citation.state.sign and not label else ""
    parts = [f"{number}. {sign}[{citation.section_id}]", where, f"({label or citation.label}){quote}"]
    return " ".join(filter(None, parts))


def simplify_quote(quote: str) -> str:
    """Remove the signs of tables and lists from a quote, unless it would then read as other words."""
    words = extract_words(normalise_line_ends(quote))
    has_all_letters = [*filter(str.isalnum, words)] == [*filter(str.isalnum, quote)]
    before, after = read_words(quote), read_words(words)
    has_sign = find_first_sign(quote, before) == find_first_sign(words, after)
    return words if has_all_letters and has_sign and before.exact.text == after.exact.text else quote


def format_quote(quote: str) -> str:
    """Write a quote on one line, with the escapes of JSON, so that `read_claims` reads it again."""
    return format_json(join_quote_lines(quote))


def join_quote_lines(quote: str) -> str:
    """Write a quote on one line, in a form that can be found in the document again."""
    words = simplify_quote(quote) if "|" in quote or len(quote.splitlines()) > 1 else quote
    return words.strip()
