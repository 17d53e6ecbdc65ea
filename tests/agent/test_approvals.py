"""Whether a person agrees that a conversation goes on with another model or server."""

import pytest
from msgspec.structs import replace

from roamtui.agent.agent import Agent
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.log import ConversationStore
from roamtui.conversation.update import AskOptions
from roamtui.errors import UsageError
from roamtui.models.base import Model
from roamtui.models.registry import NoModel
from tests.agent.asking import MANUAL
from tests.conversation.conversations import FakeApprover, make_library
from tests.fakes.scripted_model import ScriptedModel


def _make_model(name: str, server: str | None) -> ScriptedModel:
    model = ScriptedModel(["Not found: no."] * 3, name=name)
    model.facts = replace(model.facts, server=server)
    return model


async def _start(store: ConversationStore, model: Model) -> str:
    """Ask a question, and return the id of its conversation."""
    conversation = Conversation(make_library(MANUAL), store=store)
    await Agent(conversation, model).ask("Why?")
    conversation.close()
    return conversation.state.id


def _resume(store: ConversationStore, saved_id: str, model: Model, *, answer: bool) -> tuple[Agent, FakeApprover]:
    approver = FakeApprover(answer=answer)
    conversation = Conversation(make_library(MANUAL), store=store).resume(saved_id)
    conversation.approver = approver
    return Agent(conversation, model), approver


_BEFORE = ("openai/a", "https://one.example/v1")


@pytest.mark.parametrize(
    ("before", "now", "words"),
    [
        (_BEFORE, _BEFORE, ""),
        (_BEFORE, ("openai/b", _BEFORE[1]), "openai/b at https://one.example/v1."),
        (_BEFORE, ("openai/a", "https://two.example/v1"), "openai/a at https://two.example/v1."),
        (_BEFORE, ("openai/a", ""), "Next: openai/a at its provider."),
        (_BEFORE, ("openai/a", None), "openai/a at an unknown server."),
        (("openai/a", None), _BEFORE, "So far: openai/a at an unknown server."),
        (("openai/a", None), ("openai/a", None), "openai/a at an unknown server."),
        (("openai/a", ""), ("openai/a", ""), ""),
        (_BEFORE, None, ""),
        (None, _BEFORE, "So far: offline."),
        (None, None, ""),
    ],
)
async def test_a_change_of_model_or_server_is_asked_once_and_before_anything_is_sent(
    store: ConversationStore,
    before: tuple[str, str | None] | None,
    now: tuple[str, str | None] | None,
    words: str,
) -> None:
    saved_id = await _start(store, _make_model(*before) if before else NoModel())
    model = _make_model(*now) if now else NoModel()
    agent, approver = _resume(store, saved_id, model, answer=False)
    (earlier,) = agent.conversation.state.exchanges
    if words:
        with pytest.raises(UsageError, match="was not sent"):
            await agent.ask("Why?", AskOptions(replaces=earlier))
        assert agent.conversation.state.exchanges == (earlier,)
        assert not isinstance(model, ScriptedModel) or model.requests == []
        approver.answer = True
    for _ in range(2):
        await agent.ask("And?")
    assert len(agent.conversation.state.exchanges) == 3
    assert [words in approval.detail for approval in approver.asked] == ([True, True] if words else [])
