"""The state is the fold of the events: whatever is decided, applying what was told gives it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
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
from roamtui.conversation.state import (
    ConversationState,
    Exchange,
    KeepOpen,
    KeepOptions,
    Transcript,
    apply,
    apply_all,
    fold,
)
from roamtui.conversation.transcript import Citation, Message, QuoteState, Role, Step, Stopped, ToolCall, ToolUse, Usage
from roamtui.conversation.update import Update, update
from roamtui.document.node import Span
from tests.conversation.conversations import (
    BRIEFING,
    TEXT,
    ask,
    begin,
    check_messages,
    find,
    finish,
    make_library,
    make_state,
    messages,
    step,
)

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


def _use(number: int) -> ToolUse:
    return ToolUse(call=ToolCall(id=f"c{number}", name="expand_sections", arguments="{}"), result=f"result {number}")


def test_each_call_is_followed_by_its_result() -> None:
    steps = (Step(text="Let me look.", uses=(_use(1), _use(2)), thinking="[1]"), Step(text="", uses=(_use(3),)))
    exchange = Exchange(number=1, question="Why?", steps=steps, answer="So.", stopped=Stopped.ANSWERED)
    transcript = Transcript(system="S", prologue="P", exchanges=(exchange,))
    assert list(transcript.messages()) == [
        Message(role=Role.SYSTEM, text="S"),
        Message(role=Role.USER, text="P\n\nQuestion: Why?"),
        Message(role=Role.ASSISTANT, text="Let me look.", tool_calls=(_use(1).call, _use(2).call), thinking="[1]"),
        Message(role=Role.TOOL, text="result 1", tool_call_id="c1"),
        Message(role=Role.TOOL, text="result 2", tool_call_id="c2"),
        Message(role=Role.ASSISTANT, text="", tool_calls=(_use(3).call,)),
        Message(role=Role.TOOL, text="result 3", tool_call_id="c3"),
        Message(role=Role.ASSISTANT, text="So."),
    ]


def test_exchanges_before_a_rebuild_are_question_and_answer_alone() -> None:
    earlier = Exchange(
        number=1,
        question="Why?",
        preface="Text",
        steps=(Step(text="", uses=(_use(1),)),),
        answer="So.",
        stopped=Stopped.ANSWERED,
    )
    now = Exchange(number=2, question="And?", preface="More text")
    transcript = Transcript(system="S", prologue="P", exchanges=(earlier, now), rebuilt_at=1)
    assert [message.text for message in transcript.messages()] == [
        "S",
        "P\n\nQuestion: Why?",
        "So.",
        "More text\n\nQuestion: And?",
    ]


@pytest.mark.parametrize(
    ("answer", "stopped", "reply"),
    [
        ("So.", Stopped.ANSWERED, "So."),
        ("", Stopped.ERROR, "[no answer]"),
        ("Half an ans", Stopped.ERROR, "Half an ans"),
        ("Half an ans", Stopped.CANCELLED, "Half an ans\n\n[interrupted by the person]"),
        ("", Stopped.CANCELLED, "[interrupted by the person]"),
    ],
)
def test_every_ended_exchange_has_last_words(answer: str, stopped: Stopped, reply: str) -> None:
    exchange = Exchange(number=1, question="Why?", answer=answer, stopped=stopped)
    assert exchange.reply == reply
    assert list(Transcript(exchanges=(exchange,)).messages())[-1] == Message(role=Role.ASSISTANT, text=reply)


def test_usages_add_up() -> None:
    one = Usage(input_tokens=10, output_tokens=2, cached_tokens=5, cost_usd=0.5, source="provider")
    two = Usage(input_tokens=1, output_tokens=1)
    assert one + two == Usage(input_tokens=11, output_tokens=3, cached_tokens=5, cost_usd=0.5, source="provider")
    assert (two + two).cost_usd is None
    assert (two + two).source == "estimate"
    assert (one + one).cost_usd == 1.0


def test_only_quotes_found_in_their_section_are_verified() -> None:
    verified = {state for state in QuoteState if Citation(section_id="x", quote="q", state=state).is_verified}
    assert verified == {QuoteState.EXACT, QuoteState.NORMALISED}


def test_while_nothing_is_closed_each_request_begins_with_the_whole_one_before() -> None:
    state = make_state()
    before: list[Message] = []
    for titles in (["Alpha"], [], ["Beta", "Gamma"], ["Alpha", "Parent"], ["Child one"]):
        state = begin(state)
        for title in titles:
            sent = messages(state)
            assert sent[: len(before)] == before
            check_messages(sent)
            before = sent
            state = step(state, title)
        state = finish(state)
    assert len(before) > 15


def test_a_transcript_that_grows_repeats_no_section() -> None:
    state = ask(ask(make_state(), "Child one", "Alpha"), "Parent", "Alpha", "Manual")
    text = "\n".join(message.text for message in messages(state))
    for word in ("child-one-0 ", "child-two-0 ", "alpha-0 ", "Introduction."):
        assert text.count(word) == 1
