"""Converts reStructuredText to Markdown: underlined titles become headings, notes become alerts.

Directives that read a file are not followed.
"""

import io
import re
import textwrap
from collections.abc import Mapping, Sequence
from itertools import islice, pairwise
from typing import NamedTuple

from roamtui.convert.converted import ConvertedText
from roamtui.convert.decode import decode_text
from roamtui.convert.html_elements import make_absolute_href
from roamtui.convert.markdown_table import write_table
from roamtui.convert.separated import iter_rows
from roamtui.convert.xml_elements import parse_int
from roamtui.markdown.containers import KINDS
from roamtui.markdown.escaping import (
    MARKDOWN_ONLY,
    escape_inline,
    escape_line_starts,
    write_code,
    write_heading,
    write_link,
    write_script,
)

_ADORNMENT = re.compile(r"(?!::$)([!-/:-@\[-`{-~])\1*")
_SHORT_ADORNMENT_MIN = 4
"""From this length on, an adornment may be shorter than its title, as in docutils."""
_LINE = re.compile(r"( *)((?:[-*+]|(?:\d{1,9}|#)[.)]) +)?(.*)")
"""The indent, the mark of a list item, and the words of a line."""
_DIRECTIVE = re.compile(r"\.\. ([a-z-]+)::\s*(.*)")
_CODE_KINDS = frozenset({"math", "code", "code-block", "sourcecode", "parsed-literal", "prompt", "doctest"})
_LANGUAGE = re.compile(r"[\w+#.-]*")
_TABLE_KINDS = frozenset({"list-table", "csv-table"})
_ITEM_MARK = re.compile(r"[-*+](?: +|$)")
_MARKS = re.compile(r"(?:[-*+](?: +|$))+")
_COMMENT = re.compile(r"\.\.(?: +(?![\[_|]|[\w.+:-]+ ?::).*)?|\.\. \|.+\| replace::.*")
"""The first line of a comment or of a substitution. The indented lines below it belong to it."""
_SUBSTITUTION = re.compile(r"^ *\.\. \|(.+)\| replace::(.*\n(?: +\S.*\n)*)", re.MULTILINE)
_SUBSTITUTED = re.compile(r"``.+?``|\|(\S(?:[^|]*[^|\s])?)\|_{0,2}")
"""Literal text, or a name in bars that is replaced by other words."""
_NESTING_MAX = 10
"""Maximum depth of nested admonitions. Deeper ones stay as they are."""
_BORDER = re.compile(r"=+(?:\s+=+)+")
"""The first and last line of a simple table, and the line below its header."""
_CODE_START = re.compile(rf">>> |\+(?:[-=]+\+)+$|{_BORDER.pattern}$")
"""First line of a doctest or a table, which is written as code."""
_ROLE_NAME = r":[A-Za-z][\w.+:-]{0,60}:"
_TITLED_ROLE = re.compile(rf"(?!:(?:code|math|samp):){_ROLE_NAME}`([^`<>]*[^`<>\s])\s+<[^`<>]+>`")
"""A role with a title and a target. A reader sees only the title."""
_SHORTENED_ROLE = re.compile(rf"{_ROLE_NAME}`(?:~(?:\w+\.)*|!)(?=\w)")
"""The start of a role that shows only the last part of its name (`~`), or is not a link (`!`)."""
_ROLE = re.compile(rf"{_ROLE_NAME}(?=`)")
_SCRIPT = re.compile(r"(?:\\ )?:(sup|sub)(?:erscript|script)?:`([^`]*)`(?:\\ )?")
_ESCAPED_SPACE = re.compile(r"\\ (?=[`*|:])|(?<=[`*|])\\ ")
"""An invisible space that joins a word and the marked text next to it."""
_OPTION = re.compile(r":([a-z-]+):((?: .*)?)$", re.MULTILINE)
_OPTIONS = re.compile(r"\A(?::[a-z-]+:(?: .*)?\n)+")
"""Options of a directive, before its content. A role has no space after its name."""
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
"""Escaped signs and marked text, in the first group, or else signs that are markup in Markdown only.

Stars are markup in reStructuredText at the bounds of a word, but not between quotes or brackets. A word that
starts with an underscore is neither a reference nor the target of one.
"""
_SIGN = re.compile(r"[^\w\s]|(?<![^\W_])_|_(?![^\W_])")


class _TitleStyle(NamedTuple):
    character: str
    has_overline: bool


class _Item(NamedTuple):
    """An open list item: the columns of its mark and its words, and the column of its words in Markdown."""

    indent: int
    column: int
    shown_column: int
    number: int


