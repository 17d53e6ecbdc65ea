"""Find quotes, and the targets of citations, in the current version of the document."""

from collections.abc import Sequence
from enum import StrEnum
from functools import partial
from operator import attrgetter

from msgspec import Struct
from msgspec.structs import replace

from roamtui.conversation.citations import Citation, Nearest, QuoteState
from roamtui.conversation.events import CitationsChecked, StopReason
from roamtui.conversation.state import ConversationState, Exchange
from roamtui.document.library import Library
from roamtui.document.links import find_fragment
from roamtui.markdown.quoted_sentence import QuotedSentence
from roamtui.outline.coverage import measure_coverage
from roamtui.outline.labels import format_node_title
from roamtui.quotes.claims import Claim
from roamtui.quotes.full_sentence import find_quoted_sentence
from roamtui.quotes.nearest import find_similar_words
from roamtui.quotes.places import QuotableText, QuotePlace
from roamtui.quotes.verdicts import QuoteChecker, make_citation, make_found_citation, resolve_citation
from roamtui.text import Span

_NEAREST_MAX = 30
"""Maximum number of false quotes of an answer whose nearest words are looked for."""


class ClaimStatus(StrEnum):
    """Result of looking up a claim's quote in the current document."""

    UNCHANGED = "same"
    MOVED = "moved"
    """The quote is now in another section."""
    CHANGED = "changed"
    """A similar text is there instead of the quote."""
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
        lost = (ClaimStatus.CHANGED, ClaimStatus.GONE, ClaimStatus.NOT_FOUND, ClaimStatus.UNREACHABLE)
        return self not in lost


class Finding(Struct, frozen=True, kw_only=True):
    """The result of checking a claim."""

    status: ClaimStatus
    span: Span | None = None
    """The quote or the most similar text, or None if there is neither."""
    section_id: str = ""
    """The section that contains `span`."""
    surroundings: QuotedSentence | None = None
    """The text around the quote, or None if the quote was not found or the text adds nothing."""
    is_sentence_compared: bool | None = None
    """Whether the text around the quote was compared too, or None if there is nothing to compare."""
    message: str = ""
    """Why the source cannot be opened."""


def recheck(claim: Claim, library: Library) -> Finding:
    """Return what has become of a claim's quote in a library whose files are all loaded.

    If the quote is nowhere, similar words are looked for in the claimed section, or in all documents if there
    is no such section. If the quote was in another section, they are looked for near its former sentence.
    """
    expected = claim.section_id
    if not expected and claim.anchor:
        target = find_fragment(library, library.root, claim.anchor)
        expected = "" if target is None else target.section_id
    section = library.node(expected) if expected in library else None
    if section is not None and section.problem:
        return Finding(status=ClaimStatus.UNREACHABLE, message=section.problem)
    was_missing = claim.original_state is QuoteState.NOT_FOUND
    was_elsewhere = was_missing or claim.original_state is QuoteState.ELSEWHERE
    sentence = claim.sentence or ""
    text = QuotableText(library)
    status, place = _look_up(
        claim.quote, expected, text, claim.context, sentence=sentence, was_elsewhere=was_elsewhere
    )
    if place is None:
        similar_in = text.spans if section is None else [section.content_span]
        if claim.original_state is QuoteState.ELSEWHERE:
            similar_in = _list_similar(sentence or claim.quote, library)
        problem = next((document.problem for document in library.documents if document.problem), "")
        if problem and claim.section_id and section is None:
            similar_in = []  # the section may be in the document that cannot be read
        similar = find_similar_words(claim.quote, library, similar_in)
        if similar is not None:
            section_id = library.find_node_at(similar.span.doc, similar.span.start) or ""
            status = ClaimStatus.NOT_FOUND if was_missing else ClaimStatus.CHANGED
            return Finding(status=status, span=similar.span, section_id=section_id)
        status = ClaimStatus.NOT_FOUND if was_missing else status
        if section is None or not section.is_loaded:
            problem = problem or replace(measure_coverage(library), left_out=()).gaps
            status = ClaimStatus.UNREACHABLE if problem else status
        return Finding(status=status, message=problem)
    found = place.found
    if sentence and not place.has_sentence:
        status = ClaimStatus.SENTENCE_CHANGED
    is_exact = found.is_exact and status is not ClaimStatus.SENTENCE_CHANGED
    return Finding(
        status=status,
        span=found.span,
        section_id=library.find_node_at(found.span.doc, found.span.start) or "",
        surroundings=find_quoted_sentence(library, found.parts, place.quote if is_exact else None),
        is_sentence_compared=None if claim.sentence == "" else bool(sentence),
    )


