"""Divides a Markdown text into passages: paragraphs, each with what it introduces.

A paragraph introduces a table, list or code. If it is bold or ends with a colon, it introduces any block. A
paragraph that continues the sentence of the one before belongs to it.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache

from roamtui.markdown.blocks import Block, Code, Emphasis, Heading, List, Paragraph, Table, ThematicBreak
from roamtui.markdown.units import read_units, split_sentences
from roamtui.sentences import continues_sentence
from roamtui.text import Bounds, estimate_tokens

_PASSAGE_TOKENS_MAX = 600
"""A longer passage is cut to whole sentences, rows and lines around its best sentence."""


@lru_cache(maxsize=1_000)
def split_passages(text: str) -> tuple[Bounds, ...]:
    """Return the spans of the passages of a Markdown text in order. Headings and rules belong to none."""
    passages: list[Bounds] = []
    previous: Block | None = None
    for block in read_units(text).blocks:
        if isinstance(block, Heading | ThematicBreak):
            previous = None
            continue
        start, end = _get_bounds(text, block)
        if passages and start < passages[-1][1]:  # a further part of the same block of HTML
            continue
        if previous is not None and _belongs_together(text, previous, block):
            passages[-1] = passages[-1][0], end
        else:
            passages.append((start, end))
        previous = block
    return tuple(passages)


def _get_bounds(text: str, block: Block) -> Bounds:
    """Return the bounds of a block without blank lines around it. An indent of code or a list stays."""
    source = text[block.start : block.end]
    start = block.start
    if not isinstance(block, Code | List | Table):
        start += len(source) - len(source.lstrip())
    return start, block.start + len(source.rstrip())


def _belongs_together(text: str, above: Block, below: Block) -> bool:
    if not isinstance(above, Paragraph):
        return False
    source = text[above.start : above.end].rstrip()
    if isinstance(below, Paragraph) and continues_sentence(source, text[below.start : below.end]):
        return True
    is_title = all(Emphasis.STRONG in words.emphasis for words in above.words)
    return is_title or source.rstrip("*_ ").endswith(":") or isinstance(below, Code | List | Table)


def find_block(text: str, offset: int) -> Block | None:
    """Return the outermost block at an offset, or None between blocks."""
    blocks = read_units(text).blocks
    index = bisect_right(blocks, offset, key=lambda block: block.start) - 1
    return blocks[index] if index >= 0 and offset < _get_bounds(text, blocks[index])[1] else None


def find_passage(text: str, offset: int, tokens_max: int = _PASSAGE_TOKENS_MAX) -> Bounds | None:
    """Return the span of the passage at an offset, or None between passages.

    A long passage is cut to as many whole units around the offset as fit, with the marks before them. A block
    of code is one unit, unless it is too long.
    """
    passages = split_passages(text)
    passage = next(((start, end) for start, end in passages if start <= offset < end), None)
    if passage is None or estimate_tokens(text[slice(*passage)]) <= tokens_max:
        return passage
    spans: list[Bounds] = []
    for unit in split_sentences(text):
        if not passage[0] <= unit.start < passage[1] or (spans and unit.start < spans[-1][1]):
            continue
        code = find_code(text, unit.start)
        bounds = (unit.start, unit.end) if code is None else _get_bounds(text, code)
        if code is not None and estimate_tokens(text[slice(*bounds)]) <= tokens_max:
            spans.append(bounds)
        else:  # the marks of a row or an item belong to it
            line_start = max(passage[0], text.rfind("\n", 0, unit.start) + 1)
            is_first_in_line = not spans or spans[-1][1] <= line_start
            spans.append((line_start if is_first_in_line else unit.start, unit.end))
    first = last = bisect_right(spans, offset, key=lambda span: span[0]) - 1
    if first < 0:
        return passage
    is_growing = True
    while is_growing:
        is_growing = False
        for above, below in ((0, 1), (1, 0)):
            low, high = first - above, last + below
            is_inside = low >= 0 and high < len(spans)
            if is_inside and estimate_tokens(text[spans[low][0] : spans[high][1]]) <= tokens_max:
                first = low
                last = high
                is_growing = True
    return spans[first][0], spans[last][1]


def find_code(text: str, offset: int) -> Code | None:
    """Return the outermost block at an offset if it is code, or None."""
    block = find_block(text, offset)
    return block if isinstance(block, Code) else None
