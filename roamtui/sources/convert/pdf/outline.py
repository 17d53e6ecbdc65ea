"""`PageText`, `DetectedHeading`, and functions to parse and compare titles."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct, field

from roamtui.sources.convert.pdf.pdfium import HYPHEN, PageLink
from roamtui.sources.convert.pdf.rows import PageRow
from roamtui.sources.convert.pdf.tables import PageTable

_HYPHENS = f"-{HYPHEN}"
NON_LETTERS = re.compile(r"[\W\d_]+")
_NON_WORD = re.compile(r"[\W_]+")
_ITEM = re.compile(
    r"(?:part\s+[iv]+\s*[,.:;\u2013\u2014-]*\s*)?items?\s*(\d{1,2})(?:(\.\d\d)\b|\s?\(?([abc])\)?(?![a-z])|(?!\d))"
    r"(?=$|[\W_]|[A-Z])",
    re.IGNORECASE,
)
_PART = re.compile(r"part\s*([ivx]{1,4})(?=$|[\W_])", re.IGNORECASE)
_NUMBER = re.compile(
    r"(?:(?:chapter|section|part|appendix|note|kapitel|abschnitt|anhang|teil|chapitre|annexe|lecture)\s*)?"
    r"(?:\d{1,3}(?:\.\d{1,3}){0,5}|[ivxlc]{1,6}|[a-z])(?=[.:)\s\u2014\u2013-])[.:)\s\u2014\u2013-]*",
    re.IGNORECASE,
)
_SIZE_TOLERANCE = 0.06
"""Maximum difference in letter height between two rows of one title, as a share of the height."""
CONTINUED = re.compile(r"(?:continued|cont['’]?d\.?|concluded)\W*$", re.IGNORECASE)


class PageText(Struct):
    """The content of a page."""

    rows: list[PageRow]
    links: list[PageLink]
    tables: list[PageTable] = field(default_factory=list)
    start: int = 0
    """Index of its first row among the rows of all pages."""


class DetectedHeading(Struct, kw_only=True):
    """A heading."""

    row: int
    """Index, among the rows of all pages, of the row before which the heading is inserted."""
    count: int = 1
    """Number of rows of the heading; 0 if its title is not in the text."""
    level: int
    title: str
    style: tuple[float, ...] = ()
    """Strength of a heading that was detected by typography. A greater tuple means a higher level."""

    @property
    def end(self) -> int:
        """Index of the row after the heading."""
        return self.row + self.count


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


def make_comparison_key(title: str) -> str:
    """Return the letters and digits of a title, in lower case."""
    return _NON_WORD.sub("", title).casefold()


def parse_item(title: str) -> tuple[int, str] | None:
    """Parse an Item's number in an SEC filing: `(7, "a")` for "Item 7A", `(5, ".02")` for "Item 5.02"."""
    match = _ITEM.match(title)
    return (int(match[1]), (match[2] or match[3] or "").lower()) if match else None


def parse_part(title: str) -> int | None:
    """Parse the number of a Part in an SEC filing: 2 for "Part II". Return None if the title has none."""
    match = _PART.match(title)
    return {"i": 1, "ii": 2, "iii": 3, "iv": 4, "v": 5}.get(match[1].lower()) if match else None


def split_number(title: str) -> tuple[str, str]:
    """Split a title into its number, as a comparison key or empty, and the rest."""
    item = _ITEM.match(title)
    if item:
        return "".join(map(str, parse_item(title) or ())), title[item.end() :].lstrip(" .:;\u2014\u2013-|")
    match = _NUMBER.match(title)
    if match and match.end() < len(title):
        return make_comparison_key(match[0]), title[match.end() :]
    return "", title


def join_rows(rows: Sequence[PageRow]) -> str:
    """Join the rows of one title, without hyphens at row ends that come before a small letter."""
    text = ""
    for row in rows:
        if text and text[-1] in _HYPHENS and text[-2:-1].isalpha():
            text = f"{text[:-1]}{'' if row.text[0].islower() or text.isupper() else '-'}{row.text}"
        else:
            text = f"{text} {row.text}".strip()
    return text


def is_marked(row: PageRow) -> bool:
    """Check whether a row is in bold type or in capitals."""
    return row.font.is_bold or row.text.isupper()


def is_capitals(text: str) -> bool:
    """Check whether a text has at least four letters: most of them capitals, none in lower case."""
    letters = NON_LETTERS.sub("", text)
    return len(letters) >= 4 and letters.isupper() and 2 * sum(map(str.isupper, letters)) > len(letters)


def _continues_title(above: PageRow, row: PageRow, leading_max: float) -> bool:
    """Check whether a row continues the title in the row above: both look alike and are close."""
    is_alike = above.text[-1] == HYPHEN or (
        abs(row.size - above.size) < _SIZE_TOLERANCE * above.size
        and (row.font.is_bold, row.font.is_italic) == (above.font.is_bold, above.font.is_italic)
        and is_capitals(row.text) == is_capitals(above.text)
    )
    return is_alike and row.page == above.page and 0 < row.top - above.top < leading_max * above.size


def count_similar_rows(rows: Sequence[PageRow], start: int, end: int, *, leading_max: float = 1.5) -> int:
    """Return the number of consecutive rows from `start`, before `end`, that continue the same title.

    `leading_max` is the maximum distance between two of them, in letter heights.
    """
    after = start + 1
    while after < min(end, len(rows)) and _continues_title(rows[after - 1], rows[after], leading_max):
        after += 1
    return after - start
