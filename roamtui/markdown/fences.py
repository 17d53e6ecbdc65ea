"""The lines that open and close blocks of code."""

import re

FENCE = r"(?P<around>(?:>[ \t]*|(?:[-+*]|[0-9]{1,9}[.)])[ \t]+)*)(?P<mark>`{3,}|~{3,})(?P<info>[^\r\n]*)"
"""A line that opens or closes a fence, without its indent. `around` has the marks of lists and quotes."""
_FENCE = re.compile(rf"[ \t]*{FENCE}")


def update_fence(opening: str, line: str) -> str:
    """Return the opening line of the fence that is open after `line`, or an empty string outside fences.

    `opening` is the line that opened the current fence, or an empty string.
    """
    opened = _FENCE.match(opening)
    if opened and opened["around"] and line.strip() and line[0] not in " \t>":  # the item or quote is over
        opened = None
    match = _FENCE.match(line)
    if opened is None:
        return line if match and not (match["mark"][0] == "`" and "`" in match["info"]) else ""
    marks = set(opened["around"]).intersection(">").union(" \t")  # a mark of a list would begin another item
    if match is None or not marks.issuperset(match["around"]):
        return opening
    is_end = match["mark"].startswith(opened["mark"]) and not match["info"].strip()
    return "" if is_end else opening
