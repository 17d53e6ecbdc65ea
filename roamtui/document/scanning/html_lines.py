"""What a line with a tag begins: the seven kinds of HTML block of the CommonMark specification.

The patterns are markdown-it-py's in another shape, held to it by a test: nearly every document has such a line, and
importing the parser for it takes as long as reading the document.
"""

from __future__ import annotations

import re
from functools import lru_cache

_KNOWN_LINE_MAX = 100
"""Characters; what shorter lines with a tag begin is remembered, since the same ones come again and again."""

_RAW_NAMES = frozenset(("script", "pre", "style", "textarea"))
_BLOCK_TAGS = """
address article aside base basefont blockquote body caption center col colgroup dd details dialog dir div dl dt fieldset
figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend li link main menu
menuitem nav noframes ol optgroup option p param search section summary table tbody td tfoot th thead title tr track ul
"""
_BLOCK_NAMES = frozenset(_BLOCK_TAGS.split())
_NAME = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9]*)(?=(/?>|\s|$))")
_VALUE = r"""(?:[^"'=<>`\x00-\x20]+|'[^']*'|"[^"]*")"""
_WHOLE_TAG = re.compile(
    r"<(?:[A-Za-z][A-Za-z0-9\-]*"
    rf"(?:\s+[A-Za-z_:][A-Za-z0-9:._\-]*(?:\s*=\s*{_VALUE})?)*\s*/?|/[A-Za-z][A-Za-z0-9\-]*\s*)>\s*$"
)
_RAW_END = re.compile(r"</(?a:script|pre|style|textarea)>", re.IGNORECASE)
_OTHER_ENDS = (
    ("<!--", re.compile(r"-->")),
    ("<?", re.compile(r"\?>")),
    ("<![CDATA[", re.compile(r"\]\]>")),
)
_DECLARATION = re.compile(r"<![A-Za-z]")
_DECLARATION_END = re.compile(r">")


def match_html(line: str) -> tuple[re.Pattern[str] | None, bool] | None:
    """Return what ends the HTML block that a line begins, and whether it may interrupt a paragraph; None if it is none.

    What ends it is None where that is a blank line.
    """
    return _match_known_html(line) if len(line) <= _KNOWN_LINE_MAX else _match_html(line)


def _match_html(line: str) -> tuple[re.Pattern[str] | None, bool] | None:
    tag = _NAME.match(line)
    if tag is not None:
        slash, name, after = tag.groups()
        if name.lower() in _RAW_NAMES and not slash and after != "/>":
            return _RAW_END, True
        if name.lower() in _BLOCK_NAMES:
            return None, True
    for opening, end in _OTHER_ENDS:
        if line.startswith(opening):
            return end, True
    if _DECLARATION.match(line):
        return _DECLARATION_END, True
    return (None, False) if _WHOLE_TAG.match(line) else None


_match_known_html = lru_cache(maxsize=1024)(_match_html)
