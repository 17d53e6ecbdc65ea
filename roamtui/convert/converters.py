"""The formats that are converted, and the function that converts each. It is imported when it is needed."""

from collections.abc import Callable
from enum import StrEnum
from pkgutil import resolve_name
from typing import NamedTuple

from roamtui.convert.converted import ConvertedText


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


class _Converter(NamedTuple):
    function: str
    """Its module, which is below this package, and its name. Most modules need a library."""
    names: tuple[str, ...]
    """The suffixes and the media types of the format."""


def _list_office_types(family: str, *kinds: str) -> list[str]:
    """List the media types of a family of Office files."""
    return [f"application/vnd.openxmlformats-officedocument.{family}.{kind}" for kind in kinds]


_CONVERTERS = {
    Format.PDF: _Converter("pdf.convert:convert_pdf", (".pdf",)),
    Format.EPUB: _Converter("epub:convert_epub", (".epub", "application/epub+zip")),
    Format.DOCX: _Converter(
        "docx:convert_docx",
        (".docx", ".docm", ".dotx", ".dotm", *_list_office_types("wordprocessingml", "document", "template")),
    ),
    Format.PPTX: _Converter(
        "pptx:convert_pptx",
        (
            *(".pptx", ".pptm", ".ppsx", ".ppsm", ".potx", ".potm"),
            *_list_office_types("presentationml", "presentation", "slideshow", "template"),
        ),
    ),
    Format.SPREADSHEET: _Converter(
        "sheets:convert_sheets",
        (
            *(".xlsx", ".xlsm", ".xltx", ".xltm", ".xlsb", ".xls", ".ods"),
            *_list_office_types("spreadsheetml", "sheet", "template"),
        ),
    ),
    Format.ODT: _Converter("odt:convert_odt", (".odt", "application/vnd.oasis.opendocument.text")),
    Format.IPYNB: _Converter("notebook:convert_notebook", (".ipynb", "application/x-ipynb+json")),
    Format.SUBTITLES: _Converter(
        "subtitles:convert_subtitles", (".srt", ".vtt", "application/x-subrip", "text/vtt")
    ),
    Format.HTML: _Converter(
        "html:convert_html_file", (".html", ".htm", ".xhtml", "text/html", "application/xhtml+xml")
    ),
    Format.RST: _Converter("rst:convert_rst", (".rst", ".rest", "text/x-rst")),
    Format.SEPARATED: _Converter(
        "separated:convert_separated", (".csv", ".tsv", "text/csv", "text/tab-separated-values")
    ),
}
FORMATS_BY_NAME = {name: each for each, converter in _CONVERTERS.items() for name in converter.names}
"""Formats by suffix and by media type."""


def get_converter(source_format: Format) -> Callable[..., ConvertedText]:
    """Return the function that converts a file, given its bytes and the name to use in messages.

    That of a PDF has more parameters.

    Raises:
        ImportError: The converter is not installed.
    """
    function = _CONVERTERS[source_format].function
    convert: Callable[..., ConvertedText] = resolve_name(f"roamtui.convert.{function}")
    return convert
