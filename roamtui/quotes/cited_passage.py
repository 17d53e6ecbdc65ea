"""Find the passage of a citation in the current document: its quote, or else the words most similar to the quote."""

from __future__ import annotations

from msgspec import Struct

from roamtui.conversation.state import ConversationState
from roamtui.conversation.transcript import Citation
from roamtui.document.library import Library
from roamtui.document.node import Span
from roamtui.quotes.find import find_quote
from roamtui.quotes.nearest import find_nearest_words

_SIMILARITY_MIN = 0.4
"""If the quote and a passage are less similar than this, the quote was not made from the passage."""
_UNREAD = "The section has these words, but the model had not read them"
_NEAREST = "Quote is not in the text · nearest passage"
_NOWHERE = "Quote is not in its section, nor anything like it"


class CitedPassage(Struct, frozen=True, kw_only=True):
    """The section and the words that a citation leads to."""

    section_id: str
    """Id of the section, which the document may no longer have."""
    spans: tuple[Span, ...] = ()
    """Where the quote is or, if it was not found, the most similar words of the section. Empty for a citation of a
    whole section, or if nothing is similar."""
    warning: str = ""
    """A short warning for the person if the quote is not in the text that the model got."""


def find_cited_passage(citation: Citation, state: ConversationState) -> CitedPassage:
    """Find the quote of a citation, or, if it is not in the text, the most similar words of the cited section."""
    library, section_id, quote = state.library, citation.section_id, citation.quote
    span, warning = resolve_citation(citation, state), ""
    if span is None and quote and section_id in library:
        section = library.get_content_span(section_id)
        span, warning = locate_in_span(quote, library, section), "" if citation.is_verified else _UNREAD
        if span is None:
            nearest, warning = find_nearest_words(quote, library.text_at(section)), _NOWHERE
            if nearest is not None and nearest.similarity > _SIMILARITY_MIN:
                span, warning = section.get_part(*nearest.bounds), _NEAREST
    if span is not None:
        section_id = library.section_at(span.doc, span.start) or section_id
    return CitedPassage(section_id=section_id, spans=() if span is None else (span,), warning=warning)


def locate_in_span(words: str, library: Library, section: Span) -> Span | None:
    """Return the span of words within the span of a section, or None if they are not there. The Markdown may differ."""
    bounds = find_quote(words, library.text_at(section))
    return section.get_part(*bounds) if bounds is not None else None


def resolve_citation(citation: Citation | None, state: ConversationState) -> Span | None:
    """Return the span of a citation in the document as it is now, or None if it is gone."""
    if citation is None or citation.span is None or citation.span.doc not in state.library.documents_by_key:
        return None
    span, quote, text = citation.span, citation.quote, state.library.document(citation.span.doc).text
    is_there = quote is None or find_quote(quote, text[span.start : span.end]) is not None
    return span if is_there and span.end <= len(text) else None
