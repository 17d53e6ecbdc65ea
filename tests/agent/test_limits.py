"""Requests are shortened to fit the window, in advance or after the model has rejected one."""

import pytest

from roamtui.conversation.events import CloseReason, QuestionAnswered, SectionsClosed, StopReason
from roamtui.errors import ModelError
from roamtui.models.base import ModelRequest
from tests.agent.asking import DOCUMENT, WORDS, answer, ask, expanding, ids, make_agent, model_of, saying, sent
from tests.fakes.scripted_model import ScriptedReply, estimate_request_tokens

OVERFLOW = ScriptedReply(error=ModelError("The request is too long for this model.", overflow=True))


def refuse(request: ModelRequest) -> ScriptedReply:
    """Refuse a request that is a little too long."""
    window = int(estimate_request_tokens(request) / 0.7) - 50
    return ScriptedReply(error=ModelError("It is too long.", overflow=True, window_tokens=window))


async def test_an_overflow_drops_sections_of_earlier_questions_and_retries() -> None:
    agent = make_agent(text=DOCUMENT.replace(WORDS, WORDS * 5))
    herons, owls = ids(agent, "Herons", "Owls")
    await ask(agent, "Herons?", expanding("Herons"), saying('It says "forty grams of fish a day" [{Herons}].'))
    owls_answer = saying('It says "turns its head by 270 degrees" [{Owls}].')
    *events, last = await ask(agent, "Owls?", expanding("Owls"), refuse, owls_answer)
    assert isinstance(last, QuestionAnswered)
    assert last.stopped is StopReason.ANSWERED
    assert last.citations[0].is_verified
    closed = [event for event in events if isinstance(event, SectionsClosed) and event.reason is CloseReason.OVERFLOW]
    assert [event.section_ids for event in closed] == [(herons,)]
    assert tuple(agent.conversation.state.open_sections) == (owls,)
    text = "\n".join(message.text for message in sent(agent))
    assert f"forty grams of fish a day. {WORDS * 3}" not in text
    assert "An owl turns its head" in text
    assert "Herons?" in text


@pytest.mark.parametrize("window", [3_000, 4_500, 8_000])
async def test_no_request_exceeds_a_small_window(window: int) -> None:
    agent = make_agent(text=DOCUMENT, window_tokens=window)
    for title, quote in [("Herons", "forty grams"), ("Owls", "270 degrees"), ("Swifts", "while it flies")] * 4:
        quoting = saying(f'It says "{quote}" [{{{title}}}].')
        last = await answer(agent, f"{title}, please?", expanding(title), quoting)
        assert last.stopped is StopReason.ANSWERED
    assert all(estimate_request_tokens(request) <= window for request in model_of(agent).requests)


async def test_one_step_fills_at_most_half_of_the_room() -> None:
    text = "".join(f"# Bird {number}\n\n{WORDS * 90}\n\n" for number in range(20))
    agent = make_agent(text=text, window_tokens=24_000)
    await ask(agent, "Birds?", expanding(*(f"Bird {number}" for number in range(20))), saying("Not found: x."))
    before, after = (estimate_request_tokens(request) for request in model_of(agent).requests)
    room = 24_000 - before - 4_000
    assert 0.4 * room < after - before < 0.55 * room
