"""`PageText`: the content of a page, from which headings are detected and Markdown is written."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, field

from roamtui.sources.convert.pdf.pdfium import PageLink
from roamtui.sources.convert.pdf.rows import PageRow
from roamtui.sources.convert.pdf.tables import PageTable


class PageText(Struct):
    """The content of a page."""

    rows: list[PageRow]
    links: list[PageLink]
    tables: list[PageTable] = field(default_factory=list)
    start: int = 0
    """Index of its first row among the rows of all pages."""


def number_rows(pages: Sequence[PageText]) -> list[PageRow]:
    """Tell each row and page its place, and each row whether it is in a table. Return all rows."""
    rows: list[PageRow] = []
    for number, page in enumerate(pages):
        page.start = len(rows)
        for row_number, row in enumerate(page.rows):
            row.page = number
            row.number = row_number
        for table in page.tables:
            for row in page.rows[table.start : table.end]:
                row.is_in_table = True
        rows += page.rows
    return rows
