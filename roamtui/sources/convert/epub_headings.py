"""The headings of a book by its navigation: levels that fit the whole book, titles where a chapter has none."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from roamtui.sources.convert.escaping import escape_marks, write_heading

if TYPE_CHECKING:
    from roamtui.sources.convert.epub_navigation import NavigationPoint

_PLACE = re.compile("\ue000(\\d+)\ue001")
"""Number of an entry, in the text where it leads to, between characters that no book uses."""
_ID = re.compile(r"""<([a-zA-Z][\w:]*)[^<>]{0,2000}?\sid\s*=\s*["']([^"'<>]{1,300})["'][^<>]*>""")
_MARKED_BEFORE = frozenset({"table", "thead", "tbody", "tr", "ul", "ol", "dl"})
"""Elements in which no text can stand."""
_UNMARKED = frozenset({"html", "head", "title", "script", "style", "meta", "link"})
_HEADING = re.compile(r"(#{1,6}) (.*)")
_FENCE = re.compile(r"(`{3,})")
_NOT_LETTERS = re.compile(r"[\W_]+")
_SIMILAR_LENGTH_MIN = 4
_DISTANCE_MAX = 8
"""Blocks from the beginning of a chapter within which its title stands."""


@dataclass(slots=True)
class _Block:
    """Lines of the text without an empty one between them, or one code block."""

    text: str
    level: int = 0
    """Of a heading, 0 for all else."""
    places: tuple[int, ...] = ()
    """Entries that lead here."""

    @property
    def title(self) -> str:
        return self.text.lstrip("#").strip()


def mark_places(source: str, points: list[NavigationPoint]) -> str:
    """Return the source of a chapter with the number of each entry where it leads to."""
    numbers: dict[str, list[int]] = {}
    for number, point in enumerate(points):
        if point.fragment:
            numbers.setdefault(point.fragment, []).append(number)
    pieces: list[str] = []
    position = 0
    for found in _ID.finditer(source) if numbers else ():
        here = numbers.pop(html.unescape(found[2]), None)
        if here is None or found[1].lower() in _UNMARKED:
            continue
        end = found.start() if found[1].lower() in _MARKED_BEFORE else found.end()
        pieces += [source[position:end], *(f"\ue000{number}\ue001" for number in here)]
        position = end
    return "".join([*pieces, source[position:]])


class Leveller:
    """Takes the chapters of a book in order and gives their headings the levels of its navigation."""

    def __init__(self) -> None:
        self._shift = 0
        """What is added to the levels of headings that no entry leads to."""

    def level_chapter(self, text: str, points: list[NavigationPoint]) -> str:
        """Return a chapter with its headings' levels as in the book, and a heading where an entry finds none.

        Args:
            text: Markdown, with numbers of entries in it.
            points: The entries that lead to this chapter.
        """
        blocks = _split_blocks(text)
        _place_chapter_points(blocks, points)
        out: list[str] = []
        waiting: list[int] = []
        for index, block in enumerate(blocks):
            waiting.extend(block.places)
            if not block.text:
                continue
            named = waiting.pop() if waiting and block.level else -1
            for number in waiting:
                out.append(_write_title(points[number]))
                highest = min((later.level for later in blocks[index:] if later.level), default=1)
                self._shift = points[number].level + 1 - highest
            if waiting and not block.level and _simplify(block.text) == _simplify(points[waiting[-1]].title):
                block.text = ""
            waiting = []
            if named >= 0:
                self._shift = points[named].level - block.level
            if block.text:
                out.append(write_heading(block.level + self._shift, block.title) if block.level else block.text)
        out.extend(_write_title(points[number]) for number in waiting)
        return "\n\n".join(out) + "\n" if out else ""


def _place_chapter_points(blocks: list[_Block], points: list[NavigationPoint]) -> None:
    """Note the entries that lead to a chapter as a whole, and to places in it that do not exist."""
    placed = {number for block in blocks for number in block.places}
    start = 0
    for number, point in enumerate(points):
        if number in placed:
            continue
        near = range(start, min(len(blocks), start + _DISTANCE_MAX))
        headings = [index for index in near if blocks[index].level and not blocks[index].places]
        similar = [index for index in headings if _is_similar(blocks[index].title, point.title)]
        chosen = similar[0] if similar else start
        if chosen >= len(blocks):
            blocks.append(_Block(""))
        blocks[chosen].places = (*blocks[chosen].places, number)
        start = chosen


def _is_similar(first: str, second: str) -> bool:
    first, second = _simplify(first), _simplify(second)
    short, long = sorted((first, second), key=len)
    return first == second or (len(short) >= _SIMILAR_LENGTH_MIN and (long.startswith(short) or long.endswith(short)))


def _simplify(title: str) -> str:
    return _NOT_LETTERS.sub("", title).casefold()


def _write_title(point: NavigationPoint) -> str:
    return write_heading(point.level, escape_marks(point.title))


def _split_blocks(text: str) -> list[_Block]:
    blocks: list[_Block] = []
    lines: list[str] = []
    fence = ""
    for line in [*text.split("\n"), ""]:
        mark = _FENCE.match(line)
        if fence:
            lines.append(line)
            fence = "" if line == fence else fence
        elif line:
            lines.append(line)
            fence = mark[1] if mark else ""
        elif lines:
            blocks.append(_read_block("\n".join(lines)))
            lines = []
    if lines:
        blocks.append(_read_block("\n".join(lines)))
    return blocks


def _read_block(text: str) -> _Block:
    places = tuple(int(number) for number in _PLACE.findall(text))
    text = _PLACE.sub("", text) if places else text
    heading = _HEADING.fullmatch(text)
    return _Block(text if text.strip() else "", len(heading[1]) if heading else 0, places)
