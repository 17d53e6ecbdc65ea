"""The state of a conversation, and the messages that follow from it."""

from __future__ import annotations

from dataclasses import replace

from roamtui.conversation.events import ConversationRenamed, QuestionsRewound, StepRecorded
from roamtui.conversation.state import ConversationState, Exchange, Transcript, apply
from roamtui.conversation.transcript import (
    Message,
    Role,
    Step,
    StopReason,
    ToolCall,
    ToolUse,
)
from roamtui.document.node import Span
from tests.conversation.conversations import (
    PROMPT_CONTEXT,
    begin,
    check_messages,
    finish,
    make_state,
    messages,
    step,
    write_section,
)


def _use(number: int) -> ToolUse:
    return ToolUse(call=ToolCall(id=f"c{number}", name="expand_sections", arguments="{}"), result=f"result {number}")


def test_each_call_is_followed_by_its_result() -> None:
    steps = (Step(text="Let me look.", uses=(_use(1), _use(2))), Step(text="", uses=(_use(3),)))
    exchange = Exchange(number=1, question="Why?", steps=steps, answer="So.", stopped=StopReason.ANSWERED)
    transcript = Transcript(system="S", prologue="P", exchanges=(exchange,))
    assert list(transcript.iter_messages()) == [
        Message(role=Role.SYSTEM, text="S"),
        Message(role=Role.USER, text="P\n\nQuestion: Why?"),
        Message(role=Role.ASSISTANT, text="Let me look.", tool_calls=(_use(1).call, _use(2).call)),
        Message(role=Role.TOOL, text="result 1", tool_call_id="c1"),
        Message(role=Role.TOOL, text="result 2", tool_call_id="c2"),
        Message(role=Role.ASSISTANT, text="", tool_calls=(_use(3).call,)),
        Message(role=Role.TOOL, text="result 3", tool_call_id="c3"),
        Message(role=Role.ASSISTANT, text="So."),
    ]


def test_until_something_closes_each_request_begins_with_the_previous_one() -> None:
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


def _show(state: ConversationState, *spans: Span) -> ConversationState:
    """Play a question with search excerpts, half of them in the preface and half in a step."""
    state = begin(state, context=replace(PROMPT_CONTEXT, excerpts=spans[::2]))
    call = ToolCall(id=f"call_{state.question_number}", name="search_sections", arguments="{}")
    use = ToolUse(call=call, result="Hits.", excerpts=spans[1::2])
    return finish(apply(state, StepRecorded(step=Step(text="", uses=(use,)))))


def test_excerpts_are_bounded_and_the_newest_stay() -> None:
    text = "".join(write_section(f"Section {number}", words=60) for number in range(2_000))
    spans = [Span(doc="", start=start, end=start + 500) for start in range(0, len(text) - 500, 700)]
    state, sizes = make_state(text), []
    for number in range(0, len(spans) - 10, 10):
        state = _show(state, *spans[number : number + 10])
        bounds = state.collect_excerpts()[""]
        sizes.append(sum(end - start for start, end in bounds))
        assert (spans[number].start, spans[number].end) in bounds
    assert sizes[-1] == sizes[-50] == max(sizes) < len(text) / 3
    assert sizes[20] == 21 * 10 * 500, "nothing is dropped below the limit"


def test_only_a_title_that_a_person_chose_survives_a_rewind_of_the_first_question() -> None:
    asked = finish(begin(make_state(), "Why?"))
    assert asked.title == "Why?"
    rewound = apply(asked, QuestionsRewound(first=1))
    assert begin(rewound, "How?").title == "How?"
    renamed = apply(apply(asked, ConversationRenamed(title="Ovens")), QuestionsRewound(first=1))
    assert begin(renamed, "How?").title == "Ovens"
