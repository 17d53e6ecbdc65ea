"""Lays out the Markdown of one chunk as lines. Knows no screen."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from roamtui.document.plain import strip_anchor
from roamtui.tui.reader.code_runs import colour_code
from roamtui.tui.reader.inline_runs import read_inline
from roamtui.tui.reader.line import Emphasis, Line, Look, Role, Run, make_run, measure_runs
from roamtui.tui.reader.table_lines import Row, lay_out_table
from roamtui.tui.reader.wrap import HARD_BREAK, wrap_runs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from markdown_it.token import Token

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
            self._add_block(token, [(make_run(token.info.strip(), Look(Role.NOTE)),)], is_code=True)
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
