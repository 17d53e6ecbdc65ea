"""What a question brings with it: the best hits for its words, and the one section that answers, open already."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from roamtui.agent.hits import NO_HITS, HitList, describe_hits, drop_noise
from roamtui.agent.options import ConfidentStart
from roamtui.conversation.state import ConversationState
from roamtui.conversation.update import estimate_delivery
from roamtui.document.library import Library
from roamtui.document.tokens import estimate_tokens
from roamtui.errors import RoamtuiError
from roamtui.models.base import Model
from roamtui.models.choose import OFFLINE
from roamtui.models.recorded import RecordedModel
from roamtui.outline.labels import WHOLE_TOKENS_MAX
from roamtui.search.base import Hit, Searcher
from roamtui.search.terms import find_terms, query_terms

_HITS_MAX = 10
"""More than of a search that the model asks for: with them in place of a longer outline more questions need no call."""
RIVAL_MAX = 0.8
"""Share of the best score up to which the second one leaves no doubt."""
COVERED_MIN = 0.75
"""Share of the question's content words that the section's text must hold: a title alone, or one mention, is none."""
_TOKENS_MAX = 1_000
_TERMS_MIN = 2
"""Words of a question below which a clear hit says little: a greeting has one too."""
_PROSE_MIN = 12
"""Words of a text below which it is a bare link or a label."""
_EMPTY_WORDS = """
advantage advantages benefit benefits difference function happens help mean meaning means point purpose role
significance use used uses using work works
"""
_EMPTY_TERMS = frozenset(_EMPTY_WORDS.split())
"""Words by which many questions ask, whatever they ask about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """What a question goes to the model with."""

    hits: tuple[Hit, ...] = ()
    """What search found for its words."""
    listed: HitList = NO_HITS
    """The same as the model reads it, without what is opened."""
    opened: tuple[str, ...] = ()
    """Sections to open at once."""


def is_start_wanted(mode: ConfidentStart, model: Model) -> bool:
    """Return whether a question to a model begins with what search finds; to a recording as it did then."""
    if isinstance(model, RecordedModel):
        return model.has_start
    return mode is ConfidentStart.ALWAYS or (mode is ConfidentStart.REMOTE and model.name != OFFLINE)


def list_whole(library: Library, room_tokens: int | None) -> tuple[str, ...]:
    """Return the sections that hold all of a document so small that it goes to the model whole, else nothing."""
    tokens_max = WHOLE_TOKENS_MAX if room_tokens is None else min(WHOLE_TOKENS_MAX, room_tokens)
    if library.grafts or sum(library.root.own_tokens) > tokens_max or library.root.columns.has_files:
        return ()
    hidden = library.root.hidden_ids
    return tuple(section_id for section_id in library.children(library.root_id) if section_id not in hidden)


async def find_start(
    searcher: Searcher, state: ConversationState, question: str, within: str | None, *, room_tokens: int | None = None
) -> Start:
    """Return what search finds for a question, nothing where it finds nothing or fails.

    Args:
        searcher: Searches the library of the conversation.
        state: The conversation before the question.
        question: A person's words.
        within: Id of the section that the question is about, None for the whole document.
        room_tokens: Of all that is brought, None where the window is no matter.
    """
    exchanges = state.transcript.exchanges
    earlier = tuple(text for exchange in exchanges for text in (exchange.question, exchange.answer) if text)
    try:
        hits = await asyncio.to_thread(searcher.search, question, limit=_HITS_MAX, within=within, earlier=earlier)
    except RoamtuiError:
        return Start()
    hits = drop_noise(hits)
    opened = choose_opened(state, hits, question, room_tokens)
    if room_tokens is not None:
        room_tokens -= sum(estimate_delivery(state.library, section_id) for section_id in opened)
    others = [hit for hit in hits if hit.section_id not in opened]
    listed = describe_hits(state, others, question, room_tokens=room_tokens, opened=opened)
    return Start(hits=hits, listed=listed, opened=opened)


def choose_opened(
    state: ConversationState, hits: Sequence[Hit], question: str, room_tokens: int | None = None
) -> tuple[str, ...]:
    """Return the first hit where it is clear that its text answers and opening it costs little, else nothing."""
    terms = [term for term in query_terms(question) if term not in _EMPTY_TERMS]
    if not hits or len(terms) < _TERMS_MIN or _measure_rival(hits) > RIVAL_MAX:
        return ()
    library, section_id = state.library, hits[0].section_id
    if estimate_delivery(library, section_id) > min(_TOKENS_MAX, _TOKENS_MAX if room_tokens is None else room_tokens):
        return ()
    text = library.text_at(library.shown_own_span(section_id))
    found = {term for _, term in find_terms(text, terms)}
    is_text = len(text.split()) >= _PROSE_MIN and estimate_tokens(text) <= _TOKENS_MAX
    return (section_id,) if is_text and len(found) >= COVERED_MIN * len(terms) else ()


def _measure_rival(hits: Sequence[Hit]) -> float:
    """Return how near the next best section comes to the first hit, by words where other lists had a say too."""
    if hits[0].rival is not None:
        return hits[0].rival
    return hits[1].score / hits[0].score if len(hits) > 1 else 0.0
