"""Pictures and pages to draw: where a picture is, which part of it to draw, and the drawing."""

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from msgspec import Struct

DRAW = "DRAW"
"""Name of the job that draws a file. Any other job is the name of the format to convert from."""
PIXELS_MAX = 25_000_000
"""Maximum number of pixels of a picture. Decoding one of this size takes 138 MB and about a second."""
PICTURE_SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg")
"""Suffixes of pictures, in lower case. SVG drawings are not drawn here, but opened in their own program."""
Box = tuple[float, float, float, float]
"""Left, top, right and bottom edges of a rectangle, as shares of the picture's or page's size."""


class PictureFile(Struct, frozen=True):
    """A file on this machine, or in an EPUB or DOCX file on it."""

    path: Path
    """With symbolic links resolved."""
    member: str = ""
    """Name of the file inside that at `path`; empty if it is a file of its own."""

    @property
    def name(self) -> str:
        """A short name for people."""
        return PurePosixPath(self.member).name if self.member else self.path.name


class DrawingRequest(Struct, frozen=True, kw_only=True):
    """Which part of a picture or of a page of a PDF to draw, and how."""

    width: int
    """Maximum width of the drawing, in pixels."""
    height: int
    """Maximum height of the drawing, in pixels."""
    zoom: float = 1.0
    """1 to fit the whole into `width` x `height`, 2 for twice that size, and so on. 0 to fit the width."""
    centre: tuple[float, float] | None = None
    """The point to show in the middle, as shares of the whole. None for the first mark, or else the top."""
    page: int | None = None
    """0-based page of a PDF; None for a picture."""
    quote: str = ""
    """Words to mark on the page."""
    is_packed: bool = False
    """Whether to compress the drawing for a terminal that can decode it: a picture as PNG, a page by zlib."""


class Viewport(Struct, frozen=True, kw_only=True):
    """The part of a picture or page that is drawn, and the size of the drawing in pixels."""

    box: Box
    width: int
    height: int
    zoom: float


class Drawing(Struct, frozen=True, kw_only=True):
    """A drawn part of a picture or page."""

    data: bytes
    """Three bytes for each pixel, row by row; compressed if `is_packed` was requested."""
    viewport: Viewport
    marks: tuple[Box, ...] = ()
    """The marked rectangles."""


def compute_viewport(
    request: DrawingRequest, full_width: float, full_height: float, marks: Sequence[Box] = ()
) -> Viewport:
    """Compute which part of a picture or page to draw, given its full size and the marked rectangles."""
    fitting = min(request.width / full_width, request.height / full_height)
    zoom = request.zoom or request.width / full_width / fitting
    scaled = (full_width * fitting * zoom, full_height * fitting * zoom)
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
    return Viewport(box=box, width=sizes[0], height=sizes[1], zoom=zoom)
