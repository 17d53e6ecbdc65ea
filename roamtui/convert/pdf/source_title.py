"""Compute the title of a PDF from the cover of an SEC filing, or else from its metadata or its first page."""

import re
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from roamtui.convert.pdf.rows import PageRow
from roamtui.convert.pdf.tables import PageText
from roamtui.convert.pdf.titles import count_similar_rows, join_rows
from roamtui.convert.pdf.words import RAISED_END, RAISED_START

_COVER_PAGES = 2
_COVER_ROWS = 60
_LENGTH_MAX = 300
_AGENCY = re.compile(r".*securities and exchange commission", re.IGNORECASE)
_FORM = re.compile(
    r"(?:united states|current report)?\W*form\s+"
    r"((?:10-?(?:K|Q|KT)|8-K|6-K|20-F|40-F|11-K|10-12[BG]|S-\d{1,2}|F-\d|SD)(?:405|SB)?(?:/A)?)\b.{0,40}",
    re.IGNORECASE,
)
_CHARTER = re.compile(r"\W*exact name of\b.{0,20}registrant", re.IGNORECASE)
_FILE_NUMBER = re.compile(r"\W*commission\s+file\s+n", re.IGNORECASE)
_DATE = r"((?:[A-Z][a-z]{2,8}|[A-Z]{3,9})\.?\s+\d{1,2}\s?,?\s+\d{4})"
_PERIOD = re.compile(rf"(?i:for\s+the\s+(fiscal\s+)?(?:(quarter)(?:ly period)?|year)\s+ended)\W*{_DATE}")
_REPORT_DATE = re.compile(
    rf"(?i:date\s+of\s+report)\W*(?:\([^)]*\))?\W*{_DATE}|{_DATE}\W*(?i:date\s+of\s+report)"
)
_NO_TITLE = re.compile(
    r"microsoft \w+ - .*|.*\.(?:docx?|pdf|indd|tex|qxd|dvi|html?)|\d{10}-\d\d-\d{6}"
    r"|(?:powerpoint )?presentation.*|untitled.*|\(anonymous\)|document\W*\d*"
    r"|(?:slide|page|folie) \d+|united states\b.*|form"
    r"|.*securities and exchange commission.*|(?=\S*[\d_])\S+|[\W\d_]*",
    re.IGNORECASE,
)
"""Titles in the metadata that no person would use, such as a program's default or a file name."""
_LARGE_RATIO = 1.2
_TITLE_ROWS_MAX = 3


def compute_source_title(pages: Sequence[PageText], metadata_title: str, headings: Sequence[str]) -> str:
    """Return the title of a file; empty if nothing names it. `headings` are its top-level headings."""
    filing = _compute_filing_title(pages)
    if filing:
        return filing
    if not _NO_TITLE.fullmatch(metadata_title):
        return metadata_title[:_LENGTH_MAX]
    if len(headings) == 1 or not pages:
        return ""  # the only heading of the top level is the title
    return _find_large_title(pages)


def _compute_filing_title(pages: Sequence[PageText]) -> str:
    """Return the title of an SEC filing from its cover; empty if the file is not a filing."""
    rows = [row for page in pages[:_COVER_PAGES] for row in page.rows][:_COVER_ROWS]
    form = next((match[1] for row in rows if (match := _FORM.fullmatch(row.text))), "")
    company = _find_company(rows)
    if not form or not company or not any(_AGENCY.match(row.text) for row in rows):
        return ""
    text = " ".join(row.text for row in rows)
    # The file number may be printed in a second column next to the period.
    period = _PERIOD.search(text) or _PERIOD.search(" ".join(row.cells[0].text for row in rows))
    if period:
        name = "fiscal year" if period[1] else "year"
        if period[2]:
            name = "quarter"
        return f"{company}, Form {form.upper()} for the {name} ended {period[3]}"[:_LENGTH_MAX]
    report = _REPORT_DATE.search(text)
    return f"{company}, Form {form.upper()}{f' of {report[1] or report[2]}' if report else ''}"[:_LENGTH_MAX]


def _find_company(rows: Sequence[PageRow]) -> str:
    """Return the name above "(Exact name of registrant ...)", or else below the commission's file number."""
    named = [row for row in rows if any(map(str.isalpha, row.text))]
    for above, row in pairwise(named):
        if _CHARTER.match(row.text) and not _FILE_NUMBER.match(above.text):
            return above.text
    return next((row.text for above, row in pairwise(named) if _FILE_NUMBER.match(above.text)), "")


def _find_large_title(pages: Sequence[PageText]) -> str:
    """Return the largest rows of the first page if clearly larger than the text; else an empty text."""
    rows = [row for row in pages[0].rows if sum(map(str.isalpha, row.text)) >= 3]
    sizes = [row.size for page in pages for row in page.rows]
    if not rows:
        return ""
    first = max(range(len(rows)), key=lambda index: (round(rows[index].size), -index))
    if rows[first].size < _LARGE_RATIO * median(sizes):
        return ""
    count = count_similar_rows(rows, first, min(len(rows), first + _TITLE_ROWS_MAX))
    title = join_rows(rows[first : first + count])[:_LENGTH_MAX]
    return title.replace(RAISED_START, " ").replace(RAISED_END, "")
