"""The sentences of a Markdown text, and excerpts of it, all exact spans.

`best_sentences` says which sentences answer a question, `find_excerpt` which part of a section does, long enough to be
trusted, `make_snippet` puts it on one line.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest
from math import log
from types import MappingProxyType

from roamtui.document.plain import sanitise_line, shorten
from roamtui.document.tokens import estimate_tokens
from roamtui.search.lexicon import make_pattern
from roamtui.search.terms import locate_terms
from roamtui.search.units import UNITS_KEPT, Unit, UnitKind, find_units

_STOP = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’)\]*_]*+(?=\s)|[。！？｡]++[」』”’）】]*+")
_CODE_SPAN = re.compile(r"(?<!`)(`++)[^`]++\1")
_LAST_WORD = re.compile(r"[\w.]+$")
_CLAUSE_END = re.compile(r";(?=\s)")
_LENGTH_LONG = 400
"""Characters; a longer sentence, as contracts have them, is divided at its semicolons."""
_PARENTHESIS_MAX = 300
"""Characters within which an open parenthesis is taken to close again."""
_SHORT_FORMS = """
al capt cf co corp dept dr e.g ed eds excl gen i.e inc incl jr lt ltd mr mrs ms mt prof reg resp sr st treas vs viz
bzw d.h ggf inkl u.a vgl z.b mme p.ej p.ex sra
"""
_ABBREVIATIONS = frozenset(_SHORT_FORMS.split())
_BEFORE_NUMBER = frozenset(
    ("abs", "approx", "art", "ca", "ch", "eq", "fig", "figs", "no", "nos", "nr", "pp", "sec", "vol")
)
"""Abbreviations where a number follows, words that may end a sentence otherwise."""
_COMMON_OPENERS = """
a all although an any as at because but by each for he however if in it its no on our she since such that the their
there these they this those to under we when while you das der die diese ein eine er es sie wenn wir
"""
_DOTTED = re.compile(r"(?![ap]\.m\b)(?:[^\W\d_]\.)+[^\W\d_]\Z")
"""Letters with full stops, as in U.S. or L.L.C.: whether a sentence ends with them, the next word tells."""
_OPENERS = frozenset(_COMMON_OPENERS.split())
_ORDINAL = re.compile(r"\b(?:am|ab|bis|das|dem|den|der|des|die|im|seit|vom|zum|zur)\s+\d{1,2}\Z", re.IGNORECASE)
"""A German ordinal number before its full stop."""
_MONTH = re.compile(rf"\s*(?:{make_pattern('months')})\b", re.IGNORECASE)

_DEFINITION = re.compile(
    r"(?!(?:after|although|as|because|before|for|if|in|once|since|there|to|unless|when|where|while|with)\b)"
    r"[\s*_]*+(?P<subject>[^.;:!?\n]{1,60}?)[*_]*+\s"
    r"(?:is|are|means?|refers? to|lets?|allows?|enables?|provides?|defines?|describes?|specif(?:y|ies)|represents?"
    r"|determines?|controls?|denotes?|consists? of|contains?|holds?|returns?|sets?|shows?|shall mean)\s",
    re.IGNORECASE,
)
_ENTRY = re.compile(
    r"(?P<subject>\*\*[^*\n]{1,60}\*\*|__[^_\n]{1,60}__|`+[^`\n]{1,60}`+|[\w./-]{2,40})"
    r"(?:[ \t]*\([^)\n]{1,40}\))?(?:[ \t]*:|[ \t]+[–—-])\s"
)
_FIRST_CELL = re.compile(r"\|?(?P<subject>[^|]{1,80})\|")
_LINK_TEXT = re.compile(r"!?\[[^\[\]]*\]\([^()]*+(?:\([^()]*+\)[^()]*+)*+\)")
_WORD = re.compile(r"\w+")

_HEADING_SHARE = 0.3
"""What a term counts that stands in the heading above and not in the sentence."""
_COLUMN_SHARE = 0.6
"""What a term counts in a table's head for its rows, which say little without it."""
_DEFINITION_BONUS = 0.25
_PROXIMITY_BONUS = 0.15
_PROXIMITY_LENGTH = 60
"""Characters between the first and the last term at which the bonus is half."""
_EARLY_BONUS = 0.15
_WORDS_MIN, _WORDS_MAX = 5, 80
_SENTENCES_IN = (UnitKind.PROSE, UnitKind.ITEM)
_CLOSED = re.compile(r"[.!?:;…。！？｡][\W_]*\Z")
_LETTERED = re.compile(r"[a-z]{1,4}[.)]\s")
_HEADINGS = (UnitKind.HEADING, UnitKind.TABLE_HEAD)
_FACTORS = {UnitKind.CODE: 0.6, UnitKind.ROW: 0.95}
_SOURCE_LENGTH = 20_000
"""Characters of a very long section that are looked through."""
_TERM_START = 5
"""Letters of a term by which the part of a long section is chosen; what follows may be inflected."""


