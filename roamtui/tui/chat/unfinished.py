"""What a text that is still coming looks like: no mark shows for a moment that its end will turn into style."""

from __future__ import annotations

import re

_FENCE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)
_CUT_CITATION = re.compile(r" ?\[[0-9a-f]{0,8}\Z")
_CUT_STRONG = re.compile(r"\*{1,2}\Z")


def complete_marks(text: str) -> str:
    """Return Markdown that may end anywhere with its last marks closed, and without a citation that is not whole."""
    if len(_FENCE.findall(text)) % 2:
        return text
    text = _CUT_CITATION.sub("", text)
    paragraph = text[text.rfind("\n\n") + 1 :]
    if paragraph.count("`") % 2:
        return f"{text}`" if not text.endswith("`") else text[:-1]
    if paragraph.count("**") % 2:
        shown, cut = _CUT_STRONG.subn("", text)
        return shown if cut and text.endswith("**") else f"{shown.rstrip()}**"
    return text
