"""Pictures in a terminal: how they are drawn there, and those of a document that were drawn already.

Half cells work everywhere; some terminals show images by kitty's protocol.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from itertools import groupby

from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual.app import App
from textual.message import Message
from textual.worker import get_current_worker

from roamtui.document.document import Document
from roamtui.document.library import Library
from roamtui.errors import OpeningCancelledError, RoamtuiError
from roamtui.markdown.lines import PictureLine
from roamtui.sources.convert.drawing import Drawing, DrawingRequest, PictureFile
from roamtui.sources.convert.subprocess_converter import draw_in_subprocess
from roamtui.sources.pictures import find_picture, measure_picture, read_picture
from roamtui.tui.context import ImageMode
from roamtui.tui.kitty import make_placeholders, send_image


@dataclass
class FullScreenRequested(Message):
    """A person wants to see a picture, or a page of a PDF, in full screen."""

    library: Library
    section_id: str
    """The section with the picture or on the page."""
    href: str = ""
    """The URL or path of the picture, or empty for a page."""
    page: int = 0
    """Number of the page, counted from 1."""
    quote: str = ""
    """Words to mark on the page."""


CELL_PIXELS = (10, 20)
"""Width and height of a cell in pixels for terminals that scale images to cells themselves."""
_DRAWN_MAX = 64
_DRAWN_ROWS_MAX = 100
"""Maximum number of cached rows: about two screens. A row of cells takes much memory."""
_HALF = "▀"

_MULTIPLEXER_TERMS = ("screen", "tmux")
DrawnPicture = bytes | int
"""The pixels of a picture, or the id of its image in the terminal."""


def choose_image_mode(mode: ImageMode, app: App[None]) -> ImageMode:
    """Return how to draw pictures in the terminal of an app. Without Pillow, there are only their words."""
    if find_spec("PIL") is None:
        return ImageMode.OFF
    has_true_colour = app.console.color_system == "truecolor" and not app.no_color
    return resolve_image_mode(mode, os.environ, has_true_colour=has_true_colour)


def resolve_image_mode(mode: ImageMode, environ: Mapping[str, str], *, has_true_colour: bool) -> ImageMode:
    """Return how to draw in this terminal: never `AUTO`."""
    if mode is not ImageMode.AUTO:
        return mode
    if not has_true_colour:
        return ImageMode.OFF
    term = environ.get("TERM", "")
    program = environ.get("TERM_PROGRAM", "").casefold()
    is_in_multiplexer = "TMUX" in environ or "STY" in environ or term.startswith(_MULTIPLEXER_TERMS)
    is_kitty = term == "xterm-kitty" or ("KITTY_WINDOW_ID" in environ and program in ("", "kitty"))
    is_supported = is_kitty or term == "xterm-ghostty" or program == "ghostty"
    is_in_browser = "web_driver" in environ.get("TEXTUAL_DRIVER", "")
    return (
        ImageMode.KITTY if is_supported and not is_in_multiplexer and not is_in_browser else ImageMode.CELLS
    )


def get_source_and_doc(library: Library, section_id: str) -> tuple[str, str]:
    """Return the name of a section's source, and the key of the section's document in it."""
    source = library.source_of(section_id)
    doc = library.node(section_id).content_span.doc
    if source is None:
        return library.source, doc
    return source.name, doc.removeprefix(source.key).removeprefix("/")


class PictureStore:
    """The pictures that a reader shows."""

    def __init__(self, mode: ImageMode) -> None:
        """Draw in `mode`, which is `CELLS` or `KITTY`."""
        self.mode = mode
        self._measured: dict[tuple[str, str, str], tuple[PictureFile, int, int] | None] = {}
        self._drawn: dict[tuple[PictureFile, int, int], DrawnPicture] = {}

    def measure(
        self, source: str, doc: str, document: Document, href: str
    ) -> tuple[PictureFile, int, int] | None:
        """Return the picture that a link leads to, and its size in pixels, or None if it cannot be shown.

        Pictures of web pages are never shown, because a page would otherwise decide what is fetched.
        """
        key = (source, doc, href)
        if key not in self._measured:
            file = find_picture(source, doc, href) if document.url is None else None
            size = measure_picture(file) if file is not None else None
            self._measured[key] = (file, *size) if file is not None and size is not None else None
        return self._measured[key]

    def get(self, picture: PictureLine) -> DrawnPicture | None:
        """Return a picture as it was drawn, or None if it was not drawn yet."""
        return self._drawn.get((picture.file, picture.columns, picture.rows))

    def load(self, picture: PictureLine) -> bytes | str:
        """Draw a picture in a subprocess, or return a sentence if that fails. Called in a thread."""
        is_packed = self.mode is ImageMode.KITTY
        width, height = CELL_PIXELS if is_packed else (1, 2)
        size = (picture.columns * width, picture.rows * height)
        request = DrawingRequest(width=size[0], height=size[1], is_stretched=True, is_packed=is_packed)
        try:
            return draw(request, read_picture(picture.file), picture.file.name).data
        except RoamtuiError as error:
            return str(error)

    def store_picture(self, app: App[object], picture: PictureLine, loaded: bytes) -> None:
        """Store a loaded picture, empty if that failed."""
        drawn: DrawnPicture = loaded
        if self.mode is ImageMode.KITTY and loaded:
            drawn = send_image(app, loaded, picture.columns, picture.rows)
        self._drawn[picture.file, picture.columns, picture.rows] = drawn
        while len(self._drawn) > _DRAWN_MAX:
            self._drawn.pop(next(iter(self._drawn)))

    def clear(self) -> None:
        """Drop all pictures, because files may have changed. A terminal drops old images by itself."""
        self._drawn.clear()
        self._measured.clear()


def draw(request: DrawingRequest, data: bytes, name: str) -> Drawing:
    """Draw a file in a subprocess, unless the current worker is cancelled. Called in a thread.

    Raises:
        RoamtuiError: The file cannot be drawn.
    """
    worker = get_current_worker()

    def check(_done: int, _count: int) -> None:
        if worker.is_cancelled:
            raise OpeningCancelledError

    return draw_in_subprocess(request, data, name, on_progress=check)


@lru_cache(_DRAWN_ROWS_MAX)
def draw_row(drawn: DrawnPicture, row: int, columns: int) -> tuple[Segment, ...]:
    """Return the cells of a row of a picture: as half cells, or as placeholders of an image."""
    if isinstance(drawn, int):
        color = Color.from_rgb(drawn >> 16, drawn >> 8 & 0xFF, drawn & 0xFF)
        return (Segment(make_placeholders(row, columns), Style(color=color)),)
    size = columns * 3
    upper, lower = (drawn[start : start + size] for start in (row * 2 * size, (row * 2 + 1) * size))
    cells = (upper[index : index + 3] + lower[index : index + 3] for index in range(0, size, 3))
    return tuple(Segment(_HALF * sum(1 for _ in same), _make_style(cell)) for cell, same in groupby(cells))


def _make_style(cell: bytes) -> Style:
    """Return the style of a half cell: the colour of its upper pixel, then of its lower one."""
    return Style.from_color(Color.from_rgb(*cell[:3]), Color.from_rgb(*cell[3:]))
