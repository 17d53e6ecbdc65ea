r"""Patterns for lines that could begin or end a block, and what follows from one line alone.

Every pattern of a line begins with a literal ``\n``, which `re` looks for much faster than for a class or an anchor.
"""

from __future__ import annotations

import re
from functools import lru_cache

_LINE = (
    r"(?:( {1,3})(?=[#`~<=\-])|(?=[#`~<=\-]))"
    r"(?:(#{1,6})((?:[ \t][^\n]*)?)$|(`{3,}(?=[^`\n]*$)|~{3,})|(<)[A-Za-z/!?]|(?<!\n\n)(=+|-+)[ \t]*$)"
)
_UNMARKED = r"[^\s|#\\`*_\[<&]"
_HEADING = rf"#(#{{0,5}})[ \t]+({_UNMARKED}(?:[^\n|#\\`*_\[<&]*{_UNMARKED})?)[ \t]*$"
_WHOLE_FENCE = r"```[^`\n|]*\n[^`]*+(?<=\n)`{3,}[ \t]*$"
_CANDIDATE = rf"(?:{_HEADING}|{_WHOLE_FENCE}|{_LINE})"
MORE_HASHES, TITLE, INDENT, HASHES, REST, FENCE, HTML, UNDERLINE = range(1, 9)
"""Groups of a candidate. The last one that took part tells its kind; without indent that group took no part."""

CANDIDATE = re.compile(rf"\n{_CANDIDATE}", re.MULTILINE)
"""A line that could be a heading or hide one: ATX, fence, HTML block, or what underlines a heading.

What most of them are is decided by the pattern itself. With `TITLE` it is a heading at column 0 that no other block can
take, and that group is its title as it stands. With no group at all it is a fence at column 0, to the end of the line
that closes it.
"""
FIRST_CANDIDATE = re.compile(_CANDIDATE, re.MULTILINE)
"""The same for a line without a line end before it."""

_DELIMITER_ROW = re.compile(r"\n[ \t]*[|:\-][|:\- \t]*$", re.MULTILINE)
_LIST_MARKER = re.compile(r"^ {0,3}(?:[-+*]|\d{1,9}[.)])(?:[ \t]|$)", re.MULTILINE)
_BLANK_LINE = re.compile(r"\n[ \t]*$", re.MULTILINE)
_PLAIN = r"(?:[^\s#`~<=>|:+*_\-\[\d]|\*{1,2}[^\s*]|\d+(?![\d.)]))"
"""How a line of prose may begin: with nothing that could be a mark of a block."""
_PLAIN_AFTER_BLANK = re.compile(rf"\n\n(?={_PLAIN})")
_PLAIN_START = re.compile(_PLAIN)
_PROSE = re.compile(rf"(?:=[^\n|]*\n)?(?:{_PLAIN}[^\n|]*\n)*")
_OUTDENTED = tuple(re.compile(rf"\n(?! {{{indent}}}| *\t|[ \t]*$)", re.MULTILINE) for indent in range(4))

TRIMMED = (
    "\t\n\v\f\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f"
    "\u205f\u3000"
)
"""What markdown-it-py strips from the ends of inline source."""
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


def trim(content: str) -> str:
    """Strip what markdown-it-py strips from the ends of inline source."""
    return content.strip(TRIMMED)


def trim_heading(rest: str) -> str:
    """Return the content of an ATX heading from what follows its opening sequence on the line."""
    if rest.endswith(("#", " ", "\t")):
        rest = rest.rstrip(" \t")
        unclosed = rest.rstrip("#")
        if unclosed.endswith((" ", "\t")):
            rest = unclosed
    return rest.strip(TRIMMED)


def is_plain(text: str, start: int) -> bool:
    """Tell whether a line begins with nothing that could be a mark of a block."""
    return _PLAIN_START.match(text, start) is not None


def is_prose(text: str, start: int, stop: int) -> bool:
    """Tell whether no line of a range begins with a mark of a block or holds a bar; the first may begin with ``=``."""
    return _PROSE.fullmatch(text, start, stop) is not None


def could_head_table(text: str, start: int) -> bool:
    """Tell whether a line holds a bar and the next one could make it the head of a table, whatever else it is."""
    end = text.find("\n", start)
    return end >= 0 and text.find("|", start, end) >= 0 and _DELIMITER_ROW.match(text, end) is not None


def has_list_marker(text: str, start: int, stop: int) -> bool:
    """Tell whether a line of a range begins with a list marker."""
    return _LIST_MARKER.search(text, start, stop) is not None


def is_blank_before(text: str, start: int) -> bool:
    """Tell whether the line before the one at `start` is blank or missing."""
    if start < 2 or text[start - 2] == "\n":
        return True
    previous = text.rfind("\n", 0, start - 1) + 1
    return text[start - 2] in " \t" and not text[previous : start - 1].strip(" \t")


def find_blank(text: str, start: int) -> int:
    """Return where the first blank line after the line at `start` begins, else the length of `text`."""
    found = _BLANK_LINE.search(text, start)
    return found.start() + 1 if found else len(text)


def find_plain_after_blank(text: str, start: int) -> int:
    """Return the next line after a blank one that begins with no mark, else the length of `text`."""
    found = _PLAIN_AFTER_BLANK.search(text, start)
    return found.end() if found else len(text)


def find_fence_end(text: str, start: int, marker: str) -> int:
    """Return the end of the line that closes a fence, without its line end; the length of `text` if none does."""
    first = text.find(marker, start)
    if first < 0:
        return len(text)
    end = first + len(marker)
    if text[first - 1] == "\n" and text[end : end + 1] == "\n":
        return end
    found = make_closing(marker).search(text, start)
    return found.end() if found else len(text)


@lru_cache(maxsize=64)
def make_closing(marker: str) -> re.Pattern[str]:
    """Return what finds a line that closes a fence begun with `marker`, from the line end before it."""
    return re.compile(rf"\n {{0,3}}{marker[0]}{{{len(marker)},}}[ \t]*$", re.MULTILINE)


def has_interruption(text: str, start: int, stop: int) -> bool:
    """Tell whether a range holds a candidate other than HTML that may not interrupt a paragraph."""
    for candidate in CANDIDATE.finditer(text, start, stop):
        if candidate.lastindex != HTML:
            return True
        opening = match_html(text[candidate.start(HTML) : next_line(text, candidate.end())].removesuffix("\n"))
        if opening is not None and opening[1]:
            return True
    return False


def next_line(text: str, offset: int) -> int:
    """Return where the line after the one that holds `offset` begins; the length of `text` after the last."""
    end = text.find("\n", offset)
    return len(text) if end < 0 else end + 1


def is_indented(text: str, start: int, stop: int, indent: int) -> bool:
    r"""Tell whether every line that is not blank has `indent` columns of indent, the one at `start` left out."""
    return _OUTDENTED[indent].search(text, start, stop) is None


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
