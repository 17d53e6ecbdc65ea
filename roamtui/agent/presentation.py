"""What front ends and exports show with an answer: passages, proof, sources, and what was read for it."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import attrgetter

from msgspec.structs import replace

from roamtui.agent.reading import format_reading
from roamtui.conversation.citations import Citation, QuoteState
from roamtui.conversation.events import (
    StopReason,
)
from roamtui.conversation.reading import Reading
from roamtui.conversation.state import OFFLINE, Exchange
from roamtui.document.library import Library
from roamtui.plain import format_count, shorten
from roamtui.quotes.verdicts import AnswerProof, make_proof, resolve_citation
from roamtui.quotes.wording import (
    PASSAGE_LABEL,
    format_nearest,
    format_sentence,
    format_source_line,
    format_unnamed,
    format_verification,
)
from roamtui.retrieval.answers import find_statement, list_missing_words
from roamtui.search.sentences import Statement

_WORDS_LENGTH_MAX = 100
"""Maximum length of the words that a section lacks. A question may be a pasted page."""


def replies_with_passages(exchange: Exchange) -> bool:
    """Return whether passages are shown in place of an answer, because no model has written it.

    Every front end must decide by this function how to show an answer.
    """
    return exchange.model == OFFLINE


def list_unread(exchange: Exchange, library: Library) -> tuple[str, ...]:
    """List the ids of sections that were found and not read, best first, that the document still has."""
    unread = exchange.reading.unread if exchange.reading is not None else ()
    return tuple(hit.section_id for hit in unread if hit.section_id in library)


def list_passages(exchange: Exchange) -> tuple[Citation, ...]:
    """List the passages of an answer in order. Empty if it does not consist of passages."""
    return exchange.citations if replies_with_passages(exchange) else ()


def format_read(model: str, reading: Reading | None) -> str:
    """Say what the model that answered read and did not read; empty without a model."""
    return "" if reading is None or model == OFFLINE else format_reading(reading)


def group_passages(passages: Iterable[Citation]) -> list[list[Citation]]:
    """Return the passages of each section together."""
    return [[*group] for _, group in groupby(passages, key=attrgetter("section_id"))]


def find_passage_statement(question: str, passages: Sequence[Citation], library: Library) -> Statement:
    """Return what of some passages is likeliest to answer, with the column heads of a row in a cut table."""
    return find_statement(question, _list_texts(passages, library))


def list_words_lacked(question: str, passages: Sequence[Citation], library: Library) -> tuple[str, ...]:
    """List the words of a question that neither some passages of a section nor the titles above them have."""
    return list_missing_words(question, [*passages[0].path, *_list_texts(passages, library)])


def format_words_lacked(question: str, passages: Sequence[Citation], library: Library) -> str:
    """Name the words that the passages of a section lack; empty if they have all."""
    words = ", ".join(list_words_lacked(question, passages, library))
    return f"missing: {shorten(words, _WORDS_LENGTH_MAX)}" if words else ""


def _list_texts(passages: Sequence[Citation], library: Library) -> list[str]:
    """List the texts of passages, with the column heads of a cut table."""
    texts: list[str] = []
    for passage in passages:
        span = resolve_citation(passage, library)
        heads = library.list_heads([span])[0] if span is not None else ""
        texts.append(f"{heads}{passage.quote}")
    return texts


def get_lead(exchange: Exchange) -> str:
    """Return the sentence above passages, which says that none answers, or what the document lacks."""
    lead, _, _ = exchange.answer.partition("\n\n")
    return "" if exchange.stopped is StopReason.ANSWERED and lead.startswith("**") else lead


def format_proof(exchange: Exchange) -> str:
    """Format where the quotes of an answer are and which name no section, or how many passages it has."""
    if not replies_with_passages(exchange):
        return " · ".join(filter(None, [format_verification(exchange.citations), format_unnamed(exchange)]))
    count = len(exchange.citations)
    if count == 1:
        return "1 passage · no model has read it"
    return f"{format_count(count, 'passage')} · no model has read them" if count else ""


def format_sources(exchange: Exchange) -> list[str]:
    """Format the citations of an answer as lines that `recheck` reads again, with the nearest words below."""
    label = PASSAGE_LABEL if replies_with_passages(exchange) else ""
    lines: list[str] = []
    for number, citation in enumerate(exchange.citations, start=1):
        lines.append(format_source_line(citation, number, label))
        if nearest := format_nearest(citation):
            lines.append(f"   {nearest}")
        if citation.surroundings is not None:
            lines.append(f"   {format_sentence(citation.surroundings.text)}")
    return lines


def match_proof(exchange: Exchange, library: Library) -> AnswerProof:
    """Match the citations of an answer to its quotes and marks, without verdicts for passages."""
    unjudged = [replace(passage, state=QuoteState.NO_QUOTE) for passage in list_passages(exchange)]
    return make_proof(exchange.answer, unjudged or exchange.citations, library)
