"""A confident start: where search is clear, a question goes to the model with the best sections open already."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from roamtui.agent.start_mode import ConfidentStart
from roamtui.conversation.events import NodesUnfolded, SectionsExpanded
from roamtui.conversation.update import estimate_delivery
from roamtui.errors import RoamtuiError
from roamtui.models.choose import OFFLINE
from roamtui.models.recorded import RecordedModel
from roamtui.search.terms import query_terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from roamtui.conversation.state import ConversationState
    from roamtui.models.base import Model
    from roamtui.search.base import Hit, Searcher

OPENING = (SectionsExpanded, NodesUnfolded)
"""What tells of sections that are opened with a question; told after the question itself."""
SHARE_MAX = 0.8
"""Share of the best score up to which the second one leaves no doubt. For questions as clear as this the gold section
is among the first three in 86 % (contracts), 78 % (ray) and 75 % (dialogues), else in 55, 74 and 55 %."""
_SECTIONS_MAX = 3
_TOKENS_MAX = 1_500
"""Of all sections together, the first one apart."""
_TERMS_MIN = 2
"""Words of a question below which a clear hit says little: a greeting has one too."""


def is_start_wanted(mode: ConfidentStart, model: Model) -> bool:
    """Return whether a question to a model begins with what search finds; to a recording as it did then."""
    if isinstance(model, RecordedModel):
        return model.has_start
    return mode is ConfidentStart.ALWAYS or (mode is ConfidentStart.REMOTE and model.name != OFFLINE)


async def find_start(
    searcher: Searcher, state: ConversationState, question: str, within: str | None
) -> tuple[str, ...]:
    """Return the sections to open with a question, none where search is not clear or fails.

    Args:
        searcher: Searches the library of the conversation.
        state: The conversation before the question.
        question: A person's words.
        within: Id of the section that the question is about, None for the whole document.
    """
    if len(query_terms(question)) < _TERMS_MIN:
        return ()
    exchanges = state.transcript.exchanges
    earlier = tuple(text for exchange in exchanges for text in (exchange.question, exchange.answer) if text)
    try:
        hits = await asyncio.to_thread(searcher.search, question, limit=_SECTIONS_MAX, within=within, earlier=earlier)
    except RoamtuiError:
        return ()
    return choose_start(state, hits)


def choose_start(state: ConversationState, hits: Sequence[Hit]) -> tuple[str, ...]:
    """Return the first hits that are worth opening at once: none where the second is nearly as good as the first."""
    if not hits or _measure_rival(hits) > SHARE_MAX:
        return ()
    chosen: list[str] = []
    left = _TOKENS_MAX
    for hit in hits[:_SECTIONS_MAX]:
        cost = estimate_delivery(state.library, hit.section_id)
        if not chosen or cost <= left:
            chosen.append(hit.section_id)
            left -= cost
    return tuple(chosen)


def _measure_rival(hits: Sequence[Hit]) -> float:
    """Return how near the next best section comes to the first hit, by words where other lists had a say too."""
    if hits[0].rival is not None:
        return hits[0].rival
    return hits[1].score / hits[0].score if len(hits) > 1 else 0.0
