"""Find quotes, and the targets of citations, in the current version of the document."""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import islice
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from roamtui.conversation.citations import Citation, QuoteState
from roamtui.conversation.events import CitationsChecked
from roamtui.conversation.reading import Nearest
from roamtui.conversation.state import ConversationState
from roamtui.document.library import Library
from roamtui.document.links import find_fragment
from roamtui.markdown.surroundings import Surroundings
from roamtui.markdown.units import split_sentences
from roamtui.outline.ids import strip_marks
from roamtui.outline.labels import format_node_title
from roamtui.quotes.claims import Claim
from roamtui.quotes.find import FoundQuote, find_in_span, iter_in_span
from roamtui.quotes.nearest import (
    CITED_SIMILARITY_MIN,
    SIMILARITY_MIN,
    find_nearest,
    find_replacing_words,
    measure_similarity,
)
from roamtui.quotes.surroundings import find_surroundings
from roamtui.quotes.verdicts import PLACES_MAX, choose_place, make_citation, resolve_citation
from roamtui.text import Span

_NEAREST_MAX = 30
"""Maximum number of false quotes of an answer whose nearest words are looked for."""


class ClaimStatus(StrEnum):
    """Result of looking up a claim's quote in the current document."""

    SAME = "same"
    MOVED = "moved"
    """The quote is now in another section."""
    CHANGED = "changed"
    """A similar text has replaced the quote."""
    SENTENCE_CHANGED = "sentence_changed"
    """The document has the quote, but not the sentence around it."""
    GONE = "gone"
    ELSEWHERE = "elsewhere"
    """The quote is in another section than the one it was cited from, as it was before."""
    NOT_FOUND = "not_found"
    """The quote was not found before either."""
    UNREACHABLE = "unreachable"
    """The source cannot be opened."""

    @property
    def is_there(self) -> bool:
        """Whether the document has the quote."""
        has_moved = self in (ClaimStatus.MOVED, ClaimStatus.ELSEWHERE)
        return has_moved or self in (ClaimStatus.SAME, ClaimStatus.SENTENCE_CHANGED)


class Finding(Struct, frozen=True, kw_only=True):
    """The result of checking a claim."""

    status: ClaimStatus
    span: Span | None = None
    """The quote or the most similar text, or None if there is neither."""
    section_id: str = ""
    """The section that contains `span`."""
    surroundings: Surroundings | None = None
    """The text around the quote, or None if the quote was not found or the text adds nothing."""
    is_sentence_compared: bool | None = None
    """Whether the text around the quote was compared too, or None if there is nothing to compare."""
    message: str = ""
    """Why the source cannot be opened."""


def recheck(claim: Claim, library: Library, similarity_min: float = SIMILARITY_MIN) -> Finding:
    """Return what has become of a claim's quote in a library whose files are all loaded.

    If the quote is nowhere, similar words are looked for in the claimed section, or in all documents if there
    is no such section.
    """
    expected: str | None = None
    if claim.section_id in library:
        expected = claim.section_id
    elif not claim.section_id and claim.anchor:
        target = find_fragment(library, library.root, claim.anchor)
        expected = None if target is None else target.section_id
    if expected is not None and (problem := library.node(expected).problem):
        return Finding(status=ClaimStatus.UNREACHABLE, message=problem)
    place = _find_kept(claim.quote, claim.sentence, library, expected, claim.context)
    found = place.found
    if found is None:
        return _find_substitute(claim, library, expected, similarity_min)
    status = ClaimStatus.SAME
    if (claim.section_id or claim.anchor) and not place.is_in_section:
        was_elsewhere = claim.original_state in (QuoteState.ELSEWHERE, QuoteState.NOT_FOUND)
        status = ClaimStatus.ELSEWHERE if was_elsewhere else ClaimStatus.MOVED
    is_same = None
    if claim.sentence:
        has_sentence = _has_sentence(claim.quote, claim.sentence, found, library)
        is_same = has_sentence or (None if place.is_cut else False)
        status = ClaimStatus.SENTENCE_CHANGED if is_same is False else status
    is_exact = found.is_exact and status is not ClaimStatus.SENTENCE_CHANGED
    return Finding(
        status=status,
        span=found.span,
        section_id=library.section_at(found.span.doc, found.span.start) or "",
        surroundings=find_surroundings(library, found.parts, is_exact=is_exact),
        is_sentence_compared=None if claim.sentence == "" else is_same is not None,
    )


