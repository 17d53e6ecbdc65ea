"""Finds headings exactly as CommonMark 0.31.2 has them, by markdown-it-py's own block rules.

One deliberate difference: headings inside block quotes and list items are text, not sections.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate, chain, repeat
from typing import TYPE_CHECKING

from roamtui.document.scanning.scanner import HeadingScanner
from roamtui.document.scanning.titles import LazyReferences, TitleReader

if TYPE_CHECKING:
    from array import array


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading outside quotes and lists."""

    level: int
    """1 to 6."""
    title: str
    """Text and code of its inline tokens, joined."""
    line: int
    """0-based line where it begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadingColumns:
    """The headings of a text, a column for each property."""

    levels: bytes
    titles: list[str]
    offsets: array[int]
    """Where each heading's first line begins."""
    is_too_deep: bool
    """As in `FoundHeadings`."""


def count_lines(text: str, offsets: Iterable[int]) -> Iterator[int]:
    r"""Return the 0-based line of each offset."""
    offsets = tuple(offsets)
    return accumulate(map(text.count, repeat("\n"), chain((0,), offsets), offsets))


def scan_headings(text: str, start: int = 0) -> HeadingColumns:
    r"""Return the headings of a Markdown text as columns.

    Args:
        text: Markdown with ``\n`` as its only line end.
        start: Length of the front matter.
    """
    source = text.replace("\0", "\N{REPLACEMENT CHARACTER}")
    found = HeadingScanner(source, start).scan()
    references = LazyReferences(source, start, found.offsets)
    titles = TitleReader({"references": references}).read_all(found, source)
    levels = bytes(found.levels)
    return HeadingColumns(levels=levels, titles=titles, offsets=found.offsets, is_too_deep=found.is_too_deep)
