"""The formats that are converted, and the function that converts each. It is imported when it is needed."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pkgutil import resolve_name

from roamtui.sources.convert.converted import ConvertedText


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


_CONVERTERS = {
    Format.PDF: "pdf.convert:convert_pdf",
    Format.EPUB: "epub:convert_epub",
    Format.DOCX: "docx:convert_docx",
    Format.PPTX: "pptx:convert_pptx",
    Format.SPREADSHEET: "sheets:convert_sheets",
    Format.ODT: "odt:convert_odt",
    Format.IPYNB: "notebook:convert_notebook",
    Format.SUBTITLES: "subtitles:convert_subtitles",
    Format.HTML: "html:convert_html_file",
    Format.RST: "rst:convert_rst",
    Format.SEPARATED: "separated:convert_separated",
}
"""The module below this package and the function of each format: most need a library of their own."""


def get_converter(source_format: Format) -> Callable[..., ConvertedText]:
    """Return the function that converts a file, given its bytes and the name to use in messages.

    That of a PDF has more parameters.

    Raises:
        ImportError: The converter is not installed.
    """
    convert: Callable[..., ConvertedText] = resolve_name(
        f"roamtui.sources.convert.{_CONVERTERS[source_format]}"
    )
    return convert
