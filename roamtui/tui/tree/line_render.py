"""Makes the strip of one line of the tree from a small value that says how it looks."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from roamtui.conversation.commands import Origin
from roamtui.tui.tree.line_looks import LineLook
from roamtui.tui.tree.visible_lines import Fold

SIZE_WIDTH_MIN = 33
"""In narrower trees the cells are better spent on titles."""
_TITLE_WIDTH_MIN = 8
_SIZE_WIDTH = 5
"""Cells for a size where a page stands before it, so that pages stand below each other."""


class Sign(StrEnum):
    """The signs of a tree. A triangle says what is shown, a diamond what the conversation holds."""

    BRANCH = "├ "
    LAST_BRANCH = "└ "
    TRUNK = "│ "
    GAP = "  "
    CUT_GUIDES = "‥ "
    UNFOLDED = "▾"
    FOLDED = "▸"
    LEAF = "·"
    UNLOADED = "⋯"
    FAILED = "✗"
    AGENT = "◆"
    PERSON = "◇"
    CLOSING = "…"
    PINNED = "⚑"
    CITED = "❝"
    READ = "◦"
    READING = "¶"
    NOTED = "✎"
    FOUND = "⌕"
    ELLIPSIS = "…"


@dataclass(frozen=True, slots=True, kw_only=True)
class Palette:
    """The styles of a tree, from its component classes."""

    base: Style
    guides: Style
    triangle: Style
    title: Style
    untitled: Style
    open_agent: Style
    open_person: Style
    mark: Style
    count: Style
    size: Style
    batch: Style
    cursor: Style
    cursor_blurred: Style


def measure_guides(depth: int, width: int) -> int:
    """Return the cells before the triangle of a line."""
    return 2 * min(depth, _depth_max(width))


def render_line(look: LineLook, width: int, palette: Palette) -> Strip:
    """Return a line of exactly `width` cells: guides, triangle, diamond, title, marks, page and size."""
    head = [
        (_draw_guides(look.has_next, width), palette.guides),
        (_fold_glyph(look) + " ", palette.mark if look.is_failed else palette.triangle),
        *_draw_opened(look, palette),
    ]
    tail = [(_mark_text(look), palette.mark), (_count_text(look), palette.count)]
    room = width - _measure(head) - _measure(tail)
    size = f" {look.size}" if look.size and width >= SIZE_WIDTH_MIN else ""
    if room - len(size) < _TITLE_WIDTH_MIN:
        size = ""
    page = f" {look.page} {look.size:>{_SIZE_WIDTH}}" if look.page and size else ""
    if cell_len(look.title) + len(page) <= room:
        size = page or size
    room -= len(size)
    title = cut_cells(look.title, max(1, room))
    gap = max(0, room - cell_len(title))
    parts = [
        *head,
        (title, _choose_title_style(look, palette)),
        *tail,
        (" " * gap, Style.null()),
        (size, palette.size),
    ]
    below, above = _choose_grounds(look, palette)
    segments = [Segment(text, below + style + above) for text, style in parts if text]
    return Strip(segments).adjust_cell_length(width, below + above)


def find_title_cells(look: LineLook, width: int) -> range:
    """Return the cells where a click means the title, diamond and marks included."""
    start = measure_guides(len(look.has_next), width) + 2
    opened = 0 if look.opened_by is None else 2 + (len(Sign.CLOSING) if look.is_closing else 0)
    marks = cell_len(_mark_text(look) + _count_text(look))
    return range(start, min(width, start + opened + cell_len(look.title) + marks))


def cut_cells(text: str, width: int) -> str:
    """Return `text` cut to at most `width` cells, with an ellipsis where cut."""
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, width - 1).rstrip() + Sign.ELLIPSIS if width > 1 else Sign.ELLIPSIS[:width]


def _depth_max(width: int) -> int:
    return max(1, width // 5)


def _draw_guides(has_next: tuple[bool, ...], width: int) -> str:
    if not has_next:
        return ""
    above, own = has_next[:-1], has_next[-1]
    guides = [Sign.TRUNK if follows else Sign.GAP for follows in above]
    guides.append(Sign.BRANCH if own else Sign.LAST_BRANCH)
    depth_max = _depth_max(width)
    if len(guides) > depth_max:
        guides = [Sign.CUT_GUIDES, *guides[len(guides) - depth_max + 1 :]]
    return "".join(guides[:depth_max])


def _fold_glyph(look: LineLook) -> str:
    if look.is_failed:
        return Sign.FAILED
    return {
        Fold.UNFOLDED: Sign.UNFOLDED,
        Fold.FOLDED: Sign.FOLDED,
        Fold.LEAF: Sign.LEAF,
        Fold.UNLOADED: Sign.UNLOADED,
    }[look.fold]


def _draw_opened(look: LineLook, palette: Palette) -> list[tuple[str, Style]]:
    if look.opened_by is None:
        return []
    by_agent = look.opened_by is Origin.AGENT
    glyph = Sign.AGENT if by_agent else Sign.PERSON
    closing = Sign.CLOSING if look.is_closing else ""
    return [(f"{glyph}{closing} ", palette.open_agent if by_agent else palette.open_person)]


def _mark_text(look: LineLook) -> str:
    marks = (
        (look.is_pinned, Sign.PINNED),
        (look.is_cited, Sign.CITED),
        (look.is_read, Sign.READ),
        (look.is_reading, Sign.READING),
        (look.is_noted, Sign.NOTED),
    )
    drawn = "".join(glyph for is_set, glyph in marks if is_set)
    if look.is_found or look.found_inside:
        drawn += Sign.FOUND + (str(look.found_inside) if look.found_inside else "")
    return f" {drawn}" if drawn else ""


def _count_text(look: LineLook) -> str:
    """Return what a folded line hides: open sections, and how much of its text the model has read."""
    parts = [f"{look.open_inside} open"] if look.open_inside else []
    if look.read_inside:
        parts.append(f"{max(1, round(100 * look.read_inside))}% read")
    return f" ({', '.join(parts)})" if parts else ""


def _choose_title_style(look: LineLook, palette: Palette) -> Style:
    style = palette.title if look.is_named else palette.untitled
    if look.opened_by is Origin.AGENT:
        style += palette.open_agent
    elif look.opened_by is Origin.PERSON:
        style += palette.open_person
    return style


def _choose_grounds(look: LineLook, palette: Palette) -> tuple[Style, Style]:
    """Return what lies below the styles of the parts of a line, and what above them."""
    if look.is_cursor and look.has_focus:
        # The cursor's own foreground is the one that is readable on its background, whatever the part's colour.
        return palette.base, palette.cursor
    if look.is_cursor:
        return palette.base + palette.cursor_blurred, Style.null()
    return (palette.base + palette.batch if look.is_new else palette.base), Style.null()


def _measure(parts: list[tuple[str, Style]]) -> int:
    return sum(cell_len(text) for text, _ in parts)
