"""The list of sources below an answer, in the words that all front ends use."""

from __future__ import annotations

import re

from roamtui.conversation.notices import format_section
from roamtui.conversation.transcript import Citation, QuoteState
from roamtui.document.library import Library
from roamtui.document.plain import sanitise_line

_LINK = re.compile(r"!?\[([^\[\]\n]+)\]\([^()\s]*\)")
"""A Markdown link. In a quote, only its text is shown, as in the answer."""
_PATH_STEP = " › "


def format_source(citation: Citation, library: Library) -> str:
    """Return the section of a citation, with its file if there are several."""
    title = format_section(citation.section_id, library)
    file = citation.doc
    if "://" in file:
        file = file.rpartition("/")[2] or file
    file = sanitise_line(file)
    return title if file in ("", title) else f"{file}{_PATH_STEP}{title}"


def find_holder(citation: Citation, library: Library) -> str:
    """Return the section that holds the words of a quote: the cited one, unless they were found in another."""
    span = citation.span
    is_there = span is not None and any(document.key == span.doc for document in library.documents)
    if citation.state is not QuoteState.MISATTRIBUTED or span is None or not is_there:
        return citation.section_id
    return library.section_at(span.doc, span.start) or citation.section_id


def describe_place(citation: Citation, holder: str) -> str:
    """Describe where the words of a quote are, or that they are nowhere; `holder` is the path of their section."""
    place = citation.place if citation.page is None else f"p. {citation.page}"
    match citation.state:
        case QuoteState.UNVERIFIED:
            return "these words are not in the text"
        case QuoteState.MISATTRIBUTED:
            return f"these words stand in {holder}, {place}"
        case QuoteState.JOINED:
            return f"joined from several sentences, {place}"
        case _:
            return place if citation.start_line else ""


def strip_links(text: str) -> str:
    """Return text on one line, with links replaced by their text."""
    return _LINK.sub(r"\1", sanitise_line(text))
