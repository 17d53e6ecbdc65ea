"""A conversation about a notebook: changes made in the app are in its file, and changes of the file are seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from roamtui.agent.controller import ConversationController
from roamtui.agent.loop import Agent
from roamtui.conversation.commands import ExpandSections, Origin
from roamtui.conversation.notebooks import NotebookStore
from roamtui.conversation.session import Session
from roamtui.conversation.store import ConversationStore
from roamtui.document.library_source import LibrarySource
from roamtui.errors import StoreError, UsageError
from roamtui.library_loader import open_added_source, open_notebook, reload_sources, save_notebook_sources
from roamtui.paths import notebooks_path
from tests.conversation.conversations import find
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("one", "two", "three"):
        (tmp_path / f"{name}.md").write_text(f"# {name.title()}\n\n## About {name}\n\nWords of {name}.\n")
    return tmp_path


@pytest.fixture
def notebooks(folder: Path) -> NotebookStore:
    store = NotebookStore(notebooks_path())
    store.change("law", lambda _: [make_source(folder / "one.md"), make_source(folder / "two.md")])
    return store


def make_source(path: Path) -> LibrarySource:
    return LibrarySource(name=str(path), key=path.name)


def control(folder: Path, conversation_id: str | None = None) -> ConversationController:
    library, loader = open_notebook(("@law",))
    store = ConversationStore(folder / "conversations")
    if conversation_id is None:
        session = Session.start(library, store=store, loader=loader, open_source=open_added_source)
    else:
        session = Session.resume(library, conversation_id, store=store, loader=loader, open_source=open_added_source)
    session.save_sources = save_notebook_sources
    return ConversationController(Agent(session, ScriptedModel([ScriptedReply(text="So.")] * 3)))


async def test_what_is_changed_in_the_app_is_in_the_file(folder: Path, notebooks: NotebookStore) -> None:
    controller = control(folder)
    await controller.add_source(str(folder / "three.md"))
    await controller.mute_source("one.md", is_muted=True)
    await controller.remove_source("two.md")
    assert [(each.key, each.is_muted) for each in notebooks.read("law").sources] == [
        ("one.md", True),
        ("three.md", False),
    ]
    with pytest.raises(UsageError, match="is a notebook, which cannot be added"):
        await controller.add_source("@law")


async def test_what_is_changed_in_the_file_is_seen_after_a_reload_and_when_resumed(
    folder: Path, notebooks: NotebookStore
) -> None:
    controller = control(folder)
    about = find(controller.state, "About two")
    await controller.dispatch(lambda _: ExpandSections(section_ids=(about,), origin=Origin.PERSON))
    await controller.ask("Why?")
    notebooks.change("law", lambda now: [make_source(folder / "three.md"), *now])

    await controller.reload(reload_sources(controller.state.library, None))
    assert [each.key for each in controller.state.sources] == ["three.md", "one.md", "two.md"]
    assert controller.state.open_ids == (about,)

    notebooks.change("law", lambda now: now[1:])
    resumed = control(folder, controller.state.id)
    assert [each.key for each in resumed.state.sources] == ["one.md", "two.md"]
    assert resumed.state.sources == resumed.state.library.sources
    assert resumed.state.open_ids == (about,)


async def test_if_the_file_cannot_be_changed_nothing_changes(folder: Path, notebooks: NotebookStore) -> None:
    controller = control(folder)
    before = controller.state
    notebooks.get_path("law").write_text("[[sources")
    with pytest.raises(StoreError, match="is not valid TOML"):
        await controller.add_source(str(folder / "three.md"))
    with pytest.raises(StoreError, match="is not valid TOML"):
        await controller.mute_source("one.md", is_muted=True)
    assert controller.state is before
    assert notebooks.get_path("law").read_text() == "[[sources"


async def test_a_notebook_that_was_emptied_says_what_to_do(folder: Path, notebooks: NotebookStore) -> None:
    notebooks.change("law", lambda _: [])
    with pytest.raises(UsageError, match="has no sources"):
        control(folder)
