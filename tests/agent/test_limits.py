"""Requests are shortened to fit the window, in advance or after the model has rejected one."""

import pytest

from roamtui.conversation.events import CloseReason, SectionsClosed, StopReason
from roamtui.errors import ModelError
from roamtui.models.base import ModelRequest, estimate_request_tokens
from tests.agent.asking import DOCUMENT, WORDS, Desk, make_desk
from tests.conversation.conversations import check_messages
from tests.fakes.scripted_model import ScriptedReply

OVERFLOW = ScriptedReply(error=ModelError("The request is too long for this model.", overflow=True))


def refuse(request: ModelRequest) -> ScriptedReply:
    """Refuse a request that is a little too long."""
    window = int(estimate_request_tokens(request) / 0.7) - 50
    return ScriptedReply(error=ModelError("It is too long.", overflow=True, window_tokens=window))


def closed_by_overflow(desk: Desk) -> list[str]:
    return [
        section_id
        for event in desk.events
        if isinstance(event, SectionsClosed) and event.reason is CloseReason.OVERFLOW
        for section_id in event.section_ids
    ]


async def test_an_overflow_drops_sections_of_earlier_questions_and_retries() -> None:
    desk = make_desk(text=DOCUMENT.replace(WORDS, WORDS * 5))
    await desk.ask("Herons?", desk.opening("Herons"), desk.quoting("Herons", "forty grams of fish a day"))
    answer = await desk.ask(
        "Owls?", desk.opening("Owls"), refuse, desk.quoting("Owls", "turns its head by 270 degrees")
    )
    assert answer.stopped is StopReason.ANSWERED
    assert answer.citations[0].is_verified
    assert closed_by_overflow(desk) == [desk.ids["Herons"]]
    assert tuple(desk.agent.conversation.state.open_sections) == (desk.ids["Owls"],)
    text = "\n".join(message.text for message in desk.sent)
    assert f"forty grams of fish a day. {WORDS * 3}" not in text
    assert "An owl turns its head" in text
    assert "Herons?" in text
    check_messages(desk.sent)


@pytest.mark.parametrize("window", [3_000, 4_500, 8_000])
async def test_no_request_exceeds_a_small_window(window: int) -> None:
    desk = make_desk(window_tokens=window)
    for title, quote in [("Herons", "forty grams"), ("Owls", "270 degrees"), ("Swifts", "while it flies")] * 4:
        await desk.ask(f"{title}, please?", desk.opening(title), desk.quoting(title, quote))
    assert all(estimate_request_tokens(request) <= window for request in desk.model.requests)
    assert all(event.stopped is StopReason.ANSWERED for event in desk.events[-1:])  # type: ignore[union-attr]


async def test_one_step_fills_at_most_half_of_the_room() -> None:
    text = "".join(f"# Bird {number}\n\n{WORDS * 90}\n\n" for number in range(20))
    desk = make_desk(text=text, window_tokens=24_000)
    await desk.ask(
        "Birds?", desk.opening(*(f"Bird {number}" for number in range(20))), ScriptedReply(text="Not found: x.")
    )
    before, after = (estimate_request_tokens(request) for request in desk.model.requests)
    room = 24_000 - before - 4_000
    assert 0.4 * room < after - before < 0.55 * room
