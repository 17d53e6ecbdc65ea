"""The state of a conversation, and the messages that follow from it."""

from __future__ import annotations

from roamtui.conversation.transcript import (
    Message,
)
from tests.conversation.conversations import (
    begin,
    check_messages,
    finish,
    make_state,
    messages,
    step,
)


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
