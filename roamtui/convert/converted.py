"""Converted text, and reports on the progress of conversions."""

import shutil
from collections.abc import Callable

from msgspec import Struct

TESSERACT = "tesseract"
"""The OCR program."""
PageReport = Callable[[int, int], None]
"""Function that is called several times a second during a conversion, and before each file of a site.

The arguments are the number of pages read so far, or of the file, and their total; 0 while unknown. If the
function raises an exception, the conversion ends.
"""


class ConvertedText(Struct, frozen=True, kw_only=True):
    """A file converted to Markdown."""

    text: str
    title: str = ""
    """Title in the file's metadata or, for a PDF, on its first pages; empty if there is none."""
    page_starts: tuple[int, ...] = ()
    """Offset of each page in the text; empty if the format has no pages."""
    page_labels: tuple[str, ...] = ()
    """The printed number of each page, empty where it is the counted one; no labels if it always is."""
    notes: tuple[str, ...] = ()
    """One sentence for each kind of content that is missing or doubtful, without the name of the file."""
    left_out: tuple[str, ...] = ()
    """Each kind of text that the file has and `text` lacks, in a few words."""


def has_tesseract() -> bool:
    """Return whether tesseract is installed."""
    return shutil.which(TESSERACT) is not None


def format_page_count(done: int, count: int) -> str:
    """Format the arguments of a `PageReport` as words after a title; empty if both are unknown."""
    total = f" of {count:,}" if count else ""
    return f" {done:,}{total}" if done or count else ""
