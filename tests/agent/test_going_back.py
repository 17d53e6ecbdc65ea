"""A question can be asked again, asked otherwise, or left for another way from there."""

from __future__ import annotations

from pathlib import Path

from roamtui.agent.loop import Agent
from roamtui.conversation.session import Session
from roamtui.conversation.store import Store
from tests.agent.asking import Desk, make_desk
from tests.conversation.conversations import check_messages
from tests.fakes.scripted_model import ScriptedReply


async def talk(desk: Desk) -> None:
    await desk.ask("Herons?", desk.opening("Herons"), desk.quoting("Herons", "forty grams"))
    await desk.ask("Owls?", desk.opening("Owls"), desk.quoting("Owls", "270 degrees"))


async def test_rewinding_restores_what_was_open_and_the_very_transcript(tmp_path: Path) -> None:
    store = Store(tmp_path / "c")
    desk = make_desk(store=store)
    await talk(desk)
    sent = desk.model.requests[2].messages
    await desk.agent.session.rewind(2)
    assert desk.agent.session.state.open_ids == (desk.ids["Herons"],)
    await desk.ask("Owls?", desk.opening("Owls"), desk.quoting("Owls", "270 degrees"))
    assert desk.model.requests[4].messages == sent
    saved = store.load(desk.agent.session.state.id)
    assert [exchange.question for exchange in saved.transcript.exchanges] == ["Herons?", "Owls?"]


async def test_a_fork_leaves_the_conversation_as_it_was(tmp_path: Path) -> None:
    store = Store(tmp_path / "c")
    desk = make_desk(store=store)
    await talk(desk)
    before = desk.agent.session.state
    other = desk.agent.session.fork(2)
    desk.agent = Agent(other, desk.model)
    await desk.ask("Swifts?", desk.opening("Swifts"), desk.quoting("Swifts", "while it flies"))
    check_messages(desk.sent)
    assert "A heron eats forty grams" in desk.sent[1].text
    assert store.load(before.id).transcript == before.transcript
    questions = [exchange.question for exchange in store.load(other.state.id).transcript.exchanges]
    assert questions == ["Herons?", "Swifts?"]
    assert len(store.list()) == 2


async def test_a_rewound_conversation_is_resumed_as_such(tmp_path: Path) -> None:
    store = Store(tmp_path / "c")
    desk = make_desk(store=store)
    await talk(desk)
    await desk.agent.session.rewind(2)
    again = Session.resume(desk.agent.session.state.library, desk.agent.session.state.id, store=store)
    assert again.state.transcript.exchanges == desk.agent.session.state.transcript.exchanges
    assert again.state.open_ids == (desk.ids["Herons"],)


async def test_a_question_within_a_section_says_so_to_the_model() -> None:
    desk = make_desk()
    await desk.ask("How much?", ScriptedReply(text="Not found: no."), within=desk.ids["Herons"])
    assert f"(The question is about [{desk.ids['Herons']}] Birds > Herons and what lies below it" in desk.sent[1].text
