"""Whatever is added to a library, taken out or resumed, every id and every open section of the rest stays."""

import asyncio
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from roamtui.agent.loop import Agent
from roamtui.bootstrap import Bootstrap
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import Origin
from roamtui.conversation.log import ConversationStore
from roamtui.conversation.update import ExpandSections
from roamtui.document.library import Library
from roamtui.errors import UsageError
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply

_FILES = {
    "a.md": "# Guide\n\nIntro.\n\n## Fees\n\nTwo euros.\n",
    "other/a.md": "# Guide\n\nIntro.\n\n## Fees\n\nThree euros.\n",
    "plain.txt": "No headings here.\n\nOnly text.\n",
    "acts/one.md": "# One\n\n## Fees\n\nTwo euros.\n",
    "acts/deep/two.md": "# Two\n\nWords.\n",
    "more/acts/one.md": "# One\n\n## Fees\n\nFour euros.\n",
}
_SOURCES = ("a.md", "other/a.md", "plain.txt", "acts", "more/acts")
_changes = st.lists(
    st.tuples(st.sampled_from(["add", "resume", "open", "new", "ask"]), st.integers(0, 4)),
    max_size=10,
)


def _list_ids(library: Library) -> dict[str, list[tuple[str, str]]]:
    """List id and own text of all sections, by the source that they belong to."""
    ids: dict[str, list[tuple[str, str]]] = {}
    listed = library.root.columns.has_files
    for node_id in library.walk():
        source = library.source_of(node_id)
        if not listed or library.node(node_id).document is not library.root:
            ids.setdefault("" if source is None else source.key, []).append(
                (node_id, library.text_at(library.node(node_id).own_span))
            )
    return ids


@given(st.sampled_from(_SOURCES), _changes)
def test_ids_and_open_sections_stay_whatever_is_added_taken_out_or_resumed(
    first: str, changes: list[tuple[str, int]]
) -> None:
    with tempfile.TemporaryDirectory() as name:
        asyncio.run(_play(Path(name), first, changes))


async def _play(folder: Path, first: str, changes: list[tuple[str, int]]) -> None:
    for path, text in _FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    store = ConversationStore(folder / "conversations")
    library, loader = Bootstrap().open([str(folder / first)], load_all=True)
    plain_ids = _list_ids(library)[""]
    conversation = Conversation(library, store=store, source_loader=loader, open_source=Bootstrap().open_added)
    model = ScriptedModel([ScriptedReply(text="So.")] * 20)
    await Agent(conversation, model).ask("Why?")
    for change, number in changes:
        before_ids, opened = _list_ids(conversation.state.library), set(conversation.state.open_sections)
        try:
            match change:
                case "add":
                    await conversation.add_source(str(folder / _SOURCES[number]))
                case "open":
                    ids = [node_id for found in before_ids.values() for node_id, _ in found]
                    chosen = (ids[number % len(ids)],)
                    await conversation.execute(ExpandSections(section_ids=chosen, origin=Origin.PERSON))
                    opened |= set(chosen)
                case "new" | "ask":
                    if change == "new":
                        await conversation.start_new()
                    await Agent(conversation, model).ask("Why?")
                    opened = set(conversation.state.open_sections)
                case _:
                    plain, plain_loader = Bootstrap().open([str(folder / first)], load_all=True)
                    state = conversation.state
                    conversation.close()
                    conversation = Conversation(
                        plain,
                        saved_id=state.id,
                        store=store,
                        source_loader=plain_loader,
                        open_source=Bootstrap().open_added,
                    )
                    assert conversation.state.library.sources == state.library.sources
        except UsageError:
            assert change == "add"
        library = conversation.state.library
        after_ids = _list_ids(library)
        for source_key in before_ids.keys() & after_ids.keys():
            assert after_ids[source_key] == before_ids[source_key]
        assert after_ids.get("", plain_ids) == plain_ids
        assert set(conversation.state.open_sections) == {node_id for node_id in opened if node_id in library}
        assert len(set(library.walk())) == len(library)
        documents = (library.root, *library.documents)
        assert all(document.columns.starts[-1] == len(document.text) for document in documents)
        assert conversation.state.sources == library.sources
