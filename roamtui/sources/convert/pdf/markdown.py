"""Pages of rows with their headings and tables as Markdown.

Words that were torn or lost a letter on the way into the file are mended where its own words show how.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median

from roamtui.sources.convert.escaping import escape_line_starts, replace_surrogates, write_heading
from roamtui.sources.convert.pdf.outline import Heading, PageText
from roamtui.sources.convert.pdf.pdfium import HYPHEN
from roamtui.sources.convert.pdf.rows import Row
from roamtui.sources.convert.pdf.tables import Table, write_table

_GAP = 1.35
"""How much further apart than most rows those of two paragraphs are."""
_DIVIDING = 1.5
"""Of the height of letters: a wider gap divides cells outside tables too."""
_BULLET = re.compile(r"^[•▪●◦‣⁃■□➢✓]\s*(?=\S)")
_TAG_LIKE = re.compile(r"<(?=[A-Za-z/!?])|&(?=#?\w{1,32};)")
_SENTENCE_ENDS = frozenset('.!?:;"”»)|')
_RARE_MAX = 3
"""How often a piece of a torn word stands alone at most; words do so more often."""
_SINGLE_F = re.compile(r"(?<!f)f(?!f)")
_HYPHENS = f"-\u2010{HYPHEN}"


class Mender:
    """Mends rows by the words of all of them."""

    def __init__(self, pages: Sequence[Sequence[Row]]) -> None:
        self._counts: Counter[str] = Counter()
        for rows in pages:
            for row in rows:
                self._counts.update(row.text.lower().split())
        self._lost = dict(self._find_lost())

    def mend(self, rows: Sequence[Row]) -> None:
        """Mend the words inside rows."""
        for row in rows:
            is_changed = False
            for cell in row.cells:
                words = cell.text.split(" ")
                mended = self._join(self._restore(words))
                if len(mended) < len(words) or mended != words:
                    cell.text = " ".join(mended)
                    is_changed = True
            if is_changed:
                row.refresh()

    def join(self, start: str, end: str) -> str:
        """Return a word that was divided at the end of a line; its hyphen stays where other lines have it."""
        first, last = _trim(start.rpartition(" ")[2]), _trim(end.partition(" ")[0])
        whole, hyphened = f"{first}{last}", f"{first}-{last}"
        keeps = self._counts[hyphened] > self._counts[whole] or not end[:1].islower()
        return f"{start}-{end}" if keeps else start + end

    def _restore(self, words: list[str]) -> list[str]:
        if not self._lost:
            return words
        return [self._lost[word.lower()] if word.lower() in self._lost and word.islower() else word for word in words]

    def _join(self, words: list[str]) -> list[str]:
        """Return words of which those pairs are one that are a word elsewhere, and of which one never stands alone."""
        counts = self._counts
        if len(words) < 2 or all(counts[word.lower()] > _RARE_MAX or not word.isalpha() for word in words):
            return words
        joined = words[:1]
        for word in words[1:]:
            before = joined[-1]
            whole = counts[(before + word).lower()]
            is_torn = (
                before.isalpha()
                and word.isalpha()
                and whole > _RARE_MAX * min(counts[before.lower()], counts[word.lower()])
                and min(counts[before.lower()], counts[word.lower()]) <= _RARE_MAX
                and (before.isupper() == word.isupper() or word.islower())
            )
            if is_torn:
                joined[-1] = before + word
            else:
                joined.append(word)
        return joined

    def _find_lost(self) -> Iterator[tuple[str, str]]:
        """Yield words that lost one of two f, with what the file has more often."""
        for word, count in self._counts.items():
            match = _SINGLE_F.search(word) if len(word) > 3 else None
            if match is not None:
                whole = f"{word[: match.start()]}f{word[match.start() :]}"
                if self._counts[whole] > count:
                    yield word, whole


def _trim(word: str) -> str:
    return word.strip(".,;:()[]\"'“”‘’").lower()


class MarkdownWriter:
    """Collects the text of pages."""

    def __init__(self, mender: Mender) -> None:
        self._mender = mender
        self.page_starts: list[int] = []
        self.pieces: list[str] = []
        """All that was written."""
        self._length = 0
        self._is_open = False
        """Whether the last paragraph seems to go on."""
        self._table_head = ""
        """First line of the table that the last page ends with."""

    def write_page(self, page: PageText, headings: Sequence[Heading]) -> None:
        """Write a page.

        Args:
            page: Its rows and tables.
            headings: Of it, in order.
        """
        blocks = list(self._list_blocks(page, headings))
        if blocks:
            blocks[0] = self._carry_head(blocks[0])
        first = blocks[0] if blocks else ""
        if self._length:
            self._write("\n" if self._is_open and first[:1].islower() else "\n\n")
        self.page_starts.append(self._length)
        self._write("\n\n".join(blocks))
        if blocks:
            last = blocks[-1]
            self._is_open = last[0] not in "#|" and last[-1] not in _SENTENCE_ENDS
            self._table_head = last.partition("\n")[0] if last.startswith("| ") else ""

    def _carry_head(self, block: str) -> str:
        """Return a table without heads that goes on from the page before with those that it has there."""
        head, line_end, rest = block.partition("\n")
        goes_on = block.startswith("| ") and not head.strip("| ") and head.count("|") == self._table_head.count("|")
        return f"{self._table_head}{line_end}{rest}" if goes_on else block

    def _list_blocks(self, page: PageText, headings: Sequence[Heading]) -> Iterator[str]:
        """Yield the headings, tables and paragraphs of a page as Markdown."""
        rows = page.rows
        gap = _measure_gap(rows)
        start = 0
        for heading in headings:
            yield from self._write_rows(page, start, heading.row, gap)
            yield write_heading(heading.level, clean(heading.title))
            start = heading.row + heading.count
        yield from self._write_rows(page, start, len(rows), gap)

    def _write_rows(self, page: PageText, start: int, end: int, gap: float) -> Iterator[str]:
        """Yield the tables and paragraphs between two rows."""
        for table in page.tables:
            low, high = max(start, table.start), min(end, table.end)
            if low < high:
                yield from self._split_paragraphs(page.rows[start:low], gap)
                yield _write_table(page.rows[low:high], table, low)
                start = high
        yield from self._split_paragraphs(page.rows[start:end], gap)

    def _split_paragraphs(self, rows: Sequence[Row], gap: float) -> Iterator[str]:
        paragraph: list[Row] = []
        above: Row | None = None
        for row in rows:
            is_apart = above is not None and (
                row.top - above.top > gap * _GAP
                or (row.top < above.top and not row.text[0].islower())
                or abs(row.size - above.size) > 0.15 * above.size
            )
            if paragraph and (is_apart or _BULLET.match(row.text)):
                yield self._write_paragraph(paragraph)
                paragraph = []
            paragraph.append(row)
            above = row
        if paragraph:
            yield self._write_paragraph(paragraph)

    def _write_paragraph(self, rows: Sequence[Row]) -> str:
        """Return rows as a paragraph; words that were divided at their ends are whole again."""
        joined: list[str] = []
        for row in rows:
            line = row.text if len(row.cells) == 1 else _join_cells(row)
            before = joined[-1] if joined else ""
            is_divided = before != "" and before[-1] in _HYPHENS and before[-2:-1].isalpha() and line[0].isalpha()
            if is_divided:
                joined[-1] = self._mender.join(before[:-1], line)
            else:
                joined.append(line)
        text = "\n".join(joined)
        bullet = _BULLET.match(text)
        text = clean(text[bullet.end() :] if bullet else text, keeps_lines=True)
        return ("- " if bullet else "") + escape_line_starts(text)

    def _write(self, text: str) -> None:
        self.pieces.append(text)
        self._length += len(text)


def _write_table(rows: Sequence[Row], table: Table, low: int) -> str:
    heads = max(0, table.start + table.heads - low)
    if heads >= len(rows):
        heads = 0
    return clean(write_table(rows, heads), keeps_lines=True)


def _measure_gap(rows: Sequence[Row]) -> float:
    """Return how far apart most rows of a page are, in points."""
    gaps = [row.top - above.top for above, row in pairwise(rows) if row.top > above.top]
    return median(gaps) if gaps else 0.0


def _join_cells(row: Row) -> str:
    """Return the cells of a row outside a table: justified lines have gaps that divide nothing."""
    text = row.cells[0].text
    for before, cell in pairwise(row.cells):
        text += f"{' | ' if cell.x0 - before.x1 > _DIVIDING * row.size else ' '}{cell.text}"
    return text


def clean(text: str, *, keeps_lines: bool = False) -> str:
    """Return text in which nothing means more to Markdown than it did on the page."""
    text = replace_surrogates(text.replace(HYPHEN, "-"))
    return _TAG_LIKE.sub(r"\\\g<0>", text if keeps_lines else " ".join(text.split()))
