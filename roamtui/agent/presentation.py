"""What front ends and exports say about an answer: how it ended, its proof and sources, and what was read."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import attrgetter

from msgspec import Struct
from msgspec.structs import replace

from roamtui.conversation.citations import CHANGED_LABEL, UNPROVEN_LABEL, UNREAD_LABEL, Citation, QuoteState
from roamtui.conversation.events import StopReason
from roamtui.conversation.notices import Severity
from roamtui.conversation.reading import Reading
from roamtui.conversation.state import OFFLINE, Exchange
from roamtui.document.library import Library
from roamtui.outline.labels import TITLE_LENGTH_MAX, UNTITLED
from roamtui.plain import format_count, sanitise_line, shorten
from roamtui.quotes.verdicts import AnswerProof, make_proof, resolve_citation
from roamtui.quotes.wording import (
    PASSAGE_LABEL,
    UNNAMED_LABEL,
    format_nearest,
    format_sentence,
    format_source_line,
)
from roamtui.retrieval.answers import find_statement, list_missing_words
from roamtui.search.sentences import Statement

_WORDS_LENGTH_MAX = 100
"""Maximum length of the words that a section lacks. A question may be a pasted page."""
_STOP_TEXTS = {
    StopReason.NEAREST: "nearest passages",
    StopReason.NOT_FOUND: "not found",
    StopReason.STEP_LIMIT: "stopped at the step limit",
    StopReason.CANCELLED: "stopped",
    StopReason.COST: "stopped at the spending limit",
}
_UNNAMED_LENGTH_MAX = 80
"""Number of characters by which a person knows a quote again."""
_UNREAD_NAMED_MAX = 3
"""Maximum number of sections without text that are named with an answer."""
_QUERY_LENGTH_MAX = 60


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


def format_reading(model: str, reading: Reading | None) -> str:
    """Say what the model that answered read, searched for, and found but did not read; empty without one."""
    if reading is None or model == OFFLINE:
        return ""
    sections = format_count(reading.sections, "section")
    partly = f", {reading.partly:,} in part" if reading.partly else ""
    sentences = [f"Read {reading.whole:,} of {sections}{partly}"]
    if reading.whole >= reading.sections and not reading.pages:
        sentences = ["Read the whole document"]
    if reading.pages:
        sentences[0] += f" ({reading.pages.removeprefix('the ')})"
    if reading.queries:
        queries = (shorten(sanitise_line(query), _QUERY_LENGTH_MAX) for query in reading.queries)
        sentences.append(f"Searched for: {'; '.join(queries)}")
    if unread := reading.unread:
        named = ("".join(hit.path[-1:]) for hit in unread[:_UNREAD_NAMED_MAX])
        titles = [shorten(sanitise_line(title), TITLE_LENGTH_MAX) or UNTITLED for title in named]
        rest = f"; {len(unread) - len(titles):,} more" if len(unread) > len(titles) else ""
        sentences.append(f"Found, not read: {'; '.join(titles)}{rest}")
    return ". ".join(sentences)


class PassageCard(Struct, frozen=True):
    """Passages of one section, and what a person reads about them."""

    passages: Sequence[Citation]
    statement: Statement
    """What of them is likeliest to answer."""
    lacked: str
    """Names the words of the question that neither the section's passages nor its titles have, if any."""


def list_cards(
    question: str, passages: Iterable[Citation], library: Library, *, is_split: bool = False
) -> list[PassageCard]:
    """List a card for the passages of each section or, with `is_split`, for each passage."""
    cards: list[PassageCard] = []
    for _, group in groupby(passages, key=attrgetter("section_id")):
        section = [*group]
        words = list_missing_words(question, [*section[0].path, *_list_texts(section, library)])
        lacked = f"missing: {shorten(', '.join(words), _WORDS_LENGTH_MAX)}" if words else ""
        for part in [[passage] for passage in section] if is_split else [section]:
            statement = find_statement(question, _list_texts(part, library))
            cards.append(PassageCard(part, statement, lacked))
    return cards


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
    read = "it" if count == 1 else "them"
    return f"{format_count(count, 'passage')} · no model has read {read}" if count else ""


def format_verification(citations: Sequence[Citation]) -> str:
    """Format where the quotes are; empty without quotes. A quote in the text may still answer nothing."""
    states = [citation.state for citation in citations if citation.quote is not None]
    verified = sum(citation.is_verified for citation in citations)
    if not states:
        return ""
    if verified == len(states):
        return f"{verified}/{format_count(verified, 'quote')} found in the text"
    elsewhere = states.count(QuoteState.ELSEWHERE)
    changed = sum(citation.is_changed for citation in citations)
    unread = states.count(QuoteState.NOT_FOUND) - changed
    counts = {"where cited": verified, "elsewhere": elsewhere, CHANGED_LABEL: changed, UNREAD_LABEL: unread}
    places = ", ".join(f"{count} {place}" for place, count in counts.items() if count)
    return f"{format_count(len(states), 'quote')}: {places}"


def format_unnamed(exchange: Exchange) -> str:
    """Say which quotes of an answer name no section, so that nothing has looked them up; empty for none."""
    quotes = [sanitise_line(exchange.answer[start:end]) for start, end in exchange.unnamed]
    if not quotes:
        return ""
    count = format_count(len(quotes), "quote")
    reason = "it names no section" if len(quotes) == 1 else "they name no section"
    listed = ", ".join(shorten(quote, _UNNAMED_LENGTH_MAX) for quote in quotes)
    return f"{count} {UNNAMED_LABEL} {reason}: {listed}"


def list_endings(exchange: Exchange) -> tuple[tuple[str, Severity], ...]:
    """Say how an exchange ended, or nothing if it ended with an ordinary answer."""
    endings = (
        (exchange.error, Severity.ERROR),
        ("" if exchange.stopped is None else _STOP_TEXTS.get(exchange.stopped, ""), Severity.WARNING),
        (format_unproven(exchange), Severity.WARNING if exchange.is_unproven else Severity.INFO),
    )
    return tuple((text, severity) for text, severity in endings if text)


def format_unproven(exchange: Exchange) -> str:
    """Say that an answer has nothing to check, or how many of its sentences the text does not carry."""
    if exchange.is_unproven:
        return UNPROVEN_LABEL
    count = len(exchange.unsourced)
    return f"no source for {format_count(count, 'sentence')}" if count else ""


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
