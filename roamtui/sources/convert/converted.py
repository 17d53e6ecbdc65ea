"""Formats, converted text, and progress reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePosixPath


class Format(StrEnum):
    """A format that must be converted to Markdown."""

    PDF = "PDF"
    EPUB = "EPUB"
    DOCX = "DOCX"
    XLSX = "XLSX"
    PPTX = "PPTX"
    ODT = "ODT"
    ODS = "ODS"
    IPYNB = "Jupyter notebook"
    SUBTITLES = "subtitles"
    HTML = "HTML"
    RST = "reStructuredText"


PageReport = Callable[[int, int, str], None]
"""Function that a converter calls several times a second.

The arguments are the number of pages or chapters read so far, their total (both 0 while unknown), and the text read
since the last call: whole pages to show until the document is ready, or an empty string. If the function raises an
exception, the conversion ends.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversionOptions:
    """How files are converted."""

    cache_dir: Path | None = None
    """Folder for the texts of slow conversions, or None to store none."""
    ocr_languages: tuple[str, ...] = ("eng",)
    """Languages of pages that are pictures, by their names in tesseract."""
    reads_scans: bool = False
    """Whether pages that are pictures are read. Those that were read once are always found in the cache."""


DEFAULT_OPTIONS = ConversionOptions()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertedText:
    """A file converted to Markdown."""

    text: str
    title: str = ""
    """Title in the file's metadata or, of a PDF, on its first pages; empty if there is none."""
    page_starts: tuple[int, ...] = ()
    """Offset of each page in the text; empty if the format has no pages."""
    notes: tuple[str, ...] = ()
    """One sentence for each kind of content that was lost, without the file name."""
    lost: str = ""
    """What the text leaves out and a person would see, such as `3 pictures, 1 chart`; empty if nothing."""


MACROS_LOST = "macros, which are never run"


def format_lost(counts: Mapping[str, int], *others: str) -> str:
    """Format the number of things that were left out, by their names in the singular, and `others` as they are."""
    counted = (f"{count:,} {name}{'s' * (count > 1)}" for name, count in counts.items() if count)
    return ", ".join((*counted, *others))


@dataclass(frozen=True, slots=True)
class PictureFile:
    """A picture on this machine: a file, or a part of one."""

    path: Path
    """With symbolic links resolved."""
    part: tuple[str, ...] = ()
    """Names of the parts in which it is, outermost first; empty if the picture is the file itself."""

    @property
    def name(self) -> str:
        """A short name for people."""
        return PurePosixPath(self.part[-1]).name if self.part else self.path.name


PIXELS_MAX = 25_000_000
"""A picture this large takes 138 MB and about a second to decode."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawingRequest:
    """Which part of a picture or of a page of a PDF to draw, and how."""

    width: int
    """In pixels. The part is scaled to exactly this size."""
    height: int
    box: tuple[float, float, float, float] = (0.0, 0.0, 1.0, 1.0)
    """Left, top, right and bottom of the part, as shares of the whole."""
    page: int | None = None
    """0-based page of a PDF; None for a picture."""
    quote: str = ""
    """Words to mark on the page."""
    is_packed: bool = False
    """Whether to return a PNG file (a picture) or compressed pixels (a page), for a terminal that decodes them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """A drawn part of a picture or page."""

    data: bytes
    """Three bytes for each pixel, row by row; a PNG file or zlib-compressed pixels if `is_packed` was requested."""
    full_width: float
    """Width of the whole picture in pixels, or of the page in points."""
    full_height: float
    marks: tuple[tuple[float, float, float, float], ...] = ()
    """The marked rectangles: left, top, right and bottom as shares of the page."""
