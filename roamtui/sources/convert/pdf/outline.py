"""`PageText` and `DetectedHeading`: what an outline is found in and made of, and how titles are compared."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from roamtui.sources.convert.pdf.pdfium import HYPHEN, PageLink
from roamtui.sources.convert.pdf.rows import PageRow
from roamtui.sources.convert.pdf.tables import PageTable

MARKS = re.compile(r"[\W\d_]+")
_NOT_LETTERS = re.compile(r"[\W_]+")
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
CONTINUED = re.compile(r"[(\[]?\s*(?:continued|cont['’]?d\.?|concluded)\s*[)\]]?\W*$", re.IGNORECASE)


@dataclass(slots=True)
class PageText:
    """What is on a page."""

    rows: list[PageRow]
    links: list[PageLink]
    tables: list[PageTable] = field(default_factory=list)
    is_wide: bool = False
    """Whether it is wider than high."""
    is_read: bool = True
    """Whether it could be read."""


@dataclass(slots=True, kw_only=True)
class DetectedHeading:
    """A heading on a page."""

    page: int
    row: int
    """Index of the row that it stands before."""
    count: int
    """How many rows are the heading itself."""
    level: int
    title: str
    style: tuple[float, ...] = ()
    """How its letters are set, where they gave it away: the more it is, the higher it stands."""

    @property
    def place(self) -> tuple[int, int]:
        """Where it stands, for order."""
        return self.page, self.row

    @property
    def end(self) -> tuple[int, int]:
        """Where what follows it begins."""
        return self.page, self.row + self.count


def make_comparison_key(title: str) -> str:
    """Return the letters and digits of a title, for comparing."""
    return _NOT_LETTERS.sub("", title).casefold()


def read_item(title: str) -> tuple[int, str] | None:
    """Return the number of an Item: ``(7, "a")``, ``(7, "")`` or, in a report on an event, ``(5, ".02")``."""
    match = _ITEM.match(title)
    return (int(match[1]), (match[2] or match[3] or "").lower()) if match else None


def read_part(title: str) -> int | None:
    """Return the number of a Part."""
    match = _PART.match(title)
    if match is None:
        return None
    return {"i": 1, "ii": 2, "iii": 3, "iv": 4, "v": 5}.get(match[1].lower())


def split_number(title: str) -> tuple[str, str]:
    """Return the number that a title begins with, squeezed and perhaps empty, and the rest of it."""
    item = _ITEM.match(title)
    if item:
        return "".join(map(str, read_item(title) or ())), title[item.end() :].lstrip(" .:;\u2014\u2013-|")
    match = _NUMBER.match(title)
    if match and match.end() < len(title):
        return make_comparison_key(match[0]), title[match.end() :]
    return "", title


def join_rows(rows: Sequence[PageRow]) -> str:
    """Return the text of rows that are one title."""
    text = ""
    for row in rows:
        text = text[:-1] + row.text if text and text[-1] == HYPHEN else f"{text} {row.text}".strip()
    return text


def is_capitals(text: str) -> bool:
    """Return whether letters are capitals where an alphabet has some."""
    letters = MARKS.sub("", text)
    return len(letters) >= 4 and letters.isupper() and 2 * sum(map(str.isupper, letters)) > len(letters)


def continues_title(above: PageRow, row: PageRow, *, leading_max: float = 1.5) -> bool:
    """Return whether a row looks the same as the one above it and stands close: they are one title then.

    Args:
        above: The row above it.
        row: The row.
        leading_max: How far apart they may stand, in heights of their letters.
    """
    is_alike = above.text[-1] == HYPHEN or (
        abs(row.size - above.size) < 0.06 * above.size
        and (row.font.is_bold, row.font.is_italic) == (above.font.is_bold, above.font.is_italic)
        and is_capitals(row.text) == is_capitals(above.text)
    )
    return is_alike and 0 < row.top - above.top < leading_max * above.size
