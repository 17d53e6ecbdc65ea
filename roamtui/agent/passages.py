"""The passages with which the offline model answers: what its citations are, read from the text of the document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from roamtui.conversation.state import Exchange
from roamtui.conversation.transcript import Citation
from roamtui.document.library import Library
from roamtui.models.registry import OFFLINE


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPassage:
    """A passage of a document that answers a question."""

    citation: Citation
    text: str
    """Its Markdown, as in the document."""


def list_passages(exchange: Exchange, library: Library) -> tuple[ShownPassage, ...]:
    """List the passages of an answer in order; none if a model that reasons wrote it.

    If the document has changed since then, a passage is what was quoted.
    """
    return tuple(_list_passages(exchange, library)) if exchange.model == OFFLINE else ()


def _list_passages(exchange: Exchange, library: Library) -> Iterator[ShownPassage]:
    for citation in exchange.citations:
        if citation.quote is not None and citation.is_verified:
            span = citation.span
            text = library.text_at(span) if span is not None and library.has_document(span.doc) else citation.quote
            yield ShownPassage(citation=citation, text=text if _is_same(text, citation.quote) else citation.quote)


def _is_same(text: str, quote: str) -> bool:
    return text.split() == quote.split()