@dataclass(frozen=True, slots=True)
class RankedSentence:
    """A sentence that answers, as a span."""

    start: int
    end: int
    score: float
    """Above 0; about 1 where it holds all that was asked for."""


def split_sentences(text: str) -> tuple[Unit, ...]:
    """Return the sentences of a Markdown text in order, headings and table heads among them."""
    return tuple(Unit(start, end, unit.kind) for unit in find_units(text) for start, end in _split_unit(text, unit))


def best_sentences(
    text: str,
    query_terms: Sequence[str],
    *,
    limit: int,
    idf: Mapping[str, float] | None = None,
    forms: Mapping[str, str] = MappingProxyType({}),
) -> tuple[RankedSentence, ...]:
    """Return up to `limit` sentences of a text that hold most of what is asked for, the best first.

    A definition goes before a mere usage, terms close together before terms far apart. Headings and table heads are
    never returned; what they say counts in part for the sentences below them.

    Args:
        text: Markdown, a section's or several.
        query_terms: As `roamtui.search.terms.query_terms` gives them.
        limit: How many at most.
        idf: How telling each term is; without it, that follows from the text.
        forms: Other words that count as one of the terms, each with that term.
    """
    units = find_units(text)
    found = _assign_terms(units, locate_terms(text, query_terms, forms))
    weights = _weigh_terms(found, len(units), query_terms, idf)
    total = sum(weights.values())
    ranked: dict[str, RankedSentence] = {}
    above: dict[str, float] = {}
    columns: dict[str, float] = {}
    for index, unit in enumerate(units):
        if unit.kind is UnitKind.HEADING:
            above = {term: _HEADING_SHARE for _, term in found.get(index, ())}
        if unit.kind is not UnitKind.ROW:
            columns = {term: _COLUMN_SHARE for _, term in found.get(index, ()) if unit.kind is UnitKind.TABLE_HEAD}
        if unit.kind in _HEADINGS or index not in found:
            continue
        sentences = [Unit(start, end, unit.kind) for start, end in _split_unit(text, unit)]
        for place, terms in _assign_terms(sentences, found[index]).items():
            sentence = sentences[place]
            score = _score_sentence(text, sentence, terms, above | columns, weights) / total
            score += _EARLY_BONUS / (1 + index + place)
            ranked.setdefault(text[sentence.start : sentence.end], RankedSentence(sentence.start, sentence.end, score))
    return tuple(sorted(ranked.values(), key=lambda found: (-found.score, found.start))[:limit])


def get_first_sentence(text: str) -> Unit | None:
    """Return the first sentence of a text that says something, None where it has only headings."""
    bodies = [sentence for sentence in split_sentences(text) if sentence.kind not in _HEADINGS]
    telling = (
        sentence
        for sentence in bodies
        if sentence.kind is not UnitKind.CODE and _count_words(text, sentence) >= _WORDS_MIN
    )
    return next(telling, bodies[0] if bodies else None)


def find_sentence_end(text: str, offset: int) -> int | None:
    """Return where the sentence, row, heading or line of code around a character ends, None between these.

    A long sentence is not divided, and one goes on in a paragraph that begins with a small letter, as on the next page.
    """
    units = find_units(text)
    index = bisect_right(units, offset, key=lambda unit: unit.start) - 1
    if index < 0 or offset >= units[index].end:
        return None
    ends = _list_ends(text, units[index])
    end = ends[bisect_right(ends, offset)]
    while end == units[index].end and index + 1 < len(units) and _goes_on(text, units[index], units[index + 1]):
        index += 1
        end = _list_ends(text, units[index])[0]
    return end


@lru_cache(maxsize=UNITS_KEPT)
def _list_ends(text: str, unit: Unit) -> tuple[int, ...]:
    """Return where the sentences of a unit end, last where it ends itself."""
    ends = [end for _, end in _list_sentences(text, unit)] if unit.kind in _SENTENCES_IN else []
    return (*ends, unit.end)


def _goes_on(text: str, unit: Unit, following: Unit) -> bool:
    """Return whether the last sentence of a unit goes on in the following one; a letter of a list begins its own."""
    is_open = unit.kind in _SENTENCES_IN and not _CLOSED.search(text, max(unit.start, unit.end - 20), unit.end)
    is_small = following.kind is UnitKind.PROSE and text[following.start].islower()
    return is_open and is_small and not _LETTERED.match(text, following.start)


