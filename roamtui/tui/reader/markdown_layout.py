"""Lays out the Markdown of one chunk as lines. Knows no screen."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from markdown_it.token import Token

from roamtui.document.plain import strip_anchor
from roamtui.tui.reader.code_runs import colour_code
from roamtui.tui.reader.line import HARD_BREAK, Emphasis, Line, Look, Role, Run, make_run, measure_runs, wrap_runs

_HEADINGS = {"h1": Role.H1, "h2": Role.H2, "h3": Role.H3}
_UNDERLINES = {Role.H1: "━", Role.H2: "─"}
_BULLETS = "•◦▪"
_BOXES = {"[ ] ": "☐ ", "[x] ": "☑ ", "[X] ": "☑ "}
_CODE_MARGIN = Run(" ", Look(Role.CODE))
_WIDTH_MIN = 8
"""Cells that text keeps, however deep it is nested."""


@dataclass(slots=True)
class Container:
    """A quote, list or list item that lines stand in."""

    first: tuple[Run, ...] = ()
    """What its first line begins with."""
    rest: tuple[Run, ...] = ()
    """What its further lines begin with."""
    is_list: bool = False
    is_item: bool = False
    is_tight: bool = False
    number: int | None = None
    """Of the next item, None for bullets."""
    has_lines: bool = False


@dataclass(slots=True, kw_only=True)
class MarkdownLayout:
    """Lays out tokens as lines, in order."""

    find_offset: Callable[[int], int]
    """Gives the document's offset of a line of the parsed text; below the first shown one for lines of the prefix."""
    start: int
    """Offset of the first character that is shown."""
    width: int | None
    """Cells for prose, None for any number."""
    width_max: int | None
    """Cells in view, for tables."""
    lines: list[Line] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    _containers: list[Container] = field(default_factory=list)
    _block: int = 0

    def lay_out(self, tokens: list[Token]) -> None:
        """Add the lines of a chunk's tokens."""
        position = 0
        while position < len(tokens):
            token = tokens[position]
            if token.type == "table_open":
                end = _find_close(tokens, position, "table_close")
                self._add_table(tokens[position : end + 1])
                position = end
            elif token.type in ("paragraph_open", "heading_open"):
                self._add_prose(token, tokens[position + 1])
            elif token.type.endswith(("_list_open", "_list_close", "blockquote_open", "blockquote_close")):
                self._follow_container(tokens, position)
            elif token.type in ("list_item_open", "list_item_close"):
                self._follow_item(token)
            else:
                self._add_leaf(token)
            position += 1

    def _follow_container(self, tokens: list[Token], position: int) -> None:
        token = tokens[position]
        if token.type.endswith("_close"):
            self._containers.pop()
        elif token.type == "blockquote_open":
            bar = (Run("▌ ", Look(Role.BAR)),)
            self._containers.append(Container(bar, bar))
        else:
            number = int(token.attrGet("start") or 1) if token.type == "ordered_list_open" else None
            self._containers.append(Container(is_list=True, is_tight=_is_tight(tokens, position), number=number))

    def _follow_item(self, token: Token) -> None:
        if token.type == "list_item_close":
            if not self._containers[-1].has_lines:
                self._add_block(token, [()])
            self._containers.pop()
            return
        parent = self._containers[-1]
        if parent.number is None:
            depth = sum(1 for container in self._containers if container.is_list and container.number is None)
            mark = _BULLETS[(depth - 1) % len(_BULLETS)] + " "
        else:
            mark = f"{parent.number}{token.markup or '.'} "
            parent.number += 1
        indent = (Run(" " * len(mark)),)
        self._containers.append(Container((Run(mark, Look(Role.BULLET)),), indent, is_item=True))

    def _add_prose(self, token: Token, inline: Token) -> None:
        children = inline.children or []
        if token.type == "heading_open":
            self._add_heading(token, children)
            return
        in_quote = any(container.first and container.first == container.rest for container in self._containers)
        runs = read_inline(children, Look(Role.QUOTE if in_quote else Role.TEXT), self.links)
        self._add_block(token, wrap_runs(self._check_box(runs), self._room))

    def _add_heading(self, token: Token, children: list[Token]) -> None:
        role = _HEADINGS.get(token.tag, Role.H4)
        runs = read_inline(children, Look(role), self.links)
        if runs:
            runs[-1] = Run(strip_anchor(runs[-1].text), runs[-1].look)
        lines = wrap_runs(runs, self._room)
        stroke = _UNDERLINES.get(role)
        if stroke:
            lines.append([Run(stroke * max(measure_runs(line) for line in lines), Look(Role.RULE))])
        self._add_block(token, lines)

    def _check_box(self, runs: list[Run]) -> list[Run]:
        """Return the runs of a task without its marks, which become the box that its item begins with."""
        item = self._containers[-1] if self._containers else None
        box = _BOXES.get(runs[0].text[:4]) if runs else None
        if item is None or not item.is_item or item.has_lines or not box:
            return runs
        item.first = (Run(box, Look(Role.BULLET)),)
        return [Run(runs[0].text[4:], runs[0].look), *runs[1:]]

    def _add_leaf(self, token: Token) -> None:
        match token.type:
            case "fence":
                self._add_code(token, token.info.split(maxsplit=1)[0] if token.info.split() else "")
            case "code_block":
                self._add_code(token, "")
            case "hr":
                width = min(self._room or 40, 40)
                self._add_block(token, [(Run("─" * width, Look(Role.RULE)),)])
            case "html_block":
                for number, text in enumerate(token.content.removesuffix("\n").split("\n")):
                    run = make_run(text, Look(Role.HTML))
                    self._add_block(token, wrap_runs([run], self._room), is_next=number > 0)
            case _:
                pass

    def _add_code(self, token: Token, language: str) -> None:
        first, last = token.map or (0, 0)
        has_fence = token.type == "fence"
        is_hidden = has_fence and self.find_offset(first) < self.start
        if token.info.strip() and not is_hidden:
            self._add_block(token, [(make_run(token.info.strip(), Look(Role.ASIDE)),)], is_code=True)
        if not token.content:
            return
        for number, runs in enumerate(colour_code(token.content, language)):
            line = min(first + has_fence + number, last)
            self._add_block(
                token, [runs], lines=(line, line + 1), is_code=True, is_next=number > 0 or bool(token.info.strip())
            )

    def _add_table(self, tokens: list[Token]) -> None:
        rows = list(self._read_rows(tokens))
        alignments = [_read_alignment(token) for token in tokens if token.type == "th_open"]
        before: Row | None = None
        for line in lay_out_table(rows, alignments, self._find_room(self.width_max)):
            if line.row.start >= self.start:
                is_same = line.row is before
                self._add_lines([line.runs], line.row.start, line.row.end, is_next=before is not None, is_same=is_same)
                before = line.row

    def _read_rows(self, tokens: list[Token]) -> Iterator[Row]:
        cells: list[tuple[Run, ...]] = []
        start = end = self.start
        is_head = False
        for token in tokens:
            match token.type:
                case "tr_open":
                    cells = []
                    first, last = token.map or (0, 0)
                    start, end = self.find_offset(first), self.find_offset(last)
                case "th_open" | "td_open":
                    is_head = token.type == "th_open"
                case "inline":
                    emphasis = Emphasis.STRONG if is_head else Emphasis.NONE
                    cells.append(tuple(read_inline(token.children or [], Look(emphasis=emphasis), self.links)))
                case "tr_close":
                    yield Row(cells=tuple(cells), start=start, end=end, is_head=is_head)
                case _:
                    pass

    def _add_block(
        self,
        token: Token,
        texts: Sequence[Sequence[Run]],
        *,
        lines: tuple[int, int] | None = None,
        is_code: bool = False,
        is_next: bool = False,
    ) -> None:
        first, last = lines or token.map or (0, 0)
        self._add_lines(texts, self.find_offset(first), self.find_offset(last), is_code=is_code, is_next=is_next)

    def _add_lines(
        self,
        texts: Sequence[Sequence[Run]],
        start: int,
        end: int,
        *,
        is_code: bool = False,
        is_next: bool = False,
        is_same: bool = False,
    ) -> None:
        """Add lines of one block.

        Args:
            texts: What stands on each line.
            start: Offset of their source.
            end: Offset after it.
            is_code: Whether they are code.
            is_next: Whether no blank line may come before them.
            is_same: Whether they go on with the block before.
        """
        if not is_same:
            self._block += 1
        start = max(start, self.start)
        if not is_next and self._needs_gap():
            gap = tuple(run for container in self._containers if container.has_lines for run in container.rest)
            self.lines.append(Line(runs=gap, start=start, end=start, block=-self._block))
        for text in texts:
            prefix = (*self._prefix(), _CODE_MARGIN) if is_code else self._prefix()
            length = sum(len(run.text) for run in prefix)
            runs = (*prefix, *(run for run in text if run is not HARD_BREAK and run.text))
            self.lines.append(
                Line(runs=runs, start=start, end=end, block=self._block, prefix_length=length, is_code=is_code)
            )
            for container in self._containers:
                container.has_lines = True

    def _needs_gap(self) -> bool:
        if not self.lines:
            return False
        lists = [container for container in self._containers if container.is_list and container.has_lines]
        return not (lists and lists[-1].is_tight)

    def _prefix(self) -> tuple[Run, ...]:
        """Return what the next line begins with."""
        return tuple(
            run
            for container in self._containers
            for run in (container.rest if container.has_lines else container.first)
        )

    @property
    def _room(self) -> int | None:
        """Cells for prose inside the containers."""
        return self._find_room(self.width)

    def _find_room(self, width: int | None) -> int | None:
        if width is None:
            return None
        return max(_WIDTH_MIN, width - sum(measure_runs(container.rest) for container in self._containers))


