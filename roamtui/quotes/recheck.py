"""Find quotes, and what citations lead to, in the current version of the document."""

import asyncio
from enum import StrEnum
from functools import partial
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace

from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import PROVEN_STATES, Citation, CitationsChecked, QuoteState
from roamtui.conversation.state import ConversationState
from roamtui.document.library import Library
from roamtui.outline.ids import strip_marks
from roamtui.quotes.claims import Claim
from roamtui.quotes.find import FoundQuote, find_in_context, find_in_span
from roamtui.quotes.nearest import CITED_SIMILARITY_MIN, SIMILARITY_MIN, find_nearest, format_word_diff
from roamtui.quotes.verdicts import make_citation, resolve_citation
from roamtui.text import Span


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
    """The result of checking a claim."""

    status: ClaimStatus
    span: Span | None = None
    """The quote or the most similar text, or None if there is neither."""
    section_id: str = ""
    """The section that contains `span`."""
    message: str = ""
    """Why the source cannot be opened."""


def recheck(claim: Claim, library: Library, similarity_min: float = SIMILARITY_MIN) -> Finding:
    """Return what became of a claim's quote in a library whose files are all loaded.

    If the quote is nowhere, similar words are looked for in the claimed section, or in all documents if there
    is no such section.
    """
    expected: str | None = None
    if claim.section_id in library:
        expected = claim.section_id
    elif not claim.section_id and claim.anchor:
        row = library.root.anchors.get(claim.anchor.lower())
        expected = None if row is None else library.root.ids[row]
    if expected is not None and (problem := library.node(expected).problem):
        return Finding(status=ClaimStatus.UNREACHABLE, message=problem)
    found, is_in_section = _find_anywhere(claim.quote, library, expected)
    span = found.span if found else None
    is_placed = bool(claim.section_id or claim.anchor)
    status = ClaimStatus.SAME if is_in_section or not is_placed else ClaimStatus.MOVED
    if span is None:
        status = ClaimStatus.CHANGED
        similar_in = _list_texts(library) if expected is None else [library.node(expected).content_span]
        span = find_nearest(claim.quote, library, similar_in, similarity_min)
    if span is not None:
        section_id = library.section_at(span.doc, span.start) or ""
        return Finding(status=status, span=span, section_id=section_id)
    problem = next((document.problem for document in library.documents if document.problem), "")
    status = ClaimStatus.UNREACHABLE if problem and expected is None else ClaimStatus.GONE
    return Finding(status=status, message=problem)


def _find_anywhere(quote: str, library: Library, section_id: str | None) -> tuple[FoundQuote | None, bool]:
    """Find a quote in a section, or else in the section's document, or else in all others.

    Return where it is, and whether it is in the section. Without a section, all documents are searched. The
    quote is looked up as it stands, then without the ids that a model copied with it.
    """
    spans = _list_texts(library)
    section = None if section_id is None else library.node(section_id).content_span
    if section is not None:
        spans.sort(key=lambda span: span.doc != section.doc)
    for words in dict.fromkeys((quote, strip_marks(quote, library))):
        find = partial(find_in_span, words, library)
        if section is not None and (found := find(section)) is not None:
            return found, True
        if (found := next(filter(None, map(find, spans)), None)) is not None:
            return found, False
    return None, False


def _list_texts(library: Library) -> list[Span]:
    documents = (document for document in library.documents if document.text)
    return [Span(doc=document.key, start=0, end=len(document.text)) for document in documents]


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
        if (found := find_in_span(quote, library, section)) is not None:
            span = found.span
            if not citation.is_verified:
                warning = "The section has these words, but the model had not read them"
        elif (span := find_nearest(quote, library, [section], CITED_SIMILARITY_MIN)) is not None:
            warning = "This quote is not in its section, so the most similar passage is shown"
        else:
            warning = "Its section contains nothing like this quote"
    if span is not None:
        section_id = library.section_at(span.doc, span.start) or section_id
    return CitedPassage(section_id=section_id, span=span, warning=warning)


