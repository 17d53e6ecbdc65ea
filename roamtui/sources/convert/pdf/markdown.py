"""Write rows, headings and tables as Markdown, and repair words that the file splits or that lack a letter."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median

from roamtui.sources.convert.escaping import escape_line_starts, replace_surrogates, write_heading
from roamtui.sources.convert.pdf.outline import DetectedHeading, PageText
from roamtui.sources.convert.pdf.pdfium import HYPHEN
from roamtui.sources.convert.pdf.rows import PageRow
from roamtui.sources.convert.pdf.tables import write_table

_PARAGRAPH_GAP_MIN = 1.35
"""Minimum distance between paragraphs, as a multiple of the median distance between rows."""
_CELL_GAP_MIN = 1.5
"""Minimum gap between cells outside tables, in letter heights."""
_BULLET = re.compile(r"^[•▪●◦‣⁃■□➢✓]\s*(?=\S)")
_TAG_LIKE = re.compile(r"<(?=[A-Za-z/!?])|&(?=#?\w{1,32};)")
_SENTENCE_ENDS = frozenset('.!?:;"”»)|')
_PIECE_COUNT_MAX = 3
"""A piece of a split word occurs at most this often in the file; real words occur more often."""
_SINGLE_F = re.compile(r"(?<!f)f(?!f)")
_HYPHENS = f"-\u2010{HYPHEN}"


class WordRepairer:
    """Repairs words that are split or lack an f, by comparing them with all words of the file."""

    def __init__(self, pages: Sequence[Sequence[PageRow]]) -> None:
        self._counts: Counter[str] = Counter()
        for rows in pages:
            for row in rows:
                self._counts.update(row.text.lower().split())
        self._spellings: dict[str, str] = {}
        """Words that lack one f of a double f, mapped to the full spelling, which is more frequent in the file."""
        for word, count in self._counts.items():
            match = _SINGLE_F.search(word) if len(word) > 3 else None
            whole = f"{word[: match.start()]}f{word[match.start() :]}" if match is not None else ""
            if self._counts[whole] > count:
                self._spellings[word] = whole

    def repair(self, rows: Sequence[PageRow]) -> None:
        """Repair the words in the cells of rows."""
        for row in rows:
            is_changed = False
            for cell in row.cells:
                words = cell.text.split(" ")
                repaired: list[str] = []
                for word in words:
                    start = repaired[-1] if repaired else ""
                    common = max(self._counts[start.lower()], self._counts[word.lower()])
                    # Two pieces are a split word if they are rare by themselves and frequent as one word.
                    if (
                        common <= _PIECE_COUNT_MAX
                        and self._counts[(start + word).lower()] > _PIECE_COUNT_MAX * common
                        and start.isalpha()
                        and word.isalpha()
                        and (start.isupper() == word.isupper() or word.islower())
                    ):
                        repaired[-1] += word
                    else:
                        repaired.append(self._spellings.get(word, word))
                if repaired != words:
                    cell.text = " ".join(repaired)
                    is_changed = True
            if is_changed:
                row.refresh()

    def join(self, start: str, end: str) -> str:
        """Join two lines that share a hyphenated word. Keep the hyphen if the file has it more often."""
        first, last = _trim(start.rpartition(" ")[2]), _trim(end.partition(" ")[0])
        keeps = self._counts[f"{first}-{last}"] > self._counts[f"{first}{last}"] or not end[:1].islower()
        return f"{start}-{end}" if keeps else start + end


def _trim(word: str) -> str:
    return word.strip(".,;:()[]\"'“”‘’").lower()


class MarkdownWriter:
    """Writes pages one after the other."""

    def __init__(self, repairer: WordRepairer) -> None:
        self._repairer = repairer
        self.pieces: list[str] = []
        """Markdown written so far."""
        self.page_starts: list[int] = []
        self._length = 0
        self._is_open = False
        """Whether the last paragraph of the page may continue on the next one."""
        self._table_head = ""
        """Header of the table with which the last page ends; empty if it does not end with a table."""

    def write_page(self, page: PageText, headings: Sequence[DetectedHeading]) -> None:
        """Write a page. Its headings must be in order."""
        gaps = [row.top - above.top for above, row in pairwise(page.rows) if row.top > above.top]
        gap_max = _PARAGRAPH_GAP_MIN * median(gaps) if gaps else 0.0
        blocks: list[str] = []
        start = 0
        for heading in headings:
            blocks += self._write_rows(page, start, heading.row, gap_max)
            blocks.append(write_heading(heading.level, _clean(heading.title)))
            start = heading.row + heading.count
        blocks += self._write_rows(page, start, len(page.rows), gap_max)
        if blocks and blocks[0].startswith("| "):  # a table that continues from the last page gets the same header
            head, line_end, rest = blocks[0].partition("\n")
            if not head.strip("| ") and head.count("|") == self._table_head.count("|"):
                blocks[0] = f"{self._table_head}{line_end}{rest}"
        is_continued = self._is_open and blocks and blocks[0][0].islower()
        between = "" if not self._length else "\n" if is_continued else "\n\n"
        self.page_starts.append(self._length + len(between))
        self.pieces.append(between + "\n\n".join(blocks))
        self._length += len(self.pieces[-1])
        if blocks:
            self._is_open = blocks[-1][0] not in "#|" and blocks[-1][-1] not in _SENTENCE_ENDS
            self._table_head = blocks[-1].partition("\n")[0] if blocks[-1].startswith("| ") else ""

    def _write_rows(self, page: PageText, start: int, end: int, gap_max: float) -> Iterator[str]:
        """Yield the tables and paragraphs from row `start` to `end`. A gap above `gap_max` starts a paragraph."""
        for table in page.tables:
            low, high = max(start, table.start), min(end, table.end)
            if low < high:
                yield from self._write_paragraphs(page.rows[start:low], gap_max)
                header_count = max(0, table.start + table.header_count - low)
                if header_count >= high - low:
                    header_count = 0
                yield _clean(write_table(page.rows[low:high], header_count), keeps_lines=True)
                start = high
        yield from self._write_paragraphs(page.rows[start:end], gap_max)

    def _write_paragraphs(self, rows: Sequence[PageRow], gap_max: float) -> Iterator[str]:
        """Yield the paragraphs of rows. Words that were hyphenated at line ends are joined."""
        lines: list[str] = []
        for above, row in zip([None, *rows], [*rows, None], strict=True):
            begins_paragraph = (
                above is None
                or row is None
                or row.top - above.top > gap_max
                or (row.top < above.top and not row.text[0].islower())
                or abs(row.size - above.size) > 0.15 * above.size
                or _BULLET.match(row.text) is not None
            )
            if lines and begins_paragraph:
                text = "\n".join(lines)
                bullet = _BULLET.match(text)
                text = _clean(text[bullet.end() :] if bullet else text, keeps_lines=True)
                yield ("- " if bullet else "") + escape_line_starts(text)
                lines = []
            if row is None:
                return
            line = row.cells[0].text
            for before, cell in pairwise(row.cells):  # justified lines have wide gaps inside a sentence
                line += f"{' | ' if cell.x0 - before.x1 > _CELL_GAP_MIN * row.size else ' '}{cell.text}"
            if lines and lines[-1][-1] in _HYPHENS and lines[-1][-2:-1].isalpha() and line[0].isalpha():
                lines[-1] = self._repairer.join(lines[-1][:-1], line)
            else:
                lines.append(line)


def _clean(text: str, *, keeps_lines: bool = False) -> str:
    """Escape what looks like HTML, and restore hyphens."""
    text = replace_surrogates(text.replace(HYPHEN, "-"))
    return _TAG_LIKE.sub(r"\\\g<0>", text if keeps_lines else " ".join(text.split()))
