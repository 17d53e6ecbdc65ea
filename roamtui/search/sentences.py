"""Find the sentences of a Markdown text that answer a query best, as exact spans.

`best_sentences` ranks sentences, `select_excerpt` adds the context that a reader needs, and `make_snippet` formats the
best sentence on one line.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, zip_longest
from math import log
from types import MappingProxyType

from roamtui.document.plain import sanitise_line, shorten
from roamtui.document.tokens import estimate_tokens
from roamtui.search.lexicon import make_pattern
from roamtui.search.terms import locate_terms
from roamtui.search.units import CACHED_TEXTS_MAX, Unit, UnitKind, find_units

_SENTENCE_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’)\]*_]*+(?=\s)|[。！？｡]++[」』”’）】]*+")
_CODE_SPAN = re.compile(r"(?<!`)(`++)[^`]++\1")
_LAST_WORD = re.compile(r"[\w.]+$")
_CLAUSE_END = re.compile(r";(?=\s)")
_LONG_SENTENCE_LENGTH = 400
"""A longer sentence, in characters, is divided at its semicolons. Contracts have such sentences."""
_PARENTHESIS_LENGTH_MAX = 300
"""A parenthesis that does not close within this many characters is ignored."""
_SHORT_FORMS = """
al capt cf co corp dept dr e.g ed eds excl gen i.e inc incl jr lt ltd mr mrs ms mt prof reg resp sr st treas vs viz
bzw d.h ggf inkl u.a vgl z.b mme p.ej p.ex sra
"""
_ABBREVIATIONS = frozenset(_SHORT_FORMS.split())
_BEFORE_NUMBER = frozenset(
    ("abs", "approx", "art", "ca", "ch", "eq", "fig", "figs", "no", "nos", "nr", "pp", "sec", "vol")
)
"""Words that are abbreviations before a number, but may end a sentence elsewhere."""
_COMMON_OPENERS = """
a all although an any as at because but by each for he however if in it its no on our she since such that the their
there these they this those to under we when while you das der die diese ein eine er es sie wenn wir
"""
_DOTTED = re.compile(r"(?![ap]\.m\b)(?:[^\W\d_]\.)+[^\W\d_]\Z")
"""Letters with full stops, as in U.S. or L.L.C. The next word decides whether the sentence ends."""
_OPENERS = frozenset(_COMMON_OPENERS.split())
_ORDINAL = re.compile(r"\b(?:am|ab|bis|das|dem|den|der|des|die|im|seit|vom|zum|zur)\s+\d{1,2}\Z", re.IGNORECASE)
"""A German ordinal number, without its full stop."""
_MONTH = re.compile(rf"\s*(?:{make_pattern('months')})\b", re.IGNORECASE)

_DEFINITION = re.compile(
    r"(?!(?:after|although|as|because|before|for|if|in|once|since|there|to|unless|when|where|while|with)\b)"
    r"[\s*_]*+(?P<subject>[^.;:!?\n]{1,60}?)[*_]*+\s"
    r"(?:is|are|means?|refers? to|lets?|allows?|enables?|provides?|defines?|describes?|specif(?:y|ies)|represents?"
    r"|determines?|controls?|denotes?|consists? of|contains?|holds?|returns?|sets?|shows?|shall mean)\s",
    re.IGNORECASE,
)
_GLOSSARY_ENTRY = re.compile(
    r"(?P<subject>\*\*[^*\n]{1,60}\*\*|__[^_\n]{1,60}__|`+[^`\n]{1,60}`+|[\w./-]{2,40})"
    r"(?:[ \t]*\([^)\n]{1,40}\))?(?:[ \t]*:|[ \t]+[–—-])\s"
)
_FIRST_CELL = re.compile(r"\|?(?P<subject>[^|]{1,80})\|")
_LINK_TEXT = re.compile(r"!?\[[^\[\]]*\]\([^()]*+(?:\([^()]*+\)[^()]*+)*+\)")
_WORD = re.compile(r"\w+")

_HEADING_SHARE = 0.3
"""Weight of a term that is in the heading above a sentence, but not in the sentence."""
_COLUMN_SHARE = 0.6
"""Weight of a term that is in the head of a table, but not in the row. A row means little without the head."""
_DEFINITION_BONUS = 0.25
_PROXIMITY_BONUS = 0.15
_PROXIMITY_LENGTH = 60
"""Distance between the first and last term that halves the bonus, in characters."""
_EARLY_BONUS = 0.15
_SENTENCE_WORDS_MIN, _SENTENCE_WORDS_MAX = 5, 80
_SENTENCE_KINDS = (UnitKind.PROSE, UnitKind.ITEM)
_CLOSED = re.compile(r"[.!?:;…。！？｡][\W_]*\Z")
_LETTERED_ITEM = re.compile(r"[a-z]{1,4}[.)]\s")
_HEADING_KINDS = (UnitKind.HEADING, UnitKind.TABLE_HEAD)
_KIND_FACTORS = {UnitKind.CODE: 0.6, UnitKind.ROW: 0.95}
_SOURCE_LENGTH = 20_000
"""Maximum length of a section whose sentences are ranked, in characters. Of a longer one, only a part is used."""
_TERM_START_LENGTH = 5
"""Number of first letters of a term that must match when this part is chosen. The rest may be inflected."""


@dataclass(frozen=True, slots=True)
class RankedSentence:
    """The span of a sentence and its score."""

    start: int
    end: int
    score: float
    """Above 0, and about 1 if the sentence contains all terms."""


def split_sentences(text: str) -> tuple[Unit, ...]:
    """Return the sentences of a Markdown text in order, including headings and table heads."""
    return tuple(Unit(start, end, unit.kind) for unit in find_units(text) for start, end in _split_unit(text, unit))


def rank_sentences(
    text: str,
    query_terms: Sequence[str],
    *,
    limit: int,
    idf: Mapping[str, float] | None = None,
    forms: Mapping[str, str] = MappingProxyType({}),
) -> tuple[RankedSentence, ...]:
    """Return up to `limit` sentences of a text that match a query best, best first.

    Sentences that define a term, or have the terms close together, rank higher. Headings and table heads are never
    returned, but their terms count in part for the sentences below them.

    `query_terms` comes from `roamtui.search.terms.query_terms`. `idf` has the weight of each term, which is otherwise
    computed from the text. `forms` maps inflected forms to the term that each counts as.
    """
    units = find_units(text)
    found = _assign_terms(units, locate_terms(text, query_terms, forms))
    if idf is not None:
        weights = {term: max(0.01, idf.get(term, 1.0)) for term in query_terms}
    else:
        holders = Counter(term for occurrences in found.values() for term in {term for _, term in occurrences})
        weights = {term: log(1 + (len(units) + 1) / (holders[term] + 0.5)) for term in query_terms}
    total = sum(weights.values())
    ranked: dict[str, RankedSentence] = {}
    above: dict[str, float] = {}
    columns: dict[str, float] = {}
    for index, unit in enumerate(units):
        if unit.kind is UnitKind.HEADING:
            above = {term: _HEADING_SHARE for _, term in found.get(index, ())}
        if unit.kind is not UnitKind.ROW:
            columns = {term: _COLUMN_SHARE for _, term in found.get(index, ()) if unit.kind is UnitKind.TABLE_HEAD}
        if unit.kind in _HEADING_KINDS or index not in found:
            continue
        sentences = [Unit(start, end, unit.kind) for start, end in _split_unit(text, unit)]
        for number, terms in _assign_terms(sentences, found[index]).items():
            sentence = sentences[number]
            score = _score_sentence(text, sentence, terms, above | columns, weights) / total
            score += _EARLY_BONUS / (1 + index + number)
            ranked.setdefault(text[sentence.start : sentence.end], RankedSentence(sentence.start, sentence.end, score))
    return tuple(sorted(ranked.values(), key=lambda sentence: (-sentence.score, sentence.start))[:limit])


def get_first_sentence(text: str) -> Unit | None:
    """Return the first meaningful sentence of a text, or None if the text has only headings.

    A meaningful sentence is not code, and has at least five words. If there is none, return the first sentence.
    """
    bodies = [sentence for sentence in split_sentences(text) if sentence.kind not in _HEADING_KINDS]
    for sentence in bodies:
        if sentence.kind is not UnitKind.CODE and _count_words(text, sentence) >= _SENTENCE_WORDS_MIN:
            return sentence
    return bodies[0] if bodies else None


def find_sentence_end(text: str, offset: int) -> int | None:
    """Return the end of the sentence, row, heading or line of code at an offset, or None if there is none.

    A long sentence is not divided. A sentence may continue in later paragraphs, for example after a page break.
    """
    units = find_units(text)
    index = bisect_right(units, offset, key=lambda unit: unit.start) - 1
    if index < 0 or offset >= units[index].end:
        return None
    ends = _list_ends(text, units[index])
    end = ends[bisect_right(ends, offset)]
    for unit, following in pairwise(units[index:]):
        is_open = unit.kind in _SENTENCE_KINDS and not _CLOSED.search(text, max(unit.start, unit.end - 20), unit.end)
        is_small = following.kind is UnitKind.PROSE and text[following.start].islower()
        if end != unit.end or not is_open or not is_small or _LETTERED_ITEM.match(text, following.start):
            break
        end = _list_ends(text, following)[0]
    return end


@lru_cache(maxsize=CACHED_TEXTS_MAX)
def _list_ends(text: str, unit: Unit) -> tuple[int, ...]:
    """Return the ends of the sentences of a unit. The last one is the end of the unit."""
    ends = [end for _, end in _list_sentences(text, unit)] if unit.kind in _SENTENCE_KINDS else []
    return (*ends, unit.end)


def _split_unit(text: str, unit: Unit) -> Iterator[tuple[int, int]]:
    """Yield the spans of the sentences of a unit. Long ones are divided. A unit that is not prose is one sentence."""
    if unit.kind not in _SENTENCE_KINDS:
        yield unit.start, unit.end
        return
    for sentence_start, end in _list_sentences(text, unit):
        start = cut = sentence_start
        if end - start > _LONG_SENTENCE_LENGTH:  # divide it into as few pieces as possible
            for semicolon in [*(match.end() for match in _CLAUSE_END.finditer(text, start, end)), end]:
                if cut > start and semicolon - start > _LONG_SENTENCE_LENGTH:
                    yield start, cut
                    start = cut + len(text[cut:semicolon]) - len(text[cut:semicolon].lstrip())
                cut = semicolon
        yield start, end


def _list_sentences(text: str, unit: Unit) -> Iterator[tuple[int, int]]:
    start = unit.start
    for end in [*_find_ends(text, unit), unit.end]:
        while start < end and text[start] in " \t\r\n>":
            start += 1
        if _WORD.search(text, start, end):
            yield start, end
            start = end


def _find_ends(text: str, unit: Unit) -> Iterator[int]:
    """Yield the ends of all sentences in a unit, except for the last one."""
    piece = text[unit.start : unit.end]
    if "`" in piece:
        piece = _CODE_SPAN.sub(lambda match: "X" * len(match.group()), piece)
    start = position = depth = 0
    for match in _SENTENCE_END.finditer(piece):
        stop, end = match.span()
        depth += piece.count("(", position, end) - piece.count(")", position, end)
        position = end
        if depth > 0 and piece.find(")", end, end + _PARENTHESIS_LENGTH_MAX) >= 0:
            continue
        if piece[stop] not in "。！？｡":
            following = piece[end : end + 40].lstrip("\r\n\t >*_\"'“‘([")[:1]
            if following.islower() or not following:
                continue
            if piece[stop] == "." and _is_abbreviation(piece, start, stop, end, following):
                continue
        yield unit.start + end
        start, depth = end, 0


def _is_abbreviation(piece: str, start: int, stop: int, end: int, following: str) -> bool:
    """Check whether the full stop at `stop` belongs to the word or number before it, so that no sentence ends.

    The sentence begins at `start`. `end` is the offset after the full stop and its closing marks. `following` is the
    next character that is not a blank or a mark.
    """
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


def _assign_terms(spans: Sequence[Unit], occurrences: Sequence[tuple[int, str]]) -> dict[int, list[tuple[int, str]]]:
    """Return the occurrences of terms in each span, by the index of the span."""
    starts = [span.start for span in spans]
    found: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for offset, term in occurrences:
        index = bisect_right(starts, offset) - 1
        if index >= 0 and offset < spans[index].end:
            found[index].append((offset, term))
    return found


def _score_sentence(
    text: str,
    sentence: Unit,
    terms: Sequence[tuple[int, str]],
    above: Mapping[str, float],
    weights: Mapping[str, float],
) -> float:
    """Return the weight of the terms in a sentence, with bonuses, and with shares of terms in the heads `above` it."""
    first: dict[str, int] = {}
    for offset, term in terms:
        first.setdefault(term, offset)
    covered = sum(weights[term] for term in first)
    gap = max(first.values()) - min(first.values())
    score = covered + sum(share * weights[term] for term, share in above.items() if term not in first)
    if len(first) > 1:
        score += _PROXIMITY_BONUS * covered / (1 + gap / _PROXIMITY_LENGTH)
    patterns = (_FIRST_CELL,) if sentence.kind is UnitKind.ROW else (_GLOSSARY_ENTRY, _DEFINITION)
    definitions = filter(None, (pattern.match(text, sentence.start, sentence.end) for pattern in patterns))
    subject_end = next((match.end("subject") for match in definitions), sentence.start)
    score += _DEFINITION_BONUS * sum(weights[term] for term, offset in first.items() if offset < subject_end)
    return score * _compute_form_factor(text, sentence)


def _compute_form_factor(text: str, sentence: Unit) -> float:
    """Return a factor for the score: below 1 for code, questions, bare links, and very short or long sentences."""
    piece = text[sentence.start : sentence.end]
    factor = _KIND_FACTORS.get(sentence.kind, 1.0)
    words = _count_words(text, sentence)
    if sentence.kind in _SENTENCE_KINDS:
        if piece.endswith("?"):
            factor *= 0.6
        elif piece.endswith(":"):
            factor *= 0.85
        if words < _SENTENCE_WORDS_MIN:
            factor *= 0.7 if words > 2 else 0.4
        if "](" in piece and len(_WORD.findall(_LINK_TEXT.sub("", piece))) < 2:
            factor *= 0.6
    if words > _SENTENCE_WORDS_MAX:
        factor *= (_SENTENCE_WORDS_MAX / words) ** 0.25
    return factor


def _count_words(text: str, sentence: Unit) -> int:
    return len(_WORD.findall(text, sentence.start, sentence.end))


def select_relevant_part(text: str, terms: Sequence[str]) -> str:
    """Return the part of a long text that contains the most terms, or a short text unchanged."""
    if len(text) <= _SOURCE_LENGTH:
        return text
    starts = [term[:_TERM_START_LENGTH] for term in terms]
    parts = (text[start : start + _SOURCE_LENGTH] for start in range(0, len(text), _SOURCE_LENGTH))
    return max(parts, key=lambda part: sum(start in part.lower() for start in starts))


SNIPPET_LENGTH = 240
_EXCERPT_SOURCE_LENGTH = 60_000
"""Number of characters of a very long section that are searched."""
_SENTENCES_MAX = 4
_TABLE_KINDS = (UnitKind.TABLE_HEAD, UnitKind.ROW)
_TOTAL_ROW = re.compile(r"(?i)[|\s*_]*(?:grand |net |sub-?)?(?:total|sum\b|gesamt|summe)")
"""The start of a row with totals."""
_CELL_END = re.compile(r"(?<!\\)\|")
_LABEL_WORDS_MIN = 3
"""Minimum number of words of a paragraph that is not a label, such as the name of a language above code."""


def select_excerpt(
    text: str, terms: Sequence[str], *, tokens_max: int, whole_max: int = 0
) -> tuple[tuple[int, int], ...]:
    """Return the spans of a section's own text that answer best, in order. A bare heading has none.

    As long as there is room, the best sentences come with their context: the units next to them, and the head and
    totals of a table. All spans together have at most `tokens_max` tokens. A text with at most `whole_max` tokens is
    returned whole. `terms` comes from `roamtui.search.terms.query_terms`.
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
        for number, group in enumerate(_iter_context(text, units, index, (sentence_start, sentence_end), left)):
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
    spans: list[tuple[int, int]] = []
    for _, (start, end) in sorted(chosen.items()):
        if spans and not any(map(str.isalnum, text[spans[-1][1] : start])):  # only marks and white space between them
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return tuple(spans)


