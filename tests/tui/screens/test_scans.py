"""`O` in the reader reads the scanned pages of a PDF, and `esc` cancels it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from roamtui.agent.loop import Agent
from roamtui.conversation.conversation import Conversation
from roamtui.document.source_loader import build_library
from roamtui.errors import OpeningCancelledError, SourceError
from roamtui.sources.convert.converted import ConversionOptions, PageReport
from roamtui.sources.read import read_source
from roamtui.tui.app import RoamApp
from roamtui.tui.context import AppContext
from roamtui.tui.screens.scans import ScanDialog
from tests.fakes.scripted_model import ScriptedModel
from tests.sources.convert.sample_pdf import lay_out, make_pdf, make_scan
from tests.tui.driving import run, running, screen_text, wait_until

_SCAN = make_scan(
    make_pdf([lay_out("# Harbour", "", "Boats pay 340 euros.")]), [0], typed=lay_out("# Typed", "", "text")
)


def _make_app(file: Path, read_scans: object = None) -> RoamApp:
    cached = ConversionOptions(cache_dir=file.parent)

    def read(report: PageReport) -> None:
        options = ConversionOptions(cache_dir=file.parent, reads_scans=True)
        read_source(str(file), conversion=options, report=report)

    library = build_library(read_source(str(file), conversion=cached))
    context = AppContext(
        agent=Agent(Conversation.start(library), ScriptedModel()),
        reload_library=lambda *_: build_library(read_source(str(file), conversion=cached)),
        read_scans=read_scans or read,  # type: ignore[arg-type]
    )
    return RoamApp(context)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "scan.pdf"
    path.write_bytes(_SCAN)
    return path


@pytest.mark.skipif(shutil.which("tesseract") is None, reason="tesseract is not installed")
async def test_the_text_of_scanned_pages_appears_after_a_key(file: Path) -> None:
    app = _make_app(file)
    async with running(app) as (_, pilot):
        await pilot.press("escape", "enter", "3")
        await run(pilot, "global.read_scans")
        library = app.main_screen.conversation.state.library
        await wait_until(
            pilot, lambda: "Boats pay 340 euros" in str(app.main_screen.conversation.state.library.root.text)
        )
        assert "Boats pay" not in str(library.root.text)


async def test_esc_cancels_and_an_error_is_shown(file: Path) -> None:
    states: list[str] = []

    def read(report: PageReport) -> None:
        states.append("begun")
        try:
            while len(states) < 3:
                report(1, 7, "")
        except OpeningCancelledError:
            states.append("cancelled")
            raise
        raise SourceError("Scanned pages are read by tesseract.")

    app = _make_app(file, read)
    async with running(app) as (_, pilot):
        await pilot.press("escape", "enter", "3")
        await run(pilot, "global.read_scans")
        await wait_until(pilot, lambda: isinstance(app.screen, ScanDialog) and "1 of 7" in screen_text(app))
        await pilot.press("escape")
        await wait_until(pilot, lambda: states == ["begun", "cancelled"] and not isinstance(app.screen, ScanDialog))
        await run(pilot, "global.read_scans")
        await wait_until(pilot, lambda: "Scanned pages are read by" in screen_text(app))