def _find_close(tokens: list[Token], position: int, kind: str) -> int:
    while tokens[position].type != kind:
        position += 1
    return position


def _is_tight(tokens: list[Token], position: int) -> bool:
    """Return whether the paragraphs of a list are written without blank lines between them."""
    level = tokens[position].level
    for token in tokens[position + 1 :]:
        if token.level == level:
            break
        if token.type == "paragraph_open" and token.level == level + 2:
            return token.hidden
    return True


def _read_alignment(token: Token) -> str:
    return str(token.attrGet("style") or "").removeprefix("text-align:")


_EMPHASES = {"strong": Emphasis.STRONG, "em": Emphasis.ITALIC, "s": Emphasis.STRUCK}
_FOOTNOTE = re.compile(r"\[\^[^\[\]\s]{1,100}\]")
_LINE_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_ANCHOR = re.compile(r"<a(?:\s[^>]*)?>", re.IGNORECASE)
_ANCHOR_END = re.compile(r"</a\s*>", re.IGNORECASE)
_HREF = re.compile(r"\shref\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>]+))", re.IGNORECASE)


def read_inline(tokens: Sequence[Token], base: Look, links: list[str]) -> list[Run]:
    """Return the runs of a block's inline tokens.

    Args:
        tokens: The children of an inline token.
        base: What the block looks like.
        links: Addresses of the links of the chunk so far; those found here are appended.
    """
    return list(_read(tokens, base, links))


