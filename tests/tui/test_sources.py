"""Sources are added in the app, by path."""

from __future__ import annotations

from pathlib import Path

import pytest

from roamtui.agent.loop import Agent
from roamtui.bootstrap import Bootstrap
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.log import ConversationStore
from roamtui.models.base import Model
from roamtui.models.registry import NoModel
from roamtui.search.keyword import KeywordSearcher
from roamtui.sources.convert.converted import PageReport
from roamtui.tui.app import RoamApp
from roamtui.tui.context import AppContext, TuiOptions
from tests.fakes.contexts import context_of
from tests.tui.driving import ask, find_id, press_until, run, running, screen_text, wait_until

SIZE = (150, 34)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "contract.md").write_text("# Contract\n\n## Notice\n\nThe notice period is 60 days.\n")
    (tmp_path / "acts").mkdir()
    (tmp_path / "acts" / "lease.md").write_text("# Lease act\n\n## Term\n\nThe notice period is 90 days.\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def make_app(folder: Path, first: str = "contract.md") -> RoamApp:
    def make_first(source: str) -> AppContext:
        library, loader = Bootstrap().open([source])
        store = ConversationStore(folder / "conversations")
        session = Conversation(library, store=store, loader=loader, open_source=Bootstrap().open_added)
        return context_of(Agent(session, NoModel(), KeywordSearcher(library)))

    def open_source(source: str, _id: str | None, _model: Model | None, _report: PageReport) -> AppContext:
        return make_first(source)

    opener = TuiOptions(
        open_source=open_source,
        save_settings=lambda _: None,
    )
    return RoamApp(make_first(first), opener)


def list_keys(app: RoamApp) -> list[str]:
    return [source.key for source in app.main_screen.conversation.state.library.sources]


async def test_a_source_is_added_and_asked(folder: Path) -> None:
    async with running(make_app(folder), SIZE) as (app, pilot):
        notice = find_id(app, "Notice")
        await run(pilot, "global.add_source")
        await wait_until(pilot, "Add a source to this conversation")
        await press_until(pilot, lambda: list_keys(app) == ["", "acts"], *"acts", "slash", "enter")
        await wait_until(pilot, "▸ acts")
        assert find_id(app, "Notice") == notice

        await ask(pilot, "What is the notice period?")
        await wait_until(pilot, "acts/lease.md › Lease act › Term")
        assert "contract.md › Contract › Notice" in screen_text(app)
