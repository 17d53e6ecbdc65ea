"""Makes room while a question is under way: for a request that a model could not take, or would not."""

from __future__ import annotations

from dataclasses import replace

from roamtui.conversation.commands import Origin
from roamtui.conversation.events import CloseReason, ConversationEvent, SectionsClosed
from roamtui.conversation.open_section import OpenSection
from roamtui.conversation.rebuilding import Briefing, is_held, read_results, rebuild_during_question
from roamtui.conversation.state import ConversationState
from roamtui.conversation.transcript import Step, ToolUse
from roamtui.document.tokens import estimate_tokens

DROPPED = "(This text was dropped to make room. Open a section again by its id if you need it.)"


def shrink(state: ConversationState, briefing: Briefing) -> tuple[ConversationState, tuple[ConversationEvent, ...]]:
    """Return the state with a shorter transcript, and what was closed for it.

    First everything from before this question goes that is not pinned; if nothing was left of that, the results of
    this question's earlier steps become stubs and their sections are closed.
    """
    number = state.question_number
    before = [s.section_id for s in state.open if s.last_used < number and not s.is_pinned]
    has_earlier_steps = any(e.steps or e.preface for e in state.transcript.exchanges[state.transcript.rebuilt_at : -1])
    if before or has_earlier_steps or state.transcript.rebuilt_at < number - 1:
        return _close(state, before, briefing)
    return _stub_steps(state, briefing)


def _stub_steps(
    state: ConversationState, briefing: Briefing
) -> tuple[ConversationState, tuple[ConversationEvent, ...]]:
    last = state.transcript.exchanges[-1]
    kept = last.steps[-1:] if len(last.steps) > 1 else ()
    dropped = last.steps[: len(last.steps) - len(kept)]
    if not dropped:
        return state, ()
    lost = read_results(replace(last, preface="", steps=dropped))
    left = replace(last, steps=(*(_make_stub(step) for step in dropped), *kept))
    exchanges = (*state.transcript.exchanges[:-1], left)
    state = replace(state, transcript=replace(state.transcript, exchanges=exchanges))
    closing: list[str] = []
    sections: list[OpenSection] = []
    for section in state.open:
        deliveries = tuple(span for span in section.deliveries if not is_held(state, span, lost))
        if section.is_pinned or len(deliveries) == len(section.deliveries):
            sections.append(section)
        elif deliveries:
            tokens = sum(estimate_tokens(state.library.text_at(span)) for span in deliveries)
            sections.append(replace(section, deliveries=deliveries, tokens=tokens))
        else:
            closing.append(section.section_id)
            sections.append(section)
    return _close(replace(state, open=tuple(sections)), closing, briefing)


def _make_stub(step: Step) -> Step:
    uses = tuple(ToolUse(call=use.call, result=DROPPED) for use in step.uses)
    return replace(step, uses=uses)


def _close(
    state: ConversationState, section_ids: list[str], briefing: Briefing
) -> tuple[ConversationState, tuple[ConversationEvent, ...]]:
    closing = set(section_ids)
    state = replace(state, open=tuple(section for section in state.open if section.section_id not in closing))
    state = rebuild_during_question(state, briefing)
    if not section_ids:
        return state, ()
    return state, (SectionsClosed(section_ids=tuple(section_ids), origin=Origin.AGENT, reason=CloseReason.OVERFLOW),)