def _look_up(
    quote: str, section_id: str, text: QuotableText, *contexts: str, sentence: str, was_elsewhere: bool
) -> tuple[ClaimStatus, QuotePlace | None]:
    """Find a quote that was in a section, or `was_elsewhere`. An empty id names no section."""
    place = text.find_place(
        quote, [section_id], *contexts, sentence=sentence, was_in_section=not was_elsewhere
    )
    if place is None:
        return ClaimStatus.GONE, None
    if place.section_id is not None or not section_id:
        return ClaimStatus.UNCHANGED, place
    return (ClaimStatus.ELSEWHERE if was_elsewhere else ClaimStatus.MOVED), place


def _list_similar(sentence: str, library: Library) -> list[Span]:
    similar = find_similar_words(sentence, library, QuotableText(library).spans)
    return [] if similar is None else [similar.span]


def find_cited_passage(citation: Citation, state: ConversationState) -> tuple[Span | None, str]:
    """Find a citation's quote, or, if it is not in the text, the most similar words.

    Returns:
        The span, which is None for a citation of a whole section, or if nothing is similar, and a short
        warning for the person if the span does not have the quote, or the model had not read it.
    """
    span = resolve_citation(citation, state.library)
    if span is None and citation.span is not None:  # it was looked up in an earlier version of the text
        citation = _update_citation(citation, state.library)
        span = resolve_citation(citation, state.library)
    if span is not None or citation.quote is None:
        return span, ""
    nearest = find_nearest(citation, state)
    if nearest is None:
        return None, "The text contains nothing like this quote"
    unread = "" if nearest.is_read else ", which the model had not read"
    warning = f"The text does not have this quote, so the most similar passage{unread} is shown"
    if citation.is_lost:
        warning = "The text has changed since the answer, so the most similar passage is shown"
    elif nearest.is_same:
        warning = "The model had not read these words"
    return nearest.span, warning


def find_nearest(citation: Citation, state: ConversationState) -> Nearest | None:
    """Find the words that could replace a quote that was not found.

    The same words in text that the model had not read come first. Then come the most similar words. Of equal
    ones, those near the former sentence of a lost quote are first, then those in the cited section, and then
    those that the model had read.
    """
    library = state.library
    if citation.quote is None or citation.state is not QuoteState.NOT_FOUND:
        return None
    if citation.nearest is not None and _is_current(citation.nearest, library):
        return citation.nearest
    text = QuotableText(library)
    read = [*state.collect_read()]
    sentence = citation.original_sentence if citation.is_lost else ""
    place = text.find_place(citation.quote, [citation.section_id], sentence=sentence, was_in_section=True)
    if place is not None and not all(any(map(part.is_in, read)) for part in place.found.parts):
        return _describe_nearest(place.found.span, citation, library, is_read=False, is_same=True)
    cited = [library.node(citation.section_id).content_span] if citation.section_id in library else []
    places = (_list_similar(sentence, library), cited, read, text.spans)
    found = (find_similar_words(citation.quote, library, spans) for spans in places)
    similar = max(filter(None, found), key=attrgetter("similarity"), default=None)
    if similar is None:
        return None
    is_read = any(map(similar.span.overlaps, read))
    nearest = _describe_nearest(similar.span, citation, library, is_read=is_read, is_same=False)
    return replace(nearest, is_apart=similar.is_apart)


def _describe_nearest(
    span: Span, citation: Citation, library: Library, *, is_read: bool, is_same: bool
) -> Nearest:
    section_id = library.find_node_at(span.doc, span.start) or library.root_id
    place = make_citation(section_id, library, span=span).place
    if is_same or section_id != citation.section_id:
        place = f"in {format_node_title(library.node(section_id))}, {place}"
    return Nearest(text=library.text_at(span), span=span, is_read=is_read, is_same=is_same, place=place)


def _is_current(nearest: Nearest, library: Library) -> bool:
    is_loaded = nearest.span.doc in library.documents_by_key
    return is_loaded and library.text_at(nearest.span) == nearest.text


