"""Markdown as the units that a quote may come from: paragraphs, list items, table rows, lines of code.

A reading by lines, forgiving and fast; what is a section is decided elsewhere, by CommonMark's own rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from roamtui.document.lines import normalise_line_ends
from roamtui.document.parse import measure_front_matter


class UnitKind(StrEnum):
    """What a unit is in Markdown."""

    PROSE = "prose"
    ITEM = "item"
    """A list item, without its marker."""
    ROW = "row"
    """A row of a table's body."""
    CODE = "code"
    """A line of code."""
    HEADING = "heading"
    """A heading's text, without marks."""
    TABLE_HEAD = "table_head"


@dataclass(frozen=True, slots=True)
class Unit:
    """Characters `start` (included) to `end` (excluded) of a text."""

    start: int
    end: int
    kind: UnitKind


_LINE = re.compile(r"([^\r\n]*)(?:\r\n?|\n|\Z)")
_QUOTE = re.compile(r"[ \t]*(?:>[ \t]?)*")
_FENCE = re.compile(r"(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}|~{3,})(?!.*`)")
_HEADING = re.compile(r"#{1,6}[ \t]+")
_UNDERLINE = re.compile(r"(?:=+|-+)[ \t]*$")
_RULE = re.compile(r"([-*_])(?:[ \t]*+\1){2,}[ \t]*$")
_TABLE_RULE = re.compile(r"\|?[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+\|?[ \t]*$")
_ITEM = re.compile(r"(?:[-*+•]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_NOISE = re.compile(
    r"(?:</?[A-Za-z][^>]*>[ \t]*)+$"  # tags alone
    r"|\[[^\]]+\]:[ \t]*\S+"  # a link's definition
    r"|(?:\[?!\[[^\]]*\]\([^)]*\)(?:\]\([^)]*\))?[ \t]*)+$"  # images alone
    r"|:{3,}|\{[%:].*\}$"  # directives
)
_COMMENT_START = re.compile(r"<!--(?!.*-->)")
_COMMENT = re.compile(r"<!--.*-->[ \t]*$")
_WORD = re.compile(r"[^\W_]")
_CODE_INDENT = 4


def find_units(text: str) -> tuple[Unit, ...]:
    """Return the units of a Markdown text in order; markers, rules, comments and other markup belong to none."""
    reader = _UnitReader(text)
    for start, end in _iterate_lines(text):
        reader.read_line(start, end)
    reader.close()
    return tuple(reader.units)


def _iterate_lines(text: str) -> Iterator[tuple[int, int]]:
    skipped = 0
    if text.startswith("---"):
        normal = normalise_line_ends(text)
        skipped = normal.count("\n", 0, measure_front_matter(normal))
    for number, match in enumerate(_LINE.finditer(text)):
        if number >= skipped:
            yield match.span(1)


class _UnitReader:
    """Reads a text line by line and keeps the block that may go on."""

    def __init__(self, text: str) -> None:
        self.units: list[Unit] = []
        self._text = text
        self._open: UnitKind | None = None
        self._lines: list[tuple[int, int]] = []
        self._fence = ""
        self._in_comment = False
        self._in_table = False
        self._in_list = False

    def read_line(self, start: int, end: int) -> None:
        content_start = self._skip_quote(start, end)
        line = self._text[content_start:end]
        if self._fence:
            self._read_code(line, content_start, end)
        elif self._in_comment:
            self._in_comment = "-->" not in line
        elif not line.strip():
            self.close()
        elif not self._read_mark(line, start, content_start):
            self._read_text(line, start, content_start, end)

    def close(self) -> None:
        """End the block that is open."""
        if self._open is UnitKind.PROSE and self._lines and self._text[self._lines[0][0]] == "|":
            for start, end in self._lines:
                self._add(start, end, UnitKind.ROW)
        elif self._open is not None and self._lines:
            self._add(self._lines[0][0], self._lines[-1][1], self._open)
        self._open = None
        self._lines = []
        self._in_table = False

    def _skip_quote(self, start: int, end: int) -> int:
        match = _QUOTE.match(self._text, start, end)
        return match.end() if match else start

    def _read_code(self, line: str, start: int, end: int) -> None:
        if line.strip().startswith(self._fence) and not line.strip().strip(self._fence[0]):
            self._fence = ""
        else:
            self._add(start, end, UnitKind.CODE)

    def _read_mark(self, line: str, start: int, content_start: int) -> bool:
        """Read a line that is more markup than text; return whether it was one."""
        if line[0].isalpha():
            return False
        fence = _FENCE.match(line)
        heading = _HEADING.match(line)
        if fence is not None:
            self.close()
            self._fence = fence.group(1)
        elif heading is not None and content_start - start < _CODE_INDENT:
            self.close()
            self._in_list = False
            title = line.rstrip()
            if title.rstrip("#")[-1:].isspace():
                title = title.rstrip("#")
            self._add(content_start + heading.end(), content_start + len(title), UnitKind.HEADING)
        elif _COMMENT_START.match(line):
            self.close()
            self._in_comment = True
        elif self._lines and self._open is UnitKind.PROSE and _UNDERLINE.match(line):
            self._open = UnitKind.HEADING
            self.close()
        elif "|" in line and _TABLE_RULE.match(line):
            self._begin_table()
        elif _RULE.match(line) or _NOISE.match(line) or _COMMENT.match(line):
            self.close()
        else:
            return False
        return True

    def _begin_table(self) -> None:
        """Make the line before a table's rule its head."""
        if self._lines:
            head_start, head_end = self._lines.pop()
            self.close()
            self._add(head_start, head_end, UnitKind.TABLE_HEAD)
        self._in_table = True

    def _read_text(self, line: str, start: int, content_start: int, end: int) -> None:
        item = None if line[0].isalpha() else _ITEM.match(line)
        if self._in_table:
            self._add(content_start, end, UnitKind.ROW)
        elif item is not None:
            self.close()
            self._in_list = True
            self._open = UnitKind.ITEM
            self._lines.append((content_start + item.end(), end))
        elif self._open is None and self._is_indented_code(start, content_start):
            self._add(content_start, end, UnitKind.CODE)
        else:
            if self._open is None:
                self._in_list = self._in_list and content_start > start
                self._open = UnitKind.PROSE
            self._lines.append((content_start, end))

    def _is_indented_code(self, start: int, content_start: int) -> bool:
        indent = self._text[start:content_start].expandtabs(_CODE_INDENT)
        return not self._in_list and ">" not in indent and len(indent) >= _CODE_INDENT

    def _add(self, start: int, end: int, kind: UnitKind) -> None:
        """Keep a unit, trimmed, if there is a word in it."""
        piece = self._text[start:end]
        start += len(piece) - len(piece.lstrip())
        end -= len(piece) - len(piece.rstrip())
        if _WORD.search(piece):
            self.units.append(Unit(start, end, kind))
