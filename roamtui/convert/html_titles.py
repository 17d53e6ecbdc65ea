"""Make headings of bold lines, in pages without headings, such as filings.

Three or more bold lines without text between them are a cover, so they stay as they are.
"""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from operator import attrgetter
from typing import Any

from msgspec import Struct

from roamtui.convert.html_elements import ATTRIBUTE_LENGTH_MAX, BLOCKS, HEADINGS
from roamtui.convert.xml_elements import join_text

_BOLD_STYLE = re.compile(r"font-weight\s*:\s*(?:bold|[6-9]00)|(?:^|[\s;])font\s*:[^;]*\bbold", re.IGNORECASE)
_BOLD_TAGS = ("b", "strong")
_TITLE = re.compile(r"[^\W_].*[^\W_].*[^,;:]", re.DOTALL)
"""Neither in brackets, nor a bullet, a page number or a label."""
_TITLE_TAGS = ("p", "div", "center", "section")
_WITHOUT_TITLES = ("ul", "ol", "dl", "blockquote", "pre")
_LENGTH_MAX = 160
_COVER_LINES_MIN = 3
_REPEATED_MIN = 3
"""A line that occurs so often is the head of each printed page, not a title."""
_BOLD_SHARE_MAX = 0.4
"""In a page with a larger share of titles, bold type says nothing."""


class _Line(Struct, kw_only=True):
    """Words that a page shows as one line, or as a paragraph."""

    element: Any
    text: str
    is_title: bool
    """Whether it looks like a title."""


def raise_titles(root: Any) -> None:
    """Make headings of the lines that look like titles.

    A page with headings stays as it is, unless all of them are links to its contents on each page.
    """
    headings = [*root.iter(*HEADINGS)]
    if any(count < _REPEATED_MIN for count in Counter(map(join_text, headings)).values()):
        return
    for heading in headings:
        heading.tag = "div"
    for block in root.iter("br", "div", "p", "td", "th"):
        if next(block.iterancestors("pre"), None) is None:
            block.text = f" {block.text or ''}"
            block.tail = f" {block.tail or ''}"
    lines = [*_iter_lines(root)]
    counts = Counter(line.text for line in lines)
    for line in lines:
        line.is_title = line.is_title and counts[line.text] < _REPEATED_MIN
    candidates = [line for line in lines if line.is_title]
    if sum(len(line.text) for line in candidates) > _BOLD_SHARE_MAX * sum(len(line.text) for line in lines):
        return
    for is_title, group in groupby(lines, key=attrgetter("is_title")):
        run = [*group]
        if is_title and len(run) < _COVER_LINES_MIN:
            for line in run:
                line.element.clear(keep_tail=True)
                line.element.tag = "h2"
                line.element.text = line.text


def _iter_lines(element: Any) -> Iterator[_Line]:
    """Yield what is shown as one line or paragraph, such as a short table of one row."""
    for child in element:
        rows = [row for row in child.findall(".//tr") if join_text(row)] if child.tag == "table" else []
        if len(rows) == 1 and len(text := join_text(child)) <= _LENGTH_MAX:
            yield _make_line(child, text, may_be_title=True)
        elif len(rows) > 1 or child.tag in _WITHOUT_TITLES:
            yield _make_line(child, join_text(child), may_be_title=False)
        elif next(child.iterdescendants(*BLOCKS), None) is not None:
            yield from _iter_lines(child)
        elif text := join_text(child):
            yield _make_line(child, text, may_be_title=child.tag in _TITLE_TAGS)


def _make_line(element: Any, text: str, *, may_be_title: bool) -> _Line:
    is_short = may_be_title and len(text) <= _LENGTH_MAX and _TITLE.fullmatch(text) is not None
    is_bold = is_short and not text.endswith(".") and _is_bold(element)
    return _Line(element=element, text=text, is_title=is_bold)


def _is_bold(element: Any) -> bool:
    for node in element.xpath(".//text()[normalize-space()]"):
        holder = node.getparent()
        around = holder.getparent() if node.is_tail else holder
        looks = [around, *around.iterancestors()] if around is not None else []
        styles = (each.get("style", "")[:ATTRIBUTE_LENGTH_MAX] for each in looks)
        if not (any(each.tag in _BOLD_TAGS for each in looks) or any(map(_BOLD_STYLE.search, styles))):
            return False
    return True
