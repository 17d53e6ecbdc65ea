"""Pages of a PDF to draw: which part, and the drawing."""

from collections.abc import Sequence
from typing import ClassVar

from msgspec import Struct

Box = tuple[float, float, float, float]
"""Left, top, right and bottom edges of a rectangle, as shares of the page's size."""


class DrawingRequest(Struct, frozen=True, kw_only=True, tag=True):
    """A job of the subprocess: which part of a page to draw, and how."""

    verb: ClassVar[str] = "draw"
    seconds_max: ClassVar[int] = 30
    memory_bytes_max: ClassVar[int] = 700_000_000
    width: int
    """Maximum width of the drawing, in pixels."""
    height: int
    """Maximum height of the drawing, in pixels."""
    zoom: float = 1.0
    """1 to fit the whole into `width` x `height`, 2 for twice that size, and so on."""
    centre: tuple[float, float] | None = None
    """The point to show in the middle, as shares of the whole. None for the first mark, or else the top."""
    page: int
    """0-based."""
    quote: str = ""
    """Words to mark on the page."""


class Viewport(Struct, frozen=True, kw_only=True):
    """The part of a page that is drawn, and the size of the drawing in pixels."""

    box: Box
    width: int
    height: int
    zoom: float


class Drawing(Struct, frozen=True, kw_only=True):
    """A drawn part of a page."""

    data: bytes
    """Three bytes for each pixel, row by row."""
    viewport: Viewport
    marks: tuple[Box, ...] = ()
    """The marked rectangles."""


def compute_viewport(
    request: DrawingRequest, full_width: float, full_height: float, marks: Sequence[Box] = ()
) -> Viewport:
    """Compute which part of a page to draw, given its full size and the marked rectangles."""
    fitting = min(request.width / full_width, request.height / full_height)
    scaled = (full_width * fitting * request.zoom, full_height * fitting * request.zoom)
    sizes = []
    shares = []
    for room, size in zip((request.width, request.height), scaled, strict=True):
        sizes.append(max(2, round(min(room, size)) // 2 * 2))  # a row of half cells has two rows of pixels
        shares.append(1.0 if size <= room + 1 else sizes[-1] / size)
    centre = request.centre
    if centre is None:
        left, top, right, bottom = marks[0] if marks else (0.5, 0.0, 0.5, 0.0)
        centre = (left + right) / 2, (top + bottom) / 2
    left, top = (
        max(0.0, min(1 - share, middle - share / 2)) for middle, share in zip(centre, shares, strict=True)
    )
    box = (left, top, left + shares[0], top + shares[1])
    return Viewport(box=box, width=sizes[0], height=sizes[1], zoom=request.zoom)
