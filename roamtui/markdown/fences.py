"""The lines that open and close blocks of code."""

import re

_FENCE = re.compile(r"[ \t>]*(?P<mark>`{3,}|~{3,})(?P<info>[^\r\n]*)")
"""A line that opens or closes a fence, also inside a list item or a block quote."""


def update_fence(opening: str, line: str) -> str:
    """Return the opening line of the fence that is open after `line`, or an empty string outside fences.

    `opening` is the line that opened the current fence, or an empty string.
    """
    opened = _FENCE.match(opening)
    match = _FENCE.match(line)
    if match is None:
        return opening
    if opened is None:
        return "" if match["mark"][0] == "`" and "`" in match["info"] else line
    is_end = match["mark"].startswith(opened["mark"]) and not match["info"].strip()
    return "" if is_end else opening
