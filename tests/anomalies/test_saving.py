"""The program may end after any write: everything that was shown is there, and the conversation goes on."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from roamtui.agent.loop import Agent
from roamtui.conversation.commands import CloseSections, Command, ExpandSections, Origin, PinSections
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import ConversationEvent, QuestionAnswered, QuestionAsked
from roamtui.conversation.log import ConversationStore
from tests.agent.asking import ask, expanding, ids, make_agent, model_of, saying
from tests.fakes.scripted_model import ScriptedModel


async def _talk(agent: Agent) -> None:
    """Ask twice, with everything that a person may do between the questions and meanwhile."""
    fees, lost, hours = ids(agent, "Fees", "Lost books", "Hours")

    async def do(command: Command) -> None:
        await agent.conversation.dispatch(lambda _: command)

    cited = saying(f'It costs "2 euros a day" [{fees}].')
    model_of(agent).add_replies(expanding(fees, lost), cited, expanding(hours), cited)
    await ask(agent)
    await do(ExpandSections(section_ids=(hours,), origin=Origin.PERSON))
    await do(PinSections(section_ids=(fees,), is_pinned=True))
    await do(CloseSections(section_ids=(lost,), origin=Origin.PERSON))
    await ask(agent, "And now?")


async def test_ended_after_any_write_a_conversation_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "conversations"
    agent = make_agent(store=ConversationStore(folder))
    shown: list[ConversationEvent] = []
    copies: list[tuple[Path, list[ConversationEvent]]] = []

    def copy(_file: int) -> None:
        copies.append((tmp_path / f"{len(copies)}", [*shown]))
        shutil.copytree(folder, copies[-1][0])

    monkeypatch.setattr(os, "fsync", copy)
    agent.conversation.subscribe(shown.append)
    await _talk(agent)
    monkeypatch.undo()
    assert len(copies) > 8
    for place, seen in copies:
        conversation = Conversation.resume(
            agent.conversation.state.library, agent.conversation.state.id, store=ConversationStore(place)
        )
        exchanges = conversation.state.transcript.exchanges
        asked = [event.question for event in seen if isinstance(event, QuestionAsked)]
        answered = [event.answer for event in seen if isinstance(event, QuestionAnswered)]
        assert [exchange.question for exchange in exchanges][: len(asked)] == asked
        assert [exchange.answer for exchange in exchanges][: len(answered)] == answered
        resumed = Agent(conversation, ScriptedModel([saying("Not found: no.")]))
        await ask(resumed, "Go on")
        text = "".join(message.text for message in model_of(resumed).requests[0].messages[1:])
        for section_id, words in zip(
            ids(agent, "Fees", "Lost books"),
            ("Late returns cost 2 euros a day.\n", "\nplus a fee of 12 euros."),
            strict=True,
        ):
            found = conversation.state.get_open(section_id)
            assert text.count(words) == (found is not None), "what is open is there, once; what is not is not"
