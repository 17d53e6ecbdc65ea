"""Blocks of content into lines of a given width."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from textual.content import Content

from roamtui.tui.chat.blocks import Block, BlockKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_COLUMN_GAP = "  "
_COLUMN_MIN = 6
_CODE_GROUND = "on $panel"


def lay_out_blocks(blocks: Iterable[Block], width: int) -> Content:
    """Return `blocks` as lines that are at most `width` cells wide."""
    lines: list[Content] = []
    for block in blocks:
        if block.has_gap:
            lines.append(Content())
        room = max(8, width - block.follow.cell_length)
        for index, line in enumerate(_lay_out(block, room)):
            lines.append((block.lead if index == 0 else block.follow) + line)
    return Content("\n").join(lines)


def _lay_out(block: Block, width: int) -> list[Content]:
    match block.kind:
        case BlockKind.TEXT:
            return block.content.wrap(width)
        case BlockKind.CODE:
            return _lay_out_code(block.content, width)
        case BlockKind.TABLE:
            return _lay_out_table(block.rows, width)
        case BlockKind.RULE:
            return [Content.styled("─" * width, "$faint")]
        case _:
            assert_never(block.kind)


def _lay_out_code(code: Content, width: int) -> list[Content]:
    lines = []
    for line in code.split("\n", allow_blank=True):
        for piece in line.expand_tabs(4).fold(width - 2):
            padded = Content(" ") + piece
            lines.append(padded.pad_right(width - padded.cell_length).stylize_before(_CODE_GROUND))
    return lines


def _lay_out_table(rows: Sequence[Sequence[Content]], width: int) -> list[Content]:
    columns = max((len(row) for row in rows), default=0)
    if not columns:
        return []
    widths = _share_width(rows, columns, width - len(_COLUMN_GAP) * (columns - 1))
    lines: list[Content] = []
    for number, row in enumerate(rows):
        cells = [cell.wrap(size) for cell, size in zip(row, widths, strict=False)]
        for index in range(max((len(cell) for cell in cells), default=0)):
            parts = [
                _pad(cell[index] if index < len(cell) else Content(), size)
                for cell, size in zip(cells, widths, strict=False)
            ]
            line = Content(_COLUMN_GAP).join(parts)
            lines.append(line.stylize_before("bold") if number == 0 else line)
        if number == 0:
            lines.append(Content.styled(_COLUMN_GAP.join("─" * size for size in widths), "$faint"))
    return lines


def _share_width(rows: Sequence[Sequence[Content]], columns: int, width: int) -> list[int]:
    """Give each column what its longest cell wants, then take from the widest until all fit."""
    wanted = [max((row[index].cell_length for row in rows if index < len(row)), default=1) for index in range(columns)]
    widths = [max(1, size) for size in wanted]
    while sum(widths) > width and max(widths) > _COLUMN_MIN:
        widest = widths.index(max(widths))
        widths[widest] -= 1
    return widths


def _pad(content: Content, width: int) -> Content:
    return content.pad_right(max(0, width - content.cell_length))
