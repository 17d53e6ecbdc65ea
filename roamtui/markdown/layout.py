"""Lays out Markdown blocks as lines. Independent of the screen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, zip_longest
from typing import assert_never

from msgspec import Struct, field
from msgspec.structs import replace

from roamtui.markdown.blocks import (
    LINE_BREAK,
    Block,
    Code,
    Emphasis,
    Heading,
    Inline,
    Link,
    List,
    Paragraph,
    Quote,
    Table,
    ThematicBreak,
)
from roamtui.markdown.code import get_language, highlight_code
from roamtui.markdown.lines import (
    HARD_BREAK,
    Line,
    PictureLine,
    Run,
    RunStyle,
    TextRole,
    fold_runs,
    make_run,
    measure_longest_word,
    measure_runs,
    wrap_runs,
)
from roamtui.sources.convert.drawing import PictureFile

BULLETS = "•◦▪"
"""Bullets of nested lists, outermost first. Deeper lists use them again."""
CHECKBOXES = {False: "☐ ", True: "☑ "}
"""Checkboxes of list items, by whether the item is done."""
PROSE_WIDTH_MAX = 100
"""In cells. Longer lines are hard to read."""
_HEADING_ROLES = (TextRole.H1, TextRole.H2, TextRole.H3)
_UNDERLINES = {TextRole.H1: "━", TextRole.H2: "─"}
_ALERT_ROLES = (
    dict.fromkeys(("tip", "hint", "success", "check"), TextRole.TIP)
    | dict.fromkeys(("warning", "attention"), TextRole.WARNING)
    | dict.fromkeys(("caution", "danger", "error", "failure", "bug"), TextRole.CAUTION)
    | {"important": TextRole.IMPORTANT}
)
"""Roles of alerts by kind. All other kinds have the role `NOTE`."""
_CODE_MARGIN = Run(" ", RunStyle(TextRole.CODE))
_RULE_WIDTH = 40
"""In cells. Width of a thematic break."""
_WIDTH_MIN = 8
"""In cells. Nested text is at least this wide."""
_PICTURE_ROWS_MIN = 3
"""In cells. A picture with fewer rows, such as a badge, is shown as words."""
_PICTURE_COLUMNS_MAX, _PICTURE_ROWS_MAX = 80, 24
_PIXELS_PER_COLUMN, _PIXELS_PER_ROW = 8, 16
"""Minimum number of pixels that a cell shows across and down, so that no picture is enlarged."""


_GRID = RunStyle(TextRole.GRID)
_COLUMN_GAP = Run(" │ ", _GRID)
_WORD_WIDTH_MAX = 60
"""In cells. A longer word in a table may be broken."""
_FIGURE_LETTERS_MAX = 3
"""Maximum number of letters in a figure, for its currency or unit, as in ``32 MiB``."""
_FIGURES_MIN = 0.8
"""Minimum share of figures among a column's filled cells. Financial statements often have a few words among them."""
_Cells = Sequence[list[Run]]


class _Container(Struct):
    """A quote, list or list item that contains lines."""

    first_prefix: tuple[Run, ...] = ()
    """The prefix of its first line."""
    other_prefix: tuple[Run, ...] = ()
    """The prefix of its other lines."""
    is_quote: bool = False
    has_bullets: bool = False
    is_tight: bool | None = None
    """Whether a list has no blank lines between its items, or None for other containers."""
    has_lines: bool = False