def _list_best(text: str, terms: Sequence[str]) -> Iterator[tuple[int, int]]:
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
    found = {index: sentence if is_long else (unit.start, unit.end)}
    table = _get_table_units(units, index)
    if unit.kind is UnitKind.ROW and units[table.start].kind is UnitKind.TABLE_HEAD:
        found[table.start] = (units[table.start].start, units[table.start].end)
    yield found
    context = [[i for i in table if units[i].kind is UnitKind.ROW and _TOTAL_ROW.match(text, units[i].start)]]
    if len(table) > 1:
        context.append([*table])
    for other in (table.stop, table.start - 1):
        if not 0 <= other < len(units):
            continue
        neighbour = units[other]
        if neighbour.kind is UnitKind.CODE:
            is_helpful = unit.kind is UnitKind.CODE  # half a piece of code explains nothing
        elif neighbour.kind is UnitKind.PROSE:
            is_helpful = _count_words(text, neighbour) >= _LABEL_WORDS_MIN
        else:
            is_helpful = neighbour.kind is not UnitKind.HEADING
        if is_helpful:
            context.append([*_get_table_units(units, other)])
    for indexes in context:
        yield {i: (units[i].start, units[i].end) for i in indexes}


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
    start, end = next(_list_best(text, terms), (0, 0))
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
