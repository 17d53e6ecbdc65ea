"""The table of the formats that are converted. All facts about a format are in its row.

This module imports nothing, because each command names the formats in its help.
"""

TYPE_CHECKING = False  # `typing` and `pkgutil` take longer to load than all of this
if TYPE_CHECKING:
    from collections.abc import Callable

    from roamtui.convert.converted import ConvertedText

_PDF = rb"(?:\xef\xbb\xbf)?\s*%PDF-"
_ZIP = rb"PK\x03\x04"
_HTML = (
    rb"(?is)(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--.{0,2000}?-->\s*)?"
    rb"<(?:!doctype\s+html|html(?:\s[^>]*)?>\s*<)"
)
"""The start of a page. In a text about HTML, words come after the tag."""
_OFFICE = "application/vnd.openxmlformats-officedocument."
_LEFT_OUT_OF_TEXTS = "charts, comments, hidden text and most pictures"
_LEFT_OUT_OF_PAGES = "menus, footers and hidden text"
CONVERTERS_VERSION = 48
"""Version of the cached texts. Increment it when the output of a converter changes."""
TEXT_SUFFIXES = (".txt", ".text", ".log")
"""Suffixes of text that is not converted. It is read as Markdown, except in logs."""


class Format:
    """A format that is converted to Markdown."""

    def __init__(  # noqa: PLR0913 - a row of the table
        self,
        name: str,
        function: str,
        names: str,
        *,
        magic: bytes = b"",
        is_quick: bool = False,
        package: str = "",
        extra: str = "",
        left_out: str = "",
    ) -> None:
        self.name = name
        """Its name for people."""
        self._function = function
        """The module, which is below this package, and the function that converts a file."""
        self.names = tuple(names.split())
        """The suffixes, the media types, and the folder in an Office file."""
        self.magic = magic
        """Pattern of the first bytes, if they tell the format. Formats that start alike differ by name."""
        self.is_quick = is_quick
        """Whether it is text, and a small file needs no subprocess."""
        self.package = package
        """The package that reads it, if there is one."""
        self.extra = extra
        """The extra of roamtui that brings the package; empty if roamtui always needs it."""
        self.left_out = left_out
        """Each kind of text that a file has and its Markdown lacks, in a few words."""

    @property
    def suffixes(self) -> tuple[str, ...]:
        """The suffixes of file names, in lower case."""
        return tuple(name for name in self.names if name.startswith("."))

    def convert(self, data: bytes, name: str, **options: object) -> "ConvertedText":
        """Convert a file in this process, and call it `name` in messages. PDF and HTML have `options`.

        Raises:
            SourceError: The file is damaged or protected, or the package is not installed.
        """
        from pkgutil import resolve_name  # noqa: PLC0415 - see above

        from roamtui.errors import RoamtuiError, SourceError  # noqa: PLC0415 - see above

        try:
            converter: Callable[..., ConvertedText] = resolve_name(f"roamtui.convert.{self._function}")
            return converter(data, name, **options)
        except (MemoryError, RoamtuiError):
            raise
        except ImportError:
            package = f"roamtui[{self.extra}]" if self.extra else "roamtui"
            raise SourceError(f'To open {name}, install its reader: `pip install "{package}"`.') from None
        except Exception as error:  # damaged files make libraries raise anything
            kind = type(error).__name__
            advice = "Save it again in the program that made it."
            raise SourceError(
                f"Could not convert {name}: it is damaged or not supported ({kind}). {advice}"
            ) from error


FORMATS = (
    Format("PDF", "pdf.convert:convert_pdf", ".pdf application/pdf", magic=_PDF, package="pypdfium2"),
    Format(
        "HTML",
        "html:convert_html_file",
        ".html .htm .xhtml text/html application/xhtml+xml",
        magic=_HTML,
        is_quick=True,
        package="lxml",
        left_out=_LEFT_OUT_OF_PAGES,
    ),
    Format(
        "EPUB",
        "epub:convert_epub",
        ".epub application/epub+zip",
        magic=_ZIP,
        package="lxml",
        left_out=_LEFT_OUT_OF_PAGES,
    ),
    Format(
        "DOCX",
        "docx:convert_docx",
        f".docx .docm .dotx .dotm word/ {_OFFICE}wordprocessingml.document"
        f" {_OFFICE}wordprocessingml.template",
        magic=_ZIP,
        package="lxml",
        left_out=_LEFT_OUT_OF_TEXTS,
    ),
    Format(
        "PPTX",
        "pptx:convert_pptx",
        f".pptx .pptm .ppsx .ppsm .potx .potm ppt/ {_OFFICE}presentationml.presentation"
        f" {_OFFICE}presentationml.slideshow {_OFFICE}presentationml.template",
        magic=_ZIP,
        package="lxml",
        left_out="charts, comments and most pictures",
    ),
    Format(
        "ODT",
        "odt:convert_odt",
        ".odt application/vnd.oasis.opendocument.text",
        magic=_ZIP,
        package="lxml",
        left_out=_LEFT_OUT_OF_TEXTS,
    ),
    Format(
        "spreadsheet",
        "sheets:convert_sheets",
        ".xlsx .xls .xlsm .xltx .xltm .xlsb .ods xl/ application/vnd.oasis.opendocument.spreadsheet"
        f" application/vnd.ms-excel {_OFFICE}spreadsheetml.sheet {_OFFICE}spreadsheetml.template",
        magic=_ZIP,
        package="python-calamine",
        extra="formats",
        left_out="charts, comments and pictures",
    ),
    Format(
        "CSV or TSV",
        "separated:convert_separated",
        ".csv .tsv text/csv application/csv text/tab-separated-values",
        is_quick=True,
    ),
    Format("Jupyter notebook", "notebook:convert_notebook", ".ipynb application/x-ipynb+json"),
    Format("reStructuredText", "rst:convert_rst", ".rst .rest text/x-rst", is_quick=True),
    Format("subtitles", "subtitles:convert_subtitles", ".srt .vtt application/x-subrip text/vtt"),
)
"""The formats, in the order in which people read their names."""
FORMATS_BY_NAME = {name: each for each in FORMATS for name in (each.name, *each.names)}
"""Formats by their names for people, and by all their `names`."""
PDF = FORMATS_BY_NAME["PDF"]
HTML = FORMATS_BY_NAME["HTML"]
RST = FORMATS_BY_NAME["reStructuredText"]
SEPARATED = FORMATS_BY_NAME[".csv"]
CONVERTED_SUFFIXES = frozenset(name for name in FORMATS_BY_NAME if name.startswith("."))
SLOW_SUFFIXES = frozenset(suffix for each in FORMATS if not each.is_quick for suffix in each.suffixes)
"""Suffixes of the formats that are always converted in a subprocess, however small a file is."""
