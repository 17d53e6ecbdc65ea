"""`roamtui notebook`, `roamtui notebooks`, and `@NAME` wherever a source stands."""

from __future__ import annotations

import asyncio
import io
import sys
from pathlib import Path

import pytest
from typing_extensions import override

from roamtui.agent.controller import ConversationController
from roamtui.agent.loop import Agent
from roamtui.agent.recheck import cite_span
from roamtui.conversation.events import ConversationEvent, SaveWarningRaised
from roamtui.conversation.notebooks import NotebookStore
from roamtui.conversation.notes import NoteStore, make_note
from roamtui.conversation.session import Session
from roamtui.conversation.store import ConversationStore
from roamtui.errors import UsageError
from roamtui.headless.notebooks import ask_for_missing_sources
from roamtui.library_loader import open_added_source, open_lazily, open_library, save_notebook_sources
from roamtui.models.offline import OfflineModel
from roamtui.paths import conversations_path, notebooks_path, reading_positions_path
from roamtui.search.keyword import KeywordSearcher
from tests.cli.conftest import RunCommand
from tests.conversation.conversations import find
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply


@pytest.fixture
def acts(tmp_path: Path) -> Path:
    (tmp_path / "acts").mkdir()
    (tmp_path / "acts" / "lease.md").write_text("# Lease act\n\n## Notice\n\nThe notice period is 90 days.\n")
    return tmp_path / "acts"


