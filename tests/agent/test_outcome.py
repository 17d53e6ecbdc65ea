"""Outcomes of a question: answered, not found, empty, or after a reminder."""

import pytest

from roamtui.agent.loop import AgentOptions
from roamtui.conversation.events import StopReason
from roamtui.errors import RoamtuiError
from roamtui.search.base import Hit
from tests.agent.asking import FakeSearcher, answer, expanding, ids, make_agent, model_of, saying, sent
from tests.fakes.scripted_model import ScriptedReply

_ENDLESS = "Hm, so be it. " * 400


def _hits(*section_ids: str) -> FakeSearcher:
    return FakeSearcher(*(Hit(section_id=section_id, score=1.0, snippet="", why="") for section_id in section_ids))


async def test_not_found_lists_the_nearest_sections() -> None:
    fees, lost, hours, lending = ids(make_agent(), "Fees", "Lost books", "Hours", "Lending")
    agent = make_agent(searcher=_hits(fees, lost, hours, lending))
    nothing = saying("Not found: nothing on parking. Try “where to park”.")
    last = await answer(agent, "Where can I park?", expanding("Fees"), nothing)
    assert last.stopped is StopReason.NOT_FOUND
    assert last.answer == (
        "Not found: nothing on parking. Try “where to park”.\n\n"
        f"Nearest sections: Manual > Lending > Lost books [{lost}]; Manual > Hours [{hours}]; "
        f"Manual > Lending [{lending}]"
    )
    assert agent.conversation.state.exchanges[0].answer == last.answer


async def test_not_found_stays_if_the_nearest_sections_cannot_be_searched() -> None:
    searcher = FakeSearcher(error=RoamtuiError("The index is gone."))
    agent = make_agent([saying("Not found: nothing.")], searcher=searcher, options=AgentOptions(sends_hits=False))
    assert (await answer(agent)).answer == "Not found: nothing."


async def test_a_defect_while_looking_for_the_nearest_sections_leaves_the_answer() -> None:
    searcher = FakeSearcher(error=ZeroDivisionError("a defect"))
    agent = make_agent([saying("Not found: nothing.")], searcher=searcher, options=AgentOptions(sends_hits=False))
    with pytest.raises(ZeroDivisionError):
        await agent.ask("Where can I park?")
    state = agent.conversation.state
    assert (state.is_asking, state.exchanges[-1].answer) == (False, "Not found: nothing.")


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
async def test_an_empty_reply_triggers_a_reminder_and_then_an_error(replies: tuple[str, ...]) -> None:
    agent = make_agent(map(saying, replies))
    last = await answer(agent)
    assert (last.stopped, last.answer) == (StopReason.ERROR, "")
    assert last.error.startswith("The model returned no answer.")
    assert sent(agent)[-1].text.startswith("No quote was found in your answer.")


@pytest.mark.parametrize("reply", [ScriptedReply(thinking=_ENDLESS), saying(f"<think>{_ENDLESS}")])
async def test_thoughts_that_repeat_themselves_end_the_question(reply: ScriptedReply) -> None:
    agent = make_agent([reply])
    assert (await answer(agent)).error.startswith("The model returned no answer.")
    assert len(model_of(agent).requests) == 1
