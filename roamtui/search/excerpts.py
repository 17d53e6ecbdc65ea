"""Excerpts of a section for a model: the part of its text that answers a query, long enough to be trusted."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from roamtui.document.tokens import estimate_tokens
from roamtui.search.sentences import best_sentences, find_opening
from roamtui.search.units import Unit, UnitKind, find_units

_WHOLE_FACTOR = 1.4
"""A text up to this many times the tokens of an excerpt is given whole: half a rule without its exception misleads."""
_SOURCE_LENGTH = 60_000
"""Characters of a very long section that are looked through."""
_SENTENCES = 4
_HEADINGS = (UnitKind.HEADING, UnitKind.TABLE_HEAD)


def find_excerpt(text: str, terms: Sequence[str], *, tokens_max: int) -> tuple[tuple[int, int], ...]:
    """Return the ranges of a section's own text that answer best, in order; none where it is a bare heading.

    What stands beside the best sentence comes with it, as far as there is room, and the head of a table with its rows.

    Args:
        text: Markdown, with its heading.
        terms: As `roamtui.search.terms.query_terms` gives them.
        tokens_max: Estimated tokens of all ranges, passed by a little where the text can be whole then.
    """
    text = text[:_SOURCE_LENGTH]
    units = find_units(text)
    bodies = [index for index, unit in enumerate(units) if unit.kind is not UnitKind.HEADING]
    if not bodies:
        return ()
    start, end = units[bodies[0]].start, units[bodies[-1]].end
    start = text.rfind("\n", 0, start) + 1
    if estimate_tokens(text[start:end]) <= tokens_max * _WHOLE_FACTOR:
        return ((start, end),)
    chosen: dict[int, tuple[int, int]] = {}
    left = tokens_max
    for sentence_start, sentence_end in _list_best(text, terms):
        index = bisect_right([unit.start for unit in units], sentence_start) - 1
        for unit_index, bounds in _widen(text, units, index, (sentence_start, sentence_end), left):
            cost = estimate_tokens(text[slice(*bounds)])
            if unit_index in chosen or cost > left:
                if unit_index == index:
                    break
                continue
            chosen[unit_index] = bounds
            left -= cost
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
) -> Iterator[tuple[int, tuple[int, int]]]:
    """Yield the unit of a sentence, or the sentence alone where the unit is long, then what stands beside it."""
    unit = units[index]
    is_long = estimate_tokens(text[unit.start : unit.end]) > tokens_max
    yield index, sentence if is_long else (unit.start, unit.end)
    if unit.kind is UnitKind.ROW:
        head = next((i for i in range(index - 1, -1, -1) if units[i].kind is not UnitKind.ROW), None)
        if head is not None and units[head].kind is UnitKind.TABLE_HEAD:
            yield head, (units[head].start, units[head].end)
    for distance in (1, 2, 3):
        for beside in (index + distance, index - distance):
            if 0 <= beside < len(units) and units[beside].kind not in _HEADINGS:
                yield beside, (units[beside].start, units[beside].end)


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
