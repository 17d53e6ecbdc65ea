"""Everything that changes a conversation waits its turn, and every event is published once."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest
from msgspec.structs import replace

from roamtui.agent.agent import Agent
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import AnswerStreamed, ConversationEvent, StopReason, WarningRaised
from roamtui.conversation.log import ConversationStore
from roamtui.conversation.update import AskOptions, ChooseAnswer
from roamtui.errors import ModelError, UnknownSectionError
from roamtui.models.base import ModelRequest
from roamtui.quotes.verdicts import make_proof
from tests.agent.asking import collect_events, expanding, ids, make_agent, model_of, saying, script
from tests.fakes.replay import replay_events
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply, SlowModel
from tests.table.filling import wait_until


def questions(conversation: Conversation) -> list[str]:
    return [exchange.question for exchange in conversation.state.exchanges]


@asynccontextmanager
async def starting(agent: Agent) -> AsyncIterator[asyncio.Event]:
    """Give a gate that holds back the start of the model, and open it in the end."""
    gate = asyncio.Event()
    agent.model = SlowModel([saying("Not found: no.")] * 9, gate=gate)
    yield gate
    gate.set()


async def run_in_order(*requests: Coroutine[Any, Any, object]) -> list[asyncio.Task[object]]:
    """Begin each request, and let it come as far as it can, before the next."""
    tasks = []
    for request in requests:
        tasks.append(asyncio.create_task(request))
        for _ in range(50):
            await asyncio.sleep(0)
    return tasks


@pytest.mark.parametrize("error", [None, ModelError("The connection broke.")])
async def test_an_answer_that_is_stopped_or_fails_keeps_its_verdicts(error: ModelError | None) -> None:
    agent = make_agent()
    (fees,) = ids(agent, "Fees")
    text = f'It costs "2 euros a day" [{fees}]. It was "3 euros a day" [{fees}]. And th'
    gate = None if error else asyncio.Event()
    model_of(agent).add_replies(
        expanding(fees), ScriptedReply(text=f"{text}en", chunk_size=len(text), gate=gate, gate_after=1, error=error)
    )
    seen: list[ConversationEvent] = []
    agent.conversation.subscribe(seen.append)
    asking = asyncio.create_task(agent.ask("How much?"))
    await wait_until(lambda: any(isinstance(event, AnswerStreamed) for event in seen))
    if error is None:
        asking.cancel()
    await asyncio.wait({asking})
    exchange = agent.conversation.state.exchanges[-1]
    assert exchange.stopped is (StopReason.ERROR if error else StopReason.CANCELLED)
    assert [mark.label for mark in make_proof(exchange.answer, exchange.citations, ()).marks] == ["[1 ✓]", "[2 ✗]"]
    assert [nearest.text for each in exchange.citations if (nearest := each.nearest)] == ["2 euros a day"]


async def test_a_question_that_waits_is_asked_unless_the_person_switches_meanwhile() -> None:
    agent = make_agent()
    conversation = agent.conversation
    async with starting(agent) as gate:
        stopped, waiting = await run_in_order(agent.ask("First?"), agent.ask("Second?"))
        stopped.cancel()
        gate.set()
        assert await waiting
    assert questions(conversation) == ["Second?"]
    async with starting(agent) as gate:
        tasks = await run_in_order(agent.ask("Third?"), conversation.start_new(), agent.ask("Fourth?"))
        gate.set()
        assert [bool(exchange) for exchange in await asyncio.gather(*tasks)] == [True, False, False]
    assert questions(conversation) == []


@pytest.mark.parametrize("options", [AskOptions(within="ffffffff"), AskOptions(open_first=("ffffffff",))])
async def test_a_question_that_names_a_section_that_is_gone_changes_nothing(
    options: AskOptions, store: ConversationStore
) -> None:
    replies = [saying("Two euros."), ScriptedReply(error=ModelError("It is down."))]
    agent = make_agent(replies, store=store)
    conversation = agent.conversation
    exchange = await agent.ask("How much?")
    await agent.ask("How much?", AskOptions(replaces=exchange))
    failed = 1
    await conversation.execute(ChooseAnswer(number=1, index=failed))
    before = conversation.state
    with pytest.raises(UnknownSectionError, match="ffffffff"):
        await agent.ask("How much is it?", replace(options, replaces=before.exchanges[0]))
    assert conversation.state is before
    assert replay_events(before.library, store.read(before.id).events).exchanges == before.exchanges


@pytest.mark.parametrize(
    ("reply", "shown"),
    [
        (ScriptedReply(error=ModelError("It is down.")), "Two euros."),
        (ScriptedReply(text="It", error=ModelError("It is down.")), "Two euros."),
        (saying("Three euros."), "Three euros."),
    ],
)
async def test_an_answer_stays_if_asking_again_gives_none(
    reply: ScriptedReply, shown: str, store: ConversationStore
) -> None:
    agent = make_agent([saying("Two euros.")], store=store)
    exchange = await agent.ask("How much?")
    script(agent, reply)
    events = await collect_events(agent, "How much?", AskOptions(replaces=exchange))
    told = "It is down. The earlier answer stays."
    assert (WarningRaised(message=told) in events) is (shown == "Two euros.")
    agent.conversation.close()
    (saved,) = store.load(agent.conversation.state.id).exchanges
    assert (saved.answer, len(saved.answers)) == (shown, 2)


async def test_a_question_ends_with_the_model_that_it_began_with() -> None:
    agent = make_agent()
    first = model_of(agent)
    other = ScriptedModel()
    (fees,) = ids(agent, "Fees")

    def choose_another(_request: ModelRequest) -> ScriptedReply:
        agent.use_model(other)
        return expanding(fees)

    script(agent, choose_another, saying("Not found: no price."))
    assert await agent.ask("How much is it?")
    assert (len(first.requests), other.requests, agent.model) == (2, [], other)
