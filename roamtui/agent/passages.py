"""The passages of an answer by the offline model: the cited text as it is in the document."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from roamtui.agent.answer import format_verification
from roamtui.conversation.state import Exchange
from roamtui.conversation.transcript import Citation, QuoteState, StopReason
from roamtui.document.library import Library
from roamtui.document.node import Span
from roamtui.document.plain import format_count
from roamtui.models.options import OFFLINE
from roamtui.quotes.read import MARKED_ID
from roamtui.quotes.verdicts import AnswerProof, make_proof


class ShownPassage(Struct, frozen=True, kw_only=True):
    """A passage of a document that answers a question."""

    citation: Citation
    text: str
    """Its Markdown, as in the document."""
    span: Span | None = None
    """Where it is, or None if the document has changed since then."""


class PassageReply(Struct, frozen=True, kw_only=True):
    """What a front end shows instead of an answer of the offline model: passages, or that there are none."""

    passages: tuple[ShownPassage, ...] = ()
    """Best first."""
    missing: str = ""
    """The offline model's sentence that no passage was found; else empty."""
    nearest_ids: tuple[str, ...] = ()
    """Sections to look at if there is no passage, best first."""


def replies_with_passages(exchange: Exchange) -> bool:
    """Check whether passages are shown in place of an answer, because no model has written it.

    Every front end must decide by this function how to show an answer.
    """
    return exchange.model == OFFLINE


def read_passage_reply(exchange: Exchange, library: Library) -> PassageReply | None:
    """Return what to show instead of a finished answer, or None if the answer is not made of passages."""
    if replies_with_passages(exchange) and exchange.stopped is StopReason.NOT_FOUND:
        missing, _, nearest = exchange.answer.partition("\n\n")
        nearest_ids = tuple(filter(library.__contains__, MARKED_ID.findall(nearest)))
        return PassageReply(missing=missing, nearest_ids=nearest_ids)
    passages = list_passages(exchange, library)
    return PassageReply(passages=passages) if passages else None


def list_passages(exchange: Exchange, library: Library) -> tuple[ShownPassage, ...]:
    """List the passages of an answer in order; empty if it does not consist of passages.

    If the document has changed since then, the text of a passage is its quote.
    """
    passages: list[ShownPassage] = []
    for citation in exchange.citations if replies_with_passages(exchange) else ():
        if citation.quote is not None and citation.is_verified:
            span = citation.span
            text = library.text_at(span) if span is not None and span.doc in library.documents_by_key else ""
            shown = ShownPassage(citation=citation, text=citation.quote)
            is_same = text.split() == citation.quote.split()
            passages.append(replace(shown, text=text, span=span) if is_same else shown)
    return tuple(passages)


def format_proof(exchange: Exchange) -> str:
    """Format where the quotes of an answer are, or how many passages it has. Nothing has judged a passage."""
    if not replies_with_passages(exchange):
        return format_verification(exchange.citations)
    return format_count(len(exchange.citations), "passage") if exchange.citations else ""


def match_proof(exchange: Exchange) -> AnswerProof:
    """Match the citations of an answer to its quotes and marks, without verdicts if it consists of passages."""
    if not replies_with_passages(exchange):
        return make_proof(exchange.answer, exchange.citations)
    unjudged = [replace(citation, state=QuoteState.NO_QUOTE) for citation in exchange.citations]
    return make_proof(exchange.answer, unjudged)
