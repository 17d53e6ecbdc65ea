"""A conversation's spending cap is never passed without a person's yes."""

from __future__ import annotations

from roamtui.agent.options import AgentOptions
from roamtui.conversation.commands import CostApproval
from roamtui.conversation.transcript import Stopped, Usage
from tests.agent.asking import make_desk
from tests.conversation.conversations import FakeApprover
from tests.fakes.scripted_model import ScriptedReply

DEAR = ScriptedReply(text="An answer.", usage=Usage(input_tokens=10, output_tokens=5, cost_usd=0.4, source="provider"))


async def test_past_the_cap_a_no_ends_the_question_before_it_is_sent() -> None:
    approver = FakeApprover(says=False)
    desk = make_desk(options=AgentOptions(cost_usd_max=0.7), approver=approver)
    await desk.ask("Why?", DEAR)
    await desk.ask("Why?", DEAR)
    answer = await desk.ask("Why?", DEAR)
    assert answer.stopped is Stopped.COST
    assert "spending cap" in answer.error
    assert len(desk.model.requests) == 2
    assert approver.asked == [CostApproval(spent_usd=0.8, cap_usd=0.7)]


async def test_a_yes_goes_on_and_is_not_asked_again() -> None:
    approver = FakeApprover(says=True)
    desk = make_desk(options=AgentOptions(cost_usd_max=0.1), approver=approver)
    for _ in range(3):
        assert (await desk.ask("Why?", DEAR)).stopped is Stopped.ANSWERED
    assert len(approver.asked) == 1


async def test_without_anybody_to_ask_the_answer_is_no() -> None:
    desk = make_desk(options=AgentOptions(cost_usd_max=0.1))
    await desk.ask("Why?", DEAR)
    assert (await desk.ask("Why?", DEAR)).stopped is Stopped.COST


async def test_a_yes_is_for_one_conversation() -> None:
    approver = FakeApprover(says=True)
    desk = make_desk(options=AgentOptions(cost_usd_max=0.1), approver=approver)
    for _ in range(2):
        await desk.ask("Why?", DEAR)
    desk.agent.session.turn_to(desk.agent.session.fork(2))
    await desk.ask("Why?", DEAR)
    assert len(approver.asked) == 2
