"""A model that proves nothing, or says nothing, is told once; then its answer is taken as it is."""

from __future__ import annotations

import pytest

from roamtui.agent.answer import ANSWER_REMINDER
from roamtui.conversation.events import ReminderSent
from roamtui.conversation.transcript import Stopped
from tests.agent.asking import make_desk
from tests.conversation.conversations import check_messages
from tests.fakes.scripted_model import ScriptedReply

PLAIN = ScriptedReply(text="Herons eat fish.")


async def test_an_answer_without_a_quote_brings_one_reminder() -> None:
    desk = make_desk()
    cited = ScriptedReply(text=f'It eats "forty grams of fish a day" [{desk.ids["Herons"]}].')
    answer = await desk.ask("What do herons eat?", desk.opening("Herons"), PLAIN, cited)
    [reminder] = [event.text for event in desk.events if isinstance(event, ReminderSent)]
    assert "“Herons eat fish.”" in reminder
    assert answer.answer == cited.text
    assert answer.citations[0].is_verified
    assert not answer.is_unproven
    assert [message.text for message in desk.sent[-2:]] == [PLAIN.text, reminder]
    check_messages(desk.sent)


@pytest.mark.parametrize(
    "text",
    [
        'It eats "forty grams of fish a day".',
        'It eats "forty grams of fish a day" [{Owls}].',
        'It eats "fifty grams" [{Herons}].',
        "It eats forty grams [{Herons}].",
        "It eats `forty grams of fish a day` [{Herons}].",
    ],
)
async def test_what_is_bound_to_a_section_rightly_or_wrongly_brings_none(text: str) -> None:
    desk = make_desk()
    answer = await desk.ask(
        "What do herons eat?", desk.opening("Herons"), ScriptedReply(text=text.format_map(desk.ids))
    )
    assert len(desk.model.requests) == 2
    assert len(answer.citations) == 1


async def test_the_reminder_names_the_first_sentences_alone() -> None:
    desk = make_desk()
    long = ScriptedReply(text="Yes.\n\nHerons eat fish. They eat a lot of it. Each day they do. And at night too.")
    await desk.ask("What do herons eat?", desk.opening("Herons"), long, PLAIN)
    assert "“Herons eat fish.”, “They eat a lot of it.”, “Each day they do.”" in desk.sent[-1].text
    assert "night" not in desk.sent[-1].text


async def test_not_found_needs_no_quote() -> None:
    desk = make_desk()
    answer = await desk.ask(
        "What do emus eat?", desk.opening("Herons"), ScriptedReply(text="Not found: there are no emus.")
    )
    assert answer.stopped is Stopped.NOT_FOUND
    assert not answer.is_unproven
    assert len(desk.model.requests) == 2


async def test_an_empty_reply_brings_a_reminder_then_an_honest_error() -> None:
    desk = make_desk()
    answer = await desk.ask("What do herons eat?", ScriptedReply(), ScriptedReply(text="  "))
    assert answer.stopped is Stopped.ERROR
    assert "without an answer" in answer.error
    assert not answer.is_unproven
    assert desk.sent[-1].text == ANSWER_REMINDER
    check_messages(desk.sent)


async def test_each_request_after_a_reminder_begins_with_the_one_before() -> None:
    desk = make_desk()
    cited = ScriptedReply(text=f'"forty grams" [{desk.ids["Herons"]}]')
    await desk.ask("What do herons eat?", desk.opening("Herons"), PLAIN, cited)
    await desk.ask("And owls?", ScriptedReply(text=f'I read "forty grams" [{desk.ids["Herons"]}].'))
    for before, after in zip(desk.model.requests, desk.model.requests[1:], strict=False):
        assert after.messages[: len(before.messages)] == before.messages
    check_messages(desk.sent)
