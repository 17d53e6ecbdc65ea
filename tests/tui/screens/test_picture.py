"""A picture or a page on the whole screen: zoomed, moved, its quote marked, and opened in its own program."""

import re
import zlib
from base64 import b64decode
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

from roamtui.bootstrap import Bootstrap, open_library
from roamtui.convert.drawing import Drawing
from roamtui.markdown.blocks import Link
from roamtui.text import Span
from roamtui.tui.actions import Scope
from roamtui.tui.screens.dialogs import ConfirmDialog
from roamtui.tui.screens.picture import PictureScreen
from tests.convert.sample_pdf import lay_out, make_pdf
from tests.fakes.services import make_options
from tests.fakes.site import FakeSite, SitePage
from tests.sources.sample_pictures import make_png
from tests.tui.driving import RunningApp, make_app, running

needs_pillow = pytest.mark.skipif(find_spec("PIL") is None, reason="Pillow is not installed")
_RED, _BLUE = (255, 0, 0), (0, 0, 255)
_PDF = make_pdf([lay_out("# Boats"), lay_out("# Hulls", "", "A hull is made", "of oak and tar.", "It is black.")])


@asynccontextmanager
async def _read(
    source: Path, fetch: Callable[[str, str], bytes] | None = None, size: tuple[int, int] = (60, 24)
) -> AsyncIterator[RunningApp]:
    """Run the app with a document in the reader."""
    library = open_library([str(source)])
    options = make_options(fetch_picture=fetch)
    async with running(make_app(library=library, options=options), size) as ui:
        ui.reader.open(next(library.walk()))
        ui.main.panes.show_reader()
        ui.focus(Scope.READER)
        # a key that comes before the text is drawn finds nothing in view
        await ui.wait_until(lambda: bool(ui.main.reader_pane.section_id and len(ui.reader.lines)))
        yield ui


async def _look(ui: RunningApp, key: str = "v") -> None:
    """Press a key, and wait until a picture or page is drawn."""
    await ui.press_until(lambda: isinstance(ui.app.screen, PictureScreen) and ui.app.screen.drawing is not None, key)
    # A late change of size draws again.
    await ui.wait_until(lambda: all(worker.is_finished for worker in ui.app.workers if worker.group == "drawing"))


def _get_drawing(ui: RunningApp) -> Drawing:
    assert isinstance(ui.app.screen, PictureScreen)
    assert ui.app.screen.drawing is not None
    return ui.app.screen.drawing


def _guide(folder: Path, text: str = "# Guide\n\n![Two stripes](a.png)\n") -> Path:
    (folder / "a.png").write_bytes(make_png(80, 96, _RED, _BLUE))
    (folder / "guide.md").write_text(text, "utf-8")
    return folder / "guide.md"


@needs_pillow
async def test_the_picture_in_view_fills_the_screen_and_can_be_zoomed_and_moved(tmp_path: Path) -> None:
    async with _read(_guide(tmp_path)) as ui:
        await _look(ui)
        assert _get_drawing(ui).viewport.box == (0.0, 0.0, 1.0, 1.0)
        assert _get_drawing(ui).viewport.height == 44, "two pixels for each of 22 rows"
        await ui.wait_until("▀")
        assert "a.png · 100 %" in ui.text
        await ui.press_until(lambda: _get_drawing(ui).viewport.box[1] > 0.36, "+", "+", "+", "down", "right")
        assert _get_drawing(ui).viewport.zoom == pytest.approx(1.5**3)
        left, top, right, bottom = _get_drawing(ui).viewport.box
        assert right - left < 1
        assert bottom - top == pytest.approx(1.5**-3, abs=0.01)
        await ui.press_until(lambda: _get_drawing(ui).viewport.box == (0.0, 0.0, 1.0, 1.0), "0")
        await ui.press_until(lambda: ui.app.screen is ui.main, "escape")


async def test_a_page_is_shown_with_the_quoted_words_marked(tmp_path: Path) -> None:
    (tmp_path / "boats.pdf").write_bytes(_PDF)
    async with _read(tmp_path / "boats.pdf") as ui:
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
        assert "too coarse" not in ui.text


async def test_in_kitty_a_page_is_sent_as_pixels_that_fit_the_width(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "boats.pdf").write_bytes(_PDF)
    written: list[str] = []
    monkeypatch.setenv("TERM", "xterm-kitty")
    async with _read(tmp_path / "boats.pdf", size=(100, 40)) as ui:
        monkeypatch.setattr(ui.app._driver, "write", lambda data: written.append(data) if "_G" in data else None)
        await _look(ui)
        viewport = _get_drawing(ui).viewport
        assert (viewport.width, viewport.box[:3]) == (1_000, (0, 0, 1))
        await ui.wait_until("\U0010eeee")
        head, _, payload = written[0].partition(";")
        assert re.fullmatch(r"\x1b_Ga=T,U=1,q=2,f=24,o=z,s=1000,v=760,i=\d+,c=100,r=38,m=[01]", head)
        pixels = b64decode("".join(re.findall(r";([^\x1b;]*)\x1b", f";{payload}")))
        assert zlib.decompress(pixels) == zlib.decompress(_get_drawing(ui).data)


async def test_what_cannot_be_shown_is_one_sentence(tmp_path: Path) -> None:
    text = "# Guide\n\n![Gone](gone.png) and nothing else\n"
    async with _read(_guide(tmp_path, text)) as ui:
        await ui.press_until('"gone.png" is not a picture in the folder', "v")
        ui.reader.follow(Link("lost.png"))
        await ui.wait_until('"lost.png" is not a picture in the folder')
    async with _read(_guide(tmp_path, "# Guide\n\nWords.\n")) as ui:
        await ui.press_until("No picture or page in view", "v")
    guide = _guide(tmp_path)
    (tmp_path / "a.png").write_bytes(make_png(300, 300)[:150])
    async with _read(guide) as ui:
        sentence = "Could not draw a.png: it is damaged" if find_spec("PIL") else "install Pillow"
        await ui.press_until(sentence, "v")
        assert isinstance(ui.app.screen, PictureScreen)


@pytest.fixture
def site() -> Iterator[FakeSite]:
    page = SitePage(body=make_png(80, 96, _RED), media_type="image/png")
    with FakeSite({"/a.png": page}) as site:
        yield site


@needs_pillow
async def test_a_picture_on_the_web_is_fetched_only_after_asking(tmp_path: Path, site: FakeSite) -> None:
    url = site.url("/a.png")
    text = f"# Guide\n\n![Far]({url})\n"
    fetch = Bootstrap(allowed_origins=(url,)).fetch_picture
    async with _read(_guide(tmp_path, text), fetch=fetch) as ui:
        await ui.press_until(ConfirmDialog, "v")
        assert site.counts.paths == []
        await ui.press_until(lambda: ui.app.screen is ui.main, "n")
        assert site.counts.paths == []
        await ui.press_until(ConfirmDialog, "v")
        await _look(ui, "y")
        assert "/a.png" in site.counts.paths