class MarkdownLayout(Struct, kw_only=True):
    """A layout that collects the lines of blocks in order."""

    width: int | None
    """Width of the view in cells, or None for no wrapping."""
    can_scroll: bool = True
    """Whether the view scrolls sideways. Otherwise, code is wrapped and tables are narrowed to the view."""
    can_click: bool = True
    """Whether the view opens links. Otherwise, web links show their address, and code is not wrapped, for copying."""
    links: Sequence[Link] = ()
    """The links of the blocks, by number. They are needed if the view cannot open them."""
    measure_picture: Callable[[int], tuple[PictureFile, int, int] | None] | None = None
    """Returns the picture that a link leads to, with its width and height in pixels. None to show only words."""
    lines: list[Line] = field(default_factory=list)
    _containers: list[_Container] = field(default_factory=list)
    _block: int = 0
    _ends_with_title: bool = False
    """Whether the last line is the title of an alert, so that no blank line may follow it."""

    def add_blocks(self, blocks: Sequence[Block]) -> None:
        """Lay out blocks, and append their lines."""
        for block in blocks:
            match block:
                case Paragraph():
                    is_quoted = any(container.is_quote for container in self._containers)
                    style = RunStyle(TextRole.QUOTE if is_quoted else TextRole.TEXT)
                    has_pictures = self._add_pictures(block)
                    lines = self._wrap(self._to_runs(block.words, style))
                    self._add_lines(lines, block.start, block.end, is_tight=has_pictures)
                case Heading():
                    self._add_heading(block)
                case Code():
                    self._add_code(block)
                case Table():
                    self._add_table(block)
                case List():
                    self._add_list(block)
                case Quote():
                    self._add_quote(block)
                case ThematicBreak(start=start, end=end):
                    width = min(self._compute_available_width(_RULE_WIDTH) or _RULE_WIDTH, _RULE_WIDTH)
                    self._add_lines([(Run("─" * width, RunStyle(TextRole.RULE)),)], start, end)
                case _:
                    assert_never(block)

    @contextmanager
    def _within(self, container: _Container) -> Iterator[_Container]:
        self._containers.append(container)
        yield container
        self._containers.pop()

    def _add_pictures(self, block: Paragraph) -> bool:
        """Add the pictures of a paragraph that has no other words. Return whether any were added."""
        if self.measure_picture is None or not all(words.is_image or not words.text.strip() for words in block.words):
            return False
        count = len(self.lines)
        for words in block.words:
            found = self.measure_picture(words.link) if words.link is not None else None
            columns, rows = fit_picture(*found[1:], self._compute_available_width()) if found else (0, 0)
            if found and rows >= _PICTURE_ROWS_MIN:
                self._add_lines([()] * rows, block.start, block.end)
                for row in range(rows):
                    picture = PictureLine(found[0], words.link or 0, columns, rows, row)
                    self.lines[row - rows] = replace(self.lines[row - rows], picture=picture)
        return len(self.lines) > count

    def _add_heading(self, block: Heading) -> None:
        role = _HEADING_ROLES[block.level - 1] if block.level <= len(_HEADING_ROLES) else TextRole.H4
        lines = self._wrap(self._to_runs(block.words, RunStyle(role)))
        if role in _UNDERLINES:
            stroke = _UNDERLINES[role] * max(measure_runs(line) for line in lines)
            lines.append([Run(stroke, RunStyle(TextRole.RULE))])
        self._add_lines(lines, block.start, block.end)

    def _add_list(self, block: List) -> None:
        number = block.number
        with self._within(_Container(has_bullets=number is None, is_tight=block.is_tight)):
            depth = sum(container.has_bullets for container in self._containers)
            for item in block.items:
                bullet = BULLETS[(depth - 1) % len(BULLETS)] + " "
                if number is not None:
                    bullet = f"{number}{block.delimiter} "
                    number += 1
                bullet = bullet if item.is_done is None else CHECKBOXES[item.is_done]
                indent = (Run(" " * len(bullet)),)
                with self._within(_Container((Run(bullet, RunStyle(TextRole.BULLET)),), indent)) as container:
                    self.add_blocks(item.blocks)
                    if not container.has_lines:
                        self._add_lines([()], item.start, item.end)

    def _add_quote(self, block: Quote) -> None:
        role = _ALERT_ROLES.get(block.alert, TextRole.NOTE) if block.alert else TextRole.BAR
        bar = (Run("▌ ", RunStyle(role)),)
        with self._within(_Container(bar, bar, is_quote=not block.alert)):
            if block.alert:
                style = RunStyle(role, Emphasis.STRONG)
                kind = make_run(block.alert.capitalize() + (": " if block.title else ""), style)
                title = self._to_runs(block.title, style if block.blocks else RunStyle())
                self._add_lines(self._wrap([kind, *title]), block.start, block.end)
                self._ends_with_title = True
            self.add_blocks(block.blocks)
            self._ends_with_title = False

    def _add_code(self, block: Code) -> None:
        start = block.offsets[0]
        language = get_language(block.info)
        if language:
            self._add_lines([(make_run(language, RunStyle(TextRole.ASIDE)),)], start, start, is_code=True)
        room = None if self.can_scroll or not self.can_click else self._compute_available_width()
        spans = zip(block.offsets, block.offsets[1:], strict=False)
        for number, (runs, (start, end)) in enumerate(zip(highlight_code(block.text, language), spans, strict=False)):
            lines = fold_runs(runs, room and room - len(_CODE_MARGIN.text))
            self._add_lines(lines, start, end, is_code=True, is_tight=number > 0 or bool(language))

    def _add_table(self, block: Table) -> None:
        head_style, style = RunStyle(emphasis=Emphasis.STRONG), RunStyle()
        are_heads = [row.is_head for row in block.rows]
        cells = [
            [self._to_runs(cell, head_style if row.is_head else style) for cell in row.cells] for row in block.rows
        ]
        room = self._compute_available_width()
        wrapped = _lay_out_rows(cells, are_heads, block.alignments, room, can_scroll=self.can_scroll)
        for number, (row, lines) in enumerate(zip(block.rows, wrapped, strict=False)):
            self._add_lines(lines, row.start, row.end, is_tight=number > 0)

    def _add_lines(
        self,
        texts: Sequence[Sequence[Run]],
        start: int,
        end: int,
        *,
        is_code: bool = False,
        is_tight: bool = False,
    ) -> None:
        """Add lines of one block.

        Args:
            texts: The runs of each line.
            start: Start offset of the block in the source.
            end: Offset after the block.
            is_code: Whether the lines are code.
            is_tight: Whether no blank line may come before the lines.
        """
        self._block += 1
        lists = [container for container in self._containers if container.is_tight is not None and container.has_lines]
        if self.lines and not (is_tight or self._ends_with_title or (lists and lists[-1].is_tight)):
            gap = tuple(run for container in self._containers if container.has_lines for run in container.other_prefix)
            self.lines.append(Line(runs=gap, block_start=start, block_end=start, block_number=-self._block))
        self._ends_with_title = False
        for text in texts:
            prefixes = [
                container.other_prefix if container.has_lines else container.first_prefix
                for container in self._containers
            ]
            prefix = [*chain.from_iterable(prefixes), *([_CODE_MARGIN] if is_code else [])]
            length = sum(len(run.text) for run in prefix)
            runs = (*prefix, *(run for run in text if run is not HARD_BREAK and run.text))
            self.lines.append(
                Line(
                    runs=runs,
                    block_start=start,
                    block_end=end,
                    block_number=self._block,
                    prefix_length=length,
                    is_code=is_code,
                )
            )
            for container in self._containers:
                container.has_lines = True

    def _wrap(self, runs: Sequence[Run]) -> list[list[Run]]:
        return wrap_runs(runs, self._compute_available_width(PROSE_WIDTH_MAX))

    def _compute_available_width(self, width_max: int | None = None) -> int | None:
        """Return the width in cells inside the containers, at most `width_max`."""
        if self.width is None:
            return None
        width = self.width if width_max is None else min(self.width, width_max)
        return max(_WIDTH_MIN, width - sum(measure_runs(container.other_prefix) for container in self._containers))

    def _to_runs(self, words: Inline, base: RunStyle) -> list[Run]:
        """Convert inline text to runs, each with the style `base` and its own emphasis, link and quote."""
        runs: list[Run] = []
        for index, piece in enumerate(words):
            emphasis = base.emphasis | piece.emphasis
            style = replace(base, emphasis=emphasis, link_number=piece.link, quote_number=piece.group)
            if piece is LINE_BREAK:
                runs.append(HARD_BREAK)
            elif piece.is_image:
                runs.append(make_run(f"[image: {piece.text}]", replace(style, role=TextRole.ASIDE)))
            else:
                runs.append(make_run(piece.text, style))
            is_last = index + 1 == len(words) or words[index + 1].link != piece.link
            if not self.can_click and piece.link is not None and is_last:
                href = self.links[piece.link].href
                is_shown = piece.group is not None or piece.text == href
                if not is_shown and href.startswith(("http://", "https://")):
                    runs.append(make_run(f" ({href})", RunStyle(TextRole.ASIDE)))
        return runs


