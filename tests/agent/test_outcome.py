"""Outcomes of a question: answered, not found, empty, or after a reminder."""

import pytest

from roamtui.agent.prompt import BRIEF_INSTRUCTION
from roamtui.conversation.events import StopReason
from tests.agent.asking import answer, expanding, make_agent, model_of, saying
from tests.fakes.scripted_model import ScriptedReply

_ENDLESS = "Hm, so be it. " * 400


@pytest.mark.parametrize(
    "start",
    [
        *("Not found:", "not found -", "NOT FOUND.", "**Not found:**", "> Not found:", "# Not found"),
        *("Nicht gefunden:", "Non trouvé :", "No encontrado:", "未找到："),
    ],
)
async def test_not_found_is_recognised_in_any_format_and_language(start: str) -> None:
    assert (await answer(make_agent([saying(f"{start} no such thing.")]))).stopped is StopReason.NOT_FOUND


async def test_the_draft_before_a_reminder_is_the_answer_if_nothing_follows() -> None:
    agent = make_agent([expanding("Fees"), saying("It costs two euros."), ScriptedReply()])
    last = await answer(agent)
    assert (last.stopped, last.answer, last.citations) == (StopReason.ANSWERED, "It costs two euros.", ())
    assert len(model_of(agent).requests) == 3


@pytest.mark.parametrize("replies", [("", "  "), ("<think>Hm.", "<think>Hm, hm.")])
async def test_an_empty_reply_triggers_a_reminder_one_short_request_and_then_an_error(replies: tuple[str, ...]) -> None:
    agent = make_agent(map(saying, (*replies, "")))
    last = await answer(agent)
    assert (last.stopped, last.answer) == (StopReason.ERROR, "")
    assert last.error.startswith("The model returned no answer.")
    _, reminded, brief = (request.messages[-1].text for request in model_of(agent).requests)
    assert reminded.startswith("No quote was found in your answer.")
    assert brief.endswith(f"{BRIEF_INSTRUCTION}\n\nQuestion: How much is it?")


@pytest.mark.parametrize("reply", [ScriptedReply(thinking=_ENDLESS), saying(f"<think>{_ENDLESS}")])
async def test_thoughts_that_repeat_themselves_end_the_question(reply: ScriptedReply) -> None:
    agent = make_agent([reply, saying("Two euros a day.")])
    assert (await answer(agent)).answer == "Two euros a day."
    first, brief = model_of(agent).requests
    assert (len(first.tools) > 0, brief.tools) == (True, ())
