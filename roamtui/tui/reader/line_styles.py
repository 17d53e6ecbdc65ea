"""Styles of the reader's lines: those of the chat, and the highlights that `reader.tcss` sets."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.style import Style as VisualStyle
from textual.widget import Widget

from roamtui.markdown.blocks import Emphasis
from roamtui.markdown.lines import Line, RunStyle, TextRole, measure_runs
from roamtui.tui.pictures import DrawnPicture, draw_row
from roamtui.tui.run_styles import list_styles

LINK_META = "roamtui_link"
"""The style metadata key with the number of a link in its chunk, so that a click finds the link."""


class HighlightKind(StrEnum):
    """Kinds of highlights over a line's characters. Later kinds cover earlier ones."""

    QUOTE = "highlight"
    MATCH = "match"
    CURRENT_MATCH = "current-match"
    LINK_HINT = "link-hint"


STYLE_NAMES = {f"reader--{name}" for name in (*HighlightKind, "inline-code", "code-background")}


class ReaderPalette:
    """The styles of a widget that uses these component classes."""

    def __init__(self, widget: Widget) -> None:
        def read_style(name: str) -> Style:
            # Only the colours that the CSS of the class sets, not those that it inherits.
            style = widget.get_component_rich_style(f"reader--{name}")
            explicit = widget.get_component_rich_style(f"reader--{name}", partial=True)
            color, background = style.color if explicit.color else None, style.bgcolor if explicit.bgcolor else None
            return style.without_color + Style(color=color, bgcolor=background)

        self._ground, self._variables = widget.visual_style, widget.app.theme_variables
        self.base = widget.rich_style
        self.overlays = {overlay: read_style(overlay) for overlay in HighlightKind}
        self._inline_code, self._code_background = read_style("inline-code"), read_style("code-background")
        selection = widget.screen.get_component_rich_style("screen--selection")
        # Most themes set no foreground for selections. Blending would turn "no colour" into the background's colour.
        has_color = widget.screen.get_component_styles("screen--selection").color.a > 0
        color = selection.color if has_color else None
        self.selection = selection.without_color + Style(color=color, bgcolor=selection.bgcolor)
        self._cache: dict[RunStyle, Style] = {}

    def get_style(self, run_style: RunStyle) -> Style:
        """Return the cached style of a run."""
        if run_style not in self._cache:
            drawn = self._ground
            for markup in list_styles(run_style):
                drawn += VisualStyle.parse(markup, self._variables)
            style = drawn.rich_style
            if Emphasis.CODE in run_style.emphasis:
                style += self._inline_code
            if run_style.link_number is not None:
                style += Style(meta={LINK_META: run_style.link_number})
            self._cache[run_style] = style
        return self._cache[run_style]

    def draw(self, line: Line, width: int, overlays: Iterable[tuple[int, int, Style]]) -> Strip:
        """Draw a line as a strip of at least `width` cells, with styles over some of its characters."""
        background = self._code_background if line.is_code else Style.null()
        segments = [Segment(run.text, self.get_style(run.style) + background) for run in line.runs]
        for start, end, style in overlays:
            segments = list(_apply_overlay(segments, start, end, style))
        return Strip(segments).extend_cell_length(width, self.base + background)

    def draw_picture(self, line: Line, drawn: DrawnPicture | None, width: int) -> Strip:
        """Draw a row of a picture in at least `width` cells: dots until it is drawn, spaces if that failed."""
        assert line.picture is not None
        columns = line.picture.columns
        cells: tuple[Segment, ...] = (Segment("·" * columns, self.get_style(RunStyle(TextRole.ASIDE))),)
        if drawn == b"":
            cells = (Segment(" " * columns, self.base),)
        elif drawn is not None:
            cells = draw_row(drawn, line.picture.row, columns)
        prefix = [Segment(run.text, self.get_style(run.style)) for run in line.runs]
        return Strip([*prefix, *cells], measure_runs(line.runs) + columns).extend_cell_length(width, self.base)

    def draw_hint(self, strip: Strip, x: int, label: str) -> Strip:
        """Return a strip with a label over its cells from `x` on."""
        hint = Segment(label, self.base + self.overlays[HighlightKind.LINK_HINT])
        return Strip.join([strip.crop(0, x), Strip([hint]), strip.crop(x + len(label))])


def _apply_overlay(segments: list[Segment], first: int, last: int, added: Style) -> Iterable[Segment]:
    position = 0
    for text, style, _ in segments:
        start = max(0, min(len(text), first - position))
        end = max(start, min(len(text), last - position))
        position += len(text)
        middle = (style or Style.null()) + added
        parts = ((text[:start], style), (text[start:end], middle), (text[end:], style))
        yield from (Segment(part, part_style) for part, part_style in parts if part)
