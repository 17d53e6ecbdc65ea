"""`convert`: a file of another format into Markdown, whatever it holds, within limits of time and memory.

What a file is, its bytes say (`find_format`).
"""

from __future__ import annotations

import codecs
import re
from pathlib import Path, PurePosixPath

from roamtui.errors import SourceError
from roamtui.sources.convert.converted import ConvertedText, Format, PageReport
from roamtui.sources.convert.converters import get_converter

_BYTES_MAX = 200_000_000
_QUICK_BYTES_MAX = 300_000
"""A web page up to this size is converted here; starting a process would take longer."""
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


def convert(
    data: bytes,
    name: str,
    media_type: str | None = None,
    *,
    kept_dir: Path | None = None,
    report: PageReport | None = None,
) -> ConvertedText | None:
    """Return a file as Markdown, None where it is text already and no converter is needed.

    Takes from milliseconds to minutes; called in a thread where anyone waits.

    Raises:
        SourceError: It is broken, protected, empty or too large, or a part of the program is not installed.
    """
    found = detect_format(data, name, media_type)
    if found is None:
        return None
    if len(data) > _BYTES_MAX:
        raise SourceError(f"{name} is larger than {_BYTES_MAX // 1_000_000} MB. Divide it, or convert it to text.")
    if found is Format.RST or (found is Format.HTML and len(data) <= _QUICK_BYTES_MAX):
        converted = get_converter(found)(data, name)
    else:
        from roamtui.sources.convert.subprocess_converter import convert_cached  # noqa: PLC0415 - most files need none

        converted = convert_cached(found, data, name, kept_dir=kept_dir, report=report)
    note = f"{name}: converted from {found.value}; lines are those of the text."
    return ConvertedText(
        text=converted.text,
        title=converted.title,
        page_starts=converted.page_starts,
        notes=(note, *(f"{name}: {said[:1].lower()}{said[1:]}" for said in converted.notes)),
    )


def detect_format(data: bytes, name: str, media_type: str | None = None) -> Format | None:
    """Return the format that a file has to be converted from, None for text and for what is not known.

    What its first bytes say counts before its name and its media type, which are often wrong.
    """
    suffix = PurePosixPath(name).suffix.lower()
    told = _BY_MEDIA_TYPE.get((media_type or "").partition(";")[0].strip().lower()) or _BY_SUFFIX.get(suffix)
    if data.startswith(_PDF_START):
        return Format.PDF
    if data.startswith(_ARCHIVE_START):
        if b"application/epub+zip" in data[:200] or b"META-INF/container.xml" in data:
            return Format.EPUB
        found = Format.DOCX if b"word/document.xml" in data else told  # a damaged file may have only its name left
        return found if found in (Format.EPUB, Format.DOCX) else None
    start = _HTML_START.match(data[:_SAMPLE_LENGTH])
    if start is not None and suffix not in _SHOWN_AS_IT_IS and (start[1] or suffix not in _MARKDOWN):
        return Format.HTML
    if told in (Format.PDF, Format.EPUB, Format.DOCX) and looks_like_text(data):
        return None
    return told


def looks_like_text(data: bytes) -> bool:
    """Return whether a file begins like text: without NUL, or with a mark that says how its characters are written."""
    sample = data[:_SAMPLE_LENGTH]
    return b"\0" not in sample or sample.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE))
