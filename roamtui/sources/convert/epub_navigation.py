"""The navigation of an EPUB book: what its chapters are called, where they begin, and how deep they lie."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import unquote

from roamtui.sources.convert.html_tokens import Tag, read_tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

_POINTS_MAX = 20_000
_TITLE_LENGTH_MAX = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class NavigationPoint:
    """An entry of the table of contents."""

    level: int
    """From 1 on."""
    title: str
    part_name: str
    """The file that it leads to."""
    fragment: str = ""
    """Id of the place within that file, empty for its beginning."""


@dataclass(slots=True)
class _Entry:
    """An entry that is being read."""

    name: str
    address: str
    title: list[str] = field(default_factory=list)


def read_navigation(source: str, part_name: str, *, is_ncx: bool) -> list[NavigationPoint]:
    """Return the table of contents in order; an entry that leads nowhere leads where the next one does.

    Args:
        source: A navigation document of EPUB 3, or the NCX of EPUB 2.
        part_name: Its name in the book, which addresses in it are relative to.
        is_ncx: Which of the two it is.
    """
    found = _read_ncx(source) if is_ncx else _read_lists(source)
    entries = [entry for _, entry in zip(range(_POINTS_MAX), found, strict=False)]
    points: list[NavigationPoint] = []
    place = ("", "")
    for level, title, address in reversed(entries):
        if address:
            place = locate_part(address, part_name)
        if title and place[0]:
            points.append(NavigationPoint(level=level, title=title, part_name=place[0], fragment=place[1]))
    points.reverse()
    return points


def locate_part(address: str, part_name: str) -> tuple[str, str]:
    """Return the part that an address in another part leads to, and the place within it."""
    path, _, fragment = address.partition("#")
    folder = posixpath.dirname(part_name)
    located = posixpath.normpath(posixpath.join(folder, unquote(path))) if path else part_name
    return located, unquote(fragment)


def _read_lists(source: str) -> Iterator[tuple[int, str, str]]:
    """Yield level, title and address from nested lists in the first table of contents."""
    level = 0
    entry: _Entry | None = None
    for token in _cut_to_contents(source):
        if isinstance(token, str):
            if entry is not None:
                entry.title.append(token)
        elif token.name == "ol":
            level += -1 if token.is_end else 1
        elif entry is None and token.name in ("a", "span") and not token.is_end:
            entry = _Entry(token.name, token.attributes.get("href", ""))
        elif entry is not None and token.is_end and token.name in (entry.name, "li"):
            yield max(level, 1), _join(entry.title), entry.address
            entry = None


def _cut_to_contents(source: str) -> Iterator[Tag | str]:
    """Yield what stands in the first table of contents."""
    is_inside = False
    for token in read_tokens(source):
        if isinstance(token, Tag) and token.name == "nav":
            if is_inside:
                return
            is_inside = "toc" in token.attributes.get("epub:type", "toc").split() and not token.is_end
        elif is_inside:
            yield token


def _read_ncx(source: str) -> Iterator[tuple[int, str, str]]:
    """Yield level, title and address from the points of an NCX."""
    level = 0
    title: list[str] = []
    is_read = False
    for token in read_tokens(source):
        if isinstance(token, str):
            if is_read:
                title.append(token)
            continue
        name = token.name.rpartition(":")[2]
        if name == "navpoint":
            level += -1 if token.is_end else 1
            title = []
        elif name == "text":
            is_read = level > 0 and not token.is_end
        elif name == "content" and not token.is_end and level > 0:
            yield level, _join(title), token.attributes.get("src", "")
        elif name in ("pagelist", "navlist") and not token.is_end:
            return


def _join(title: list[str]) -> str:
    return " ".join("".join(title).split())[:_TITLE_LENGTH_MAX]


def find_tags(source: str, *names: str) -> Iterator[Tag]:
    """Yield the start tags of some names in XML, whatever their prefixes."""
    for token in read_tokens(source):
        if isinstance(token, Tag) and not token.is_end and token.name.rpartition(":")[2] in names:
            yield token
