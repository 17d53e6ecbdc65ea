"""The state is the fold of the events: whatever is decided, applying what was told gives it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from roamtui.conversation.commands import (
    CloseAgentSections,
    CollapseSections,
    ExpandSections,
    FoldNodes,
    Origin,
    PinSections,
    ReadSection,
    UndoDeed,
    UnfoldNodes,
)
from roamtui.conversation.events import (
    ConversationBegun,
    ConversationEvent,
    ConversationForked,
    QuestionAnswered,
    StepRecorded,
)
from roamtui.conversation.loading import reload_state
from roamtui.conversation.questions import begin_question, finish_question, rewind, shrink
from roamtui.conversation.state import ConversationState, KeepOpen, KeepOptions, apply, apply_all, fold
from roamtui.conversation.transcript import Citation, QuoteState, Step, Stopped, ToolCall, ToolUse
from roamtui.conversation.update import Update, update
from roamtui.document.node import Span
from tests.conversation.conversations import BRIEFING, TEXT, find, make_library

_Decide = Callable[[ConversationState, tuple[str, ...]], Update]


def _expand(state: ConversationState, ids: tuple[str, ...]) -> Update:
    """Play a step of the agent, during a question alone."""
    if not state.is_asking:
        return state, ()
    after, events = update(state, ExpandSections(section_ids=ids, origin=Origin.AGENT, room_tokens=4_000))
    text = "".join(result.text for event in events for result in getattr(event, "results", ()))
    call = ToolCall(id="1", name="expand_sections", arguments="{}")
    recorded = StepRecorded(step=Step(text="Look:", uses=(ToolUse(call=call, result=text),)))
    return apply(after, recorded), (*events, recorded)


def _finish(state: ConversationState, ids: tuple[str, ...]) -> Update:
    citations = tuple(
        Citation(section_id=one, quote="x", state=QuoteState.EXACT, span=_SPAN) for one in ids if one in state.library
    )
    outcome = QuestionAnswered(answer="So.", stopped=Stopped.ANSWERED, citations=citations)
    return finish_question(state, outcome) if state.is_asking else (state, ())


def _go_back(state: ConversationState, ids: tuple[str, ...]) -> Update:
    count = state.question_number
    return rewind(state, 1 + len(ids) % count) if count and not state.is_asking else (state, ())


def _change(state: ConversationState, _ids: tuple[str, ...]) -> Update:
    changed = make_library(TEXT.replace("alpha-3 ", "ALPHA-3 ").replace("## Zeta", "## Eta"))
    return reload_state(state, changed) if not state.is_asking else (state, ())


def _part(state: ConversationState, _ids: tuple[str, ...]) -> Update:
    forked = ConversationForked(conversation_id="0ther", title="Why? (continued elsewhere)")
    return apply(state, forked), (forked,)


_DEEDS: dict[str, _Decide] = {
    "ask": lambda state, ids: begin_question(state, "Why?", replace(BRIEFING, found=ids, hits="Hits.")),
    "expand": _expand,
    "finish": _finish,
    "shrink": lambda state, _: shrink(state, BRIEFING) if state.is_asking else (state, ()),
    "go back": _go_back,
    "part": _part,
    "change the document": _change,
    "open": lambda state, ids: update(state, ExpandSections(section_ids=ids, origin=Origin.PERSON)),
    "close": lambda state, ids: update(state, CollapseSections(section_ids=ids, origin=Origin.PERSON)),
    "close as agent": lambda state, ids: update(state, CollapseSections(section_ids=ids, origin=Origin.AGENT)),
    "pin": lambda state, ids: update(state, PinSections(section_ids=ids, is_pinned=True)),
    "unpin": lambda state, ids: update(state, PinSections(section_ids=ids, is_pinned=False)),
    "unfold": lambda state, ids: update(state, UnfoldNodes(section_ids=ids)),
    "fold": lambda state, ids: update(state, FoldNodes(section_ids=ids)),
    "read": lambda state, ids: update(state, ReadSection(section_id=ids[0])),
    "undo": lambda state, _: update(state, UndoDeed()),
    "redo": lambda state, _: update(state, UndoDeed(is_redo=True)),
    "close the agent's": lambda state, _: update(state, CloseAgentSections()),
}
_SPAN = Span(doc="", start=200, end=240)
_TITLES = ("Manual", "Alpha", "Beta", "Zeta", "Parent", "Child one", "Long", "Below long")
_ids = st.lists(st.sampled_from(_TITLES), min_size=1, max_size=3, unique=True).map(
    lambda titles: tuple(find(make_library(), title) for title in titles)
)


@given(
    deeds=st.lists(st.tuples(st.sampled_from(["ask", "expand", "finish", *_DEEDS]), _ids), max_size=20),
    mode=st.sampled_from(KeepOpen),
    budget=st.sampled_from([300, 32_000]),
)
def test_what_happened_gives_the_state(deeds: list[tuple[str, tuple[str, ...]]], mode: KeepOpen, budget: int) -> None:
    options = KeepOptions(mode=mode, budget_tokens=budget)
    happened: list[ConversationEvent] = [ConversationBegun(conversation_id="c0ffee")]
    state = fold(make_library(), happened, options)
    for name, ids in deeds:
        before = state
        state, events = _DEEDS[name](before, ids)
        assert apply_all(replace(before, library=state.library), events) == state
        happened += events
    assert fold(state.library, happened, options) == state
