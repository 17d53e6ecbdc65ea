"""Convert reStructuredText to Markdown: headings by adornments, code and tables as code, notes as alerts.

No directive reads a file.
"""

import re
import textwrap
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from roamtui.convert.converted import ConvertedText
from roamtui.convert.decode import decode_text
from roamtui.markdown.containers import KINDS
from roamtui.markdown.escaping import (
    MARKDOWN_ONLY,
    escape_inline,
    escape_line_starts,
    is_set_off,
    write_code,
    write_heading,
    write_link,
    write_script,
)

_ADORNMENT = re.compile(r"(?!::$)([!-/:-@\[-`{-~])\1*")
_SHORT_ADORNMENT_MIN = 4
"""An adornment with this length may be shorter than its title, as in docutils."""
_LINE = re.compile(r"( *)((?:[-*+]|(?:\d{1,9}|#)[.)]) +)?(.*)")
"""The indent, the mark of a list item, and the words of a line."""
_CODE_DIRECTIVE = re.compile(
    r"\.\. (?:math|code|code-block|sourcecode|parsed-literal|prompt|doctest)::\s*([\w+#.-]*)"
)
_COMMENT = re.compile(r"\.\.(?: +(?![\[_|]|[\w.+:-]+ ?::).*)?")
"""The first line of a comment. Indented lines below it belong to the comment."""
_ADMONITION = re.compile(rf"\.\. ({'|'.join(KINDS)})::\s*(.*)")
_NESTING_MAX = 10
"""Maximum depth of nested admonitions. Deeper ones stay as they are."""
_CODE_START = re.compile(r">>> |\+(?:[-=]+\+)+$|=+(?:\s+=+)+$")
"""First line of a doctest or a table, which is written as code up to the next empty line."""
_ROLE_NAME = r":[A-Za-z][\w.+:-]{0,60}:"
_TITLED_ROLE = re.compile(rf"(?!:(?:code|math|samp):){_ROLE_NAME}`([^`<>]*[^`<>\s])\s+<[^`<>]+>`")
"""A role with a title and a target. A reader sees only the title."""
_SHORTENED_ROLE = re.compile(rf"{_ROLE_NAME}`(?:~(?:\w+\.)*|!)(?=\w)")
"""The start of a role that shows only the last part of its name (`~`), or is not a link (`!`)."""
_ROLE = re.compile(rf"{_ROLE_NAME}(?=`)")
_SCRIPT = re.compile(r"(?:\\ )?:(sup|sub)(?:erscript|script)?:`([^`]*)`(?:\\ )?")
_ESCAPED_SPACE = re.compile(r"\\ (?=[`*|:])|(?<=[`*|])\\ ")
"""An invisible space that joins a word and the marked text next to it."""
_OPTIONS = re.compile(r"\A(?::(?!caption)[a-z-]+:.*\n)+")
"""Options of a directive, before its code."""
_LINK = re.compile(r"`([^`<]*[^`<\s])\s*<(https?://[^<>`\s]+)>`__?")
_LITERAL = re.compile("``.+?``")
_HIDDEN_LITERAL = "``\0``"
"""Stands for literal text while the marks around it are converted."""
_MARKDOWN_ONLY = re.compile(
    rf"(\\.|``|`[^`]*`)|{MARKDOWN_ONLY}"
    r"|(?<=[\w!#$%&)+,.;=>?@\]^|}~])\*+(?=[\w#$%&(+<=@\[^{|~])"
    r"|(?<=\()\*+(?=\))|(?<=\[)\*+(?=\])|(?<=\")\*+(?=\")|(?<=')\*+(?=')"
    r"|(?<![\w`\]|])(?<!\.\. )_\w*"
)
"""Escaped signs and text between marks (in the group), or signs that are markup in Markdown only.

Stars are markup in reStructuredText at the bounds of a word, but not between quotes or brackets. A word that
starts with an underscore is neither a reference nor the target of one.
"""
_SIGN = re.compile(r"[^\w\s]|(?<![^\W_])_|_(?![^\W_])")


class _TitleStyle(NamedTuple):
    """How a title is adorned."""

    character: str
    has_overline: bool


def convert_rst(data: bytes, name: str) -> ConvertedText:
    """Convert a reStructuredText file to Markdown."""
    text, notes = decode_text(data, name)
    lines = [line.expandtabs().rstrip() for line in re.split(r"\r\n?|\n", text)]
    return ConvertedText(text="\n".join(_write_lines(lines, [])).strip("\n") + "\n", notes=notes)


