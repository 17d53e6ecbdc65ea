"""A question can be cancelled anywhere: the partial answer stays, and the next question works."""

from __future__ import annotations

import asyncio
from itertools import count
from pathlib import Path

from roamtui.agent.loop import Agent
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import AnswerStreamed, ConversationEvent, QuestionAnswered, StepStarted
from roamtui.conversation.log import ConversationStore
from roamtui.conversation.state import fold_events
from roamtui.conversation.transcript import StopReason
from tests.agent.asking import FakeSearcher, ask, expanding, ids, make_agent, model_of, saying
from tests.anomalies.waits import cancel_at_wait
from tests.conversation.conversations import check_messages
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply

_MARK = "[interrupted by the person]"


def _make(store: ConversationStore) -> tuple[Agent, list[ConversationEvent]]:
    """Return an agent whose model searches, opens sections twice, and answers in several pieces, and what it shows."""
    agent = make_agent(store=store, searcher=FakeSearcher())
    fees, lost, hours = ids(agent, "Fees", "Lost books", "Hours")
    both = ScriptedReply(
        text="I look.",
        calls=(("expand_sections", {"section_ids": [fees, hours]}), ("search_sections", {"query": "fees"})),
    )
    model_of(agent).add_replies(
        both, expanding(lost), ScriptedReply(text=f'It costs "2 euros a day" [{fees}].', chunk_size=4)
    )
    shown: list[ConversationEvent] = []
    agent.conversation.subscribe(shown.append)
    return agent, shown


def _last_text(seen: list[ConversationEvent]) -> str:
    """Return what was streamed since the last request."""
    text = ""
    for event in seen:
        if isinstance(event, StepStarted):
            text = ""
        if isinstance(event, AnswerStreamed):
            text += event.text
    return text


async def _check(agent: Agent, shown: list[ConversationEvent], store: ConversationStore) -> None:
    """Check that the conversation is whole after a cancellation, and goes on, here and after a restart."""
    conversation, state = agent.conversation, agent.conversation.state
    assert not state.is_asking
    sent = tuple(state.transcript.iter_messages())
    check_messages(sent)
    if state.transcript.exchanges:
        if not isinstance(shown[-1], QuestionAnswered):  # cancelled while its end was written
            has_ended = asyncio.Event()
            conversation.subscribe(lambda event: has_ended.set() if isinstance(event, QuestionAnswered) else None)
            await asyncio.wait_for(has_ended.wait(), 60)
        assert fold_events(state.library, store.read(state.id)) == state, "what was shown is on disk"
        (exchange,) = state.transcript.exchanges
        ending = shown[-1]
        assert isinstance(ending, QuestionAnswered)
        assert (ending.stopped, ending.answer) == (exchange.stopped, exchange.answer)
        if exchange.stopped is StopReason.CANCELLED:
            assert sent[-1].text.endswith(_MARK)
            assert _last_text(shown) in (exchange.answer, *(step.text for step in exchange.steps))
        else:
            assert exchange.stopped is StopReason.ANSWERED
    conversation.close()
    conversations = [conversation]
    if state.transcript.exchanges:
        conversations.append(Conversation(state.library, saved_id=state.id, store=store))
    for number, one in enumerate(conversations):
        again = Agent(one, ScriptedModel([expanding(*ids(agent, "Fees", "Lost books")), saying("Not found: no.")]))
        await ask(again, f"And now? ({number})")
        one.close()
        text = "".join(message.text for message in model_of(again).requests[-1].messages[1:])
        for words in ("Late returns cost 2 euros a day.\n", "\nplus a fee of 12 euros."):
            assert text.count(words) == 1, "the text is there, once"


async def test_a_question_that_is_cancelled_at_any_wait_keeps_its_partial_answer(tmp_path: Path) -> None:
    for number in count(1):
        store = ConversationStore(tmp_path / f"{number}")
        agent, shown = _make(store)
        is_cancelled = await cancel_at_wait(agent.ask("How much?"), number)
        await _check(agent, shown, store)
        if not is_cancelled:
            break
    assert number > 15
