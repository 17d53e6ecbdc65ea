"""What front ends and exports say about an answer: how it ended, its proof, its origin, and what was read."""

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cached_property

from msgspec.structs import replace

from roamtui.agent.cards import PassageCard, list_cards
from roamtui.conversation.citations import Citation, QuoteState
from roamtui.conversation.events import StopReason
from roamtui.conversation.notices import Severity, format_cost
from roamtui.conversation.state import Exchange
from roamtui.document.library import Library
from roamtui.markdown.inline import extract_words
from roamtui.outline.labels import TITLE_LENGTH_MAX, UNTITLED
from roamtui.quotes.verdicts import AnswerProof, make_proof
from roamtui.quotes.wording import (
    PASSAGE_LABEL,
    UNNAMED_LABEL,
    format_nearest,
    format_sentence,
    format_source_line,
)
from roamtui.sanitiser import sanitise_line
from roamtui.table.cells import Cell
from roamtui.text import format_count, shorten

_STOP_TEXTS = {
    StopReason.NOT_FOUND: "not found",
    StopReason.STEP_LIMIT: "stopped at the step limit",
    StopReason.CANCELLED: "stopped, so the answer is cut off",
    StopReason.COST: "stopped at the spending limit",
}
_UNNAMED_LENGTH_MAX = 80
"""Number of characters that let a person recognise a quote or a sentence."""
_NAMED_MAX = 3
"""Maximum number of unread sections, or of sentences without a source, that are named with an answer."""
_QUERY_LENGTH_MAX = 60


class AnswerReport:
    """What every front end and export says about the answer of a conversation."""

    def __init__(self, exchange: Exchange, library: Library) -> None:
        self.exchange = exchange
        self.library = library

    @cached_property
    def proof(self) -> AnswerProof:
        """The answer with its citations at their quotes and marks, without verdicts for passages."""
        unjudged = [replace(passage, state=QuoteState.NO_QUOTE) for passage in self.exchange.passages]
        exchange = self.exchange
        citations = unjudged or exchange.citations
        return make_proof(exchange.answer, citations, self.library, exchange.unsourced)

    @property
    def lead(self) -> str:
        """The sentence above passages. It says how well they fit, and which names the document lacks."""
        return self.exchange.answer.partition("\n\n")[0]

    def list_cards(self) -> list[PassageCard]:
        """List a card for each passage."""
        question = self.exchange.expanded_question or self.exchange.question
        return list_cards(question, self.exchange.passages, self.library)

    @property
    def endings(self) -> tuple[tuple[str, Severity], ...]:
        """How the exchange ended. Empty if it ended with an ordinary answer."""
        exchange = self.exchange
        stop_text = "" if exchange.stopped is None else _STOP_TEXTS.get(exchange.stopped, "")
        endings = [(exchange.error, Severity.ERROR), (stop_text, Severity.WARNING)]
        if self.sourcing_notice is not None:
            endings.append(self.sourcing_notice)
        return tuple((text, severity) for text, severity in endings if text)

    @property
    def sourcing_notice(self) -> tuple[str, Severity] | None:
        """Says that the answer has no quote to check, or which sentences have no source. None if neither."""
        if self.exchange.is_unproven:
            words = "no quote names its section" if self.exchange.unnamed else "no quotes to verify"
            return words, Severity.WARNING
        answer = self.exchange.answer
        sentences = [answer[start:end] for start, end in self.exchange.unsourced]
        if not sentences:
            return None
        first = (sanitise_line(extract_words(sentence)) for sentence in sentences[:_NAMED_MAX])
        named = " / ".join(shorten(words, _UNNAMED_LENGTH_MAX) for words in first)
        rest = f" / {len(sentences) - _NAMED_MAX:,} more" if len(sentences) > _NAMED_MAX else ""
        text = f"no source for {format_count(len(sentences), 'statement')}: {named}{rest}"
        return text, Severity.INFO

    @property
    def quote_summary(self) -> str:
        """Says where the quotes were found and which name no section, or how many passages there are."""
        if not self.exchange.has_passages:
            return " · ".join(filter(None, [format_verification(self.exchange.citations), self._unnamed]))
        count = len(self.exchange.citations)
        read = "it" if count == 1 else "them"
        return f"{format_count(count, 'passage')} · no model has read {read}" if count else ""

    @property
    def _unnamed(self) -> str:
        """Says which quotes name no section, so that nothing has looked them up."""
        answer = self.exchange.answer
        quotes = [sanitise_line(answer[start:end]) for start, end in self.exchange.unnamed]
        if not quotes:
            return ""
        count = format_count(len(quotes), "quote")
        reason = "it names no section" if len(quotes) == 1 else "they name no section"
        listed = ", ".join(shorten(quote, _UNNAMED_LENGTH_MAX) for quote in quotes)
        return f"{count} {UNNAMED_LABEL} {reason}: {listed}"

    @property
    def closing_sentences(self) -> list[str]:
        """Sentences about the quotes, what the model read, and the origin of the answer."""
        exchange = self.exchange
        return [*filter(None, [self.quote_summary, format_basis(exchange), format_provenance(exchange)])]

    @property
    def sources(self) -> list[str]:
        """The citations as lines that `recheck` reads, with the words nearest to a false quote below it."""
        label = PASSAGE_LABEL if self.exchange.has_passages else ""
        lines: list[str] = []
        for number, citation in enumerate(self.exchange.citations, start=1):
            lines.append(format_source_line(citation, number, label))
            if nearest := format_nearest(citation):
                lines.append(f"   {nearest}")
            if citation.sentence:
                lines.append(f"   {format_sentence(citation.sentence)}")
        return lines


