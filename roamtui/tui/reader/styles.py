"""The styles of the reader, from variables that every theme has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.style import Style

from roamtui.tui.reader.line import Role
from roamtui.tui.reader.line_strips import Overlay, ReaderPalette

if TYPE_CHECKING:
    from textual.widget import Widget

STYLE_NAMES = {
    *(f"reader--{role}" for role in Role),
    *(f"reader--{overlay}" for overlay in Overlay),
    "reader--link",
    "reader--inline-code",
    "reader--code-background",
}
STYLES = """
LazyView {
    background: $surface;
    color: $foreground;
    padding: 0 1;
    overflow: auto auto;
    scrollbar-size: 1 1;
    scrollbar-gutter: stable;
    & > .reader--h1 { color: $text-primary; text-style: bold; }
    & > .reader--h2 { color: $text-primary; text-style: bold; }
    & > .reader--h3 { color: $text-secondary; text-style: bold; }
    & > .reader--h4 { text-style: bold italic; }
    & > .reader--bullet { color: $text-accent; text-style: bold; }
    & > .reader--quote { color: $text-muted; text-style: italic; }
    & > .reader--bar { color: $accent; }
    & > .reader--rule { color: $foreground 40%; }
    & > .reader--grid { color: $foreground 40%; }
    & > .reader--html { color: $foreground 45%; }
    & > .reader--note { color: $foreground 50%; text-style: italic; }
    & > .reader--link { color: $text-accent; text-style: underline; }
    & > .reader--inline-code { color: $text-warning; background: $foreground 8%; }
    & > .reader--code-background { background: $foreground 6%; }
    & > .reader--code-keyword { color: $text-accent; }
    & > .reader--code-name { color: $text-primary; }
    & > .reader--code-text { color: $text-success; }
    & > .reader--code-number { color: $text-warning; }
    & > .reader--code-comment { color: $foreground 50%; text-style: italic; }
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