def _split_unit(text: str, unit: Unit) -> Iterator[tuple[int, int]]:
    """Yield the bounds of a unit's sentences, a very long one in pieces; of what is no prose there is one."""
    if unit.kind not in _SENTENCES_IN:
        yield unit.start, unit.end
        return
    for start, end in _list_sentences(text, unit):
        yield from _split_long(text, start, end)


def _list_sentences(text: str, unit: Unit) -> Iterator[tuple[int, int]]:
    start = unit.start
    for end in [*_find_ends(text, unit), unit.end]:
        while start < end and text[start] in " \t\r\n>":
            start += 1
        if _WORD.search(text, start, end):
            yield start, end
            start = end


def _find_ends(text: str, unit: Unit) -> Iterator[int]:
    """Yield where sentences end inside a unit."""
    piece = text[unit.start : unit.end]
    if "`" in piece:
        piece = _CODE_SPAN.sub(lambda match: "X" * len(match.group()), piece)
    start = position = depth = 0
    for match in _STOP.finditer(piece):
        depth += piece.count("(", position, match.end()) - piece.count(")", position, match.end())
        position = match.end()
        is_inside = depth > 0 and piece.find(")", position, position + _PARENTHESIS_MAX) >= 0
        if not is_inside and _is_sentence_end(piece, start, match.start(), match.end()):
            yield unit.start + position
            start, depth = position, 0


def _is_sentence_end(piece: str, start: int, stop: int, end: int) -> bool:
    """Whether the stop at `stop`, with closing marks up to `end`, ends the sentence that begins at `start`."""
    if piece[stop] in "。！？｡":
        return True
    following = piece[end : end + 40].lstrip("\r\n\t >*_\"'“‘([")[:1]
    if following.islower() or not following:
        return False
    return piece[stop] != "." or not _is_abbreviated(piece, start, stop, end, following)


def _is_abbreviated(piece: str, start: int, stop: int, end: int, following: str) -> bool:
    """Return whether the full stop at `stop` belongs to the word or number before it."""
    last = _LAST_WORD.search(piece, max(start, stop - 20), stop)
    word = last.group().lower() if last else ""
    if word in _BEFORE_NUMBER:
        return following.isdigit()
    if _DOTTED.match(word) and word not in _ABBREVIATIONS:
        opener = _WORD.search(piece, end)
        return opener is None or opener.group().lower() not in _OPENERS
    if word.isdigit() and last is not None:
        is_enumerator = not piece[start : last.start()].strip()
        return bool(is_enumerator or _ORDINAL.search(piece, start, stop) or _MONTH.match(piece, end))
    is_initial = len(word) == 1 and word.isalpha() and word != "i"
    return is_initial or word in _ABBREVIATIONS


