"""The entry point of this package: detect the format of a file, and convert it to Markdown."""

import re
from pathlib import PurePosixPath
from typing import Any

from msgspec.structs import replace

from roamtui.convert.converted import ConvertedText, ProgressCallback
from roamtui.convert.decode import decode_html, decode_text
from roamtui.convert.formats import FORMATS, FORMATS_BY_NAME, HTML, PDF, SEPARATED, TEXT_SUFFIXES, Format
from roamtui.errors import SourceError

_QUICK_BYTES_MAX = 300_000
"""A page, table or text up to this size is converted in this process, which is quicker."""
_SAMPLE_LENGTH = 65_536


def is_quick(source_format: Format, data: bytes) -> bool:
    """Return whether a file is converted in this process, because that takes only a moment."""
    return source_format.is_quick and len(data) <= _QUICK_BYTES_MAX


def convert(
    data: bytes,
    name: str,
    source_format: Format,
    *,
    ocr_languages: tuple[str, ...] = (),
    on_progress: ProgressCallback | None = None,
) -> ConvertedText:
    """Convert a file to Markdown, which may be empty. Takes milliseconds to minutes.

    With `ocr_languages`, OCR reads the scanned pages of a PDF, which may take an hour.

    Raises:
        SourceError: The file is damaged or protected, or the converter is not installed.
    """
    options = {"ocr_languages": ocr_languages} if source_format is PDF else {}
    converted = _run_converter(source_format, data, name, options, on_progress)
    left_out = (*filter(None, [source_format.left_out]), *converted.left_out)
    without = f", without {source_format.left_out}" if source_format.left_out else ""
    note = f"converted from {source_format.name}{without}; line numbers refer to the converted text."
    return replace(converted, conversion_note=note, left_out=left_out)


def convert_page(data: bytes, charset: str | None, base_url: str) -> ConvertedText:
    """Convert a page of the web, with its links made absolute. The text is empty if it needs a browser.

    Raises:
        SourceError: The page needs too much time or memory.
    """
    converted = _run_converter(HTML, data, base_url, {"charset": charset, "base_url": base_url})
    return replace(converted, left_out=(HTML.left_out,))


def parse_page_head(data: bytes, charset: str | None, length_max: int) -> Any:  # noqa: ANN401 - lxml has no types
    """Return the tree of the first `length_max` characters of a web page, empty if it nests too deeply."""
    from roamtui.convert.html_tree import parse_html_tree  # noqa: PLC0415 - many pages need no conversion

    text, _ = decode_html(data, charset)
    try:
        return parse_html_tree(text[:length_max])
    except SourceError:
        return parse_html_tree("")


def _run_converter(
    source_format: Format,
    data: bytes,
    name: str,
    options: dict[str, Any],
    on_progress: ProgressCallback | None = None,
) -> ConvertedText:
    """Run the converter of a format with its own `options`, in a subprocess unless it `is_quick`."""
    if is_quick(source_format, data):
        return source_format.convert(data, name, **options)
    from roamtui.convert.subprocess_job import run_in_subprocess  # noqa: PLC0415 - rarely needed

    return run_in_subprocess(source_format, data, name, options, on_progress)


def detect_format(data: bytes, name: str, media_type: str | None = None) -> Format | None:
    """Detect the format to convert from, or return None for text and for unknown formats.

    The content takes precedence over the name, and the name over the media type, which is often wrong. Only
    pages of the web have a media type. A text or table of the web that looks like HTML is HTML.
    """
    sample = data[:_SAMPLE_LENGTH]
    suffix = PurePosixPath(name).suffix.lower()
    named = FORMATS_BY_NAME.get(suffix)
    declared = FORMATS_BY_NAME.get((media_type or "").partition(";")[0].strip().lower())
    candidates = [each for each in (named, declared) if each]
    is_named_text = suffix in TEXT_SUFFIXES or (named is not None and named.is_quick and not named.magic)
    is_text = is_named_text and media_type is None
    found = [
        each
        for each in FORMATS
        if each.magic and re.match(each.magic, sample) and not (each.is_quick and is_text)
    ]
    if found == [PDF] and PDF not in candidates and b"\0" not in data and b"%%EOF" not in data:
        found = []  # a text about PDF
    if len(found) > 1 and (packed := _detect_packed_format(data, name)):
        return packed
    if found:
        sole = found[0] if len(found) == 1 else None
        return next((each for each in candidates if each in found), sole)
    for each in candidates:
        is_binary = each.magic and not each.is_quick
        if each is SEPARATED:
            from roamtui.convert.separated import detect_delimiter  # noqa: PLC0415 - as all that converts

            if detect_delimiter(decode_text(sample, name)[0]):
                return each
        elif b"\0" in sample or not is_binary:
            return each
    return None


def _detect_packed_format(data: bytes, name: str) -> Format | None:
    """Detect the format of a zip archive by its parts. Return None if they do not tell it."""
    from roamtui.convert.zip_package import ZIP_ERRORS, ZipPackage  # noqa: PLC0415 - few documents are archives

    try:
        package = ZipPackage(data, name)
        media_type = package.read("mimetype").decode("ascii", "replace").strip()
    except ZIP_ERRORS:  # the converter says so
        return None
    folders = [f"{part.partition('/')[0]}/" for part in package.list_names("")]
    return next(filter(None, map(FORMATS_BY_NAME.get, [media_type, *folders])), None)
