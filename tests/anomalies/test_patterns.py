"""A pattern takes time by the length of a line, not by its square, whatever the line contains."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import pytest

from roamtui.sources.convert import docx, epub, rst
from roamtui.sources.convert.pdf import contents, outline, running_heads, typographic_headings, worded_headings

_LENGTH = 16_000
_SECONDS_MAX = 0.1


@pytest.mark.parametrize(
    ("pattern", "use", "before", "piece", "after"),
    [
        (docx._IMAGE, re.Pattern.search, "", "![", ""),
        (docx._IMAGE, re.Pattern.search, "![", "](", ""),
        (epub._LINK_TARGET, re.Pattern.search, "", "](", ""),
        (epub._ID, re.Pattern.search, "<", "a", ""),
        (outline.CONTINUED, re.Pattern.search, "", " ", "a"),
        (outline.CONTINUED, re.Pattern.search, "continued", "-", "a"),
        (running_heads._NUMBER_ONLY, re.Pattern.fullmatch, "page", " ", "a"),
        (contents._TITLE_TAIL, re.Pattern.search, "", " ", "a"),
        (typographic_headings._NOT_A_TITLE, re.Pattern.match, "", "_", " a"),
        (worded_headings._STATEMENT, re.Pattern.fullmatch, "statement of income ", " ", "a"),
        (rst._COMMENT, re.Pattern.match, "..", " ", "a::"),
        (rst._LINK, re.Pattern.search, "`a", " ", "a"),
        (rst._TAG_LIKE, re.Pattern.search, "", "`` ", ""),
    ],
    ids=lambda value: repr(value) if isinstance(value, str) else "",
)
def test_a_long_line_takes_less_than_a_tenth_of_a_second(
    pattern: re.Pattern[str], use: Callable[[re.Pattern[str], str], object], before: str, piece: str, after: str
) -> None:
    text = before + piece * (_LENGTH // len(piece)) + after
    seconds = []
    for _ in range(3):  # other programs can slow anything down once
        started = time.process_time()
        use(pattern, text)
        seconds.append(time.process_time() - started)
    assert min(seconds) < _SECONDS_MAX
