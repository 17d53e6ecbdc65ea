"""The text of a file, and reports on the progress of its conversion."""

import shutil
from collections.abc import Callable, Iterable

from msgspec import Struct
from msgspec.structs import replace

TESSERACT = "tesseract"
"""The OCR program."""
ProgressCallback = Callable[[int, int], None]
"""Receives the number of pages, files or sections that are done, and their total; 0 while unknown.

It is called several times a second. If it raises an exception, the work ends.
"""


class ConvertedText(Struct, frozen=True, kw_only=True):
    """The text of a file or page, converted to Markdown if it was something else."""

    text: str
    title: str = ""
    """Title in the file's metadata; empty if there is none."""
    page_starts: tuple[int, ...] = ()
    """Offset of each page in the text; empty if the format has no pages."""
    page_labels: tuple[str, ...] = ()
    """The printed number of each page; empty where it equals the page's position. An empty tuple if none
    differs."""
    conversion_note: str = ""
    """Sentence that says which format it was converted from, and what that always leaves out."""
    has_page_titles: bool = False
    """Whether the only headings are those that the converter has put at the start of each page."""
    notes: tuple[str, ...] = ()
    """One sentence for each kind of content that is missing or doubtful, without the name of the file."""
    left_out: tuple[str, ...] = ()
    """Each kind of text that the file has and `text` lacks, in a few words."""


def note_headers_and_footers(converted: ConvertedText, texts: Iterable[str]) -> ConvertedText:
    """Add a note that headers and footers are left out, unless their `texts` have no letters."""
    if not any(map(str.isalpha, "".join(texts))):
        return converted
    kind = "headers and footers"
    notes = (*converted.notes, f"{kind} left out of the text.")
    return replace(converted, notes=notes, left_out=(*converted.left_out, kind))


def has_tesseract() -> bool:
    """Return whether tesseract is installed."""
    return shutil.which(TESSERACT) is not None


def format_progress(done: int, count: int) -> str:
    """Format the arguments of a `ProgressCallback` as words after a title; empty if both are unknown."""
    total = f" of {count:,}" if count else ""
    return f" {done:,}{total}" if done or count else ""
