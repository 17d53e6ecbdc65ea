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

_TAB_LENGTH = 8
_PARAGRAPH_INDENT_MAX = 3
"""Markdown reads a deeper indent as code."""
_ADORNMENT = re.compile(r"(?!::$)([!-/:-@\[-`{-~])\1*")
_SHORT_ADORNMENT_MIN = 4
"""An adornment with this length may be shorter than its title, as in docutils."""
_BULLET = re.compile(r"[-*+•‣⁃]\s")
_LIST_ITEM = re.compile(r"([-*+]|\d{1,9}[.)])\s+")
_CODE_DIRECTIVE = re.compile(
    r"\.\. (?:math::|(?:code|code-block|sourcecode|parsed-literal|prompt|doctest)::(?:\s+(?P<language>[\w+#.-]+).*)?)"
)
_DIRECTIVE_OPTION = re.compile(r"\s*:[\w-]+:(?:\s|$)")
_LABEL = re.compile(r"\.\. _.+:")
_COMMENT = re.compile(r"\.\.(?:$|\s+(?=\S)(?!\[|_.+:(?: |$)|.*::))")
"""Two dots, unless they start a directive, a footnote or a link target."""
_SIMPLE_TABLE = re.compile(r"=+(?:\s+=+)+")
_CODE_START = re.compile(r">>> |\+(?:[-=]+\+)+$|" + _SIMPLE_TABLE.pattern + "$")
"""First line of a doctest or a table, which is written as code up to the next empty line."""
_ROLE = re.compile(r":[A-Za-z][\w.+:-]{0,60}:(?=`)")
_LINK = re.compile(r"`([^`<]*[^`<\s])\s*<(https?://[^<>`\s]+)>`__?")
_TAG_LIKE = re.compile(r"(``.+?``|`[^`]*`)|<(?=[A-Za-z/!?])|&(?=#?\w{1,32};)")
"""Literal text (in the group), or a character that Markdown would read as the start of HTML."""


def convert_rst(text: str) -> str:
    """Convert reStructuredText to Markdown."""
    normal = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = [line.expandtabs(_TAB_LENGTH).rstrip() for line in normal.split("\n")]
    styles: list[tuple[str, bool]] = []
    """Adornments in the order of their levels: the character, and whether there is an overline too."""
    out: list[str] = []
    position = 0
    while position < len(lines):
        content = lines[position].lstrip()
        indent = len(lines[position]) - len(content)
        title, code = _read_title(lines, position), _read_code(lines, position, indent)
        position += 1
        if title is not None:
            words, style, position = title
            if style not in styles:
                styles.append(style)
            out += ["", write_heading(styles.index(style) + 1, _write_inline(words)), ""]
        elif code is not None:
            out += ["", code[0], ""]
            position = code[1]
        elif _COMMENT.match(content):
            if content != ".." or any(lines[position : position + 1]):
                _, position = _read_block(lines, position, indent)
        elif not _LABEL.fullmatch(content):
            item = _LIST_ITEM.match(content)
            mark = f"{item[1]} " if item else ""
            words = content[item.end() :] if item else content
            body: list[str] = []
            end = position
            if words.endswith("::") and not words.startswith(".. "):
                body, end = _read_block(lines, position, indent + len(mark))
            if body:
                words = words[:-1].rstrip(": ") + ":" if len(words) > 2 else ""
            if words or not body:
                out.append(" " * min(indent, _PARAGRAPH_INDENT_MAX) + mark + escape_line_starts(_write_inline(words)))
            if body:
                out += ["", _write_code(body), ""]
                position = end
    kept = [line for line, after in pairwise([*out, ""]) if line.strip() or after.strip()]
    return "\n".join(kept).strip("\n") + "\n"


def _read_code(lines: list[str], position: int, indent: int) -> tuple[str, int] | None:
    """Return the code block for a directive, doctest or table that starts at a line, and the position after it."""
    content = lines[position].lstrip()
    if directive := _CODE_DIRECTIVE.fullmatch(content):
        body, end = _read_block(lines, position + 1, indent)
        return _write_code([*dropwhile(_DIRECTIVE_OPTION.match, body)], directive["language"] or ""), end
    if not _CODE_START.match(content):
        return None
    end = position + 1
    # A simple table may have empty lines inside, but not after its last rule.
    while end < len(lines) and (
        lines[end] or (content[0] == "=" and not _SIMPLE_TABLE.fullmatch(lines[end - 1].lstrip()))
    ):
        end += 1
    return _write_code(lines[position:end]), end


def _read_title(lines: list[str], position: int) -> tuple[str, tuple[str, bool], int] | None:
    """Return the title that starts at a line, its adornment style, and the position after it, or None."""
    line, below, closing = [*lines[position : position + 3], "", ""][:3]
    if _ADORNMENT.fullmatch(line) and below:
        title = below.strip()
        is_title = closing[:1] == line[0] and _ADORNMENT.fullmatch(closing) and _is_long_enough(line, title)
        return (title, (line[0], True), position + 3) if is_title else None
    starts_text = (not position or not lines[position - 1]) and line[:1].strip() and not _BULLET.match(line)
    if starts_text and _ADORNMENT.fullmatch(below) and _is_long_enough(below, line):
        return line, (below[0], False), position + 2
    return None


def _is_long_enough(adornment: str, title: str) -> bool:
    is_title = len(adornment) >= len(title) or not _ADORNMENT.fullmatch(title)
    return is_title and len(adornment) >= min(len(title), _SHORT_ADORNMENT_MIN)


def _read_block(lines: list[str], start: int, indent: int) -> tuple[list[str], int]:
    """Return the lines from a position that are indented further than `indent`, and the position after them."""
    position = end = start
    while position < len(lines) and (
        not lines[position] or len(lines[position]) - len(lines[position].lstrip()) > indent
    ):
        position += 1
        end = position if lines[position - 1] else end
    return lines[start:end], end


def _write_code(lines: list[str], language: str = "") -> str:
    return write_code(textwrap.dedent("\n".join(lines)).strip("\n"), language)


def _write_inline(text: str) -> str:
    """Escape what looks like HTML, and convert links to other sites. Emphasis is written the same way in Markdown."""
    text = _LINK.sub(r"[\1](\2)", _ROLE.sub("", text))
    return _TAG_LIKE.sub(lambda match: match[1] or f"\\{match[0]}", text)


def convert_rst_file(data: bytes, name: str) -> ConvertedText:
    """Convert a reStructuredText file to Markdown."""
    text, notes = decode_text(data, name)
    return ConvertedText(text=convert_rst(text), notes=notes)