def test_a_notebook_stands_for_its_sources_from_anywhere(
    run: RunCommand, garden: Path, acts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(garden.parent)
    made = run("notebook", "law", garden.name, "--no-open")
    assert (made.code, made.err.startswith('roamtui: Made the notebook "law" of 1 source')) == (0, True)
    assert run("notebook", "law", acts, garden, "--no-open").err == 'roamtui: Added to the notebook "law": acts.\n'
    assert run("notebook", "@law", acts, "--no-open").err == ""
    (tmp_path / "else").mkdir()
    monkeypatch.chdir(tmp_path / "else")

    outline = run("outline", "@law", "--json").json
    assert (outline["source"], outline["title"]) == ("@law", "law")
    assert [each["title"] for each in outline["sections"] if each["parent"] is None] == [garden.name, "acts"]
    asked = run("ask", "@law", "What is the notice period?", "--json").json
    assert {citation["doc"] for citation in asked["citations"]} == {"acts/lease.md"}
    assert run("search", "@law", "notice period", "--json").json["hits"][0]["doc"] == "acts/lease.md"
    assert run("check", "@law").code in (0, 1)
    table = run("table", "@law", "-q", "What is the notice period?").json
    assert [row["title"] for row in table["rows"]] == [garden.name, "lease.md"]
    assert run("notebooks").out == f"law  (2 sources: {garden.name}, acts)\n"

    (tmp_path / "else" / "@law").write_text("# A file\n")
    assert run("outline", "./@law").out.startswith("Outline of A file")
    assert run("outline", "@law").out.startswith("Outline of law")
    both = run("outline", "@law", str(garden))
    assert (both.code, "roamtui notebook law SOURCE..." in both.err) == (2, True)


def test_conversations_notes_and_places_belong_to_a_notebook_and_keep_its_new_name(
    run: RunCommand, garden: Path, acts: Path
) -> None:
    run("notebook", "law", garden, acts, "--no-open")
    run("ask", "@law", "What is the notice period?")
    library = open_library(("@law",))
    notes = NoteStore(ConversationStore(conversations_path()).notes_folder, "@law")
    notes.save(make_note(library, cite_span(find(library, "Notice"), None, library), "Short."))
    reading_positions_path().write_text('{"@law": ["12345678", 0, ""]}')

    assert run("notebooks", "rename", "law", "acts").code == 0

    assert "@acts" in run("conversations").out
    assert "@law" not in run("conversations").out
    assert "Short." in run("notes", "@acts").out
    assert run("notes", "@law").code == 2
    assert reading_positions_path().read_text() == '{"@acts": ["12345678", 0, ""]}'
    again = run("ask", "@acts", "And for tools?", "--continue", "--json").json
    assert again["conversation"] in run("conversations").out
    assert run("recheck", "--all").code == 0

    deleted = run("notebooks", "delete", "acts")
    assert "Its sources are untouched. Its 1 conversation stays" in deleted.err
    assert garden.exists()
    assert "@acts" in run("conversations").out
    assert run("notebooks").out.startswith("No notebooks yet")


def test_a_source_that_is_gone_is_told_and_the_rest_opens(run: RunCommand, garden: Path, acts: Path) -> None:
    run("notebook", "law", garden, acts, "--no-open")
    ids = [each["id"] for each in run("outline", "@law", "--json").json["sections"] if each["doc"] == "acts/lease.md"]
    moved = acts.rename(acts.with_name("moved"))

    outline = run("outline", "@law")
    assert (outline.code, f"There is no file {acts}" in outline.err) == (0, True)
    assert "Plots" in outline.out

    store = NotebookStore(notebooks_path())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", Terminal(f"{moved}-wrong\n"))
        patch.setattr(sys, "stdout", Terminal())
        ask_for_missing_sources(store, "law")
        assert store.read("law").sources[1].name == str(acts)
        patch.setattr(sys, "stdin", Terminal(f"{moved}\n"))
        ask_for_missing_sources(store, "law")
    assert store.read("law").sources[1].name == str(moved)
    sections = run("outline", "@law", "--json").json["sections"]
    assert [each["id"] for each in sections if each["doc"] == "acts/lease.md"] == ids


def test_a_conversation_says_which_of_its_sources_is_gone(run: RunCommand, garden: Path, acts: Path) -> None:
    library, loader = open_lazily((str(garden),))
    store = ConversationStore(conversations_path())
    session = Session.start(library, store=store, loader=loader, open_source=open_added_source)
    controller = ConversationController(Agent(session, ScriptedModel([ScriptedReply(text="So.")])))

    async def converse() -> None:
        await controller.add_source(str(acts))
        await controller.ask("Why?")

    asyncio.run(converse())
    again = run("ask", garden, "What is the notice period?", "--continue")
    assert ("90 days" in again.out, "There is no file" in again.err) == (True, False)
    acts.rename(acts.with_name("moved"))
    again = run("ask", garden, "What does a plot cost?", "--continue")
    assert ("24 euros" in again.out, f"There is no file {acts}" in again.err) == (True, True)


def test_a_notebook_renamed_elsewhere_does_not_come_back(run: RunCommand, garden: Path, acts: Path) -> None:
    run("notebook", "old", garden, acts, "--no-open")
    library, loader = open_lazily(("@old",), load_all=True)
    session = Session.start(
        library, store=ConversationStore(conversations_path()), loader=loader, open_source=open_added_source
    )
    session.save_sources = save_notebook_sources
    controller = ConversationController(Agent(session, OfflineModel(), KeywordSearcher(library)))
    events: list[ConversationEvent] = []
    controller.subscribe(lambda updated: events.append(updated.event))
    warning = 'Another program renamed or deleted the notebook "old". Open it by its new name to change it.'

    async def converse() -> None:
        await controller.ask("What does a plot cost?")
        assert run("notebooks", "rename", "old", "new").code == 0
        await controller.ask("What is the notice period?")
        await controller.ask("How long is a plot?")
        with pytest.raises(UsageError, match="renamed or deleted"):
            await controller.mute_source("acts", is_muted=True)

    asyncio.run(converse())
    assert run("notebooks").out.startswith("new  (")
    assert run("notebooks").out.count("\n") == 1
    (saved,) = ConversationStore(conversations_path()).list()
    assert (saved.source, saved.questions) == ("@new", 3)
    assert [event.message for event in events if isinstance(event, SaveWarningRaised)] == [warning]
    assert run("ask", "@new", "And for tools?", "--continue", "--json").json["conversation"] == saved.id


class Terminal(io.StringIO):
    """A terminal with a person, as far as a question needs one."""

    @override
    def isatty(self) -> bool:
        return True


def test_an_exported_notebook_opens_for_someone_else(run: RunCommand, garden: Path, acts: Path, tmp_path: Path) -> None:
    run("notebook", "law", garden, acts, "--no-open")
    run("ask", "@law", "What is the notice period?")
    out = tmp_path / "out"
    assert run("notebooks", "export", "law", out).code == 0
    acts.rename(tmp_path / "gone")
    out.rename(tmp_path / "sent")
    run("notebook", "theirs", tmp_path / "sent", "--no-open")
    assert "Notice" in run("outline", "@theirs").out
    (saved,) = (tmp_path / "sent" / "conversations").iterdir()
    assert "90 days" in saved.read_text()


def test_an_export_keeps_characters_that_are_not_utf8(run: RunCommand, acts: Path, tmp_path: Path) -> None:
    run("notebook", "law", acts, "--no-open")
    notes = NoteStore(ConversationStore(conversations_path()).notes_folder, "@law")
    library = open_library(("@law",))
    notes.save(make_note(library, cite_span(find(library, "Notice"), None, library), "Caf\udce9."))
    result = run("notebooks", "export", "law", tmp_path / "out")
    assert result.code == 0, result.err
    assert "Caf\\udce9." in (tmp_path / "out" / "notes.md").read_text("utf-8")


def test_wrong_use_is_told_in_one_sentence(run: RunCommand, garden: Path) -> None:
    for words in (
        ("notebook", "../x", garden),
        ("notebook", "law"),
        ("notebook", "law", "@law"),
        ("notebook", "law", "-"),
        ("outline", "@none"),
        ("outline", "@../x"),
        ("notebooks", "rename", "law"),
        ("notebooks", "list", "law"),
        ("notebooks", "delete", "law"),
        ("notebooks", "export", "law", "x"),
    ):
        wrong = run(*words)
        assert (wrong.code, wrong.out, wrong.err.count("\n"), "Traceback" in wrong.err) == (2, "", 1, False), words
    assert run("notebook", "law", "gone.md").code == 1
    assert not NotebookStore(notebooks_path()).list_names()
