"""Lays out Markdown blocks as lines. Does not use Textual."""

from collections.abc import Sequence
from enum import Enum, auto
from itertools import zip_longest
from typing import assert_never

from msgspec import Struct
from msgspec.structs import replace

from roamtui.markdown.blocks import (
    HARD_BREAK_WORDS,
    Block,
    BlockQuote,
    Code,
    Emphasis,
    Heading,
    Inline,
    Link,
    List,
    Paragraph,
    Table,
    ThematicBreak,
)
from roamtui.markdown.code import get_language, highlight_code
from roamtui.markdown.lines import (
    HARD_BREAK_RUN,
    Line,
    Run,
    RunStyle,
    TextRole,
    cut_runs,
    make_run,
    measure_longest_word,
    measure_runs,
    wrap_runs,
)

BULLETS = "•◦▪"
"""Bullets of nested lists, outermost first. Deeper lists begin with the first bullet again."""
CHECKBOXES = {False: "☐ ", True: "☑ "}
"""Checkboxes of list items, by whether the item is done."""
PROSE_WIDTH_MAX = 100
"""Maximum width of prose in cells. Longer lines are hard to read."""
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
_DEFINITION_INDENT = "  "
_RULE_WIDTH = 40
"""Width of a thematic break in cells."""
_WIDTH_MIN = 8
"""Minimum width of nested text in cells."""
_GRID = RunStyle(TextRole.GRID)
_COLUMN_GAP = Run(" │ ", _GRID)
_WORD_WIDTH_MAX = 60
"""Maximum width in cells of a word in a table that is not broken."""
_VALUE_LETTERS_MAX = 3
"""Maximum number of letters in a value. They are its currency or unit, as in ``32 MiB``."""
_VALUES_MIN = 0.8
"""Minimum share of values in the filled cells of a column. Financial statements have a few words there."""
_Cells = Sequence[list[Run]]


class _Nesting(Struct, frozen=True, kw_only=True):
    """The quotes, lists and items around blocks."""

    indent: int = 0
    """Width of the signs before each line, such as bullets, in cells."""
    is_quoted: bool = False
    bullets: int = 0
    """Number of bulleted lists around the blocks."""
    is_tight: bool = False
    """Whether the innermost list has no blank lines between blocks."""


_TOP = _Nesting()


class View(Enum):
    """The place where lines are shown."""

    READER = auto()
    """Lines scroll sideways, and links can be opened."""
    CARD = auto()
    """Links can be opened. Code is wrapped, without its language; tables are narrowed to the width."""
    TERMINAL = auto()
    """Web links show their URL. Tables are narrowed to the width, but code stays as it is."""


