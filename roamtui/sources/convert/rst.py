"""Convert reStructuredText to Markdown: headings by their adornments, tables as code, the rest nearly as written.

Comments and the targets of internal links are left out. No directive reads a file.
"""

from __future__ import annotations

import re
import textwrap
from itertools import dropwhile, pairwise

from roamtui.sources.convert.converted import ConvertedText
from roamtui.sources.convert.escaping import escape_line_starts, write_code, write_heading
from roamtui.sources.decode import decode_text

_ADORNMENT = re.compile(r"(?!::$)([!-/:-@\[-`{-~])\1*")
_SHORT_ADORNMENT_MIN = 4
"""An adornment with this length may be shorter than its title, as in docutils."""
_ITEM = re.compile(r"([-*+]|\d{1,9}[.)])\s+")
_CODE_DIRECTIVE = re.compile(
    r"\.\. (?:math::|(?:code|code-block|sourcecode|parsed-literal|prompt|doctest)::(?:\s+(?P<language>[\w+#.-]+).*)?)"
)
_DIRECTIVE_OPTION = re.compile(r"\s*:[\w-]+:(?:\s|$)")
_COMMENT = re.compile(r"\.\.(?:$|\s+(?=\S)(?!\[|_.+: |.*::))")
"""Two dots, unless they start a directive, a footnote or a link to another site."""
_CODE_START = re.compile(r">>> |\+(?:[-=]+\+)+$|=+(?:\s+=+)+$")
"""First line of a doctest or a table, which is written as code up to the next empty line."""
_ROLE = re.compile(r":[A-Za-z][\w.+:-]{0,60}:(?=`)")
_LINK = re.compile(r"`([^`<]*[^`<\s])\s*<(https?://[^<>`\s]+)>`__?")
_TAG_LIKE = re.compile(r"(``.+?``|`[^`]*`)|<(?=[A-Za-z/!?])|&(?=#?\w{1,32};)")
"""Literal text (in the group), or a character that Markdown would read as the start of HTML."""


def convert_rst(data: bytes, name: str) -> ConvertedText:
    """Convert a reStructuredText file to Markdown."""
    text, notes = decode_text(data, name)
    lines = [line.expandtabs().rstrip() for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    styles: list[tuple[str, bool]] = []
    """Adornments in the order of their levels: the character, and whether there is an overline too."""
    out: list[str] = []
    position = 0
    while position < len(lines):
        content = lines[position].lstrip()
        indent = len(lines[position]) - len(content)
        title = _read_title(lines, position)
        position += 1
        if title is not None:
            words, style, position = title
            styles += [] if style in styles else [style]
            out += ["", write_heading(styles.index(style) + 1, _write_inline(words)), ""]
        elif directive := _CODE_DIRECTIVE.fullmatch(content):
            body, position = _read_block(lines, position, indent)
            out += _write_code([*dropwhile(_DIRECTIVE_OPTION.match, body)], directive["language"] or "")
        elif _CODE_START.match(content):
            end = position
            # A table between lines of "=" may have empty lines inside, but not after its last one.
            while end < len(lines) and (lines[end] or (content[0] == "=" and lines[end - 1].strip("= "))):
                end += 1
            out += _write_code(lines[position - 1 : end])
            position = end
        elif _COMMENT.match(content):
            if not content.startswith(".. _") and (content != ".." or any(lines[position : position + 1])):
                _, position = _read_block(lines, position, indent)
        else:
            item = _ITEM.match(content)
            mark, words = (f"{item[1]} ", content[item.end() :]) if item else ("", content)
            body, end = [], position
            if words.endswith("::") and not words.startswith(".. "):
                body, end = _read_block(lines, position, indent + len(mark))
            if body:
                words, position = words.rstrip(": ") + ":" * (len(words) > 2), end
            if words or not body:  # Markdown reads an indent of more than three spaces as code
                out.append(" " * min(indent, 3) + mark + escape_line_starts(_write_inline(words)))
            out += _write_code(body) if body else []
    kept = [line for line, after in pairwise([*out, ""]) if line.strip() or after.strip()]
    return ConvertedText(text="\n".join(kept).strip("\n") + "\n", notes=notes)


def _read_title(lines: list[str], position: int) -> tuple[str, tuple[str, bool], int] | None:
    """Return the title that starts at a line, its adornment style, and the position after it, or None."""
    line, below, closing = [*lines[position : position + 3], "", ""][:3]
    if _ADORNMENT.fullmatch(line):
        return (below.strip(), (line[0], True), position + 3) if below.strip() and closing == line else None
    starts_text = (not position or not lines[position - 1]) and line[:1].strip()
    if starts_text and _ADORNMENT.fullmatch(below) and len(below) >= min(len(line), _SHORT_ADORNMENT_MIN):
        return line, (below[0], False), position + 2
    return None


def _read_block(lines: list[str], start: int, indent: int) -> tuple[list[str], int]:
    """Return the lines from a position that are indented further than `indent`, and the position after them."""
    position = end = start
    while position < len(lines) and (not lines[position] or not lines[position][: indent + 1].strip()):
        position += 1
        end = position if lines[position - 1] else end
    return lines[start:end], end


def _write_code(lines: list[str], language: str = "") -> list[str]:
    return ["", write_code(textwrap.dedent("\n".join(lines)).strip("\n"), language), ""]


def _write_inline(text: str) -> str:
    """Escape what looks like HTML, and convert links to other sites. Emphasis is written the same way in Markdown."""
    text = _LINK.sub(r"[\1](\2)", _ROLE.sub("", text))
    return _TAG_LIKE.sub(lambda match: match[1] or f"\\{match[0]}", text)
