"""Compares titles, strips their numbers, and joins the rows of a title."""

import re
from collections.abc import Callable, Sequence
from functools import reduce

from roamtui.convert.pdf.rows import PageRow
from roamtui.convert.pdf.words import HYPHEN
from roamtui.text import ROMAN_NUMERALS

Join = Callable[[str, str], str]
"""Joins two lines, which may share a hyphenated word."""

NON_LETTERS = re.compile(r"[\W\d_]+")
_NUMERALS = "|".join(ROMAN_NUMERALS)
_NUMBER = re.compile(
    r"(?:(?:(?:part\s+[iv]+\W+)?items?|chapter|section|part|appendix|note|kapitel|abschnitt|anhang|teil|chapitre"
    r"|annexe|lecture)(?:\s+|(?=\d)))?"
    rf"(?:\d{{1,3}}(?:\.\d{{1,3}}){{0,5}}(?:\s?\(?[a-c]\)?)?|(?-i:{_NUMERALS.upper()}|[A-Z]|(?:{_NUMERALS}|[a-z])(?=[.:)])))"
    r"(?=[.:)\s\u2014\u2013-]|$)[.:)\s\u2014\u2013-]*",
    re.IGNORECASE,
)
"""A single capital is a number even before a space, because appendices are numbered so: "A Proofs"."""
ROWS_MAX = 4
LENGTH_MAX = 150
"""Maximum length of a title that is not bold, in characters."""
LARGE_RATIO = 1.12
"""Minimum letter height of a large row, as a multiple of the letter height of the text."""
_SIZE_TOLERANCE = 0.06
"""Maximum difference in letter height between two rows of one title, as a share of the height."""
_LEADING_MAX = 1.5
"""Maximum distance between two rows of one title, in letter heights."""
NO_TITLE = re.compile(
    r"microsoft \w+ - .*|.*\.(?:docx?|pdf|indd|tex|qxd|dvi|html?)|\d{10}-\d\d-\d{6}"
    r"|(?:powerpoint )?presentation.*|untitled.*|\(anonymous\)|document\W*\d*"
    r"|(?:slide|page|folie) \d+|(?=\S*[\d_])\S+|[\W\d_]*",
    re.IGNORECASE,
)
"""Titles in metadata and bookmarks that say nothing, such as a program's default or a file name."""
CONTINUED = re.compile(r"(?:continued|cont['’]?d\.?|concluded)\W*$", re.IGNORECASE)


def has_number(title: str) -> bool:
    """Return whether a title starts with a number, such as "3.2" or "Item 7A.", or is only a number."""
    return _NUMBER.match(title) is not None


def strip_number(title: str) -> str:
    """Return a title without its number, such as "3.2" or "Item 7A.", unless it is only a number."""
    match = _NUMBER.match(title)
    return title[match.end() :] if match and match.end() < len(title) else title


def join_rows(rows: Sequence[PageRow], join: Join) -> str:
    """Join the rows of a title. Return "" if there are no rows."""
    return reduce(join, (row.text for row in rows), "")


def is_capitals(text: str) -> bool:
    """Return whether a text has at least four letters, most of them capitals, and none in lower case."""
    letters = NON_LETTERS.sub("", text)
    return len(letters) >= 4 and letters.isupper() and 2 * sum(map(str.isupper, letters)) > len(letters)


def _continues_title(above: PageRow, row: PageRow) -> bool:
    """Return whether a row continues the title in the row above: both look alike and are close."""
    is_alike = above.text[-1] == HYPHEN or (
        abs(row.size - above.size) < _SIZE_TOLERANCE * above.size
        and (row.font.is_bold, row.font.is_italic) == (above.font.is_bold, above.font.is_italic)
        and is_capitals(row.text) == is_capitals(above.text)
    )
    return is_alike and row.page == above.page and 0 < row.top - above.top < _LEADING_MAX * above.size


def count_similar_rows(rows: Sequence[PageRow], start: int, end: int) -> int:
    """Return how many rows from `start` on, before `end`, belong to one title. This is at least 1."""
    after = start + 1
    while after < min(end, len(rows)) and _continues_title(rows[after - 1], rows[after]):
        after += 1
    return after - start
