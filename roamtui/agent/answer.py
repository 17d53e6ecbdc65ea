"""From a model's last words to an outcome: citations looked up, "not found" made useful, or a reminder."""

from __future__ import annotations

import re
from dataclasses import dataclass

from roamtui.agent.citations import verify_citations
from roamtui.agent.prompt import NOT_FOUND_START
from roamtui.conversation.events import QuestionAnswered, SearchHit, SectionsExpanded, SectionsSearched
from roamtui.conversation.state import ConversationState, Exchange
from roamtui.conversation.transcript import Citation, StopReason
from roamtui.document.library import Library
from roamtui.document.plain import sanitise_line, shorten
from roamtui.outline.labels import format_path
from roamtui.search.base import Searcher
from roamtui.search.terms import locate_terms, query_terms

_NEAREST = 3
_LIKELY_SHARE = 0.6
"""Of the best score, from which on a section may well hold the answer too."""
_NOT_FOUND_STARTS = (
    NOT_FOUND_START.lower().rstrip(":"),
    *("nicht gefunden", "non trouvé", "introuvable", "no encontrado", "no se encontró", "não encontrado"),
    *("non trovato", "未找到", "没有找到", "見つかりません"),
)
"""How an answer begins, in lower case: models put what the prompt asks for into the language of the question."""
_NO_ANSWER = "The model ended without an answer. Ask again, or choose another model."
_NO_ANSWERS = {
    "length": "The model used up its reply without an answer. Ask for something narrower, or choose another model.",
    "filtered": "The provider refused to answer this. Ask in other words, or choose another model.",
}
_CUT_NOTES = {
    "length": "(The answer is cut off here: the model may write no more at once. Ask it to go on.)",
    "filtered": "(The answer is cut off here: the provider refused the rest. Ask in other words.)",
}
_TOO_DEAR = "The next step could pass the spending cap of this conversation. Raise max_cost_usd, or start a new one."
_NO_ANSWER_AT_LIMIT = "The model used all its steps without an answer. Ask for something narrower, or ask again."


def build_outcome(
    state: ConversationState, words: str, stopped: StopReason, searcher: Searcher | None, *, reason: str
) -> QuestionAnswered:
    """Return the outcome of an exchange whose model has said its last words.

    Args:
        state: Holds the exchange under way and what was delivered.
        words: What the model said last.
        stopped: How the loop ended.
        searcher: Finds the nearest sections where nothing was found.
        reason: Why the last reply ended.
    """
    answer = words.strip()
    if stopped is StopReason.COST:
        return QuestionAnswered(answer=answer, stopped=stopped, error=_TOO_DEAR)
    if not answer:
        if stopped is StopReason.STEP_LIMIT:
            return QuestionAnswered(answer="", stopped=stopped, error=_NO_ANSWER_AT_LIMIT)
        return QuestionAnswered(answer="", stopped=StopReason.ERROR, error=_NO_ANSWERS.get(reason, _NO_ANSWER))
    said, citations = "", verify_citations(answer, state)
    if reason in _CUT_NOTES:
        answer = f"{answer}\n\n{_CUT_NOTES[reason]}"
    if is_not_found(answer):
        said, stopped = answer, StopReason.NOT_FOUND
        answer = f"{answer}\n\n{_format_nearby_sections(state, searcher)}".rstrip()
    return QuestionAnswered(answer=answer, stopped=stopped, citations=citations, said=said)


def is_not_found(answer: str) -> bool:
    """Return whether an answer says that the document holds none, in the words of the prompt or in a translation."""
    return answer.lstrip("*_#> ").lower().startswith(_NOT_FOUND_STARTS)


