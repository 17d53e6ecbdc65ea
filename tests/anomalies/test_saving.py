"""The disk may fail, and the program may end, at any write."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from typing_extensions import override

from roamtui.agent.loop import Agent
from roamtui.conversation.commands import CloseSections, ExpandSections, Origin, PinSections
from roamtui.conversation.events import QuestionAnswered
from roamtui.conversation.log import ConversationLog
from roamtui.conversation.session import Session
from roamtui.conversation.state import ConversationState
from roamtui.conversation.store import ConversationStore
from roamtui.conversation.transcript import StopReason
from tests.agent.asking import ask, expanding, ids, make_agent, model_of, saying
from tests.conversation.conversations import PROMPT_CONTEXT, locked
from tests.fakes.scripted_model import ScriptedModel


@pytest.fixture(autouse=True)
def _short_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("roamtui.conversation.log._BUSY_SECONDS", 0.02)


class _CopyingStore(ConversationStore):
    """A store that keeps a copy of its file after each write, as if the program had ended there."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.copies: list[Path] = []
        self.states: list[ConversationState] = []

    @override
    def write(self, log: ConversationLog) -> None:
        super().write(log)
        self.copies.append(self._folder.with_name(f"{len(self.copies)}"))
        shutil.copytree(self._folder, self.copies[-1])
        self.states.append(self.load(log.conversation_id))


@pytest.fixture
def store(tmp_path: Path) -> _CopyingStore:
    return _CopyingStore(tmp_path / "conversations")


async def _talk(agent: Agent) -> None:
    """Ask twice, with everything that a person may do in between and meanwhile."""
    fees, lost, hours = ids(agent, "Fees", "Lost books", "Hours")

    async def do(command: ExpandSections | CloseSections | PinSections) -> None:
        async for _ in agent.session.dispatch(command):
            pass

    cited = saying(f'It costs "2 euros a day" [{fees}].')
    model_of(agent).add_replies(expanding(fees, lost), cited, expanding(hours), cited)
    await ask(agent)
    await do(ExpandSections(section_ids=(hours,), origin=Origin.PERSON))
    await do(PinSections(section_ids=(fees,), is_pinned=True))
    async for event in agent.ask("And now?"):
        if type(event).__name__ == "SectionsExpanded":
            await do(CloseSections(section_ids=(lost,), origin=Origin.PERSON))


async def test_ended_at_any_write_a_conversation_goes_on(store: _CopyingStore) -> None:
    agent = make_agent(store=store)
    await _talk(agent)
    assert len(store.copies) > 10
    for copy, state in zip(store.copies, store.states, strict=True):
        again = ConversationStore(copy)
        session = Session.resume(agent.session.state.library, state.id, store=again)
        resumed = Agent(session, ScriptedModel([saying("Not found: no.")]))
        assert [e.question for e in session.state.transcript.exchanges] == [
            exchange.question for exchange in state.transcript.exchanges
        ], "nothing that a person asked is lost"
        assert [e.answer for e in session.state.transcript.exchanges] == [
            exchange.answer for exchange in state.transcript.exchanges
        ], "nothing that was answered is lost"
        await ask(resumed, "Go on")
        text = "".join(message.text for message in model_of(resumed).requests[0].messages[1:])
        for section_id, words in zip(
            ids(agent, "Fees", "Lost books"),
            ("Late returns cost 2 euros a day.\n", "\nplus a fee of 12 euros."),
            strict=True,
        ):
            found = session.state.get_open(section_id)
            assert text.count(words) == (found is not None), "what is open is there, once; what is not is not"


async def test_cancelling_waits_for_no_locked_log_and_is_on_disk_soon_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("roamtui.conversation.log._BUSY_SECONDS", 30)
    path = tmp_path / "conversations"
    store = ConversationStore(path)
    session = make_agent(store=store).session
    await session.begin_question("Why?", PROMPT_CONTEXT)
    with locked(path / ".lock"):
        session.abandon_question(QuestionAnswered(answer="Half", stopped=StopReason.CANCELLED))
        assert not session.state.is_asking
        assert session.save_failure == "", "it did not wait until that failed"
    session.flush()  # comes after the write that was left behind
    assert store.load(session.state.id).transcript.exchanges[0].answer == "Half"
