"""Lines of text as lines of Markdown that mean no more than the text did."""

from __future__ import annotations

import re

_LINE_START = re.compile(
    r"^(?=#{1,6}(?:\s|$)|>|[-+*](?:\s|$)|(?:=+|-+|_+)\s*$|_\s+_|~{3}|`{3}[^`]*$|:(?:\s|$)|\[[^\]]{0,200}\]:)",
    re.MULTILINE,
)
"""Where a line of text would begin something else in Markdown."""
_NUMBER_START = re.compile(r"^(\d{1,9})(?=[.)](?:\s|$))", re.MULTILINE)
_SPECIAL = re.compile(
    r"\\(?=[!-/:-@\[-`{-~])"
    r"|[`*](?!\s)|(?<=\S)\*"
    r"|(?<![^\W_])_|_(?![^\W_])"
    r"|<(?=[A-Za-z/!?])"
    r"|&(?=#?\w{1,32};)"
    r"|\](?=[(\[])"
    r"|~(?=~)"
)
"""Characters of a text that Markdown could take for marks."""
_BACKSLASH = r"\\"
_CLOSING_HASHES = re.compile(r"(?<=\s)(?=#+$)")
_TICKS = re.compile("`{3,}")
_SURROGATES = re.compile("[\ud800-\udfff]")


def escape_marks(text: str) -> str:
    """Return a text with a backslash before what Markdown could take for marks within a line."""
    return _SPECIAL.sub(r"\\\g<0>", text)


def escape_line_starts(text: str) -> str:
    """Return lines with a backslash before what would make one a heading, a list, a quote or code."""
    return _NUMBER_START.sub(r"\1\\", _LINE_START.sub(r"\\", text))


def write_heading(level: int, title: str) -> str:
    """Return a heading whose text is Markdown, without a line end.

    Args:
        level: From 1 on; more than 6 count as 6.
        title: Markdown; line ends in it count as blanks.
    """
    return f"{'#' * max(1, min(6, level))} {_CLOSING_HASHES.sub(_BACKSLASH, ' '.join(title.split()))}"


def write_code(text: str, language: str = "") -> str:
    """Return a code block whose fence is longer than any in the text, without a line end."""
    fence = "`" * max(3, 1 + max(map(len, _TICKS.findall(text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}"


def replace_surrogates(text: str) -> str:
    """Return a text that can be written as UTF-8: halves of characters are replaced."""
    return _SURROGATES.sub("\N{REPLACEMENT CHARACTER}", text)
