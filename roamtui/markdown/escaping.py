"""Writes words, headings and code so that Markdown shows them as they are."""

import re
from collections.abc import Iterable

LINE_START = re.compile(
    r"^(?=#{1,6}(?:\s|$)|>|[-+*](?:\s|$)|(?:=+|(?=[|: \t]*-)[-|:][-|: \t]*+|_[_ \t]*|\*[* \t]*)\s*$"
    r"|~{3}|`{3}[^`]*$|:(?:::|\s|$)|!{3}|\?{3}|={3}[+!]? \""
    r"|\[(?:[^\]\\]|\\[\s\S]){0,999}\]:)",
    re.MULTILINE,
)
"""Line starts that Markdown reads as a heading, quote, list, rule, table, fence, definition or container."""
_NUMBER_START = re.compile(r"^(\d{1,9})(?=[.)](?:\s|$))", re.MULTILINE)
"""Start of a line that Markdown would read as an item of a numbered list."""
MARKDOWN_ONLY = (
    r"<(?=[A-Za-z/!?])|&(?=#?\w{1,32};)|\](?=[(\[])|\[(?=[\[^])|~(?=~)"
    r"|\$(?=\$|[^$\\^_]{0,500}[\\^_][^$]{0,500}\$)"
)
"""Characters that could be inline syntax in Markdown, but are text in reStructuredText. A dollar sign matches
if it could begin a formula."""
_INLINE_SYNTAX = re.compile(
    r"\\(?=[!-/:-@\[-`{-~\n]|\Z)"
    r"|`|(?<![\s*])\*++|(?<=\s)\*++(?!\s)"
    r"|(?<![\s\w])_++|(?<=\s)_++(?!\s)|(?<=[^\W_])_++(?!\w)"
    rf"|{MARKDOWN_ONLY}"
)
"""Characters that Markdown could read as inline syntax. Stars and underscores between spaces are not."""
_LINK_PART = re.compile(r"\\.|(`+)[^`]+\1|[\[\]]")
"""A bracket in the words of a link, or a part whose brackets do not count: an escaped sign, or code."""
_SIGN = re.compile(r"[\\`*_\[\]|<>~]|&(?=#?\w{1,32};)")
_ESCAPED_SIGN = re.compile(rf"\\({_SIGN.pattern})")
_HEADING_END = re.compile(r"(?<!\S)(?=#+$)|(?=\{:?\s*#[^{}]*\}$)")
"""Where the end of a heading begins that Markdown would read as closing signs or an anchor."""
_FENCES = re.compile("`{3,}")
_ORDINALS = frozenset({"st", "nd", "rd", "th"})
NOTE_MARK = re.compile("\ue000(\\d+)\ue001")
"""A reference to a note in HTML: its number between two characters for private use."""
WITHOUT_NOTE_SIGNS = {0xE000: None, 0xE001: None}
"""Table for `str.translate` that removes these two characters from the words of a document."""


def escape_inline(text: str) -> str:
    """Escape inline Markdown syntax with backslashes."""
    return _INLINE_SYNTAX.sub(lambda match: "\\" + "\\".join(match[0]), text)


def escape_signs(text: str) -> str:
    """Escape every sign that could be Markdown. `unescape_signs` does the reverse."""
    return _SIGN.sub(r"\\\g<0>", text)


def unescape_signs(text: str) -> str:
    """Return a line as it was before `escape_signs`."""
    return _ESCAPED_SIGN.sub(r"\1", text)


def escape_line_starts(text: str) -> str:
    """Escape line starts that Markdown would read as a heading, a list, a quote or code."""
    return _NUMBER_START.sub(r"\1\\", LINE_START.sub(r"\\", text))


def write_heading(level: int, title: str) -> str:
    """Write a heading on one line, without a line end. A level above 6 becomes 6."""
    line = _HEADING_END.sub(r"\\", " ".join(title.split()))
    return f"{'#' * max(1, min(6, level))} {line}"


def write_row(cells: Iterable[str]) -> str:
    """Write a row of a table. Its cells are Markdown, each on one line. Only their bars are escaped."""
    escaped = (cell.replace("|", r"\|") for cell in cells)
    return f"| {' | '.join(escaped)} |"


def write_link(words: str, href: str) -> str:
    """Write a link. Its words are Markdown already. Escape only brackets without a partner."""
    lone: list[int] = []
    for part in _LINK_PART.finditer(words):
        if part[0] == "]" and lone and words[lone[-1]] == "[":
            lone.pop()
        elif part[0] in "[]":
            lone.append(part.start())
    places = frozenset(lone)
    escaped = _LINK_PART.sub(lambda part: "\\" * (part.start() in places) + part[0], words)
    return f"[{escaped}]({href})"


def write_code(text: str, language: str = "") -> str:
    """Write a code block, without a line end. Its fence is longer than any fence in the text."""
    fence = "`" * max(3, 1 + max(map(len, _FENCES.findall(text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}"


def write_checkbox(*, is_checked: bool) -> str:
    """Write a checkbox of a task."""
    return "[x]" if is_checked else "[ ]"


def write_note_mark(number: int) -> str:
    """Write a reference to a note in the form of `NOTE_MARK`."""
    return f"\ue000{number}\ue001"


def write_script(words: str, tag: str) -> str:
    """Put tags around raised or lowered words that could join a number. Ordinals such as `4th` stay plain."""
    is_plain = words in _ORDINALS or not any(map(str.isalnum, NOTE_MARK.sub("", words)))
    return words if is_plain else f"<{tag}>{words}</{tag}>"
