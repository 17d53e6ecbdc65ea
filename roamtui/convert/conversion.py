"""Detect the format of a file and convert it to Markdown, within limits of time and memory."""

import re
from pathlib import PurePosixPath

from msgspec.structs import replace

from roamtui.convert.converted import (
    DEFAULT_OPTIONS,
    ZIP_START,
    ConversionOptions,
    ConvertedText,
    PageReport,
)
from roamtui.convert.converters import FORMATS_BY_NAME, Format, get_converter
from roamtui.convert.decode import decode_text
from roamtui.errors import SourceError

_BYTES_MAX = 200_000_000
_QUICK_BYTES_MAX = 300_000
"""A page, table or text up to this size is converted in this process, which is quicker."""
_SAMPLE_LENGTH = 65_536
_HTML_START = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--.{0,2000}?-->\s*)?<(?:!doctype\s+html|html[\s>])",
    re.IGNORECASE | re.DOTALL,
)
_IMAGE = re.compile(r"!\[[^\[\]\n]*\]\([^()\n]*\)")
_TEXT_SUFFIXES = frozenset({".csv", ".log", ".rst", ".rest", ".text", ".tsv", ".txt"})
"""Suffixes of files that are text even if they start like a web page."""
CONVERTED_SUFFIXES = frozenset(name for name in FORMATS_BY_NAME if name.startswith("."))
_TEXT_FORMATS = (Format.HTML, Format.RST, Format.SEPARATED)
SLOW_SUFFIXES = frozenset(each for each in CONVERTED_SUFFIXES if FORMATS_BY_NAME[each] not in _TEXT_FORMATS)
"""Suffixes of the formats that are no text. They are always converted in a subprocess."""
_OFFICE_FORMATS = frozenset({Format.DOCX, Format.PPTX, Format.SPREADSHEET, Format.ODT})
_PACKAGE_FORMATS = _OFFICE_FORMATS | {Format.EPUB}
OFF_PAGE = "menus, footers and hidden text"
"""What is left out of a web page."""
_LEFT_OUT = {
    **dict.fromkeys(_OFFICE_FORMATS, "charts, comments, hidden text and most pictures"),
    **dict.fromkeys((Format.HTML, Format.EPUB), OFF_PAGE),
}


def convert(
    data: bytes,
    name: str,
    source_format: Format,
    *,
    conversion: ConversionOptions = DEFAULT_OPTIONS,
    on_progress: PageReport | None = None,
) -> ConvertedText:
    """Convert a file to Markdown. Takes milliseconds to minutes.

    Raises:
        SourceError: The file is damaged, protected, empty or too large, or the converter is not installed.
    """
    if len(data) > _BYTES_MAX:
        raise SourceError(
            f"{name} is larger than {_BYTES_MAX // 1_000_000} MB. "
            "Split it into smaller files, or convert it to text."
        )
    if source_format in _TEXT_FORMATS and len(data) <= _QUICK_BYTES_MAX:
        converted = get_converter(source_format)(data, name)
    else:
        from roamtui.convert.subprocess_converter import convert_in_subprocess  # noqa: PLC0415 - rarely needed

        converted = convert_in_subprocess(source_format, data, name, conversion, on_progress)
    if not any(map(str.isalnum, _IMAGE.sub("", converted.text))):
        raise SourceError(
            f"{name} contains no text. If its pages are images, run OCR on it first. If you can see its text"
            " in a browser, save it from there as a text file."
        )
    left_out = (*filter(None, [_LEFT_OUT.get(source_format)]), *converted.left_out)
    loss = f", without {left_out[0]}" if source_format in _OFFICE_FORMATS else ""
    note = f"converted from {source_format.value}{loss}; line numbers refer to the converted text."
    return replace(converted, notes=(note, *converted.notes), left_out=left_out)


def detect_format(data: bytes, name: str, media_type: str | None = None) -> Format | None:
    """Detect the format to convert from, or return None for text and for unknown formats.

    The first bytes take precedence over the name and the media type, which are often wrong.
    """
    suffix = PurePosixPath(name).suffix.lower()
    bare_type = (media_type or "").partition(";")[0].strip().lower()
    declared = FORMATS_BY_NAME.get(bare_type) or FORMATS_BY_NAME.get(suffix)
    if data.startswith(b"%PDF-"):
        return Format.PDF
    if data.startswith(ZIP_START):
        return declared if declared in _PACKAGE_FORMATS else None
    if _HTML_START.match(data[:_SAMPLE_LENGTH]) and suffix not in _TEXT_SUFFIXES:
        return Format.HTML
    if b"\0" not in data[:_SAMPLE_LENGTH] and declared in {Format.PDF, *_PACKAGE_FORMATS}:
        return None
    if declared is Format.SEPARATED:
        from roamtui.convert.separated import find_delimiter  # noqa: PLC0415 - as all that converts

        return declared if find_delimiter(decode_text(data[:_SAMPLE_LENGTH], name)[0]) else None
    return declared