def convert_rst(data: bytes, name: str) -> ConvertedText:
    """Convert a reStructuredText file to Markdown."""
    text, notes = decode_text(data, name)
    lines = [line.expandtabs().rstrip() for line in re.split(r"\r\n?|\n", text)]
    named = _SUBSTITUTION.findall("\n".join([*lines, ""]))
    writer = _Writer({key: " ".join(words.split()) for key, words in named})
    return ConvertedText(text="\n".join(writer.write_lines(lines)).strip("\n") + "\n", notes=notes)


class _Writer:
    """Writes lines as Markdown. `substitutions` has the words that replace names in bars."""

    def __init__(self, substitutions: Mapping[str, str]) -> None:
        self._substitutions = substitutions
        self._styles: list[_TitleStyle] = []
        """The styles of titles, in the order of their levels."""

    def write_lines(self, lines: Sequence[str], depth: int = 0) -> list[str]:
        """Write lines that are inside `depth` admonitions."""
        out: list[str] = []
        items: list[_Item] = []
        position = block_start = 0
        while position < len(lines):
            indent, mark, words = _LINE.findall(lines[position])[0]
            start = _enter_line(items, len(indent), mark, words)
            style = _read_title_style(lines, position, is_start=position == block_start)
            if style is not None:
                if style not in self._styles:
                    self._styles.append(style)
                title = self._write_inline(lines[position + style.has_overline].strip())
                out += ["", write_heading(self._styles.index(style) + 1, title), ""]
                position += 3 if style.has_overline else 2
                block_start = position
                continue
            position += 1
            if not lines[position - 1] or words.startswith(".. "):
                block_start = position
            if words == ".." and not any(lines[position : position + 1]):
                continue
            if _COMMENT.fullmatch(words):
                position = block_start = _find_block_end(lines, position, len(indent) + len(mark))
                continue
            words, block, end = self._write_block(lines, position, len(indent) + len(mark), words, depth)
            if words or not block:
                out.append(start + escape_line_starts(self._write_inline(words)))
            if block:
                margin = " " * (items[-1].shown_column if items else 0)
                out += ["", textwrap.indent(block, margin), ""]
                position = block_start = end
        return [line for line, after in pairwise([*out, ""]) if line.strip() or after.strip()]

    def _write_block(
        self, lines: Sequence[str], position: int, column: int, words: str, depth: int
    ) -> tuple[str, str, int]:
        """Write the code, table or admonition that begins with `words`, the line above `position`.

        Return what is left of the words, the block, which may be empty, and the position after the block.
        """
        if _CODE_START.match(words):
            end = _find_code_end(lines, position, is_simple_table=_BORDER.match(words) is not None)
            return "", write_code(_dedent(lines[position - 1 : end])), end
        if not words.endswith("::") and not words.startswith(".. "):
            return words, "", position
        end = _find_block_end(lines, position, column)
        if directive := _DIRECTIVE.fullmatch(words):
            block = self._write_directive(
                directive[1], directive[2], textwrap.dedent("\n".join(lines[position:end])), depth
            )
            return ("", block, end) if block else (words, "", position)
        if words.startswith(".. ") or end == position:
            return words, "", position
        return (
            words.rstrip(": ") + (":" if len(words) > 2 else ""),
            write_code(_dedent(lines[position:end])),
            end,
        )

    def _write_directive(self, kind: str, argument: str, body: str, depth: int) -> str:
        """Write a directive. Return an empty string if it stays as it is."""
        settings = _OPTIONS.match(f"{body}\n")
        content = body[settings.end() :] if settings else body
        options = dict(_OPTION.findall(settings[0] if settings else ""))
        if kind == "math":
            content = f"{argument}\n{content}"
            argument = ""
        if kind in _CODE_KINDS and _LANGUAGE.fullmatch(argument) and content.strip():
            caption = self._write_inline(options.get("caption", "").strip())
            code = write_code(content.strip("\n"), argument)
            return f"{caption}\n\n{code}".lstrip("\n")
        if kind in _TABLE_KINDS:
            return self._write_table(kind, argument, options, content)
        if kind not in KINDS or depth >= _NESTING_MAX:
            return ""
        # only a generic admonition has its title in its first line
        title = f" {self._write_inline(argument)}" if kind == "admonition" else ""
        words = [] if kind == "admonition" else [argument]
        written = "\n".join(self.write_lines([*words, *content.split("\n")], depth + 1)).strip("\n")
        lines = f"[!{kind}]{title}\n{written}".rstrip().split("\n")
        return "\n".join(f"> {line}".rstrip() for line in lines)

    def _write_table(self, kind: str, title: str, options: Mapping[str, str], content: str) -> str:
        delimiter = options.get("delim", ",").strip().replace("space", " ")
        rows: list[list[str]] = []
        if kind == "list-table":
            rows = [[self._write_cell(cell) for cell in _split_items(row)] for row in _split_items(content)]
        elif len(delimiter) == 1 and delimiter != '"':
            head = options.get("header", "").strip()
            read = iter_rows(io.StringIO(f"{head}\n{content.strip()}"), delimiter)
            rows = [[self._write_inline(" ".join(cell.split())) for cell in row] for _, row in read]
        if not any(rows):
            return ""
        header_row_count = parse_int(options.get("header-rows", "").strip()) + ("header" in options)
        table = write_table(rows[:header_row_count], rows[header_row_count:])
        return f"{self._write_inline(title)}\n\n{table}".strip("\n")

    def _write_cell(self, cell: str) -> str:
        """Write what is in a cell of a table on one line, without the marks of lists and directives."""
        words: list[str] = []
        is_option = False
        for line in cell.split("\n"):
            text = _MARKS.sub("", line.strip())
            directive = _DIRECTIVE.fullmatch(text)
            is_option = bool(directive) or (is_option and _OPTION.fullmatch(text) is not None)
            words.append(directive[2] if directive else "" if is_option else text)
        return self._write_inline(" ".join(filter(None, words)))

    def _write_inline(self, text: str) -> str:
        """Convert raised and lowered text and links, and escape what is markup in Markdown only."""
        text = _SUBSTITUTED.sub(lambda name: self._substitutions.get(name[1], name[0]), text)
        literals = iter(_LITERAL.findall(text))
        text = _MARKDOWN_ONLY.sub(
            lambda match: match[1] or _SIGN.sub(r"\\\g<0>", match[0]), _LITERAL.sub(_HIDDEN_LITERAL, text)
        )
        text = _ESCAPED_SPACE.sub("", _SCRIPT.sub(_write_script, text))
        text = _TITLED_ROLE.sub(lambda match: escape_inline(match[1]), text)
        text = _ROLE.sub("", _SHORTENED_ROLE.sub("`", text))
        text = _LINK.sub(
            lambda match: write_link(escape_inline(match[1]), make_absolute_href(match[2], None)), text
        )
        return re.sub(_HIDDEN_LITERAL, lambda _: next(literals), text)


