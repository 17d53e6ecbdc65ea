"""Turns bold lines into headings, in pages that have no headings, such as filings.

Three or more bold lines without text between them are a cover, so they stay as they are.
"""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from roamtui.convert.html_elements import ATTRIBUTE_LENGTH_MAX, BLOCKS, HEADINGS
from roamtui.convert.xml_elements import join_text

_BOLD_STYLE = re.compile(r"font-weight\s*:\s*(?:bold|[6-9]00)|(?:^|[\s;])font\s*:[^;]*\bbold", re.IGNORECASE)
_BOLD_TAGS = ("b", "strong")
_TITLE = re.compile(r"[^\W_].*[^\W_].*[^,;:]", re.DOTALL)
"""Text that may be a title: not in brackets, and not a bullet, a page number or a label."""
_TITLE_TAGS = ("p", "div", "center", "section")
_WITHOUT_TITLES = ("ul", "ol", "dl", "blockquote", "pre")
_LENGTH_MAX = 160
_COVER_LINES_MIN = 3
_REPEATED_MIN = 3
"""A line that occurs this often is the header of printed pages, not a title."""
_Line = tuple[Any, str, bool]
"""An element that a page shows as one line or paragraph, its words, and whether it looks like a title."""


def promote_titles(root: Any) -> None:
    """Turn the lines that look like titles into headings.

    A page with headings stays as it is, unless all of them are headers of printed pages.
    """
    headings = [*root.iter(*HEADINGS)]
    if any(count < _REPEATED_MIN for count in Counter(map(join_text, headings)).values()):
        return
    # Without these spaces, words that a page shows apart would be joined.
    for block in root.iter("br", "div", "p", "td", "th"):
        if next(block.iterancestors("pre"), None) is None:
            block.text = f" {block.text or ''}"
            block.tail = f" {block.tail or ''}"
    lines = [*_iter_lines(root)]
    counts = Counter(text for _, text, _ in lines)
    titles = {
        element: text
        for element, text, is_candidate in lines
        if is_candidate and counts[text] < _REPEATED_MIN
    }
    if not titles:
        return
    for heading in headings:
        heading.tag = "div"
    for is_title, group in groupby((element for element, _, _ in lines), titles.__contains__):
        run = [*group]
        if is_title and len(run) < _COVER_LINES_MIN:
            for element in run:
                element.clear(keep_tail=True)
                element.tag = "h2"
                element.text = titles[element]


def _iter_lines(parent: Any) -> Iterator[_Line]:
    for child in parent:
        rows = [row for row in child.findall(".//tr") if join_text(row)] if child.tag == "table" else []
        # a title may be in a short table
        is_row = len(rows) == 1 and len(join_text(child)) <= _LENGTH_MAX
        if len(rows) > 1 or child.tag in _WITHOUT_TITLES:
            yield child, join_text(child), False
        elif not is_row and next(child.iterdescendants(*BLOCKS), None) is not None:
            yield from _iter_lines(child)
        elif text := join_text(child):
            is_short = len(text) <= _LENGTH_MAX and _TITLE.fullmatch(text) is not None
            may_be_title = is_short and (is_row or child.tag in _TITLE_TAGS) and not text.endswith(".")
            yield child, text, may_be_title and _is_bold(child)


def _is_bold(element: Any) -> bool:
    for node in element.xpath(".//text()[normalize-space()]"):
        holder = node.getparent()
        around = holder.getparent() if node.is_tail else holder
        elements = [around, *around.iterancestors()] if around is not None else []
        styles = (each.get("style", "")[:ATTRIBUTE_LENGTH_MAX] for each in elements)
        if not (any(each.tag in _BOLD_TAGS for each in elements) or any(map(_BOLD_STYLE.search, styles))):
            return False
    return True
