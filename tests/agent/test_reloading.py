"""Questions after a file in the search results was deleted, edited or renamed."""

from collections.abc import Callable
from pathlib import Path

import pytest

from roamtui.agent.loop import Agent, AgentOptions
from roamtui.bootstrap import Bootstrap
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import StopReason
from roamtui.conversation.log import ConversationStore
from roamtui.document.library import Library
from roamtui.document.loader import load_files, open_sources
from roamtui.quotes.verdicts import QuoteChecker
from roamtui.search.keyword import KeywordSearcher
from tests.agent.asking import answer
from tests.conversation.conversations import find
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply

HERONS = "# Herons\n\nHerons wait for fish in shallow water.\n"
OTHERS = "# Others\n\n" + "Nothing is said of them in this place. " * 900
QUESTION = "What do herons wait for?"
QUOTE = "wait for fish in shallow water"
NOT_FOUND = ScriptedReply(text="Not found: no.")
MADE_UP = ScriptedReply(text='They "breed in a nest of old umbrellas".')


def _open(folder: Path) -> Library:
    library, loader = open_sources([str(folder)])
    assert loader is not None
    return load_files(library, loader)


def _make_agent(conversation: Conversation, *replies: ScriptedReply) -> Agent:
    options = AgentOptions(sends_hits=True)
    return Agent(conversation, ScriptedModel(replies), KeywordSearcher(conversation.state.library), options)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "docs"
    root.mkdir()
    (root / "a.md").write_text(OTHERS, "utf-8")
    (root / "b.md").write_text(HERONS, "utf-8")
    return root


def _edit(file: Path) -> None:
    file.write_text("# Herons\n\nOwls turn their heads in the deep wood.\n", "utf-8")


@pytest.mark.parametrize("change", [Path.unlink, _edit, lambda file: file.rename(file.with_name("c.md"))])
@pytest.mark.parametrize("is_resumed", [False, True])
async def test_invented_quotes_do_no_harm_after_a_file_has_changed(
    change: Callable[[Path], None],
    *,
    is_resumed: bool,
    folder: Path,
    tmp_path: Path,
) -> None:
    store = ConversationStore(tmp_path / "conversations")
    conversation = Conversation(_open(folder), store=store)
    agent = _make_agent(conversation, NOT_FOUND, MADE_UP, MADE_UP)
    await answer(agent, QUESTION)
    herons = find(conversation.state, "Herons")
    assert QuoteChecker(conversation.state).cite(f'They "{QUOTE}" [{herons}].')[0].is_verified, "search showed it"

    change(folder / "b.md")
    if is_resumed:
        conversation.close()
        conversation = Conversation(_open(folder), saved_id=conversation.state.id, store=store)
        agent = _make_agent(conversation, MADE_UP, MADE_UP)
    else:
        changed = frozenset({"b.md", "c.md"})
        library = Bootstrap().reload(conversation.state.library, changed, sources=[str(folder)])
        await conversation.loader.reload(library)
    for quote in (QUOTE, "turn their heads in the deep wood"):
        [citation] = QuoteChecker(conversation.state).cite(f'They "{quote}" [{herons}].')
        assert not citation.is_verified

    final = await answer(agent, "What is said of umbrellas?")
    assert (final.stopped, final.error) == (StopReason.ANSWERED, "")
    assert all(message.text.find("[interrupted") < 0 for message in conversation.state.iter_messages())
