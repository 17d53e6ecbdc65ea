"""Find the passage of a citation in the current document: its quote, or else the words most similar to the quote."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from roamtui.conversation.state import ConversationState
from roamtui.conversation.transcript import Citation
from roamtui.document.library import Library
from roamtui.document.node import Span
from roamtui.outline.spans import merge_bounds
from roamtui.quotes.find import find_quote
from roamtui.quotes.nearest import find_nearest_words

_SIMILARITY_MIN = 0.4
"""If the quote and a passage are less similar than this, the quote was not made from the passage."""
_CHARACTERS_MAX = 2_000_000
"""Maximum number of characters to search. One million take 0.25 s."""
_RUN_LENGTH_MIN = 2
"""Minimum length, in characters, of common words in a row that are marked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedPassage:
    """The section and the words that a citation leads to."""

    section_id: str
    """Id of the section, which the document may no longer have."""
    spans: tuple[Span, ...] = ()
    """Where the quote is. If it was not found: the words that it shares with the most similar passage, in order. Empty
    for a citation of a whole section, or if nothing is similar."""
    is_missing: bool = False
    """Whether the quote is not in the text that the model got."""
    is_unread: bool = False
    """Whether the section contains the quote, but the model did not get it."""

    @property
    def warning(self) -> str:
        """A short warning for the person if the quote is not in the text that the model got; else empty."""
        if not self.is_missing:
            return ""
        if self.is_unread:
            return "The section has these words, but the model had not read them"
        if self.spans:
            return "Quote is not in the text · nearest passage, matching words marked"
        return "Quote is not in the text, nor anything like it"


def find_cited_passage(citation: Citation, state: ConversationState) -> CitedPassage:
    """Find the quote of a citation, or, if it is not in the text, the most similar passage.

    The quote is also looked for in text of the cited section that the model did not get. A similar passage is looked
    for in the cited section first, then in all other text that the model got.
    """
    span = resolve_citation(citation, state)
    spans: tuple[Span, ...] = () if span is None else (span,)
    is_missing, library = span is None and citation.quote is not None, state.library
    if is_missing and citation.quote:
        if citation.section_id in library:
            unread = locate_in_span(citation.quote, library, library.get_content_span(citation.section_id))
            if unread is not None:
                return CitedPassage(section_id=citation.section_id, spans=(unread,), is_missing=True, is_unread=True)
        spans = _find_similar_words(citation.quote, citation.section_id, state)
    section_id = state.library.section_at(spans[0].doc, spans[0].start) if spans else None
    return CitedPassage(section_id=section_id or citation.section_id, spans=spans, is_missing=is_missing)


def locate_in_span(words: str, library: Library, section: Span) -> Span | None:
    """Return the span of words within the span of a section, or None if they are not there. The Markdown may differ."""
    bounds = find_quote(words, library.text_at(section)) if words else None
    return section.get_part(*bounds) if bounds is not None else None


def resolve_citation(citation: Citation | None, state: ConversationState) -> Span | None:
    """Return the span of a citation in the document as it is now, or None if it is gone."""
    if citation is None or citation.span is None or citation.span.doc not in state.library.documents_by_key:
        return None
    span, quote = citation.span, citation.quote
    document = state.library.document(span.doc)
    if quote is None or find_quote(quote, document.text[span.start : span.end]) is not None:
        return span if span.end <= len(document.text) else None
    if citation.section_id not in state.library:
        return None
    # The document has changed since the answer, so the words may have moved within their section.
    return locate_in_span(quote, state.library, state.library.get_content_span(citation.section_id))


def _find_similar_words(quote: str, section_id: str, state: ConversationState) -> tuple[Span, ...]:
    """Return the spans of the words that a quote shares with the most similar passage.

    The first of several equally similar passages counts. The result is empty if no passage is similar enough.
    """
    best_similarity = _SIMILARITY_MIN
    best_spans: tuple[Span, ...] = ()
    for searched in _list_searched_spans(section_id, state):
        nearest = find_nearest_words(quote, state.library.text_at(searched))
        if nearest is not None and nearest.similarity > best_similarity:
            best_similarity = nearest.similarity
            runs = (bounds for bounds in nearest.common if bounds[1] - bounds[0] >= _RUN_LENGTH_MIN)
            best_spans = tuple(searched.get_part(*bounds) for bounds in runs)
    return best_spans


def _list_searched_spans(section_id: str, state: ConversationState) -> Iterator[Span]:
    """Yield the cited section, then the other text that the model got."""
    cited = [state.library.get_content_span(section_id)] if section_id in state.library else []
    delivered, excerpts = state.collect_delivered(), state.collect_excerpts()
    read = (
        Span(doc=doc, start=start, end=end)
        for doc in dict.fromkeys((*delivered, *excerpts))
        for start, end in merge_bounds((*delivered.get(doc, ()), *excerpts.get(doc, ())))
    )
    left = _CHARACTERS_MAX
    for span in (*cited, *read):
        end = min(span.end, span.start + left)
        left -= end - span.start
        if end > span.start:
            yield Span(doc=span.doc, start=span.start, end=end)
