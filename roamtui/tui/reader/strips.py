"""Strips of lines, in styles made of variables that every theme has."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from roamtui.document.markdown.blocks import Emphasis
from roamtui.tui.markdown.line import Line, Look, Role
from roamtui.tui.markdown.styles import LINK_STYLE, ROLE_STYLES, write_rule

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
class Highlight:
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


def make_strip(line: Line, width: int, palette: ReaderPalette, highlights: Iterable[Highlight] = ()) -> Strip:
    """Return a strip of a line, at least `width` cells long."""
    styled = [(run, palette.style_of(run.look)) for run in line.runs]
    background = palette.base
    if line.is_code:
        background = palette.base + palette.code_background
        styled = [(run, style + palette.code_background) for run, style in styled]
    segments = [Segment(run.text, style) for run, style in styled]
    for highlight in highlights:
        segments = list(_lay_over(segments, highlight))
    return Strip(segments).extend_cell_length(width, background)


def _lay_over(segments: list[Segment], highlight: Highlight) -> Iterable[Segment]:
    position = 0
    for text, style, _ in segments:
        start = max(0, min(len(text), highlight.start - position))
        end = max(start, min(len(text), highlight.end - position))
        position += len(text)
        parts = (
            (text[:start], style),
            (text[start:end], (style or Style.null()) + highlight.style),
            (text[end:], style),
        )
        yield from (Segment(part, part_style) for part, part_style in parts if part)


STYLE_NAMES = {
    *(f"reader--{role}" for role in Role),
    *(f"reader--{overlay}" for overlay in Overlay),
    "reader--link",
    "reader--inline-code",
    "reader--code-background",
}
STYLES = (
    """
Reader {
    background: $surface;
    color: $foreground;
    padding: 0 1;
    overflow: auto auto;
    scrollbar-size: 0 1;
    scrollbar-gutter: stable;
    & > .reader--inline-code { color: $text-warning; background: $foreground 8%; }
    & > .reader--code-background { background: $foreground 6%; }
    & > .reader--highlight { background: $success 35%; text-style: bold; }
    & > .reader--match { background: $warning 35%; }
    & > .reader--current-match { background: $warning; color: $background; text-style: bold; }
    & > .reader--current-link { background: $block-cursor-background; color: $block-cursor-foreground; }
    &:ansi > .reader--inline-code { background: transparent; }
    &:ansi > .reader--code-background { background: transparent; }
    &:ansi > .reader--highlight { background: ansi_green; color: ansi_black; }
    &:ansi > .reader--match { background: ansi_yellow; color: ansi_black; }
    &:ansi > .reader--current-match { background: ansi_bright_yellow; color: ansi_black; }
}
"""
    + "\n".join(write_rule(f"Reader > .reader--{role}", style) for role, style in ROLE_STYLES.items())
    + write_rule("Reader > .reader--link", LINK_STYLE)
)


def read_palette(widget: Widget) -> ReaderPalette:
    """Return the styles of a widget that has the names and styles of this module."""

    def read(name: str) -> Style:
        style = widget.get_component_rich_style(f"reader--{name}")
        return style.without_color + Style(color=style.color)

    def read_own(name: str) -> Style:
        return widget.get_component_rich_style(f"reader--{name}", partial=True)

    def read_whole(name: str) -> Style:
        style = widget.get_component_rich_style(f"reader--{name}")
        own = read_own(name)
        color = style.color if own.color else None
        return style.without_color + Style(color=color, bgcolor=style.bgcolor if own.bgcolor else None)

    def read_selection() -> Style:
        style = widget.screen.get_component_rich_style("screen--selection")
        # Most themes leave the letters' colour as it is; mixed with the ground, no colour is the ground's own.
        has_color = widget.screen.get_component_styles("screen--selection").color.a > 0
        return style.without_color + Style(color=style.color if has_color else None, bgcolor=style.bgcolor)

    return ReaderPalette(
        base=widget.rich_style,
        selection=read_selection(),
        roles={role: read(role) for role in Role},
        link=read("link"),
        inline_code=read_whole("inline-code"),
        code_background=read_whole("code-background"),
        overlays={overlay: read_whole(overlay) for overlay in Overlay},
    )
