"""Import the converter of a format when it is needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from roamtui.sources.convert.converted import ConvertedText, Format
from roamtui.sources.convert.separated import convert_separated


def get_converter(  # noqa: PLR0911 - one for each format
    source_format: Format,
) -> Callable[..., ConvertedText]:
    """Return the function that converts a file, given its bytes and the name to use in messages.

    That of a PDF has more parameters.

    Raises:
        ImportError: The converter is not installed.
    """
    match source_format:
        case Format.PDF:
            from roamtui.sources.convert.pdf.convert import convert_pdf  # noqa: PLC0415 - each is heavy

            return convert_pdf
        case Format.EPUB:
            from roamtui.sources.convert.epub import convert_epub  # noqa: PLC0415

            return convert_epub
        case Format.DOCX:
            from roamtui.sources.convert.docx import convert_docx  # noqa: PLC0415

            return convert_docx
        case Format.PPTX:
            from roamtui.sources.convert.pptx import convert_pptx  # noqa: PLC0415

            return convert_pptx
        case Format.SPREADSHEET:
            from roamtui.sources.convert.sheets import convert_sheets  # noqa: PLC0415

            return convert_sheets
        case Format.ODT:
            from roamtui.sources.convert.odt import convert_odt  # noqa: PLC0415

            return convert_odt
        case Format.IPYNB:
            from roamtui.sources.convert.notebook import convert_notebook  # noqa: PLC0415

            return convert_notebook
        case Format.SUBTITLES:
            from roamtui.sources.convert.subtitles import convert_subtitles  # noqa: PLC0415

            return convert_subtitles
        case Format.HTML:
            from roamtui.sources.convert.html import convert_html_file  # noqa: PLC0415

            return convert_html_file
        case Format.RST:
            from roamtui.sources.convert.rst import convert_rst_file  # noqa: PLC0415

            return convert_rst_file
        case Format.SEPARATED:
            return convert_separated
        case _ as never:
            assert_never(never)
