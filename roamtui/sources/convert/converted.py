"""Formats, converted text, and progress reports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


class Format(StrEnum):
    """A format that must be converted to Markdown."""

    PDF = "PDF"
    EPUB = "EPUB"
    DOCX = "DOCX"
    HTML = "HTML"
    RST = "reStructuredText"


PageReport = Callable[[int, int, str], None]
"""Receives the number of pages or chapters read so far, their total (0 and 0 while unknown), and the text read since
the last call: whole pages to show until the document is ready, possibly empty.

It is called several times a second during a conversion. An exception that it raises ends the conversion.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertedText:
    """A file converted to Markdown."""

    text: str
    title: str = ""
    """Title in the file's metadata; empty if there is none."""
    page_starts: tuple[int, ...] = ()
    """Offset of each page in the text; empty if the format has no pages."""
    notes: tuple[str, ...] = ()
    """One sentence for each kind of lost content, without the file name."""