class _SimilarSentence(NamedTuple):
    """The sentence of a section that is most similar to a kept sentence."""

    span: Span
    shown: str
    similarity: float


class _QuoteLocation(NamedTuple):
    """Where a quote was found."""

    found: FoundQuote | None = None
    is_in_section: bool = False
    """Whether it is in the claimed section."""
    is_cut: bool = False
    """Whether there are more places than were compared."""


def _find_substitute(claim: Claim, library: Library, expected: str | None, similarity_min: float) -> Finding:
    similar_in = _list_texts(library) if expected is None else [library.node(expected).content_span]
    span = _find_replacing_words(claim.quote, claim.sentence, library, expected)
    if span is None:
        similar = find_nearest(claim.quote, library, similar_in, similarity_min)
        span = None if similar is None else similar.span
    status = ClaimStatus.CHANGED
    problem = ""
    if span is None:
        problem = next((document.problem for document in library.documents if document.problem), "")
        status = ClaimStatus.UNREACHABLE if problem and expected is None else ClaimStatus.GONE
    if claim.original_state is QuoteState.NOT_FOUND and status in (ClaimStatus.CHANGED, ClaimStatus.GONE):
        status = ClaimStatus.NOT_FOUND
    section_id = "" if span is None else library.section_at(span.doc, span.start) or ""
    return Finding(status=status, span=span, section_id=section_id, message=problem)


def _find_kept(
    quote: str, sentence: str | None, library: Library, section_id: str | None, context: str = ""
) -> _QuoteLocation:
    """Find a quote, unless it is no longer in the sentence that was kept with it.

    While the section has the kept sentence, the same words in another sentence are not the quote.
    """
    place = _find_anywhere(quote, sentence, library, section_id, context)
    found = place.found
    if not sentence or found is None or _has_sentence(quote, sentence, found, library):
        return place
    now = None if section_id is None else _find_sentence(sentence, library, section_id)
    around = find_surroundings(library, found.parts, is_exact=False)
    if now is None or (around is not None and measure_similarity(sentence, around.text) >= now.similarity):
        return place
    return _QuoteLocation(find_in_span(quote, library, now.span), is_in_section=True)


def _find_sentence(sentence: str, library: Library, section_id: str) -> _SimilarSentence | None:
    """Find the sentence of a section that is most similar to a kept sentence."""
    section = library.node(section_id).content_span
    nearest: _SimilarSentence | None = None
    for part in split_sentences(library.clean_text(section)):
        span = section.get_part(part.start, part.end)
        around = find_surroundings(library, (span,), is_exact=False)
        similarity = 0.0 if around is None else measure_similarity(sentence, around.text)
        if around is not None and similarity > (SIMILARITY_MIN if nearest is None else nearest.similarity):
            nearest = _SimilarSentence(span, around.text, similarity)
    return nearest


def _find_replacing_words(
    quote: str, sentence: str | None, library: Library, section_id: str | None
) -> Span | None:
    """Find the words that have replaced a quote in the current form of the sentence that was kept with it."""
    if not sentence or section_id is None:
        return None
    now = _find_sentence(sentence, library, section_id)
    words = "" if now is None else find_replacing_words(quote, sentence, now.shown)
    found = None if now is None or not words else find_in_span(words, library, now.span)
    return None if found is None else found.span


