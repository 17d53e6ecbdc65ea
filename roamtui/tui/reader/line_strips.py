"""Makes strips of the reader's lines, in the styles of a theme."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from roamtui.tui.reader.line import Emphasis, Line, Look, Role

if TYPE_CHECKING:
    from collections.abc import Iterable

_EMPHASES = {
    Emphasis.STRONG: Style(bold=True),
    Emphasis.ITALIC: Style(italic=True),
    Emphasis.STRUCK: Style(strike=True),
}


class Overlay(StrEnum):
    """What is laid over characters of a line; later ones lie above earlier ones."""

    QUOTE = "highlight"
    MATCH = "match"
    CURRENT_MATCH = "current-match"
    CURRENT_LINK = "current-link"


@dataclass(frozen=True, slots=True)
class Marking:
    """An overlay on characters `start` to `end` of a line."""

    start: int
    end: int
    style: Style


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderPalette:
    """The styles of the reader, from its component classes."""

    base: Style
    selection: Style
    """Of what a person selected."""
    roles: dict[Role, Style]
    link: Style
    inline_code: Style
    code_background: Style
    overlays: dict[Overlay, Style]
    _looks: dict[Look, Style] = field(default_factory=dict)

    def style_of(self, look: Look) -> Style:
        """Return the style of a look."""
        style = self._looks.get(look)
        if style is None:
            style = self._looks[look] = self._combine(look)
        return style

    def _combine(self, look: Look) -> Style:
        style = self.base + self.roles[look.role]
        if Emphasis.CODE in look.emphasis:
            style += self.inline_code
        for emphasis, added in _EMPHASES.items():
            if emphasis in look.emphasis:
                style += added
        return style if look.link is None else style + self.link


def make_strip(line: Line, width: int, palette: ReaderPalette, markings: Iterable[Marking] = ()) -> Strip:
    """Return a strip of a line, at least `width` cells long."""
    styled = [(run, palette.style_of(run.look)) for run in line.runs]
    background = palette.base
    if line.is_code:
        background = palette.base + palette.code_background
        styled = [(run, style + palette.code_background) for run, style in styled]
    segments = [Segment(run.text, style) for run, style in styled]
    for marking in markings:
        segments = list(_lay_over(segments, marking))
    return Strip(segments).extend_cell_length(width, background)


def _lay_over(segments: list[Segment], marking: Marking) -> Iterable[Segment]:
    position = 0
    for text, style, _ in segments:
        start = max(0, min(len(text), marking.start - position))
        end = max(start, min(len(text), marking.end - position))
        position += len(text)
        parts = ((text[:start], style), (text[start:end], (style or Style.null()) + marking.style), (text[end:], style))
        yield from (Segment(part, part_style) for part, part_style in parts if part)
