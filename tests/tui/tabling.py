"""A table over two leases, and an app that shows it."""

import asyncio
from pathlib import Path

from roamtui.agent.agent import Agent
from roamtui.conversation.conversation import Conversation
from roamtui.convert.converted import ProgressCallback
from roamtui.models.base import Model
from roamtui.opening.loader import open_sources
from roamtui.tui.app import RoamApp
from roamtui.tui.context import DocumentSession, TableSession
from roamtui.tui.screens.table import TableGrid, TableScreen
from tests.agent.asking import NO_HITS
from tests.fakes.scripted_model import ScriptedModel
from tests.fakes.services import make_options, session_of
from tests.table.filling import PERIOD, PETS, answering_model, define, fill, make_plan, write_leases
from tests.tui.driving import RunningApp

HEATING = "Who pays for heating?"


class Tables:
    """Two leases and their table, and an app that opens both."""

    def __init__(self, folder: Path) -> None:
        self.leases = write_leases(folder / "leases")
        self.folder = folder / "table"
        self.questions = [PERIOD, PETS, HEATING]
        self.model: Model = answering_model()

    def open_table(self, _sources: tuple[str, ...]) -> TableSession:
        table = define(self.folder, self.leases, *self.questions)
        return TableSession(table, make_plan(self.model, jobs=2))

    def open_source(
        self, source: str, log: str | None, model: Model | None, _report: ProgressCallback
    ) -> DocumentSession:
        library, loader = open_sources((source,))
        session = Conversation(library, source_loader=loader)
        if log:
            session.resume(log)
        return session_of(Agent(session, model or ScriptedModel(), options=NO_HITS))

    def make_app(self, theme: str | None = None) -> RoamApp:
        options = make_options(
            theme=theme, open_source=self.open_source, save_settings=lambda _: None, open_table=self.open_table
        )
        app = RoamApp(options, self.open_table(()))
        app.animation_level = "none"
        return app

    def fill(self) -> None:
        asyncio.run(fill(define(self.folder, self.leases, *self.questions), answering_model()))


async def await_grid(ui: RunningApp) -> TableGrid:
    """Return the grid once it has rows and the focus."""
    await ui.wait_until(TableScreen)
    await ui.wait_until(lambda: bool(ui.app.screen.query(TableGrid)))
    grid = ui.app.screen.query_one(TableGrid)
    await ui.wait_until(lambda: bool(grid.table.rows) and grid.has_focus)
    return grid