def _find_changed(citation: Citation, quote: str, library: Library) -> CitedPassage:
    """Find what replaced a quote that the document had once, in its section or else in its document."""
    spans = [library.node(citation.section_id).content_span] if citation.section_id in library else []
    if not spans and (document := library.documents_by_key.get(citation.doc)) is not None:
        spans = [Span(doc=document.key, start=0, end=len(document.text))]
    span = find_nearest(quote, library, spans, CITED_SIMILARITY_MIN)
    if span is None:
        warning = "The text has changed, and contains nothing like this quote now"
        return CitedPassage(section_id=citation.section_id, warning=warning)
    changes = format_word_diff(quote, library.clean_text(span))
    section_id = library.section_at(span.doc, span.start) or citation.section_id
    warning = "The text has changed since the answer, so the most similar passage is shown"
    return CitedPassage(section_id=section_id, span=span, warning=warning, changes=changes)


async def check_answers_again(conversation: Conversation) -> int:
    """Look up the quotes of all answers in the current document. Return how many verdicts have changed."""
    async with conversation.lock:
        events = await asyncio.to_thread(update_citations, conversation.state)
        before = {exchange.number: exchange.citations for exchange in conversation.state.exchanges}
        if events:
            await conversation.apply(events)
    pairs = chain.from_iterable(zip(before[event.number], event.citations, strict=True) for event in events)
    return sum(old.state is not new.state for old, new in pairs)


def update_citations(state: ConversationState) -> tuple[CitationsChecked, ...]:
    """Return the citations of each answer whose quotes are no longer where they were, or are there again."""
    checked: list[CitationsChecked] = []
    for exchange in state.exchanges:
        citations = tuple(_update_citation(citation, state.library) for citation in exchange.citations)
        if citations != exchange.citations:
            checked.append(CitationsChecked(number=exchange.number, citations=citations))
    return tuple(checked)


def _update_citation(citation: Citation, library: Library) -> Citation:
    """Return a citation with the state and the place of its quote in the document as it is now.

    Two kinds stay as they are: quotes that never were in the model's text, and quotes whose document is not
    loaded yet.
    """
    quote = citation.quote
    was_found = citation.state in (*PROVEN_STATES, QuoteState.ELSEWHERE) or citation.is_changed
    if (
        quote is None
        or not was_found
        or (citation.doc not in library.documents_by_key and library.unloaded_files)
    ):
        return citation
    section_id = citation.section_id if citation.section_id in library else None
    span = resolve_citation(citation, library)
    # A word of the quote may be part of a longer one now.
    found = None if span is None else find_in_context(quote, library, span)
    is_in_own = False
    if found is not None and section_id is not None:
        section = library.node(section_id).span
        is_in_own = section.doc == found.span.doc and section.start <= found.span.start < section.end
    if found is None or (citation.is_verified and not is_in_own):
        found, is_in_own = _find_anywhere(quote, library, section_id)
    span = found.span if found else None
    again = citation
    if section_id is not None:
        again = make_citation(section_id, library, quote=quote, found=found)
    elif span is not None and (new_id := library.section_at(span.doc, span.start)) is not None:
        again = make_citation(new_id, library, quote=quote, found=found)
        is_in_own = again.path[-1:] == citation.path[-1:]  # the ids may be others, but not the title
    state = QuoteState.NOT_FOUND if span is None else QuoteState.ELSEWHERE
    if is_in_own and citation.state is not QuoteState.ELSEWHERE:
        state = QuoteState.EXACT if found is not None and found.is_exact else QuoteState.SAME
    return replace(
        again,
        section_id=citation.section_id,
        state=state,
        span=span,
        surroundings=again.surroundings if found else None,
        start=citation.start,
        end=citation.end,
        marks=citation.marks,
        is_changed=span is None,
    )
