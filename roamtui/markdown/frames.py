"""`Frame`: a container while its blocks are collected, such as a list or a cell."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from roamtui.markdown.blocks import (
    Block,
    Details,
    Inline,
    Item,
    List,
    Paragraph,
    Quote,
    Table,
    TableRow,
    flatten_blocks,
)

_TASK_BOXES = {"[ ] ": False, "[x] ": True, "[X] ": True}


@dataclass(slots=True, kw_only=True)
class Frame:
    """An open container: the document, a quote, list, item, table, row, cell, details or summary."""

    kind: str
    start: int
    end: int
    may_lack_end: bool = False
    """Whether an HTML tag opened it. Its end may then be missing."""
    blocks: list[Block] = field(default_factory=list)
    """Its content. In a list, table or row, it is only the blocks between items, rows or cells."""
    alert: str = ""
    title: Inline = ()
    number: int | None = None
    delimiter: str = "."
    is_tight: bool | None = None
    items: list[Item] = field(default_factory=list)
    rows: list[TableRow] = field(default_factory=list)
    cells: list[Frame] = field(default_factory=list)
    words: Inline = ()
    is_head: bool = False
    alignment: str = ""
    alignments: tuple[str, ...] = ()
    hidden_head: tuple[Inline, ...] = ()

    def add_to(self, parent: Frame, *, is_shown: bool) -> None:
        """Close the container: add it to its parent as a block, or as a part of one such as a row."""
        blocks, start, end = tuple(self.blocks), self.start, self.end
        match self.kind:
            case "quote" if blocks or self.alert:
                quote = Quote(blocks=blocks, alert=self.alert, title=self.title, start=start, end=end)
                parent.blocks.append(quote)
            case "details":
                details = Details(summary=self.title, blocks=blocks, start=start, end=end)
                parent.blocks.append(details)
            case "summary" if parent.kind == "details":
                parent.title, parent.start, parent.end = flatten_blocks(blocks), start, end
            case "item":
                first = blocks[0] if blocks else None
                is_done = _TASK_BOXES.get(first.words[0].text[:4]) if isinstance(first, Paragraph) else None
                if is_done is not None and isinstance(first, Paragraph):
                    box, *rest = first.words
                    blocks = (replace(first, words=(replace(box, text=box.text[4:]), *rest)), *blocks[1:])
                parent.items.append(Item(blocks=blocks, is_done=is_done, start=start, end=end))
            case "cell":
                self.words = flatten_blocks(blocks)
                parent.cells.append(self)
            case "row":
                parent.blocks.extend(blocks)
                if self.cells:
                    self._add_row_to(parent, is_shown=is_shown)
            case _:
                parent.blocks.extend(blocks)
                if self.items:
                    number, delimiter, is_tight = self.number, self.delimiter, self.is_tight is not False
                    items = tuple(self.items)
                    parent.blocks.append(List(items=items, number=number, delimiter=delimiter, is_tight=is_tight))
                if self.rows:
                    table = Table(rows=tuple(self.rows), alignments=self.alignments, hidden_head=self.hidden_head)
                    parent.blocks.append(table)

    def _add_row_to(self, table: Frame, *, is_shown: bool) -> None:
        cells = tuple(cell.words for cell in self.cells)
        table.alignments = table.alignments or tuple(cell.alignment for cell in self.cells)
        is_head = all(cell.is_head for cell in self.cells)
        if is_head and not is_shown:
            table.hidden_head = cells
        if is_shown:
            table.rows.append(TableRow(cells=cells, is_head=is_head, start=self.start, end=self.end))