def add_nearest(citations: Sequence[Citation], state: ConversationState) -> tuple[Citation, ...]:
    """Return citations with the words most similar to the first quotes that were not found.

    If the model had not read the words of a quote, the quote also gets the text around them.
    """
    wrong = [index for index, citation in enumerate(citations) if citation.state is QuoteState.NOT_FOUND]
    added = [replace(citation, nearest=None) for citation in citations]
    for index in wrong[:_NEAREST_MAX]:
        citation = citations[index]
        nearest = find_nearest(citation, state)
        surroundings = None
        if nearest is not None and nearest.is_same and not citation.is_lost:
            surroundings = _find_around(citation, nearest.span, state.library)
        added[index] = replace(citation, nearest=nearest, surroundings=surroundings)
    return tuple(added)


def _find_around(citation: Citation, span: Span, library: Library) -> QuotedSentence | None:
    """Find the text around a quote that a span has."""
    there = QuotableText(library, [span])
    place = there.find_place(citation.quote or "", [citation.section_id])
    if place is None:
        return None
    return find_quoted_sentence(library, place.found.parts, place.quote if place.found.is_exact else None)


def update_citations(state: ConversationState) -> tuple[CitationsChecked, ...]:
    """Look up the quotes of all answers again. Return an event for each answer with a changed citation.

    The quotes of an answer that ended with the program have not been looked up before.
    """
    checked = [
        (exchange, recheck_citations(exchange.citations, state) or cite_cut_off(exchange, state))
        for exchange in state.exchanges
    ]
    return tuple(
        CitationsChecked(number=exchange.number, citations=citations)
        for exchange, citations in checked
        if citations != exchange.citations
    )


def cite_cut_off(exchange: Exchange, state: ConversationState) -> tuple[Citation, ...]:
    """Look up the quotes of an answer that ended with the program, and return none for any other answer."""
    if exchange.stopped is not StopReason.CANCELLED:
        return ()
    return add_nearest(QuoteChecker(state).list_citations(exchange.answer), state)


def recheck_citations(citations: tuple[Citation, ...], state: ConversationState) -> tuple[Citation, ...]:
    """Look up the quotes of an answer again, and what the document says instead of those that it lacks."""
    again = tuple(_update_citation(citation, state.library) for citation in citations)
    nearest = [citation.nearest for citation in again if citation.nearest is not None]
    is_same = again == citations and all(_is_current(words, state.library) for words in nearest)
    return again if is_same else add_nearest(again, state)


def _update_citation(citation: Citation, library: Library) -> Citation:
    """Return a citation with the current state and place of its quote.

    If the cited section is gone, path and place are those of the section that has the quote now. Two kinds of
    quotes stay as they are: those that were never found, and those whose document is not loaded, or cannot be
    read.
    """
    quote = citation.quote
    was_found = citation.span is not None or citation.is_changed
    # an empty document stands for a source that cannot be read
    names = (citation.doc, citation.doc.partition("/")[0], "")
    document = next(filter(None, map(library.documents_by_key.get, names)), library.root)
    is_unloaded = citation.doc not in library.documents_by_key and library.pending_ids
    if quote is None or not was_found or is_unloaded or document.problem:
        return citation
    was_elsewhere = not citation.is_changed and citation.state is QuoteState.ELSEWHERE
    is_gone = citation.section_id not in library
    section_id = "" if is_gone else citation.section_id
    look_up = partial(_look_up, quote, section_id, was_elsewhere=was_elsewhere)
    former = resolve_citation(citation, library)
    # the words may be there only as a part of longer words now
    status, place = look_up(QuotableText(library, [former] if former else []), sentence="")
    if place is None or (place.section_id is None and citation.is_verified):
        status, place = look_up(QuotableText(library), sentence=citation.original_sentence)
    if place is None:
        again = citation if is_gone else make_citation(citation.section_id, library, quote=quote)
        again = replace(again, state=QuoteState.NOT_FOUND, span=None, surroundings=None, is_changed=True)
    else:
        span = place.found.span
        holder = library.find_node_at(span.doc, span.start) if is_gone else None
        is_elsewhere = was_elsewhere or status is ClaimStatus.MOVED
        place_id = holder or citation.section_id
        again = make_found_citation(place_id, library, quote, place.found, is_elsewhere=is_elsewhere)
        if former is not None and quote in library.clean_text(former):
            again = replace(again, span=former)  # the span of a passage has the marks around its words too
        if citation.surroundings is None and not citation.is_changed:  # a passage has no surroundings
            again = replace(again, surroundings=None)
        again = replace(again, is_changed=status is ClaimStatus.MOVED)
    then = citation.original_sentence
    return replace(
        again,
        section_id=citation.section_id,
        key_sentence=citation.key_sentence,
        replaced_sentence=None if then == again.sentence else then,
        start=citation.start,
        end=citation.end,
        marks=citation.marks,
    )
