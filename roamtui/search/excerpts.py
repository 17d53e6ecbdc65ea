"""Choose the excerpt of a section that answers a query best, and format its best sentence on one line."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from roamtui.document.plain import sanitise_line, shorten
from roamtui.document.tokens import estimate_tokens
from roamtui.markdown.fences import FENCE
from roamtui.outline.spans import Bounds, merge_bounds, subtract_bounds
from roamtui.search.lexicon import Language
from roamtui.search.passages import find_code, find_passage, split_passages
from roamtui.search.sentences import get_first_sentence, rank_sentences, select_relevant_part
from roamtui.search.terms import list_inflected_forms
from roamtui.search.units import UnitKind, find_units

SNIPPET_LENGTH = 240
_SECTION_LENGTH_MAX = 60_000
"""Maximum length of a section in characters. Of a longer one, only the start is searched."""
_SENTENCES_MAX = 4
_TOTAL_ROW = re.compile(r"(?i)[|\s*_]*(?:grand |net |sub-?)?(?:total|sum\b|gesamt|summe)")
"""The start of a row with totals."""


def select_excerpt(
    text: str, terms: Sequence[str], *, tokens_max: int, whole_max: int = 0, language: Language = Language.ENGLISH
) -> tuple[Bounds, ...]:
    """Return the spans of a section's own text that answer best, in order. A bare heading has none.

    These are the passages of the best sentences, and, as long as there is room, the passages after and before them. A
    passage that is too long is cut; a part of a table comes with its head and its total, a part of code with its
    fences. All spans together have at most `tokens_max` tokens. A text with at most `tokens_max` or `whole_max` tokens
    is returned whole. `terms` comes from `roamtui.search.terms.extract_query_terms`.
    """
    text = text[:_SECTION_LENGTH_MAX]
    passages = split_passages(text)
    if not passages:
        return ()
    whole = passages[0].start, passages[-1].end
    if estimate_tokens(text[slice(*whole)]) <= max(tokens_max, whole_max):
        return (whole,)
    chosen: list[Bounds] = []

    def add(spans: Sequence[Bounds]) -> bool:
        """Add spans if there is room for all of them."""
        added = [bounds for span in spans for bounds in subtract_bounds(*span, chosen)]
        has_room = _count_tokens(text, (*chosen, *added)) <= tokens_max
        chosen.extend(added if has_room else ())
        return has_room

    for start, end in _iter_best_spans(text, terms, language):
        room = tokens_max - _count_tokens(text, chosen)
        if room < tokens_max // 4:  # too little for a further sentence with its context
            break
        index = bisect_right(passages, start, key=lambda passage: passage.start) - 1
        nearby = [passages[index], *passages[index + 1 : index + 2], *passages[max(0, index - 1) : index]]
        spans = [(passage.start, passage.end) for passage in nearby]
        if add(spans[:1]):
            for span in spans[1:]:
                add([span])
        else:
            frame = _find_frame(text, start)
            part = find_passage(text, start, max(1, room - _count_tokens(text, frame)))
            if part is None or not add([*frame, (part.start, part.end)]):
                add([(start, end)])
    if not chosen:
        start, end = next(_iter_best_spans(text, terms, language), whole)
        length_max = max(1, (end - start) * tokens_max // estimate_tokens(text[start:end]))
        cut = text.rfind(" ", start, start + length_max)
        return ((start, cut if cut > start else start + length_max),)
    return tuple(merge_bounds(chosen))


def _count_tokens(text: str, spans: Sequence[Bounds]) -> int:
    return sum(estimate_tokens(text[start:end]) for start, end in spans)


def _find_frame(text: str, offset: int) -> list[Bounds]:
    """Return the lines that a part of a table or of code needs: the head and the next total, or the fences."""
    units = find_units(text)
    index = bisect_right(units, offset, key=lambda unit: unit.start) - 1
    unit = units[index]
    members = [other for other in units if other.block == unit.block]
    if unit.kind is UnitKind.ROW:
        below = (other for other in members if other.start > unit.start)
        totals = [other for other in below if _TOTAL_ROW.match(text, other.start)]
        heads = [other for other in members if other.kind is UnitKind.TABLE_HEAD]
        return [_get_line(text, other.start, other.end) for other in (*heads, *totals[:1])]
    if (code := find_code(text, offset)) is not None:
        lines = [_get_line(text, end, end) for end in (code[0], code[1] - 1)]
        return [(start, end) for start, end in lines if FENCE.match(text, start)]
    return []


def _get_line(text: str, start: int, end: int) -> Bounds:
    line_end = text.find("\n", end)
    return text.rfind("\n", 0, start) + 1, line_end if line_end >= 0 else len(text)


def _iter_best_spans(text: str, terms: Sequence[str], language: Language) -> Iterator[Bounds]:
    """Yield the spans of the best sentences, or of the first sentence if none matches."""
    forms = list_inflected_forms(text, terms, language, with_synonyms=True)
    best = rank_sentences(text, terms, limit=_SENTENCES_MAX, forms=forms)
    for sentence in best:
        yield sentence.start, sentence.end
    if not best and (opening := get_first_sentence(text)) is not None:
        yield opening.start, opening.end


def make_snippet(text: str, terms: Sequence[str], language: Language = Language.ENGLISH) -> str:
    """Return the best sentence of a section's own text, or the first one, on one line that is safe to display."""
    text = select_relevant_part(text, terms)
    start, end = next(_iter_best_spans(text, terms, language), (0, 0))
    return shorten(sanitise_line(text[start:end].replace("\n>", "\n")), SNIPPET_LENGTH)
