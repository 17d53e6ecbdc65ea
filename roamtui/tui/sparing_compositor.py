"""`SparingCompositor`: draws again what changed on a screen, and nothing beside it."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from textual._compositor import ChopsUpdate, Compositor
from textual.geometry import Region
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from textual.strip import Strip

Pieces = dict[int, int]
"""Pieces of a line of the screen: the column after each, by its first."""


class SparingCompositor(Compositor):
    """Asks a widget only for cells that changed and that nothing in front of it covers.

    Textual's own one asks all widgets within the rectangle around every change for all of their lines: where the title
    of a pane and a line of its list have changed, that is the whole screen, and most of what a key costs.
    """

    @override
    def render_partial_update(self) -> ChopsUpdate | None:
        regions = self._dirty_regions.copy()
        self._dirty_regions.clear()
        height = self.size.height
        spans = [span for span in self._regions_to_spans(regions) if span[0] < height]
        if not spans:
            return None
        drawn = self._draw(self._find_pieces(spans), regions)
        return ChopsUpdate(drawn, spans, [cuts[1:] for cuts in self.cuts])

    def _find_pieces(self, spans: Iterable[tuple[int, int, int]]) -> dict[int, Pieces]:
        """Return by lines the pieces, from where a widget begins or ends to the next such place, that spans touch."""
        cuts = self.cuts
        pieces: dict[int, Pieces] = {}
        for y, left, right in spans:
            touched = {x: end for x, end in pairwise(cuts[y]) if x < right and end > left}
            pieces.setdefault(y, {}).update(touched)
        return pieces

    def _draw(self, wanted: dict[int, Pieces], regions: Collection[Region]) -> list[dict[int, Strip | None]]:
        """Return what stands on each line of the screen, by columns; None where it is not wanted.

        A widget whose size has just changed may have too few lines, or too short ones, for where it was last laid out;
        what stands behind it is drawn there.

        Args:
            wanted: By lines; taken out as they are drawn.
            regions: What they were made of.
        """
        cuts = self.cuts
        drawn: list[dict[int, Strip | None]] = [dict.fromkeys(line[:-1]) for line in cuts]
        for widget, (region, clip) in self.visible_widgets.items():  # the foremost first
            if not wanted:
                break
            shown = region.intersection(clip)
            lines = _find_inside(shown, wanted) if any(map(shown.overlaps, regions)) else {}
            if not lines:
                continue
            top, bottom = min(lines), max(lines) + 1
            left = min(min(pieces) for pieces in lines.values())
            right = max(max(pieces.values()) for pieces in lines.values())
            strips = widget.render_lines(Region(left - region.x, top - region.y, right - left, bottom - top))
            for y, strip in zip(range(top, bottom), strips, strict=False):
                if y not in lines:
                    continue
                inside = [cut for cut in cuts[y] if left <= cut <= right]
                parts = dict(zip(inside, strip.divide([cut - left for cut in inside[1:]]), strict=False))
                for x in lines[y].keys() & parts.keys():
                    drawn[y][x] = parts[x]
                    del wanted[y][x]
                if not wanted[y]:
                    del wanted[y]
        return drawn


def _find_inside(shown: Region, wanted: dict[int, Pieces]) -> dict[int, Pieces]:
    """Return by lines the wanted pieces within a region."""
    left, right = shown.column_span
    lines: dict[int, Pieces] = {}
    for y in shown.line_range:
        pieces = wanted.get(y)
        if pieces and (inside := {x: end for x, end in pieces.items() if left <= x < right}):
            lines[y] = inside
    return lines
