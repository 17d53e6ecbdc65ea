"""A folder in the app: files are read when a person or the model opens them, and all of them before a question."""

from __future__ import annotations

from pathlib import Path

import pytest

from roamtui.agent.loop import Agent
from roamtui.conversation.conversation import Conversation
from roamtui.document.loader import open_sources
from roamtui.tui.app import RoamApp
from roamtui.tui.tree.visible_lines import FoldState
from tests.fakes.contexts import context_of
from tests.fakes.scripted_model import Reply, ScriptedModel, ScriptedReply
from tests.tui.driving import ask, expand, find_id, press_until, running, wait_until


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "docs"
    (root / "guides").mkdir(parents=True)
    (root / "README.md").write_text("# Bakery\n\nHow it is run.\n\n## Ovens\n\nTwo ovens.\n", "utf-8")
    (root / "guides/dough.md").write_text("# Dough\n\nMade in the evening.\n\n## Starter\n\nFeed it.\n", "utf-8")
    (root / "guides/odd.md").write_text("# Odd [/red]\n\nText.\n", "utf-8")
    return root


def make_app(folder: Path, *replies: Reply) -> RoamApp:
    library, loader = open_sources([str(folder)])
    session = Conversation(library, loader=loader)
    return RoamApp(context_of(Agent(session, ScriptedModel(replies))))


def shown(app: RoamApp) -> list[str]:
    lines = app.main_screen.tree_pane.outline.lines
    return [app.main_screen.conversation.state.library.title_of(node_id) for node_id in lines]


async def test_a_file_is_read_when_it_is_unfolded(folder: Path) -> None:
    async with running(make_app(folder), (120, 30)) as (app, pilot):
        outline = app.main_screen.tree_pane.outline
        await wait_until(pilot, lambda: outline.size.height > 0)
        assert shown(app) == ["README.md", "guides"]
        assert outline.lines.fold_at(0) is FoldState.UNLOADED
        app.main_screen.panes.focus_tree()
        await press_until(pilot, lambda: len(shown(app)) == 4, "space")
        assert shown(app) == ["README.md", "Bakery", "Ovens", "guides"]
        await press_until(pilot, lambda: "odd.md" in shown(app), "G", "l")
        assert len(app.main_screen.conversation.state.library.grafts) == 1


async def test_a_question_reads_all_files_and_what_the_model_opens_unfolds(folder: Path) -> None:
    probe = make_app(folder)
    guides, dough = find_id(probe, "guides"), find_id(probe, "dough.md")
    answer = ScriptedReply(text=f'It is "Made in the evening." [{dough}]')
    async with running(make_app(folder, expand(dough), answer), (120, 30)) as (app, pilot):
        await ask(pilot, "When is the dough made?")
        state = app.main_screen.conversation.state
        assert len(state.library.grafts) == 3
        assert state.open_ids == (dough,)
        assert {guides, dough} <= state.unfolded
        assert [citation.is_verified for citation in state.transcript.exchanges[-1].citations] == [True]
        assert "Starter" in shown(app)
