"""What the model reads of a conversation, and rebuilds of it."""

from msgspec.structs import replace

from roamtui.conversation.budget import RequestBudget
from roamtui.conversation.events import Message, Origin
from roamtui.conversation.state import apply_events
from roamtui.conversation.transcript import shrink_transcript
from tests.conversation.conversations import (
    PROMPT_CONTEXT,
    ask,
    begin,
    check_messages,
    close_by,
    find,
    finish,
    make_state,
    messages,
    open_by_person,
    read_all,
    step,
)


def test_a_rebuild_has_open_text_once_and_earlier_exchanges_without_text() -> None:
    state = ask(make_state(), "Alpha", "Beta", question="First?")
    state = ask(open_by_person(state, "Gamma"), "Delta", question="Second?")
    state = begin(close_by(state, Origin.PERSON, "Beta"), "Third?")
    text = read_all(state)
    assert [text.count(f"{name}-0 ") for name in ("alpha", "beta", "gamma", "delta")] == [1, 0, 1, 1]
    system, first, answer, second, second_answer, third = messages(state)
    assert system.text == PROMPT_CONTEXT.system
    assert first.text.startswith("- [12345678]")
    assert "\n\nSections that are open already:\n\n[" in first.text
    assert first.text.endswith("\n\nQuestion: First?")
    assert (answer.text, second.text, second_answer.text) == ("Because.", "Second?", "Because.")
    assert third.text == "Third?"
    check_messages(messages(state))
    assert not state.needs_rebuild


def test_the_text_that_a_question_opened_last_is_kept_longest() -> None:
    state = begin(make_state(), "First?")
    for title in ("Alpha", "Beta", "Gamma"):
        state = step(state, title)
    tokens = 400
    while len(state.open_sections) > 1:
        tokens -= 20
        context = replace(PROMPT_CONTEXT, budget=RequestBudget(messages_max=tokens))
        state = apply_events(state, *shrink_transcript(state, context))
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
