"""`PictureStore`: measures the pictures of a document, and keeps those that were drawn. Also draws them as cells."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache
from importlib.util import find_spec
from itertools import groupby

from rich.color import Color, ColorType
from rich.color_triplet import ColorTriplet
from rich.segment import Segment
from rich.style import Style
from textual.app import App

from roamtui.document.document import Document
from roamtui.document.library import Library
from roamtui.errors import OpeningCancelledError, RoamtuiError
from roamtui.markdown.lines import PictureLine
from roamtui.sources.convert.drawing import DrawingRequest, PictureFile
from roamtui.sources.pictures import find_picture, measure_picture, read_picture
from roamtui.tui.image_mode import ImageMode
from roamtui.tui.terminal_images import (
    encode_deletion,
    encode_image,
    make_placeholders,
    resolve_image_mode,
    take_image_id,
)

CELL_PIXELS = (10, 20)
"""Width and height of a cell in pixels for terminals that scale images to cells themselves."""
_DRAWN_MAX = 64
_DRAWN_ROWS_MAX = 100
"""Maximum number of cached rows: about two screens. As cells, a row takes a hundred times the memory of its pixels."""
_HALF = "▀"

DrawnPicture = bytes | int
"""The pixels of a picture, or the id of its image in the terminal."""


def choose_image_mode(mode: ImageMode, app: App[None]) -> ImageMode:
    """Return how to draw pictures in the terminal of an app. Without Pillow, there are only their words."""
    if find_spec("PIL") is None:
        return ImageMode.OFF
    has_true_colour = app.console.color_system == "truecolor" and not app.no_color
    return resolve_image_mode(mode, os.environ, has_true_colour=has_true_colour)


def get_source_and_doc(library: Library, section_id: str) -> tuple[str, str]:
    """Return the name of the source that contains a section, and the key of the section's document in that source."""
    source, doc = library.source_of(section_id), library.get_content_span(section_id).doc
    if source is None:
        return library.source, doc
    return source.name, doc.removeprefix(source.key).removeprefix("/")


class PictureStore:
    """The pictures that a reader shows."""

    def __init__(self, mode: ImageMode) -> None:
        """Draw in `mode`, which is `CELLS` or `KITTY`."""
        self.mode = mode
        self._is_closed = False
        self._measured: dict[tuple[str, str, str], tuple[PictureFile, int, int] | None] = {}
        self._drawn: dict[tuple[PictureFile, int, int], DrawnPicture] = {}

    def measure(self, source: str, doc: str, document: Document, href: str) -> tuple[PictureFile, int, int] | None:
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
        from roamtui.sources.convert.subprocess_converter import draw_in_subprocess  # noqa: PLC0415 - rarely needed

        is_packed = self.mode is ImageMode.KITTY
        width, height = CELL_PIXELS if is_packed else (1, 2)
        size = (picture.columns * width, picture.rows * height)
        request = DrawingRequest(width=size[0], height=size[1], is_stretched=True, is_packed=is_packed)
        try:
            data = read_picture(picture.file)
            return draw_in_subprocess(request, data, picture.file.name, report=self._check).data
        except RoamtuiError as error:
            return str(error)

    def _check(self, _done: int, _count: int) -> None:
        if self._is_closed:
            raise OpeningCancelledError

    def add(self, picture: PictureLine, loaded: bytes) -> Iterator[str]:
        """Store a loaded picture, empty if that failed. Yield the escape sequences that the terminal must get."""
        drawn: DrawnPicture = loaded
        if self.mode is ImageMode.KITTY and loaded:
            drawn = take_image_id()
            yield encode_image(drawn, loaded, picture.columns, picture.rows)
        self._drawn[picture.file, picture.columns, picture.rows] = drawn
        while len(self._drawn) > _DRAWN_MAX:
            yield from _free(self._drawn.pop(next(iter(self._drawn))))

    def clear(self) -> Iterator[str]:
        """Drop all pictures, because files may have changed. Yield the escape sequences that the terminal must get."""
        for drawn in self._drawn.values():
            yield from _free(drawn)
        self._drawn.clear()
        self._measured.clear()

    def close(self) -> None:
        """Cancel the drawings that are in progress."""
        self._is_closed = True


def _free(drawn: DrawnPicture) -> Iterator[str]:
    if isinstance(drawn, int):
        yield encode_deletion(drawn)


@lru_cache(_DRAWN_ROWS_MAX)
def draw_row(drawn: DrawnPicture, row: int, columns: int) -> tuple[Segment, ...]:
    """Return the cells of a row of a picture: as half cells, or as placeholders of an image."""
    if isinstance(drawn, int):
        color = Color.from_triplet(ColorTriplet(drawn >> 16, drawn >> 8 & 0xFF, drawn & 0xFF))
        return (Segment(make_placeholders(row, columns), Style(color=color)),)
    size = columns * 3
    upper, lower = (drawn[start : start + size] for start in (row * 2 * size, (row * 2 + 1) * size))
    cells = (upper[index : index + 3] + lower[index : index + 3] for index in range(0, size, 3))
    return tuple(Segment(_HALF * sum(1 for _ in same), _make_style(cell)) for cell, same in groupby(cells))


def _make_style(cell: bytes) -> Style:
    """Return the style of a half cell: the colour of its upper pixel, then of its lower one."""
    upper, lower = (Color("", ColorType.TRUECOLOR, None, ColorTriplet(*part)) for part in (cell[:3], cell[3:]))
    return Style.from_color(upper, lower)