def _format_nearby_sections(state: ConversationState, searcher: Searcher | None) -> str:
    """Return what was opened for the question, and the nearest sections, each with words that it shares with it."""
    library, exchange = state.library, state.transcript.exchanges[-1]
    opened = [section.section_id for section in state.open_sections if section.last_used == exchange.number]
    parts = []
    if opened:
        parts.append("Opened: " + "; ".join(f"{format_path(library, one)} [{one}]" for one in opened))
    hits = searcher.search(exchange.question, limit=_NEAREST + len(opened)) if searcher is not None else ()
    named = []
    for one in [hit.section_id for hit in hits if hit.section_id not in opened][:_NEAREST]:
        text = f"{library.title_of(one)}\n{library.text_at(library.get_own_content_span(one))}"
        shared = dict.fromkeys(sanitise_line(term) for _, term in locate_terms(text, query_terms(exchange.question)))
        has = f" (has {', '.join(shared)})" if shared else ""
        named.append(f"{format_path(library, one)} [{one}]{has}")
    if named:
        parts.append("Nearest sections: " + "; ".join(named))
    return "\n\n".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnopenedHits:
    """What search found for a question, and nobody opened."""

    found: int
    """Sections that search found."""
    opened: int
    likely: tuple[SearchHit, ...]
    """Those not opened that score nearly as well as the best, the best first."""

    @property
    def summary(self) -> str:
        """A line that tells of it."""
        return f"searched {self.found}, opened {self.opened}, not opened: {len(self.likely)} likely"


def list_unopened_hits(exchange: Exchange, library: Library) -> UnopenedHits:
    """Return what search found for a question, and was open neither before nor because of it."""
    searches = [event.hits for event in exchange.events if isinstance(event, SectionsSearched) and event.hits]
    found = {hit.section_id: hit for hits in reversed(searches) for hit in hits if hit.section_id in library}
    near = {hit.section_id for hits in searches for hit in hits if hit.score >= _LIKELY_SHARE * hits[0].score}
    opened = {one for event in exchange.events if isinstance(event, SectionsExpanded) for one in event.opened_ids}
    read = opened | {one.section_id for one in exchange.open_before} | {one.section_id for one in exchange.citations}
    likely = [hit for one, hit in found.items() if one in near and read.isdisjoint((one, *library.ancestors(one)))]
    likely.sort(key=lambda hit: -hit.score)
    return UnopenedHits(found=len(found), opened=len(opened), likely=tuple(likely[:_NEAREST]))


def count_verified(citations: tuple[Citation, ...]) -> tuple[int, int]:
    """Return how many quotes are verified, and how many there are."""
    quotes = [citation for citation in citations if citation.quote is not None]
    return sum(citation.is_verified for citation in quotes), len(quotes)


def format_verification(citations: tuple[Citation, ...]) -> str:
    """Return how many quotes stand in the text, which does not say that they answer; empty where there are none."""
    verified, quotes = count_verified(citations)
    return f"{verified}/{quotes} {'quote' if quotes == 1 else 'quotes'} found in the text" if quotes else ""


_CITE_REMINDER = (
    "No quote was found in: {sentences} Answer again, and copy the words of the text that carry each claim, with the "
    'id of their section in the same sentence, such as: Late returns cost "2 euros a day" [a8a96034].'
)
_SENTENCES_MAX = 3
_SENTENCE_LENGTH = 120
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
ANSWER_REMINDER = "Your reply was empty. Answer the question now, or open the sections that you need."


def choose_reminder(state: ConversationState, reply: str, reason: str) -> str:
    """Return what to tell the model after a reply without calls, an empty string where the reply stands.

    What it said without having read anything is left alone, and so is a reply that its provider refused.
    """
    text = reply.strip()
    if reason == "filtered":
        return ""
    if not text:
        return ANSWER_REMINDER
    if not (state.delivered or state.excerpts) or is_not_found(text) or verify_citations(text, state):
        return ""
    sentences = [one.strip() for one in _SENTENCE_END.split(text) if len(one.split()) > 2]
    named = [f"“{shorten(sentence, _SENTENCE_LENGTH)}”" for sentence in sentences[:_SENTENCES_MAX]]
    return _CITE_REMINDER.format(sentences=f"{', '.join(named) or 'your answer'}.")
