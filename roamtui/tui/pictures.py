"""Pictures in a terminal: how they are drawn there.

Half cells work everywhere; some terminals show images by kitty's protocol.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual.message import Message
from textual.worker import get_current_worker

from roamtui.document.library import Library
from roamtui.errors import OpeningCancelledError
from roamtui.sources.convert.drawing import Drawing, DrawingRequest
from roamtui.sources.convert.subprocess_converter import draw_in_subprocess
from roamtui.tui.kitty import make_placeholders


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
_DRAWN_ROWS_MAX = 100
"""Maximum number of cached rows: about two screens. A row of cells takes much memory."""
_HALF = "▀"

_MULTIPLEXER_TERMS = ("screen", "tmux")
DrawnPicture = bytes | int
"""The pixels of a picture, or the id of its image in the terminal."""


def has_images(environ: Mapping[str, str]) -> bool:
    """Return whether the terminal is known to show images by kitty's protocol."""
    term = environ.get("TERM", "")
    program = environ.get("TERM_PROGRAM", "").casefold()
    is_in_multiplexer = "TMUX" in environ or "STY" in environ or term.startswith(_MULTIPLEXER_TERMS)
    is_kitty = term == "xterm-kitty" or ("KITTY_WINDOW_ID" in environ and program in ("", "kitty"))
    is_known = is_kitty or term == "xterm-ghostty" or program == "ghostty"
    is_in_browser = "web_driver" in environ.get("TEXTUAL_DRIVER", "")
    return is_known and not is_in_multiplexer and not is_in_browser


def get_source_and_doc(library: Library, section_id: str) -> tuple[str, str]:
    """Return the name of a section's source, and the key of the section's document in it."""
    source = library.source_of(section_id)
    doc = library.node(section_id).content_span.doc
    if source is None:
        return library.source, doc
    return source.name, doc.removeprefix(source.key).removeprefix("/")


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
    return Style.from_color(Color.from_rgb(*cell[:3]), Color.from_rgb(*cell[3:]))
