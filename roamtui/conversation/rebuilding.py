"""Builds a transcript anew: outline, sections still open, earlier questions and answers without section texts.

While a question is under way it does so to make room, for a request that a model could not take, or would not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from roamtui.conversation.commands import Origin
from roamtui.conversation.events import (
    CloseReason,
    Delivery,
    ResultsDropped,
    SectionsClosed,
    SectionsSearched,
    TranscriptRebuilt,
)
from roamtui.conversation.fold import apply, apply_all
from roamtui.conversation.open_section import OpenSection
from roamtui.conversation.state import ConversationState, Exchange
from roamtui.conversation.update import Update
from roamtui.document.node import Span
from roamtui.document.tokens import estimate_tokens
from roamtui.outline.annotation import annotate
from roamtui.outline.expansion import render_open
from roamtui.outline.spans import Bounds, merge_bounds

_PREFERENCES_LEAD = (
    "My preferences for all your answers, such as language, style and terms. How you roam, quote and cite stays as you "
    "were told:"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Briefing:
    """What a model is told besides the conversation itself."""

    system: str
    """Our fixed text."""
    outline: str
    """The outline as it stands now; frozen in the transcript until the next rebuild."""
    model: str
    """Name of the model that will answer; another one than before means a rebuild."""
    window_tokens: int | None = None
    """Size of its context window, None where unknown."""
    room_tokens: int | None = None
    """Tokens of section text that may be delivered before the question."""
    history_tokens: int | None = None
    """Tokens that earlier questions and answers may have after a rebuild; None for all of them."""
    within: str | None = None
    """The section that the question is about, None for the whole document."""
    found: tuple[str, ...] = ()
    """Sections that search found so clearly that they are opened with the question."""
    hits: str = ""
    """What search found for the question, in words."""
    excerpts: tuple[Span, ...] = ()
    """What of the library these words show."""
    searched: tuple[SectionsSearched, ...] = ()
    """What tells a person of it."""
    was_refused: bool = False
    """Whether room is made because the model found a request too long."""
    preferences: str = ""
    """What the person wrote down of how they want to be answered; frozen in the transcript like the outline."""


def rebuild(state: ConversationState, briefing: Briefing) -> TranscriptRebuilt:
    """Build a new transcript, between questions: every open section's text stands in its prologue."""
    exchanges = state.transcript.exchanges
    return _write(state, briefing, [(s.section_id, s.deliveries) for s in state.open], rebuilt_at=len(exchanges))


def _rebuild_during_question(state: ConversationState, briefing: Briefing) -> TranscriptRebuilt:
    """Build a new transcript that goes on with the question under way and its steps.

    What the question's own steps delivered stands in them; the prologue holds all other text that is open.
    """
    exchanges = state.transcript.exchanges
    held = read_results(exchanges[-1])
    earlier = [(s.section_id, tuple(d for d in s.deliveries if not is_held(state, s, d, held))) for s in state.open]
    return _write(state, briefing, earlier, rebuilt_at=len(exchanges) - 1)


def read_results(exchange: Exchange) -> str:
    """Return all section text that an exchange delivered, among what else it says."""
    return "\n".join((exchange.preface, *(use.result for step in exchange.steps for use in step.uses)))


def is_held(state: ConversationState, section: OpenSection, span: Span, text: str) -> bool:
    """Return whether a text holds what was delivered of an open section."""
    return annotate(state.library, span, section_id=section.section_id) in text