def format_verification(citations: Sequence[Citation]) -> str:
    """Format how many quotes were found, and where. Empty without quotes. This does not say that they fit."""
    quotes = [citation for citation in citations if citation.quote is not None]
    if not quotes:
        return ""
    found = QuoteState.EXACT.label.removeprefix("quote ")
    total = format_count(len(quotes), "quote")
    quotes.sort(key=lambda citation: ([*QuoteState].index(citation.state), citation.label))
    counts = Counter(found if citation.is_verified else citation.short_label for citation in quotes)
    if counts[found] == len(quotes):
        return f"{len(quotes)}/{total} {found}"
    return f"{total}: {', '.join(f'{count} {place}' for place, count in counts.items())}"


def list_facts(answer: Exchange | Cell, source: str) -> dict[str, object]:
    """List the facts about an answer on a source, by their names in JSON."""
    return {
        "model": answer.model,
        "server": answer.server,
        "asked_at": answer.asked_at,
        "usage": answer.usage,
        "source": source,
        "digest": answer.content_hash,
        "reading": answer.basis,
    }


def format_origin_and_basis(cell: Cell) -> str:
    """Format the origin of a cell, and what the model read and did not read, as one line."""
    return ". ".join(filter(None, [format_provenance(cell), format_basis(cell)]))


def format_provenance(answer: Exchange | Cell) -> str:
    """Format who answered, when, at what cost, and from what text."""
    if not answer.asked_at:
        return ""
    who = "without a model" if answer.has_passages else answer.model
    day = ""
    with suppress(ValueError, OverflowError):  # a log may come from elsewhere
        day = datetime.fromisoformat(answer.asked_at).astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
    document = f"document digest {answer.content_hash}" if answer.content_hash else ""
    return " · ".join(filter(None, [who, day, format_cost(answer.usage), document]))


def format_basis(answer: Exchange | Cell) -> str:
    """Format what the model read, searched for, and found but did not read. Empty if that is not recorded."""
    basis = answer.basis
    if basis is None or answer.has_passages:
        return ""
    sections = format_count(basis.sections, "section")
    partly = f", and parts of {basis.partly:,} more" if basis.partly else ""
    sentences = [f"Read {basis.whole:,} of {sections}{partly}"]
    if basis.whole >= basis.sections and not basis.pages:
        sentences = ["Read the whole document"]
    if basis.pages:
        sentences[0] += f" ({basis.pages.removeprefix('the ')})"
    if basis.queries:
        queries = (shorten(sanitise_line(query), _QUERY_LENGTH_MAX) for query in basis.queries)
        sentences.append(f"Searched for: {'; '.join(queries)}")
    if unread := basis.unread:
        named = ("".join(hit.path[-1:]) for hit in unread[:_NAMED_MAX])
        titles = [shorten(sanitise_line(title), TITLE_LENGTH_MAX) or UNTITLED for title in named]
        rest = f"; {len(unread) - len(titles):,} more" if len(unread) > len(titles) else ""
        sentences.append(f"Found, not read: {'; '.join(titles)}{rest}")
    return ". ".join(sentences)
