"""Put the words of a page into rows in reading order: from top to bottom, or column by column."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import chain, groupby, pairwise, takewhile
from operator import attrgetter

from roamtui.convert.pdf.words import PageWord, compute_letter_height

_OVERLAP_MIN = 0.5
"""Minimum vertical overlap of two words in one row, as a share of the height of the smaller one."""
_SAME_LINE_OFFSET_MAX, _NEXT_LINE_OFFSET_MIN = 0.2, 0.8
"""Twice the vertical distance between the centres of two words, in letter heights. Below the first number,
the words are in the same line; from the second number on, they are in adjacent lines."""
_BELOW_SHARE = 0.3
"""Minimum horizontal overlap of a word with a word above it, as a share of the width of the narrower one."""
CELL_GAP = 0.62
"""Maximum gap between words of one cell, in letter heights."""
_COLUMN_ROWS_MIN = 6
"""Minimum number of rows that are in two columns, and of lines that start at the right column's left edge."""
_COLUMN_EDGE_WIDTH = 4.0
"""In points. Lines whose left edges are within this width belong to the same column."""
_COLUMN_WIDTH_MIN = 0.3
"""Minimum distance of the right column from both edges of the text, as a share of its width."""
_SWITCHES_MAX = 0.12
"""Maximum number of changes between the columns per row, in drawing order. A table changes more often."""
_COLUMN_DEPTH_MAX = 2
_LINES_MIN = 12
"""Minimum number of lines in two columns that the page draws line by line."""
_PROSE_WORDS_MIN = 4
"""Minimum mean number of words in such a line."""
_FILLED_SHARE_MIN = 0.8
"""Minimum share of the column's width that a usual line of prose fills. Cells of a table differ more."""
_GUTTER_MAX = 4.0
"""Maximum distance, in letter heights, of the longest line of the left column from the right column."""
_FIGURES_SHARE_MAX = 0.15


def _sum_edges(word: PageWord) -> float:
    return word.top + word.bottom


def _group_words(words: Iterable[PageWord]) -> list[list[PageWord]]:
    """Group words into rows from top to bottom, each from left to right."""
    rows: list[list[PageWord]] = []
    row: list[PageWord] = []
    top = bottom = 0.0
    for word in sorted(words, key=_sum_edges):
        height = word.bottom - word.top
        row_height = bottom - top
        overlap = min(bottom, word.bottom) - max(top, word.top)
        overlaps = bool(row) and overlap >= _OVERLAP_MIN * min(height, row_height)
        if overlaps and not _is_below(word, row):
            row.append(word)
            if height <= row_height:
                continue
        else:
            # A line of the next column may be between these two lines, and overlap both.
            start = bisect_right(row, _sum_edges(word) - _SAME_LINE_OFFSET_MAX * height, key=_sum_edges)
            later = row[start:] if overlaps else []
            del row[len(row) - len(later) :]
            row = [*later, word]
            rows.append(row)
        top, bottom = word.top, word.bottom
    for row in rows:
        row.sort(key=attrgetter("x0"))
    return rows


def _is_below(word: PageWord, row: Sequence[PageWord]) -> bool:
    """Return whether a word is below another word of a row, so that it belongs to the next line."""
    above = _sum_edges(word) - _NEXT_LINE_OFFSET_MIN * (word.bottom - word.top)
    return any(
        min(word.x1, other.x1) - max(word.x0, other.x0)
        > _BELOW_SHARE * min(word.x1 - word.x0, other.x1 - other.x0)
        for other in takewhile(lambda other: _sum_edges(other) <= above, row)
    )


