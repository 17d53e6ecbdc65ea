"""Divide a Markdown text into passages: whole paragraphs, each with the table, list or code that belongs to it.

`find_question_words` finds the words of a question in passages, to rank the passages and to highlight the words.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from roamtui.document.headings import parse_blocks
from roamtui.document.text import compute_line_starts
from roamtui.document.tokens import estimate_tokens
from roamtui.search.lexicon import detect_language, get_synonyms
from roamtui.search.sentences import split_sentences
from roamtui.search.terms import extract_query_terms, list_inflected_forms, locate_terms, measure_term, tokenise
from roamtui.search.titles import list_similar_words
from roamtui.search.units import CACHED_TEXTS_MAX, Unit, blank_front_matter

_ATTACHED = frozenset({"bullet_list_open", "ordered_list_open", "table_open", "fence", "code_block"})
"""Blocks that belong to the paragraph above them."""
_CODE = ("fence", "code_block")
_BOUNDARIES = frozenset({"heading_open", "hr"})
PASSAGE_TOKENS_MAX = 600
"""A longer passage is cut to whole sentences, rows and lines around its best sentence."""
_LABEL_WORDS_MAX = 6
"""A paragraph with at most this many words is a label and belongs to what follows it."""
_MISTYPED_LENGTH_MIN = 5
"""Minimum letters for typo correction; shorter words are too similar to each other."""


class Passage(Struct, frozen=True):
    """Characters `start` (included) to `end` (excluded) of a text."""

    start: int
    end: int


class _Block(Struct, frozen=True):
    start: int
    end: int
    kind: str


@lru_cache(maxsize=CACHED_TEXTS_MAX)
def split_passages(text: str) -> tuple[Passage, ...]:
    """Return the passages of a Markdown text in order. Headings and rules belong to none."""
    passages: list[Passage] = []
    previous: _Block | None = None
    for block in _list_blocks(text):
        if block.kind in _BOUNDARIES:
            previous = None
            continue
        if previous is not None and _belongs_together(text, previous, block):
            passages[-1] = Passage(passages[-1].start, block.end)
        else:
            passages.append(Passage(block.start, block.end))
        previous = block
    return tuple(passages)


def find_passage(text: str, offset: int, tokens_max: int = PASSAGE_TOKENS_MAX) -> Passage | None:
    """Return the passage at an offset, or None between passages. A long one is cut to the part around the offset."""
    passages = split_passages(text)
    index = bisect_right(passages, offset, key=lambda passage: passage.start) - 1
    if index < 0 or offset >= passages[index].end:
        return None
    passage = passages[index]
    if estimate_tokens(text[passage.start : passage.end]) <= tokens_max:
        return passage
    return _cut_passage(text, passage, offset, tokens_max)


def find_code(text: str, offset: int) -> tuple[int, int] | None:
    """Return the span of the code at an offset, with its fences, or None if there is none."""
    blocks = _list_blocks(text)
    index = bisect_right(blocks, offset, key=lambda block: block.start) - 1
    block = blocks[index]
    return (block.start, block.end) if block.kind in _CODE and block.start <= offset < block.end else None


def _belongs_together(text: str, above: _Block, below: _Block) -> bool:
    if above.kind != "paragraph_open":
        return False
    if below.kind in _ATTACHED:
        return True
    words = text[above.start : above.end]
    return words.rstrip("*_ ").endswith(":") or len(words.split()) <= _LABEL_WORDS_MAX


def _cut_passage(text: str, passage: Passage, offset: int, tokens_max: int) -> Passage:
    """Return the part of a passage around an offset: as many whole units as fit, with the marks before the first.

    Code is one unit, unless it is too long itself.
    """
    units: list[Unit] = []
    for sentence in split_sentences(text):
        if passage.start <= sentence.start < passage.end:
            start, end = find_code(text, sentence.start) or (sentence.start, sentence.end)
            if start <= offset < end and estimate_tokens(text[start:end]) > tokens_max:
                start, end = sentence.start, sentence.end
            if not units or units[-1].start < start:
                units.append(replace(sentence, start=start, end=end))
    index = bisect_right(units, offset, key=lambda unit: unit.start) - 1
    if index < 0:
        return passage
    first = last = index

    def get_start(number: int) -> int:
        line_start = max(passage.start, text.rfind("\n", 0, units[number].start) + 1)
        is_first_in_line = number == 0 or units[number - 1].end <= line_start
        return line_start if is_first_in_line else units[number].start  # the marks of a row or an item belong to it

    def measure(first: int, last: int) -> int:
        return estimate_tokens(text[get_start(first) : units[last].end])

    while True:
        grown = [
            (low, high)
            for low, high in ((first - 1, last), (first, last + 1))
            if low >= 0 and high < len(units) and measure(low, high) <= tokens_max
        ]
        if not grown:
            break
        first, last = grown[0] if len(grown) == 1 or (index - first) <= (last - index) else grown[1]
    return Passage(get_start(first), units[last].end)


@lru_cache(maxsize=CACHED_TEXTS_MAX)
def _list_blocks(text: str) -> tuple[_Block, ...]:
    """Return the outermost blocks of a text."""
    blocks = []
    starts = [*compute_line_starts(text), len(text)]
    for token in parse_blocks(blank_front_matter(text), {}):
        if token.level or token.nesting < 0 or not token.map:
            continue
        first, last = token.map
        start, end = starts[first], starts[min(last, len(starts) - 1)]
        body = text[start:end]
        end -= len(body) - len(body.rstrip())
        if token.type not in ("code_block", *_ATTACHED):
            start += len(body) - len(body.lstrip())
        is_comment = token.type == "html_block" and body.lstrip().startswith("<!--") and body.rstrip().endswith("-->")
        if start < end and not is_comment:
            blocks.append(_Block(start, end, token.type))
    return tuple(blocks)


class QuestionWords(Struct, frozen=True, kw_only=True):
    """The terms of a question, and the words of some texts that match them."""

    words: tuple[str, ...]
    """The terms, their synonyms and corrections, without single letters."""
    present: frozenset[str]
    """Terms that the texts contain."""
    forms: Mapping[str, str]
    """The term that each inflected form counts as."""
    others: Mapping[str, frozenset[str]]
    """For each term, its synonyms and, if no text contains it, the words it may be a slip of. They count less."""

    def locate(self, text: str) -> list[tuple[int, int]]:
        """Return the start and end of each word in a text that matches a term, in order, without single letters."""
        found = locate_terms(text, self.words, self.forms)
        return [(start, start + measure_term(text, start, term)) for start, term in found]


def find_question_words(question: str, texts: Sequence[str]) -> QuestionWords:
    """Find the words of some texts that match the terms of a question."""
    terms, language = extract_query_terms(question), detect_language(tokenise(question))
    forms = list_inflected_forms("\n".join(texts), terms, language)
    present = frozenset(term for text in texts for _, term in locate_terms(text, terms, forms))
    words = sorted({word for text in texts for word in tokenise(text)}) if len(present) < len(terms) else []
    others: dict[str, frozenset[str]] = {}
    for term in terms:
        is_slip = term not in present and len(term) >= _MISTYPED_LENGTH_MIN and term.isalpha()
        others[term] = frozenset((*get_synonyms((term,)), *(list_similar_words(term, words) if is_slip else ())))
    known = dict.fromkeys((*terms, *sorted(frozenset().union(*others.values()))))
    return QuestionWords(
        words=tuple(word for word in known if len(word) > 1 or word.isdigit()),
        present=present,
        forms=forms,
        others=others,
    )
