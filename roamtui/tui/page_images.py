"""A drawn page in a terminal: as half cells, or as an image.

Half cells work everywhere. Some terminals show images by kitty's protocol, in which each cell of an image has
a placeholder: a private-use character whose colour is the id of the image, with two combining marks for its
row and column. So the text around it scrolls and wraps as usual. The terminal is asked nothing, because its
answer could be read as keys.
"""

from base64 import b64encode
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from itertools import count, groupby

from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual.app import App

_PLACEHOLDER = "\U0010eeee"
_PART_LENGTH = 4_096
_MARKS = """
305 30d 30e 310 312 33d-33f 346 34a-34c 350-352 357 35b 363-36f 483-487 592-595 597-599 59c-5a1 5a8 5a9 5ab
5ac 5af 5c4 610-617 657-65b 65d 65e 6d6-6dc 6df-6e2 6e4 6e7 6e8 6eb 6ec 730 732 733 735 736 73a 73d 73f-741
743 745 747 749 74a 7eb-7f1 7f3 816-819 81b-823 825-827 829-82d 951 953 954 f82 f83 f86 f87 135d-135f 17dd
193a 1a17 1a75-1a7c 1b6b 1b6d-1b73 1cd0-1cd2 1cda 1cdb 1ce0 1dc0 1dc1 1dc3-1dc9 1dcb 1dcc 1dd1-1de6 1dfe 20d0
20d1 20d4-20d7 20db 20dc 20e1 20e7 20e9 20f0 2cef-2cf1 2de0-2dff a66f a67c a67d a6f0 a6f1 a8e0-a8f1 aab0 aab2
aab3 aab7 aab8 aabe aabf aac1 fe20-fe26 10a0f 10a38 1d185-1d189 1d1aa-1d1ad 1d242-1d244
"""
"""Code points of the combining marks for the numbers from 0 to 296. They stand above a letter, are in Unicode
6.0, and no normalisation changes them."""
CELLS_MAX = 297
"""Maximum number of columns and of rows of an image, because there are no more marks."""
_ids = count(0x52_4F_01)
"""Ids of images: numbers of 24 bits. Other programs in the same terminal are unlikely to use them."""
CELL_PIXELS = (10, 20)
"""Width and height of a cell in pixels for terminals that scale images to cells themselves."""
_DRAWN_ROWS_MAX = 100
"""Maximum number of cached rows: about two screens. A row of cells takes much memory."""
_HALF = "▀"

_MULTIPLEXER_TERMS = ("screen", "tmux")
DrawnPage = bytes | int
"""The pixels of a page, or the id of its image in the terminal."""


def has_images(environ: Mapping[str, str]) -> bool:
    """Return whether the terminal is known to show images by kitty's protocol."""
    term = environ.get("TERM", "")
    program = environ.get("TERM_PROGRAM", "").casefold()
    is_in_multiplexer = "TMUX" in environ or "STY" in environ or term.startswith(_MULTIPLEXER_TERMS)
    is_kitty = term == "xterm-kitty" or ("KITTY_WINDOW_ID" in environ and program in ("", "kitty"))
    is_known = is_kitty or term == "xterm-ghostty" or program == "ghostty"
    is_in_browser = "web_driver" in environ.get("TEXTUAL_DRIVER", "")
    return is_known and not is_in_multiplexer and not is_in_browser


@lru_cache(_DRAWN_ROWS_MAX)
def draw_row(drawn: DrawnPage, row: int, columns: int) -> tuple[Segment, ...]:
    """Return the cells of a row of a page: as half cells, or as placeholders of an image."""
    if isinstance(drawn, int):
        color = Color.from_rgb(drawn >> 16, drawn >> 8 & 0xFF, drawn & 0xFF)
        return (Segment(make_placeholders(row, columns), Style(color=color)),)
    size = columns * 3
    upper, lower = (drawn[start : start + size] for start in (row * 2 * size, (row * 2 + 1) * size))
    cells = (upper[index : index + 3] + lower[index : index + 3] for index in range(0, size, 3))
    return tuple(Segment(_HALF * sum(1 for _ in same), _make_style(cell)) for cell, same in groupby(cells))


def _make_style(cell: bytes) -> Style:
    return Style.from_color(Color.from_rgb(*cell[:3]), Color.from_rgb(*cell[3:]))


def send_image(app: App[object], data: bytes, columns: int, rows: int, pixels: tuple[int, int]) -> int:
    """Have the terminal decode an image, as `_encode_image` says. Return the id of the image."""
    image_id = next(_ids)
    if (driver := app._driver) is not None:  # noqa: SLF001 - Textual has no other way to write to the terminal
        driver.write(_encode_image(image_id, data, columns, rows, pixels))
    return image_id


def _encode_image(image_id: int, data: bytes, columns: int, rows: int, pixels: tuple[int, int]) -> str:
    """Return the escape sequence that makes the terminal decode an image for a rectangle of placeholders.

    The id is the colour of the placeholders. The data are zlib-compressed pixels of three bytes each;
    `pixels` are the width and height of the image.
    """
    width, height = pixels
    # q=2: no answers, which could be read as keys
    control = f"a=T,U=1,q=2,f=24,o=z,s={width},v={height},i={image_id},c={columns},r={rows}"
    payload = b64encode(data).decode()
    parts = [payload[start : start + _PART_LENGTH] for start in range(0, len(payload), _PART_LENGTH)]
    pieces = []
    for number, part in enumerate(parts):
        more = f"m={int(number + 1 < len(parts))}"
        pieces.append(f"\x1b_G{f'{control},{more}' if number == 0 else f'q=2,{more}'};{part}\x1b\\")
    return "".join(pieces)


def make_placeholders(row: int, columns: int) -> str:
    """Return a row of placeholders. Each one encodes its column, so that a row can be cut at any column."""
    marks = _list_marks()
    return "".join(f"{_PLACEHOLDER}{marks[row]}{mark}" for mark in marks[:columns])


@cache
def _list_marks() -> tuple[str, ...]:
    def expand(part: str) -> Iterator[str]:
        first, _, last = part.partition("-")
        return map(chr, range(int(first, 16), int(last or first, 16) + 1))

    return tuple(mark for part in _MARKS.split() for mark in expand(part))