def sort_into_reading_order(words: list[PageWord], depth: int) -> list[list[PageWord]]:
    """Group words, in drawing order, into rows in reading order: by columns if the page draws columns.

    `depth` is the number of columns that contain the words, inside each other.
    """
    groups = _group_words(words)
    if depth >= _COLUMN_DEPTH_MAX or len(groups) < _COLUMN_ROWS_MIN:
        return groups
    # A line consists of words that the page draws one after the other from left to right.
    lines = [[words[0]]]
    for before, word in pairwise(words):
        if word.x0 >= before.x1 - 1 and word.top < before.bottom and word.bottom > before.top:
            lines[-1].append(word)
        else:
            lines.append([word])
    x = _detect_right_column(lines, words)
    if x is None:
        return _divide_boxes(_divide_prose(groups))
    crossing = {word.first for line in _list_crossing(lines, x) for word in line}
    ordered: list[list[PageWord]] = []
    rows = switches = 0
    # Consecutive rows are either in two columns or, such as a heading, across both.
    for is_divided, group in groupby(
        groups, lambda group: crossing.isdisjoint(map(attrgetter("first"), group))
    ):
        band = list(group)
        if not is_divided:
            ordered += band
            continue
        flat = _sort_by_drawing(band)
        if all(_split(flat, x)):
            rows += len(band)
            switches += sum((word.x0 < x) != (after.x0 < x) for word, after in pairwise(flat)) - 1
        above, below = _take_titles(band, flat, x)
        ordered += above
        for side in _split(flat, x):
            ordered += sort_into_reading_order(side, depth + 1)
        ordered += below
    # A table is drawn row by row, and so are the columns of some programs.
    is_table = rows < _COLUMN_ROWS_MIN or switches > _SWITCHES_MAX * rows
    return _divide_boxes(_divide_prose(groups)) if is_table else ordered


def _sort_by_drawing(band: Iterable[list[PageWord]]) -> list[PageWord]:
    return sorted(chain.from_iterable(band), key=attrgetter("first"))


def _split(words: Sequence[PageWord], x: float) -> tuple[list[PageWord], list[PageWord]]:
    return [word for word in words if word.x0 < x], [word for word in words if word.x0 >= x]


def _take_titles(
    band: list[list[PageWord]], words: list[PageWord], x: float
) -> tuple[list[list[PageWord]], list[list[PageWord]]]:
    """Return the rows above the right column and below the left one that belong to neither.

    Such a row, for example a short title, is drawn before or after all other `words`. Remove its words.
    """
    start = 0
    end = len(band)
    while start < end and band[start][0].x0 >= x and _remove_end(words, band[start]):
        start += 1
    while start < end and band[end - 1][-1].x0 < x and _remove_end(words, band[end - 1]):
        end -= 1
    return band[:start], band[end:]


def _remove_end(words: list[PageWord], row: Sequence[PageWord]) -> bool:
    """Remove the words of a row of one cell from an end of `words`. Return whether they are there."""
    drawn = sorted(row, key=attrgetter("first"))
    for end in (slice(len(row)), slice(-len(row), None)):
        if words[end] == drawn and not _list_gaps(row):
            del words[end]
            return True
    return False


