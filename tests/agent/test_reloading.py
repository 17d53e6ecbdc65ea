"""Questions after sources were added, and after a file in the search results was changed."""

from pathlib import Path

import pytest

from roamtui.agent.agent import Agent
from roamtui.agent.options import AgentOptions
from roamtui.bootstrap import Bootstrap
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.log import ConversationStore
from roamtui.search.searcher import Searcher
from tests.fakes.scripted_model import Reply, ScriptedModel, ScriptedReply

_LONG = "\n\n".join(f"Filler sentence number {number} says little." for number in range(1_000))
_MANUAL = f"# Manual\n\n## Lending\n\nBooks go out for four weeks.\n\n## History\n\n{_LONG}\n"
_TARIFF = f"# Tariff\n\n## Zeppelin rides\n\nA ride costs 90 euros.\n\n## Notes\n\n{_LONG}\n"


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    (tmp_path / "manual.md").write_text(_MANUAL)
    (tmp_path / "tariff.md").write_text(_TARIFF)
    (tmp_path / "acts").mkdir()
    (tmp_path / "acts" / "one.md").write_text("# First act\n\nMurder is forbidden.\n")
    return tmp_path


def make(folder: Path, *replies: Reply) -> tuple[Agent, ScriptedModel]:
    library, loader = Bootstrap().open([str(folder / "manual.md")])
    store = ConversationStore(folder / "conversations")
    conversation = Conversation(library, store=store, source_loader=loader, open_source=Bootstrap().open_added)
    model = ScriptedModel([*replies] or [ScriptedReply(text="So.")] * 3)
    options = AgentOptions(sends_hits=True)
    return Agent(conversation, model, Searcher(library), options), model


def read_prompt(model: ScriptedModel) -> str:
    return "\n".join(message.text for message in model.requests[-1].messages)


def list_tools(model: ScriptedModel) -> set[str]:
    return {tool.name for tool in model.requests[-1].tools}


async def test_the_next_question_sees_the_outline_the_hits_and_the_tools_of_all_sources(sources: Path) -> None:
    agent, model = make(sources)
    await agent.ask("What does a Zeppelin ride cost?")
    assert "Zeppelin rides" not in read_prompt(model)
    assert "list_documents" not in list_tools(model)

    await agent.conversation.add_source(str(sources / "tariff.md"))
    await agent.ask("What does a Zeppelin ride cost?")

    assert "tariff.md" in read_prompt(model)
    assert "A ride costs 90 euros." in read_prompt(model)
    assert "list_documents" in list_tools(model)
    (sources / "new").mkdir()
    (sources / "new" / "tariff.md").write_text("# Tariff\n")
    added = await agent.conversation.add_source(str(sources / "new" / "tariff.md"))
    assert added.key == "tariff.md (2)"

    await agent.conversation.remove_source(added)
    await agent.conversation.remove_source(agent.conversation.state.library.sources[-1])
    await agent.ask("What does a Zeppelin ride cost?")
    assert agent.conversation.state.added_sources == ()
    assert "Zeppelin rides" not in model.requests[-1].messages[-1].text
