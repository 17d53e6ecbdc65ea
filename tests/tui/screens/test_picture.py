"""A picture or a page on the whole screen: zoomed, moved, its quote marked, and opened in its own program."""

import re
import zlib
from base64 import b64decode
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import pytest
from textual.pilot import Pilot

from roamtui.bootstrap import Bootstrap, open_library
from roamtui.markdown.blocks import Link
from roamtui.tui.actions import Scope
from roamtui.tui.app import RoamApp
from roamtui.tui.screens.dialogs import ConfirmDialog
from roamtui.tui.screens.picture import PictureScreen
from tests.fakes.services import make_options
from tests.fakes.site import FakeSite, SitePage
from tests.sources.convert.sample_pdf import lay_out, make_pdf
from tests.sources.sample_pictures import make_png
from tests.tui.driving import make_app, press_until, running, screen_text, wait_until

needs_pillow = pytest.mark.skipif(find_spec("PIL") is None, reason="Pillow is not installed")
_RED, _BLUE = (255, 0, 0), (0, 0, 255)
_PDF = make_pdf([lay_out("# Boats"), lay_out("# Hulls", "", "A hull is made", "of oak and tar.", "It is black.")])


@asynccontextmanager
async def _read(
    source: Path, fetch: Callable[[str, str], bytes] | None = None
) -> AsyncIterator[tuple[RoamApp, Pilot[None]]]:
    """Run the app with a document in the reader."""
    library = open_library([str(source)])
    options = make_options(fetch_picture=fetch)
    async with running(make_app(library=library, options=options), (100, 40)) as (app, pilot):
        screen = app.main_screen
        screen.reader_pane.ensure_reader().open(next(library.walk()))
        screen.panes.show_reader()
        screen.panes.focus_scope(Scope.READER)
        # a key that comes before the text is drawn finds nothing in view
        await wait_until(
            pilot, lambda: bool(screen.reader_pane.section_id and len(screen.reader_pane.ensure_reader().lines))
        )
        yield app, pilot


async def _look(app: RoamApp, pilot: Pilot[None]) -> PictureScreen:
    await press_until(pilot, lambda: isinstance(app.screen, PictureScreen) and app.screen.drawing is not None, "v")
    screen = app.screen
    assert isinstance(screen, PictureScreen)
    # A late change of size draws again.
    await wait_until(pilot, lambda: all(worker.is_finished for worker in app.workers if worker.group == "drawing"))
    return screen


def _count_marks(screen: PictureScreen) -> int:
    assert screen.drawing is not None
    return len(screen.drawing.marks)


def _guide(folder: Path, text: str = "# Guide\n\n![Two stripes](a.png)\n") -> Path:
    (folder / "a.png").write_bytes(make_png(80, 96, _RED, _BLUE))
    (folder / "guide.md").write_text(text, "utf-8")
    return folder / "guide.md"


@needs_pillow
async def test_the_picture_in_view_fills_the_screen_and_can_be_zoomed_and_moved(tmp_path: Path) -> None:
    async with _read(_guide(tmp_path)) as (app, pilot):
        screen = await _look(app, pilot)
        first = screen.drawing
        assert first is not None
        assert first.viewport.box == (0.0, 0.0, 1.0, 1.0)
        assert first.viewport.height == 76, "two pixels for each of 38 rows"
        await wait_until(pilot, "▀")
        assert "a.png · 100 %" in screen_text(app)
        await pilot.press("+", "+", "+", "down", "right")
        await wait_until(pilot, lambda: screen.drawing is not None and screen.drawing.viewport.box[1] > 0.36)
        drawing = screen.drawing
        assert drawing is not None
        assert drawing.viewport.zoom == pytest.approx(1.5**3)
        left, top, right, bottom = drawing.viewport.box
        assert right - left < 1
        assert bottom - top == pytest.approx(1.5**-3, abs=0.01)
        await pilot.press("0")
        await wait_until(
            pilot, lambda: screen.drawing is not None and screen.drawing.viewport.box == (0.0, 0.0, 1.0, 1.0)
        )
        await press_until(pilot, lambda: app.screen is app.main_screen, "escape")


