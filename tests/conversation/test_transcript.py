"""What the model reads of a conversation, and rebuilds of it."""

from msgspec.structs import replace

from roamtui.conversation.budget import RequestBudget
from roamtui.conversation.messages import Message
from roamtui.conversation.state import fold_events
from roamtui.conversation.transcript import shrink_transcript
from tests.conversation.conversations import (
    PROMPT_CONTEXT,
    begin,
    check_messages,
    find,
    finish,
    make_state,
    messages,
    step,
)


def test_the_text_that_a_question_opened_last_is_kept_longest() -> None:
    state = begin(make_state(), "First?")
    for title in ("Alpha", "Beta", "Gamma"):
        state = step(state, title)
    tokens = 400
    while len(state.open_sections) > 1:
        tokens -= 20
        context = replace(PROMPT_CONTEXT, budget=RequestBudget(messages_max=tokens))
        state = fold_events(state, *shrink_transcript(state, context))
    assert [*state.open_sections] == [find(state, "Gamma")]


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
