"""A disk that is full, broken, read-only or missing: the program goes on, says so, and saves when it can again."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from roamtui.agent.loop import Agent
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import WarningRaised
from roamtui.conversation.log import ConversationStore
from roamtui.conversation.transcript import StopReason
from tests.agent.asking import ask, expanding, ids, make_agent, model_of, saying
from tests.anomalies.faulty_disk import FaultyDisk


async def _ask_three(agent: Agent) -> list[str]:
    """Ask three questions, and return what was told of saving."""
    (fees,) = ids(agent, "Fees")
    told: list[str] = []
    for number in range(3):
        model_of(agent).add_replies(expanding(fees), saying(f'It costs "2 euros a day" [{fees}].'))
        events = await ask(agent, f"How much? ({number}) {'And why? ' * 600}")
        told += [event.message for event in events if isinstance(event, WarningRaised)]
        assert agent.conversation.state.transcript.exchanges[-1].stopped is StopReason.ANSWERED
    return told


def _check_saved(agent: Agent, path: Path) -> None:
    state = agent.conversation.state
    store = ConversationStore(path)
    agent.conversation.close()
    assert Conversation(state.library, saved_id=state.id, store=store).state == state


async def test_a_full_disk_is_told_once_and_what_was_asked_meanwhile_is_saved_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "conversations"
    store = ConversationStore(path)
    agent = make_agent(store=store)
    disk = FaultyDisk(monkeypatch, tmp_path)
    disk.faults = math.inf
    assert await _ask_three(agent) == [f"Could not save the conversation: No space left on device ({path})."]
    assert store.list() == ()
    disk.faults = 0
    assert await _ask_three(agent) == []
    _check_saved(agent, path)
    assert len(store.load(agent.conversation.state.id).transcript.exchanges) == 6