async def test_a_page_is_shown_with_the_quoted_words_marked(tmp_path: Path) -> None:
    (tmp_path / "boats.pdf").write_bytes(_PDF)
    async with _read(tmp_path / "boats.pdf") as (app, pilot):
        library = app.main_screen.conversation.state.library
        document = library.root
        start = document.text.index("of oak")
        section_id = library.section_at("", start)
        assert section_id is not None
        quote = library.node(section_id).content_span
        span = type(quote)(doc="", start=start, end=start + len("of oak and tar"))
        app.main_screen.reader_pane.ensure_reader().open(section_id, highlight=span)
        app.main_screen.panes.show_reader()
        await pilot.pause()
        screen = await _look(app, pilot)
        assert screen.drawing is not None
        assert _count_marks(screen) == 1
        text = screen_text(app)
        assert "boats.pdf · page 2 of 2 · 100 %" in text
        await press_until(pilot, "page 1 of 2", "pageup")
        assert _count_marks(screen) == 0
        await press_until(pilot, "page 1 of 2 · 759 %", "pageup", *("+" * 5))
        assert "too coarse" not in screen_text(app)


async def test_in_kitty_a_page_is_sent_as_pixels_that_fit_the_width(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "boats.pdf").write_bytes(_PDF)
    written: list[str] = []
    monkeypatch.setenv("TERM", "xterm-kitty")
    async with _read(tmp_path / "boats.pdf") as (app, pilot):
        monkeypatch.setattr(app._driver, "write", lambda data: written.append(data) if "_G" in data else None)
        screen = await _look(app, pilot)
        assert screen.drawing is not None
        viewport = screen.drawing.viewport
        assert (viewport.width, viewport.box[:3]) == (1_000, (0, 0, 1))
        await wait_until(pilot, "\U0010eeee")
        head, _, payload = written[0].partition(";")
        assert re.fullmatch(r"\x1b_Ga=T,U=1,q=2,f=24,o=z,s=1000,v=760,i=\d+,c=100,r=38,m=[01]", head)
        pixels = b64decode("".join(re.findall(r";([^\x1b;]*)\x1b", f";{payload}")))
        assert zlib.decompress(pixels) == zlib.decompress(screen.drawing.data)


async def test_what_cannot_be_shown_is_one_sentence(tmp_path: Path) -> None:
    text = "# Guide\n\n![Gone](gone.png) and nothing else\n"
    async with _read(_guide(tmp_path, text)) as (app, pilot):
        await press_until(pilot, '"gone.png" is not a picture in the folder', "v")
        app.main_screen.reader_pane.ensure_reader().follow(Link("lost.png"))
        await wait_until(pilot, '"lost.png" is not a picture in the folder')
    async with _read(_guide(tmp_path, "# Guide\n\nWords.\n")) as (app, pilot):
        await press_until(pilot, "No picture or page in view", "v")
    (tmp_path / "a.png").write_bytes(make_png(300, 300)[:150])
    guide = tmp_path / "guide.md"
    guide.write_text("# Guide\n\n![Two stripes](a.png)\n")
    async with _read(guide) as (app, pilot):
        await pilot.press("v")
        sentence = "Could not draw a.png: it is damaged" if find_spec("PIL") else "install Pillow"
        await wait_until(pilot, lambda: isinstance(app.screen, PictureScreen) and sentence in screen_text(app))


@pytest.fixture
def site() -> Iterator[FakeSite]:
    page = SitePage(body=make_png(80, 96, _RED), media_type="image/png")
    with FakeSite({"/a.png": page}) as site:
        yield site


@needs_pillow
async def test_a_picture_on_the_web_is_fetched_only_after_asking(tmp_path: Path, site: FakeSite) -> None:
    url = site.url("/a.png")
    text = f"# Guide\n\n![Far]({url})\n"
    fetch = partial(Bootstrap(allowed_origins=(url,)).fetch_picture)
    async with _read(_guide(tmp_path, text), fetch=fetch) as (app, pilot):
        await press_until(pilot, ConfirmDialog, "v")
        assert site.counts.paths == []
        await press_until(pilot, lambda: app.screen is app.main_screen, "n")
        assert site.counts.paths == []
        await press_until(pilot, ConfirmDialog, "v")
        await press_until(pilot, lambda: isinstance(app.screen, PictureScreen) and app.screen.drawing is not None, "y")
        assert "/a.png" in site.counts.paths