def _find_anywhere(
    quote: str, sentence: str | None, library: Library, section_id: str | None, context: str = ""
) -> _QuoteLocation:
    """Find a quote in a section, or else in the section's document, or else in all others.

    Without a section, all documents are searched. The quote is looked up as written, then without the ids
    that a model copied with it. If it has several places, the one with the `sentence`, or with most of its
    words, comes first, then the one that the `context` means.
    """
    texts = _list_texts(library)
    section = None if section_id is None else library.node(section_id).content_span
    if section is not None:
        texts = [section, *sorted(texts, key=lambda span: span.doc != section.doc)]
    for words in dict.fromkeys((quote, strip_marks(quote, library))):
        for span in texts:
            places = [*islice(iter_in_span(words, library, span), PLACES_MAX)]
            kept = (place for place in places if sentence and _has_sentence(quote, sentence, place, library))
            found = next(kept, None) or choose_place(places, library, sentence or "", context)
            if found is not None:
                return _QuoteLocation(found, is_in_section=span is section, is_cut=len(places) == PLACES_MAX)
    return _QuoteLocation()


def _has_sentence(quote: str, sentence: str, found: FoundQuote, library: Library) -> bool:
    """Return whether the sentence at a place of a quote is the one that was kept with it."""
    now = find_surroundings(library, found.parts, is_exact=False)
    if sentence == quote:
        return now is None or now.is_bare
    return now is not None and measure_similarity(sentence, now.text) == 1


def _list_texts(library: Library) -> list[Span]:
    documents = (document for document in library.documents if document.text)
    return [Span(doc=document.key, start=0, end=len(document.text)) for document in documents]


def find_cited_passage(citation: Citation, state: ConversationState) -> tuple[Span | None, str]:
    """Find a citation's quote, or, if it is not in the text, the most similar words.

    Returns:
        The span, which is None for a citation of a whole section, or if nothing is similar, and a short
        warning for the person if these are not the words of the quote.
    """
    span = resolve_citation(citation, state.library)
    if span is not None or citation.quote is None:
        return span, ""
    nearest = find_replacement(citation, state)
    if nearest is None:
        return None, "The text contains nothing like this quote"
    unread = "" if nearest.is_read else ", which the model had not read"
    warning = f"The text does not have this quote, so the most similar passage{unread} is shown"
    if citation.is_changed:
        warning = "The text has changed since the answer, so the most similar passage is shown"
    elif nearest.is_same:
        warning = "The model had not read these words"
    return nearest.span, warning


def find_replacement(citation: Citation, state: ConversationState) -> Nearest | None:
    """Find the words that could replace a quote that was not found.

    Words that have replaced it in its sentence come first, then the same words where the model has not read
    them, then the most similar ones: of the cited section, of what the model has read, or of all.
    """
    library = state.library
    if citation.quote is None or citation.state is not QuoteState.NOT_FOUND:
        return None
    if citation.nearest is not None and _is_current(citation.nearest, library):
        return citation.nearest
    span, is_same = next(_iter_replacements(citation.quote, citation, state), (None, False))
    if span is None:
        return None
    section_id = library.section_at(span.doc, span.start) or library.root_id
    place = make_citation(section_id, library, span=span).place
    if is_same or section_id != citation.section_id:
        place = f"in {format_node_title(library.node(section_id))}, {place}"
    is_read = any(map(span.overlaps, state.list_read()))
    text = library.text_at(span)
    return Nearest(text=text, span=span, is_read=is_read, is_same=is_same, place=place)


def _iter_replacements(
    quote: str, citation: Citation, state: ConversationState
) -> Iterator[tuple[Span, bool]]:
    """Yield possible replacements for a quote, the likeliest first, and whether they are the same words."""
    library = state.library
    cited_id = citation.section_id if citation.section_id in library else None
    sentence = citation.original_sentence if citation.is_changed else None
    replacing = _find_replacing_words(quote, sentence, library, cited_id)
    if replacing is not None:
        yield replacing, False
    read = state.list_read()
    same = _find_anywhere(quote, None, library, cited_id).found
    if same is not None and not any(map(same.span.overlaps, read)):
        yield same.span, True
    for spans, similarity_min in (
        (_list_parts(library, citation.section_id, read), SIMILARITY_MIN),
        (read, SIMILARITY_MIN),
        (_list_texts(library), SIMILARITY_MIN),
        (read, CITED_SIMILARITY_MIN),
    ):
        if (similar := find_nearest(quote, library, spans, similarity_min)) is not None:
            yield similar.span, False