def _enter_line(items: list[_Item], indent: int, mark: str, words: str) -> str:
    """Return the start of a line in Markdown: its indent, and its mark, with the next number for `#.`.

    Close the items that end before the line, and open its own. Indent it by at most three spaces more than
    the item around it, because Markdown reads four as code.
    """
    closed: _Item | None = None
    while words and items and indent < items[-1].column:
        closed = items.pop()
    inner = items[-1] if items else _Item(0, 0, 0, 0)
    start = " " * (inner.shown_column + min(3, max(0, indent - inner.column)))
    if not mark:
        return start if words else ""
    name = mark.rstrip(" .)")
    number = int(name) if name.isdecimal() else 0
    if name == "#":
        number = 1 + (closed.number if closed and closed.indent == indent else 0)
    start += f"{mark.strip()} ".replace("#", str(number))
    items.append(_Item(indent, indent + len(mark), len(start), number))
    return start


def _dedent(lines: Sequence[str]) -> str:
    return textwrap.dedent("\n".join(lines)).strip("\n")


def _split_items(content: str) -> list[str]:
    items: list[list[str]] = []
    for line in textwrap.dedent(content).split("\n"):
        if mark := _ITEM_MARK.match(line):
            items.append([" " * mark.end() + line[mark.end() :]])
        elif items:
            items[-1].append(line)
    return [textwrap.dedent("\n".join(item)) for item in items]


def _read_title_style(lines: Sequence[str], position: int, *, is_start: bool) -> _TitleStyle | None:
    """Return the style of a title that begins at a line, or None.

    `is_start` says whether a block may begin here. A title without an overline needs that.
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


def _find_block_end(lines: Sequence[str], start: int, indent: int) -> int:
    """Return the position after the last line, from `start` on, that is indented further than `indent`."""
    position = end = start
    while position < len(lines) and (not lines[position] or not lines[position][: indent + 1].strip()):
        position += 1
        end = position if lines[position - 1] else end
    return end


def _find_code_end(lines: Sequence[str], start: int, *, is_simple_table: bool) -> int:
    """Return the position of the next empty line or, for a simple table, of the one below its last border."""
    borders = (number for number in range(start, len(lines)) if _BORDER.fullmatch(lines[number].strip()))
    for number in islice(borders, 2 if is_simple_table else 0):  # the first may be below the header
        if not any(lines[number + 1 : number + 2]):
            return number + 1
    return next((number for number in range(start, len(lines)) if not lines[number]), len(lines))


def _write_script(match: re.Match[str]) -> str:
    tag, words = match.groups()
    before, after = match.string[: match.start()], match.string[match.end() :]
    may_join = tag == "sup" or before[-1:].isdigit() or after[:1].isdigit()  # unlike the 2 of H2O
    return write_script(words, tag) if may_join else words
