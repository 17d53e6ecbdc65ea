"""The passages with which the offline model answers: what its citations are, read from the text of the document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from roamtui.conversation.events import SectionsExpanded, SectionsSearched
from roamtui.conversation.state import Exchange
from roamtui.conversation.transcript import Citation, StopReason
from roamtui.document.library import Library
from roamtui.document.node import Span
from roamtui.models.registry import OFFLINE

_STARTS = ("**", '"', "“", "«", "「", "『", "〝", "Not found: no passage ")
"""How its replies begin: with a breadcrumb or a quotation mark. Version 0.2 wrote sentences around quotes."""
_NEAREST_MAX = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPassage:
    """A passage of a document that answers a question."""

    citation: Citation
    text: str
    """Its Markdown, as in the document."""
    span: Span | None = None
    """Where it is, or None if the document has changed since then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageReply:
    """What a front end shows in place of the answer of a model that reasons."""

    passages: tuple[ShownPassage, ...] = ()
    """Best first."""
    missing: str = ""
    """Says that there is no passage, in the model's words; else empty."""
    nearest_ids: tuple[str, ...] = ()
    """Sections to look at if there is no passage, best first."""


def replies_with_passages(exchange: Exchange) -> bool:
    """Return whether an answer, which may not have begun yet, consists of passages. Nothing else decides this."""
    return exchange.model == OFFLINE and (not exchange.answer or exchange.answer.startswith(_STARTS))


def read_passage_reply(exchange: Exchange, library: Library) -> PassageReply | None:
    """Return the passages of a finished answer, or None if a model that reasons wrote it."""
    if not replies_with_passages(exchange):
        return None
    if exchange.stopped is StopReason.NOT_FOUND:
        missing = exchange.answer.partition("\n\n")[0]
        return PassageReply(missing=missing, nearest_ids=_list_nearest(exchange, library))
    passages = tuple(_list_passages(exchange, library))
    return PassageReply(passages=passages) if passages else None


def list_passages(exchange: Exchange, library: Library) -> tuple[ShownPassage, ...]:
    """List the passages of an answer in order; none if a model that reasons wrote it.

    If the document has changed since then, a passage is what was quoted.
    """
    reply = read_passage_reply(exchange, library)
    return reply.passages if reply is not None else ()


def _list_passages(exchange: Exchange, library: Library) -> Iterator[ShownPassage]:
    for citation in exchange.citations:
        if citation.quote is not None and citation.is_verified:
            span = citation.span
            text = library.text_at(span) if span is not None and library.has_document(span.doc) else ""
            if text.split() == citation.quote.split():
                yield ShownPassage(citation=citation, text=text, span=span)
            else:
                yield ShownPassage(citation=citation, text=citation.quote)


def _list_nearest(exchange: Exchange, library: Library) -> tuple[str, ...]:
    """List what the first search found, or else what the model opened by its title."""
    found = [hit.section_id for event in exchange.events if isinstance(event, SectionsSearched) for hit in event.hits]
    opened = [one for event in exchange.events if isinstance(event, SectionsExpanded) for one in event.opened_ids]
    nearest = dict.fromkeys(section_id for section_id in (*found, *opened) if section_id in library)
    return tuple(nearest)[:_NEAREST_MAX]