def fit_picture(width: int, height: int, columns_max: int | None) -> tuple[int, int]:
    """Return the number of columns and rows for a picture, given its size in pixels."""
    columns, rows = width / _PIXELS_PER_COLUMN, height / _PIXELS_PER_ROW
    columns_max = min(columns_max or _PICTURE_COLUMNS_MAX, _PICTURE_COLUMNS_MAX)
    scale = min(1, columns_max / columns, _PICTURE_ROWS_MAX / rows)
    return max(1, round(columns * scale)), round(rows * scale)


def _lay_out_rows(
    rows: Sequence[_Cells], are_heads: Sequence[bool], alignments: Sequence[str], room: int | None, *, can_scroll: bool
) -> list[list[list[Run]]]:
    """Return the lines of each row. A rule follows a heading row.

    Args:
        rows: The cells of each row.
        are_heads: Whether each row is a heading row.
        alignments: Alignment of each column. A column of figures without one is aligned to the right.
        room: Width in cells to fit in, or None for no limit.
        can_scroll: Whether the table may be wider, so that no word is broken.
    """
    columns = [*zip(*rows, strict=True)]
    widths = _compute_column_widths(columns, room, can_scroll=can_scroll)
    body = [cells for cells, is_head in zip(rows, are_heads, strict=True) if not is_head]
    figures = [
        alignment or _align(cells) for alignment, cells in zip(alignments, zip(*body, strict=True), strict=False)
    ]
    wrapped = [_wrap_row(cells, widths, figures or alignments) for cells in rows]
    for lines, is_head in zip(wrapped, are_heads, strict=True):
        if is_head:
            lines.append([Run("─┼─".join("─" * width for width in widths), _GRID)])
    return wrapped


