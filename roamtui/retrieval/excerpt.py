"""Cut the text of hits to excerpts that together stay within a budget.

An excerpt has the passages of a section that answer best. Each hit first gets its share of the budget,
with a sentence at least. A section of which the share holds half is whole, because a model would open it
for the rest. What is left goes to the first hits, until they are whole.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from roamtui.document.document import NodeKind
from roamtui.document.library import Library
from roamtui.markdown.blocks import Code
from roamtui.markdown.passages import find_block, find_passage, split_passages
from roamtui.markdown.units import UnitKind, read_units
from roamtui.outline.delivered import SpanSet
from roamtui.outline.missing_text import count_span_tokens, has_all_text, has_text
from roamtui.retrieval import policy
from roamtui.retrieval.question_search import ModelView
from roamtui.search.base import Hit
from roamtui.search.sentences import READ_LENGTH_MAX, RankedSentence, rank_sentences
from roamtui.search.terms import TermMatcher
from roamtui.text import Bounds, Span, estimate_tokens, merge_bounds, subtract_bounds

_SENTENCES_MAX = 4
_LAST_WORD = re.compile(r"(?<=\S)\s+\S*\Z")
_FENCE = re.compile(r"[> \t]*(?:```|~~~)")


def choose_excerpts(
    view: ModelView, hits: Mapping[str, Hit], matcher: TermMatcher, tokens_max: int = policy.HITS_TOKENS_MAX
) -> dict[str, tuple[Span, ...]]:
    """Choose the excerpt of each hit. It is empty if the model has all text of the section.

    The excerpts have at most `tokens_max` tokens in all. Sections that are asked for get theirs first.
    A hit without room is left out, and so is one whose excerpt is part of another.
    """
    cutter = _Cutter(view, hits, matcher, tokens_max)
    for section_id, hit in hits.items():
        if hit.is_asked_for:
            cutter.add_first(section_id)
    others = [section_id for section_id, hit in hits.items() if not hit.is_asked_for]
    has_statement = any(hit.is_statement for hit in hits.values())
    cutter.cut_sections(others, policy.BESIDE_STATEMENTS_TOKENS_MAX if has_statement else tokens_max)
    cutter.widen(others)
    return cutter.list_chosen()


class _Cutter:
    """The excerpts chosen so far, and the tokens that are left for more."""

    def __init__(
        self, view: ModelView, hits: Mapping[str, Hit], matcher: TermMatcher, tokens_max: int
    ) -> None:
        self._view = view
        self._hits = hits
        self._matcher = matcher
        self._chosen: dict[str, tuple[Span, ...]] = {}
        self._left = min(view.room_tokens, tokens_max)
        self._tokens_min = policy.SENTENCE_EXCERPT_TOKENS // 2

    def add_first(self, section_id: str) -> None:
        """Add a section that is asked for, whole if possible."""
        if self._left < self._tokens_min:
            return
        library = self._view.library
        tokens_max = min(policy.ASKED_FOR_EXCERPT_TOKENS, self._left)
        node = library.node(section_id)
        is_bare_chapter = not has_text(library, node.own_content_span)
        spans = self._excerpt(section_id, tokens_max, self._left, with_below=is_bare_chapter)
        if self._choose(section_id, spans):
            self._left -= count_span_tokens(self._view.library, spans)

    def cut_sections(self, section_ids: Sequence[str], tokens_max: int) -> None:
        """Add hits, best first. They share at most `tokens_max` tokens in proportion to their scores.

        A hit whose score, compared with those before it, is too low for a useful excerpt ends the list.
        """
        self._left = min(self._left, tokens_max)
        kept = self._list_near_best(section_ids)
        scores = [self._hits[section_id].score for section_id in kept]
        for index, section_id in enumerate(kept):
            left = scores[index:]
            share = int((self._left - len(left) * policy.HEAD_TOKENS) * left[0] / sum(left))
            room = self._left - policy.HEAD_TOKENS
            own_max = min(max(share, policy.SENTENCE_EXCERPT_TOKENS), room)
            if own_max < self._tokens_min:
                return
            spans = self._excerpt(section_id, own_max, min(2 * own_max, room))
            if self._choose(section_id, spans):
                self._left -= count_span_tokens(self._view.library, spans) + policy.HEAD_TOKENS

    def _list_near_best(self, section_ids: Sequence[str]) -> list[str]:
        """List the hits, best first, up to the first one too far behind; see `EXCERPT_TOKENS_MIN`."""
        kept: list[str] = []
        weight = 0.0
        for section_id in section_ids:
            cube = self._hits[section_id].score ** 3
            weight += cube
            if kept and self._left * cube < policy.EXCERPT_TOKENS_MIN * weight:
                break
            kept.append(section_id)
        return kept

    def widen(self, section_ids: Sequence[str]) -> None:
        """Give the remaining tokens to hits that already have an excerpt, best first."""
        for section_id in section_ids:
            if self._left < self._tokens_min:
                return
            if not self._chosen.get(section_id):
                continue
            spans = self._chosen.pop(section_id)
            tokens = count_span_tokens(self._view.library, spans)
            tokens_max = tokens + self._left
            wider = self._excerpt(section_id, tokens_max, tokens_max)
            wider_tokens = count_span_tokens(self._view.library, wider)
            if tokens < wider_tokens <= tokens + self._left and self._is_new(wider):
                self._left -= wider_tokens - tokens
                spans = wider
            self._chosen[section_id] = spans

    def list_chosen(self) -> dict[str, tuple[Span, ...]]:
        """Return the excerpts in the order of the hits, without headings that have no text."""
        library = self._view.library
        chosen = {
            section_id: self._chosen[section_id] for section_id in self._hits if section_id in self._chosen
        }
        if not any(chosen.values()):
            return chosen
        # a heading without text answers nothing, but a page may still be loaded
        return {
            section_id: spans
            for section_id, spans in chosen.items()
            if spans
            or library.node(section_id).kind is not NodeKind.SECTION
            or is_delivered_text(library, section_id, self._view.delivered)
        }

    def _choose(self, section_id: str, spans: tuple[Span, ...]) -> bool:
        if spans and not self._is_new(spans):
            return False
        self._chosen[section_id] = spans
        return True

    def _excerpt(
        self, section_id: str, tokens_max: int, whole_max: int, *, with_below: bool = False
    ) -> tuple[Span, ...]:
        """Cut the excerpt of a section from text that the model lacks.

        It is that of all below the section too if this is small, or `with_below`.
        """
        library = self._view.library
        node = library.node(section_id)
        reaches_below = with_below or library.count_tokens(section_id)[1] <= whole_max
        is_whole = reaches_below and not self._overlaps(section_id)
        excerpted = node.content_span if is_whole else node.own_content_span
        gaps = self._view.delivered.subtract_from(excerpted)
        if gaps == [excerpted]:
            return self._cut(excerpted, tokens_max, whole_max)
        return self._cut(max(gaps, key=self._score), tokens_max, whole_max) if gaps else ()

    def _score(self, span: Span) -> float:
        best = rank_sentences(self._view.library.clean_text(span)[:READ_LENGTH_MAX], self._matcher, limit=1)
        return best[0].score if best else 0.0

    def _cut(self, span: Span, tokens_max: int, whole_max: int) -> tuple[Span, ...]:
        library = self._view.library
        (header,) = library.list_headers([span])  # without it, the rows of a table are prose
        text = header + library.clean_text(span)
        bounds = cut_excerpt(text, self._matcher, tokens_max=tokens_max, whole_max=whole_max)
        parts = ((max(0, start - len(header)), end - len(header)) for start, end in bounds)
        return tuple(span.get_part(start, end) for start, end in parts if start < end)

    def _overlaps(self, section_id: str) -> bool:
        whole = self._view.library.node(section_id).content_span
        return any(whole.overlaps(span) for spans in self._chosen.values() for span in spans)

    def _is_new(self, spans: Sequence[Span]) -> bool:
        known = SpanSet.from_spans(chain.from_iterable(self._chosen.values()))
        return any(map(known.subtract_from, spans))


def is_complete(library: Library, section_id: str, spans: Sequence[Span]) -> bool:
    """Return whether an excerpt has all the text of a section."""
    return has_all_text(library, library.node(section_id).content_span, SpanSet.from_spans(spans))


def is_delivered_text(library: Library, section_id: str, delivered: SpanSet) -> bool:
    """Return whether the model has all of a section's own text, or of the text below it if it has none."""
    node = library.node(section_id)
    own = node.own_content_span
    return has_all_text(library, own if has_text(library, own) else node.content_span, delivered)


