"""Choose the excerpt of a section that answers a query best, and format its best sentence on one line."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest

from roamtui.document.plain import sanitise_line, shorten
from roamtui.document.tokens import estimate_tokens
from roamtui.markdown.fences import FENCE
from roamtui.outline.spans import Bounds, merge_bounds, subtract_bounds
from roamtui.search.lexicon import Language
from roamtui.search.sentences import (
    count_words,
    find_sentence_end,
    get_first_sentence,
    list_sentences_from,
    rank_sentences,
    select_relevant_part,
)
from roamtui.search.terms import list_inflected_forms, locate_terms
from roamtui.search.units import Unit, UnitKind, find_units

SNIPPET_LENGTH = 240
_SECTION_LENGTH_MAX = 60_000
"""Maximum length of a section in characters. Of a longer one, only the start is searched."""
_SENTENCES_MAX = 4
_TABLE_KINDS = (UnitKind.TABLE_HEAD, UnitKind.ROW)
_TOTAL_ROW = re.compile(r"(?i)[|\s*_]*(?:grand |net |sub-?)?(?:total|sum\b|gesamt|summe)")
"""The start of a row with totals."""
_LABEL_ROW = re.compile(r"\|[^|\n]*(?::\s*\||\|\s*\|)[|\s]*")
"""A row that only introduces the rows below it, as "| Domestic: | |" does."""
_LABEL_ROWS_MAX = 2
_CELL_END = re.compile(r"(?<!\\)\|")
_LABEL_WORDS_MIN = 3
"""A paragraph with fewer words is a label, such as the name of a language above code."""
_SHORT_LIST_MAX = 10
"""A list with at most this many items is added with the first sentence of each item."""
_NEXT_SENTENCES_MAX = 1
"""Maximum number of sentences added after the best one if the whole paragraph is too long."""
_ITEM_MARK = re.compile(r"(?:\(?(?:[a-z]{1,4}|[A-Z]|\d{1,2})[.)]|[•·▪●○–])\s")
"""The start of a paragraph that is an item of a list without Markdown marks."""
_MARKS_BEFORE = re.compile(r"[ \t>]*+(?:(?:[-*+]|\d{1,9}[.)]|#{1,6})[ \t]++(?:\[[ xX]\][ \t]++)?)*+[^\w\n]*+")
"""What may be before the text of a line, such as the mark of a list item or a heading."""
_MARKS_LENGTH_MAX = 2_000
"""Maximum length of the brackets and fences before or after the words of code, in characters."""
ANNOUNCES = re.compile(r":[*_` ]*\Z")
"""The end of a text that announces what follows it, as "as follows:" does."""
_WORD = re.compile(r"\w")
_CLAUSE_OR_WORD_END = re.compile(r"[,;:]?(?=\s)")


def select_excerpt(
    text: str, terms: Sequence[str], *, tokens_max: int, whole_max: int = 0, language: Language = Language.ENGLISH
) -> tuple[tuple[int, int], ...]:
    """Return the spans of a section's own text that answer best, in order. A bare heading has none.

    As long as there is room, the best sentences come with their context: the rest of their list, table or code, and the
    paragraphs next to them. All spans together have at most `tokens_max` tokens. A text with at most `tokens_max` or
    `whole_max` tokens is returned whole. `terms` comes from `roamtui.search.terms.extract_query_terms`.
    """
    text = text[:_SECTION_LENGTH_MAX]
    units = find_units(text)
    bodies = [index for index, unit in enumerate(units) if unit.kind is not UnitKind.HEADING]
    if not bodies:
        return ()
    whole = _get_lines_span(text, units, range(min(bodies[0], 1), bodies[-1] + 1))
    if estimate_tokens(text[whole[0] : whole[1]]) <= max(tokens_max, whole_max):
        return (whole,)
    chosen: list[Bounds] = []
    tokens_left = tokens_max
    unit_starts = [unit.start for unit in units]
    matches = Counter(bisect_right(unit_starts, offset) - 1 for offset, _ in {*locate_terms(text, terms)})
    for sentence in _iter_best_spans(text, terms, language):
        index = bisect_right(unit_starts, sentence[0]) - 1
        for number, group in enumerate(_iter_context(text, units, index, sentence, matches, tokens_left)):
            added = [bounds for span in group for bounds in subtract_bounds(*span, chosen)]
            cost = sum(estimate_tokens(text[start:end]) for start, end in added)
            if cost <= tokens_left:
                chosen += added
                tokens_left -= cost
            elif not number:  # context without its sentence is no answer
                break
        if tokens_left < tokens_max // 4:  # too little for a further sentence with its context
            break
    if not chosen:
        start, end = next(_iter_best_spans(text, terms, language), whole)
        length_max = max(1, (end - start) * tokens_max // estimate_tokens(text[start:end]))
        return ((start, start + _cut_sentence(text[start:end], length_max)),)
    spans: list[Bounds] = []
    for start, end in merge_bounds(chosen):
        if spans and not any(map(str.isalnum, text[spans[-1][1] : start])):  # only marks and white space between them
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return tuple(spans)


def _get_lines_span(text: str, units: Sequence[Unit], members: range) -> Bounds:
    """Return the span of some units with the marks before the first, and the brackets and fences around code."""
    first, last = units[members.start], units[members.stop - 1]
    start = line_start = text.rfind("\n", 0, first.start) + 1
    if not _MARKS_BEFORE.fullmatch(text, line_start, first.start):
        start = first.start
    if first.kind is UnitKind.CODE:
        for line in reversed(text[:line_start][-_MARKS_LENGTH_MAX:].splitlines(keepends=True)):
            is_fence = FENCE.match(line) is not None
            if not is_fence and _WORD.search(line):
                break
            line_start -= len(line)
            start = line_start if line.strip() else start
            if is_fence:
                break
    end = position = last.end
    if last.kind is UnitKind.CODE:
        for line in text[last.end :][:_MARKS_LENGTH_MAX].splitlines(keepends=True):
            if _WORD.search(line):
                break
            position += len(line)
            end = position - (len(line) - len(line.rstrip())) if line.strip() else end
            if FENCE.match(line):
                break
    return start, end


def _cut_sentence(sentence: str, length_max: int) -> int:
    """Return the length to which a sentence is cut: to the end of a clause or word, if possible."""
    ends = [match.end() for match in _CLAUSE_OR_WORD_END.finditer(sentence, length_max // 2, length_max)]
    clauses = [end for end in ends if sentence[end - 1] in ",;:"]
    return (clauses or ends or [length_max])[-1]


def _iter_best_spans(text: str, terms: Sequence[str], language: Language) -> Iterator[Bounds]:
    """Yield the spans of the best sentences, or of the first sentence if none matches."""
    forms = list_inflected_forms(text, terms, language, with_synonyms=True)
    best = rank_sentences(text, terms, limit=_SENTENCES_MAX, forms=forms)
    for sentence in best:
        yield sentence.start, sentence.end
    if not best and (opening := get_first_sentence(text)) is not None:
        yield opening.start, opening.end


def _iter_context(
    text: str, units: Sequence[Unit], index: int, sentence: Bounds, matches: Mapping[int, int], tokens_max: int
) -> Iterator[list[Bounds]]:
    """Yield groups of spans: first a sentence with its unit, then more and more context.

    The context is the rest of the table, list or code, and the units around it. `matches` has the number of terms in
    each unit.
    """
    unit = units[index]
    members = _get_block(text, units, index)

    def fits(span: Bounds) -> bool:
        return estimate_tokens(text[span[0] : span[1]]) <= tokens_max

    def get_span(index: int) -> Bounds:
        return _get_lines_span(text, units, range(index, index + 1))

    def get_rows(index: int) -> Bounds:
        last = index
        while last < min(members.stop - 1, index + _LABEL_ROWS_MAX) and _LABEL_ROW.fullmatch(
            text, units[last].start, units[last].end
        ):
            last += 1
        return _get_lines_span(text, units, range(index, last + 1))

    if unit.kind is UnitKind.CODE:
        code = _get_lines_span(text, units, members)
        if fits(code):
            yield [code]
        else:
            statement = _find_statement(text, units, members, index)
            yield [statement if fits(statement) else get_span(index), *_list_fences(text, code)]
    elif unit.kind is UnitKind.ROW:
        heads = [get_span(i) for i in members if units[i].kind is UnitKind.TABLE_HEAD]
        row = get_rows(index)
        yield [*heads, row] if sum(estimate_tokens(text[a:b]) for a, b in (*heads, row)) <= tokens_max else [row]
        others = [i for i in members if units[i].kind is UnitKind.ROW and i != index]
        rows = sorted((i for i in others if matches.get(i)), key=lambda i: (-matches[i], i))
        totals = [i for i in others if _TOTAL_ROW.match(text, units[i].start)]
        totals.sort(key=lambda i: (i < index, abs(i - index)))  # a total sums up the rows above it
        yield from ([get_rows(i)] for i in dict.fromkeys([*totals[:1], *rows, *totals]))
        yield [_get_lines_span(text, units, members)]
    else:
        whole, sentences = get_span(index), list_sentences_from(text, sentence[0])
        yield [next(filter(fits, (whole, sentences[0])), sentence)]
        if not fits(whole):
            yield from ([*sentences[:count]] for count in range(2, _NEXT_SENTENCES_MAX + 2))
        if 1 < len(members) <= _SHORT_LIST_MAX:
            yield [_get_short_span(text, units, i) for i in members]
            yield [_get_lines_span(text, units, members)]
        elif len(members) > 1:
            yield from ([get_span(i)] for i in (index + 1, index - 1) if i in members)
    for neighbour_index in (members.stop, members.start - 1):
        if not 0 <= neighbour_index < len(units):
            continue
        neighbour = units[neighbour_index]
        if neighbour.kind is UnitKind.HEADING or (
            neighbour.kind is UnitKind.PROSE and count_words(text, neighbour) < _LABEL_WORDS_MIN
        ):
            continue
        is_announced = neighbour_index == members.stop and ANNOUNCES.search(
            text, unit.start, units[members.stop - 1].end
        )
        block = _get_block(text, units, neighbour_index)
        is_code = neighbour.kind is UnitKind.CODE
        if not is_code or is_announced:  # other code answers only if it was found itself
            yield [_get_lines_span(text, units, block)]
            # If the whole does not fit, its first items do: "as follows:" says nothing without them.
            yield from ([get_span(i)] for i in block if is_announced and not is_code)


def _get_short_span(text: str, units: Sequence[Unit], index: int) -> Bounds:
    """Return the span of a list item up to the end of its first sentence."""
    start, end = _get_lines_span(text, units, range(index, index + 1))
    return start, min(end, find_sentence_end(text, units[index].start) or end)


def _get_block(text: str, units: Sequence[Unit], index: int) -> range:
    """Return the indexes of the units of the list, table or code that a unit belongs to, or only its own index.

    Sentences that begin with a letter, number or bullet are a list too.
    """
    unit = units[index]

    def is_item(other: Unit) -> bool:
        if other.kind is not UnitKind.PROSE or not _ITEM_MARK.match(text, other.start):
            return False
        return (find_sentence_end(text, other.start) or 0) >= other.end  # else it is a section of its own

    is_in_list = is_item(unit)

    def belongs(other: Unit) -> bool:
        if is_in_list:
            return is_item(other)
        if unit.kind in _TABLE_KINDS:
            return other.kind in _TABLE_KINDS and other.block == unit.block
        return other.kind is unit.kind and other.block == unit.block

    start, stop = index, index + 1
    while start and belongs(units[start - 1]):
        start -= 1
    while stop < len(units) and belongs(units[stop]):
        stop += 1
    return range(start, stop)


def _find_statement(text: str, units: Sequence[Unit], members: range, index: int) -> Bounds:
    """Return the span of a line of code and the lines around it that are needed to balance its brackets."""
    low, high = index, index + 1
    while True:
        end = units[high].start if high < members.stop else _get_lines_span(text, units, members)[1]
        lines = text[text.rfind("\n", 0, units[low].start) + 1 : text.rfind("\n", 0, end) + 1]
        depth = sum(lines.count(mark) for mark in "([{") - sum(lines.count(mark) for mark in ")]}")
        if depth > 0 and high < members.stop:
            high += 1
        elif depth < 0 and low > members.start:
            low -= 1
        else:
            break
    start, stop = _get_lines_span(text, units, range(low, high))
    return (units[low].start if FENCE.match(text, start) else start), stop


def _list_fences(text: str, code: Bounds) -> list[Bounds]:
    """Return the spans of the fences around a piece of code."""
    first_end, last_start = text.find("\n", *code), text.rfind("\n", *code) + 1
    lines = ((code[0], first_end), (last_start, code[1]))
    return [(start, end) for start, end in lines if start < end and FENCE.match(text, start)]


def make_snippet(text: str, terms: Sequence[str], language: Language = Language.ENGLISH) -> str:
    """Return the best sentence of a section's own text, or the first one, on one line that is safe to display.

    In a table row, the name of its column comes before each cell.
    """
    text = select_relevant_part(text, terms)
    start, end = next(_iter_best_spans(text, terms, language), (0, 0))
    units = find_units(text)
    index = max(0, bisect_right([unit.start for unit in units], start) - 1)
    sentence = text[start:end].replace("\n>", "\n")
    if units and units[index].kind is UnitKind.ROW:
        head = units[_get_block(text, units, index).start]
        if head.kind is UnitKind.TABLE_HEAD:
            pairs = zip_longest(_split_row(text[head.start : head.end]), _split_row(sentence), fillvalue="")
            sentence = "; ".join(f"{name}: {cell}" if name else cell for name, cell in pairs if cell)
    return shorten(sanitise_line(sentence), SNIPPET_LENGTH)


def _split_row(row: str) -> list[str]:
    return [cell.strip() for cell in _CELL_END.split(row.strip().removeprefix("|").removesuffix("|"))]
