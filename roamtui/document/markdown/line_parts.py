"""For laying out Markdown in lines: the signs of list items, where a line may end, and the widths of table columns."""

from __future__ import annotations

from collections.abc import Sequence

BULLETS = "•◦▪"
"""Bullets of nested lists, outermost first. Deeper lists use them again."""
CHECKBOXES = {False: "☐ ", True: "☑ "}
"""Checkboxes of list items, by whether the item is done."""
RULE_WIDTH = 40
"""Width of a thematic break in cells."""
LINE_SPACE = r"[^\S\xa0\u202f]"
"""A regular expression for a space where a line may end."""
WIDE_CHARACTERS = (
    "\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6"
)
"""Ranges of the characters of scripts without spaces, in which a line may end after each character."""
UNBROKEN_TEXT = rf"[{WIDE_CHARACTERS}][、。，．」』）】〉》！？：；]*|(?:(?!{LINE_SPACE})[^{WIDE_CHARACTERS}])+"
"""A regular expression for a word, or for a wide character with the closing marks that may not begin a line."""


def compute_width_limit(widths: Sequence[int], room: int) -> int:
    """Compute the width that no column may exceed so that a table fits into `room`. `widths` are those without a limit.

    The wider columns thus get a common width. It is 0 if there is not even one cell for each column.
    """
    for width in sorted(set(widths), reverse=True):
        narrower = [cells for cells in widths if cells < width]
        limit = (room - sum(narrower)) // (len(widths) - len(narrower))
        if limit >= max(narrower, default=0):
            return limit
    return 0
