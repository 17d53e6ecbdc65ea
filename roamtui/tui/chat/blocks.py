"""Markdown of an answer as blocks of content, laid out in lines; nothing of it is ever markup."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import assert_never

from markdown_it import MarkdownIt
from markdown_it.token import Token
from textual.content import Content

from roamtui.document.scanning.blocks import limit_nesting

Decorate = Callable[[str], Content]
"""Makes content of a run of plain text."""
LinkTo = Callable[[Content, str], Content]
"""Makes content of a link's words that leads to its address."""


def _lead_nowhere(content: Content, href: str) -> Content:  # noqa: ARG001 - where links are for the eye alone
    return content


class BlockKind(StrEnum):
    """How a block is laid out."""

    TEXT = "text"
    CODE = "code"
    TABLE = "table"
    RULE = "rule"


_EMPTY = Content()


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A paragraph, heading, list item, piece of code, table or rule."""

    kind: BlockKind
    content: Content = _EMPTY
    rows: tuple[tuple[Content, ...], ...] = ()
    """Cells of a table, its header first."""
    lead: Content = _EMPTY
    """Stands before the first line: bullets and bars."""
    follow: Content = _EMPTY
    """Stands before each further line."""
    has_gap: bool = True
    """Whether an empty line parts it from the block before."""


_INLINE_STYLES = {
    "strong": "bold",
    "em": "italic",
    "s": "strike",
    "link": "$secondary underline",
}
_CODE_STYLE = "$accent"
_HEADING_STYLES = ("bold $primary", "bold $primary", "bold", "bold", "bold $muted", "bold $muted")
_BULLETS = ("•", "◦", "▪")
_BAR = Content.styled("▎ ", "$muted")


def parse_blocks(text: str, decorate: Decorate = Content, link_to: LinkTo = _lead_nowhere) -> list[Block]:
    """Return the blocks of a Markdown text.

    Args:
        text: Already without control characters.
        decorate: Applied to each run of text outside code, to style citation marks.
        link_to: Applied to the words of each link.
    """
    return _Builder(_Inline(decorate, link_to)).build(_parser().parse(text))


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    return limit_nesting(MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]))


@dataclass(slots=True)
class _Container:
    """A list item or a quotation that is open."""

    lead: Content
    follow: Content
    is_used: bool = False


@dataclass(slots=True)
class _List:
    ordinal: int | None
    """Number of the next item, None for bullets."""


@dataclass(frozen=True, slots=True)
class _Inline:
    """Draws the words of a block."""

    decorate: Decorate
    link_to: LinkTo

    def draw(self, tokens: Sequence[Token]) -> Content:
        """Return inline tokens as content."""
        parts: list[Content] = []
        styles: list[str] = []
        links: list[tuple[str, int]] = []
        for token in tokens:
            if token.type == "link_open":
                links.append((str(token.attrs.get("href", "")), len(parts)))
            name = token.type.removesuffix("_open").removesuffix("_close")
            if name not in _INLINE_STYLES:
                content = _leaf(token, self.decorate)
                for style in styles:
                    content = content.stylize(style)
                parts.append(content)
            elif token.nesting > 0:
                styles.append(_INLINE_STYLES[name])
            elif styles:
                styles.pop()
            if token.type == "link_close" and links:
                href, start = links.pop()
                parts[start:] = [self.link_to(Content("").join(parts[start:]), href)]
        return Content("").join(parts)


@dataclass(slots=True)
class _Builder:
    inline: _Inline
    blocks: list[Block] = field(default_factory=list)
    containers: list[_Container] = field(default_factory=list)
    lists: list[_List] = field(default_factory=list)

    def build(self, tokens: Sequence[Token]) -> list[Block]:
        index = 0
        while index < len(tokens):
            token = tokens[index]
            if token.type == "table_open":
                index = self._add_table(tokens, index)
            else:
                self._take(token, tokens[index - 1] if index else None)
            index += 1
        return self.blocks

    def _take(self, token: Token, before: Token | None) -> None:
        match token.type:
            case "bullet_list_open":
                self.lists.append(_List(None))
            case "ordered_list_open":
                self.lists.append(_List(int(token.attrs.get("start", 1))))
            case "bullet_list_close" | "ordered_list_close":
                self.lists.pop()
            case "list_item_open":
                self._open_item()
            case "blockquote_open":
                self.containers.append(_Container(_BAR, _BAR))
            case "list_item_close" | "blockquote_close":
                self.containers.pop()
            case "inline":
                self._add_inline(token, before)
            case "fence" | "code_block":
                code = Content(token.content.rstrip("\n"))
                self._add(Block(kind=BlockKind.CODE, content=code))
            case "hr":
                self._add(Block(kind=BlockKind.RULE))
            case _:
                pass

    def _open_item(self) -> None:
        current = self.lists[-1]
        if current.ordinal is None:
            marker = _BULLETS[min(len(self.lists), len(_BULLETS)) - 1] + " "
        else:
            marker = f"{current.ordinal}. "
            current.ordinal += 1
        self.containers.append(_Container(Content.styled(marker, "$primary"), Content(" " * len(marker))))

    def _add_inline(self, token: Token, before: Token | None) -> None:
        content = self.inline.draw(token.children or ())
        if before is not None and before.type == "heading_open":
            content = content.stylize_before(_HEADING_STYLES[int(before.tag[1]) - 1])
        is_tight = before is not None and before.hidden
        self._add(Block(kind=BlockKind.TEXT, content=content), is_tight=is_tight)

    def _add(self, block: Block, *, is_tight: bool = False) -> None:
        lead = Content("").join([c.follow if c.is_used else c.lead for c in self.containers])
        follow = Content("").join([c.follow for c in self.containers])
        begins_list = len(self.containers) == 1 and not self._continues_list()
        for container in self.containers:
            container.is_used = True
        self.blocks.append(
            Block(
                kind=block.kind,
                content=block.content,
                rows=block.rows,
                lead=lead,
                follow=follow,
                has_gap=bool(self.blocks) and (not is_tight or begins_list),
            )
        )

    def _continues_list(self) -> bool:
        return bool(self.blocks) and bool(self.blocks[-1].lead.plain)

    def _add_table(self, tokens: Sequence[Token], start: int) -> int:
        """Add the table that begins at `start` and return the index of its last token."""
        rows: list[tuple[Content, ...]] = []
        cells: list[Content] = []
        index = start
        while tokens[index].type != "table_close":
            token = tokens[index]
            if token.type == "inline":
                cells.append(self.inline.draw(token.children or ()))
            elif token.type == "tr_close":
                rows.append(tuple(cells))
                cells = []
            index += 1
        self._add(Block(kind=BlockKind.TABLE, rows=tuple(rows)))
        return index


def _leaf(token: Token, decorate: Decorate) -> Content:
    match token.type:
        case "code_inline":
            return Content.styled(token.content, _CODE_STYLE)
        case "softbreak":
            return Content(" ")
        case "hardbreak":
            return Content("\n")
        case "image":
            return Content.styled(f"[image: {token.content}]", "italic $muted")
        case _:
            return decorate(token.content)


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
