"""Sources that were added to a conversation, when it is resumed by a command."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from roamtui.agent.loop import Agent
from roamtui.bootstrap import Bootstrap
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.log import ConversationStore
from roamtui.paths import conversations_path
from tests.cli.conftest import RunCommand
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply


@pytest.fixture
def acts(tmp_path: Path) -> Path:
    (tmp_path / "acts").mkdir()
    (tmp_path / "acts" / "lease.md").write_text("# Lease act\n\n## Notice\n\nThe notice period is 90 days.\n")
    return tmp_path / "acts"


def test_a_conversation_says_which_of_its_sources_is_gone(run: RunCommand, garden: Path, acts: Path) -> None:
    library, loader = Bootstrap().open((str(garden),))
    store = ConversationStore(conversations_path())
    conversation = Conversation(library, store=store, loader=loader, open_source=Bootstrap().open_added)
    agent = Agent(conversation, ScriptedModel([ScriptedReply(text="So.")]))

    async def converse() -> None:
        await conversation.add_source(str(acts))
        await agent.ask("Why?")
        conversation.close()

    asyncio.run(converse())
    again = run("ask", garden, "What is the notice period?", "--continue")
    assert ("90 days" in again.out, "There is no file" in again.err) == (True, False)
    acts.rename(acts.with_name("moved"))
    again = run("ask", garden, "What does a plot cost?", "--continue")
    assert ("24 euros" in again.out, f"There is no file {acts}" in again.err) == (True, True)
