"""From a model's last words to an outcome: citations looked up, "not found" made useful."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roamtui.agent.citations import check_citations
from roamtui.agent.prompt import NOT_FOUND_START
from roamtui.conversation.questions import Outcome
from roamtui.conversation.transcript import Citation, Stopped, Usage
from roamtui.outline.labels import name_path

if TYPE_CHECKING:
    from roamtui.conversation.state import ConversationState
    from roamtui.search.base import Searcher

_NEAREST = 3
_NO_ANSWER = "The model ended without an answer. Ask again, or choose another model."
_TOO_DEAR = "The next step could pass the spending cap of this conversation. Raise max_cost_usd, or start a new one."
_NO_ANSWER_AT_LIMIT = "The model used all its steps without an answer. Ask for something narrower, or ask again."


def complete_answer(
    state: ConversationState, text: str, stopped: Stopped, usage: Usage, searcher: Searcher | None
) -> Outcome:
    """Return the outcome of an exchange whose model has said its last words.

    Args:
        state: Holds the exchange under way and what was delivered.
        text: The model's text of the last step.
        stopped: How the loop ended.
        usage: Of all steps.
        searcher: Finds the nearest sections where nothing was found.
    """
    answer = text.strip()
    if stopped is Stopped.COST:
        return Outcome(answer=answer, stopped=stopped, usage=usage, error=_TOO_DEAR)
    if not answer:
        if stopped is Stopped.STEP_LIMIT:
            return Outcome(answer="", stopped=stopped, usage=usage, error=_NO_ANSWER_AT_LIMIT)
        return Outcome(answer="", stopped=Stopped.ERROR, usage=usage, error=_NO_ANSWER)
    citations = check_citations(answer, state)
    if is_not_found(answer):
        answer = f"{answer}\n\n{_list_places(state, searcher)}".rstrip()
        return Outcome(answer=answer, stopped=Stopped.NOT_FOUND, usage=usage, citations=citations)
    return Outcome(answer=answer, stopped=stopped, usage=usage, citations=citations)


def is_not_found(answer: str) -> bool:
    """Return whether an answer says that the document holds none."""
    return answer.lstrip("*_#> ").lower().startswith(NOT_FOUND_START.lower().rstrip(":"))


def _list_places(state: ConversationState, searcher: Searcher | None) -> str:
    """Return what was opened for the question, and the sections that search finds nearest."""
    exchange = state.transcript.exchanges[-1]
    opened = [section.section_id for section in state.open if section.last_used == exchange.number]
    parts = []
    if opened:
        parts.append("Opened: " + "; ".join(_name(state, section_id) for section_id in opened))
    hits = searcher.search(exchange.question, limit=_NEAREST + len(opened)) if searcher is not None else ()
    nearest = [hit.section_id for hit in hits if hit.section_id not in opened][:_NEAREST]
    if nearest:
        parts.append("Nearest sections: " + "; ".join(_name(state, section_id) for section_id in nearest))
    return "\n\n".join(parts)


def _name(state: ConversationState, section_id: str) -> str:
    return f"{name_path(state.library, section_id)} [{section_id}]"


def count_verified(citations: tuple[Citation, ...]) -> tuple[int, int]:
    """Return how many quotes are verified, and how many there are."""
    quotes = [citation for citation in citations if citation.quote is not None]
    return sum(citation.is_verified for citation in quotes), len(quotes)