def cut_excerpt(
    text: str, matcher: TermMatcher, *, tokens_max: int, whole_max: int = 0
) -> tuple[Bounds, ...]:
    """Return the bounds of the parts of a text that answer best, in order. A bare heading has none.

    These are the passages of the best sentences and, if there is room, the passages after and before them. A
    long passage is cut: a part of a table comes with its head, a part of code with its fences, and a sentence
    that introduces a table or code with the best row or line of it. All parts together have at most
    `tokens_max` tokens. A text with at most `tokens_max` or `whole_max` tokens is returned whole.
    """
    if len(text) > READ_LENGTH_MAX:
        text = _LAST_WORD.sub("", text[:READ_LENGTH_MAX])  # the last word may be cut
    passages = split_passages(text)
    if not passages:
        return ()
    whole = passages[0][0], passages[-1][1]
    if estimate_tokens(text[slice(*whole)]) <= max(tokens_max, whole_max):
        return (whole,)
    chosen: list[Bounds] = []

    def add_spans(*spans: Bounds) -> bool:
        """Add spans if there is room for all of them."""
        added = [bounds for span in spans for bounds in subtract_bounds(*span, chosen)]
        has_room = _count_tokens(text, (*chosen, *added)) <= tokens_max
        chosen.extend(added if has_room else ())
        return has_room

    best = rank_sentences(text, matcher)
    for sentence in best[:_SENTENCES_MAX]:
        start, end = sentence.start, sentence.end
        room = tokens_max - _count_tokens(text, chosen)
        if room < tokens_max // 4:  # too little for a further sentence with its context
            break
        index = bisect_right(passages, start, key=lambda passage: passage[0]) - 1
        passage = passages[index]
        if add_spans(passage):
            for span in (*passages[index + 1 : index + 2], *passages[max(0, index - 1) : index]):
                add_spans(span)
            continue
        inside = (each for each in (sentence, *best) if passage[0] <= each.start < passage[1])
        frame = _find_first_row(text, inside)
        part = find_passage(text, start, max(1, room - _count_tokens(text, frame)))
        if part is None or not add_spans(*frame, part):
            add_spans((start, end))
    if not chosen:
        start, end = (best[0].start, best[0].end) if best else whole
        length_max = max(1, (end - start) * tokens_max // estimate_tokens(text[start:end]))
        cut = text.rfind(" ", start, start + length_max)
        return ((start, cut if cut > start else start + length_max),)
    return tuple(merge_bounds(chosen))


def _count_tokens(text: str, spans: Iterable[Bounds]) -> int:
    return sum(estimate_tokens(text[start:end]) for start, end in spans)


def _find_first_row(text: str, sentences: Iterable[RankedSentence]) -> list[Bounds]:
    """Return the bounds of the lines of the first row, or line of code, of some sentences and of its frame.

    Return an empty list if no sentence is in a table or in code.
    """
    for sentence in sentences:
        if frame := _find_frame(text, sentence.start):
            return [*frame, _get_line(text, sentence.start, sentence.end)]
    return []


def _find_frame(text: str, offset: int) -> list[Bounds]:
    """Return the bounds of the lines that a part of a table or code needs: heads or fences."""
    block = find_block(text, offset)
    if isinstance(block, Code):
        last = block.start + len(text[block.start : block.end].rstrip()) - 1
        lines = [_get_line(text, end, end) for end in (block.start, last)]
        return [(start, end) for start, end in lines if _FENCE.match(text, start, end)]
    units = read_units(text).units
    unit = units[bisect_right(units, offset, key=lambda unit: unit.start) - 1]
    if unit.kind is not UnitKind.ROW or unit.header is None:
        return []
    heads = (other for other in units if other.header is unit.header and other.kind is UnitKind.TABLE_HEADER)
    return [_get_line(text, head.start, head.end) for head in heads]


def _get_line(text: str, start: int, end: int) -> Bounds:
    line_end = text.find("\n", end)
    return text.rfind("\n", 0, start) + 1, line_end if line_end >= 0 else len(text)