def _write(
    state: ConversationState,
    briefing: Briefing,
    sections: Iterable[tuple[str, tuple[Span, ...]]],
    *,
    rebuilt_at: int,
) -> TranscriptRebuilt:
    blocks: list[str] = []
    given: dict[str, list[Bounds]] = {}
    for section_id, deliveries in sections:
        if deliveries:
            spans = _merge_spans(deliveries)
            blocks.append(render_open(state.library, section_id, spans, delivered=given, nonce=state.nonce))
            for span in spans:
                given.setdefault(span.doc, []).append((span.start, span.end))
    exchanges = state.transcript.exchanges
    history_from = _find_history(exchanges[:rebuilt_at], briefing.history_tokens)
    parts = [_quote_preferences(briefing.preferences)] if briefing.preferences.strip() else []
    parts.append(briefing.outline.rstrip())
    if blocks:
        parts += ["Sections that are open already:", *blocks]
    if history_from:
        parts.append(f"({history_from} earlier questions of this conversation are left out here to save room.)")
    return TranscriptRebuilt(
        system=briefing.system,
        prologue="\n\n".join(parts),
        model=briefing.model,
        rebuilt_at=rebuilt_at,
        history_from=history_from,
        was_refused=briefing.was_refused,
    )


def _quote_preferences(text: str) -> str:
    """Return a person's preferences as they are told to a model: in the person's role, each line marked.

    So only our own text has the system role, and no line of it can be taken for the outline, a section or a question.
    """
    quoted = "\n".join(f"> {line}".rstrip() for line in text.strip().splitlines())
    return f"{_PREFERENCES_LEAD}\n{quoted}"


def _find_history(exchanges: tuple[Exchange, ...], tokens_max: int | None) -> int:
    """Return the index from which earlier questions and answers fit, newest first."""
    if tokens_max is None:
        return 0
    left = tokens_max
    for index in range(len(exchanges) - 1, -1, -1):
        left -= estimate_tokens(exchanges[index].question) + estimate_tokens(exchanges[index].reply)
        if left < 0:
            return index + 1
    return 0


def _merge_spans(spans: tuple[Span, ...]) -> tuple[Span, ...]:
    doc = spans[0].doc
    merged = merge_bounds((span.start, span.end) for span in spans)
    return tuple(Span(doc=doc, start=start, end=end) for start, end in merged)


def shrink(state: ConversationState, briefing: Briefing) -> Update:
    """Make the transcript shorter; what was closed for it is told.

    First everything from before this question goes that is not pinned; if nothing was left of that, the results of
    this question's earlier steps become stubs and their sections are closed.
    """
    number = state.question_number
    before = [s.section_id for s in state.open if s.last_used < number and not s.is_pinned]
    has_earlier_steps = any(e.steps or e.preface for e in state.transcript.exchanges[state.transcript.rebuilt_at : -1])
    if before or has_earlier_steps or state.transcript.rebuilt_at < number - 1:
        return _close(state, before, briefing)
    return _stub_steps(state, briefing)


def _stub_steps(state: ConversationState, briefing: Briefing) -> Update:
    last = state.transcript.exchanges[-1]
    dropped = last.steps[:-1] if len(last.steps) > 1 else last.steps
    if not dropped:
        return state, ()
    lost = read_results(replace(last, preface="", steps=dropped))
    closing: list[str] = []
    left: list[Delivery] = []
    for section in state.open:
        spans = tuple(span for span in section.deliveries if not is_held(state, section, span, lost))
        if section.is_pinned or len(spans) == len(section.deliveries):
            continue
        if spans:
            tokens = sum(estimate_tokens(state.library.text_at(span)) for span in spans)
            left.append(Delivery(section_id=section.section_id, tokens=tokens, spans=spans))
        else:
            closing.append(section.section_id)
    stubbed = ResultsDropped(steps=len(dropped), left=tuple(left))
    state, events = _close(apply(state, stubbed), closing, briefing)
    return state, (stubbed, *events)


def _close(state: ConversationState, section_ids: list[str], briefing: Briefing) -> Update:
    ids = tuple(section_ids)
    closed = (SectionsClosed(section_ids=ids, origin=Origin.AGENT, reason=CloseReason.OVERFLOW),) if ids else ()
    state = apply_all(state, closed)
    rebuilt = _rebuild_during_question(state, briefing)
    return apply(state, rebuilt), (*closed, rebuilt)