def _write_lines(  # noqa: PLR0912 - one for each kind of line
    lines: list[str], styles: list[_TitleStyle], depth: int = 0
) -> list[str]:
    """Write lines as Markdown. `styles` of titles are in the order of their levels."""
    out: list[str] = []
    numbers: dict[int, int] = {}
    position = block_start = 0
    while position < len(lines):
        indent, mark, words = _LINE.findall(lines[position])[0]
        shown_mark = _number_item(numbers, len(indent), mark, words)
        style = _read_title_style(lines, position, is_start=position == block_start)
        if style is not None:
            if style not in styles:
                styles.append(style)
            title = _write_inline(lines[position + style.has_overline].strip())
            out += ["", write_heading(styles.index(style) + 1, title), ""]
            position += 3 if style.has_overline else 2
            block_start = position
            continue
        position += 1
        if not lines[position - 1] or words.startswith(".. "):
            block_start = position
        if _COMMENT.fullmatch(words):
            if words != ".." or any(lines[position : position + 1]):
                position = block_start = _find_block_end(lines, position, len(indent) + len(mark))
            continue
        start = end = position
        admonition = _ADMONITION.fullmatch(words) if depth < _NESTING_MAX else None
        if admonition:
            position = block_start = _find_block_end(lines, start, len(indent) + len(mark))
            out += ["", *_write_admonition(admonition, lines[start:position], styles, depth), ""]
            continue
        directive = _CODE_DIRECTIVE.fullmatch(words)
        is_code = directive or (words.endswith("::") and not words.startswith(".. "))
        block_end = _find_block_end(lines, start, len(indent) + len(mark)) if is_code else start
        if _CODE_START.match(words):
            start -= 1
            while end < len(lines) and lines[end]:
                end += 1
            words = ""
        elif is_code:
            end = block_end
            if end > start:
                words = "" if directive else words.rstrip(": ") + (":" if len(words) > 2 else "")
        if words or end == start:  # Markdown reads an indent of more than three spaces as code
            out.append(indent[:3] + shown_mark + escape_line_starts(_write_inline(words)))
        if end > start:
            code = textwrap.dedent("\n".join(lines[start:end])).strip("\n")
            if directive and lines[start]:
                code = _OPTIONS.sub("", code).strip("\n")
            out += ["", write_code(code, directive[1] if directive else ""), ""]
            position = end
    return [line for line, after in pairwise([*out, ""]) if line.strip() or after.strip()]


def _number_item(numbers: dict[int, int], indent: int, mark: str, words: str) -> str:
    """Return the mark of a line and a space, with the next number for `#.`.

    `numbers` has the number of the last item of each list, by its indent. Other text ends a list.
    """
    for ended in [key for key in numbers if words and key >= indent + bool(mark)]:
        del numbers[ended]
    name = mark.rstrip(" .)")
    if name == "#" or name.isdecimal():
        numbers[indent] = numbers.get(indent, 0) + 1 if name == "#" else int(name)
    return mark and f"{mark.strip()} ".replace("#", str(numbers.get(indent)))


def _write_admonition(
    first_line: re.Match[str], lines: Sequence[str], styles: list[_TitleStyle], depth: int
) -> list[str]:
    """Write an admonition, such as a warning, as an alert."""
    kind, words = first_line.groups()
    body = _OPTIONS.sub("", textwrap.dedent("\n".join(lines)) + "\n").split("\n")
    start = f"[!{kind}]"
    if kind == "admonition":  # any other has no title in its first line
        start = f"{start} {_write_inline(words)}"
    else:
        body.insert(0, words)
    content = "\n".join(_write_lines(body, styles, depth + 1)).strip("\n")
    return [f"> {line}".rstrip() for line in f"{start}\n{content}".rstrip().split("\n")]


def _read_title_style(lines: list[str], position: int, *, is_start: bool) -> _TitleStyle | None:
    """Return the style of a title that begins at a line, or None.

    A title without a line above it begins only where a block may, which `is_start` says.
    """
    line = lines[position]
    below = lines[position + 1] if position + 1 < len(lines) else ""
    closing = lines[position + 2] if position + 2 < len(lines) else ""
    if _ADORNMENT.fullmatch(line) and below.strip() and closing == line:
        return _TitleStyle(line[0], has_overline=True)
    is_underlined = _ADORNMENT.fullmatch(below) and len(below) >= min(len(line), _SHORT_ADORNMENT_MIN)
    if is_underlined and line[:1].strip() and is_start:
        return _TitleStyle(below[0], has_overline=False)
    return None


def _find_block_end(lines: list[str], start: int, indent: int) -> int:
    """Return the position after the last line, from `start` on, that is indented further than `indent`."""
    position = end = start
    while position < len(lines) and (not lines[position] or not lines[position][: indent + 1].strip()):
        position += 1
        end = position if lines[position - 1] else end
    return end


def _write_inline(text: str) -> str:
    """Convert raised type and links, and escape what is markup in Markdown only."""
    literals = iter(_LITERAL.findall(text))
    text = _MARKDOWN_ONLY.sub(
        lambda match: match[1] or _SIGN.sub(r"\\\g<0>", match[0]), _LITERAL.sub(_HIDDEN_LITERAL, text)
    )
    text = _ESCAPED_SPACE.sub("", _SCRIPT.sub(_write_script, text))
    text = _TITLED_ROLE.sub(lambda match: escape_inline(match[1]), text)
    text = _ROLE.sub("", _SHORTENED_ROLE.sub("`", text))
    text = _LINK.sub(lambda match: write_link(escape_inline(match[1]), match[2]), text)
    return re.sub(_HIDDEN_LITERAL, lambda _: next(literals), text)


def _write_script(match: re.Match[str]) -> str:
    tag, words = match.groups()
    before, after = match.string[: match.start()], match.string[match.end() :]
    return write_script(words, tag) if is_set_off(tag, before, after) else words