def _align(column: _Cells) -> str:
    """Return the alignment of a column without one: to the right if most of at least two filled cells are figures."""
    filled = list(filter(None, ("".join(run.text for run in cell).strip() for cell in column)))
    figures = [cell for cell in filled if sum(map(str.isalpha, cell)) <= _FIGURE_LETTERS_MAX]
    has_digit = any(map(str.isdecimal, "".join(figures)))
    return "right" if has_digit and len(filled) > 1 and len(figures) >= _FIGURES_MIN * len(filled) else ""


def _compute_column_widths(columns: Sequence[_Cells], room: int | None, *, can_scroll: bool) -> list[int]:
    """Compute the width of each column in cells. The widest are narrowed if the table does not fit.

    Words are not broken if they fit side by side, or if the table may scroll.
    """
    natural = [max(measure_runs(line) for cell in cells for line in wrap_runs(cell, None)) for cells in columns]
    if room is None:
        return natural
    room -= (len(columns) - 1) * len(_COLUMN_GAP.text)
    if sum(natural) <= room:
        return natural
    words = [min(_WORD_WIDTH_MAX, max(map(measure_longest_word, cells))) for cells in columns]
    least = [1] * len(words)
    return _narrow(natural, words, room) or (words if can_scroll else _narrow(words, least, room) or least)


def _narrow(widths: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """Give the widest columns a common width, but none less than its `least`. Return nothing if that is too wide."""
    for limit in range(room, 0, -1):
        narrowed = [min(width, max(limit, low)) for width, low in zip(widths, least, strict=True)]
        if sum(narrowed) <= room:
            return narrowed
    return []


def _wrap_row(row: _Cells, widths: Sequence[int], alignments: Sequence[str]) -> list[list[Run]]:
    """Lay out the cells of a row side by side."""
    cells = [wrap_runs(cell, max(1, width)) for cell, width in zip(row, widths, strict=True)]
    lines = []
    for parts in zip_longest(*cells, fillvalue=list[Run]()):
        runs: list[Run] = []
        for part, width, alignment in zip(parts, widths, alignments, strict=True):
            gap = max(0, width - measure_runs(part))
            left_gap = {"right": gap, "center": gap // 2}.get(alignment, 0)
            runs += [_COLUMN_GAP] if runs else []
            runs += [Run(" " * left_gap), *part, Run(" " * (gap - left_gap))]
        lines.append(runs)
    return lines
