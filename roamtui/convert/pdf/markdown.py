"""Write rows, headings and tables as Markdown, and join words that are divided at line ends."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median

from roamtui.convert.pdf.headings import DetectedHeading
from roamtui.convert.pdf.rows import ENUMERATOR, PageRow, has_wide_gap, is_wide_gap
from roamtui.convert.pdf.table_writer import write_page_table
from roamtui.convert.pdf.tables import PageText, is_printed_figure
from roamtui.convert.pdf.words import HYPHENS, divides_script, ends_in_divided_word, write_words
from roamtui.markdown.escaping import LINE_START, write_heading

_PARAGRAPH_GAP_MIN = 1.35
"""Minimum distance between paragraphs, as a multiple of the median distance between rows."""
_FULL_ROW_LENGTH = 60
"""Minimum length of a row of prose, in characters."""
_FALSE_LIST_NUMBER = re.compile(r"\A(?=\d{3,9}[.)](?:\s|$))|(?<=\n)(?=1[.)](?:\s|$))")
"""A number at the start of a line, such as a year, that Markdown would read as that of a list item."""
_SHIELD = "\N{NO-BREAK SPACE}"
"""Keeps a line start from being read as Markdown. Unlike a backslash, it is invisible."""
_EDGE_WIDTH = 1.0
"""In points. Lines whose ends are within this width end at the same edge."""
_BULLET = re.compile(r"^[•▪●◦‣⁃■□➢✓]\s*(?=\S)")
_ROW_END = re.compile(r"^(?!\|)(.* \| .*|.+(?=\n(?!\|).* \| ))\n(?=.)", re.MULTILINE)
"""The end of a row of cells outside a table, or of the line above one. Markdown would join the lines."""
_SENTENCE_ENDS = frozenset('.!?:;"”»)|')
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_LAST_WORD = re.compile(rf"{_WORD.pattern}$")


class LineJoiner:
    """Joins lines that share a divided word, by comparing it with all words of the file."""

    def __init__(self, pages: Sequence[Sequence[PageRow]]) -> None:
        texts = (row.text.lower() for rows in pages for row in rows)
        self._counts = Counter(word for text in texts for word in _WORD.findall(text))
        line_ends = [
            self._compare_spellings(above.text[:-1], row.text)
            for rows in pages
            for above, row in pairwise(rows)
            if above.text[-1] in HYPHENS and row.text[0].islower()
        ]
        self._divides_words = sum(line_ends) >= 0
        """Whether the file divides words at line ends, as books do. Filings divide only compounds."""

    def join(self, above: str, end: str) -> str:
        """Join two lines. If they share a word, keep the hyphen of a compound such as "long-term"."""
        if divides_script(above, end):
            return above + end
        if not (ends_in_divided_word(above) and end[:1].isalnum()):
            return f"{above} {end}".strip()
        start = above[:-1]
        balance = self._compare_spellings(start, end)
        is_small = start[-1:].islower() and end[:1].islower()
        is_capitals = start.isupper() and end[:1].isupper()
        may_be_word = balance > 0 or (balance == 0 and self._divides_words)
        is_word = (is_small or is_capitals) and may_be_word
        return start + end if is_word else f"{start}-{end}"

    def _compare_spellings(self, start: str, end: str) -> int:
        """Return 1 if the file has the divided word more often without a hyphen, -1 if with one, else 0."""
        first, last = _LAST_WORD.search(start.lower()), _WORD.match(end.lower())
        if not first or not last:
            return 0
        whole = self._counts[first[0] + last[0]]
        compound = self._counts[f"{first[0]}-{last[0]}"]
        return -1 if "-" in first[0] else (whole > compound) - (whole < compound)


class MarkdownWriter:
    """Writes pages one after the other."""

    def __init__(self, joiner: LineJoiner) -> None:
        self._joiner = joiner
        self.pieces: list[str] = []
        """Markdown written so far."""
        self.page_starts: list[int] = []
        self._length = 0
        self._last_row = ""
        """Last row of the last page that is not empty."""

    def write_page(self, page: PageText, headings: Sequence[DetectedHeading]) -> None:
        """Write a page. Its headings must be in order."""
        gaps = [
            (len(above.text), row.top - above.top)
            for above, row in pairwise(page.rows)
            if row.top > above.top
        ]
        prose = [gap for length, gap in gaps if length >= _FULL_ROW_LENGTH]
        # The distance in prose may be greater than the median of all rows, because tables are set more
        # tightly.
        usual = max((median(some) for some in (prose, [gap for _, gap in gaps]) if some), default=0.0)
        gap_max = _PARAGRAPH_GAP_MIN * usual
        blocks: list[str] = []
        start = 0
        for heading in headings:
            blocks += self._write_rows(page, start, heading.row - page.start, gap_max)
            blocks.append(write_heading(heading.level, write_words(heading.title)))
            start = max(start, heading.end - page.start)
        blocks += self._write_rows(page, start, len(page.rows), gap_max)
        is_continued = blocks and _is_continued(self._last_row, blocks[0].partition("\n")[0])
        if is_continued and blocks[0][0].isalpha():
            blocks[0] = self._join_divided(blocks[0])
        between = "\n" if is_continued else "\n\n"
        if not self._length:
            between = ""
        self.page_starts.append(self._length + len(between))
        self.pieces.append(between + "\n\n".join(blocks))
        self._length += len(self.pieces[-1])
        if blocks:
            self._last_row = blocks[-1].rpartition("\n")[2]

    def _join_divided(self, block: str) -> str:
        """Complete the word that the last page leaves divided. Return the block without the rest of it."""
        last = self._last_row
        if not ends_in_divided_word(last) or not self.pieces[-1].endswith(last):
            return block
        rest, *others = block.split(maxsplit=1)
        joined = self._joiner.join(last, rest)
        self.pieces[-1] = self.pieces[-1].removesuffix(last) + joined
        self._length += len(joined) - len(last)
        return LINE_START.sub(_SHIELD, "".join(others))

    def _write_rows(self, page: PageText, start: int, end: int, gap_max: float) -> Iterator[str]:
        """Yield tables and paragraphs from row `start` to `end`. A gap over `gap_max` starts a paragraph."""
        for table in page.tables:
            low, high = max(start, table.start), min(end, table.end)
            if low < high:
                yield from self._write_prose(page.rows[start:low], gap_max)
                header_row_count = max(0, table.start + table.header_row_count - low)
                rows = page.rows[low:high]
                plain = "\n".join(" | ".join(cell.text for cell in row.cells) for row in rows)
                written = write_page_table(rows, header_row_count, table.columns, self._joiner.join)
                yield written or _write_lines(plain)
                start = high
        yield from self._write_prose(page.rows[start:end], gap_max)

    def _write_prose(self, rows: Sequence[PageRow], gap_max: float) -> Iterator[str]:
        lines: list[str] = []
        is_justified = False
        for above, row, below in zip([None, *rows], [*rows, None], [*rows[1:], None, None], strict=False):
            begins_paragraph = (
                above is None
                or row is None
                or row.top - above.top > gap_max
                or (row.top < above.top and not row.text[0].islower())
                or abs(row.size - above.size) > 0.15 * above.size
                or _BULLET.match(row.text) is not None
                or (above.text[-1] in _SENTENCE_ENDS and _starts_item(row.text))
            )
            if lines and begins_paragraph:
                text = "\n".join(lines)
                bullet = _BULLET.match(text)
                yield f"- {_write_lines(text[bullet.end() :])}" if bullet else _write_lines(text)
                lines = []
            if row is None:
                return
            line = row.cells[0].text
            if has_wide_gap(row):
                # a justified line ends at the same edge as a line of prose next to it, or as any if its gaps
                # are equal
                is_even = _has_equal_gaps(row)
                near = [above] if above and (is_justified or is_even or not has_wide_gap(above)) else []
                near += [below] if below and (is_even or not has_wide_gap(below)) else []
                is_justified = any(abs(row.x1 - each.x1) < _EDGE_WIDTH for each in near)
            for before, cell in pairwise(row.cells):
                # A justified line has wide gaps inside a sentence, but "47" and "119" are two cells.
                is_inside = is_justified and not is_printed_figure(cell.text)
                are_cells = is_wide_gap(before, cell, row) and not is_inside
                are_figures = all(
                    is_printed_figure(each.text) and any(map(str.isdigit, each.text))
                    for each in (before, cell)
                )
                line += f"{' | ' if are_cells or are_figures else ' '}{cell.text}"
            is_divided = bool(lines) and ends_in_divided_word(lines[-1]) and line[0].isalpha()
            if is_divided or (lines and divides_script(lines[-1], line)):
                lines[-1] = self._joiner.join(lines[-1], line)
            else:
                lines.append(line)


def _has_equal_gaps(row: PageRow) -> bool:
    gaps = [cell.x0 - before.x1 for before, cell in pairwise(row.cells)]
    return len(gaps) > 1 and max(gaps) - min(gaps) < _EDGE_WIDTH


def _is_continued(last: str, first: str) -> bool:
    """Return whether the last row of a page and the first row of the next one belong to one paragraph."""
    if not last or last[0] in "#|" or last[-1] in _SENTENCE_ENDS:
        return False
    are_full = min(len(last), len(first)) >= _FULL_ROW_LENGTH and " | " not in last + first
    ends_in_sentence = last[-1].isalnum() or last[-1] == ","
    starts_item = first[0] in "#|-" or _starts_item(first)
    return first[0].islower() or (are_full and ends_in_sentence and not starts_item)


def _starts_item(line: str) -> bool:
    return ENUMERATOR.fullmatch(line.split(maxsplit=1)[0]) is not None


def _write_lines(text: str) -> str:
    """Write lines outside tables. A row of cells, and the line above one, end with a line break."""
    text = _ROW_END.sub(r"\1  \n", write_words(text))
    return _FALSE_LIST_NUMBER.sub(_SHIELD, LINE_START.sub(_SHIELD, text))
