"""Pictures in the reader: above their words, in a place that is known before they are drawn."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest
from textual.pilot import Pilot

from roamtui.bootstrap import open_library
from roamtui.tui.context import ImageMode
from roamtui.tui.pictures import PictureStore
from roamtui.tui.reader.reader import Reader
from tests.case_files import read_case
from tests.sources.sample_pictures import make_bomb, make_gif, make_png
from tests.tui.driving import wait_until
from tests.tui.reader.sections import ReaderApp, list_lines

pytestmark = pytest.mark.skipif(find_spec("PIL") is None, reason="Pillow is not installed")

_RED, _BLUE = (255, 0, 0), (0, 0, 255)
_TEXT = read_case("guide_with_pictures.md")
_PLACEHOLDER = "\U0010eeee"


class PicturesApp(ReaderApp):
    """Takes note of the pictures that are sent to the terminal."""

    def __init__(self, mode: ImageMode) -> None:
        super().__init__(Reader(pictures=PictureStore(mode)))
        self.reader.styles.width, self.reader.styles.height = 60, 30
        self.written: list[str] = []

    def on_mount(self) -> None:
        assert self._driver is not None
        note = lambda data: self.written.append(data) if "_G" in data else None  # noqa: E731
        self._driver.write = note  # type: ignore[method-assign]


@pytest.fixture
def guide(tmp_path: Path) -> Path:
    (tmp_path / "a.png").write_bytes(make_png(80, 96, _RED, _BLUE))
    (tmp_path / "badge.png").write_bytes(make_png(90, 20))
    (tmp_path / "guide.md").write_text(_TEXT, "utf-8")
    return tmp_path / "guide.md"


def _write(guide: Path, text: str, **pictures: bytes) -> None:
    guide.write_text(text, "utf-8")
    for name, data in pictures.items():
        (guide.parent / name.replace("_", ".")).write_bytes(data)


@asynccontextmanager
async def _run(guide: Path, mode: ImageMode = ImageMode.CELLS) -> AsyncIterator[tuple[PicturesApp, Pilot[None]]]:
    app = PicturesApp(mode)
    async with app.run_test(size=(64, 32)) as pilot:
        await pilot.pause()
        library = open_library([str(guide)])
        app.reader.show_section(library, next(library.walk()))
        yield app, pilot


def _colours(reader: Reader, y: int, x: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    (segment,) = reader.render_line(y).crop(x, x + 1)
    assert segment.style is not None
    assert segment.style.color is not None
    assert segment.style.bgcolor is not None
    return tuple(segment.style.color.get_truecolor()), tuple(segment.style.bgcolor.get_truecolor())


async def test_a_picture_is_drawn_above_its_words_and_no_line_moves(guide: Path) -> None:
    async with _run(guide) as (app, pilot):
        before = list_lines(app.reader)
        top = before.index("[image: Two stripes]") - 6
        assert before[top : top + 7] == ["·" * 10] * 6 + ["[image: Two stripes]"]
        await wait_until(pilot, lambda: "·" not in "".join(list_lines(app.reader)))
        after = list_lines(app.reader)
        assert after[top : top + 7] == ["▀" * 10] * 6 + ["[image: Two stripes]"]
        assert [line.replace("▀", "·") for line in after] == before
        assert _colours(app.reader, top, 0) == (_RED, _RED)
        assert _colours(app.reader, top + 5, 9) == (_BLUE, _BLUE)
        assert "Words after, with [image: a picture] among them." in after
        quoted = after.index("▌ [image: Quoted]")
        assert after[quoted - 6 : quoted] == ["▌ " + "▀" * 10] * 6
        assert after[after.index("[image: badge]") - 1] == "", "a badge is shown as words"


async def test_what_cannot_be_drawn_is_words_and_one_sentence(guide: Path) -> None:
    svg = b"<svg><image href='file:///etc/passwd'/></svg>"
    pictures = {"broken_png": make_png(80, 80)[:60], "bomb_png": make_bomb(13_000), "v_svg": svg}
    names = ("broken.png", "bomb.png", "v.svg", "out.png", "gone.png", "https://example.org/a.png", "many.gif")
    text = "# Guide\n\n" + "\n\n".join(f"![{name}]({name})" for name in names)
    _write(guide, text, **pictures, many_gif=make_gif(80, 80, 300))
    guide.with_name("out.png").symlink_to("/etc/passwd")
    async with _run(guide) as (app, pilot):
        await wait_until(pilot, lambda: "·" not in "".join(list_lines(app.reader)) and bool(app.list_told()))
        assert len(app.list_told()) == 1
        assert app.list_told()[0].startswith("Could not draw broken.png: it is damaged")
        shown = [line for line in list_lines(app.reader) if line]
        assert shown[2:8] == [f"[image: {name}]" for name in names[:6]]
        assert shown[8:] == ["▀" * 10] * 5 + ["[image: many.gif]"]


async def test_in_kitty_images_are_sent_once_and_again_after_another_program(guide: Path) -> None:
    async with _run(guide, ImageMode.KITTY) as (app, pilot):
        await wait_until(pilot, lambda: "·" not in "".join(list_lines(app.reader)))
        lines = list_lines(app.reader)
        top = lines.index("[image: Two stripes]") - 6
        assert lines[top].startswith(f"{_PLACEHOLDER}\u0305\u0305{_PLACEHOLDER}\u0305\u030d")
        assert lines[top + 5].count(_PLACEHOLDER) == 10
        (segment, *_) = app.reader.render_line(top)
        assert segment.style is not None
        assert segment.style.color is not None
        red, green, blue = segment.style.color.get_truecolor()
        image_id = red << 16 | green << 8 | blue
        await wait_until(pilot, lambda: bool(app.written))
        assert len(app.written) == 1, "the same picture is shown twice"
        assert app.written[0].startswith(f"\x1b_Ga=T,U=1,q=2,f=100,i={image_id},c=10,r=6,m=0;iVBORw0KGgo")
        app.app_resume_signal.publish(app)
        await wait_until(pilot, lambda: len(app.written) == 2)
        assert f"i={image_id + 1}," in app.written[1]
