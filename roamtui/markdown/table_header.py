"""Finds the column heads of a row of a table, or says that they are unknown.

Heads may be in several rows, below an empty first row, or again in the middle of a table. A wrong head
changes the meaning of a figure, so in case of doubt a row gets no heads.
"""

import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property
from itertools import zip_longest

from roamtui.markdown.blocks import Block, BlockQuote, List, Table
from roamtui.sanitiser import sanitise_line
from roamtui.text import DASHES, Bounds

_DASHES = frozenset(DASHES)
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_AMOUNT = re.compile(r"[$€£¥]\s?[(-]?\d")
_LETTER = re.compile(r"[^\W\d_]")
_UNIT = re.compile(r"\(|\Z")
"""The label of a header row: none, or one such as "(in millions)"."""
_RULE = re.compile(
    r"^[ \t>]*(?=[-: \t]*\|)(?=[|: \t]*-)\|?(?:[ \t]*:?-+:?[ \t]*\|)*[ \t]*(?::?-+:?)?[ \t\r]*\n",
    re.MULTILINE,
)
"""The line below the first row of a table."""
_SAMPLE_LENGTH = 4_000


def find_header_above(text: str, offset: int) -> Bounds | None:
    """Return the bounds of the header rows above the table row at an offset, with the rule below them.

    Return None for a header row, or if the offset is outside a table.
    """
    row = text.rfind("\n", 0, offset) + 1
    if "|" not in text[row : text.find("\n", row) + 1 or len(text)]:
        return None
    top = row
    while top:
        above = text.rfind("\n", 0, top - 1) + 1
        if "|" not in text[above:top]:
            break
        top = above
    rule = _RULE.search(text, top, row)
    if rule is None or rule.start() == top:
        return None
    return _widen_header(text, text.rfind("\n", 0, rule.start() - 1) + 1, rule.end(), row)


def _widen_header(text: str, start: int, end: int, row: int) -> Bounds:
    """Return the bounds of a header row and its rule, extended by further header rows above `row`."""
    from roamtui.markdown.parser import parse_markdown  # noqa: PLC0415

    blocks: Sequence[Block] = parse_markdown(text[start : min(row, start + _SAMPLE_LENGTH)]).blocks
    while blocks and isinstance(blocks[0], List | BlockQuote):
        blocks = blocks[0].items[0].blocks if isinstance(blocks[0], List) else blocks[0].blocks
    if blocks and isinstance(blocks[0], Table):
        table = blocks[0]
        last = start + table.rows[TableHeader(table).header_row_count - 1].end
        end = max(end, min(row, text.find("\n", last - 1) + 1 or row))
    return start, end


class TableHeader:
    """The column heads of a table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def find(self, index: int) -> tuple[str, ...] | None:
        """Return the head of each column for the row at an index. Heads in several rows are joined.

        Return an empty tuple for a header row or a title, and None if a head is unknown.
        """
        cells = self._rows[index]
        is_header = index < self.header_row_count or (_has_only_years(cells) and _UNIT.match(cells[0]))
        is_title = not any(cells[1:])
        if is_header or is_title:
            return ()
        top = 0
        bottom = self.header_row_count
        number = bisect_left(self._year_rows, index) - 1
        if number >= 0:
            top = self._year_rows[number]
            bottom = top + 1
            if not _UNIT.match(self._rows[top][0]):
                return None  # these years may be heads, or the figures of a row
            while top > 1 and _is_header_row(self._rows[top - 1]):
                top -= 1
        heads = join_heads(self._rows[top:bottom])
        pairs = [*zip(heads, cells, strict=True)][1:]
        is_known = all(head or not (cell in _DASHES or any(map(str.isalnum, cell))) for head, cell in pairs)
        return heads if is_known and not any(map(_may_be_amount, heads[1:])) else None

    @cached_property
    def _rows(self) -> list[list[str]]:
        return [
            [sanitise_line("".join(words.text for words in cell)) for cell in row.cells]
            for row in self._table.rows
        ]

    @cached_property
    def header_row_count(self) -> int:
        """Number of header rows at the top: as many as it takes until no two columns have the same heads.

        A row that has only a label may be between header rows.
        """
        count = 1
        for index, cells in enumerate(self._rows[1:], start=1):
            heads = join_heads(self._rows[:count])[1:]
            is_distinct = all(heads) and len(set(heads)) == len(heads)
            is_header = self._table.rows[index].is_header or not any(cells[1:]) or _is_header_row(cells)
            if is_distinct or not is_header or index > count + 1:
                break
            if any(cells[1:]):
                count = index + 1
        return count

    @cached_property
    def _year_rows(self) -> list[int]:
        below = range(self.header_row_count, len(self._rows))
        return [index for index in below if _has_only_years(self._rows[index])]


def join_heads(rows: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Join heads by column. A head that several rows repeat is written once."""
    columns = zip_longest(*rows, fillvalue="")
    return tuple(" ".join(dict.fromkeys(filter(None, column))) for column in columns)


def _is_header_row(cells: Sequence[str]) -> bool:
    has_heads = any(cells[1:]) and not any(map(_may_be_amount, cells[1:]))
    return has_heads and _UNIT.match(cells[0]) is not None


def _has_only_years(cells: Sequence[str]) -> bool:
    heads = [*filter(None, cells[1:])]
    return bool(heads) and all(_YEAR.search(head) and not _may_be_amount(head) for head in heads)


def _may_be_amount(text: str) -> bool:
    """Return whether a text may be an amount, and not a head such as a year or "Level 1".

    In case of doubt it may, unlike a figure as `is_figure` says: "10–20" may be a head or a range of amounts.
    """
    rest = _YEAR.sub("", text)
    has_digit = any(map(str.isdigit, rest))
    return _AMOUNT.search(text) is not None or (has_digit and _LETTER.search(rest) is None) or text in _DASHES
