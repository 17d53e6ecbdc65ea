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
_CONVERTERS = {
    Format.PDF: "pdf.convert:convert_pdf .pdf",
    Format.EPUB: "epub:convert_epub .epub application/epub+zip",
    Format.DOCX: f"docx:convert_docx .docx .docm {_OFFICE}.wordprocessingml.document",
    Format.PPTX: f"pptx:convert_pptx .pptx .pptm {_OFFICE}.presentationml.presentation",
    Format.SPREADSHEET: f"sheets:convert_sheets .xlsx .xlsm .xlsb .xls .ods {_OFFICE}.spreadsheetml.sheet",
    Format.ODT: "odt:convert_odt .odt application/vnd.oasis.opendocument.text",
    Format.IPYNB: "notebook:convert_notebook .ipynb application/x-ipynb+json",
    Format.SUBTITLES: "subtitles:convert_subtitles .srt .vtt application/x-subrip text/vtt",
    Format.HTML: "html:convert_html_file .html .htm .xhtml text/html application/xhtml+xml",
    Format.RST: "rst:convert_rst .rst .rest text/x-rst",
    Format.SEPARATED: "separated:convert_separated .csv .tsv text/csv text/tab-separated-values",
}
"""Of each format: the module below this package and its function, the suffixes, and the media types.

Each module is imported when it is needed: most need a library."""
FORMATS_BY_NAME = {name: each for each, row in _CONVERTERS.items() for name in row.split()[1:]}
"""Formats by suffix and by media type."""


def get_converter(source_format: Format) -> Callable[..., ConvertedText]:
    """Return the function that converts a file, given its bytes and the name to use in messages.

    That of a PDF has more parameters.

    Raises:
        ImportError: The converter is not installed.
    """
    function = _CONVERTERS[source_format].split()[0]
    convert: Callable[..., ConvertedText] = resolve_name(f"roamtui.sources.convert.{function}")
    return convert
