"""A question can be interrupted anywhere: the transcript stays whole, and the next question works."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path
from typing import cast

import pytest

from roamtui.agent.loop import Agent
from roamtui.conversation.events import AnswerStreamed, ConversationEvent, QuestionAnswered, StepStarted
from roamtui.conversation.session import Session
from roamtui.conversation.store import ConversationStore
from roamtui.conversation.transcript import StopReason
from tests.agent.asking import FakeSearcher, ask, expanding, ids, make_agent, model_of, saying
from tests.anomalies.waits import cancel_at_wait
from tests.conversation.conversations import check_messages
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply

_MARK = "[interrupted by the person]"


@pytest.fixture
def store(tmp_path: Path) -> ConversationStore:
    return ConversationStore(tmp_path / "conversations")


def _make(store: ConversationStore | None = None) -> Agent:
    """Return an agent whose model searches, opens sections twice, and answers in several pieces."""
    agent = make_agent(store=store, searcher=FakeSearcher())
    fees, lost, hours = ids(agent, "Fees", "Lost books", "Hours")
    both = ScriptedReply(
        text="I look.",
        calls=(("expand_sections", {"section_ids": [fees, hours]}), ("search_sections", {"query": "fees"})),
    )
    model_of(agent).add_replies(
        both, expanding(lost), ScriptedReply(text=f'It costs "2 euros a day" [{fees}].', chunk_size=4)
    )
    return agent


def _open(agent: Agent, question: str = "How much?") -> AsyncGenerator[ConversationEvent, None]:
    return cast("AsyncGenerator[ConversationEvent, None]", agent.ask(question))


async def _consume(agent: Agent, seen: list[ConversationEvent]) -> None:
    async with aclosing(_open(agent)) as events:
        async for event in events:
            seen.append(event)


def _last_text(seen: list[ConversationEvent]) -> str:
    """Return what was streamed since the last request."""
    text = ""
    for event in seen:
        if isinstance(event, StepStarted):
            text = ""
        if isinstance(event, AnswerStreamed):
            text += event.text
    return text


async def _check(agent: Agent, seen: list[ConversationEvent], store: ConversationStore | None = None) -> None:
    """Check that everything is whole after an interruption, and goes on, here and after a restart."""
    state = agent.session.state
    assert not state.is_asking
    sent = tuple(state.transcript.iter_messages())
    check_messages(sent)
    if state.transcript.exchanges:
        exchange = state.transcript.exchanges[-1]
        if exchange.stopped is StopReason.CANCELLED:
            assert sent[-1].text.endswith(_MARK)
            if not exchange.steps or exchange.answer:
                assert _last_text(seen).startswith(exchange.answer) or exchange.answer == "I look."
        else:
            assert exchange.stopped is StopReason.ANSWERED
    sessions = [agent.session]
    if store is not None and state.transcript.exchanges:
        sessions.append(Session.resume(state.library, state.id, store=store))
        assert sessions[1].state.open_ids == state.open_ids
        assert sessions[1].state.transcript.exchanges == state.transcript.exchanges
    for session in sessions:
        again = Agent(session, ScriptedModel([expanding(*ids(agent, "Fees", "Lost books")), saying("Not found: no.")]))
        await ask(again, "And now?")
        text = "".join(message.text for message in model_of(again).requests[-1].messages[1:])
        for words in ("Late returns cost 2 euros a day.\n", "\nplus a fee of 12 euros."):
            assert text.count(words) == 1, "the text is there, once"


async def test_cancelled_at_any_wait_with_a_store(store: ConversationStore) -> None:
    number = 0
    is_cancelled = True
    while is_cancelled:
        number += 1
        agent, seen = _make(store), list[ConversationEvent]()
        is_cancelled = await cancel_at_wait(_consume(agent, seen), number)
        await _check(agent, seen, store)
    assert number > 15


async def test_closed_at_any_event(store: ConversationStore) -> None:
    count = len([event async for event in _make().ask("How much?")])
    for number in range(1, count + 1):
        agent, seen = _make(store), list[ConversationEvent]()
        events = _open(agent)
        async for event in events:
            seen.append(event)
            if len(seen) == number:
                break
        await events.aclose()
        stopped = agent.session.state.transcript.exchanges[-1].stopped
        assert stopped is (StopReason.CANCELLED if number < count else StopReason.ANSWERED)
        await _check(agent, seen, store)


async def test_a_model_that_hangs_can_be_interrupted() -> None:
    gate = asyncio.Event()
    agent = make_agent([ScriptedReply(text="never", gate=gate), saying("Not found: no.")])
    started = asyncio.Event()

    async def consume() -> None:
        async for event in agent.ask("How much?"):
            if isinstance(event, StepStarted):
                started.set()

    task = asyncio.create_task(consume())
    await started.wait()
    task.cancel()
    await asyncio.wait({task})
    assert task.cancelled()
    await _check(agent, [])


async def test_a_question_that_was_dropped_does_not_end_the_next_one() -> None:
    """Nobody closes the first stream, so that it is closed some time during the second question."""
    agent = _make()
    dropped = _open(agent, "First?")
    async for event in dropped:
        if isinstance(event, AnswerStreamed):
            break
    model_of(agent)._replies[1:] = [ScriptedReply(text="Not found: it is not there.", chunk_size=3)]
    seen: list[ConversationEvent] = []
    async for event in agent.ask("Second?"):
        seen.append(event)
        assert agent.session.state.is_asking is not isinstance(event, QuestionAnswered)
        if len(seen) == 4:
            del dropped
            gc.collect()
    first, second = agent.session.state.transcript.exchanges
    assert (first.question, first.stopped) == ("First?", StopReason.CANCELLED)
    assert (second.question, second.stopped) == ("Second?", StopReason.NOT_FOUND)
    check_messages(tuple(agent.session.state.transcript.iter_messages()))