def _read(tokens: Sequence[Token], base: Look, links: list[str]) -> Iterator[Run]:
    looks = [base]
    for token in tokens:
        kind, _, side = token.type.rpartition("_")
        if side == "open":
            looks.append(_open(looks[-1], kind, token, links))
        elif side == "close":
            looks.pop()
        elif token.type == "html_inline":
            yield from _read_html(token.content, looks, links)
        elif token.type == "image":
            yield _read_image(token, looks[-1], links)
        elif token.type == "text" and "[^" in token.content and looks[-1].link is None:
            yield from _read_footnotes(token.content, looks[-1], links, is_first=token is tokens[0])
        else:
            yield _read_piece(token, looks[-1])


def _open(look: Look, kind: str, token: Token, links: list[str]) -> Look:
    if kind == "link":
        links.append(str(token.attrGet("href") or ""))
        return replace(look, link=len(links) - 1)
    return replace(look, emphasis=look.emphasis | _EMPHASES.get(kind, Emphasis.NONE))


def _read_html(tag: str, looks: list[Look], links: list[str]) -> Iterator[Run]:
    """Yield what an HTML tag shows: anchors become links, or nothing where they only name a place."""
    if _LINE_BREAK.fullmatch(tag):
        yield HARD_BREAK
    elif _ANCHOR_END.fullmatch(tag):
        looks[-1] = replace(looks[-1], link=None)
    elif _ANCHOR.fullmatch(tag):
        href = _HREF.search(tag)
        if href:
            links.append(html.unescape(next(group for group in href.groups() if group is not None)))
            looks[-1] = replace(looks[-1], link=len(links) - 1)
    else:
        yield make_run(tag, replace(looks[-1], role=Role.HTML))


def _read_image(token: Token, look: Look, links: list[str]) -> Run:
    """Return an image's text, a link to the image where it is not part of another link."""
    address = str(token.attrGet("src") or "")
    if look.link is None and address:
        links.append(address)
        look = replace(look, link=len(links) - 1)
    return make_run(f"[image: {token.content or address}]", replace(look, role=Role.ASIDE))


def _read_footnotes(text: str, look: Look, links: list[str], *, is_first: bool) -> Iterator[Run]:
    """Yield a text whose marks of footnotes are links: a mark to its note, and the note's own mark to where it is used.

    Args:
        text: What holds marks, as `[^1]`.
        look: What the text looks like.
        links: As in `read_inline`; a mark's address is the mark, with a colon the note's own.
        is_first: Whether the text begins its block, as the mark of a note does.
    """
    position = 0
    for match in _FOOTNOTE.finditer(text):
        if position < match.start():
            yield make_run(text[position : match.start()], look)
        is_note = is_first and match.start() == 0 and text.startswith(":", match.end())
        links.append(f"{match.group()}:" if is_note else match.group())
        yield make_run(match.group(), replace(look, link=len(links) - 1))
        position = match.end()
    if position < len(text):
        yield make_run(text[position:], look)


