"""Finds the characters of shown lines that stand for a stretch of source, though marks of Markdown are gone from them.

Words are compared, not characters. Knows no screen.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from roamtui.document.text import DocumentText
    from roamtui.tui.reader.line import Line
from roamtui.tui.reader.text_search import fold_case

_WORD = re.compile(r"[^\W_]+")
_HIDDEN = re.compile(r"\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*(?:\s+\"[^\"]*\")?\)|&#?\w+;|<[^<>\n]*>")
"""Addresses of links, entities and tags: source that is not shown as its own words."""
_SHARED_MIN = 0.6
"""Share of a quote's words that must be found for marking words rather than the whole block."""
_WORDS_MAX = 2_000
"""Comparing more words than these out of order would be felt."""


@dataclass(frozen=True, slots=True)
class Marked:
    """Characters `start` to `end` of line number `line` of a chunk."""

    line: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    line: int
    start: int
    end: int


def mark_span(lines: Sequence[Line], text: DocumentText, start: int, end: int) -> list[Marked]:
    """Return what to mark in the lines of a chunk for `text[start:end]`.

    Args:
        lines: All lines of the chunk.
        text: The document's text, that offsets of lines are of.
        start: Offset where the stretch begins.
        end: Offset after it.
    """
    marked: list[Marked] = []
    for _, numbered in groupby(enumerate(lines), key=lambda pair: pair[1].block):
        block = list(numbered)
        first = block[0][1]
        low, high = max(start, first.start), min(end, first.end)
        if low < high:
            marked.extend(_mark_block(block, text[first.start : low], text[low:high]))
    return marked


def find_pattern(lines: Sequence[Line], pattern: str) -> list[list[Marked]]:
    """Return where `pattern` stands in the lines of a chunk, whatever its case.

    Each place is a list, since a place may go on from one line of a block to the next.
    """
    needle = fold_case(" ".join(pattern.split()))
    found: list[list[Marked]] = []
    if not needle:
        return found
    for _, numbered in groupby(enumerate(lines), key=lambda pair: pair[1].block):
        joined, places = _join_block(list(numbered))
        position = joined.find(needle)
        while position >= 0:
            found.append(_join_places(places[position : position + len(needle)]))
            position = joined.find(needle, position + len(needle))
    return found


def _mark_block(block: list[tuple[int, Line]], source_before: str, source: str) -> list[Marked]:
    shown = _split_words(block)
    wanted = _source_words(source)
    if not wanted:
        return []
    ordinal = _count(_source_words(source_before), wanted)
    found = _find_words(shown, wanted, ordinal)
    return _mark_between(block, *found) if found else [_mark_line(number, line) for number, line in block if line.runs]


def _split_words(block: list[tuple[int, Line]]) -> list[_Word]:
    return [
        _Word(word[0].casefold(), number, word.start(), word.end())
        for number, line in block
        for word in _WORD.finditer(line.text, line.prefix_length)
    ]


def _source_words(source: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(_HIDDEN.sub(" ", source))]


def _count(words: list[str], wanted: list[str]) -> int:
    """Return how often `wanted` stands in `words`."""
    length = len(wanted)
    return sum(words[place : place + length] == wanted for place in range(len(words) - length + 1))


def _find_words(shown: list[_Word], wanted: list[str], ordinal: int) -> tuple[_Word, _Word] | None:
    """Return the first and last of the words that `wanted` stands for, at its `ordinal`-th place (0-based)."""
    texts = [word.text for word in shown]
    length = len(wanted)
    places = [place for place in range(len(texts) - length + 1) if texts[place : place + length] == wanted]
    if places:
        place = places[min(ordinal, len(places) - 1)]
        return shown[place], shown[place + length - 1]
    if len(texts) > _WORDS_MAX or length > _WORDS_MAX:
        return None
    matches = SequenceMatcher(None, texts, wanted, autojunk=False).get_matching_blocks()[:-1]
    if sum(match.size for match in matches) < _SHARED_MIN * length:
        return None
    return shown[matches[0].a], shown[matches[-1].a + matches[-1].size - 1]


def _mark_between(block: list[tuple[int, Line]], first: _Word, last: _Word) -> list[Marked]:
    marked: list[Marked] = []
    for number, line in block:
        if first.line <= number <= last.line and line.runs:
            whole = _mark_line(number, line)
            start = first.start if number == first.line else whole.start
            end = last.end if number == last.line else whole.end
            marked.append(Marked(number, start, end))
    return marked


def _mark_line(number: int, line: Line) -> Marked:
    return Marked(number, line.prefix_length, len(line.text.rstrip()))


def _join_block(block: list[tuple[int, Line]]) -> tuple[str, list[tuple[int, int] | None]]:
    """Return the text of a block in small letters on one line, and for each character its line and place there."""
    joined: list[str] = []
    places: list[tuple[int, int] | None] = []
    for number, line in block:
        if joined:
            joined.append(" ")
            places.append(None)
        shown = line.text[line.prefix_length :].rstrip()
        joined.append(fold_case(shown))
        places.extend((number, place) for place in range(line.prefix_length, line.prefix_length + len(shown)))
    return "".join(joined), places


def _join_places(places: list[tuple[int, int] | None]) -> list[Marked]:
    marked: list[Marked] = []
    for number, group in groupby((place for place in places if place), key=lambda place: place[0]):
        columns = [column for _, column in group]
        marked.append(Marked(number, min(columns), max(columns) + 1))
    return marked
