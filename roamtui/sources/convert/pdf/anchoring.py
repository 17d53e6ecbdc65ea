"""Where the titles that a file lists stand on its pages."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rapidfuzz import fuzz

from roamtui.sources.convert.pdf.outline import (
    Entry,
    Heading,
    PageText,
    join_rows,
    read_item,
    read_part,
    split_number,
    squeeze,
)

_ROWS_MAX = 4
_RATIO_MIN = 91
_LONGER_MAX = 1.6
"""How much longer than the title rows may be; more of them are not tried."""
_NEAR_PAGES = (0, 1, -1)
"""Links often lead to the end of the page before."""
_GROUP_PAGES_MAX = 40
_EQUAL, _EQUAL_BUT_NUMBER, _SAME_NUMBER, _SIMILAR = 100.0, 90.0, 84.0, 80.0
_BOLD, _FAR = 6.0, 7.0
_RUN_IN_MAX = 220
_LEVEL_MAX = 6
_TAIL = re.compile(
    r"\s+for (?:the )?(?:[\w-]+ ){0,4}(?:years?|months?|quarters?|periods?)\b.*|\s+(?:at|as of) [A-Za-z]+ \d.*|\s*\(.*",
    re.IGNORECASE,
)
"""What a list says of a statement beyond its title: its years, its units."""
_HEAD_LENGTH_MIN = 10


class Anchors:
    """Places titles on pages, in their order."""

    def __init__(self, pages: Sequence[PageText], skipped: set[tuple[int, int]]) -> None:
        """Begin.

        Args:
            pages: All of the file.
            skipped: Pages and rows that list contents, where no title is looked for.
        """
        self._pages = pages
        self._skipped = skipped
        self._squeezed: dict[int, list[tuple[str, str, str]]] = {}

    def place(self, entries: Sequence[Entry]) -> list[Heading]:
        """Return the headings of entries, those left out that are on no page."""
        found: list[Heading] = []
        taken: set[tuple[int, int]] = set()
        for index, entry in enumerate(entries):
            heading = self._place_group(entries, index, found) if entry.page is None else self._place_one(entry, taken)
            if heading is None:
                continue
            if heading.count:
                taken.update((heading.page, heading.row + number) for number in range(heading.count))
            found.append(heading)
        return found

    def _place_one(self, entry: Entry, taken: set[tuple[int, int]]) -> Heading | None:
        """Return where a title stands, or the start of its page where it is not found."""
        assert entry.page is not None
        best: tuple[float, int, int, int] | None = None
        for away in _NEAR_PAGES:
            page = entry.page + away
            if not 0 <= page < len(self._pages):
                continue
            for score, row, count in self._match(entry, page, taken):
                total = score - _FAR * abs(away) - 0.02 * row
                if best is None or total > best[0]:
                    best = total, page, row, count
        if best is not None:
            _, page, row, count = best
            return Heading(
                page=page, row=row, count=count, level=entry.level, title=self._name(entry, page, row, count)
            )
        row = 0
        if entry.y is not None:
            rows = self._pages[entry.page].rows
            row = next((number for number, each in enumerate(rows) if each.bottom >= entry.y), 0)
        return Heading(page=entry.page, row=row, count=0, level=entry.level, title=entry.title)

    def _place_group(self, entries: Sequence[Entry], index: int, found: Sequence[Heading]) -> Heading | None:
        """Return where a title without a page stands: between those before and after it."""
        entry = entries[index]
        following = next((other.page for other in entries[index + 1 :] if other.page is not None), None)
        if following is None:
            return None
        start = max(found[-1].page if found else 0, following - _GROUP_PAGES_MAX)
        for page in range(following, start - 1, -1):
            matches = [match for match in self._match(entry, page, set()) if match[0] >= _EQUAL_BUT_NUMBER]
            if matches:
                _, row, count = max(matches, key=lambda match: match[0])
                return Heading(page=page, row=row, count=count, level=entry.level, title=entry.title)
        if read_part(entry.title) is None:
            return None
        return Heading(page=following, row=0, count=0, level=entry.level, title=entry.title)

    def _match(self, entry: Entry, page: int, taken: set[tuple[int, int]]) -> list[tuple[float, int, int]]:
        """Return score, first row and number of rows of each place on a page that reads like a title."""
        number, rest = split_number(entry.title)
        whole, bare, head = squeeze(entry.title), squeeze(rest), squeeze(_TAIL.sub("", rest))
        item = read_item(entry.title)
        rows = self._pages[page].rows
        names = self._squeeze_rows(page)
        starts = {whole[:2], bare[:2], bare[:2].replace("ff", "f")}
        found = []
        for row, (own, own_bare, own_head) in enumerate(names):
            is_item = item is not None and len(rows[row].text) <= _RUN_IN_MAX and read_item(rows[row].text) == item
            is_alike = own[:2] in starts or own_bare[:2] in starts
            if (page, row) in taken or (page, row) in self._skipped or not own or not (is_item or is_alike):
                continue
            score, count = self._compare(names, row, (whole, bare, number), rows)
            if score < _SIMILAR and own_head == head and len(head) >= _HEAD_LENGTH_MIN:
                score, count = _SIMILAR, 1
            if is_item and score < _SAME_NUMBER and re.match(r"\W*(?:part|item)", rows[row].text, re.IGNORECASE):
                score, count = max((_SAME_NUMBER, 1), (score, count))
            if score:
                font = rows[row].font
                found.append((score + _BOLD * font.is_bold, row, count))
        return found

    def _compare(
        self, names: Sequence[tuple[str, str, str]], row: int, wanted: tuple[str, str, str], rows: Sequence[object]
    ) -> tuple[float, int]:
        """Return how alike a title and the rows from one on are, and how many of them are best."""
        whole, bare, _ = wanted
        best, best_count = 0.0, 0
        joined, joined_bare = "", ""
        for count in range(1, min(_ROWS_MAX, len(rows) - row) + 1):
            joined += names[row + count - 1][0]
            joined_bare = joined_bare + names[row + count - 1][0] if count > 1 else names[row][1]
            if count > 1 and len(joined) > len(whole) * _LONGER_MAX + 12:
                break
            if joined == whole:
                score = _EQUAL
            elif bare and (joined in (whole, bare) or joined_bare in (whole, bare)):
                score = _EQUAL_BUT_NUMBER
            else:
                ratio = fuzz.ratio(joined, whole, score_cutoff=_RATIO_MIN)
                if not ratio and bare and bare != whole:
                    ratio = fuzz.ratio(joined_bare, bare, score_cutoff=_RATIO_MIN)
                score = _SIMILAR if ratio else 0.0
            if score > best:
                best, best_count = score, count
        return best, best_count

    def _name(self, entry: Entry, page: int, row: int, count: int) -> str:
        """Return the title as the page has it, unless the list says more."""
        text = join_rows(self._pages[page].rows[row : row + count])
        if read_item(entry.title) and not read_item(text):
            return entry.title
        head = _TAIL.sub("", entry.title)
        return head if text.startswith(head) and squeeze(text) != squeeze(entry.title) else text

    def _squeeze_rows(self, page: int) -> list[tuple[str, str, str]]:
        known = self._squeezed.get(page)
        if known is None:
            known = [
                (
                    squeeze(row.text),
                    squeeze(split_number(row.text)[1]),
                    squeeze(_TAIL.sub("", split_number(row.cells[0].text)[1])),
                )
                for row in self._pages[page].rows
            ]
            self._squeezed[page] = known
        return known
