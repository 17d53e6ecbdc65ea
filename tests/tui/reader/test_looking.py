"""A picture or a PDF is opened in another program."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from roamtui.bootstrap import open_library
from roamtui.tui.actions import Scope
from roamtui.tui.screens.dialogs import ConfirmDialog
from tests.convert.sample_pdf import lay_out, make_pdf
from tests.tui.driving import RunningApp, make_app, running


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files that the person's own programs have opened."""
    files: list[Path] = []

    def open_file(file: Path) -> bool:
        files.append(file)
        return True

    monkeypatch.setattr("roamtui.tui.reader.document_reader.open_in_viewer", open_file)
    return files


@asynccontextmanager
async def _read(source: Path) -> AsyncIterator[RunningApp]:
    """Run the app with a document in the reader."""
    library = open_library([str(source)])
    async with running(make_app(library=library), (60, 24)) as ui:
        ui.reader.open(next(library.walk()))
        ui.main.panes.show_reader()
        ui.focus(Scope.READER)
        # a key that comes before the text is drawn finds nothing in view
        await ui.wait_until(lambda: bool(ui.main.reader_pane.section_id and len(ui.reader.lines)))
        yield ui


async def test_the_pdf_of_a_page_is_opened_in_another_program(tmp_path: Path, opened: list[Path]) -> None:
    boats = tmp_path / "boats.pdf"
    boats.write_bytes(make_pdf([lay_out("# Boats", "", "A boat floats.")]))
    async with _read(boats) as ui:
        await ui.press_until(lambda: opened == [boats], "v")


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
