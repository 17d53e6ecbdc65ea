"""Excerpts of a section: the part of its text that answers a query, long enough to be trusted, or on one line."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from roamtui.document.plain import plain_line, shorten
from roamtui.document.tokens import estimate_tokens
from roamtui.search.sentences import Unit, UnitKind, best_sentences, find_opening, find_units, narrow_text

SNIPPET_LENGTH = 240
_SOURCE_LENGTH = 60_000
"""Characters of a very long section that are looked through."""
_SENTENCES = 4
_TABLE = (UnitKind.TABLE_HEAD, UnitKind.ROW)
_TOTAL = re.compile(r"(?i)[|\s*_]*(?:grand |net |sub-?)?(?:total|sum\b|gesamt|summe)")
"""How a row begins that sums up others."""
_CELL_END = re.compile(r"(?<!\\)\|")
_WORD = re.compile(r"\w+")
_WORDS_MIN = 3
"""Words of what stands beside a sentence, below which it is a label, such as the name of a language above code."""


def find_excerpt(
    text: str, terms: Sequence[str], *, tokens_max: int, whole_max: int = 0
) -> tuple[tuple[int, int], ...]:
    """Return the ranges of a section's own text that answer best, in order; none where it is a bare heading.

    What stands beside the best sentence comes with it, as far as there is room; head and sums of a table with its rows.

    Args:
        text: Markdown, with its heading.
        terms: As `roamtui.search.terms.query_terms` gives them.
        tokens_max: Estimated tokens of all ranges.
        whole_max: Tokens of a text that is whole anyway.
    """
    text = text[:_SOURCE_LENGTH]
    units = find_units(text)
    bodies = [index for index, unit in enumerate(units) if unit.kind is not UnitKind.HEADING]
    if not bodies:
        return ()
    start, end = units[bodies[0]].start, units[bodies[-1]].end
    start = text.rfind("\n", 0, start) + 1
    if estimate_tokens(text[start:end]) <= max(tokens_max, whole_max):
        return ((start, end),)
    chosen: dict[int, tuple[int, int]] = {}
    left = tokens_max
    starts = [unit.start for unit in units]
    for sentence_start, sentence_end in _list_best(text, terms):
        index = bisect_right(starts, sentence_start) - 1
        for number, group in enumerate(_widen(text, units, index, (sentence_start, sentence_end), left)):
            added = {unit_index: bounds for unit_index, bounds in group.items() if unit_index not in chosen}
            cost = sum(estimate_tokens(text[start:end]) for start, end in added.values())
            if cost <= left:
                chosen |= added
                left -= cost
            elif not number:
                break
        if left < tokens_max // 4:
            break
    if not chosen:
        first = next(iter(_list_best(text, terms)), (start, end))
        return ((first[0], min(first[1], first[0] + 4 * tokens_max)),)
    return tuple(_merge(text, [chosen[index] for index in sorted(chosen)]))


def _list_best(text: str, terms: Sequence[str]) -> Iterator[tuple[int, int]]:
    best = best_sentences(text, terms, limit=_SENTENCES)
    for sentence in best:
        yield sentence.start, sentence.end
    if not best and (opening := find_opening(text)) is not None:
        yield opening.start, opening.end


def _widen(
    text: str, units: Sequence[Unit], index: int, sentence: tuple[int, int], tokens_max: int
) -> Iterator[dict[int, tuple[int, int]]]:
    """Yield the unit of a sentence, or the sentence alone where the unit is long, then what is beside.

    Each is given by the indexes of units: a row comes with the head of its table, beside it a table as a whole.
    """
    unit = units[index]
    is_long = estimate_tokens(text[unit.start : unit.end]) > tokens_max
    found = {index: sentence if is_long else (unit.start, unit.end)}
    table = _find_table(units, index)
    if unit.kind is UnitKind.ROW and units[table.start].kind is UnitKind.TABLE_HEAD:
        found[table.start] = (units[table.start].start, units[table.start].end)
    yield found
    yield _take(units, [i for i in table if units[i].kind is UnitKind.ROW and _TOTAL.match(text, units[i].start)])
    if len(table) > 1:
        yield _take(units, table)
    for beside in (table.stop, table.start - 1):
        if 0 <= beside < len(units) and _is_telling(text, units[beside], unit):
            yield _take(units, _find_table(units, beside))


def _is_telling(text: str, beside: Unit, unit: Unit) -> bool:
    """Return whether what stands beside a unit helps to understand it: labels and half a piece of code do not."""
    if beside.kind is UnitKind.CODE:
        return unit.kind is UnitKind.CODE
    is_label = beside.kind is UnitKind.PROSE and len(_WORD.findall(text, beside.start, beside.end)) < _WORDS_MIN
    return beside.kind is not UnitKind.HEADING and not is_label


def _find_table(units: Sequence[Unit], index: int) -> range:
    """Return the units of the table that one belongs to, the head first; for any other unit itself."""
    if units[index].kind not in _TABLE:
        return range(index, index + 1)
    start = index
    while units[start].kind is UnitKind.ROW and start and units[start - 1].kind in _TABLE:
        start -= 1
    end = index + 1
    while end < len(units) and units[end].kind is UnitKind.ROW:
        end += 1
    return range(start, end)


def _take(units: Sequence[Unit], indexes: Sequence[int]) -> dict[int, tuple[int, int]]:
    return {index: (units[index].start, units[index].end) for index in indexes}


def _merge(text: str, ranges: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield ranges in order, those as one between which there is nothing but marks and white space."""
    current = ranges[0]
    for following in ranges[1:]:
        between = text[current[1] : following[0]]
        if any(character.isalnum() for character in between):
            yield current
            current = following
        else:
            current = (current[0], following[1])
    yield current


def make_snippet(text: str, terms: Sequence[str]) -> str:
    """Return the best sentence of a section's own text, else its first, on one line that is safe to display.

    Of a table's row each cell follows the head of its column.
    """
    text = narrow_text(text, terms)
    start, end = next(_list_best(text, terms), (0, 0))
    units = find_units(text)
    index = max(0, bisect_right([unit.start for unit in units], start) - 1)
    said = text[start:end].replace("\n>", "\n")
    if units and units[index].kind is UnitKind.ROW:
        head = units[_find_table(units, index).start]
        if head.kind is UnitKind.TABLE_HEAD:
            pairs = zip_longest(_split_row(text[head.start : head.end]), _split_row(said), fillvalue="")
            said = "; ".join(f"{name}: {cell}" if name else cell for name, cell in pairs if cell)
    return shorten(plain_line(said), SNIPPET_LENGTH)


def _split_row(row: str) -> list[str]:
    return [cell.strip() for cell in _CELL_END.split(row.strip().removeprefix("|").removesuffix("|"))]
