"""The list of sources below an answer, in the words that all front ends use."""

from __future__ import annotations

import re

from roamtui.conversation.events import Citation, QuoteState
from roamtui.conversation.notices import format_section
from roamtui.document.library import Library
from roamtui.document.plain import format_count, sanitise_line, strip_anchor

_LINK = re.compile(r"!?\[([^\[\]\n]+)\]\([^()\s]*\)")
"""A Markdown link. In a quote, only its text is shown, as in the answer."""


def split_source(citation: Citation, library: Library) -> tuple[str, str]:
    """Return the short name of a citation's document (empty if there is only one), and the title of its section."""
    section_id = citation.section_id
    title = format_section(section_id, library)
    file = citation.doc
    if "://" in file:
        file = file.rpartition("/")[2] or file
    if not file and section_id in library and (source := library.source_of(section_id)) is not None:
        file = source.title
    file = sanitise_line(file)
    return ("" if file == title else file), title


def find_quote_section(citation: Citation, library: Library) -> str:
    """Return the id of the section that contains a quote: the cited one, unless the quote was found in another."""
    span = citation.span
    if citation.state is not QuoteState.ELSEWHERE or span is None or span.doc not in library.documents_by_key:
        return citation.section_id
    return library.section_at(span.doc, span.start) or citation.section_id


def describe_place(citation: Citation, section_path: str) -> str:
    """Say where a quote is, or that it was not found. `section_path` leads to the section that contains it."""
    if citation.state is QuoteState.NOT_FOUND:
        return "these words are not in the text"
    place = citation.place if citation.page is None else f"p. {citation.page}"
    if citation.state is QuoteState.ELSEWHERE:
        return f"these words stand in {section_path}, {place}"
    return place if citation.start_line else ""


def list_path_titles(citation: Citation, title: str) -> list[str]:
    """List the titles from the top down to the cited section, after the path of its file if there are several.

    `title`, the title of the document, is omitted.
    """
    names = [strip_anchor(sanitise_line(name)) for name in citation.path]
    if len(names) > 1 and citation.path[0] == title:
        del names[0]
    is_of_file = citation.doc and "://" not in citation.doc and names != [sanitise_line(citation.doc)]
    return [sanitise_line(citation.doc), *names] if is_of_file else names


def strip_links(text: str) -> str:
    """Return text on one line, with links replaced by their text."""
    return _LINK.sub(r"\1", sanitise_line(text))


def count_verified(citations: tuple[Citation, ...]) -> tuple[int, int]:
    """Return the number of verified quotes and the number of all quotes."""
    quotes = [citation for citation in citations if citation.quote is not None]
    return sum(citation.is_verified for citation in quotes), len(quotes)


def format_verification(citations: tuple[Citation, ...]) -> str:
    """Format where the quotes are; empty without quotes. A quote in the text may still answer nothing."""
    verified, quotes = count_verified(citations)
    if verified == quotes:
        return f"{verified}/{quotes} {'quote' if quotes == 1 else 'quotes'} found in the text" if quotes else ""
    states = [citation.state for citation in citations]
    elsewhere, nowhere = states.count(QuoteState.ELSEWHERE), states.count(QuoteState.NOT_FOUND)
    counts = {"where cited": verified, "elsewhere": elsewhere, "nowhere": nowhere}
    places = ", ".join(f"{count} {place}" for place, count in counts.items() if count)
    return f"{format_count(quotes, 'quote')}: {places}"