def _read_piece(token: Token, look: Look) -> Run:
    match token.type:
        case "code_inline":
            return make_run(token.content, replace(look, emphasis=look.emphasis | Emphasis.CODE))
        case "softbreak":
            return Run(" ", look)
        case "hardbreak":
            return HARD_BREAK
        case _:
            return make_run(token.content, look)


_COLUMN_WIDTH_MIN = 12
"""Cells that a column keeps where a table has to be narrowed; past that it is scrolled sideways."""
_GRID = Look(Role.GRID)
_BETWEEN = Run(" │ ", _GRID)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row of a table."""

    cells: tuple[tuple[Run, ...], ...]
    start: int
    """Offset of its source."""
    end: int
    is_head: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TableLine:
    """One line of a table."""

    runs: tuple[Run, ...]
    row: Row


def lay_out_table(rows: list[Row], alignments: list[str], width: int | None) -> list[TableLine]:
    """Return the lines of a table; wider than `width` only where its columns cannot be narrowed to it.

    Args:
        rows: Its rows, the head first.
        alignments: ``left``, ``right``, ``center`` or empty, for each column.
        width: Cells in view, None for any number.
    """
    columns = max((len(row.cells) for row in rows), default=0)
    if not columns:
        return []
    widths = _find_widths(rows, columns, width)
    wrapped = [_wrap_row(row, widths) for row in rows]
    has_tall_rows = any(len(lines) > 1 for lines in wrapped)
    table: list[TableLine] = []
    for number, (row, lines) in enumerate(zip(rows, wrapped, strict=True)):
        table.extend(TableLine(runs=_join_cells(cells, widths, alignments), row=row) for cells in lines)
        is_last = number == len(rows) - 1
        if row.is_head or (has_tall_rows and not is_last):
            table.append(TableLine(runs=(_draw_rule(widths, "─" if row.is_head else "┄"),), row=row))
    return table


def _find_widths(rows: list[Row], columns: int, width: int | None) -> list[int]:
    natural = [
        max((_measure_cell(row.cells[column]) for row in rows if column < len(row.cells)), default=0)
        for column in range(columns)
    ]
    room = None if width is None else width - (columns - 1) * len(_BETWEEN.text)
    if room is None or sum(natural) <= room:
        return natural
    return _narrow(natural, room)


def _narrow(natural: list[int], room: int) -> list[int]:
    """Cut the widest columns down to one width, such that all fit in `room` if they can."""
    limit = _COLUMN_WIDTH_MIN
    for wide in sorted(set(natural), reverse=True):
        others = sum(cells for cells in natural if cells < wide)
        count = sum(1 for cells in natural if cells >= wide)
        share = (room - others) // count
        if share >= max((cells for cells in natural if cells < wide), default=0):
            limit = max(_COLUMN_WIDTH_MIN, share)
            break
    return [min(cells, limit) for cells in natural]


def _measure_cell(cell: tuple[Run, ...]) -> int:
    return max(measure_runs(line) for line in wrap_runs(cell, None))


def _wrap_row(row: Row, widths: list[int]) -> list[list[list[Run]]]:
    """Return for each line of a row the runs of each column."""
    cells = [wrap_runs(cell, max(1, width)) for cell, width in zip(row.cells, widths, strict=False)]
    height = max((len(lines) for lines in cells), default=1)
    return [[lines[number] if number < len(lines) else [] for lines in cells] for number in range(height)]


def _join_cells(cells: list[list[Run]], widths: list[int], alignments: list[str]) -> tuple[Run, ...]:
    runs: list[Run] = []
    for column, width in enumerate(widths):
        cell = cells[column] if column < len(cells) else []
        gap = max(0, width - measure_runs(cell))
        alignment = alignments[column] if column < len(alignments) else ""
        before = {"right": gap, "center": gap // 2}.get(alignment, 0)
        runs.extend((Run(" " * before), *cell, Run(" " * (gap - before))))
        if column < len(widths) - 1:
            runs.append(_BETWEEN)
    return tuple(run for run in runs if run.text and run is not HARD_BREAK)


def _draw_rule(widths: list[int], stroke: str) -> Run:
    return Run(f"{stroke}┼{stroke}".join(stroke * width for width in widths), _GRID)