def _split_long(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Divide a very long sentence at semicolons, into as few pieces as fit."""
    cut = start
    if end - start > _LENGTH_LONG:
        for semicolon in [*(match.end() for match in _CLAUSE_END.finditer(text, start, end)), end]:
            if cut > start and semicolon - start > _LENGTH_LONG:
                yield start, cut
                start = cut + len(text[cut:semicolon]) - len(text[cut:semicolon].lstrip())
            cut = semicolon
    yield start, end


def _assign_terms(spans: Sequence[Unit], occurrences: Sequence[tuple[int, str]]) -> dict[int, list[tuple[int, str]]]:
    """Return the terms that each span holds with their offsets, by the span's index."""
    starts = [span.start for span in spans]
    found: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for offset, term in occurrences:
        index = bisect_right(starts, offset) - 1
        if index >= 0 and offset < spans[index].end:
            found[index].append((offset, term))
    return found


def _weigh_terms(
    found: Mapping[int, list[tuple[int, str]]],
    count: int,
    query_terms: Sequence[str],
    idf: Mapping[str, float] | None,
) -> dict[str, float]:
    if idf is not None:
        return {term: max(0.01, idf.get(term, 1.0)) for term in query_terms}
    holders = Counter(term for terms in found.values() for term in {term for _, term in terms})
    return {term: log(1 + (count + 1) / (holders[term] + 0.5)) for term in query_terms}


def _score_sentence(
    text: str,
    sentence: Unit,
    terms: Sequence[tuple[int, str]],
    above: Mapping[str, float],
    weights: Mapping[str, float],
) -> float:
    """Return how much of the weight of all terms a sentence answers."""
    first: dict[str, int] = {}
    for offset, term in terms:
        first.setdefault(term, offset)
    covered = sum(weights[term] for term in first)
    gap = max(first.values()) - min(first.values())
    score = covered + sum(share * weights[term] for term, share in above.items() if term not in first)
    if len(first) > 1:
        score += _PROXIMITY_BONUS * covered / (1 + gap / _PROXIMITY_LENGTH)
    subject_end = _locate_subject_end(text, sentence)
    score += _DEFINITION_BONUS * sum(weights[term] for term, offset in first.items() if offset < subject_end)
    return score * _rate_form(text, sentence)


def _locate_subject_end(text: str, sentence: Unit) -> int:
    """Return where the subject of a definition ends, the sentence's start where it is none."""
    patterns = (_FIRST_CELL,) if sentence.kind is UnitKind.ROW else (_ENTRY, _DEFINITION)
    for pattern in patterns:
        match = pattern.match(text, sentence.start, sentence.end)
        if match is not None:
            return match.end("subject")
    return sentence.start


def _rate_form(text: str, sentence: Unit) -> float:
    """Return below 1 for what answers badly by its form: code, questions, lead-ins, bare links, too short, too long."""
    piece = text[sentence.start : sentence.end]
    factor = _FACTORS.get(sentence.kind, 1.0)
    words = _count_words(text, sentence)
    if sentence.kind in (UnitKind.PROSE, UnitKind.ITEM):
        if piece.endswith("?"):
            factor *= 0.6
        elif piece.endswith(":"):
            factor *= 0.85
        if words < _WORDS_MIN:
            factor *= 0.7 if words > 2 else 0.4
        if "](" in piece and len(_WORD.findall(_LINK_TEXT.sub("", piece))) < 2:
            factor *= 0.6
    if words > _WORDS_MAX:
        factor *= (_WORDS_MAX / words) ** 0.25
    return factor


def _count_words(text: str, sentence: Unit) -> int:
    return len(_WORD.findall(text, sentence.start, sentence.end))


def select_relevant_part(text: str, terms: Sequence[str]) -> str:
    """Return a long text's part that holds most of the terms."""
    if len(text) <= _SOURCE_LENGTH:
        return text
    starts = [term[:_TERM_START] for term in terms]
    parts = (text[start : start + _SOURCE_LENGTH] for start in range(0, len(text), _SOURCE_LENGTH))
    return max(parts, key=lambda part: sum(start in part.lower() for start in starts))


SNIPPET_LENGTH = 240
_EXCERPT_SOURCE_LENGTH = 60_000
"""Characters of a very long section that are looked through."""
_SENTENCES = 4
_TABLE = (UnitKind.TABLE_HEAD, UnitKind.ROW)
_TOTAL = re.compile(r"(?i)[|\s*_]*(?:grand |net |sub-?)?(?:total|sum\b|gesamt|summe)")
"""How a row begins that sums up others."""
_CELL_END = re.compile(r"(?<!\\)\|")
_LABEL_WORDS_MIN = 3
"""Words of what stands beside a sentence, below which it is a label, such as the name of a language above code."""


def select_excerpt(
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
    text = text[:_EXCERPT_SOURCE_LENGTH]
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
    if not best and (opening := get_first_sentence(text)) is not None:
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
    table = _get_table_units(units, index)
    if unit.kind is UnitKind.ROW and units[table.start].kind is UnitKind.TABLE_HEAD:
        found[table.start] = (units[table.start].start, units[table.start].end)
    yield found
    yield _take(units, [i for i in table if units[i].kind is UnitKind.ROW and _TOTAL.match(text, units[i].start)])
    if len(table) > 1:
        yield _take(units, table)
    for beside in (table.stop, table.start - 1):
        if 0 <= beside < len(units) and _is_telling(text, units[beside], unit):
            yield _take(units, _get_table_units(units, beside))


def _is_telling(text: str, beside: Unit, unit: Unit) -> bool:
    """Return whether what stands beside a unit helps to understand it: labels and half a piece of code do not."""
    if beside.kind is UnitKind.CODE:
        return unit.kind is UnitKind.CODE
    is_label = beside.kind is UnitKind.PROSE and len(_WORD.findall(text, beside.start, beside.end)) < _LABEL_WORDS_MIN
    return beside.kind is not UnitKind.HEADING and not is_label


def _get_table_units(units: Sequence[Unit], index: int) -> range:
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
    text = select_relevant_part(text, terms)
    start, end = next(_list_best(text, terms), (0, 0))
    units = find_units(text)
    index = max(0, bisect_right([unit.start for unit in units], start) - 1)
    said = text[start:end].replace("\n>", "\n")
    if units and units[index].kind is UnitKind.ROW:
        head = units[_get_table_units(units, index).start]
        if head.kind is UnitKind.TABLE_HEAD:
            pairs = zip_longest(_split_row(text[head.start : head.end]), _split_row(said), fillvalue="")
            said = "; ".join(f"{name}: {cell}" if name else cell for name, cell in pairs if cell)
    return shorten(sanitise_line(said), SNIPPET_LENGTH)


def _split_row(row: str) -> list[str]:
    return [cell.strip() for cell in _CELL_END.split(row.strip().removeprefix("|").removesuffix("|"))]
