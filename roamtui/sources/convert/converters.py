"""The formats that are converted, and the function that converts each. It is imported when it is needed."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import assert_never

from roamtui.sources.convert.converted import ConvertedText
from roamtui.sources.convert.rst import convert_rst
from roamtui.sources.convert.separated import convert_separated


class Format(StrEnum):
    """A format that must be converted to Markdown."""

    PDF = "PDF"
    EPUB = "EPUB"
    DOCX = "DOCX"
    PPTX = "PPTX"
    ODT = "ODT"
    SPREADSHEET = "spreadsheet"
    IPYNB = "Jupyter notebook"
    SUBTITLES = "subtitles"
    HTML = "HTML"
    RST = "reStructuredText"
    SEPARATED = "separated values"


_OFFICE = "application/vnd.openxmlformats-officedocument"
NAMES_BY_FORMAT = {
    Format.PDF: (".pdf",),
    Format.EPUB: (".epub", "application/epub+zip"),
    Format.DOCX: (".docx", ".docm", f"{_OFFICE}.wordprocessingml.document"),
    Format.PPTX: (".pptx", ".pptm", f"{_OFFICE}.presentationml.presentation"),
    Format.SPREADSHEET: (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods", f"{_OFFICE}.spreadsheetml.sheet"),
    Format.ODT: (".odt", "application/vnd.oasis.opendocument.text"),
    Format.IPYNB: (".ipynb", "application/x-ipynb+json"),
    Format.SUBTITLES: (".srt", ".vtt", "application/x-subrip", "text/vtt"),
    Format.HTML: (".html", ".htm", ".xhtml", "text/html", "application/xhtml+xml"),
    Format.RST: (".rst", ".rest", "text/x-rst"),
    Format.SEPARATED: (".csv", ".tsv", "text/csv", "text/tab-separated-values"),
}
"""The suffixes and media types of each format."""


def get_converter(source_format: Format) -> Callable[..., ConvertedText]:
    """Return the function that converts a file, given its bytes and the name to use in messages.

    That of a PDF has more parameters.

    Raises:
        ImportError: The converter is not installed.
    """
    convert: Callable[..., ConvertedText]
    match source_format:
        case Format.PDF:
            from roamtui.sources.convert.pdf.convert import convert_pdf as convert  # noqa: PLC0415 - each is heavy
        case Format.EPUB:
            from roamtui.sources.convert.epub import convert_epub as convert  # noqa: PLC0415
        case Format.DOCX:
            from roamtui.sources.convert.docx import convert_docx as convert  # noqa: PLC0415
        case Format.PPTX:
            from roamtui.sources.convert.pptx import convert_pptx as convert  # noqa: PLC0415
        case Format.SPREADSHEET:
            from roamtui.sources.convert.sheets import convert_sheets as convert  # noqa: PLC0415
        case Format.ODT:
            from roamtui.sources.convert.odt import convert_odt as convert  # noqa: PLC0415
        case Format.IPYNB:
            from roamtui.sources.convert.notebook import convert_notebook as convert  # noqa: PLC0415
        case Format.SUBTITLES:
            from roamtui.sources.convert.subtitles import convert_subtitles as convert  # noqa: PLC0415
        case Format.HTML:
            from roamtui.sources.convert.html import convert_html_file as convert  # noqa: PLC0415
        case Format.RST:
            convert = convert_rst
        case Format.SEPARATED:
            convert = convert_separated
        case _ as never:
            assert_never(never)
    return convert
