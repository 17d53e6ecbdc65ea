"""`Format`: what a file's bytes, its name or its media type say that it is."""

from __future__ import annotations

import codecs
import re
from enum import StrEnum
from pathlib import PurePosixPath

_SAMPLE_LENGTH = 4_096
_ARCHIVE_START = b"PK\x03\x04"
_PDF_START = b"%PDF-"
_HTML_START = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--.{0,2000}?-->\s*)?<(?:(!doctype\s+html)|html[\s>])", re.I | re.S
)
SLOW_SUFFIXES = frozenset({".docx", ".epub", ".pdf"})
"""Those of them that no editor of text opens, and that another process converts."""
_SHOWN_AS_IT_IS = frozenset({".csv", ".log", ".rst", ".rest", ".text", ".tsv", ".txt"})
"""What may begin like a web page and is shown as the text that it is."""
_MARKDOWN = frozenset({".md", ".markdown", ".mdown", ".mkd", ".mdx"})


class Format(StrEnum):
    """A format that is no Markdown and no plain text."""

    PDF = "PDF"
    EPUB = "EPUB"
    DOCX = "DOCX"
    HTML = "HTML"
    RST = "reStructuredText"


_BY_SUFFIX = {
    ".pdf": Format.PDF,
    ".epub": Format.EPUB,
    ".docx": Format.DOCX,
    ".html": Format.HTML,
    ".htm": Format.HTML,
    ".xhtml": Format.HTML,
    ".rst": Format.RST,
    ".rest": Format.RST,
}
CONVERTED_SUFFIXES = frozenset(_BY_SUFFIX)
"""Endings of the names of files that are converted."""
_BY_MEDIA_TYPE = {
    "application/pdf": Format.PDF,
    "application/epub+zip": Format.EPUB,
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": Format.DOCX,
    "text/html": Format.HTML,
    "application/xhtml+xml": Format.HTML,
    "text/x-rst": Format.RST,
    "text/prs.fallenstein.rst": Format.RST,
}


def find_format(data: bytes, name: str, media_type: str | None = None) -> Format | None:
    """Return the format that a file has to be converted from, None for text and for what is not known.

    What its first bytes say counts before its name and its media type, which are often wrong.
    """
    suffix = PurePosixPath(name).suffix.lower()
    told = _BY_MEDIA_TYPE.get((media_type or "").partition(";")[0].strip().lower()) or _BY_SUFFIX.get(suffix)
    if data.startswith(_PDF_START):
        return Format.PDF
    if data.startswith(_ARCHIVE_START):
        return _find_archived(data)
    start = _HTML_START.match(data[:_SAMPLE_LENGTH])
    if start is not None and suffix not in _SHOWN_AS_IT_IS and (start[1] or suffix not in _MARKDOWN):
        return Format.HTML
    if told in (Format.PDF, Format.EPUB, Format.DOCX) and is_plain(data):
        return None
    return told


def is_plain(data: bytes) -> bool:
    """Return whether a file begins like text: without NUL, or with a mark that says how its characters are written."""
    sample = data[:_SAMPLE_LENGTH]
    return b"\0" not in sample or sample.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE))


def _find_archived(data: bytes) -> Format | None:
    if b"application/epub+zip" in data[:200] or b"META-INF/container.xml" in data:
        return Format.EPUB
    return Format.DOCX if b"word/document.xml" in data else None
