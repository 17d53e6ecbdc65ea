"""A provider may fail at any step: nothing is lost, the person reads one sentence, and the conversation goes on."""

import pytest

from roamtui.conversation.events import StopReason
from roamtui.errors import ModelError
from tests.agent.asking import answer, expanding, ids, make_agent, model_of, saying
from tests.fakes.scripted_model import ScriptedReply

_SENTENCE = "The server did not answer. Is it running?"


@pytest.mark.parametrize("step", [0, 1, 2])
@pytest.mark.parametrize("text", ["", "It costs two eu"])
async def test_a_failure_at_any_step_loses_nothing(step: int, text: str) -> None:
    agent = make_agent()
    fees, lost = ids(agent, "Fees", "Lost books")
    steps = [expanding(fees, text="I look."), expanding(lost)]
    model_of(agent).add_replies(*steps[:step], ScriptedReply(text=text, error=ModelError(_SENTENCE)))
    last = await answer(agent)
    assert (last.stopped, last.error, last.answer, last.step_count) == (StopReason.ERROR, _SENTENCE, text, step + 1)
    exchange = agent.conversation.state.exchanges[0]
    assert len(exchange.steps) == step
    assert (exchange.answer, exchange.error, exchange.stopped) == (text, _SENTENCE, StopReason.ERROR)
    assert len(agent.conversation.state.open_sections) == step
    failed = model_of(agent).requests[-1].messages
    model_of(agent).add_replies(saying("Not found: no."))
    assert (await answer(agent, "Again, please")).stopped is StopReason.NOT_FOUND
    assert model_of(agent).requests[-1].messages[: len(failed)] == failed, "what was paid for is not paid again"