class MarkdownLayout(Struct, kw_only=True):
    """A layout of blocks as lines."""

    width: int
    """Width of the view in cells."""
    view: View = View.READER
    links: Sequence[Link] = ()
    """The links of the blocks, by number. Only a terminal needs them."""
    _block: int = 0
    """Number of the block that was laid out last."""

    def lay_out(self, blocks: Sequence[Block], nesting: _Nesting = _TOP) -> list[Line]:
        """Return the lines of blocks."""
        lines: list[Line] = []
        for block in blocks:
            match block:
                case Paragraph():
                    runs = self._to_runs(
                        block.words, RunStyle(TextRole.QUOTE if nesting.is_quoted else TextRole.TEXT)
                    )
                    wrapped = wrap_runs(runs, self._compute_room(nesting, PROSE_WIDTH_MAX))
                    added = self._make_lines(wrapped, block.start, block.end)
                case Heading():
                    added = self._lay_out_heading(block, nesting)
                case Code():
                    added = self._lay_out_code(block, nesting)
                case Table():
                    added = self._lay_out_table(block, nesting)
                case List():
                    added = self._lay_out_list(block, nesting)
                case BlockQuote():
                    added = self._lay_out_quote(block, nesting)
                case ThematicBreak(start=start, end=end):
                    rule = Run("─" * self._compute_room(nesting, _RULE_WIDTH), RunStyle(TextRole.RULE))
                    added = self._make_lines([(rule,)], start, end)
                case _:
                    assert_never(block)
            _append_block(lines, added, is_tight=nesting.is_tight)
        return lines

    def _lay_out_heading(self, block: Heading, nesting: _Nesting) -> list[Line]:
        role = _HEADING_ROLES[block.level - 1] if block.level <= len(_HEADING_ROLES) else TextRole.H4
        runs = self._to_runs(block.words, RunStyle(role))
        lines = wrap_runs(runs, self._compute_room(nesting, PROSE_WIDTH_MAX))
        if role in _UNDERLINES:
            stroke = _UNDERLINES[role] * max(measure_runs(line) for line in lines)
            lines.append([Run(stroke, RunStyle(TextRole.RULE))])
        return self._make_lines(lines, block.start, block.end)

    def _lay_out_list(self, block: List, nesting: _Nesting) -> list[Line]:
        lines: list[Line] = []
        bullets = nesting.bullets + any(not item.number and item.term is None for item in block.items)
        for item in block.items:
            if item.term is not None:
                bullet = _DEFINITION_INDENT
            elif item.is_done is not None:
                bullet = CHECKBOXES[item.is_done]
            elif item.number:
                bullet = f"{item.number}{block.delimiter} "
            else:
                bullet = BULLETS[(bullets - 1) % len(BULLETS)] + " "
            indent = nesting.indent + len(bullet)
            inside = replace(nesting, indent=indent, bullets=bullets, is_tight=block.is_tight)
            added = self.lay_out(item.blocks, inside) or self._make_lines([()], item.start, item.end)
            added = _put_before(added, Run(bullet, RunStyle(TextRole.BULLET)), Run(" " * len(bullet)))
            added = added if item.term is None else [*self.lay_out([item.term], nesting), *added]
            _append_block(lines, added, is_tight=block.is_tight)
        return lines

    def _lay_out_quote(self, block: BlockQuote, nesting: _Nesting) -> list[Line]:
        role = _ALERT_ROLES.get(block.alert, TextRole.NOTE) if block.alert else TextRole.BAR
        bar = Run("▌ ", RunStyle(role))
        is_quoted = nesting.is_quoted or not block.alert
        inside = replace(nesting, indent=nesting.indent + len(bar.text), is_quoted=is_quoted)
        lines: list[Line] = []
        if block.alert:
            style = RunStyle(role, Emphasis.STRONG)
            is_tab = block.alert == "tab" and bool(block.title)  # its label says enough
            separator = ": " if block.title else ""
            kind = make_run("" if is_tab else block.alert.capitalize() + separator, style)
            title = self._to_runs(block.title, style if block.blocks else RunStyle())
            wrapped = wrap_runs([kind, *title], self._compute_room(inside, PROSE_WIDTH_MAX))
            lines += self._make_lines(wrapped, block.start, block.label_end)
        lines += self.lay_out(block.blocks, inside)
        return _put_before(lines, bar, bar)

    def _lay_out_code(self, block: Code, nesting: _Nesting) -> list[Line]:
        start = block.offsets[0]
        language = get_language(block.info)
        lines: list[Line] = []
        if language and self.view is not View.CARD:  # in an answer or a quote, it would pass for a word of it
            label = make_run(language, RunStyle(TextRole.ASIDE))
            lines += self._make_lines([(label,)], start, start, is_code=True)
        room = self._compute_room(nesting, self.width) if self.view is View.CARD else None
        spans = zip(block.offsets, block.offsets[1:], strict=False)
        for runs, (start, end) in zip(highlight_code(block.text, language), spans, strict=False):
            folded = [runs] if room is None else cut_runs(runs, room - len(_CODE_MARGIN.text))
            lines += self._make_lines(folded, start, end, is_code=True)
        return lines

    def _lay_out_table(self, block: Table, nesting: _Nesting) -> list[Line]:
        head_style = RunStyle(emphasis=Emphasis.STRONG)
        style = RunStyle()
        cells = [
            [self._to_runs(cell, head_style if row.is_header else style) for cell in row.cells]
            for row in block.rows
        ]
        columns = [*zip(*cells, strict=True)]
        can_scroll = self.view is View.READER
        room = self._compute_room(nesting, self.width)
        widths = _compute_column_widths(columns, room, can_scroll=can_scroll)
        body = zip(
            *(runs for runs, row in zip(cells, block.rows, strict=True) if not row.is_header), strict=True
        )
        alignments = [given or _align(column) for given, column in zip(block.alignments, body, strict=False)]
        lines: list[Line] = []
        for runs, row in zip(cells, block.rows, strict=True):
            texts = _wrap_row(runs, widths, alignments or block.alignments)
            if row.is_header:
                texts.append([Run("─┼─".join("─" * width for width in widths), _GRID)])
            lines += self._make_lines(texts, row.start, row.end)
        return lines

    def _make_lines(
        self, texts: Sequence[Sequence[Run]], start: int, end: int, *, is_code: bool = False
    ) -> list[Line]:
        """Make the lines of a block from the runs of each line. The block is from `start` to `end`."""
        self._block += 1
        margin = [_CODE_MARGIN] if is_code else []
        return [
            Line(
                runs=(*margin, *(run for run in text if run is not HARD_BREAK_RUN and run.text)),
                block_start=start,
                block_end=end,
                block_number=self._block,
                prefix_length=len(margin),
                is_code=is_code,
            )
            for text in texts
        ]

    def _compute_room(self, nesting: _Nesting, width_max: int) -> int:
        """Return the width of nested lines in cells, at most `width_max`."""
        return max(_WIDTH_MIN, min(self.width, width_max) - nesting.indent)

    def _to_runs(self, words: Inline, base: RunStyle) -> list[Run]:
        """Convert inline text to runs, each with the style `base` and its own emphasis, link and group."""
        runs: list[Run] = []
        for index, piece in enumerate(words):
            emphasis = base.emphasis | piece.emphasis
            style = replace(base, emphasis=emphasis, link_number=piece.link_number, group=piece.group)
            if piece is HARD_BREAK_WORDS:
                runs.append(HARD_BREAK_RUN)
            elif piece.is_image:
                runs.append(make_run(f"[image: {piece.text}]", replace(style, role=TextRole.ASIDE)))
            else:
                runs.append(make_run(piece.text, style))
            is_last = index + 1 == len(words) or words[index + 1].link_number != piece.link_number
            if self.view is View.TERMINAL and piece.link_number is not None and is_last:
                href = self.links[piece.link_number].href
                is_shown = piece.group is not None or piece.text == href
                if not is_shown and href.startswith(("http://", "https://")):
                    runs.append(make_run(f" ({href})", RunStyle(TextRole.ASIDE)))
        return runs


