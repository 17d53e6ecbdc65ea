"""The lines of a PDF's pages, with the size of their letters and where they stand, without what repeats on pages."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pypdf import PageObject

_EDGE_LINES = 2
"""Lines at the top and at the bottom of a page that may be repeated on others."""
_REPEATED_PAGES_MIN = 4
_REPEATED_SHARE = 0.5
_BLANKS = re.compile(r"[\s\N{NO-BREAK SPACE}]+")
_NUMBER = re.compile(r"(?<![\w.,])\d{1,5}(?![\w,]|\.\d)", re.ASCII)
_NUMBERED_LENGTH_MAX = 80
"""Characters of a line that may have its page's number in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line of a page."""

    text: str
    size: float
    """Of most of its letters, in points."""
    is_bold: bool
    top: float
    """Height of its base above the page's lower edge, in points."""


@dataclass(slots=True)
class _Collector:
    """Takes pieces of text as the page draws them."""

    lines: list[Line] = field(default_factory=list)
    _pieces: list[tuple[str, float, bool, float]] = field(default_factory=list)

    def take(
        self, text: str, outer: Sequence[float], inner: Sequence[float], font: Mapping[str, object] | None, size: float
    ) -> None:
        """Take a piece; what pypdf calls when it meets one.

        Args:
            text: May hold line ends.
            outer: Transformation of the page's coordinates.
            inner: Transformation of the text's.
            font: Its dictionary, or None.
            size: Of the font, before both transformations.
        """
        height = abs(size) * math.hypot(inner[2], inner[3]) * math.hypot(outer[2], outer[3])
        top = inner[4] * outer[1] + inner[5] * outer[3] + outer[5]
        is_bold = _is_bold(font)
        first, *others = text.split("\n")
        self._add(first, height, is_bold, top)
        for other in others:
            self.end_line()
            self._add(other, height, is_bold, top)

    def end_line(self) -> None:
        """End the line that is being collected."""
        text = _BLANKS.sub(" ", "".join(piece[0] for piece in self._pieces)).strip()
        if text:
            sizes: Counter[float] = Counter()
            bold = 0
            for piece, height, is_bold, _ in self._pieces:
                letters = len(piece.strip())
                sizes[round(height * 2) / 2] += letters
                bold += letters if is_bold else 0
            first = next(piece for piece in self._pieces if piece[0].strip())
            is_bold = bold * 2 > sum(sizes.values())
            self.lines.append(Line(text=text, size=sizes.most_common(1)[0][0], is_bold=is_bold, top=first[3]))
        self._pieces.clear()

    def _add(self, text: str, height: float, is_bold: bool, top: float) -> None:  # noqa: FBT001 - one of a piece's columns
        if text:
            self._pieces.append((text, height, is_bold, top))


def read_lines(page: PageObject) -> list[Line]:
    """Return the lines of a page in the order in which it draws them."""
    collector = _Collector()
    page.extract_text(visitor_text=collector.take)
    collector.end_line()
    return collector.lines


def leave_out_repeated(pages: Sequence[list[Line]]) -> tuple[list[list[Line]], bool]:
    """Return the pages without the lines at their edges that say where one is, and whether there were any.

    Such lines stand on most pages, or they are short and have the page's own number in them.
    """
    needed = max(_REPEATED_PAGES_MIN, _REPEATED_SHARE * sum(map(bool, pages)))
    counts = Counter(text for lines in pages for text in {line.text for line in _list_edges(lines)})
    repeated = {text for text, count in counts.items() if count >= needed}
    shifts: Counter[int] = Counter()
    for number, lines in enumerate(pages):
        shifts.update({shift for line in _list_edges(lines) for shift in _find_shifts(line, number)})
    shift, count = shifts.most_common(1)[0] if shifts else (0, 0)
    is_numbered = count >= needed
    kept = []
    for number, lines in enumerate(pages):
        left_out = {
            id(line)
            for line in _list_edges(lines)
            if line.text in repeated or (is_numbered and shift in _find_shifts(line, number))
        }
        kept.append([line for line in lines if id(line) not in left_out])
    return kept, bool(repeated) or is_numbered


def _find_shifts(line: Line, number: int) -> set[int]:
    """Return by how much the numbers in a short line differ from a page's."""
    if len(line.text) > _NUMBERED_LENGTH_MAX:
        return set()
    return {int(found) - number for found in _NUMBER.findall(line.text)}


def _list_edges(lines: list[Line]) -> list[Line]:
    return lines if len(lines) <= 2 * _EDGE_LINES else [*lines[:_EDGE_LINES], *lines[-_EDGE_LINES:]]


def _is_bold(font: Mapping[str, object] | None) -> bool:
    try:
        name = str(font["/BaseFont"]) if font is not None else ""
    except (KeyError, TypeError):
        return False
    return "bold" in name.lower() or "black" in name.lower()
