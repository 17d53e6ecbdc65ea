"""Choose the excerpt of a section that answers a query best, and format its best sentence on one line."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from roamtui.document.plain import sanitise_line, shorten
from roamtui.document.tokens import estimate_tokens
from roamtui.search.sentences import count_words, get_first_sentence, rank_sentences, select_relevant_part
from roamtui.search.units import Unit, UnitKind, find_units

SNIPPET_LENGTH = 240
_SECTION_LENGTH_MAX = 60_000
"""Of a longer section, in characters, only the start is searched."""
_SENTENCES_MAX = 4
_TABLE_KINDS = (UnitKind.TABLE_HEAD, UnitKind.ROW)
_TOTAL_ROW = re.compile(r"(?i)[|\s*_]*(?:grand |net |sub-?)?(?:total|sum\b|gesamt|summe)")
"""The start of a row with totals."""
_CELL_END = re.compile(r"(?<!\\)\|")
_LABEL_WORDS_MIN = 3
"""Minimum number of words of a paragraph that is not a label, such as the name of a language above code."""
_CHARACTERS_PER_TOKEN = 4
"""Estimate by which a sentence that is longer than the whole excerpt is cut."""


def select_excerpt(
    text: str, terms: Sequence[str], *, tokens_max: int, whole_max: int = 0
) -> tuple[tuple[int, int], ...]:
    """Return the spans of a section's own text that answer best, in order. A bare heading has none.

    As long as there is room, the best sentences come with their context: the units next to them, and the head and
    totals of a table. All spans together have at most `tokens_max` tokens. A text with at most `tokens_max` or
    `whole_max` tokens is returned whole. `terms` comes from `roamtui.search.terms.query_terms`.
    """
    text = text[:_SECTION_LENGTH_MAX]
    units = find_units(text)
    bodies = [index for index, unit in enumerate(units) if unit.kind is not UnitKind.HEADING]
    if not bodies:
        return ()
    start, end = units[bodies[0]].start, units[bodies[-1]].end
    start = text.rfind("\n", 0, start) + 1
    if estimate_tokens(text[start:end]) <= max(tokens_max, whole_max):
        return ((start, end),)
    chosen: dict[int, tuple[int, int]] = {}  # spans by the index of their unit
    tokens_left = tokens_max
    unit_starts = [unit.start for unit in units]
    for sentence_start, sentence_end in _iter_best_spans(text, terms):
        index = bisect_right(unit_starts, sentence_start) - 1
        groups = _iter_context(text, units, index, (sentence_start, sentence_end), tokens_left)
        for number, group in enumerate(groups):
            added = {unit_index: bounds for unit_index, bounds in group.items() if unit_index not in chosen}
            cost = sum(estimate_tokens(text[start:end]) for start, end in added.values())
            if cost <= tokens_left:
                chosen |= added
                tokens_left -= cost
            elif not number:  # context without its sentence is no answer
                break
        if tokens_left < tokens_max // 4:  # too little for a further sentence with its context
            break
    if not chosen:
        first = next(_iter_best_spans(text, terms), (start, end))
        return ((first[0], min(first[1], first[0] + _CHARACTERS_PER_TOKEN * tokens_max)),)
    spans: list[tuple[int, int]] = []
    for _, (start, end) in sorted(chosen.items()):
        if spans and not any(map(str.isalnum, text[spans[-1][1] : start])):  # only marks and white space between them
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return tuple(spans)


def _iter_best_spans(text: str, terms: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the spans of the best sentences, or of the first sentence if none matches."""
    best = rank_sentences(text, terms, limit=_SENTENCES_MAX)
    for sentence in best:
        yield sentence.start, sentence.end
    if not best and (opening := get_first_sentence(text)) is not None:
        yield opening.start, opening.end


def _iter_context(
    text: str, units: Sequence[Unit], index: int, sentence: tuple[int, int], tokens_max: int
) -> Iterator[dict[int, tuple[int, int]]]:
    """Yield groups of spans by the index of their unit: first a sentence with its unit, then more and more context.

    If the unit is long, the first group is only the sentence. A row comes with the head of its table. The context is
    the totals of the table, the whole table, and the units around it.
    """
    unit = units[index]
    is_long = estimate_tokens(text[unit.start : unit.end]) > tokens_max
    first_group = {index: sentence if is_long else (unit.start, unit.end)}
    table = _get_table_units(units, index)
    if unit.kind is UnitKind.ROW and units[table.start].kind is UnitKind.TABLE_HEAD:
        first_group[table.start] = (units[table.start].start, units[table.start].end)
    yield first_group
    context = [[i for i in table if units[i].kind is UnitKind.ROW and _TOTAL_ROW.match(text, units[i].start)]]
    if len(table) > 1:
        context.append([*table])
    for neighbour_index in (table.stop, table.start - 1):
        if not 0 <= neighbour_index < len(units):
            continue
        neighbour = units[neighbour_index]
        if neighbour.kind is UnitKind.CODE:
            is_helpful = unit.kind is UnitKind.CODE  # half a piece of code explains nothing
        elif neighbour.kind is UnitKind.PROSE:
            is_helpful = count_words(text, neighbour) >= _LABEL_WORDS_MIN
        else:
            is_helpful = neighbour.kind is not UnitKind.HEADING
        if is_helpful:
            context.append([*_get_table_units(units, neighbour_index)])
    for unit_indexes in context:
        yield {i: (units[i].start, units[i].end) for i in unit_indexes}


def _get_table_units(units: Sequence[Unit], index: int) -> range:
    """Return the indexes of all units of the table that a unit belongs to, or only its own index."""
    if units[index].kind not in _TABLE_KINDS:
        return range(index, index + 1)
    start = index
    while units[start].kind is UnitKind.ROW and start and units[start - 1].kind in _TABLE_KINDS:
        start -= 1
    end = index + 1
    while end < len(units) and units[end].kind is UnitKind.ROW:
        end += 1
    return range(start, end)


def make_snippet(text: str, terms: Sequence[str]) -> str:
    """Return the best sentence of a section's own text, or the first one, on one line that is safe to display.

    In a table row, the name of its column comes before each cell.
    """
    text = select_relevant_part(text, terms)
    start, end = next(_iter_best_spans(text, terms), (0, 0))
    units = find_units(text)
    index = max(0, bisect_right([unit.start for unit in units], start) - 1)
    sentence = text[start:end].replace("\n>", "\n")
    if units and units[index].kind is UnitKind.ROW:
        head = units[_get_table_units(units, index).start]
        if head.kind is UnitKind.TABLE_HEAD:
            pairs = zip_longest(_split_row(text[head.start : head.end]), _split_row(sentence), fillvalue="")
            sentence = "; ".join(f"{name}: {cell}" if name else cell for name, cell in pairs if cell)
    return shorten(sanitise_line(sentence), SNIPPET_LENGTH)


def _split_row(row: str) -> list[str]:
    return [cell.strip() for cell in _CELL_END.split(row.strip().removeprefix("|").removesuffix("|"))]