def _append_block(lines: list[Line], added: Sequence[Line], *, is_tight: bool) -> None:
    """Append the lines of a block, with a blank line before it unless its list is tight."""
    if lines and added and not is_tight:
        start = added[0].block_start
        lines.append(Line(block_start=start, block_end=start, block_number=-added[0].block_number))
    lines += added


def _put_before(lines: Sequence[Line], first: Run, other: Run) -> list[Line]:
    prefixed = []
    for number, line in enumerate(lines):
        prefix = other if number else first
        length = line.prefix_length + len(prefix.text) if line.block_number >= 0 else 0
        prefixed.append(replace(line, runs=(prefix, *line.runs), prefix_length=length))
    return prefixed


def _align(column: _Cells) -> str:
    """Choose the alignment of a column: right if it has two or more cells, and most are values.

    A value is any text with few letters, such as a date, and not only a figure.
    """
    filled = list(filter(None, ("".join(run.text for run in cell).strip() for cell in column)))
    values = [cell for cell in filled if sum(map(str.isalpha, cell)) <= _VALUE_LETTERS_MAX]
    has_digit = any(map(str.isdecimal, "".join(values)))
    return "right" if has_digit and len(filled) > 1 and len(values) >= _VALUES_MIN * len(filled) else ""


def _compute_column_widths(columns: Sequence[_Cells], room: int, *, can_scroll: bool) -> list[int]:
    """Compute the width of each column in cells. If the table does not fit, narrow the widest columns.

    Break words only if the longest words of all columns do not fit side by side, and nothing can scroll.
    """
    natural = [
        max(measure_runs(line) for cell in cells for line in wrap_runs(cell, None)) for cells in columns
    ]
    room -= (len(columns) - 1) * len(_COLUMN_GAP.text)
    if sum(natural) <= room:
        return natural
    words = [min(_WORD_WIDTH_MAX, max(map(measure_longest_word, cells))) for cells in columns]
    least = [1] * len(words)
    return _narrow(natural, words, room) or (words if can_scroll else _narrow(words, least, room) or least)


def _narrow(widths: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """Give the widest columns a common width, but each its `least`. Return [] if that is too wide."""
    for limit in range(room, 0, -1):
        narrowed = [min(width, max(limit, low)) for width, low in zip(widths, least, strict=True)]
        if sum(narrowed) <= room:
            return narrowed
    return []


def _wrap_row(row: _Cells, widths: Sequence[int], alignments: Sequence[str]) -> list[list[Run]]:
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
