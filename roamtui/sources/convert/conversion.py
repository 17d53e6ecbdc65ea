"""`convert`: a file of another format into Markdown, whatever it holds, within limits of time and memory."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import assert_never

from roamtui.errors import SourceError
from roamtui.sources.convert.converted import Converted, PageReport
from roamtui.sources.convert.formats import Format, find_format

_BYTES_MAX = 200_000_000
_KEPT_SECONDS_MIN = 0.2
"""What takes less is converted anew each time."""
_QUICK_BYTES_MAX = 300_000
"""A web page up to this size is converted here; starting a process would take longer."""


def convert(
    data: bytes,
    name: str,
    media_type: str | None = None,
    *,
    kept_dir: Path | None = None,
    report: PageReport | None = None,
) -> Converted | None:
    """Return a file as Markdown, None where it is text already and no converter is needed.

    Takes from milliseconds to minutes; called in a thread where anyone waits.

    Raises:
        SourceError: It is broken, protected, empty or too large, or a part of the program is not installed.
    """
    found = find_format(data, name, media_type)
    if found is None:
        return None
    if len(data) > _BYTES_MAX:
        raise SourceError(f"{name} is larger than {_BYTES_MAX // 1_000_000} MB. Divide it, or convert it to text.")
    if found is Format.RST or (found is Format.HTML and len(data) <= _QUICK_BYTES_MAX):
        converted = get_converter(found)(data, name)
    else:
        converted = _convert_slowly(found, data, name, kept_dir, report)
    note = f"{name}: converted from {found.value}; lines are those of the text."
    return Converted(
        text=converted.text,
        title=converted.title,
        page_starts=converted.page_starts,
        notes=(note, *(f"{name}: {said[:1].lower()}{said[1:]}" for said in converted.notes)),
    )


def _convert_slowly(
    wanted: Format, data: bytes, name: str, kept_dir: Path | None, report: PageReport | None
) -> Converted:
    """Return a file as Markdown: as it was kept, else by another process."""
    from roamtui.sources.convert.child import convert_in_child  # noqa: PLC0415 - most files need none
    from roamtui.sources.convert.kept import KeptConversions  # noqa: PLC0415 - likewise

    kept = KeptConversions(kept_dir) if kept_dir is not None else None
    before = kept.read(data, wanted) if kept is not None else None
    if before is not None:
        return before
    started = time.perf_counter()
    converted = convert_in_child(wanted, data, name, report=report)
    if kept is not None and time.perf_counter() - started >= _KEPT_SECONDS_MIN:
        kept.write(data, wanted, converted)
    return converted


def get_converter(wanted: Format, report: PageReport | None = None) -> Callable[[bytes, str], Converted]:
    """Return the function that converts from a format, of the bytes and the name of a file.

    Raises:
        ImportError: A part of the program is not installed.
    """
    match wanted:
        case Format.PDF:
            from roamtui.sources.convert.pdf.convert import convert_pdf  # noqa: PLC0415 - each is heavy

            return partial(convert_pdf, report=report)
        case Format.EPUB:
            from roamtui.sources.convert.epub import convert_epub  # noqa: PLC0415

            return partial(convert_epub, report=report)
        case Format.DOCX:
            from roamtui.sources.convert.docx import convert_docx  # noqa: PLC0415

            return convert_docx
        case Format.HTML:
            from roamtui.sources.convert.html import convert_html_file  # noqa: PLC0415

            return convert_html_file
        case Format.RST:
            from roamtui.sources.convert.rst import convert_rst_file  # noqa: PLC0415

            return convert_rst_file
        case _ as never:
            assert_never(never)
