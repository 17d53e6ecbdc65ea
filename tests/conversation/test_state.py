"""What was said: values, and the messages that follow from them."""

from __future__ import annotations

import pytest

from roamtui.conversation.state import (
    Exchange,
    Transcript,
)
from roamtui.conversation.transcript import Citation, Message, QuoteState, Role, Step, Stopped, ToolCall, ToolUse, Usage
from tests.conversation.conversations import (
    begin,
    check_messages,
    finish,
    make_state,
    messages,
    step,
)


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