def _divide_prose(groups: list[list[PageWord]]) -> list[list[PageWord]]:
    """Sort rows that run across two columns of prose, because the page draws them so, into columns.

    In both columns, prose fills the lines, and the lines start at the same place.
    """
    gutters = [_find_gutter(group) for group in groups]
    starts = sorted(gutter[1] for gutter in gutters if gutter is not None)
    if len(starts) < _LINES_MIN:
        return groups
    x = starts[len(starts) // 2] - _COLUMN_EDGE_WIDTH
    is_divided = [gutter is not None and abs(gutter[1] - x) <= 2 * _COLUMN_EDGE_WIDTH for gutter in gutters]
    first = is_divided.index(True)
    end = len(is_divided) - is_divided[::-1].index(True)
    left = [side for group in groups[first:end] if (side := [word for word in group if word.x0 < x])]
    right = [side for group in groups[first:end] if (side := [word for word in group if word.x0 >= x])]
    are_prose = _is_prose_column(left) and _is_prose_column(right)
    longest = max(line[-1].x1 for line in left)
    is_close = x - _GUTTER_MAX * compute_letter_height(left[0]) < longest < x + _COLUMN_EDGE_WIDTH
    if sum(is_divided) < max(_LINES_MIN, _FILLED_SHARE_MIN * (end - first)) or not are_prose or not is_close:
        return groups
    return [*groups[:first], *left, *right, *groups[end:]]


def _divide_boxes(groups: list[list[PageWord]]) -> list[list[PageWord]]:
    """Divide rows that run across several texts, such as a paragraph and a box beside it.

    The page draws several lines of one text and then several of the other. It draws a table row by row.
    """
    divided: list[list[PageWord]] = []
    start = 0
    while start < len(groups):
        end, x = _find_gutter_end(groups, start)
        divided += _divide_texts(groups[start:end], x) or groups[start:end]
        start = end
    return divided


def _divide_texts(rows: Sequence[list[PageWord]], x: float) -> list[list[PageWord]]:
    """Return the rows of the texts left and right of a gutter at `x`. Return none if these are no texts."""
    words = _sort_by_drawing(rows)
    texts = [list(text) for _, text in groupby(words, lambda word: word.x0 < x)]
    if len(texts) >= len(rows):
        return []
    sides = [_group_words(side) for side in _split(words, x)]
    are_texts = all(
        _is_prose(side) and _is_left_aligned(side) and any(line[0].text[0].islower() for line in side[1:])
        for side in sides
    )
    divided = (_divide_boxes(_group_words(text)) for text in texts)
    return list(chain.from_iterable(divided)) if are_texts else []


def _find_gutter_end(groups: Sequence[list[PageWord]], start: int) -> tuple[int, float]:
    """Return the end of the rows that the first gutter of row `start` divides, and its right edge.

    The last lines of one text may stand alone, if they are drawn before the other text ends.
    """
    low, high = next(iter(_list_gaps(groups[start])), (0.0, 0.0))
    gap_min = CELL_GAP * (groups[start][0].bottom - groups[start][0].top)
    first, last = groups[start][0].first, groups[start][-1].first
    for number in range(start + 1, len(groups)):
        group = groups[number]
        left = [word.x1 for word in group if word.x0 < high]
        right = [word.x0 for word in group if word.x0 >= high]
        low = max([low, *left])
        is_inside = (left and right) or first < group[0].first < last
        is_crossed = min([high, *right]) - low <= gap_min
        if is_crossed or not is_inside or group[0].top < groups[number - 1][0].top:
            return number, high
        first = min(first, group[0].first)
        last = max(last, group[-1].first)
    return len(groups), high


def _is_prose(lines: Sequence[Sequence[PageWord]]) -> bool:
    """Return whether lines are prose: many words, and few figures."""
    words = [word.text for line in lines for word in line]
    figures = sum(any(map(str.isdigit, word)) for word in words)
    return len(words) >= _PROSE_WORDS_MIN * len(lines) and figures <= _FIGURES_SHARE_MAX * len(words)


def _is_left_aligned(lines: Sequence[Sequence[PageWord]]) -> bool:
    """Return whether most lines start at the left edge. The heads of a table are centred."""
    left = min(line[0].x0 for line in lines)
    return 2 * sum(line[0].x0 < left + _COLUMN_EDGE_WIDTH for line in lines) > len(lines)


def _find_gutter(group: Sequence[PageWord]) -> tuple[float, float] | None:
    """Return the edges of the only wide gap in a row, or None if there is none or more than one."""
    gaps = _list_gaps(group)
    return gaps[0] if len(gaps) == 1 else None


def _list_gaps(group: Sequence[PageWord]) -> list[tuple[float, float]]:
    gap_min = CELL_GAP * (group[0].bottom - group[0].top)
    return [(before.x1, word.x0) for before, word in pairwise(group) if word.x0 - before.x1 > gap_min]


def _is_prose_column(lines: Sequence[Sequence[PageWord]]) -> bool:
    """Return whether a column's lines are prose, and mostly long."""
    left = min(line[0].x0 for line in lines)
    lengths = sorted(line[-1].x1 - left for line in lines)
    return _is_prose(lines) and lengths[len(lengths) // 4] >= _FILLED_SHARE_MIN * lengths[-1]


def _detect_right_column(lines: Sequence[list[PageWord]], words: Sequence[PageWord]) -> float | None:
    """Return the left edge of the right column, or None if there is no such column.

    Most lines start there. If enough lines cross this edge, as the hanging numbers of a list do, the edge is
    where those lines start.
    """
    left = min([word.x0 for word in words])
    right = max([word.x1 for word in words])
    low = left + _COLUMN_WIDTH_MIN * (right - left)
    high = right - _COLUMN_WIDTH_MIN * (right - left)
    inner = [line for line in lines if low <= line[0].x0 <= high and len(line) > 1]
    starts: dict[int, list[float]] = {}
    for line in inner:
        starts.setdefault(int(line[0].x0 // _COLUMN_EDGE_WIDTH), []).append(line[0].x0)
    if not starts:
        return None
    best = max(starts, key=lambda key: len(starts[key]))
    near = [*starts[best], *starts.get(best - 1, ())]
    if len(near) < _COLUMN_ROWS_MIN:
        return None
    edge = min(near) - 1
    hanging = [line[0].x0 for line in _list_crossing(inner, edge)]
    return edge if len(hanging) < _COLUMN_ROWS_MIN else min(hanging) - 1


def _list_crossing(lines: Sequence[list[PageWord]], x: float) -> list[list[PageWord]]:
    return [line for line in lines if line[0].x0 < x - 2 and line[-1].x1 > x + 2]
