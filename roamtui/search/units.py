"""A Markdown text as what can be quoted of it: units such as paragraphs, items and rows, all exact spans."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from roamtui.document.front_matter import measure_front_matter
from roamtui.document.headings import parse_blocks
from roamtui.document.text import compute_line_starts, normalise_line_ends


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


UNITS_KEPT = 1_000
"""Texts whose units are remembered: ranking, choosing a sentence and showing it read the same sections."""
_KINDS = {
    "heading_open": UnitKind.HEADING,
    "thead_open": UnitKind.TABLE_HEAD,
    "tbody_open": UnitKind.ROW,
    "list_item_open": UnitKind.ITEM,
    **dict.fromkeys(("heading_close", "table_close", "list_item_close"), UnitKind.PROSE),
}
"""What stands after a token; of an item, its first paragraph."""
_QUOTE = re.compile(r"[ \t]*(?:>[ \t]?)*")
_BOX = re.compile(r"\[[ xX]\][ \t]+")
_NOISE = re.compile(
    r"(?:</?[A-Za-z][^>]*>[ \t]*)+$"  # tags alone
    r"|\[[^\]]+\]:[ \t]*\S+"  # a link's definition
    r"|(?:\[?!\[[^\]]*\]\([^)]*\)(?:\]\([^)]*\))?[ \t]*)+$"  # images alone
    r"|:{3,}|\{[%:].*\}$"  # directives
)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_NO_LINE_END = re.compile(r"[^\n]")
_LETTER = re.compile(r"[^\W_]")


@lru_cache(maxsize=UNITS_KEPT)
def find_units(text: str) -> tuple[Unit, ...]:
    """Return the units of a Markdown text in order; markers, rules, comments and other markup belong to none."""
    return tuple(_UnitReader(text).read())


class _UnitReader:
    """Finds in a text what the block rules say of its lines."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [*compute_line_starts(text), len(text)]
        normal = normalise_line_ends(text)
        front = normal[: measure_front_matter(normal)]
        self._source = _NO_LINE_END.sub("", front) + normal[len(front) :].replace("\0", "\N{REPLACEMENT CHARACTER}")
        self._lines = self._source.split("\n")

    def read(self) -> Iterator[Unit]:
        kind = UnitKind.PROSE
        for token in parse_blocks(self._source, {}):
            first = token.map[0] if token.map else 0
            if token.type in _KINDS:
                kind = _KINDS[token.type]
            elif token.type == "tr_open":
                yield from self._join([(first, _QUOTE.sub("", self._lines[first], count=1))], kind)
            elif token.type in ("fence", "code_block"):
                for line in enumerate(token.content.split("\n"), first + (token.type == "fence")):
                    yield from self._join([line], UnitKind.CODE)
            elif token.type == "html_block":
                source = _COMMENT.sub(lambda comment: _NO_LINE_END.sub("", comment[0]), token.content)
                yield from self._read_paragraph(first, source, UnitKind.PROSE)
            elif token.type == "inline" and kind is UnitKind.HEADING:
                yield from self._join(enumerate(token.content.split("\n"), first), kind)
            elif token.type == "inline" and kind in (UnitKind.PROSE, UnitKind.ITEM):
                yield from self._read_paragraph(first, token.content, kind)
                kind = UnitKind.PROSE

    def _read_paragraph(self, first: int, content: str, kind: UnitKind) -> Iterator[Unit]:
        """Yield what stands between the lines that are only markup; each line of what is a table without its rule."""
        box = _BOX.match(content) if kind is UnitKind.ITEM else None
        lines = content[box.end() if box else 0 :].split("\n")
        run: list[tuple[int, str]] = []
        for number, line in enumerate([*lines, ""], first):
            if line.strip() and not _NOISE.match(line.strip()):
                run.append((number, line))
                continue
            if run and run[0][1].startswith("|"):
                for one in run:
                    yield from self._join([one], UnitKind.ROW)
            else:
                yield from self._join(run, kind)
            run = []

    def _join(self, lines: Iterable[tuple[int, str]], kind: UnitKind) -> Iterator[Unit]:
        """Yield lines, each of which ends as its own in the text does, as one unit, if there is a word in it."""
        places = [self._find(number, line) for number, line in lines if line.strip()]
        if places and _LETTER.search(self._text, places[0][0], places[-1][1]):
            yield Unit(places[0][0], places[-1][1], kind)

    def _find(self, number: int, line: str) -> tuple[int, int]:
        """Return where a line that the rules took out of its containers stands, without blanks at its ends."""
        whole, line = self._lines[number], line.strip()
        if line not in whole:  # a tab of which a container took a part
            line = whole.strip()
        start = self._starts[number] + whole.rfind(line)
        return start, start + len(line)
