"""A page of a PDF on the whole screen: zoomed, its quote marked. A picture is opened in another program."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from roamtui.bootstrap import open_library
from roamtui.convert.drawing import Drawing
from roamtui.text import Span
from roamtui.tui.actions import Scope
from roamtui.tui.screens.dialogs import ConfirmDialog
from roamtui.tui.screens.page import PageScreen
from tests.convert.sample_pdf import lay_out, make_pdf
from tests.tui.driving import RunningApp, make_app, running

_PDF = make_pdf([lay_out("# Boats"), lay_out("# Hulls", "", "A hull is made", "of oak and tar.", "It is black.")])


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files that the person's own programs have opened."""
    files: list[Path] = []

    def open_file(file: Path) -> bool:
        files.append(file)
        return True

    for module in ("roamtui.tui.screens.page", "roamtui.tui.reader.document_reader"):
        monkeypatch.setattr(f"{module}.open_in_viewer", open_file)
    return files


@pytest.fixture
def boats(tmp_path: Path) -> Path:
    path = tmp_path / "boats.pdf"
    path.write_bytes(_PDF)
    return path


@asynccontextmanager
async def _read(source: Path, size: tuple[int, int] = (60, 24)) -> AsyncIterator[RunningApp]:
    """Run the app with a document in the reader."""
    library = open_library([str(source)])
    async with running(make_app(library=library), size) as ui:
        ui.reader.open(next(library.walk()))
        ui.main.panes.show_reader()
        ui.focus(Scope.READER)
        # a key that comes before the text is drawn finds nothing in view
        await ui.wait_until(lambda: bool(ui.main.reader_pane.section_id and len(ui.reader.lines)))
        yield ui


async def _look(ui: RunningApp) -> None:
    """Press the key, and wait until the page is drawn."""
    await ui.press_until(lambda: isinstance(ui.app.screen, PageScreen) and ui.app.screen.drawing is not None, "v")
    # A late change of size draws again.
    await ui.wait_until(lambda: all(worker.is_finished for worker in ui.app.workers if worker.group == "drawing"))


def _get_drawing(ui: RunningApp) -> Drawing:
    assert isinstance(ui.app.screen, PageScreen)
    assert ui.app.screen.drawing is not None
    return ui.app.screen.drawing


async def test_a_page_fills_the_screen_and_can_be_zoomed_moved_and_opened(boats: Path, opened: list[Path]) -> None:
    async with _read(boats) as ui:
        await _look(ui)
        assert _get_drawing(ui).viewport.box == (0.0, 0.0, 1.0, 1.0)
        assert _get_drawing(ui).viewport.height == 44, "two pixels for each of 22 rows"
        await ui.wait_until("▀")
        assert "boats.pdf · page 1 of 2 · 100 %" in ui.text
        await ui.press_until(lambda: _get_drawing(ui).viewport.box[1] > 0.36, "+", "+", "+", "down", "right")
        assert _get_drawing(ui).viewport.zoom == pytest.approx(1.5**3)
        await ui.press_until(lambda: _get_drawing(ui).viewport.box == (0.0, 0.0, 1.0, 1.0), "0")
        await ui.press_until(lambda: bool(opened), "enter")
        assert opened == [boats]
        await ui.press_until(lambda: ui.app.screen is ui.main, "escape")


async def test_a_page_is_shown_with_the_quoted_words_marked(boats: Path) -> None:
    async with _read(boats) as ui:
        library = ui.state.library
        start = library.root.text.index("of oak")
        span = Span(doc="", start=start, end=start + len("of oak and tar"))
        ui.reader.open(ui.find_id("Hulls"), highlight=span)
        await ui.pause()
        await _look(ui)
        assert len(_get_drawing(ui).marks) == 1
        assert "boats.pdf · page 2 of 2 · 100 %" in ui.text
        await ui.press_until("page 1 of 2", "pageup")
        assert len(_get_drawing(ui).marks) == 0
        await ui.press_until("page 1 of 2 · 759 %", "pageup", *("+" * 5))


async def test_a_page_that_is_gone_is_one_sentence(boats: Path) -> None:
    async with _read(boats) as ui:
        await asyncio.to_thread(boats.unlink)
        await ui.press_until("The pages of this document are not on this machine.", "v")


async def test_a_picture_is_opened_in_another_program_after_asking(tmp_path: Path, opened: list[Path]) -> None:
    picture = tmp_path / "a.png"
    picture.write_bytes(b"")
    guide = tmp_path / "guide.md"
    guide.write_text("# Guide\n\n![Two stripes](a.png)\n", "utf-8")
    async with _read(guide) as ui:
        await ui.press_until(ConfirmDialog, "v")
        await ui.press_until(lambda: ui.app.screen is ui.main, "n")
        assert opened == []
        await ui.press_until(ConfirmDialog, "v")
        await ui.press_until(f"Opened {picture}"[:30], "y")
        assert opened == [picture]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("![Gone](gone.png) and nothing else", 'No file "gone.png" here.'), ("Words.", "No picture or page in view")],
)
async def test_what_cannot_be_shown_is_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    guide = tmp_path / "guide.md"
    guide.write_text(f"# Guide\n\n{text}\n", "utf-8")
    async with _read(guide) as ui:
        await ui.press_until(sentence, "v")
