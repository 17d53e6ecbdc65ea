"""What front ends and exports show with an answer: passages, proof, sources, and hits that nobody opened."""

from itertools import islice

from msgspec.structs import replace

from roamtui.conversation.events import (
    Citation,
    QuoteState,
    SearchHit,
    SectionsExpanded,
    SectionsSearched,
    StopReason,
)
from roamtui.conversation.state import OFFLINE, Exchange
from roamtui.document.library import Library
from roamtui.outline.ids import find_marks
from roamtui.plain import format_count
from roamtui.quotes.verdicts import AnswerProof, make_proof
from roamtui.quotes.wording import (
    PASSAGE_LABEL,
    format_nearest,
    format_sentence,
    format_source_line,
    format_verification,
)

NEAREST_MAX = 3
"""Maximum number of sections that are named beside an answer."""
_LIKELY_SHARE = 0.6
"""A section whose score is at least this share of the best one is likely to contain the answer too."""


def replies_with_passages(exchange: Exchange) -> bool:
    """Return whether passages are shown in place of an answer, because no model has written it.

    Every front end must decide by this function how to show an answer.
    """
    return exchange.model == OFFLINE


def list_unopened_hits(exchange: Exchange, library: Library) -> tuple[SearchHit, ...]:
    """List the likeliest hits whose sections a model did not open or cite, and that were not open before.

    A proven answer needs no more hits, and after an error they do not help. An answer without a model has no
    unopened hits: it opens all that it shows.
    """
    if exchange.is_proven or exchange.stopped is StopReason.ERROR or replies_with_passages(exchange):
        return ()
    searches = [event.hits for event in exchange.events if isinstance(event, SectionsSearched) and event.hits]
    likely_by_id = {
        hit.section_id: hit
        for hits in reversed(searches)
        for hit in hits
        if hit.score >= _LIKELY_SHARE * hits[0].score and hit.section_id in library
    }
    known_ids = {section.section_id for section in exchange.open_before}
    known_ids |= {citation.section_id for citation in exchange.citations}
    for event in exchange.events:
        if isinstance(event, SectionsExpanded):
            known_ids.update(event.opened_ids)
    likely = sorted(likely_by_id.values(), key=lambda hit: -hit.score)
    unopened = (
        hit
        for hit in likely
        if known_ids.isdisjoint((hit.section_id, *library.node(hit.section_id).ancestors))
    )
    return tuple(islice(unopened, NEAREST_MAX))


def list_passages(exchange: Exchange) -> tuple[Citation, ...]:
    """List the passages of an answer in order. Empty if it does not consist of passages."""
    return exchange.citations if replies_with_passages(exchange) else ()


def split_lead(exchange: Exchange, library: Library) -> tuple[str, tuple[str, ...]]:
    """Return the sentence above passages, and the ids of the nearest sections if none answers.

    The sentence says that none answers, or what the document lacks. It may be empty. `build_outcome` appends
    the nearest sections.
    """
    lead, _, nearest = exchange.answer.partition("\n\n")
    if exchange.stopped is not StopReason.NOT_FOUND:
        return "" if lead.startswith("**") else lead, ()
    return lead, tuple(mark.section_ids[0] for mark in find_marks(nearest, library))


def format_proof(exchange: Exchange) -> str:
    """Format where the quotes of an answer are, or how many passages it has. Nothing has judged a passage."""
    if not replies_with_passages(exchange):
        return format_verification(exchange.citations)
    count = len(exchange.citations)
    if count == 1:
        return "1 passage · no model has read it"
    return f"{format_count(count, 'passage')} · no model has read them" if count else ""


def format_sources(exchange: Exchange, library: Library) -> list[str]:
    """Format the citations of an answer as lines that `recheck` reads again, with the nearest words below."""
    label = PASSAGE_LABEL if replies_with_passages(exchange) else ""
    lines: list[str] = []
    for number, citation in enumerate(exchange.citations, start=1):
        lines.append(format_source_line(citation, number, label))
        if nearest := format_nearest(citation, library):
            lines.append(f"   {nearest}")
        if citation.surroundings is not None:
            lines.append(f"   {format_sentence(citation.surroundings.text)}")
    return lines


def match_proof(exchange: Exchange, library: Library) -> AnswerProof:
    """Match the citations of an answer to its quotes and marks, without verdicts for passages."""
    unjudged = [replace(passage, state=QuoteState.NO_QUOTE) for passage in list_passages(exchange)]
    return make_proof(exchange.answer, unjudged or exchange.citations, library)