def _list_parts(library: Library, section_id: str, spans: Sequence[Span]) -> list[Span]:
    """List the parts of some spans that are in a section, with all below it."""
    if section_id not in library:
        return []
    section = library.node(section_id).content_span
    return [
        Span(doc=span.doc, start=max(span.start, section.start), end=min(span.end, section.end))
        for span in spans
        if span.overlaps(section)
    ]


def _is_current(nearest: Nearest, library: Library) -> bool:
    is_loaded = nearest.span.doc in library.documents_by_key
    return is_loaded and library.text_at(nearest.span) == nearest.text


def add_nearest(citations: Sequence[Citation], state: ConversationState) -> tuple[Citation, ...]:
    """Return citations with the words most similar to the first quotes that were not found."""
    added: list[Citation] = []
    left = _NEAREST_MAX
    for citation in citations:
        nearest = None
        if citation.state is QuoteState.NOT_FOUND and left:
            left -= 1
            nearest = find_replacement(citation, state)
        added.append(citation if nearest == citation.nearest else replace(citation, nearest=nearest))
    return tuple(added)


def update_citations(state: ConversationState) -> tuple[CitationsChecked, ...]:
    """Return the citations of each answer whose quotes are no longer where they were, or are there again."""
    checked: list[CitationsChecked] = []
    for exchange in state.exchanges:
        citations = tuple(_update_citation(citation, state.library) for citation in exchange.citations)
        found = [citation.nearest for citation in citations if citation.nearest is not None]
        is_changed = citations != exchange.citations
        if is_changed or not all(_is_current(nearest, state.library) for nearest in found):
            citations = add_nearest(citations, state)
            checked.append(CitationsChecked(number=exchange.number, citations=citations))
    return tuple(checked)


def _update_citation(citation: Citation, library: Library) -> Citation:
    """Return a citation with the state and the place of its quote in the document as it is now.

    Two kinds stay as they are: quotes that never were in the model's text, and quotes whose document is not
    loaded yet.
    """
    is_sentence = citation.state is QuoteState.SUPPORTED
    around = citation.surroundings
    quote = around.quoted_words if is_sentence and around is not None else citation.quote
    was_found = citation.span is not None or citation.is_changed
    is_unloaded = citation.doc not in library.documents_by_key and library.unloaded_files
    if quote is None or not was_found or is_unloaded:
        return citation
    found, is_in_own = _find_again(quote, citation, library)
    span = None if found is None else found.span
    section_id: str | None = citation.section_id
    if section_id not in library:
        section_id = None if span is None else library.section_at(span.doc, span.start)
    again = citation
    if section_id is not None:
        again = make_citation(section_id, library, quote=quote, found=found)
        if section_id != citation.section_id:
            is_in_own = again.path[-1:] == citation.path[-1:]  # the ids may be others, but not the title
    state = QuoteState.ELSEWHERE
    if found is None:
        state = QuoteState.NOT_FOUND
    elif is_in_own and citation.state is not QuoteState.ELSEWHERE:
        state = QuoteState.EXACT if found.is_exact else QuoteState.SAME
    again = replace(again, surroundings=again.surroundings if found else None)
    then = citation.original_sentence
    return replace(
        again,
        section_id=citation.section_id,
        quote=None if is_sentence else again.quote,
        state=QuoteState.SUPPORTED if is_sentence else state,
        span=span,
        replaced_sentence=None if then == again.sentence else then,
        start=citation.start,
        end=citation.end,
        marks=citation.marks,
        is_changed=span is None,
    )


def _find_again(quote: str, citation: Citation, library: Library) -> tuple[FoundQuote | None, bool]:
    """Find a quote where it was, or else anywhere. Also return whether it is in the section that it cites."""
    section_id = citation.section_id if citation.section_id in library else None
    span = resolve_citation(citation, library)
    # A word of the quote may be part of a longer one now.
    found = None if span is None else find_in_span(quote, library, span)
    if found is not None:
        is_in_own = section_id is not None and found.span.overlaps(library.node(section_id).span)
        if is_in_own or not citation.is_verified:
            return found, is_in_own
    place = _find_kept(quote, citation.original_sentence, library, section_id)
    return place.found, place.is_in_section
