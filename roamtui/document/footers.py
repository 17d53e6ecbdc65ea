"""Find the footers of pages, which are part of a document's text, but not of its sentences."""

import re
from functools import lru_cache
from itertools import pairwise

_FOOTER = re.compile(
    r"\n[ \t\r]*\n(?P<line>[ \t]*(?:"
    r"(?:[Pp]age|PAGE)[ \t]+-?\d{1,4}-?(?:[ \t]+(?:of|OF)[ \t]+\d{1,4})?"
    r"|[-–—][ \t]*(?:\d{1,4}|[ivxlc]{1,6})[ \t]*[-–—]"
    r"|(?P<number>\d{1,3}))[ \t]*)(?=\r?\n[ \t]*(?:\r?\n|\Z)|\Z)(?=\s*(?P<next_letter>[^\W\d_]?))"
)
"""A paragraph that has only a page number, before the text that follows."""
_FOOTER_CONTEXT_LENGTH = 12_000
"""Characters before and after a text that are searched for the footers of other pages."""
_PAGE_LENGTH_MIN = 1_500
"""Minimum number of characters between two page numbers. Other numbers are closer together."""
_CACHED_TEXTS_MAX = 32
"""Maximum number of cached results: many quotes are looked up in the same text."""


@lru_cache(maxsize=_CACHED_TEXTS_MAX)
def blank_footers(text: str, start: int, end: int) -> str:
    """Return a part of a document's text, with page footers replaced by as many spaces.

    Footers are part of the source, but not of its sentences. A line with only a number n is a footer if
    the page before ends with n - 1, or the page after with n + 1, and a sentence continues after one of the
    two. Chapters of a novel also have such lines, but start with a sentence.
    """
    window = max(0, start - _FOOTER_CONTEXT_LENGTH), min(len(text), end + _FOOTER_CONTEXT_LENGTH)
    footers = list(_FOOTER.finditer(text, *window))
    page_numbers: set[int] = set()
    for before, after in pairwise([footer for footer in footers if footer["number"]]):
        is_page = after.start() - before.end() >= _PAGE_LENGTH_MIN
        is_in_sentence = not all(map(str.isupper, before["next_letter"] + after["next_letter"]))
        if is_page and is_in_sentence and int(after["number"]) == int(before["number"]) + 1:
            page_numbers |= {before.start(), after.start()}
    pieces: list[str] = []
    position = start
    for footer in footers:
        first, last = footer.span("line")
        if (not footer["number"] or footer.start() in page_numbers) and start <= first and last <= end:
            pieces += (text[position:first], " " * (last - first))
            position = last
    return "".join([*pieces, text[position:end]])
