"""What conversion is about: formats, converted text, and reports of progress."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


class Format(StrEnum):
    """A format that is no Markdown and no plain text."""

    PDF = "PDF"
    EPUB = "EPUB"
    DOCX = "DOCX"
    HTML = "HTML"
    RST = "reStructuredText"


PageReport = Callable[[int, int, str], None]
"""Takes how many pages or chapters of how many were read, 0 of 0 while that is not known, and what was read since.

The text is that of whole pages as they stand, to be read until the document is there; empty where there is none. It is
called several times a second while a file is converted. What it raises ends the conversion.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvertedText:
    """The text of a file in another format."""

    text: str
    """Markdown."""
    title: str = ""
    """What the file calls itself, empty where it does not."""
    page_starts: tuple[int, ...] = ()
    """Offset in the text at which each page begins, none where the format has no pages."""
    notes: tuple[str, ...] = ()
    """What was left out, one sentence each, the file not named."""
