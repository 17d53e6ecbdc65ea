"""The words of Markdown without its markup, on one line, such as for a title.

Patterns do this, because a text of 50 MB without headings has 250,000 titles: parsing each takes a minute.
"""

from __future__ import annotations

import re

from roamtui.document.plain import sanitise_line
from roamtui.markdown.inline import is_html_element

_MARKUP = re.compile(r"[<\[*_`|#>~]|^[ \t]*[-+:=]", re.MULTILINE)
_HIDDEN = re.compile(r"<!--.*?(?:-->|\Z)|^[ \t]*(?:`{3}|~{3}|:{3}|[|=_~*+ \t:-]+$)[^\n]*", re.DOTALL | re.MULTILINE)
"""Comments, and lines of rules and fences."""
_IMAGE = re.compile(r"!\[[^\[\]]*\](?:\([^()\n]*(?:\)|\Z)|\[[^\[\]\n]*\])")
_LINK = re.compile(r"\[([^\[\]]*)\](?:\([^()\n]*(?:\)|\Z)|\[[^\[\]\n]*\])")
_TAG = re.compile(r"</?([A-Za-z][\w-]*)(?:\s[^<>]*)?/?(?:>|\Z)")
_LINE_MARKS = re.compile(r"^[ \t]*(?:(?:[-*+>]|#{1,6}|\d{1,9}[.)])[ \t]+|\|)+", re.MULTILINE)
_SIGNS = re.compile(r"\*+|__+|`+|~~|(?<!\w)_|_(?!\w)|(?<!\\)\|")


def extract_words(text: str) -> str:
    """Return the words of a piece of Markdown. Images, rules and HTML tags have none."""
    if _MARKUP.search(text):
        text = _LINK.sub(r"\1", _IMAGE.sub("", _HIDDEN.sub("", text)))
        text = _LINE_MARKS.sub("", strip_tags(text))
        text = _SIGNS.sub(lambda match: " " if match[0] == "|" else "", text)
    return sanitise_line(text)


def strip_tags(text: str) -> str:
    """Replace the tags of HTML with spaces, but keep other words in angle brackets."""
    return _TAG.sub(lambda match: " " if is_html_element(match[1].lower()) else match[0], text) if "<" in text else text
